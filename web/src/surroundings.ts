// What is around a mechanism: colours of the scene, the grid on its floor, and what draws it.

import * as three from "three";

const GRID_PIECES = 12;

export interface Look {
  background: number;
  floor: number;
  section: number;
  light: number;
  edge: number;
}

export const LOOKS: Record<"light" | "dark", Look> = {
  light: { background: 0xf7f9fb, floor: 0xdfe5eb, section: 0xc3ccd6, light: 1.7, edge: 0x1e293b },
  dark: { background: 0x151c25, floor: 0x2f3c4c, section: 0x4d5f74, light: 1.5, edge: 0x05080c },
};

/** A grid in the plane of x and z. Lines are in pieces: some renderers leave out one with an end behind the camera. */
export function make_grid(cells: number, cell: number, look: Look): three.LineSegments {
  const half = (cells * cell) / 2;
  const places: number[] = [];
  const colors: number[] = [];
  const inks = [new three.Color(look.section), new three.Color(look.floor)];
  for (let i = 0; i <= cells; i++) {
    const across = i * cell - half;
    const ink = inks[i === cells / 2 ? 0 : 1].toArray();
    for (let k = 0; k < GRID_PIECES; k++) {
      const [from, to] = [k, k + 1].map((j) => half * ((2 * j) / GRID_PIECES - 1));
      places.push(from, 0, across, to, 0, across, across, 0, from, across, 0, to);
      for (let corner = 0; corner < 4; corner++) colors.push(...ink);
    }
  }
  const geometry = new three.BufferGeometry();
  geometry.setAttribute("position", new three.Float32BufferAttribute(places, 3));
  geometry.setAttribute("color", new three.Float32BufferAttribute(colors, 3));
  return new three.LineSegments(geometry, new three.LineBasicMaterial({ vertexColors: true }));
}

/** What draws a scene. */
export type Renderer = Pick<three.WebGLRenderer, "domElement" | "render" | "setPixelRatio" | "setSize"> & {
  shadowMap: { enabled: boolean; type: three.ShadowMapType };
};

/** What a browser draws with in three dimensions: it has some for all pages together, and takes them away. */
export class Context {
  private readonly extension: WEBGL_lose_context | null; // a lost context would not tell

  constructor(private readonly gl: WebGL2RenderingContext) {
    this.extension = gl.getExtension("WEBGL_lose_context");
  }

  get lost(): boolean {
    return this.gl.isContextLost();
  }

  /** Give it back, or take it again. */
  hold(on: boolean): void {
    if (on && this.lost) this.extension?.restoreContext();
    if (!on && !this.lost) this.extension?.loseContext();
  }
}

/** What draws on a new canvas, and with what; where the browser has nothing for that, nothing is drawn. */
export function make_renderer(software: boolean): { renderer: Renderer; context: Context | null } {
  try {
    const renderer = new three.WebGLRenderer({ antialias: !software, powerPreference: "high-performance" });
    return { renderer, context: new Context(renderer.getContext() as WebGL2RenderingContext) };
  } catch {
    const nothing = () => {};
    const shadowMap = { enabled: false, type: three.PCFShadowMap };
    const domElement = document.createElement("canvas");
    const renderer = { domElement, shadowMap, render: nothing, setPixelRatio: nothing, setSize: nothing };
    return { renderer, context: null };
  }
}

/** Whether there is no graphics processor: then shadows and smooth edges would cost more than all the rest. */
export function draws_by_software(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}
