// Drags a body of a page round a circle, as a pointer does: node run_drag.mjs PAGE BODY X Y Z RADIUS SECONDS
// Prints the effective mass at the point and the states at every tenth of a second.
import { readFileSync } from "node:fs";
import { LiveMotion } from "../build/testable.mjs";

const [path, ...rest] = process.argv.slice(2);
const [body, x, y, z, radius, seconds] = rest.map(Number);
const html = readFileSync(path, "utf8");
const data = JSON.parse(html.match(/<script type="application\/json" id="kane-data">(.*?)<\/script>/s)[1]);
const motion = await LiveMotion.make(data.live, data);
const point = [x, y, z];
const mass = motion.grab(body, point);
const p = 12 * body;
const start = [0, 1, 2].map((i) => motion.poses[p + 9 + i] + point.reduce((s, v, k) => s + motion.poses[p + 3 * i + k] * v, 0));
const states = [];
for (let k = 0; k < 10 * seconds && !motion.stopped; k++) {
  for (let j = 0; j < 10; j++) {
    const angle = 2 * Math.PI * 0.3 * motion.t;
    motion.pull([start[0] + radius * Math.sin(angle), start[1] + radius * (1 - Math.cos(angle)), start[2]]);
    motion.advance(0.01, Infinity);
  }
  states.push({ t: motion.t, q: Array.from(motion.q), u: Array.from(motion.u), energy: motion.energy });
}
console.log(JSON.stringify({ mass, states, stopped: motion.stopped }));
