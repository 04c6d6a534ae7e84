// The camera: what is in the box is in the picture, from any side and for any shape of window.
import assert from "node:assert/strict";
import { test } from "node:test";
import { corners, cross, distance, dot, minus, plus, unit, view_direction } from "../build/testable.mjs";

const FOV = 0.5;

function in_picture(point, camera, toward, up, aspect) {
  const right = unit(cross(up, toward));
  const above = cross(toward, right);
  const p = minus(point, camera);
  const depth = -dot(p, toward);
  const tall = Math.tan(FOV / 2) * depth;
  return depth > 0 && Math.abs(dot(p, above)) <= tall * (1 + 1e-12) && Math.abs(dot(p, right)) <= tall * aspect * (1 + 1e-12);
}

test("every corner of a box is in view, and one of them touches the edge of the picture", () => {
  let random = 1;
  const next = () => (random = (random * 16807) % 2147483647) / 2147483647;
  for (let k = 0; k < 200; k++) {
    const low = [next() - 3, next() - 3, next() - 3];
    const high = [low[0] + next() * 4, low[1] + next() * 4, low[2] + next() * 4];
    const toward = unit([next() - 0.5, next() - 0.5, next() - 0.5]);
    const up = Math.abs(toward[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0];
    const aspect = 0.3 + 3 * next();
    const middle = low.map((x, i) => (x + high[i]) / 2);
    const all = corners(low, high);
    const away = distance(all, middle, toward, up, FOV, aspect);
    for (const c of all) assert.ok(in_picture(c, plus(middle, toward, away), toward, up, aspect));
    const nearer = plus(middle, toward, away * (1 - 1e-6));
    assert.ok(all.some((c) => !in_picture(c, nearer, toward, up, aspect)));
  }
});

test("a plane motion is seen along its normal, one in a horizontal plane from above", () => {
  assert.deepEqual(view_direction([0, 0, 1], [0, -1, 0]), [0, -1, 0]);
  const above = view_direction([0, 0, 1], [0, 0, 1]);
  assert.ok(above[2] > 0.7 && above[2] < 0.95);
  assert.ok(Math.abs(Math.hypot(...view_direction([0, 1, 0], null)) - 1) < 1e-12);
});
