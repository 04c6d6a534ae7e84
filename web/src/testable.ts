export * from "./csv";
export * from "./data";
export * from "./framing";
export * from "./fused";
export * from "./labels";
export * from "./motion";
export * from "./recorded";
export * from "./zlist";
