// A motion that goes on in a loop of the machine that the page comes from, seen and touched through a WebSocket.

import type { MarkNames, PageData, RemoteData, Triple } from "./data";
import type { Energy, Marks, Touchable, Transition } from "./motion";

interface Frame {
  t: number;
  q: number[];
  u: number[];
  poses: number[];
  energy: Energy;
  states: string[];
  transitions: Transition[];
  stopped: string;
  playing: boolean;
  stiffness: number;
  law: number;
  marks: Marks | null;
}

const GONE = "the loop that this page shows has ended";

export class RemoteMotion implements Touchable {
  readonly end = Infinity;
  readonly elements: string[];
  readonly transitions: Transition[] = [];
  readonly mark_names: MarkNames;
  readonly law_names: string[];
  private gone = "";

  private constructor(
    data: RemoteData,
    private readonly socket: WebSocket,
    private frame: Frame,
  ) {
    this.elements = data.elements;
    this.mark_names = data.marks;
    this.law_names = data.laws;
    this.take(frame);
    socket.onmessage = (event) => this.take(JSON.parse(event.data as string) as Frame);
    socket.onclose = () => {
      this.gone = GONE;
    };
  }

  /** Connected to the loop, with its first frame. */
  static make(data: RemoteData, _page: PageData): Promise<RemoteMotion> {
    const url = new URL(data.path + location.search, location.href);
    url.protocol = "ws:";
    const socket = new WebSocket(url);
    return new Promise((resolve, reject) => {
      socket.onmessage = (event) => resolve(new RemoteMotion(data, socket, JSON.parse(event.data as string) as Frame));
      socket.onclose = () => reject(new Error(GONE));
    });
  }

  private take(frame: Frame): void {
    if (frame.t < this.frame.t) this.transitions.length = 0; // it was started anew
    this.frame = frame;
    this.transitions.push(...frame.transitions);
  }

  get t(): number {
    return this.frame.t;
  }

  get q(): number[] {
    return this.frame.q;
  }

  get u(): number[] {
    return this.frame.u;
  }

  get poses(): number[] {
    return this.frame.poses;
  }

  get energy(): Energy {
    return this.frame.energy;
  }

  get states(): string[] {
    return this.frame.states;
  }

  /** Null where they cannot be told at present. */
  get marks(): Marks | null {
    return this.frame.marks;
  }

  get stopped(): string {
    return this.gone || this.frame.stopped;
  }

  get stiffness(): number {
    return this.frame.stiffness;
  }

  get law(): number {
    return this.frame.law;
  }

  set_law(index: number): void {
    this.say({ law: index });
  }

  /** Nothing: it goes on by itself. */
  advance(): boolean {
    return true;
  }

  step(): void {}

  set_playing(playing: boolean): void {
    this.say({ play: playing });
  }

  reset(): void {
    this.say({ reset: true });
  }

  grab(body: number, point: Triple, target: Triple): number {
    this.say({ grab: body, point, target });
    return 1;
  }

  pull(target: Triple): void {
    this.say({ pull: target });
  }

  release(): void {
    this.say({ release: true });
  }

  private say(message: object): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
