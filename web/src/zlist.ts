// The Z list of a motion: its program as text, evaluated line by line at the present state.

const TWO: Record<string, (x: number, y: number) => number> = {
  "+": (x, y) => x + y,
  "-": (x, y) => x - y,
  "*": (x, y) => x * y,
  "/": (x, y) => x / y,
  "**": (x, y) => x ** y,
  "<": (x, y) => (x < y ? 1 : 0),
  "<=": (x, y) => (x <= y ? 1 : 0),
  "==": (x, y) => (x === y ? 1 : 0),
};

const CALLS: Record<string, (...x: number[]) => number> = {
  neg: (x) => -x,
  sqrt: Math.sqrt,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan2: Math.atan2,
  exp: Math.exp,
  log: Math.log,
  abs: Math.abs,
  sign: (x) => (Math.abs(x) > 0 ? Math.sign(x) : x),
  min: (x, y) => (y < x ? y : x),
  max: (x, y) => (x < y ? y : x),
  select: (c, x, y) => (c !== 0 ? x : y),
};

interface Line {
  text: string;
  /** What it computes; null for lines that compute nothing. */
  of: { action: (...x: number[]) => number; names: string[] } | null;
  name: string;
}

/** A program that was written by kane: `z3 = q1 * z2  # why`, after its inputs. */
export class ZList {
  readonly lines: Line[];
  private readonly inputs: string[] = [];

  constructor(text: string) {
    this.lines = text.trimEnd().split("\n").map((line) => this.read(line));
  }

  private read(line: string): Line {
    const input = line.match(/^input \S+ \[\w+\]:(.*)$/);
    if (input) this.inputs.push(...input[1].split(" ").filter((x) => x));
    const row = line.match(/^(z+[0-9]+) = (.*?)(?:  # .*)?$/);
    if (!row) return { text: line, of: null, name: "" };
    const call = row[2].match(/^(\w+)\((.*)\)$/);
    if (call && call[1] in CALLS) return { text: line, of: { action: CALLS[call[1]], names: call[2].split(", ") }, name: row[1] };
    const [left, sign, right] = row[2].split(" ");
    return { text: line, of: { action: TWO[sign], names: [left, right] }, name: row[1] };
  }

  /** The value of every line that computes one, for the numbers that the program reads, in their order. */
  values(numbers: ArrayLike<number>): Map<string, number> {
    const found = new Map<string, number>(this.inputs.map((name, i) => [name, numbers[i]]));
    for (const line of this.lines) {
      if (!line.of) continue;
      const given = line.of.names.map((name) => found.get(name) ?? Number(name));
      found.set(line.name, line.of.action(...given));
    }
    return found;
  }

  /** The text with the values beside it. */
  print(numbers: ArrayLike<number>): string {
    const values = this.values(numbers);
    return this.lines
      .map((line) => (line.of ? `${(values.get(line.name) as number).toPrecision(7).padStart(14)}   ${line.text}` : line.text))
      .join("\n");
  }
}
