// Which states of a motion are kept, and which of them a long table has.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SampleTable, Sampling } from "../build/testable.mjs";

const STEP = 1 / 1024; // s, five of them between two samples

/** Times of all states of a motion that has transitions within the steps that are named. */
function passed(steps, impacts) {
  const times = [0];
  for (let k = 1; k <= steps; k++) {
    const t = times.at(-1) + (impacts.includes(k) ? STEP / 2 : STEP);
    times.push(t);
    if (impacts.includes(k)) times.push(t);
  }
  return times;
}

/** What is kept of states that come so many at a time, no transition being cut apart. */
function kept(times, together, changes = []) {
  const sampling = new Sampling(STEP);
  const found = [];
  for (let first = 0; first < times.length - 1; ) {
    let last = Math.min(times.length - 1, first + together);
    if (times[last + 1] === times[last]) last++;
    const given = times.slice(first, last + 1);
    const inside = new Set(changes.filter((t) => given.slice(1).includes(t)));
    const ended = last === times.length - 1;
    for (const x of sampling.choose(given, inside, ended)) found.push([times[first + x.row], x.at_transition]);
    first = last;
  }
  return found;
}

test("samples are five steps apart from the last transition on, and on both sides of each", () => {
  const expected = [5, 10, 12.5, 12.5, 17.5, 22.5].map((x) => [x * STEP, x === 12.5]);
  for (const together of [1, 3, 100]) assert.deepEqual(kept(passed(23, [13]), together), expected);
});

test("where contacts change in whole steps, the steps before and after are kept", () => {
  for (const together of [1, 2, 5, 100]) {
    const found = kept(passed(12, []), together, [7 * STEP]);
    assert.deepEqual(found, [[5, false], [6, true], [7, true], [12, false]].map(([k, at]) => [k * STEP, at]));
  }
});

test("the last state of a motion that cannot go on is kept", () => {
  for (const together of [1, 2, 100]) assert.deepEqual(kept(passed(6, []), together).map(([t]) => t / STEP), [5, 6]);
});

const sample = (t, at_transition = false) => ({ t, q: [t], u: [], poses: [], energy: null, at_transition });

test("a table that is full is thinned evenly, and keeps both sides of transitions", () => {
  const table = new SampleTable(40);
  for (let t = 0; t < 1000; t++) {
    table.add(sample(t));
    if (t % 300 === 299) for (let side = 0; side < 2; side++) table.add(sample(t + 0.5, true));
  }
  const times = table.rows.map((x) => x[0]);
  assert.deepEqual(times.filter((t) => t % 1), [299.5, 299.5, 599.5, 599.5, 899.5, 899.5]);
  const steps = times.filter((t) => t % 1 === 0);
  assert.ok(times.length < 40 && steps.length >= 14, `${times.length}`);
  assert.deepEqual(steps, steps.map((_, i) => i * steps[1]));
});

test("where transitions are what fills a table, every second one goes", () => {
  const table = new SampleTable(40);
  for (let t = 0; t < 1000; t++) for (let side = 0; side < 2; side++) table.add(sample(t, true));
  const times = table.rows.map((x) => x[0]);
  assert.ok(times.length < 40 && times.length >= 19, `${times.length}`);
  assert.deepEqual(times, times.map((_, i) => Math.floor(i / 2) * times[2]));
});
