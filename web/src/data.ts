// The data of a page, as kane.page.content writes it. Lengths in m, vectors in N unless a body's frame is named.

export type Triple = [number, number, number];

export interface Piece {
  kind: "box" | "sphere" | "cylinder" | "line" | "mesh";
  size: number[];
  at: Triple;
  axis: "x" | "y" | "z";
  wxyz: [number, number, number, number];
  color: string;
  /** Of a mesh: places (m) of its corners as multiples of `size` from `at`, and triangles, packed. */
  corners?: string;
  triangles?: string;
}

export interface Body {
  name: string;
  color: string;
  middle: Triple;
  center: Triple;
  traced: boolean;
  pieces: Piece[];
}

export interface SceneData {
  up: Triple;
  normal: Triple | null;
  low: Triple;
  high: Triple;
  followed: boolean;
  floor: number | null;
  size: number;
  /** Radius of lines (m). */
  line: number;
  /** Of all bodies (N). */
  weight: number;
  bodies: Body[];
  left_out: string[];
}

export interface Named {
  name: string;
  unit: string;
  limits?: [number | null, number | null]; // the least and the largest value
}

export interface LiveCode {
  name: string;
  export: string;
  slot: number;
  at: number;
  size: number;
  fused: BodyPlace | null;
}

/** Where the body of a function is in a module: bytes from `at` on, with its length, in a section whose length is written
 *  as five bytes. */
export interface BodyPlace {
  at: number;
  size: number;
  section: number;
  section_size: number;
}

/** Names of places where forces are drawn, polygons by their numbers, and the vehicles that stand on these. */
export interface MarkNames {
  names: string[];
  outlines: number[][];
  vehicles: string[];
}

export interface LiveMarks extends MarkNames {
  /** Where their program is in the table, and what computes reactions, 0 for nothing. */
  slot: number;
  reactions: number;
  /** Bytes that are copied before: from, to, how many. */
  mirrored: [number, number, number][];
  /** How many there are in all. */
  constraints: number;
  places: { index: number; first: number; rows: number }[];
  /** Where the program is that says what the ground does to wheels, the last of the names, and the one that computes
   *  the rates that it reads; 0 for nothing. */
  ground: number;
  rates: number;
  /** Of every body the vehicle that carries it and is kept level, -1 for none, and the bodies that these consist in. */
  carried_by: number[];
  platforms: number[];
}

export interface LiveData {
  codes: LiveCode[];
  law: string;
  laws: { name: string; codes: LiveCode[] }[];
  marks: LiveMarks | null;
  /** The text of the program of the motion, packed, empty where it is too long, and its operations. */
  program: { text: string; count: string };
  image: { at: number; size: number; to: number; clear: number };
  pages: number;
  places: Record<string, number>;
  step: number;
  /** Of drives with limits: the speed that they act along, by number, the largest effort, and that of the page. */
  efforts: { speed: number; name: string; unit: string; most: number; value: number }[];
  /** Whether contacts are treated by time stepping. */
  stepping: boolean;
  elements: string[];
  states: string[];
  causes: string[];
  faults: string[];
  reasons: string[];
  blob: string;
}

export interface RecordingData {
  times: number;
  numbers: string;
  double: boolean;
  poses: string;
  marks: (MarkNames & { velocities: string; at: string; forces: string; measures: string }) | null;
  transitions: { t: number; cause: string; which: string[]; states: string[] }[];
  elements: string[];
}

export interface RemoteData {
  path: string;
  marks: MarkNames;
  elements: string[];
  /** Names of the control laws that it can be moved under; the first is the one of the page. */
  laws: string[];
}

export interface PageData {
  format: number;
  name: string;
  about: string;
  panel?: boolean;
  scene: SceneData;
  coordinates: Named[];
  speeds: Named[];
  slack: number; // what a value may be beyond a limit, as a share of it, or in SI units below 1
  parameters: { name: string; value: number }[];
  live?: LiveData;
  recording?: RecordingData;
  remote?: RemoteData;
}

/** The bytes of base64 text that was compressed by gzip. */
export async function unpack(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
