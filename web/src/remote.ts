// A motion that goes on elsewhere, seen by its frames and touched by messages.

import type { MarkNames, Triple } from "./data";
import type { Frame, Message, Port, State, Wanted } from "./frames";
import type { Energy, Marks, Motion, Transition } from "./motion";
import type { Sample } from "./samples";

/** What is known of a motion before its first frame. */
interface Known {
  elements: string[];
  mark_names: MarkNames | null;
  /** Of the control laws under which it can move, none where there is nothing to choose. */
  law_names: string[];
  /** Values of the free parameters, where they can be changed. */
  parameters: number[];
}

export class RemoteMotion implements Motion {
  readonly end = Infinity;
  readonly transitions: Transition[] = [];
  playing: boolean;
  on_change = (): void => {};
  private gone = "";
  private said = 0;
  private grabbed = 0; // how much was said when a point was grabbed last
  private wanted: Wanted = { marks: true, inputs: false };
  private waiting = false; // for a frame
  private outdated = false; // what the frame that is waited for will show
  private readonly untold: Sample[] = [];
  private readonly untraced: ArrayLike<number>[] = []; // poses of samples
  private readonly settling: { said: number; done: () => void }[] = [];

  private constructor(
    private readonly known: Known,
    private readonly port: Port,
    private frame: Frame,
  ) {
    this.playing = frame.playing;
    this.transitions.push(...frame.transitions);
    this.keep(frame.samples ?? [frame]);
    port.listen(
      (next) => this.take(next),
      (why) => {
        this.gone = why;
        this.take(this.frame);
      },
    );
  }

  /** The motion at the other end of a port, with its first frame. */
  static make(port: Port, known: Known): Promise<RemoteMotion> {
    return new Promise((resolve, reject) => {
      port.listen((frame) => resolve(new RemoteMotion(known, port, frame)), (why) => reject(new Error(why)));
      if (port.asked) port.say({ show: { marks: true, inputs: false } });
    });
  }

  private take(frame: Frame): void {
    const anew = frame.run !== this.frame.run;
    if (anew) for (const past of [this.transitions, this.untold, this.untraced]) past.length = 0;
    if (frame !== this.frame) for (const x of frame.transitions) this.transitions.push(x);
    if (frame !== this.frame) this.keep(frame.samples ?? (anew || frame.t !== this.frame.t ? [frame] : []));
    this.frame = frame;
    this.waiting = false;
    this.on_change();
    while (this.settling.length && (this.gone || this.settling[0].said <= (frame.heard ?? 0))) this.settling.shift()?.done();
    if (this.outdated) this.show();
  }

  private keep(samples: Sample[]): void {
    for (const x of samples) {
      this.untold.push(x);
      this.untraced.push(x.poses);
    }
  }

  get elements(): string[] {
    return this.known.elements;
  }

  get mark_names(): MarkNames | null {
    return this.known.mark_names;
  }

  get law_names(): string[] {
    return this.known.law_names;
  }

  get parameters(): readonly number[] {
    return this.known.parameters;
  }

  get t(): number {
    return this.frame.t;
  }

  get q(): ArrayLike<number> {
    return this.frame.q;
  }

  get u(): ArrayLike<number> {
    return this.frame.u;
  }

  get poses(): ArrayLike<number> {
    return this.frame.poses;
  }

  get energy(): Energy {
    return this.frame.energy;
  }

  get states(): string[] {
    return this.frame.states;
  }

  get marks(): Marks | null {
    return this.frame.marks;
  }

  /** What programs of the motion read: t, q, u, work, efforts, parameters; null where that was not wanted. */
  get inputs(): ArrayLike<number> | null {
    return this.frame.inputs ?? null;
  }

  get run(): number {
    return this.frame.run;
  }

  get pace(): number {
    return this.frame.pace ?? 1;
  }

  get stopped(): string {
    return this.gone || this.frame.stopped;
  }

  /** Of the coupler (N/m). */
  get stiffness(): number {
    return this.frame.stiffness;
  }

  get law(): number {
    return this.frame.law;
  }

  /** Whether the point that was grabbed last is held, or is one that nothing can move; null before that is known. */
  get held(): boolean | null {
    const { heard, refused } = this.frame;
    if (!this.port.asked) return true;
    return (heard ?? 0) >= this.grabbed ? !refused : null;
  }

  /** Nothing is asked for while a frame is on its way, and nothing while there is nothing new. */
  ask(wanted: Wanted): void {
    const other = wanted.marks !== this.wanted.marks || wanted.inputs !== this.wanted.inputs;
    this.wanted = wanted;
    if (other) this.show_soon();
    else if (this.playing && !this.stopped && !this.waiting) this.show();
  }

  settle(): Promise<void> {
    if (!this.port.asked || this.gone) return Promise.resolve();
    this.say({ settle: true });
    return new Promise((done) => this.settling.push({ said: this.said, done }));
  }

  play(playing: boolean): void {
    this.playing = playing;
    this.say({ play: playing });
  }

  set_speed(speed: number): void {
    this.say({ speed });
  }

  /** Forward only. */
  step(direction: 1 | -1): void {
    if (direction > 0) this.say({ step: true });
  }

  reset(): void {
    this.say({ reset: true });
  }

  /** Move under another control law from now on. */
  set_law(index: number): void {
    this.say({ law: index });
  }

  set_parameter(index: number, value: number): void {
    this.known.parameters[index] = value;
    this.say({ parameter: index, value });
  }

  /** Set the effort along a speed that acts beside those of a law. */
  set_effort(speed: number, value: number): void {
    this.say({ effort: speed, value });
  }

  /** Begin at a state, now and after every reset; null for that of the page. */
  set_start(start: State | null): void {
    this.say({ start });
  }

  /** Whether the page is seen: time stands still for a motion that is simulated for nobody. */
  set_seen(seen: boolean): void {
    this.say({ seen });
  }

  samples(): Sample[] {
    return this.untold.splice(0);
  }

  passed(): ArrayLike<number>[] {
    return this.untraced.splice(0);
  }

  /** Hold the point (m, in its frame) of a body, which is at `target` (m, in N) now. */
  grab(body: number, point: Triple, target: Triple): void {
    this.say({ grab: body, point, target });
    this.grabbed = this.said;
  }

  /** Draw the held point to a place (m, in N). */
  pull(target: Triple): void {
    this.say({ pull: target });
  }

  release(): void {
    this.say({ release: true });
  }

  private say(message: Message): void {
    this.said++;
    this.port.say(message);
    this.show_soon();
  }

  /** Ask for a frame that shows what has been said, if need be after the one that is on its way. */
  private show_soon(): void {
    if (this.waiting) this.outdated = true;
    else this.show();
  }

  private show(): void {
    this.outdated = false;
    if (!this.port.asked || this.gone) return;
    this.waiting = true;
    this.port.say({ show: this.wanted });
  }
}
