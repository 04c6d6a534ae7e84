// What a page shows beside the motion: node run_marks.mjs PAGE TASK, where TASK is JSON of
// { until, law?, start?, marks?, lift? }: print the state, forces and velocities, and the values of the Z list.
import { readFileSync } from "node:fs";
import { LiveMotion, unpack, ZList } from "../build/testable.mjs";

const html = readFileSync(process.argv[2], "utf8");
const data = JSON.parse(html.match(/<script type="application\/json" id="kane-data">(.*?)<\/script>/s)[1]);
const task = JSON.parse(process.argv[3]);
const motion = await LiveMotion.make(data.live, data);
if (task.start) motion.set_start(task.start);
if (task.law) motion.set_law(motion.law_names.indexOf(task.law));
if (task.marks) {
  for (let t = 0.05; t < task.until - 0.01; t += 0.05) {
    motion.advance(0.05, 1e9);
    motion.marks; // asked for in between, as by every frame
  }
}
let hand = null;
if (task.lift) {
  motion.grab(task.lift.body, task.lift.point);
  const read = (name) => ["x", "y", "z"].map((k) => motion.real(`coupler.${name}_${k}`));
  motion.pull(read("at").map((x, k) => x + task.lift.by[k]));
  motion.run_to(task.until);
  hand = { force: read("force"), at: read("at") };
}
motion.run_to(task.until);
const marks = motion.marks;
const program = new ZList(new TextDecoder().decode(await unpack(data.live.program.text)));
console.log(
  JSON.stringify({
    t: motion.t,
    q: Array.from(motion.q),
    u: Array.from(motion.u),
    stopped: motion.stopped,
    states: motion.states,
    laws: motion.law_names,
    names: motion.mark_names.names,
    outlines: motion.mark_names.outlines,
    vehicles: motion.mark_names.vehicles,
    measures: Array.from(marks.measures),
    hand,
    velocities: Array.from(marks.velocities),
    at: Array.from(marks.at),
    forces: Array.from(marks.forces),
    inputs: Array.from(motion.inputs),
    z: [...program.values(motion.inputs)].filter(([name]) => /^z+[0-9]+$/.test(name)).map(([, value]) => value),
  }),
);
