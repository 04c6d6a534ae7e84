// The loop that keeps to the clock, and the motion that a page sees of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { MotionLoop, RemoteMotion } from "../build/testable.mjs";

/** A motion that takes whole steps of 1/1024 s, no more of them at a time than it can. */
function stepping(most = Infinity) {
  const length = 1 / 1024;
  const made = {
    t: 0, q: [0], u: [0], poses: [], states: [], transitions: [], samples: [], stopped: "", stiffness: 0, law: 0, marks: null, inputs: [1],
    energy: { kinetic: 0, potential: 0, work: 0 }, most, mass: 1, told: [],
    advance(seconds) {
      const steps = Math.round(seconds / length);
      const taken = Math.min(steps, made.most);
      for (let k = 0; k < taken; k++) made.step();
      return taken === steps;
    },
    step() {
      made.t += length;
      made.transitions.push({ t: made.t, cause: "impact", which: "" });
      made.samples.push({ t: made.t, poses: [made.t] });
    },
    reset() {
      made.t = 0;
      made.transitions.length = 0;
      made.samples.length = 0;
    },
    grab: () => made.mass,
    pull: (target) => made.told.push(target),
    release: () => made.told.push("release"),
  }; // prettier-ignore
  return made;
}

const SHOW = { show: { marks: false, inputs: false } };
const TICK = 1000 / 128; // ms, eight steps

/** A loop, its motion, and what it has shown. */
function started(motion) {
  const shown = [];
  const loop = new MotionLoop(motion, (frame) => shown.push(frame), 0);
  loop.hear({ play: true });
  return { loop, shown };
}

test("the motion keeps to the clock at any speed, and shows nothing that is not asked for", () => {
  for (const speed of [0.25, 1, 4]) {
    const motion = stepping();
    const { loop, shown } = started(motion);
    loop.hear({ speed });
    for (let k = 1; k <= 128; k++) loop.tick(TICK * k);
    assert.equal(motion.t, speed);
    assert.equal(shown.length, 0);
    loop.hear(SHOW);
    assert.equal(shown.length, 1);
    assert.equal(shown[0].t, speed);
    assert.equal(shown[0].pace, 1);
  }
});

test("what it is late by is made up for, up to a quarter of a second, and it says how fast it goes", () => {
  const motion = stepping(4); // half of the steps that a tick asks for
  const { loop, shown } = started(motion);
  for (let k = 1; k <= 128; k++) assert.equal(loop.tick(TICK * k), 0, "it goes on at once");
  assert.equal(motion.t, 0.5);
  loop.hear(SHOW);
  assert.ok(shown[0].pace > 0.5 && shown[0].pace < 0.75, `${shown[0].pace}`);
  motion.most = Infinity;
  loop.tick(TICK * 129);
  assert.equal(motion.t, 0.75);
  for (let k = 130; k <= 1400; k++) loop.tick(TICK * k);
  loop.hear(SHOW);
  assert.ok(Math.abs(shown[1].pace - 1) < 1e-3);
});

test("a motion that is paused, not seen or stopped stands still", () => {
  for (const message of [{ play: false }, { seen: false }, null]) {
    const motion = stepping();
    const { loop } = started(motion);
    loop.tick(TICK);
    const before = motion.t;
    if (message) loop.hear(message);
    else motion.stopped = "it cannot go on";
    loop.tick(2 * TICK);
    assert.equal(motion.t, before);
  }
});

test("every transition is told once, and a new beginning is told", () => {
  const motion = stepping();
  const { loop, shown } = started(motion);
  for (let k = 1; k <= 3; k++) {
    loop.tick(TICK * k);
    loop.hear(SHOW);
  }
  assert.deepEqual(shown.flatMap((x) => x.transitions.map((y) => y.t)), Array.from({ length: 24 }, (_, k) => (k + 1) / 1024));
  loop.hear({ reset: true });
  loop.hear(SHOW);
  assert.deepEqual([shown[3].t, shown[3].transitions, shown[3].run], [0, [], shown[2].run + 1]);
});

test("every sample is told once, however rarely frames are asked for, and none of a motion that has begun anew", async () => {
  for (const frames of [1, 7]) {
    const { remote, answer, loop } = await seen(stepping());
    remote.play(true);
    answer();
    for (let k = 1; k <= 14; k++) {
      loop.tick(TICK * k);
      if (k % frames) continue;
      remote.ask({ marks: true, inputs: false });
      answer();
    }
    const expected = Array.from({ length: 8 * 14 }, (_, k) => (k + 1) / 1024);
    assert.deepEqual(remote.samples().map((x) => x.t), expected);
    assert.deepEqual(remote.passed(), expected.map((t) => [t]));
    assert.deepEqual([remote.samples(), remote.passed()], [[], []]);
    loop.tick(TICK * 15);
    remote.reset();
    answer();
    assert.deepEqual([remote.samples(), remote.passed()], [[], []]);
  }
});

test("a motion that is simulated for nobody waits", () => {
  const motion = stepping();
  const { loop, shown } = started(motion);
  for (let k = 1; k <= 1000; k++) loop.tick(TICK * k);
  const end = motion.t;
  assert.ok(end > 1 && end < 1000 / 128, `${end}`);
  loop.hear(SHOW);
  loop.tick(TICK * 1001);
  assert.ok(motion.t > end && shown[0].samples.at(-1).t === end);
});

test("a point that nothing can move is let go", () => {
  const motion = stepping();
  const { loop, shown } = started(motion);
  loop.hear({ grab: 0, point: [0, 0, 0], target: [1, 2, 3] });
  motion.mass = 0;
  loop.hear({ grab: 0, point: [0, 0, 0], target: [4, 5, 6] });
  loop.hear(SHOW);
  assert.deepEqual(motion.told, ["release"]);
  assert.equal(shown[0].refused, true);
});

/** The motion that a page sees, and what it says; `answer` lets the loop hear all of it. */
async function seen(motion) {
  const said = [];
  let take;
  const loop = new MotionLoop(motion, (frame) => take(structuredClone(frame)), 0);
  const port = { asked: true, say: (message) => said.push(message), listen: (next) => (take = next) };
  const answer = () => {
    for (const message of said.splice(0)) loop.hear(message);
  };
  const made = RemoteMotion.make(port, { elements: [], mark_names: null, law_names: [], parameters: [1] });
  answer();
  return { remote: await made, said, answer, loop };
}

test("one frame at most is on its way, however often it is asked for", async () => {
  const { remote, said, answer } = await seen(stepping());
  remote.play(true);
  for (let k = 0; k < 50; k++) remote.ask({ marks: true, inputs: false });
  remote.pull([1, 2, 3]);
  assert.equal(said.filter((x) => "show" in x).length, 1);
  answer();
  assert.equal(said.filter((x) => "show" in x).length, 1, "what was said since is shown too");
  answer();
  assert.equal(said.length, 0);
  remote.play(false);
  answer();
  for (let k = 0; k < 50; k++) remote.ask({ marks: true, inputs: false });
  assert.equal(said.length, 0, "there is nothing new while it is paused");
  remote.ask({ marks: true, inputs: true });
  answer();
  assert.deepEqual(Array.from(remote.inputs), [1]);
});

test("it is settled when what was said has been heard and is seen", async () => {
  const { remote, answer } = await seen(stepping());
  remote.step(1);
  remote.step(1);
  let done = false;
  const settled = remote.settle().then(() => (done = true));
  await Promise.resolve();
  assert.equal(done, false);
  assert.equal(remote.t, 0);
  for (let k = 0; k < 3; k++) answer();
  await settled;
  assert.equal(remote.t, 2 / 1024);
  assert.equal(remote.transitions.length, 2);
});

test("a refusal is of the last grab, not of one before", async () => {
  const motion = stepping();
  const { remote, answer } = await seen(motion);
  motion.mass = 0;
  remote.grab(0, [0, 0, 0], [0, 0, 0]);
  answer();
  assert.equal(remote.held, false);
  motion.mass = 1;
  remote.grab(0, [0, 0, 0], [0, 0, 0]);
  assert.equal(remote.held, null);
  answer();
  assert.equal(remote.held, true);
});
