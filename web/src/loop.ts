// A motion that keeps to the clock by itself, whoever looks at it. It is told what to do by messages, which are heard
// between steps, and shows a frame for each time that it is asked for one: no frame waits for another to be drawn.

import type { LiveData, PageData } from "./data";
import type { Frame, Message, Wanted } from "./frames";
import { LiveMotion } from "./motion";

const TICK = 6; // ms between two times that the motion goes on
const BUDGET = 6; // ms that it may take for that, or a step, before messages are heard
const LONGEST_TICK = 0.25; // s of the clock that it catches up with at most: a machine that slept
const MOST_UNSEEN = 5000; // samples that nobody has asked for, with which it waits: it is simulated for nobody
const PACE_TIME = 1; // s over which it is seen how fast the motion goes
export const IN_STEP = 0.9; // of the speed that is asked for, from which on the clock is kept

/** What a loop asks of a motion. */
export type Moved = Pick<
  LiveMotion,
  | "t" | "q" | "u" | "poses" | "energy" | "states" | "transitions" | "samples" | "stopped" | "stiffness" | "law" | "marks" | "inputs"
  | "advance" | "step" | "reset" | "grab" | "pull" | "release" | "set_law" | "set_parameter" | "set_effort" | "set_start"
>; // prettier-ignore

export class MotionLoop {
  private playing = false;
  private seen = true;
  private speed = 1;
  private pace = 1;
  private due = 0; // s of the motion that the clock is ahead
  private ticked: number;
  private run = 0;
  private heard = 0;
  private refused = false;

  constructor(
    private readonly motion: Moved,
    private readonly show: (frame: Frame) => void,
    now: number,
  ) {
    this.ticked = now;
  }

  /** Go on with the clock, which shows `now` (ms); how long to wait then (ms). */
  tick(now: number): number {
    const elapsed = Math.min(LONGEST_TICK, (now - this.ticked) / 1000);
    this.ticked = now;
    if (!this.playing || !this.seen || this.motion.stopped || !(elapsed > 0)) return TICK;
    if (this.motion.samples.length >= MOST_UNSEEN) return TICK;
    const before = this.motion.t;
    this.due = Math.min(this.due + this.speed * elapsed, this.speed * LONGEST_TICK);
    const enough = this.motion.advance(this.due, BUDGET);
    const gone = this.motion.t - before;
    this.due = enough ? 0 : this.due - gone;
    this.pace += Math.min(1, elapsed / PACE_TIME) * (gone / (this.speed * elapsed) - this.pace);
    return enough ? TICK : 0;
  }

  hear(message: Message): void {
    if ("show" in message) {
      this.show(this.frame(message.show));
      return;
    }
    this.heard++;
    this.obey(message);
  }

  private obey(message: Message): void {
    const { motion } = this;
    if ("grab" in message) this.grab(message);
    else if ("pull" in message) motion.pull(message.pull);
    else if ("release" in message) motion.release();
    else if ("play" in message) this.playing = message.play;
    else if ("law" in message) motion.set_law(message.law);
    else if ("step" in message) motion.step(1);
    else if ("speed" in message) this.speed = message.speed;
    else if ("parameter" in message) motion.set_parameter(message.parameter, message.value);
    else if ("effort" in message) motion.set_effort(message.effort, message.value);
    else if ("seen" in message) this.seen = message.seen;
    else if ("start" in message) this.begin(() => motion.set_start(message.start));
    else if ("reset" in message) this.begin(() => motion.reset());
    if ("play" in message || "speed" in message) this.due = 0;
  }

  private begin(anew: () => void): void {
    anew();
    this.due = 0;
    this.run++;
  }

  /** Take hold of a point where it is now, until it is pulled; not of one that nothing can move. */
  private grab(message: Extract<Message, { grab: number }>): void {
    this.refused = !(this.motion.grab(message.grab, message.point) > 0);
    if (this.refused) this.motion.release();
  }

  /** What there is to see now. All of it is copied: the memory of the motion is not the page's. */
  private frame(wanted: Wanted): Frame {
    const { motion, playing, run, pace, heard, refused } = this;
    const { t, energy, states, stopped, stiffness, law } = motion;
    const marks = wanted.marks ? motion.marks : null;
    const copy = (x: ArrayLike<number>) => Float64Array.from(x);
    return {
      ...{ t, energy, states, stopped, playing, stiffness, law, run, pace, heard, refused },
      q: copy(motion.q),
      u: copy(motion.u),
      poses: copy(motion.poses),
      transitions: motion.transitions.splice(0),
      samples: motion.samples.splice(0),
      marks: marks && {
        velocities: copy(marks.velocities),
        at: copy(marks.at),
        forces: copy(marks.forces),
        measures: copy(marks.measures),
      },
      inputs: wanted.inputs ? copy(motion.inputs) : null,
    };
  }
}

/** The side of a port on which a motion is simulated. */
export type Outside = Pick<MessagePort, "postMessage" | "onmessage">;

/** Simulate the motion of the page that comes through a port as its first message. What is posted are frames, as they
 *  are asked for, and a text if the motion cannot begin or cannot go on. */
export function simulate(port: Outside): void {
  const early: Message[] = [];
  port.onmessage = async (first: MessageEvent<PageData>) => {
    port.onmessage = (event: MessageEvent<Message>) => void early.push(event.data);
    try {
      const motion = await LiveMotion.make(first.data.live as LiveData, first.data);
      const loop = new MotionLoop(motion, (frame) => port.postMessage(frame), performance.now());
      for (const message of early) loop.hear(message);
      keep_time(loop, port);
    } catch (error) {
      port.postMessage(String(error));
    }
  };
}

/** Let a loop tick for good, and hear what comes through a port in between. */
function keep_time(loop: MotionLoop, port: Outside): void {
  const at_once = new MessageChannel();
  const unless_broken = (action: () => void): void => {
    try {
      action();
    } catch (error) {
      loop.hear({ play: false });
      port.onmessage = null;
      port.postMessage(`the simulation has ended: ${String(error)}`);
    }
  };
  const tick = () =>
    unless_broken(() => {
      const wait = loop.tick(performance.now());
      if (wait > 0) setTimeout(tick, wait);
      else at_once.port2.postMessage(null);
    });
  at_once.port1.onmessage = tick;
  port.onmessage = (event: MessageEvent<Message>) => unless_broken(() => loop.hear(event.data));
  tick();
}
