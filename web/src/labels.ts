// Labels of an axis: short, and different wherever the marks are. Paces to play a motion at.

/** Texts of the marks of an axis, powers of ten where plain numbers are long. */
export function labels(marks: number[]): string[] {
  const largest = Math.max(0, ...marks.map(Math.abs));
  const step = Math.min(...marks.slice(1).map((x, i) => Math.abs(x - marks[i])).filter((d) => d > 0), Infinity);
  if (largest === 0 || !Number.isFinite(step)) return marks.map((x) => `${x}`);
  const finest = Math.floor(Math.log10(step * 1.0001)); // the decade of the last digit that tells marks apart
  if (largest < 1e5 && finest >= -4) {
    const digits = Math.max(0, -finest + (is_whole(step / 10 ** finest) ? 0 : 1));
    return marks.map((x) => x.toFixed(digits));
  }
  const decade = Math.floor(Math.log10(largest));
  const digits = Math.min(12, Math.max(0, decade - finest + (is_whole(step / 10 ** finest) ? 0 : 1)));
  return marks.map((x) => (x === 0 ? "0" : `${(x / 10 ** decade).toFixed(digits)}e${decade}`));
}

/** Whether a number is whole but for rounding. */
function is_whole(x: number): boolean {
  return Math.abs(x - Math.round(x)) < 1e-6;
}

const PACES = [0.05, 0.1, 0.25, 0.5, 1, 2];
const PATIENCE = 120; // s that a motion may play at the pace of the clock
const LONGEST = 60; // s that it plays where it is quickened

/** Paces to choose from for a motion of so many seconds, and the one to begin with: a long one is over in a minute. */
export function paces(seconds: number): { choices: number[]; first: number } {
  if (!(seconds > PATIENCE) || !Number.isFinite(seconds)) return { choices: PACES, first: 1 };
  const first = 10 ** Math.ceil(Math.log10(seconds / LONGEST) - 1e-9);
  const faster = [];
  for (let pace = 10; pace <= 10 * first; pace *= 10) faster.push(pace);
  return { choices: [...PACES, ...faster], first };
}
