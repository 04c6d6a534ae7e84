// Simulates the motions of pages, as their scripts do, and prints the states: node run_live.mjs PAGE SECONDS …
// With FUSED=function products are fused by the function that modules have for it, even where there is an instruction.
import { readFileSync } from "node:fs";
import { LiveMotion } from "../build/testable.mjs";

const given = process.argv.slice(2);
for (let k = 0; k < given.length; k += 2) {
  const html = readFileSync(given[k], "utf8");
  const data = JSON.parse(html.match(/<script type="application\/json" id="kane-data">(.*?)<\/script>/s)[1]);
  const motion = await LiveMotion.make(data.live, data, process.env.FUSED !== "function");
  const began = process.cpuUsage();
  motion.run_to(Number(given[k + 1]));
  const used = process.cpuUsage(began);
  const microseconds = ((used.user + used.system) * data.live.step) / motion.t; // of the processor for a step
  const { t, q, u, stopped, transitions, energy } = motion;
  const state = { t, q: Array.from(q), u: Array.from(u), stopped, transitions, energy, states: motion.states };
  console.log(JSON.stringify({ ...state, poses: Array.from(motion.poses), microseconds }));
}
