// Forces in the panel: signs are kept, columns can be compared, rounding is not shown as a force.
import assert from "node:assert/strict";
import { test } from "node:test";
import { force_texts, tips } from "../build/testable.mjs";

test("a force keeps its sign, and opposite forces are told apart", () => {
  assert.deepEqual(force_texts([[-3222.4, 0, 4028]]), [["−3222", "0", "4028"]]);
  const [[pushes], [pulls]] = force_texts([[12.5, 0, 0], [-12.5, 0, 0]]);
  assert.equal(pulls, `−${pushes}`);
});

test("rounding beside a force is zero, without a sign", () => {
  assert.deepEqual(force_texts([[-3e-13, -1e-9, 24.525]]), [["0.00", "0.00", "24.52"]]);
  assert.deepEqual(force_texts([[0, 0, 0]]), [["0.000", "0.000", "0.000"]]);
});

test("a vehicle on two wheels tips over whatever the sign of rounding", () => {
  for (const measure of [-1e-13, 0, 1e-13, -20]) assert.ok(tips(measure, 300));
  assert.ok(!tips(0.1, 300));
});
