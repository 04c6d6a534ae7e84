// A motion that was recorded: numbers and poses at times of equal distance.

import { type MarkNames, type PageData, type RecordingData, unpack } from "./data";
import type { Marks, Motion, Transition } from "./motion";
import type { Sample } from "./samples";

const PAUSE = 0.7; // s at the end, before it begins anew
const LONGEST_TICK = 0.25; // s of the clock that it goes on at most at a time: a tab that slept does not catch up

export class RecordedMotion implements Motion {
  readonly energy = null;
  readonly stopped = "";
  readonly elements: string[];
  readonly transitions: Transition[];
  readonly pace = 1;
  playing = false;
  run = 0;
  on_change = (): void => {};
  private at = 0;
  private told = -1; // the row up to which it has told what it passed
  private speed = 1;
  private asked = performance.now();

  private constructor(
    private readonly data: RecordingData,
    private readonly numbers: Float64Array,
    private readonly all_poses: Float32Array | Float64Array,
    private readonly all_marks: {
      velocities: Float32Array;
      at: Float64Array;
      forces: Float32Array;
      measures: Float32Array;
    } | null,
    private readonly counts: { q: number; u: number; bodies: number },
  ) {
    this.elements = data.elements;
    this.transitions = data.transitions.map((x) => ({ t: x.t, cause: x.cause, which: x.which.join(", ") }));
  }

  static async make(
    data: RecordingData,
    page: Pick<PageData, "coordinates" | "speeds" | "scene">,
  ): Promise<RecordedMotion> {
    const numbers = new Float64Array((await unpack(data.numbers)).buffer);
    const held = (await unpack(data.poses)).buffer;
    const poses = data.double ? new Float64Array(held) : new Float32Array(held);
    const marks = data.marks && {
      velocities: new Float32Array((await unpack(data.marks.velocities)).buffer),
      at: new Float64Array((await unpack(data.marks.at)).buffer),
      forces: new Float32Array((await unpack(data.marks.forces)).buffer),
      measures: new Float32Array((await unpack(data.marks.measures)).buffer),
    };
    const counts = { q: page.coordinates.length, u: page.speeds.length, bodies: page.scene.bodies.length };
    return new RecordedMotion(data, numbers, poses, marks, counts);
  }

  /** Whether it is one state alone. */
  get still(): boolean {
    return this.data.times < 2;
  }

  private get width(): number {
    return 1 + this.counts.q + this.counts.u;
  }

  private get row(): number {
    return Math.min(this.data.times - 1, Math.max(0, Math.round(this.at)));
  }

  get t(): number {
    return this.numbers[this.width * this.row];
  }

  get end(): number {
    return this.numbers[this.width * (this.data.times - 1)];
  }

  get poses(): Float32Array | Float64Array {
    const size = 12 * this.counts.bodies;
    return this.all_poses.subarray(size * this.row, size * (this.row + 1));
  }

  samples(): Sample[] {
    return [this]; // it tells of every row
  }

  passed(): (Float32Array | Float64Array)[] | null {
    const size = 12 * this.counts.bodies;
    const from = this.told;
    this.told = this.row;
    if (this.told < from) return null;
    const rows = Array.from({ length: this.told - from }, (_, i) => from + 1 + i);
    return rows.map((row) => this.all_poses.subarray(size * row, size * (row + 1)));
  }

  get q(): Float64Array {
    const start = this.width * this.row + 1;
    return this.numbers.subarray(start, start + this.counts.q);
  }

  get u(): Float64Array {
    const start = this.width * this.row + 1 + this.counts.q;
    return this.numbers.subarray(start, start + this.counts.u);
  }

  get states(): string[] {
    const seen = this.data.transitions.filter((x) => x.t <= this.t);
    return seen.at(-1)?.states ?? this.elements.map(() => "open");
  }

  get mark_names(): MarkNames | null {
    return this.data.marks;
  }

  get marks(): Marks | null {
    if (!this.all_marks || !this.data.marks) return null;
    const bodies = 3 * this.counts.bodies;
    const places = 3 * this.data.marks.names.length;
    const outlines = this.data.marks.outlines.length;
    return {
      velocities: this.all_marks.velocities.subarray(bodies * this.row, bodies * (this.row + 1)),
      at: this.all_marks.at.subarray(places * this.row, places * (this.row + 1)),
      forces: this.all_marks.forces.subarray(places * this.row, places * (this.row + 1)),
      measures: this.all_marks.measures.subarray(outlines * this.row, outlines * (this.row + 1)),
    };
  }

  /** It goes on when it is asked: nobody else sees it. */
  ask(): void {
    const now = performance.now();
    const elapsed = Math.min(LONGEST_TICK, (now - this.asked) / 1000);
    this.asked = now;
    if (!this.playing || this.still) return;
    const last = this.data.times - 1;
    const each = (this.end - this.numbers[0]) / last;
    const next = this.at + (this.speed * elapsed) / each;
    for (let row = this.row + 1; row < Math.min(next, last); row++) {
      this.at = row; // plots and tables have every row, however rare frames are
      this.on_change();
    }
    this.at = next > last + PAUSE / each ? 0 : next;
    this.on_change();
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  play(playing: boolean): void {
    this.playing = playing && !this.still;
  }

  set_speed(speed: number): void {
    this.speed = speed;
  }

  /** Go to a time (s). */
  seek(t: number): void {
    const first = this.numbers[0];
    this.at = ((t - first) / (this.end - first)) * (this.data.times - 1);
    this.on_change();
  }

  step(direction: 1 | -1): void {
    this.at = Math.min(this.data.times - 1, Math.max(0, this.row + direction));
    this.on_change();
  }

  reset(): void {
    this.at = 0;
    this.run++;
    this.on_change();
  }
}
