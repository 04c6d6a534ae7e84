// A motion as a table of numbers, with names that cannot be formulas of a spreadsheet.

export function quote(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function table(names: string[], rows: ArrayLike<number>[]): string {
  const lines = [names.map(quote).join(",")];
  for (const row of rows) lines.push(Array.from(row, (x) => String(x)).join(","));
  return `${lines.join("\n")}\n`;
}
