// Curves over time that grow while the motion goes on.

import uPlot from "uplot";
import type { PageData } from "./data";
import { labels } from "./labels";
import type { Sample } from "./samples";

export const PALETTE = ["#3b7dd8", "#e08214", "#1b9e77", "#b565b8", "#4fb3d9", "#c9a227", "#d1495b", "#7a8594"];
const ROWS = 8000;
const WINDOW = 10; // s of the clock, at the pace of the clock or faster
const SHOWN = 6; // curves of a plot that are shown at first
const SERIES = 24; // and that there are at most

/** Room (px) for the labels of an axis of values. */
const width_of = (_: uPlot, shown: string[] | null) => 12 + 6.5 * Math.max(6, ...(shown ?? []).map((x) => x.length));

/** What an axis of values shows: a curve that stays at a value is in the middle. */
const around = (_: uPlot, low: number | null, high: number | null): [number | null, number | null] => {
  if (low === null || high === null) return [null, null];
  const rest = Math.max(...[low, high].map(Math.abs), 1e-3);
  return high - low > 1e-12 * rest ? uPlot.rangeNum(low, high, 0.1, true) : [low - 0.5 * rest, high + 0.5 * rest];
};

interface Curve {
  name: string;
  value: (sample: Sample) => number;
}

/** What `make` makes, with canvases that the processor draws: through a graphics processor that is none, a plot takes
 *  several times as long as the scene. */
function drawn_by_processor<T>(make: () => T): T {
  const original = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, options?: object) {
    return original.call(this, kind, { ...options, willReadFrequently: true });
  } as typeof original;
  try {
    return make();
  } finally {
    HTMLCanvasElement.prototype.getContext = original;
  }
}

class Plot {
  readonly element: HTMLElement;
  private readonly plot: uPlot;
  private rows: number[][];

  constructor(
    title: string,
    private readonly curves: Curve[],
    width: number,
  ) {
    this.element = document.createElement("div");
    this.element.className = "plot";
    const heading = document.createElement("h3");
    heading.textContent = title;
    this.element.append(heading);
    this.rows = [[], ...curves.map(() => [])];
    const ink = () => getComputedStyle(this.element).getPropertyValue("--soft") || "#64748b";
    const grid = () => getComputedStyle(this.element).getPropertyValue("--line") || "#e2e8f0";
    const axis = (size: uPlot.Axis.Size) => ({
      stroke: ink,
      size,
      font: "11px system-ui",
      grid: { stroke: grid, width: 1 },
      ticks: { show: false },
    });
    this.plot = drawn_by_processor(() => new uPlot(
      {
        width,
        height: 170,
        scales: { x: { time: false }, y: { range: around } },
        axes: [axis(26), { ...axis(width_of), values: (_: uPlot, marks: number[]) => labels(marks) }],
        cursor: { drag: { x: false, y: false } },
        legend: { live: false },
        series: [
          { label: "t" },
          ...curves.map((_, i) => ({
            label: `${i}`, // names are put in as text afterwards
            stroke: PALETTE[i % PALETTE.length],
            width: 1.6,
            show: i < SHOWN,
            points: { show: false },
          })),
        ],
      },
      this.rows as uPlot.AlignedData,
      this.element,
    ));
    this.name_curves();
  }

  clear(): void {
    this.rows = [[], ...this.curves.map(() => [])];
    this.plot.setData(this.rows as uPlot.AlignedData);
  }

  add(sample: Sample, window: number): void {
    const t = sample.t;
    const times = this.rows[0];
    const later = times.length && t < times[times.length - 1] ? times.findIndex((x) => x > t) : times.length;
    for (const row of this.rows) row.splice(later); // a motion whose steps blew up has gone back
    this.rows[0].push(t);
    for (const [i, curve] of this.curves.entries()) this.rows[i + 1].push(curve.value(sample));
    if (this.rows[0].length > ROWS || this.rows[0][0] < t - 1.5 * window) {
      const first = this.rows[0].findIndex((x) => x >= t - window);
      for (const row of this.rows) row.splice(0, Math.max(first, this.rows[0].length - ROWS));
    }
  }

  draw(window: number): void {
    this.plot.setData(this.rows as uPlot.AlignedData, false);
    const last = this.rows[0][this.rows[0].length - 1] ?? 0;
    const first = Math.max(this.rows[0][0] ?? 0, last - window);
    this.plot.setScale("x", { min: first, max: Math.max(last, first + 0.05 * window) });
  }

  resize(width: number): void {
    this.plot.setSize({ width, height: 170 });
  }

  /** uPlot takes labels as markup, and names of a model are text: they are put in as such. */
  private name_curves(): void {
    const labels = this.element.querySelectorAll<HTMLElement>(".u-legend .u-label");
    const first = labels.length - this.curves.length; // time may have one too
    for (const [i, curve] of this.curves.entries()) labels[first + i].textContent = curve.name;
  }
}

/** Whether an element is inside the part of the window that is seen. */
function is_seen(element: HTMLElement): boolean {
  const box = element.getBoundingClientRect();
  return box.height > 0 && box.bottom > 0 && box.top < window.innerHeight;
}

export class Plots {
  readonly element = document.createElement("div");
  private readonly plots: Plot[];

  constructor(page: PageData, energy: boolean, width: number) {
    const named = (x: { name: string; unit: string }) => (x.unit ? `${x.name} (${x.unit})` : x.name);
    const curves = (what: "coordinates" | "speeds", from: "q" | "u"): Curve[] =>
      page[what].slice(0, SERIES).map((x, i) => ({ name: named(x), value: (at: Sample) => at[from][i] }));
    this.plots = [
      new Plot("Coordinates", curves("coordinates", "q"), width),
      new Plot("Speeds", curves("speeds", "u"), width),
    ];
    if (energy) {
      const of = (f: (e: { kinetic: number; potential: number; work: number }) => number) => (x: Sample) =>
        x.energy ? f(x.energy) : Number.NaN;
      const shown: Curve[] = [
        { name: "kinetic", value: of((e) => e.kinetic) },
        { name: "potential of gravity", value: of((e) => e.potential) },
        { name: "work of loads and hand", value: of((e) => e.work) },
        { name: "kinetic + potential − work", value: of((e) => e.kinetic + e.potential - e.work) },
      ];
      this.plots.push(new Plot("Energy (J)", shown, width));
    }
    this.element.append(...this.plots.map((p) => p.element));
  }

  /** Add a sample of a motion that is played at a pace, 1 being that of the clock; none is earlier than the one before. */
  add(sample: Sample, pace: number): void {
    this.window = WINDOW * Math.max(1, pace);
    for (const plot of this.plots) plot.add(sample, this.window);
  }

  /** Draw the next one that is seen. */
  draw(): void {
    for (let k = 0; k < this.plots.length; k++) {
      this.next = (this.next + 1) % this.plots.length;
      const plot = this.plots[this.next];
      if (!is_seen(plot.element)) continue;
      plot.draw(this.window);
      return;
    }
  }

  private next = 0;
  private window = WINDOW;

  clear(): void {
    for (const plot of this.plots) plot.clear();
  }

  resize(width: number): void {
    for (const plot of this.plots) plot.resize(width);
  }
}
