// Which values of a state are beyond their limits, in words.

import type { Named, PageData } from "./data";

const SAID = 3; // values that are said; of others how many there are

/** What is beyond its limits in a state, "elbow = 5.000 rad (-3.142 to 3.142)"; nothing where nothing is. */
export function beyond_limits(data: PageData, q: ArrayLike<number>, u: ArrayLike<number>): string {
  const found = [...beyond(data.coordinates, q, data.slack), ...beyond(data.speeds, u, data.slack)];
  const more = found.length > SAID ? ` and ${found.length - SAID} more` : "";
  return found.length ? `beyond its limits: ${found.slice(0, SAID).join(", ")}${more}` : "";
}

function beyond(columns: Named[], values: ArrayLike<number>, slack: number): string[] {
  const found: string[] = [];
  for (const [i, { name, unit, limits }] of columns.entries()) {
    if (!limits) continue;
    const [least, largest] = limits;
    const over = (bound: number | null, side: number) =>
      bound !== null && side * (values[i] - bound) > slack * Math.max(1, Math.abs(bound));
    if (over(least, -1) || over(largest, 1))
      found.push(`${name} = ${values[i].toPrecision(4)}${unit ? ` ${unit}` : ""} (${end(least)} to ${end(largest)})`);
  }
  return found;
}

const end = (bound: number | null) => (bound === null ? "any" : `${Number(bound.toPrecision(4))}`);
