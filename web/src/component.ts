// The element <kane-page>: a scene, its motion, and all that the user does with it.

import uplot_style from "uplot/dist/uPlot.min.css";
import { table } from "./csv";
import type { PageData, Triple } from "./data";
import { LiveMotion, type Motion, RecordedMotion, type Touchable } from "./motion";
import { Plots } from "./plots";
import { RemoteMotion } from "./remote";
import { type Hit, Stage } from "./stage";
import style from "./style.css";

const FORMAT = 1;
const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2];
const BUDGET = 22; // ms of a frame that the motion may take
const LONGEST_FRAME = 0.1; // s that a frame stands for at most: a tab that slept does not catch up
const PLOT_PERIOD = 90; // ms
const SLOW_FRAME = 0.04; // s; where so many frames in a row take longer, they are drawn with less effort
const SLOW_FRAMES = 30;
const MOST_ROWS = 200000;
const LISTED = 200;

function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Record<string, string> = {}, text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text) element.textContent = text;
  return element;
}

export class KanePage extends HTMLElement {
  private readonly root = this.attachShadow({ mode: "open" });
  private data!: PageData;
  private motion!: Motion;
  private stage!: Stage;
  private plots!: Plots;
  private playing = true;
  private speed = 1;
  private last = 0;
  private plotted = 0;
  private slow = 0;
  private slow_frames = 0;
  private rows: number[][] = [];
  private grabbed: { hit: Hit; target: Triple } | null = null;
  private listed = 0;
  private readonly ui = {
    page: make("div", { class: "page" }),
    view: make("div", { class: "view" }),
    labels: make("div", { class: "labels" }),
    note: make("div", { class: "note", role: "status" }),
    bar: make("div", { class: "bar" }),
    side: make("div", { class: "side" }),
    time: make("span", { class: "time" }),
    play: make("button", { class: "main", type: "button" }),
    seek: make("input", { class: "seek", type: "range", min: "0", max: "1", step: "any", "aria-label": "time" }),
    lamps: make("div"),
    list: make("ol"),
  };

  /** Show a page; resolves when its first frame is drawn. */
  async show(data: PageData): Promise<void> {
    if (data.format !== FORMAT) throw new Error(`this page is of format ${data.format}, and its script of ${FORMAT}`);
    this.data = data;
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`${uplot_style}\n${style}`);
    this.root.adoptedStyleSheets = [sheet];
    this.motion = data.live
      ? await LiveMotion.make(data.live, data)
      : data.remote
        ? await RemoteMotion.make(data.remote, data)
        : await RecordedMotion.make(data.recording as NonNullable<PageData["recording"]>, data);
    this.lay_out();
    this.stage = new Stage(data.scene, this.ui.labels);
    this.ui.view.prepend(this.stage.canvas);
    this.ui.labels.hidden = true;
    this.plots = new Plots(data, this.motion.energy !== null, 340);
    this.fill_side();
    this.listen();
    this.resize();
    this.stage.set_poses(this.motion.poses, false);
    this.stage.fit();
    this.stage.render();
    this.set_playing(true);
    requestAnimationFrame((now) => this.frame(now));
  }

  /** For tests and for whoever embeds the page: where a point of a body is on the canvas (CSS pixels) and in N (m). */
  locate(body: number, local: Triple): { pixel: [number, number]; point: Triple } {
    const point = this.stage.in_space(body, local);
    return { pixel: this.stage.on_canvas(point), point };
  }

  /** The present time (s) and state, and while a body is held the stiffness (N/m), the target (m, in N)
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
    return { t, q: Array.from(q), u: Array.from(u), playing: this.playing, stopped, coupler };
  }

  private get remote(): RemoteMotion | null {
    return this.motion instanceof RemoteMotion ? this.motion : null;
  }

  private get touchable(): Touchable | null {
    return this.live ?? this.remote;
  }

  private get live(): LiveMotion | null {
    return this.motion instanceof LiveMotion ? this.motion : null;
  }

  private frame(now: number): void {
    const elapsed = Math.min(LONGEST_FRAME, (now - this.last) / 1000);
    this.last = now;
    this.slow_frames = elapsed > SLOW_FRAME ? this.slow_frames + 1 : 0;
    if (this.slow_frames > SLOW_FRAMES) {
      this.slow_frames = 0;
      this.stage.draw_simpler();
    }
    if (this.playing && !this.motion.stopped && elapsed > 0) {
      const enough = this.motion.advance(this.speed * elapsed, BUDGET);
      this.slow = enough ? Math.max(0, this.slow - 1) : this.slow + 2;
      this.after_motion();
    }
    if (this.grabbed) {
      this.stage.show_hand(this.stage.in_space(this.grabbed.hit.body, this.grabbed.hit.local), this.grabbed.target);
    }
    this.stage.render();
    if (now - this.plotted > PLOT_PERIOD) {
      this.plotted = now;
      this.plots.draw();
      this.tell();
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  private after_motion(): void {
    this.stage.set_poses(this.motion.poses, true);
    this.plots.add(this.motion);
    const row = [this.motion.t, ...Array.from(this.motion.q), ...Array.from(this.motion.u)];
    if (this.rows.length && row[0] <= this.rows[this.rows.length - 1][0]) this.rows = [];
    if (this.rows.length < MOST_ROWS) this.rows.push(row);
  }

  /** Bring words and lamps up to date. */
  private tell(): void {
    const { motion, ui } = this;
    ui.time.textContent = `t = ${motion.t.toFixed(3)} s`;
    ui.seek.value = String(motion.t);
    ui.note.replaceChildren();
    if (motion.stopped) ui.note.append(make("b", {}, motion.stopped));
    else if (this.slow > 20) ui.note.append("slower than the clock on this machine");
    else if (motion.t === 0 && this.touchable) ui.note.append("drag a body to pull it");
    if (!motion.elements.length) return;
    for (const [i, state] of motion.states.entries()) {
      const lamp = ui.lamps.children[i] as HTMLElement;
      lamp.dataset.state = state;
      (lamp.lastChild as HTMLElement).textContent = state;
    }
    const shown = this.touchable ? motion.transitions : motion.transitions.filter((x) => x.t <= motion.t);
    if (shown.length < this.listed) {
      this.listed = 0;
      ui.list.replaceChildren();
    }
    for (const x of shown.slice(Math.max(this.listed, shown.length - LISTED))) {
      const item = make("li");
      item.append(make("span", {}, `${x.t.toFixed(4)} s`), make("span", {}, x.cause), make("span", {}, x.which));
      ui.list.prepend(item);
      while (ui.list.children.length > LISTED) ui.list.lastChild?.remove();
    }
    this.listed = shown.length;
  }

  private set_playing(playing: boolean): void {
    if (playing !== this.playing) this.remote?.set_playing(playing);
    this.playing = playing;
    this.ui.play.textContent = playing ? "Pause" : "Play";
    this.ui.play.setAttribute("aria-label", playing ? "pause (space)" : "play (space)");
  }

  private step(direction: 1 | -1): void {
    this.set_playing(false);
    this.motion.step(direction);
    this.after_motion();
  }

  private reset(): void {
    this.let_go();
    const values = this.live?.parameters;
    this.motion.reset();
    values?.forEach((value, i) => this.live?.set_parameter(i, value)); // sliders stay where they are
    this.rows = [];
    this.stage.clear_trails();
    this.stage.fit();
    this.plots.clear();
    this.stage.set_poses(this.motion.poses, false);
  }

  // what is seen ------------------------------------------------------------------------------------------------

  private lay_out(): void {
    const { ui, data } = this;
    const header = make("header");
    header.append(make("h1", {}, data.name), make("span", { class: "about" }, data.about));
    ui.view.append(ui.labels, ui.note);
    ui.page.append(header, ui.view, ui.bar, ui.side);
    this.root.append(ui.page);
    const speed = make("select", { "aria-label": "speed", title: "speed" });
    for (const s of SPEEDS) {
      const option = make("option", { value: String(s) }, `${s}×`);
      option.selected = s === 1;
      speed.append(option);
    }
    speed.addEventListener("change", () => {
      this.speed = Number(speed.value);
    });
    ui.play.addEventListener("click", () => this.set_playing(!this.playing));
    ui.bar.append(ui.play);
    if (data.recording) ui.bar.append(this.button("‹", "one frame back (←)", () => this.step(-1)));
    if (!data.remote) ui.bar.append(this.button("›", "one step (→)", () => this.step(1)));
    ui.bar.append(this.button("Reset", "from the start (r)", () => this.reset()));
    if (!data.remote) ui.bar.append(speed);
    ui.bar.append(ui.time);
    if (!data.recording) ui.bar.append(make("span", { class: "space" }));
    else ui.bar.append(this.make_seek());
    ui.bar.append(
      this.toggle("Labels", false, (on) => this.stage.show_labels(on)),
      this.toggle("Frames", false, (on) => this.stage.show_frames(on)),
      this.toggle("Trails", true, (on) => this.stage.show_trails(on)),
      this.button("Fit", "show all of it (f)", () => this.stage.fit()),
      this.toggle("Panel", true, (on) => {
        ui.page.classList.toggle("wide", !on);
        this.resize();
      }),
    );
  }

  private make_seek(): HTMLElement {
    const { seek } = this.ui;
    seek.max = String(this.motion.end);
    seek.min = String(this.motion.t);
    seek.addEventListener("input", () => {
      this.set_playing(false);
      (this.motion as RecordedMotion).seek(Number(seek.value));
      this.stage.clear_trails();
      this.after_motion();
    });
    return seek;
  }

  private button(text: string, title: string, action: () => void): HTMLButtonElement {
    const made = make("button", { type: "button", title, "aria-label": title }, text);
    made.addEventListener("click", action);
    return made;
  }

  private toggle(text: string, on: boolean, action: (on: boolean) => void): HTMLButtonElement {
    const made = make("button", { type: "button", "aria-pressed": String(on) }, text);
    made.addEventListener("click", () => {
      const next = made.getAttribute("aria-pressed") !== "true";
      made.setAttribute("aria-pressed", String(next));
      action(next);
    });
    return made;
  }

  private fill_side(): void {
    const { ui, data, motion } = this;
    if (data.parameters.length && this.live) {
      ui.side.append(make("h3", {}, "Parameters"));
      for (const [i, p] of data.parameters.entries()) ui.side.append(this.slider(i, p.name, p.value));
    }
    if (motion.elements.length) {
      ui.side.append(make("h3", {}, "Constraints that come and go"), ui.lamps);
      for (const name of motion.elements) {
        const lamp = make("div", { class: "lamp" });
        lamp.append(make("i"), make("span", {}, name), make("em"));
        ui.lamps.append(lamp);
      }
      ui.side.append(make("h3", {}, "Transitions"), ui.list);
    }
    ui.side.append(this.plots.element);
    ui.side.append(this.button("Download CSV", "the motion so far as a table", () => this.download()));
    if (data.scene.left_out.length) {
      ui.side.append(make("p", { class: "keys" }, `Meshes are not drawn: ${data.scene.left_out.join(", ")}`));
    }
    const keys = !data.recording
      ? "space plays and pauses, → makes a step, r starts anew, f shows all; drag a body to pull it, the ground to turn the view"
      : "space plays and pauses, ← and → go by frames, r starts anew, f shows all";
    ui.side.append(make("p", { class: "keys" }, keys));
  }

  private slider(index: number, name: string, value: number): HTMLElement {
    const row = make("label", { class: "slider" });
    const reach = Math.abs(value) || 1;
    const input = make("input", { type: "range", step: "any" });
    input.min = String(value > 0 ? 0.1 * value : value - 2 * reach);
    input.max = String(value + 2 * reach);
    input.value = String(value);
    const output = make("output", {}, value.toPrecision(4));
    const set = (x: number) => {
      this.live?.set_parameter(index, x);
      output.textContent = x.toPrecision(4);
    };
    input.addEventListener("input", () => set(Number(input.value)));
    input.addEventListener("dblclick", () => {
      input.value = String(value);
      set(value);
    });
    input.title = "a double click brings the first value back";
    row.append(make("span", {}, name), input, output);
    return row;
  }

  private download(): void {
    const unit = (x: { name: string; unit: string }) => (x.unit ? `${x.name} (${x.unit})` : x.name);
    const names = ["t (s)", ...this.data.coordinates.map(unit), ...this.data.speeds.map(unit)];
    const link = make("a", { download: "motion.csv" });
    link.href = URL.createObjectURL(new Blob([table(names, this.rows)], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // what the user does ------------------------------------------------------------------------------------------

  private listen(): void {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const set_dark = () => {
      this.toggleAttribute("dark", dark.matches);
      this.stage.set_dark(dark.matches);
    };
    dark.addEventListener("change", set_dark);
    set_dark();
    new ResizeObserver(() => this.resize()).observe(this.ui.view);
    const keys: Record<string, () => void> = {
      " ": () => this.set_playing(!this.playing),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      r: () => this.reset(),
      f: () => this.stage.fit(),
    };
    document.addEventListener("keydown", (event) => {
      const inside = event.composedPath()[0] as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(inside.tagName)) return;
      const action = keys[event.key];
      if (!action) return;
      event.preventDefault();
      action();
    });
    const canvas = this.stage.canvas;
    canvas.addEventListener("pointerdown", (event) => this.grab(event), { capture: true });
    canvas.addEventListener("pointermove", (event) => this.move(event));
    for (const name of ["pointerup", "pointercancel", "lostpointercapture"]) {
      canvas.addEventListener(name, () => this.let_go());
    }
  }

  private resize(): void {
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
    if (!this.touchable || event.button !== 0 || this.grabbed) return;
    const hit = this.stage.pick(...this.at(event));
    if (!hit) return;
    if (!(this.touchable.grab(hit.body, hit.local, hit.point) > 0)) {
      this.touchable.release();
      return;
    }
    event.stopImmediatePropagation();
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.stage.canvas.classList.add("held");
    this.stage.enable_orbit(false);
    this.grabbed = { hit, target: hit.point };
    if (!this.playing) this.set_playing(true);
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

  private let_go(): void {
    if (!this.grabbed) return;
    this.grabbed = null;
    this.touchable?.release();
    this.stage.canvas.classList.remove("held");
    this.stage.enable_orbit(true);
    this.stage.show_hand(null, null);
  }
}
