export * from "./csv";
export * from "./data";
export * from "./framing";
export * from "./labels";
export * from "./motion";
export * from "./recorded";
export * from "./zlist";
