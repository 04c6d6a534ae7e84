// Forces in the panel: signs are kept, columns can be compared, rounding is not shown as a force.
import assert from "node:assert/strict";
import { test } from "node:test";
import { force_texts, tipping_words, tips } from "../build/testable.mjs";

test("a force keeps its sign, and opposite forces are told apart", () => {
  assert.deepEqual(force_texts([[-3222.4, 0, 4028]]), [["−3222", "0", "4028"]]);
  const [[pushes], [pulls]] = force_texts([[12.5, 0, 0], [-12.5, 0, 0]]);
  assert.equal(pulls, `−${pushes}`);
});

test("rounding beside a force is zero, without a sign", () => {
  assert.deepEqual(force_texts([[-3e-13, -1e-9, 24.525]]), [["0.00", "0.00", "24.52"]]);
  assert.deepEqual(force_texts([[0, 0, 0]]), [["0.000", "0.000", "0.000"]]);
});

test("what a vehicle does is said in the words of its answers", () => {
  assert.equal(tipping_words(-5, 300, null), "would tip over");
  assert.equal(tipping_words(12.34567, 300, []), "12.35 N rad from tipping");
  assert.equal(tipping_words(12.34567, 300, ["a"]), "wheel a is off the ground; 12.35 N rad from tipping");
  for (const rounding of [-1e-13, 0, 1e-13]) assert.equal(tipping_words(rounding, 300, ["a", "b"]), "wheels a, b are off the ground; tips");
  assert.equal(tipping_words(-20, 300, []), "tips over");
});

test("a vehicle on two wheels tips whatever the sign of rounding", () => {
  for (const measure of [-1e-13, 0, 1e-13, -20]) assert.ok(tips(measure, 300));
  assert.ok(!tips(0.1, 300));
});
