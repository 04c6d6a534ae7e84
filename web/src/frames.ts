// What a page and a motion that goes on elsewhere tell each other: in a thread beside the page, or in a loop of the
// machine that the page comes from.

import type { Triple } from "./data";
import type { Energy, Marks, Transition } from "./motion";
import type { Sample } from "./samples";

/** What a motion is at a moment. */
export interface Frame {
  t: number;
  q: ArrayLike<number>;
  u: ArrayLike<number>;
  poses: ArrayLike<number>;
  energy: Energy;
  states: string[];
  /** Those since the frame before. */
  transitions: Transition[];
  /** Those since the frame before; where they are left out, the frame itself is one. */
  samples?: Sample[];
  stopped: string;
  playing: boolean;
  stiffness: number;
  law: number;
  /** Null where they cannot be told, or were not asked for. */
  marks: Marks | null;
  /** How often it has begun anew. */
  run: number;
  /** How fast it goes, of the speed that is asked for; where it is left out, it keeps to the clock. */
  pace?: number;
  /** How many messages it has heard, and whether the point that was grabbed last cannot be moved. */
  heard?: number;
  refused?: boolean;
  /** What programs of the motion read, where that was asked for. */
  inputs?: ArrayLike<number> | null;
}

/** What a frame has beside the state, where it is wanted. */
export interface Wanted {
  marks: boolean;
  inputs: boolean;
}

export interface State {
  q: number[];
  u: number[];
}

/** What a motion is told. A loop of the machine knows of the first six. */
export type Message =
  | { grab: number; point: Triple; target: Triple }
  | { pull: Triple }
  | { release: true }
  | { play: boolean }
  | { reset: true }
  | { law: number }
  | { step: true }
  | { speed: number }
  | { parameter: number; value: number }
  | { effort: number; value: number }
  | { start: State | null }
  | { seen: boolean }
  | { settle: true }
  | { show: Wanted };

/** The way to a motion that goes on elsewhere. */
export interface Port {
  /** Whether frames come when they are asked for; else they come by themselves. */
  readonly asked: boolean;
  say(message: Message): void;
  /** Be told every frame from now on, and why there are no more. */
  listen(take: (frame: Frame) => void, end: (why: string) => void): void;
}
