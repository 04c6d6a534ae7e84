// Labels of axes: they differ where the marks do, mean what they stand for, and are short.
import assert from "node:assert/strict";
import { test } from "node:test";
import { labels, paces } from "../build/testable.mjs";

const AXES = [
  [0, 2e6, 4e6, 6e6], [6999800, 7e6, 7000200], [-40, -20, 0, 20], [-0.004, -0.002, 0], [0, 0.25, 0.5, 0.75],
  [0, 2e-9, 4e-9], [-1e12, 0, 1e12], [100, 100.05, 100.1], [0, 2500, 5000, 7500],
];

test("labels are the marks, to less than a step", () => {
  for (const marks of AXES) {
    const step = marks[1] - marks[0];
    labels(marks).forEach((text, i) => assert.ok(Math.abs(Number(text) - marks[i]) < 1e-3 * step, `${text} for ${marks[i]}`));
    assert.equal(new Set(labels(marks)).size, marks.length);
  }
});

test("labels are short", () => {
  for (const marks of AXES) for (const text of labels(marks)) assert.ok(text.length <= 9, text);
  assert.deepEqual(labels([0, 2e6, 4e6]), ["0", "2e6", "4e6"]);
  assert.deepEqual(labels([5]), ["5"]);
});

test("a motion plays at the pace of the clock, or is over in a minute", () => {
  for (const seconds of [0.5, 10, 120, Infinity]) assert.equal(paces(seconds).first, 1);
  for (const seconds of [121, 600, 6000, 11657, 1e6]) {
    const { choices, first } = paces(seconds);
    assert.ok(seconds / first <= 60.001 && seconds / first >= 2, `${seconds}: ${first}`);
    assert.ok(choices.includes(first) && choices.includes(1));
  }
});
