// Light on meshes: that of the surface where it is round, that of its sides where it has edges.
import assert from "node:assert/strict";
import { test } from "node:test";
import { corner_normals } from "../build/testable.mjs";

const SIDES = 24;

/** A cylinder of radius 1 and height 2 about z, of long triangles, with its upper end. */
function cylinder() {
  const places = [];
  const triangles = [];
  for (let i = 0; i < SIDES; i++) {
    const angle = (2 * Math.PI * i) / SIDES;
    places.push(Math.cos(angle), Math.sin(angle), 0, Math.cos(angle), Math.sin(angle), 2);
    const next = (i + 1) % SIDES;
    triangles.push(2 * i, 2 * next, 2 * next + 1, 2 * i, 2 * next + 1, 2 * i + 1);
    triangles.push(2 * i + 1, 2 * next + 1, 2 * SIDES);
  }
  places.push(0, 0, 2);
  return { places, triangles };
}

test("the wall of a cylinder is lit along its radius, its end along its axis, up to the rim", () => {
  const { places, triangles } = cylinder();
  const normals = corner_normals(places, triangles);
  for (let side = 0; side < triangles.length; side++) {
    const [x, y, z] = normals.subarray(3 * side, 3 * side + 3);
    const at = triangles[side];
    const at_end = Math.floor(side / 3) % 3 === 2;
    const expected = at_end ? [0, 0, 1] : [places[3 * at], places[3 * at + 1], 0];
    assert.ok(x * expected[0] + y * expected[1] + z * expected[2] > Math.cos(0.5 * ((2 * Math.PI) / SIDES)));
    assert.ok(Math.abs(Math.hypot(x, y, z) - 1) < 1e-6);
  }
});

test("a triangle without an area is lit by nothing and spoils no other", () => {
  const normals = corner_normals([0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0], [0, 1, 2, 0, 1, 3]);
  assert.deepEqual(Array.from(normals.subarray(0, 9)), [0, 0, 1, 0, 0, 1, 0, 0, 1]);
});
