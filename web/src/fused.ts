// Products and sums with one rounding. WebAssembly has an instruction whose rounding is the browser's choice, the same
// at every call: where it rounds once, as a processor with such an instruction does, it takes the place of the function
// that modules have for it. The bits are the same, and it takes a fraction of the time.

import type { BodyPlace } from "./data";

/** The body of a function of x, y and z, with its length: the first lane of f64x2.relaxed_madd of the three. */
const BODY = [0, 0x00, 0x20, 0, 0xfd, 0x14, 0x20, 1, 0xfd, 0x14, 0x20, 2, 0xfd, 0x14, 0xfd, 0x87, 0x02, 0xfd, 0x21, 0x00, 0x0b];
BODY[0] = BODY.length - 1;

/** A module that exports such a function as `f`. */
const PROBE = Uint8Array.from([
  0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, // header
  1, 8, 1, 0x60, 3, 0x7c, 0x7c, 0x7c, 1, 0x7c, // its type
  3, 2, 1, 0,
  7, 5, 1, 1, 0x66, 0, 0,
  10, BODY.length + 1, 1, ...BODY,
]); // prettier-ignore

/** Numbers x, y, z and what x y + z is with one rounding; with two it is 0. */
const KNOWN = [
  [1 + 2 ** -30, 1 - 2 ** -30, -1, -(2 ** -60)],
  [0.1, 10, -1, 2 ** -54],
  [1 / 3, 3, -1, -(2 ** -54)],
];

/** Whether this browser has the instruction and it rounds once. */
export async function rounds_once(): Promise<boolean> {
  if (!WebAssembly.validate(PROBE)) return false;
  const { instance } = await WebAssembly.instantiate(PROBE);
  const f = instance.exports.f as (x: number, y: number, z: number) => number;
  return KNOWN.every(([x, y, z, sum]) => f(x, y, z) === sum);
}

/** A module in which the instruction has taken the place of the function. */
export function with_instruction(code: Uint8Array, place: BodyPlace): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(code.length - place.size + BODY.length);
  made.set(code.subarray(0, place.at));
  made.set(BODY, place.at);
  made.set(code.subarray(place.at + place.size), place.at + BODY.length);
  const size = place.section_size - place.size + BODY.length;
  for (let k = 0; k < 5; k++) made[place.section + k] = ((size >> (7 * k)) & 127) | (k < 4 ? 128 : 0);
  return made;
}
