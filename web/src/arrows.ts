// Arrows over a scene: velocities of bodies, forces at places, these places, and polygons that a mechanism stands on.

import * as three from "three";
import { tips } from "./forces";
import type { Vector } from "./framing";
import type { Marks } from "./motion";

const FORCE = 0.45; // length, in sizes of the scene, of a force that is as large as the weight of the mechanism
const SPEED = 0.3; // and of the largest velocity so far
const LONGEST = 1.2;
const SHORTEST = 0.004; // below which an arrow is not drawn
const STANDS = 0x1d5fb8;
const TIPS = 0xd1495b;
const UP = new three.Vector3(0, 1, 0);

export interface Shown {
  forces: boolean;
  velocities: boolean;
  contacts: boolean;
  polygon: boolean;
}

/** Some arrows that are drawn together. */
class Bundle {
  readonly group = new three.Group();
  private readonly shafts: three.InstancedMesh;
  private readonly heads: three.InstancedMesh;
  private readonly thickness: number;
  private count = 0;

  constructor(most: number, extent: number, color: number) {
    this.thickness = 0.006 * extent;
    const material = new three.MeshLambertMaterial({ color });
    const shaft = new three.CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0);
    const head = new three.ConeGeometry(1, 1, 12).translate(0, -0.5, 0);
    this.shafts = new three.InstancedMesh(shaft, material, Math.max(1, most));
    this.heads = new three.InstancedMesh(head, material, Math.max(1, most));
    for (const mesh of [this.shafts, this.heads]) mesh.frustumCulled = false;
    this.group.add(this.shafts, this.heads);
    this.end();
  }

  begin(): void {
    this.count = 0;
  }

  add(foot: three.Vector3, along: three.Vector3): void {
    const length = along.length();
    const turn = new three.Quaternion().setFromUnitVectors(UP, along.clone().divideScalar(length));
    const r = this.thickness;
    const head = Math.min(4.5 * r, 0.6 * length);
    const matrix = new three.Matrix4();
    this.shafts.setMatrixAt(this.count, matrix.compose(foot, turn, new three.Vector3(r, length - head, r)));
    const wide = (2.4 * r * head) / (4.5 * r);
    this.heads.setMatrixAt(this.count, matrix.compose(foot.clone().add(along), turn, new three.Vector3(wide, head, wide)));
    this.count++;
  }

  end(): void {
    for (const mesh of [this.shafts, this.heads]) {
      mesh.count = this.count;
      mesh.instanceMatrix.needsUpdate = true;
    }
    this.group.visible = this.count > 0;
  }
}

export class Arrows {
  readonly group = new three.Group();
  private readonly forces: Bundle;
  private readonly velocities: Bundle;
  private readonly points: three.InstancedMesh;
  private readonly polygons: { corners: number[]; line: three.Line; fill: three.Mesh }[] = [];
  private fastest = 0;
  private strongest = 0;

  constructor(
    bodies: number,
    private readonly names: string[],
    outlines: number[][],
    private readonly extent: number,
    private readonly weight: number,
    private readonly up: Vector,
  ) {
    this.forces = new Bundle(names.length, extent, 0x15803d);
    this.velocities = new Bundle(bodies, extent, 0xb45309);
    this.points = new three.InstancedMesh(
      new three.SphereGeometry(0.011 * extent, 8, 6), // some pixels in size
      new three.MeshBasicMaterial({ color: 0xd1495b, depthTest: false, transparent: true }),
      Math.max(1, names.length),
    );
    this.points.frustumCulled = false;
    this.points.renderOrder = 2;
    this.points.count = 0; // until places are known: three.js would draw all of them at the origin
    for (const corners of outlines) this.polygons.push(this.make_polygon(corners));
    this.group.add(this.forces.group, this.velocities.group, this.points);
  }

  /** Forget how large velocities and forces were. */
  reset(): void {
    this.fastest = 0;
    this.strongest = 0;
  }

  /** Draw what is shown; `centers` are the mass centres in N (m). Returns the forces (N) by name, as components in N. */
  update(
    shown: Shown,
    marks: Marks,
    centers: three.Vector3[],
  ): Map<string, Vector> {
    const told = new Map<string, Vector>();
    this.forces.begin();
    let touching = 0;
    const matrix = new three.Matrix4();
    const { forces } = marks;
    const loads = this.names.map((_, i) => new three.Vector3(forces[3 * i], forces[3 * i + 1], forces[3 * i + 2]));
    for (const load of loads) this.strongest = Math.max(this.strongest, load.length());
    const unit = (FORCE * this.extent) / (this.weight || this.strongest || 1);
    for (const [i, name] of this.names.entries()) {
      if (!(loads[i].length() > 0)) continue;
      told.set(name, loads[i].toArray());
      const at = new three.Vector3(marks.at[3 * i], marks.at[3 * i + 1], marks.at[3 * i + 2]);
      this.points.setMatrixAt(touching++, matrix.makeTranslation(at));
      if (shown.forces) this.draw(this.forces, at, loads[i].multiplyScalar(unit));
    }
    this.points.count = touching;
    this.points.instanceMatrix.needsUpdate = true;
    this.points.visible = shown.contacts && touching > 0;
    this.forces.end();
    this.draw_velocities(shown, marks.velocities, centers);
    for (const [i, polygon] of this.polygons.entries()) {
      this.place(polygon, shown.polygon, marks.at);
      const color = tips(marks.measures[i], this.weight) ? TIPS : STANDS;
      for (const part of [polygon.line, polygon.fill]) (part.material as three.MeshBasicMaterial).color.setHex(color);
    }
    return told;
  }

  private draw_velocities(shown: Shown, velocities: ArrayLike<number>, centers: three.Vector3[]): void {
    this.velocities.begin();
    const all = centers.map((_, i) => new three.Vector3(velocities[3 * i], velocities[3 * i + 1], velocities[3 * i + 2]));
    for (const v of all) if (Number.isFinite(v.length())) this.fastest = Math.max(this.fastest, v.length());
    if (shown.velocities && this.fastest > 0) {
      const unit = (SPEED * this.extent) / this.fastest;
      for (const [i, v] of all.entries()) this.draw(this.velocities, centers[i], v.multiplyScalar(unit));
    }
    this.velocities.end();
  }

  private draw(bundle: Bundle, foot: three.Vector3, along: three.Vector3): void {
    const length = along.length();
    if (!(length > SHORTEST * this.extent)) return;
    bundle.add(foot, along.multiplyScalar(Math.min(1, (LONGEST * this.extent) / length)));
  }

  private make_polygon(corners: number[]): (typeof this.polygons)[number] {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(3 * (corners.length + 1)), 3));
    const fan = [];
    for (let i = 1; i + 1 < corners.length; i++) fan.push(0, i, i + 1);
    geometry.setIndex(fan);
    const ink = { color: STANDS, transparent: true, depthWrite: false };
    const fill = new three.Mesh(geometry, new three.MeshBasicMaterial({ ...ink, opacity: 0.16, side: three.DoubleSide }));
    const outline = new three.BufferGeometry().setAttribute("position", geometry.getAttribute("position"));
    const line = new three.Line(outline, new three.LineBasicMaterial({ ...ink, opacity: 0.9 }));
    for (const part of [fill, line]) part.frustumCulled = false;
    this.group.add(fill, line);
    return { corners, line, fill };
  }

  private place(polygon: (typeof this.polygons)[number], shown: boolean, at: ArrayLike<number>): void {
    polygon.line.visible = polygon.fill.visible = shown;
    const places = polygon.line.geometry.getAttribute("position") as three.BufferAttribute;
    const lift = 0.004 * this.extent;
    for (const [i, corner] of [...polygon.corners, polygon.corners[0]].entries()) {
      const [x, y, z] = [0, 1, 2].map((k) => at[3 * corner + k] + lift * this.up[k]);
      places.setXYZ(i, x, y, z);
    }
    places.needsUpdate = true;
  }
}
