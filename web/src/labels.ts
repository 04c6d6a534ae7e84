// Labels of an axis: short, and different wherever the marks are.

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
