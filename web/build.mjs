// Bundles the component into one script, and what the unit tests look at into a module.
import { build } from "esbuild";

const shared = { bundle: true, target: "es2022", loader: { ".css": "text" }, legalComments: "none", logLevel: "warning" };

await build({
  ...shared,
  entryPoints: ["src/main.ts"],
  outfile: process.argv[2] ?? "../src/kane/page/component.js",
  format: "iife",
  minify: true,
  charset: "ascii",
  banner: { js: "/* kane page; includes three.js and uPlot, MIT licence */" },
});
await build({ ...shared, entryPoints: ["src/testable.ts"], outfile: "build/testable.mjs", format: "esm" });
