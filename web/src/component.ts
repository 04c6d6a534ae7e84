// The element <kane-page>: a scene, its motion, and all that the user does with it.

import uplot_style from "uplot/dist/uPlot.min.css";
import { table } from "./csv";
import type { PageData, Triple } from "./data";
import { button, choice, make, menu, toggle } from "./elements";
import { force_table, tipping_words } from "./forces";
import { PRESETS } from "./framing";
import { paces } from "./labels";
import { Lamps } from "./lamps";
import { beyond_limits } from "./limits";
import { IN_STEP } from "./loop";
import type { Motion } from "./motion";
import { LivePanel } from "./panel";
import { Plots } from "./plots";
import { connect, simulate_beside } from "./ports";
import { RecordedMotion } from "./recorded";
import { RemoteMotion } from "./remote";
import { type Sample, SampleTable } from "./samples";
import { type Hit, Stage } from "./stage";
import style from "./style.css";

const FORMAT = 1;
const BLIND = "This browser draws nothing in three dimensions: WebGL is switched off or missing. All else works.";
const TAKEN_AWAY = "The browser has taken the drawing away, as it does where many are open. Reload the page to see it again.";
const PLOT_PERIOD = 45; // ms at least between two plots that are drawn, one at a time
const PLOT_FRAMES = 3; // and frames of the window
const OUT_OF_VIEW = 500; // ms for which a page that nobody sees keeps what the browser draws with
const SETTLING = 1000; // ms after it came into view, in which it gets that again
const AWAKE = 700; // ms for which frames are drawn after the user did something, where nothing moves
const SLOW_FRAME = 0.04; // s; where so many frames in a row take longer, later ones are drawn with less effort
const SLOW_FRAMES = 30;
const FORCES_LISTED = 12;

export class KanePage extends HTMLElement {
  private readonly root = this.attachShadow({ mode: "open" });
  private data!: PageData;
  private motion!: Motion;
  private stage!: Stage;
  private plots!: Plots;
  private speed = 1;
  private run = 0;
  private last = 0;
  private moved = false;
  private plotted = 0;
  private since_plot = 0; // frames of the window
  private awake = AWAKE;
  private view = { within: true, since: 0, leaving: 0 }; // of the window, and of whoever shows this page in a frame
  private rendered = [false, false]; // in the last two frames of the window
  private slow_frames = 0;
  private table = new SampleTable();
  private recorded = Number.NaN; // time (s) up to which curves and table go
  private grabbed: { hit: Hit; target: Triple; unanswered: PointerEvent | null } | null = null;
  private refused: PointerEvent | null = null;
  private lamps!: Lamps;
  private panel: LivePanel | null = null;
  private readonly shown = { forces: false, velocities: false, contacts: true, polygon: true };
  private checks = new Map<string, HTMLInputElement>();
  private forces = new Map<string, Triple>();
  private readonly ui = {
    page: make("div", { class: "page" }),
    view: make("div", { class: "view" }),
    labels: make("div", { class: "labels" }),
    note: make("div", { class: "note", role: "status" }),
    unseen: make("p", { class: "unseen", role: "status" }),
    bar: make("div", { class: "bar" }),
    side: make("div", { class: "side" }),
    time: make("span", { class: "time" }),
    play: make("button", { class: "main", type: "button" }),
    seek: make("input", { class: "seek", type: "range", min: "0", max: "1", step: "any", "aria-label": "time" }),
    forces: make("div"),
    camera: choice("view from", PRESETS.map((x) => x), 0, (i) => this.stage.look_from(PRESETS[i])),
  };

  /** Show a page; resolves when its first frame is drawn. */
  async show(data: PageData): Promise<void> {
    if (data.format !== FORMAT) throw new Error(`this page is of format ${data.format}, and its script of ${FORMAT}`);
    this.data = data;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`${uplot_style}\n${style}`);
    this.root.adoptedStyleSheets = [sheet];
    [this.stage, this.motion] = await Promise.all([Stage.make(data.scene, this.ui.labels), this.begin(data)]);
    this.run = this.motion.run;
    this.shown.forces = (this.motion.mark_names?.outlines.length ?? 0) > 0; // of the ground on a vehicle
    this.lay_out();
    this.stage.add_arrows(this.motion);
    this.ui.view.prepend(this.stage.canvas);
    this.ui.labels.hidden = true;
    this.plots = new Plots(data, this.motion.energy !== null, 340);
    this.fill_side();
    this.listen();
    this.resize();
    this.stage.set_poses(this.motion.poses, false);
    this.stage.fit();
    this.draw_arrows();
    this.stage.render();
    this.motion.on_change = () => this.take();
    this.set_playing(data.remote ? this.motion.playing : !this.still);
    requestAnimationFrame((now) => this.frame(now));
  }

  private begin(data: PageData): Promise<Motion> {
    if (data.live) return simulate_beside(data);
    if (data.remote) return connect(data.remote);
    return RecordedMotion.make(data.recording as NonNullable<PageData["recording"]>, data);
  }

  /** Resolves when all that the user has done so far has happened to the motion, and `state` is of that moment. */
  settled(): Promise<void> {
    return this.motion.settle();
  }

  /** For tests and for whoever embeds the page: where a point of a body is on the canvas (CSS pixels) and in N (m). */
  locate(body: number, local: Triple): { pixel: [number, number]; point: Triple } {
    const point = this.stage.in_space(body, local);
    return { pixel: this.stage.on_canvas(point), point };
  }

  /** For tests: where the points of all bodies are on the canvas, and how large it is (CSS pixels). */
  get outline(): { points: [number, number][]; width: number; height: number } {
    return this.stage.outline();
  }

  /** For tests: forces (N) at places as components in N, as far as they are drawn. */
  get drawn_forces(): Record<string, Triple> {
    return Object.fromEntries(this.forces);
  }

  /** How many frames have been drawn, and the time (ms) that drawing them took in the script. */
  readonly drawing = { frames: 0, milliseconds: 0 };

  /** The time (s) and state that are seen, and while a body is held the stiffness (N/m), the target (m, in N)
   *  and the held point (m, in its body's frame) of the coupler. */
  get state(): {
    t: number;
    q: number[];
    u: number[];
    playing: boolean;
    stopped: string;
    coupler: { stiffness: number; target: Triple; point: Triple } | null;
  } {
    const { t, q, u, stopped } = this.motion;
    const coupler =
      this.grabbed && this.touchable
        ? { stiffness: this.touchable.stiffness, target: this.grabbed.target, point: this.grabbed.hit.local }
        : null;
    return { t, q: Array.from(q), u: Array.from(u), playing: this.motion.playing, stopped, coupler };
  }

  /** The motion where its bodies can be pulled. */
  private get touchable(): RemoteMotion | null {
    return this.motion instanceof RemoteMotion ? this.motion : null;
  }

  /** The motion where it is simulated for this page, and can be changed by it. */
  private get live(): RemoteMotion | null {
    return this.data.live ? this.touchable : null;
  }

  private get still(): boolean {
    return this.motion instanceof RecordedMotion && this.motion.still;
  }

  /** Take note of what there is to see now; it is drawn with the next frame. */
  private take(): void {
    const { motion } = this;
    if (motion.run !== this.run) this.begin_anew();
    this.see_grasp();
    for (const sample of motion.samples()) this.record(sample);
    this.moved = true;
  }

  /** Put a sample into curves and table; one that is earlier than those before begins them anew. */
  private record(sample: Sample): void {
    if (sample.t === this.recorded && !sample.at_transition) return;
    if (sample.t < this.recorded) this.clear_record();
    this.recorded = sample.t;
    this.plots.add(sample, this.speed);
    this.table.add(sample);
  }

  private clear_record(): void {
    this.recorded = Number.NaN;
    this.table = new SampleTable();
    this.plots.clear();
  }

  private frame(now: number): void {
    const elapsed = (now - this.last) / 1000;
    this.last = now;
    const [earlier, late] = this.rendered; // a window holds up the next frame but one, too
    if (elapsed > SLOW_FRAME && (earlier || late)) this.slow_frames++;
    else if (earlier && late) this.slow_frames = 0;
    if (this.slow_frames > SLOW_FRAMES) {
      this.slow_frames = 0;
      this.stage.draw_simpler();
    }
    const changed = this.moved || this.grabbed !== null || now < this.awake;
    this.rendered = [late, changed];
    if (changed) this.draw();
    this.since_plot++;
    const moving = (this.motion.playing && !this.motion.stopped) || this.grabbed !== null;
    if (now - this.plotted > PLOT_PERIOD && this.since_plot >= (moving ? PLOT_FRAMES : 0)) {
      this.plotted = now;
      this.since_plot = 0;
      if (!this.still) this.plots.draw();
      this.tell();
      this.panel?.tell(now);
    }
    this.motion.ask({ marks: this.marked, inputs: this.panel?.open ?? false });
    requestAnimationFrame((next) => this.frame(next));
  }

  private draw(): void {
    if (this.moved) {
      this.moved = false;
      const passed = this.motion.passed();
      if (passed) for (const poses of passed) this.stage.trace(poses);
      else this.stage.clear_trails(); // it plays anew
      this.stage.set_poses(this.motion.poses, passed === null);
      this.draw_arrows();
    }
    if (this.grabbed) {
      this.stage.show_hand(this.stage.in_space(this.grabbed.hit.body, this.grabbed.hit.local), this.grabbed.target);
    }
    const began = performance.now();
    this.stage.render();
    this.drawing.frames++;
    this.drawing.milliseconds += performance.now() - began;
  }

  /** Whether anything is drawn over the motion. */
  private get marked(): boolean {
    const { forces, velocities, contacts, polygon } = this.shown;
    return this.motion.mark_names !== null && (forces || velocities || contacts || polygon);
  }

  private draw_arrows(): void {
    this.forces = this.stage.update_arrows(this.motion, this.shown);
  }

  /** Bring words and lamps up to date. */
  private tell(): void {
    const { motion, ui } = this;
    ui.time.textContent = `t = ${motion.t.toFixed(3)} s`;
    ui.seek.value = String(motion.t);
    ui.note.replaceChildren();
    if (motion.stopped) ui.note.append(make("b", {}, motion.stopped));
    else if (motion.playing && motion.pace < IN_STEP) {
      const times = `${(this.speed * motion.pace).toPrecision(1)} × real time`;
      ui.note.append(make("b", {}, times), ": this model is too much for this machine to keep up with the clock");
    }
    else if (motion.t === 0 && this.touchable) ui.note.append("drag a body to pull it");
    const beyond = beyond_limits(this.data, motion.q, motion.u);
    if (beyond) ui.note.append(make("p", { class: "limits" }, beyond));
    this.tell_unseen();
    this.tell_forces();
    this.lamps.tell();
  }

  /** Why nothing is drawn, where nothing is. */
  private tell_unseen(): void {
    const { view, ui } = this;
    const { context } = this.stage;
    const taken = context?.lost && view.within && performance.now() > view.since + SETTLING;
    ui.unseen.textContent = context === null ? BLIND : taken ? TAKEN_AWAY : "";
    ui.unseen.hidden = !ui.unseen.textContent;
  }

  private tell_forces(): void {
    const { forces } = this.ui;
    forces.hidden = !this.shown.forces;
    if (forces.hidden) return;
    const listed = [...this.forces].slice(0, FORCES_LISTED);
    const { names = [], outlines = [], vehicles = [] } = this.motion.mark_names ?? {};
    const rows = listed.length ? [force_table(listed, new Set(outlines.flat().map((i) => names[i])))] : [];
    const { elements, states } = this.motion;
    const measures = this.motion.marks?.measures ?? [];
    for (const [i, vehicle] of vehicles.entries()) {
      if (i >= measures.length) break;
      const wheels = outlines[i].map((at) => names[at]);
      const lifts = wheels.some((wheel) => elements.includes(wheel));
      const open = lifts ? wheels.filter((wheel) => states[elements.indexOf(wheel)] === "open") : null;
      const row = make("div", { class: "lamp" });
      row.append(make("span", {}, vehicle), make("em", {}, tipping_words(measures[i], this.data.scene.weight, open)));
      rows.push(row);
    }
    forces.replaceChildren(make("h3", {}, "Forces (N)"), ...(rows.length ? rows : [make("em", {}, "none at present")]));
  }

  private set_playing(playing: boolean): void {
    if (playing !== this.motion.playing) this.motion.play(playing);
    this.ui.play.textContent = playing ? "Pause" : "Play";
    this.ui.play.setAttribute("aria-label", playing ? "pause (space)" : "play (space)");
  }

  private step(direction: 1 | -1): void {
    this.set_playing(false);
    this.motion.step(direction);
  }

  private reset(): void {
    this.let_go();
    this.motion.reset();
  }

  /** Forget what was seen of the motion so far: it has begun anew. */
  private begin_anew(): void {
    this.run = this.motion.run;
    this.clear_record();
    this.stage.clear_trails();
    this.lamps.clear();
    this.stage.set_poses(this.motion.poses, false);
    this.stage.fit(); // after the poses: a camera that follows looks at where bodies are
    this.draw_arrows();
  }

  // what is seen ------------------------------------------------------------------------------------------------

  private lay_out(): void {
    const { ui, data } = this;
    const header = make("header");
    header.append(make("h1", {}, data.name), make("span", { class: "about" }, data.about));
    ui.view.append(ui.labels, ui.note, ui.unseen);
    ui.page.append(header, ui.view, ui.bar, ui.side);
    this.root.append(ui.page);
    const { choices, first } = paces(this.motion.end);
    this.speed = first;
    const speed = choice("speed", choices.map((x) => `${x}×`), choices.indexOf(first), (i) => {
      this.speed = choices[i];
      this.motion.set_speed(this.speed);
    });
    if (!data.remote) this.motion.set_speed(first);
    ui.play.addEventListener("click", () => this.set_playing(!this.motion.playing));
    if (!this.still) this.add_motion_controls(speed);
    if (data.recording && !this.still) ui.bar.append(this.make_seek());
    else ui.bar.append(make("span", { class: "space" }));
    const panel = toggle("Panel", data.panel !== false, (on) => this.show_panel(on));
    this.show_panel(data.panel !== false);
    ui.bar.append(ui.camera, this.make_menu(), button("Fit", "show all of it (f)", () => this.stage.fit()), panel);
  }

  private add_motion_controls(speed: HTMLElement): void {
    const { ui, data } = this;
    ui.bar.append(ui.play);
    if (data.recording) ui.bar.append(button("‹", "one frame back (←)", () => this.step(-1)));
    if (!data.remote) ui.bar.append(button("›", "one step (→)", () => this.step(1)));
    ui.bar.append(button("Reset", "from the start (r)", () => this.reset()));
    if (!data.remote) ui.bar.append(speed);
    const laws = this.touchable;
    if (laws?.law_names.length) {
      ui.bar.append(choice("control law", laws.law_names.map((x) => `control: ${x}`), laws.law, (i) => laws.set_law(i)));
    }
    ui.bar.append(ui.time);
  }

  private show_panel(on: boolean): void {
    this.ui.page.classList.toggle("wide", !on);
    this.resize();
  }

  /** What can be shown and hidden. */
  private make_menu(): HTMLElement {
    const marks = this.motion.mark_names;
    const show = (what: keyof typeof this.shown) => (on: boolean) => {
      this.shown[what] = on;
      this.draw_arrows();
    };
    const checks = [
      { text: "Labels", key: "l", on: false, action: (on: boolean) => this.stage.show_labels(on) },
      { text: "Frames", key: "a", on: false, action: (on: boolean) => this.stage.show_frames(on) },
      { text: "Trails", key: "t", on: true, action: (on: boolean) => this.stage.show_trails(on) },
      { text: "Follow", key: "g", on: this.data.scene.followed, action: (on: boolean) => this.stage.follow(on) },
    ];
    if (marks) checks.push({ text: "Velocities", key: "v", on: false, action: show("velocities") });
    if (marks?.names.length) {
      checks.push({ text: "Forces", key: "o", on: this.shown.forces, action: show("forces") });
      checks.push({ text: "Contact points", key: "c", on: true, action: show("contacts") });
    }
    if (marks?.outlines.length) checks.push({ text: "Support polygon", key: "p", on: true, action: show("polygon") });
    const { element, boxes } = menu("Show", checks);
    this.checks = boxes;
    return element;
  }

  private make_seek(): HTMLElement {
    const { seek } = this.ui;
    seek.max = String(this.motion.end);
    seek.min = String(this.motion.t);
    seek.addEventListener("input", () => {
      this.set_playing(false);
      (this.motion as RecordedMotion).seek(Number(seek.value));
    });
    return seek;
  }

  private fill_side(): void {
    const { ui, data, motion } = this;
    if (this.live) {
      this.panel = new LivePanel(data, this.live);
      ui.side.append(this.panel.element);
    }
    this.lamps = new Lamps(motion);
    ui.side.append(this.lamps.element);
    ui.side.append(ui.forces);
    if (!this.still) {
      ui.side.append(this.plots.element);
      ui.side.append(button("Download CSV", "the motion so far as a table", () => this.download()));
    }
    if (this.panel) ui.side.append(this.panel.equations_view());
    for (const line of data.scene.left_out) ui.side.append(make("p", { class: "keys" }, line));
    const playing = data.recording
      ? "space plays and pauses, ← and → go by frames, r starts anew; "
      : "space plays and pauses, → makes a step, r starts anew, z takes back a parameter; drag a body to pull it, the ground to turn the view; ";
    const seeing = "f shows all, 1 to 5 look from the sides, the letters of the menu show and hide";
    ui.side.append(make("p", { class: "keys" }, (this.still ? "" : playing) + seeing));
  }

  private download(): void {
    const unit = (x: { name: string; unit: string }) => (x.unit ? `${x.name} (${x.unit})` : x.name);
    const names = ["t (s)", ...this.data.coordinates.map(unit), ...this.data.speeds.map(unit)];
    const { t, q, u } = this.motion;
    const rows = this.table.rows;
    if (!(t <= this.recorded)) rows.push([t, ...Array.from(q), ...Array.from(u)]); // it ends with what is seen
    const link = make("a", { download: "motion.csv" });
    link.href = URL.createObjectURL(new Blob([table(names, rows)], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // what the user does ------------------------------------------------------------------------------------------

  private listen(): void {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const set_dark = () => {
      this.toggleAttribute("dark", dark.matches);
      this.stage.set_dark(dark.matches);
      this.wake();
    };
    dark.addEventListener("change", set_dark);
    set_dark();
    document.addEventListener("visibilitychange", () => this.set_seen());
    new IntersectionObserver((seen) => this.set_within(seen[seen.length - 1].isIntersecting)).observe(this);
    this.set_seen();
    new ResizeObserver(() => this.resize()).observe(this.ui.view);
    for (const name of ["pointerdown", "pointermove", "wheel", "keydown", "click", "change", "input"]) {
      document.addEventListener(name, () => this.wake(), { capture: true, passive: true });
    }
    const keys: Record<string, () => void> = {
      " ": () => this.set_playing(!this.motion.playing),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      r: () => this.reset(),
      f: () => this.stage.fit(),
      z: () => this.panel?.undo(),
    };
    for (const [i, preset] of PRESETS.entries()) {
      keys[String(i + 1)] = () => {
        this.ui.camera.value = String(i);
        this.stage.look_from(preset);
      };
    }
    for (const [key, box] of this.checks) keys[key] = () => box.click();
    document.addEventListener("keydown", (event) => {
      const inside = event.composedPath()[0] as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || (/^(INPUT|SELECT)$/.test(inside.tagName) && inside.getAttribute("type") !== "checkbox")) return;
      const action = keys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    const canvas = this.stage.canvas;
    canvas.addEventListener("webglcontextrestored", () => this.wake());
    canvas.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      canvas.addEventListener(name, () => this.let_go());
    }
  }

  /** Take note of whether the page is within the window: notebooks show more pages than browsers draw at a time. */
  private set_within(within: boolean): void {
    clearTimeout(this.view.leaving);
    const leaving = within ? 0 : setTimeout(() => this.stage.context?.hold(false), OUT_OF_VIEW);
    this.view = { within, since: performance.now(), leaving };
    if (within) this.stage.context?.hold(true);
    this.set_seen();
    this.wake();
  }

  private set_seen(): void {
    this.live?.set_seen(this.view.within && !document.hidden);
  }

  /** Draw frames for a while, since something may look different now. */
  private wake(): void {
    this.awake = performance.now() + AWAKE;
  }

  private resize(): void {
    this.wake();
    const { clientWidth, clientHeight } = this.ui.view;
    this.stage?.resize(clientWidth, clientHeight);
    const width = this.ui.side.clientWidth - 18;
    if (width > 100) this.plots?.resize(width);
  }

  private at(event: PointerEvent): [number, number] {
    const box = this.stage.canvas.getBoundingClientRect();
    return [(2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height];
  }

  private grab(event: PointerEvent): void {
    if (!this.touchable || event.button !== 0 || this.grabbed || event === this.refused) return;
    const hit = this.stage.pick(...this.at(event));
    if (!hit) return;
    this.touchable.grab(hit.body, hit.local, hit.point);
    event.stopImmediatePropagation();
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.stage.canvas.classList.add("held");
    this.stage.enable_orbit(false);
    this.grabbed = { hit, target: hit.point, unanswered: event };
  }

  private move(event: PointerEvent): void {
    if (!this.grabbed) {
      if (event.buttons === 0 && this.touchable) {
        this.stage.canvas.classList.toggle("over", this.stage.pick(...this.at(event)) !== null);
      }
      return;
    }
    const target = this.stage.in_plane(...this.at(event), this.grabbed.hit.point);
    if (!target) return;
    this.grabbed.target = target;
    this.touchable?.pull(target);
  }

  /** Go on with a body that can be held; let go of one that nothing can move: the pointer turns the view then, as it
   *  does beside the bodies. */
  private see_grasp(): void {
    const event = this.grabbed?.unanswered;
    const held = this.touchable?.held ?? null;
    if (!this.grabbed || !event || held === null) return;
    this.grabbed.unanswered = null;
    if (held) {
      this.set_playing(true);
      return;
    }
    this.let_go();
    this.refused = new PointerEvent(event.type, event);
    this.stage.canvas.dispatchEvent(this.refused);
  }

  private let_go(): void {
    if (!this.grabbed) return;
    this.grabbed = null;
    this.touchable?.release();
    this.stage.canvas.classList.remove("held");
    this.stage.enable_orbit(true);
    this.stage.show_hand(null, null);
  }
}
