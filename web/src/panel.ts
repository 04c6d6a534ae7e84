// What a live motion can be changed by, beside the scene: parameters with undo, control laws, the start, and its Z list.

import { type LiveData, type PageData, unpack } from "./data";
import { button, make } from "./elements";
import type { RemoteMotion } from "./remote";
import { ZList } from "./zlist";

const UNDONE = 200; // changes of parameters that are remembered
const SHORT = 10; // letters of a name that stands beside its slider; others stand above it
const PRINT_PERIOD = 300; // ms between two prints of the Z list

/** A slider with its name and its value. */
function make_slider(name: string, value: number, least: number, largest: number) {
  const row = make("label", { class: name.length > SHORT ? "slider long" : "slider", title: name });
  const input = make("input", { type: "range", step: "any", title: "a double click brings the first value back" });
  input.min = String(least);
  input.max = String(largest);
  input.value = String(value);
  const output = make("output", {}, value.toPrecision(4));
  row.append(make("span", {}, name), input, output);
  return { row, input, output };
}

export class LivePanel {
  readonly element = make("div");
  private readonly sliders: { input: HTMLInputElement; output: HTMLOutputElement; first: number }[] = [];
  private readonly changes: { index: number; before: number }[] = [];
  private readonly undo_button: HTMLButtonElement;
  private readonly starts: HTMLInputElement[] = [];
  private readonly note = make("p", { class: "keys", role: "status" });
  private readonly print = make("pre", { tabindex: "0" });
  private equations: ZList | null = null;
  private printed = 0;

  constructor(
    private readonly data: PageData,
    private readonly motion: RemoteMotion,
  ) {
    this.undo_button = button("Undo", "the last change of a parameter (z)", () => this.undo());
    this.undo_button.disabled = true;
    if (data.parameters.length) this.add_parameters();
    if (data.live?.efforts.length) this.element.append(this.effort_view(data.live.efforts));
    this.element.append(this.start_editor());
  }

  /** Take back the last change of a parameter. */
  undo(): void {
    const last = this.changes.pop();
    if (last) this.show_parameter(last.index, last.before);
    this.undo_button.disabled = this.changes.length === 0;
  }

  /** The program of the motion with its count; values are printed while it is open. */
  equations_view(): HTMLElement {
    const { program } = this.data.live as NonNullable<PageData["live"]>;
    const view = make("details", { class: "equations" });
    view.append(make("summary", {}, "Equations"), make("p", { class: "keys" }, program.count), this.print);
    if (!program.text) {
      this.print.textContent = "The list is too long for a page.";
      return view;
    }
    view.addEventListener("toggle", async () => {
      if (view.open && !this.equations) this.equations = new ZList(new TextDecoder().decode(await unpack(program.text)));
      this.open = view.open && this.equations !== null;
      this.printed = 0;
    });
    return view;
  }

  /** Whether the Z list is seen. */
  open = false;

  /** Print the Z list anew where it is seen. */
  tell(now: number): void {
    const { inputs } = this.motion;
    if (!this.open || !this.equations || !inputs || now - this.printed < PRINT_PERIOD) return;
    this.printed = now;
    const { scrollTop, scrollLeft } = this.print;
    this.print.textContent = this.equations.print(inputs);
    this.print.scrollTo(scrollLeft, scrollTop);
  }

  private add_parameters(): void {
    this.element.append(make("h3", {}, "Parameters, in SI units"));
    for (const [i, p] of this.data.parameters.entries()) this.element.append(this.slider(i, p.name, p.value));
    this.element.append(this.undo_button);
  }

  private effort_view(efforts: LiveData["efforts"]): HTMLElement {
    const view = make("details", { class: "start" });
    view.append(make("summary", {}, "Efforts"), make("p", { class: "keys" }, "They act beside those of a control law."));
    for (const { speed, name, unit, most, value } of efforts) {
      const title = unit ? `${name} (${unit})` : name;
      const { row, input, output } = make_slider(title, value, Math.min(value, -most), Math.max(value, most));
      const set = (given: number) => {
        this.motion.set_effort(speed, given);
        input.value = String(given);
        output.textContent = given.toPrecision(4);
      };
      input.addEventListener("input", () => set(Number(input.value)));
      input.addEventListener("dblclick", () => set(value));
      view.append(row);
    }
    return view;
  }

  private slider(index: number, name: string, value: number): HTMLElement {
    const reach = Math.abs(value) || 1;
    const least = value > 0 ? 0.1 * value : value - 2 * reach;
    const { row, input, output } = make_slider(name, value, least, value + 2 * reach);
    this.sliders.push({ input, output, first: value });
    let before = value; // what it was when the user took hold of it
    const remember = () => {
      before = this.motion.parameters[index];
    };
    input.addEventListener("pointerdown", remember);
    input.addEventListener("keydown", remember);
    input.addEventListener("input", () => this.show_parameter(index, Number(input.value)));
    input.addEventListener("change", () => this.keep(index, before));
    input.addEventListener("dblclick", () => {
      this.keep(index, this.motion.parameters[index]);
      this.show_parameter(index, value);
    });
    return row;
  }

  private keep(index: number, before: number): void {
    this.changes.push({ index, before });
    if (this.changes.length > UNDONE) this.changes.shift();
    this.undo_button.disabled = false;
  }

  private show_parameter(index: number, value: number): void {
    this.motion.set_parameter(index, value);
    this.sliders[index].input.value = String(value);
    this.sliders[index].output.textContent = value.toPrecision(4);
  }

  private start_editor(): HTMLElement {
    const view = make("details", { class: "start" });
    const grid = make("div", { class: "start-values" });
    const named = [...this.data.coordinates, ...this.data.speeds];
    const titles = named.map((x) => (x.unit ? `${x.name} (${x.unit})` : x.name));
    grid.style.setProperty("--wide", `calc(${Math.max(...titles.map((x) => x.length))}ch + 5.8rem)`);
    for (const title of titles) {
      const row = make("label", { title });
      const input = make("input", { type: "number", step: "any" });
      row.append(make("span", {}, title), input);
      this.starts.push(input);
      grid.append(row);
    }
    const buttons = make("p");
    buttons.append(
      button("Start there", "from these values, now and after every reset", () => this.start_there()),
      button("Take the present state", "put the state of this moment here", () => this.fill_start()),
      button("As it was", "the start that the page was written with", () => this.start_anew()),
    );
    view.append(make("summary", {}, "Start"), grid, buttons, this.note);
    view.addEventListener("toggle", () => {
      if (view.open && this.starts.some((x) => x.value === "")) this.fill_start();
    });
    return view;
  }

  private fill_start(): void {
    const state = [...Array.from(this.motion.q), ...Array.from(this.motion.u)];
    for (const [i, value] of state.entries()) this.starts[i].value = String(value);
  }

  private start_there(): void {
    const values = this.starts.map((x) => (x.value.trim() === "" ? Number.NaN : Number(x.value)));
    const bad = values.findIndex((x) => !Number.isFinite(x));
    if (bad >= 0) {
      const named = [...this.data.coordinates, ...this.data.speeds];
      this.note.textContent = `${named[bad].name} is not a number`;
      return;
    }
    const count = this.data.coordinates.length;
    this.note.textContent = "";
    this.motion.set_start({ q: values.slice(0, count), u: values.slice(count) });
  }

  private async start_anew(): Promise<void> {
    this.note.textContent = "";
    this.motion.set_start(null);
    await this.motion.settle();
    this.fill_start();
  }
}
