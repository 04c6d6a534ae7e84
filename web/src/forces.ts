// Forces in the panel: components with their signs, and the frame and the body that they are of.

import type { Triple } from "./data";
import { make } from "./elements";

const DIGITS = 4;
const NOTHING = 1e-6; // of the largest component, or of the weight; below is rounding
const AXES = "Components along x, y and z of N";
const ON_WHEELS = "on the wheel: z is the normal force, below zero the ground would have to pull";
const ON_BODIES = "on the second body of the constraint";

/** Whether a vehicle of some weight (N) with this measure (N rad) tips, or would: where wheels may lift, it is zero then. */
export const tips = (measure: number, weight: number): boolean => measure <= NOTHING * weight;

/** What a vehicle does at this moment, in the words of `run.tipover()`. One whose wheels may lift tips while those that
 * touch lie on one edge, or none touches, and may come back; its measure is negative on its wheels upside down, when it
 * has tipped over. `open` are its wheels in the air, null where they may not lift. */
export function tipping_words(measure: number, weight: number, open: readonly string[] | null): string {
  const off = !open?.length ? "" : open.length === 1 ? `wheel ${open[0]} is off the ground; ` : `wheels ${open.join(", ")} are off the ground; `;
  if (!tips(measure, weight)) return `${off}${Number(measure.toPrecision(DIGITS))} N rad from tipping`;
  if (open === null) return "would tip over";
  return off + (measure < -NOTHING * weight ? "tips over" : "tips");
}

/** Components of forces (N) as texts of the same decimals, so that they can be compared down a column. */
export function force_texts(forces: readonly Triple[]): string[][] {
  const largest = Math.max(0, ...forces.flat().map(Math.abs));
  const decimals = Math.min(DIGITS, Math.max(0, DIGITS - 1 - Math.floor(Math.log10(largest || 1))));
  const rounded = (x: number) => (Math.abs(x) <= NOTHING * largest || !Number(x.toFixed(decimals)) ? 0 : x);
  return forces.map((force) => force.map((x) => rounded(x).toFixed(decimals).replace("-", "−")));
}

/** A table of forces by name, and what they are of; `wheels` are the names of what stands on the ground. */
export function force_table(forces: readonly [string, Triple][], wheels: ReadonlySet<string>): HTMLElement {
  const made = make("table", { class: "forces" });
  const head = make("tr");
  head.append(...["", "x", "y", "z"].map((axis) => make("th", { scope: "col" }, axis)));
  made.append(head);
  const texts = force_texts(forces.map(([, force]) => force));
  for (const [i, [name, force]] of forces.entries()) {
    const row = make("tr", wheels.has(name) && force[2] < 0 ? { class: "pulls" } : {});
    row.append(make("th", { scope: "row" }, name), ...texts[i].map((text) => make("td", {}, text)));
    made.append(row);
  }
  const on = [
    ...(forces.some(([name]) => wheels.has(name)) ? [ON_WHEELS] : []),
    ...(forces.some(([name]) => !wheels.has(name)) ? [ON_BODIES] : []),
  ];
  const whole = make("div");
  whole.append(made, make("p", { class: "keys" }, `${AXES}; ${on.join("; ")}.`));
  return whole;
}
