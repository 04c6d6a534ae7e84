// A lamp for each constraint that comes and goes, and the list of the transitions between them.

import { make } from "./elements";
import type { Motion } from "./motion";

const LISTED = 200; // transitions, the last ones
const MOST_LAMPS = 40; // constraints up to which there is a lamp for each, else for those in force alone

export class Lamps {
  readonly element = make("div");
  private readonly lamps = make("div");
  private readonly open = make("p", { class: "keys" });
  private readonly list = make("ol");
  private listed = 0;

  constructor(private readonly motion: Motion) {
    if (!motion.elements.length) return;
    for (const name of motion.elements) {
      const lamp = make("div", { class: "lamp" });
      lamp.append(make("i"), make("span", {}, name), make("em"));
      this.lamps.append(lamp);
    }
    this.element.append(make("h3", {}, "Constraints that come and go"), this.lamps, this.open);
    this.element.append(make("h3", {}, "Transitions"), this.list);
  }

  /** Forget the transitions so far. */
  clear(): void {
    this.listed = 0;
    this.list.replaceChildren();
  }

  /** Bring lamps and list up to date. */
  tell(): void {
    const { elements, states, transitions, t, end } = this.motion;
    if (!elements.length) return;
    const many = elements.length > MOST_LAMPS;
    for (const [i, state] of states.entries()) {
      const lamp = this.lamps.children[i] as HTMLElement;
      lamp.dataset.state = state;
      lamp.hidden = state === "open" && many;
      (lamp.lastChild as HTMLElement).textContent = state;
    }
    if (many) this.open.textContent = `${states.filter((x) => x === "open").length} of ${elements.length} are open`;
    const shown = end === Infinity ? transitions : transitions.filter((x) => x.t <= t);
    if (shown.length < this.listed) this.clear();
    for (const x of shown.slice(Math.max(this.listed, shown.length - LISTED))) {
      const item = make("li");
      item.append(make("span", {}, `${x.t.toFixed(4)} s`), make("span", {}, x.cause), make("span", {}, x.which));
      this.list.prepend(item);
      while (this.list.children.length > LISTED) this.list.lastChild?.remove();
    }
    this.listed = shown.length;
  }
}
