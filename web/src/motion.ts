// What moves a scene, and the simulation of a motion.

import { type LiveCode, type LiveData, type LiveMarks, type MarkNames, type PageData, type Triple, unpack } from "./data";
import type { State, Wanted } from "./frames";
import { rounds_once, with_instruction } from "./fused";
import { type Sample, Sampling } from "./samples";

export interface Transition {
  t: number;
  cause: string;
  which: string;
}

export interface Energy {
  kinetic: number;
  potential: number;
  work: number;
}

/** What is drawn over a motion: velocities of mass centres (m/s) and forces (N) at places (m), all in N, and how near
 *  vehicles are to tipping over (N rad), one for each outline, negative where they would. */
export interface Marks {
  velocities: ArrayLike<number>;
  at: ArrayLike<number>;
  forces: ArrayLike<number>;
  measures: ArrayLike<number>;
}

export interface Motion {
  /** Time (s) of what is seen. */
  readonly t: number;
  /** Seconds that there are in all; infinite for a simulation. */
  readonly end: number;
  /** Poses of all bodies, 12 numbers each: R_NB by rows and the origin in N. */
  readonly poses: ArrayLike<number>;
  /** What it was at since this was asked last, for curves and tables: frames may be rarer. */
  samples(): Sample[];
  /** Poses that were passed since this was asked last, for trails. Null if it went back. */
  passed(): ArrayLike<number>[] | null;
  readonly q: ArrayLike<number>;
  readonly u: ArrayLike<number>;
  readonly energy: Energy | null;
  /** Constraints that come and go, and what each does now. */
  readonly elements: string[];
  readonly states: string[];
  readonly transitions: Transition[];
  /** Why it cannot go on; empty while it can. */
  readonly stopped: string;
  /** Names of the places where forces are drawn and of what is outlined by them; null where nothing is known. */
  readonly mark_names: MarkNames | null;
  readonly marks: Marks | null;
  readonly playing: boolean;
  /** How fast it goes, of the speed that is asked for. */
  readonly pace: number;
  /** How often it has begun anew. */
  readonly run: number;
  /** Called whenever there is something new to see. */
  on_change: () => void;
  /** Ask for what there is to see now, with what is wanted beside the state. It goes on whether it is asked or not. */
  ask(wanted: Wanted): void;
  play(playing: boolean): void;
  /** How many seconds it goes on in one of the clock. */
  set_speed(speed: number): void;
  /** One step, forward or back where that is possible. */
  step(direction: 1 | -1): void;
  reset(): void;
  /** Resolves when all that it was told so far is done, and is seen. */
  settle(): Promise<void>;
}

const RUNNING = 0;
const REACHED = 1;
const NOT_FINITE = 4;
const FULL = 5;
const ADVANCE = 0n;
const GRAB = 1n;
const REACT = 2n;
const CHUNK = 16;
const CLOSE_ENOUGH = 1e-9;
const KEPT = 32; // states that are kept to go back to where steps blow up, one for each run of steps
const BLOWN_UP = 10; // times the largest speed of the oldest of them, from which on a state is no motion of the model

/** Functions that modules ask their host for. */
const LIBRARY: Record<string, (...x: number[]) => number> = {
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan2: Math.atan2,
  exp: Math.exp,
  exp2: (x) => 2 ** x,
  log: Math.log,
  pow: Math.pow,
};

/** Names of the control laws under which a motion can move, none where there is nothing to choose; the first is the one
 *  of the page. */
export function names_of_laws(data: LiveData): string[] {
  return data.laws.length ? [data.law, ...data.laws.map((x) => x.name)] : [];
}

/** A motion that is simulated in WebAssembly: modules that share a memory, which begins as an image of a native run. */
export class LiveMotion {
  readonly elements: string[];
  readonly transitions: Transition[] = [];
  /** Since the last time that somebody took them away. */
  readonly samples: Sample[] = [];
  stopped = "";
  poses: Float64Array;
  private sampling!: Sampling;
  private readonly memory: WebAssembly.Memory;
  private readonly table: WebAssembly.Table;
  private readonly stack: WebAssembly.Global;
  private readonly view: DataView;
  private readonly bytes: Uint8Array;
  private touch!: (task: bigint, loop: bigint, coupler: bigint, budget: bigint) => bigint;
  private readonly laws: { slot: number; code: LiveMotion["touch"] }[][] = [];
  private law_chosen = 0;
  private ahead = 0;
  private step_time = 0; // ms that a step takes, of late
  private start: State | null = null;
  private kept: { t: number; y: Float64Array }[] = [];
  private readonly changed = new Map<number, number>(); // parameters that have other values than those of the page
  private readonly pushed = new Map<number, number>(); // efforts along speeds that have, beside those of a law
  private readonly counts: { q: number; u: number; bodies: number; parameters: number; constraints: number };

  private constructor(
    private readonly data: LiveData,
    private readonly image: Uint8Array,
    page: Pick<PageData, "coordinates" | "speeds" | "parameters" | "scene">,
  ) {
    this.memory = new WebAssembly.Memory({ initial: data.pages });
    this.table = new WebAssembly.Table({ element: "anyfunc", initial: data.codes.length + 1 });
    this.stack = new WebAssembly.Global({ value: "i32", mutable: true }, data.image.to);
    this.view = new DataView(this.memory.buffer);
    this.bytes = new Uint8Array(this.memory.buffer);
    this.elements = data.elements;
    this.counts = {
      q: page.coordinates.length,
      u: page.speeds.length,
      bodies: page.scene.bodies.length,
      parameters: page.parameters.length,
      constraints: data.marks?.constraints ?? 0,
    };
    this.poses = new Float64Array(this.memory.buffer, data.places.scene, 12 * this.counts.bodies);
  }

  /** The motion at its start. Products are fused by an instruction where it may be, else by a function: the same bits. */
  static async make(
    data: LiveData,
    page: Pick<PageData, "coordinates" | "speeds" | "parameters" | "scene">,
    by_instruction = true,
  ): Promise<LiveMotion> {
    const blob = await unpack(data.blob);
    const made = new LiveMotion(data, blob.slice(data.image.at, data.image.at + data.image.size), page);
    const env = {
      __linear_memory: made.memory,
      __indirect_function_table: made.table,
      __stack_pointer: made.stack,
      ...LIBRARY,
    };
    const fuses = by_instruction && (await rounds_once());
    const load = async (code: LiveCode): Promise<LiveMotion["touch"]> => {
      const written = blob.slice(code.at, code.at + code.size);
      const bytes = fuses && code.fused ? with_instruction(written, code.fused) : written;
      const { instance } = await WebAssembly.instantiate(bytes, { env });
      return instance.exports[code.export] as LiveMotion["touch"];
    };
    const first = new Map<number, LiveMotion["touch"]>();
    for (const code of data.codes) {
      const loaded = await load(code);
      first.set(code.slot, loaded);
      if (code.slot > 0) made.table.set(code.slot, loaded);
      else made.touch = loaded;
    }
    for (const law of data.laws) {
      const codes = [];
      for (const code of law.codes) codes.push({ slot: code.slot, code: await load(code) });
      made.laws.push(codes);
    }
    made.laws.unshift([...new Set(made.laws.flat().map((x) => x.slot))].map((slot) => ({ slot, code: first.get(slot)! })));
    made.reset();
    return made;
  }

  get law_names(): string[] {
    return names_of_laws(this.data);
  }

  get law(): number {
    return this.law_chosen;
  }

  /** Move under another control law from now on: its programs take the places of those that they differ from. */
  set_law(index: number): void {
    for (const law of [this.laws[0], this.laws[index]]) for (const x of law) this.table.set(x.slot, x.code);
    this.law_chosen = index;
    this.refresh();
    this.choose_mode();
  }

  /** Begin at a state, now and after every reset; null for that of the page. */
  set_start(start: State | null): void {
    this.start = start;
    this.reset();
  }

  get t(): number {
    return this.real("t");
  }

  get q(): Float64Array {
    return new Float64Array(this.memory.buffer, this.data.places.y, this.counts.q);
  }

  get u(): Float64Array {
    return new Float64Array(this.memory.buffer, this.data.places.y + 8 * this.counts.q, this.counts.u);
  }

  get energy(): Energy {
    const { q, u, bodies } = this.counts;
    const at = this.data.places.scene + 8 * bodies * (12 + 6 * u);
    const read = (address: number) => this.view.getFloat64(address, true);
    return { kinetic: read(at), potential: read(at + 8), work: read(this.data.places.x + 8 * (1 + q + u)) };
  }

  get states(): string[] {
    const at = this.data.places["changing.state"];
    return this.elements.map((_, i) => this.data.states[Number(this.view.getBigInt64(at + 8 * i, true))]);
  }

  get step_length(): number {
    return this.data.step;
  }

  /** Begin anew; parameters and the control law stay as they are. */
  reset(): void {
    this.bytes.fill(0, this.data.image.to, this.data.image.clear); // behind it modules have data of their own
    this.bytes.set(this.image, this.data.image.to);
    this.stack.value = this.data.image.to;
    this.stopped = "";
    this.ahead = 0;
    this.kept = [];
    this.transitions.length = 0;
    this.samples.length = 0;
    this.sampling = new Sampling(this.data.step);
    for (const [index, value] of this.changed) this.write_parameter(index, value);
    for (const [index, value] of this.pushed) this.write_effort(index, value);
    if (this.start) this.begin_at(this.start.q, this.start.u);
    this.note();
    this.draw();
    this.keep_sample(this.t, false);
  }

  private begin_at(q: number[], u: number[]): void {
    this.q.set(q);
    this.u.set(u);
    this.refresh();
    this.choose_mode();
  }

  /** Choose anew what of the constraints that come and go holds at the present state. */
  private choose_mode(): void {
    if (!this.elements.length || this.data.stepping) return; // steps choose by themselves
    const { places } = this.data;
    for (const [i] of this.elements.entries()) this.view.setFloat64(places["changing.imposed"] + 8 * i, this.t, true);
    this.view.setBigInt64(places["changing.count"], 0n, true);
    const program = this.table.get(Number(this.view.getBigInt64(places.transition, true)));
    const fault = Number(program(BigInt(places.loop), this.view.getBigInt64(places.transition_memory, true), 1n));
    if (fault) this.stopped = `the motion cannot go on from here: ${this.data.faults[fault]}`;
  }

  advance(seconds: number, budget: number): boolean {
    const goal = this.t + seconds - this.ahead; // steps are whole: what the last one went too far is taken off
    const began = performance.now();
    let enough = true;
    let now = began;
    while (!this.stopped && this.t < goal - CLOSE_ENOUGH) {
      const affordable = this.step_time > 0 ? Math.floor((began + budget - now) / this.step_time) : CHUNK;
      const steps = Math.max(1, Math.min(CHUNK, affordable, Math.round((goal - this.t) / this.data.step)));
      this.run(steps);
      const after = performance.now();
      this.step_time += 0.25 * ((after - now) / steps - this.step_time);
      now = after;
      if (now - began > budget) {
        enough = this.t >= goal - CLOSE_ENOUGH;
        break;
      }
    }
    this.ahead = enough ? this.t - goal : 0;
    this.draw();
    return enough;
  }

  step(direction: 1 | -1): void {
    if (direction < 0 || this.stopped) return;
    this.run(1);
    this.draw();
  }

  /** Go to a time (s) exactly, with a shorter last step if need be, as a native run with that end does. */
  run_to(end: number): void {
    this.set_real("coupler.end", end);
    while (!this.stopped && this.t !== end) this.run(CHUNK);
    this.draw();
  }

  /** Values of the free parameters, in the order of the page. */
  get parameters(): number[] {
    return Array.from(new Float64Array(this.memory.buffer, this.data.places.parameters, this.counts.parameters));
  }

  /** Set a parameter, now and after every reset. */
  set_parameter(index: number, value: number): void {
    this.changed.set(index, value);
    this.write_parameter(index, value);
    this.draw();
  }

  private write_parameter(index: number, value: number): void {
    this.view.setFloat64(this.data.places.parameters + 8 * index, value, true);
    this.refresh();
  }

  /** Set the effort along a speed that acts beside those of a law, now and after every reset. */
  set_effort(speed: number, value: number): void {
    this.pushed.set(speed, value);
    this.write_effort(speed, value);
    this.draw();
  }

  private write_effort(speed: number, value: number): void {
    const { given, tau } = this.data.places;
    this.view.setFloat64(given + 8 * speed, value, true);
    if (!this.held) this.view.setFloat64(tau + 8 * speed, value, true); // else the coupler adds its own at the next step
    this.refresh();
  }

  /** Hold the point (m, in its frame) of a body by the coupler; returns the effective mass there (kg). */
  grab(body: number, point: Triple): number {
    this.whole("coupler.body", body);
    for (const [i, name] of ["coupler.x", "coupler.y", "coupler.z"].entries()) this.set_real(name, point[i]);
    this.touch(GRAB, BigInt(this.data.places.loop), BigInt(this.data.places.coupler), 0n);
    for (const name of ["coupler.force_x", "coupler.force_y", "coupler.force_z"]) this.set_real(name, 0);
    this.whole("coupler.held", 1);
    this.refresh();
    return this.real("coupler.mass");
  }

  /** Draw the held point to a place (m, in N). */
  pull(target: Triple): void {
    for (const [i, name] of ["coupler.to_x", "coupler.to_y", "coupler.to_z"].entries()) this.set_real(name, target[i]);
  }

  release(): void {
    const { given, tau } = this.data.places;
    this.whole("coupler.held", 0);
    this.bytes.copyWithin(tau, given, given + 8 * this.counts.u);
    this.refresh();
  }

  /** Of the coupler (N/m). */
  get stiffness(): number {
    return this.real("coupler.mass") * this.real("coupler.frequency") ** 2;
  }

  private run(steps: number): void {
    this.whole("stored", 1);
    this.whole("crossings", 0);
    const { loop, coupler } = this.data.places;
    this.keep();
    const reason = Number(this.touch(ADVANCE, BigInt(loop), BigInt(coupler), BigInt(steps)));
    const known = this.transitions.length;
    this.note();
    if (reason !== RUNNING && reason !== FULL && reason !== REACHED) this.stop(reason);
    if (reason !== NOT_FINITE) this.sample(this.transitions.slice(known));
  }

  /** Say why the motion cannot go on. */
  private stop(reason: number): void {
    const fault = this.data.faults[Number(this.view.getBigInt64(this.data.places.transition_fault, true))] ?? "";
    let why = fault || this.data.reasons[reason];
    if (reason === NOT_FINITE) {
      this.go_back();
      why =
        `steps of ${this.data.step} s cannot follow the motion from here on, and what is seen is the last state before;` +
        " fix: shorter steps (--step), or end it before: wheels that come to lie flat, for one, do not roll on";
    }
    this.stopped = `stopped at t = ${this.t.toPrecision(6)} s: ${why}`;
  }

  /** The state with the work: what a motion goes on from, beside the time. */
  private get state(): Float64Array {
    return new Float64Array(this.memory.buffer, this.data.places.y, this.counts.q + this.counts.u + 1);
  }

  private keep(): void {
    this.kept.push({ t: this.t, y: this.state.slice() });
    if (this.kept.length > KEPT) this.kept.shift();
  }

  /** Be where the motion was before its steps blew up; samples of what came after are no part of it. */
  private go_back(): void {
    const { q, u } = this.counts;
    const fastest = (y: Float64Array) => Math.max(...y.subarray(q, q + u).map(Math.abs));
    const most = BLOWN_UP * fastest(this.kept[0].y);
    const sound = this.kept.filter(({ y }) => y.every(Number.isFinite) && fastest(y) <= most).pop() ?? this.kept[0];
    this.state.set(sound.y);
    this.set_real("t", sound.t);
    while (this.samples.length && this.samples[this.samples.length - 1].t >= sound.t) this.samples.pop();
    this.draw(sound.t, this.data.places.y);
    this.keep_sample(sound.t, false);
  }

  /** Keep samples of the states since the last time, which the loop has stored: all steps, and where a mode ends within
   *  a step those before and after, both at one time. The last of them comes first the next time. */
  private sample(transitions: Transition[]): void {
    const { stored, out_t, out_y } = this.data.places;
    const rows = Number(this.view.getBigInt64(stored, true));
    const width = 8 * (this.counts.q + this.counts.u + 1);
    const times = Array.from(new Float64Array(this.memory.buffer, out_t, rows));
    const changes = new Set(this.data.stepping ? transitions.map((x) => x.t) : []);
    for (const { row, at_transition } of this.sampling.choose(times, changes, this.stopped !== "")) {
      this.draw(times[row], out_y + width * row);
      this.keep_sample(times[row], at_transition);
    }
    this.view.setFloat64(out_t, times[rows - 1], true);
    this.bytes.copyWithin(out_y, out_y + width * (rows - 1), out_y + width * rows);
  }

  /** Keep what was drawn last. */
  private keep_sample(t: number, at_transition: boolean): void {
    const { q, u } = this.counts;
    const state = new Float64Array(this.memory.buffer, this.data.places.x + 8, q + u);
    const poses = this.poses.slice();
    this.samples.push({ t, q: state.slice(0, q), u: state.slice(q), poses, energy: this.energy, at_transition });
  }

  /** Take note of the transitions since the last time, and make room for more. */
  private note(): void {
    if (!this.elements.length) return;
    const places = this.data.places;
    const count = Number(this.view.getBigInt64(places["changing.count"], true));
    for (let k = 0; k < count; k++) {
      const whole = (name: string) => Number(this.view.getBigInt64(places[name] + 8 * k, true));
      const which = whole("changing.which");
      this.transitions.push({
        t: this.view.getFloat64(places["changing.at"] + 8 * k, true),
        cause: this.data.causes[whole("changing.cause")],
        which: which >= 0 ? this.elements[which] : "",
      });
    }
    this.whole("changing.count", 0);
    this.whole("transitions", 0);
  }

  /** Poses and energies at a time and the state at an address, those of the present. */
  private draw(t = this.t, state = this.data.places.y): void {
    const { x, scene } = this.data.places;
    this.view.setFloat64(x, t, true);
    this.bytes.copyWithin(x + 8, state, state + 8 * (this.counts.q + this.counts.u + 1));
    const program = this.table.get(Number(this.view.getBigInt64(this.data.places["coupler.scene"], true)));
    program(x, scene, 0n);
  }

  get mark_names(): MarkNames | null {
    return this.data.marks;
  }

  /** Velocities and forces at the present state: the force of a constraint is the sum of its reactions, each times the
   *  force of a unit of it; wheels come last. Nothing of the motion is changed by asking. */
  get marks(): Marks | null {
    const { marks, places } = this.data;
    if (!marks) return null;
    this.table.get(marks.slot)(places.x, places.marks, 0n);
    const read = (at: number, count: number) => new Float64Array(this.memory.buffer, at, count);
    const bodies = 3 * this.counts.bodies;
    const at = new Float64Array(3 * marks.names.length);
    const forces = new Float64Array(3 * marks.names.length);
    const reacts = marks.reactions > 0 || this.data.stepping;
    if (reacts) this.react(marks);
    const points = places.marks + 8 * bodies;
    const units = points + 24 * this.counts.constraints;
    for (const [i, place] of marks.places.entries()) {
      at.set(read(points + 24 * place.index, 3), 3 * i);
      const values = read(places.reactions + 8 * place.first, reacts ? place.rows : 0);
      for (const [row, value] of values.entries()) {
        const unit = read(units + 24 * (place.first + row), 3);
        for (let k = 0; k < 3; k++) forces[3 * i + k] += value * unit[k];
      }
    }
    const wheels = 3 * (marks.names.length - marks.places.length);
    if (marks.ground) {
      this.ask_ground(marks);
      at.set(read(places.wheels, wheels), 3 * marks.places.length);
      forces.set(read(places.wheels + 8 * wheels, wheels), 3 * marks.places.length);
    }
    const measures = read(places.wheels + 16 * wheels, marks.outlines.length);
    return { velocities: read(places.marks, bodies), at, forces, measures: marks.ground ? measures : [] };
  }

  /** Compute the reactions of all rows, in memory of their own; by time stepping they are the means of the last step. */
  private react(marks: LiveMarks): void {
    const { places } = this.data;
    if (this.data.stepping) {
      this.touch(REACT, BigInt(places.loop), BigInt(places.coupler), 0n);
      return;
    }
    for (const [from, to, size] of marks.mirrored) this.bytes.copyWithin(to, from, from + size);
    this.table.get(marks.reactions)(places["reactions.source"], places.reactions, BigInt(places["reactions.memory"]));
  }

  /** Compute what the ground does to wheels, after the reactions: from the inputs, what pulls at platforms that are kept
   *  level, the reactions, and the rates of the state. */
  private ask_ground(marks: LiveMarks): void {
    const { places } = this.data;
    this.bytes.copyWithin(places.told, places.x, places.x + places["told.pulls"] - places.told);
    this.tell_pulls(marks);
    if (marks.rates) this.table.get(marks.rates)(places.x, places["told.rates"], BigInt(places["rates.memory"]));
    this.table.get(marks.ground)(places.told, places.wheels, 0n);
  }

  /** What the coupler pulls at a platform with along directions in which nothing moves: a force up, and moments about x
   *  and y of N at its origin. */
  private tell_pulls(marks: LiveMarks): void {
    const pulls = new Float64Array(this.memory.buffer, this.data.places["told.pulls"], 3 * marks.platforms.length);
    pulls.fill(0);
    const vehicle = this.held ? marks.carried_by[this.held_body] : -1;
    if (!(vehicle >= 0)) return;
    const origin = 12 * marks.platforms[vehicle] + 9;
    const [fx, fy, fz] = ["x", "y", "z"].map((k) => this.real(`coupler.force_${k}`));
    const [x, y, z] = ["x", "y", "z"].map((k, i) => this.real(`coupler.at_${k}`) - this.poses[origin + i]);
    pulls.set([fz, y * fz - z * fy, z * fx - x * fz], 3 * vehicle);
  }

  private get held(): boolean {
    return this.view.getBigInt64(this.data.places["coupler.held"], true) !== 0n;
  }

  private get held_body(): number {
    return Number(this.view.getBigInt64(this.data.places["coupler.body"], true));
  }

  /** What programs of the motion read now: t, q, u, work, efforts, parameters. */
  get inputs(): Float64Array {
    const { x, parameters } = this.data.places;
    return new Float64Array(this.memory.buffer, x, (parameters - x) / 8 + this.counts.parameters);
  }

  private refresh(): void {
    this.whole("fresh", 1);
  }

  private real(name: string): number {
    return this.view.getFloat64(this.data.places[name], true);
  }

  private set_real(name: string, value: number): void {
    this.view.setFloat64(this.data.places[name], value, true);
  }

  private whole(name: string, value: number): void {
    this.view.setBigInt64(this.data.places[name], BigInt(value), true);
  }
}
