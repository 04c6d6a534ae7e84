// Bundles the component into one script, in which that of its thread is a text, and what the unit tests look at into a
// module.
import { build } from "esbuild";

const shared = { bundle: true, target: "es2022", loader: { ".css": "text" }, legalComments: "none", logLevel: "warning" };
const script = { ...shared, format: "iife", minify: true, charset: "ascii" };

const thread = await build({ ...script, entryPoints: ["src/worker.ts"], write: false });
await build({
  ...script,
  entryPoints: ["src/main.ts"],
  outfile: process.argv[2] ?? "../src/kane/page/component.js",
  define: { WORKER: JSON.stringify(thread.outputFiles[0].text) },
  banner: { js: "/* kane page; includes three.js and uPlot, MIT licence */" },
});
await build({ ...shared, entryPoints: ["src/testable.ts"], outfile: "build/testable.mjs", format: "esm" });
