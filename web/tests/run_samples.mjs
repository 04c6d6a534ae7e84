// What a page has for its table when it asks for a frame every so many ticks of the clock: node run_samples.mjs PAGE
// SECONDS TICKS … prints a table for each.
import { readFileSync } from "node:fs";
import { LiveMotion, MotionLoop, RemoteMotion, SampleTable, table } from "../build/testable.mjs";

const [path, seconds, ...ticks] = process.argv.slice(2);
const data = JSON.parse(readFileSync(path, "utf8").match(/<script type="application\/json" id="kane-data">(.*?)<\/script>/s)[1]);
const TICK = 8; // ms

for (const each of ticks.map(Number)) {
  const said = [];
  let take;
  const loop = new MotionLoop(await LiveMotion.make(data.live, data), (frame) => take(structuredClone(frame)), 0);
  const port = { asked: true, say: (message) => said.push(message), listen: (next) => (take = next) };
  const hear = () => said.splice(0).forEach((message) => loop.hear(message));
  const made = RemoteMotion.make(port, { elements: [], mark_names: null, law_names: [], parameters: [] });
  hear();
  const motion = await made;
  const rows = new SampleTable();
  motion.play(true);
  for (let k = 1; motion.t <= Number(seconds); k++) {
    loop.tick(TICK * k);
    if (k % each) continue;
    motion.ask({ marks: true, inputs: false });
    hear();
    for (const sample of motion.samples()) rows.add(sample);
  }
  console.log(JSON.stringify(table([], rows.rows.filter((x) => x[0] <= Number(seconds)))));
}
