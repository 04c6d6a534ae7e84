// States of a motion that curves, trails and tables are made of, whenever frames are drawn: at equal distances in time,
// and just before and just after each transition.

import type { Energy } from "./motion";

const SPACING = 0.005; // s of the motion between two samples, in whole steps
const MOST_ROWS = 200000; // of a table
const MOST_NUMBERS = 4e6; // in it

export interface Sample {
  t: number;
  q: ArrayLike<number>;
  u: ArrayLike<number>;
  poses: ArrayLike<number>;
  energy: Energy | null;
  /** Whether it is kept since constraints change there: the state just before or just after. */
  at_transition?: boolean;
}

/** A state that a motion has gone through, by its row among those since it went on last. */
export interface Kept {
  row: number;
  at_transition: boolean;
}

/** Chooses samples among all states that a motion goes through, as they come. */
export class Sampling {
  private readonly every: number;
  private steps = 0; // since the last transition
  private has_last = true; // the start is a sample

  constructor(step: number) {
    this.every = Math.max(1, Math.round(SPACING / step));
  }

  /** The samples among states at `times`, of which the first is the last one from before. The second of two at the same
   *  time, and one at a time in `changes`, is just after a transition. Where the motion has `ended`, the last is one. */
  choose(times: number[], changes: Set<number>, ended: boolean): Kept[] {
    const is_after = (row: number) => row > 0 && (times[row] === times[row - 1] || changes.has(times[row]));
    const found: Kept[] = [];
    for (const row of times.keys()) {
      const after = is_after(row);
      const at_transition = after || is_after(row + 1);
      const wanted = at_transition || (ended && row === times.length - 1);
      if (row === 0 && (this.has_last || !wanted)) continue;
      if (row > 0) this.steps = after ? 0 : this.steps + 1;
      this.has_last = wanted || this.steps % this.every === 0;
      if (this.has_last) found.push({ row, at_transition });
    }
    return found;
  }
}

/** A table of samples, each as t, q, u. Where it is full, every second step of it is left out, or every second
 *  transition if those are more: what is left depends on the samples alone. */
export class SampleTable {
  private entries: { row: number[]; kind: 0 | 1; number: number }[] = [];
  private readonly numbers = [-1, -1]; // of the last step and of the last transition
  private readonly strides = [1, 1];
  private changed = Number.NaN; // time (s) of the last transition

  constructor(private readonly most = MOST_ROWS) {}

  get rows(): number[][] {
    return this.entries.map((x) => x.row);
  }

  add(sample: Sample): void {
    const { t, q, u } = sample;
    const kind = sample.at_transition ? 1 : 0;
    const row = [t, ...Array.from(q), ...Array.from(u)];
    while (this.entries.length && this.entries[this.entries.length - 1].row[0] > t) this.entries.pop(); // it went back
    if (kind === 0 || t !== this.changed) this.numbers[kind]++; // both sides of a transition have one number
    if (kind === 1) this.changed = t;
    if (this.numbers[kind] % this.strides[kind]) return;
    this.entries.push({ row, kind, number: this.numbers[kind] });
    if (this.entries.length >= Math.min(this.most, MOST_NUMBERS / row.length)) this.thin();
  }

  private thin(): void {
    const transitions = this.entries.filter((x) => x.kind === 1).length;
    this.strides[2 * transitions > this.entries.length ? 1 : 0] *= 2;
    this.entries = this.entries.filter((x) => x.number % this.strides[x.kind] === 0);
  }
}
