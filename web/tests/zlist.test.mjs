// The Z list: every operation of a program means what it says.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ZList } from "../build/testable.mjs";

test("a program is computed line by line from what it reads", () => {
  const text = [
    "program pendulum",
    "input q [q]: q1",
    "input tau [rest]: tau1 tau2",
    "z1 = sin(q1)  # gravity",
    "z2 = 9.81 * z1",
    "z3 = tau1 - z2  # a - b",
    "z4 = atan2(z3, tau2)",
    "z5 = neg(z4)",
    "z6 = q1 ** 2.0",
    "z7 = q1 < tau1",
    "z8 = select(z7, z6, -1e-05)",
    "output udot (1): z8",
  ].join("\n");
  const values = new ZList(text).values([0.3, 2, -5]);
  const z3 = 2 - 9.81 * Math.sin(0.3);
  assert.equal(values.get("z3"), z3);
  assert.equal(values.get("z5"), -Math.atan2(z3, -5));
  assert.equal(values.get("z8"), 0.09);
  assert.ok(new ZList(text).print([0.3, 2, -5]).includes("0.09000000   z8 = select(z7, z6, -1e-05)"));
});
