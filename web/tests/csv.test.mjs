// Tables: what is written is read back, and a name is never a formula.
import assert from "node:assert/strict";
import { test } from "node:test";
import { quote, table } from "../build/testable.mjs";

test("numbers come back to the bit", () => {
  const row = [0.1, 1 / 3, -1e-300, 12345678.9];
  const text = table(["a", "b", "c", "d"], [row]);
  assert.deepEqual(text.trim().split("\n")[1].split(",").map(Number), row);
});

test("names with commas and quotes stay one cell, and formulas stay text", () => {
  assert.equal(quote('a,"b"'), '"a,""b"""');
  assert.equal(quote("=1+1"), "'=1+1");
  assert.equal(quote("@x"), "'@x");
});
