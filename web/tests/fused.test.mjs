import assert from "node:assert/strict";
import { test } from "node:test";
import { rounds_once, with_instruction } from "../build/testable.mjs";

// x y + z with one rounding by whole numbers: those of x and y have 53 bits, so that the product is exact as one.
const exact = (x, y, z) => Number(BigInt(x) * BigInt(y) + BigInt(z));

// where the processor has no such instruction there is nothing to look at
const skip = !(await rounds_once());

test("the instruction takes the place of a function, and rounds whole numbers as whole numbers do", { skip }, async () => {
  const five = (size) => [0, 7, 14, 21, 28].map((k) => ((size >> k) & 127) | (k < 28 ? 128 : 0));
  const body = [5, 0, 0x20, 0, 0x0f, 0x0b]; // returns x
  const before = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 8, 1, 0x60, 3, 0x7c, 0x7c, 0x7c, 1, 0x7c, 3, 2, 1, 0, 7, 5, 1, 1, 0x66, 0, 0, 10];
  const code = Uint8Array.from([...before, ...five(body.length + 1), 1, ...body]);
  const place = { at: before.length + 6, size: body.length, section: before.length, section_size: body.length + 1 };
  const function_of = async (bytes) => (await WebAssembly.instantiate(bytes)).instance.exports.f;
  assert.equal((await function_of(code))(7, 8, 9), 7);
  const f = await function_of(with_instruction(code, place));
  let seed = 1;
  const draw = () => {
    seed = (seed * 48271) % 2147483647;
    return (seed - 2 ** 30) * 2 ** 21 + (seed % 1000);
  };
  for (let i = 0; i < 1000; i++) {
    const [x, y] = [draw(), draw()];
    const z = i % 2 ? -x * y : draw() * 2 ** 40;
    assert.equal(f(x, y, z), exact(x, y, z));
  }
});
