// The scene in three dimensions: bodies, floor, axes, trails, what the pointer holds, and a camera that shows all of it.

import * as three from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { Arrows, type Shown } from "./arrows";
import type { Body, SceneData, Triple } from "./data";
import { corners, distance, preset_direction, type Preset, type Vector } from "./framing";
import type { Motion } from "./motion";
import { type Context, draws_by_software, LOOKS, type Look, make_grid, make_renderer, type Renderer } from "./surroundings";
import { body_parts, css_color, fineness_for, points_of, type Fineness } from "./pieces";

const FOV = (28 * Math.PI) / 180;
const MARGIN = 1.1;
const TRAIL = 5000;
const FORGOTTEN = 500; // points at a time of a trail that is full: all that is left is handed over anew then
const GROWN = 4; // a mechanism that has left its box by this factor is followed
const EASE = 0.18;

export interface Hit {
  body: number;
  /** In the body's frame (m). */
  local: Triple;
  /** In N (m). */
  point: Triple;
}

export class Stage {
  readonly canvas: HTMLCanvasElement;
  /** What the browser draws with; null where it draws nothing in three dimensions. */
  readonly context: Context | null;
  private readonly renderer: Renderer;
  private readonly scene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera((FOV * 180) / Math.PI, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly nodes: three.Group[] = [];
  private readonly spheres: { center: three.Vector3; radius: number }[] = [];
  private readonly solids: (three.BufferGeometry | null)[] = [];
  private readonly edge = new three.LineBasicMaterial({ color: 0x1e293b, transparent: true, opacity: 0.35 });
  private readonly material: three.Material;
  private readonly software: boolean;
  private arrows: Arrows | null = null;
  private preset: Preset = "standard";
  private readonly trails: { node: number; at: three.Vector3; line: three.Line; count: number }[] = [];
  private readonly labels: { element: HTMLElement; node: number; at: three.Vector3 }[] = [];
  private readonly extras = new three.Group();
  private readonly frames = new three.Group();
  private readonly hand: three.Group;
  private readonly sun = new three.DirectionalLight(0xffffff, 2.4);
  private readonly up: Vector;
  private low: Vector;
  private high: Vector;
  private followed: boolean;
  private pixels = 1;
  private taken = false; // the user moves the camera
  private readonly extent: number;
  private seen = { target: new three.Vector3(), distance: 0 };
  private floor: three.Object3D | null = null;

  private constructor(
    private readonly data: SceneData,
    private readonly overlay: HTMLElement,
  ) {
    const software = draws_by_software();
    this.software = software;
    ({ renderer: this.renderer, context: this.context } = make_renderer(software));
    this.renderer.shadowMap.enabled = !software && this.context !== null;
    this.material = software
      ? new three.MeshLambertMaterial({ vertexColors: true })
      : new three.MeshStandardMaterial({ vertexColors: true, roughness: 0.62, metalness: 0.05 });
    this.renderer.shadowMap.type = three.PCFShadowMap;
    this.canvas = this.renderer.domElement;
    this.up = data.up;
    this.low = [...data.low];
    this.high = [...data.high];
    this.followed = data.followed;
    this.extent = Math.max(...data.high.map((h, i) => h - data.low[i]), 1e-9);
    this.camera.up.set(...this.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener("start", () => {
      this.taken = true;
    });
    this.scene.add(this.extras, this.frames);
    this.hand = this.make_hand();
    this.add_lights();
    this.add_axes();
  }

  /** The scene with all its bodies; names are written to the overlay. */
  static async make(data: SceneData, overlay: HTMLElement): Promise<Stage> {
    const made = new Stage(data, overlay);
    const fineness = fineness_for(data.bodies, made.software);
    for (const [index, body] of data.bodies.entries()) await made.add_body(index, body, fineness);
    made.set_dark(false);
    return made;
  }

  set_dark(dark: boolean): void {
    const look = LOOKS[dark ? "dark" : "light"];
    this.scene.background = new three.Color(look.background);
    this.scene.fog = new three.Fog(look.background); // the floor ends in it, not at an edge
    this.sun.intensity = look.light;
    if (this.floor) this.extras.remove(this.floor);
    this.floor = this.make_floor(look);
    if (this.floor) this.extras.add(this.floor);
    this.edge.color.set(look.edge);
  }

  show_labels(shown: boolean): void {
    this.overlay.hidden = !shown;
  }

  show_frames(shown: boolean): void {
    this.frames.visible = shown;
    for (const node of this.nodes) for (const o of node.children) if (o.userData.frame) o.visible = shown;
  }

  show_trails(shown: boolean): void {
    for (const trail of this.trails) {
      trail.line.visible = shown;
      if (shown) hand_over(trail.line, 0, Math.min(trail.count + 1, TRAIL));
    }
  }

  clear_trails(): void {
    this.arrows?.reset();
    for (const trail of this.trails) {
      trail.count = 0;
      trail.line.geometry.setDrawRange(0, 0);
    }
  }

  resize(width: number, height: number): void {
    if (width < 1 || height < 1) return;
    this.renderer.setPixelRatio(this.pixels * Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!this.taken) this.place_camera(1);
  }

  /** Look from one of the usual sides, at all of it. */
  look_from(preset: Preset): void {
    this.preset = preset;
    this.taken = false;
    this.place_camera(1);
  }

  get is_followed(): boolean {
    return this.followed;
  }

  /** Let the camera go with the mechanism, or stay where it is. */
  follow(on: boolean): void {
    if (on === this.followed) return;
    const shift = this.middle().toArray().map((x) => (on ? -x : x));
    this.low = this.low.map((x, i) => x + shift[i]) as Vector;
    this.high = this.high.map((x, i) => x + shift[i]) as Vector;
    this.followed = on;
    this.seen.target.set(...this.goal().target);
  }

  /** Let arrows be drawn over the motion, where it tells any. */
  add_arrows(motion: Motion): void {
    if (!motion.mark_names) return;
    const { names, outlines } = motion.mark_names;
    this.arrows = new Arrows(this.nodes.length, names, outlines, this.extent, this.data.weight, this.up);
    this.scene.add(this.arrows.group);
  }

  /** Draw arrows as they are now; how large the forces are (N), by the names of their places. */
  update_arrows(motion: Motion, shown: Shown): Map<string, Vector> {
    const any = shown.contacts || shown.forces || shown.polygon || shown.velocities;
    if (this.arrows) this.arrows.group.visible = any;
    const marks = any && this.arrows ? motion.marks : null;
    if (!this.arrows || !marks) return new Map();
    const centers = this.nodes.map((node, i) => node.localToWorld(new three.Vector3(...this.data.bodies[i].center)));
    return this.arrows.update(shown, marks, centers);
  }

  /** Where the points of all bodies are on the canvas, in CSS pixels, and how large that is. */
  outline(): { points: [number, number][]; width: number; height: number } {
    this.camera.updateMatrixWorld();
    const points = this.solids.flatMap((solid, i) =>
      solid ? points_of(solid).map((point) => this.on_canvas(this.in_space(i, point))) : [],
    );
    return { points, width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /** Let the camera show all of the mechanism again. */
  fit(): void {
    this.taken = false;
    this.low = [...this.data.low];
    this.high = [...this.data.high];
    this.followed = this.data.followed;
    this.place_camera(1);
  }

  /** Place all bodies, and let trails end there. */
  set_poses(poses: ArrayLike<number>, grow: boolean): void {
    for (const [i, node] of this.nodes.entries()) {
      const p = 12 * i;
      node.matrix.set(
        poses[p], poses[p + 1], poses[p + 2], poses[p + 9],
        poses[p + 3], poses[p + 4], poses[p + 5], poses[p + 10],
        poses[p + 6], poses[p + 7], poses[p + 8], poses[p + 11],
        0, 0, 0, 1,
      ); // prettier-ignore
      node.matrixWorldNeedsUpdate = true;
    }
    this.scene.updateMatrixWorld();
    this.widen();
    this.trace(poses, grow);
  }

  /** Let trails end where bodies are in `poses`; they keep that point if they `grow`. */
  trace(poses: ArrayLike<number>, grow = true): void {
    for (const trail of this.trails) this.grow_trail(trail, poses, grow);
  }

  /** Draw with less effort, for a machine that draws slowly: without shadows, then with larger pixels. */
  draw_simpler(): void {
    if (this.renderer.shadowMap.enabled) {
      this.renderer.shadowMap.enabled = false;
      this.sun.castShadow = false;
      this.floor?.children[1]?.removeFromParent();
    } else {
      this.pixels = Math.max(0.6, 0.8 * this.pixels);
      this.resize(this.canvas.clientWidth, this.canvas.clientHeight);
    }
  }

  render(): void {
    if (!this.taken) this.place_camera(EASE);
    else if (this.followed) this.move_along();
    if (this.taken) this.set_fog(Math.max(this.seen.distance, this.camera.position.distanceTo(this.controls.target)));
    this.place_sun();
    this.renderer.render(this.scene, this.camera);
    this.place_labels();
  }

  /** What is under the pointer, at x and y from -1 to 1. */
  pick(x: number, y: number): Hit | null {
    const ray = new three.Raycaster();
    ray.setFromCamera(new three.Vector2(x, y), this.camera);
    const found = ray.intersectObjects(this.nodes, true).find((hit) => hit.object instanceof three.Mesh);
    if (!found) return null;
    let node: three.Object3D = found.object;
    while (node.parent && node.userData.body === undefined) node = node.parent;
    const local = node.worldToLocal(found.point.clone());
    return { body: node.userData.body, local: local.toArray(), point: found.point.toArray() };
  }

  /** The point under the pointer in the plane through `point` that faces the viewer. */
  in_plane(x: number, y: number, point: Triple): Triple | null {
    const ray = new three.Raycaster();
    ray.setFromCamera(new three.Vector2(x, y), this.camera);
    const normal = this.camera.getWorldDirection(new three.Vector3());
    const plane = new three.Plane().setFromNormalAndCoplanarPoint(normal, new three.Vector3(...point));
    const found = ray.ray.intersectPlane(plane, new three.Vector3());
    return found ? found.toArray() : null;
  }

  /** Where a point of N is on the canvas, in CSS pixels. */
  on_canvas(point: Triple): [number, number] {
    const p = new three.Vector3(...point).project(this.camera);
    const { clientWidth, clientHeight } = this.canvas;
    return [((p.x + 1) / 2) * clientWidth, ((1 - p.y) / 2) * clientHeight];
  }

  /** Where a point of a body (m, in its frame) is in N. */
  in_space(body: number, local: Triple): Triple {
    return this.nodes[body].localToWorld(new three.Vector3(...local)).toArray();
  }

  enable_orbit(on: boolean): void {
    this.controls.enabled = on;
  }

  /** Show what the pointer holds and where it draws it; nothing for null. */
  show_hand(from: Triple | null, to: Triple | null): void {
    this.hand.visible = from !== null && to !== null;
    if (!from || !to) return;
    const [ball, rod] = this.hand.children;
    const a = new three.Vector3(...from);
    const b = new three.Vector3(...to);
    ball.position.copy(b);
    rod.position.copy(a.clone().add(b).multiplyScalar(0.5));
    rod.scale.set(1, Math.max(a.distanceTo(b), 1e-9), 1);
    rod.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), b.sub(a).normalize());
  }

  private make_hand(): three.Group {
    const group = new three.Group();
    const material = new three.MeshBasicMaterial({ color: 0xd1495b });
    group.add(new three.Mesh(new three.SphereGeometry(0.012 * this.extent, 16, 10), material));
    group.add(new three.Mesh(new three.CylinderGeometry(0.004 * this.extent, 0.004 * this.extent, 1, 8), material));
    group.visible = false;
    this.scene.add(group);
    return group;
  }

  private async add_body(index: number, body: Body, fineness: Fineness): Promise<void> {
    const node = new three.Group();
    node.matrixAutoUpdate = false;
    node.userData.body = index;
    const parts = await body_parts(body, this.data.line, fineness);
    const sphere = { center: new three.Vector3(), radius: 0 };
    if (parts) {
      const mesh = new three.Mesh(parts.solid, this.material);
      mesh.castShadow = true;
      node.add(mesh);
      if (parts.edges) node.add(new three.LineSegments(parts.edges, this.edge));
      parts.solid.computeBoundingSphere();
      const around = parts.solid.boundingSphere as three.Sphere;
      sphere.center.copy(around.center);
      sphere.radius = around.radius;
    }
    this.spheres.push(sphere);
    this.solids.push(parts ? parts.solid : null);
    const axes = new three.AxesHelper(0.14 * this.extent);
    axes.userData.frame = true;
    axes.visible = false;
    node.add(axes);
    this.scene.add(node);
    this.nodes.push(node);
    const element = document.createElement("span");
    element.textContent = body.name;
    this.overlay.append(element);
    this.labels.push({ element, node: index, at: new three.Vector3(...body.middle) });
    if (body.traced) this.add_trail(index, body);
  }

  private add_trail(index: number, body: Body): void {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(3 * TRAIL), 3));
    geometry.setDrawRange(0, 0);
    const material = new three.LineBasicMaterial({ color: css_color(body.color), transparent: true, opacity: 0.55 });
    const line = new three.Line(geometry, material);
    line.frustumCulled = false;
    this.scene.add(line);
    this.trails.push({ node: index, at: new three.Vector3(...body.center), line, count: 0 });
  }

  private grow_trail(trail: (typeof this.trails)[number], poses: ArrayLike<number>, grow: boolean): void {
    const places = trail.line.geometry.getAttribute("position") as three.BufferAttribute;
    if (trail.count === TRAIL) {
      (places.array as Float32Array).copyWithin(0, 3 * FORGOTTEN);
      trail.count -= FORGOTTEN;
      hand_over(trail.line, 0, trail.count);
    }
    hand_over(trail.line, trail.count, 1);
    const p = 12 * trail.node;
    const { x, y, z } = trail.at;
    const place = [0, 1, 2].map((k) => poses[p + 3 * k] * x + poses[p + 3 * k + 1] * y + poses[p + 3 * k + 2] * z + poses[p + 9 + k]);
    places.setXYZ(trail.count, place[0], place[1], place[2]);
    trail.line.geometry.setDrawRange(0, trail.count + 1);
    if (grow) trail.count++;
  }

  private add_lights(): void {
    this.scene.add(new three.HemisphereLight(0xffffff, 0xb8c2cc, 2.3));
    this.sun.castShadow = this.data.floor !== null && this.renderer.shadowMap.enabled;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.sun.shadow.radius = 3;
    this.sun.shadow.bias = -0.002;
    this.scene.add(this.sun, this.sun.target);
  }

  private place_sun(): void {
    const target = this.seen.target;
    const reach = 0.75 * Math.hypot(...this.high.map((h, i) => h - this.low[i])) + 1e-9;
    const up = new three.Vector3(...this.up);
    const side = new three.Vector3(0.5, -0.3, 0.2).projectOnPlane(up);
    this.sun.position.copy(target).addScaledVector(up, 2 * reach).addScaledVector(side, reach);
    this.sun.target.position.copy(target);
    const c = this.sun.shadow.camera;
    if (c.right !== reach) {
      c.left = c.bottom = -reach;
      c.right = c.top = reach;
      c.near = 0.1 * reach;
      c.far = 5 * reach;
      c.updateProjectionMatrix();
    }
  }

  private add_axes(): void {
    const axes = new three.AxesHelper(0.18 * this.extent);
    this.frames.add(axes);
    this.frames.visible = false;
  }

  private make_floor(look: Look): three.Object3D | null {
    const height = this.data.floor;
    if (height === null) return null;
    const cell = 10 ** Math.floor(Math.log10(this.extent / 1.5));
    const cells = Math.min(200, 2 * Math.ceil((this.followed ? 60 : 12) * (this.extent / cell) * 0.5));
    const floor = new three.Group();
    const grid = make_grid(cells, cell, look);
    floor.add(grid);
    if (this.renderer.shadowMap.enabled) {
      const shade = new three.Mesh(
        new three.PlaneGeometry(cells * cell, cells * cell).rotateX(-Math.PI / 2),
        new three.ShadowMaterial({ opacity: 0.18 }),
      );
      shade.receiveShadow = true;
      floor.add(shade);
    }
    floor.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), new three.Vector3(...this.up));
    floor.position.set(...this.up).multiplyScalar(height - 0.002 * this.extent);
    return floor;
  }

  /** The middle of the bodies. */
  private middle(): three.Vector3 {
    const sum = new three.Vector3();
    for (const [i, node] of this.nodes.entries()) {
      sum.add(node.localToWorld(new three.Vector3(...this.data.bodies[i].middle)));
    }
    return sum.multiplyScalar(1 / Math.max(1, this.nodes.length));
  }

  /** Let the box that is shown grow to what has left it; what leaves it far is followed instead. */
  private widen(): void {
    const shift = this.followed ? this.middle().toArray() : [0, 0, 0];
    for (const [i, sphere] of this.spheres.entries()) {
      const center = this.nodes[i].localToWorld(sphere.center.clone()).toArray();
      for (let k = 0; k < 3; k++) {
        const at = center[k] - shift[k];
        // a sphere around a long body is larger than the body: what the box had already is left to it
        if (at < this.low[k]) this.low[k] = at - sphere.radius;
        if (at > this.high[k]) this.high[k] = at + sphere.radius;
      }
    }
    const widest = Math.max(...this.high.map((h, i) => h - this.low[i]));
    if (!this.followed && widest > GROWN * this.extent) {
      this.followed = true;
      const half = this.data.high.map((h, i) => (h - this.data.low[i]) / 2 + 0.25 * this.extent);
      this.low = half.map((h) => -h) as Vector;
      this.high = half as Vector;
    }
  }

  private goal(): { target: Vector; distance: number; toward: Vector } {
    const shift = this.followed ? this.middle().toArray() : [0, 0, 0];
    const low = this.low.map((x, i) => x + shift[i]) as Vector;
    const high = this.high.map((x, i) => x + shift[i]) as Vector;
    const target = low.map((x, i) => (x + high[i]) / 2) as Vector;
    const toward = preset_direction(this.preset, this.up, this.data.normal);
    const away = distance(corners(low, high), target, toward, this.up, FOV, this.camera.aspect);
    return { target, toward, distance: MARGIN * Math.max(away, 1e-6) };
  }

  private place_camera(share: number): void {
    const goal = this.goal();
    const target = new three.Vector3(...goal.target);
    if (share === 1 || this.followed) {
      this.seen.target.copy(target);
      this.seen.distance = share === 1 ? goal.distance : Math.max(goal.distance, this.seen.distance);
    } else {
      this.seen.target.lerp(target, share);
      this.seen.distance += share * (goal.distance - this.seen.distance);
    }
    this.camera.position.copy(this.seen.target).addScaledVector(new three.Vector3(...goal.toward), this.seen.distance);
    this.controls.target.copy(this.seen.target);
    this.camera.near = 0.01 * this.seen.distance;
    this.camera.far = 40 * this.seen.distance;
    this.camera.updateProjectionMatrix();
    this.set_fog(this.seen.distance);
    this.camera.lookAt(this.seen.target);
    this.camera.updateMatrixWorld();
  }

  private set_fog(away: number): void {
    const fog = this.scene.fog as three.Fog;
    fog.near = 1.5 * away;
    fog.far = 4.5 * away;
  }

  /** Keep a camera that the user placed beside a mechanism that travels. */
  private move_along(): void {
    const target = new three.Vector3(...this.goal().target);
    this.camera.position.add(target).sub(this.seen.target);
    this.controls.target.add(target).sub(this.seen.target);
    this.seen.target.copy(target);
    this.camera.updateMatrixWorld();
  }

  private place_labels(): void {
    if (this.overlay.hidden) return;
    for (const label of this.labels) {
      const [x, y] = this.on_canvas(this.nodes[label.node].localToWorld(label.at.clone()).toArray());
      label.element.style.transform = `translate(-50%, -50%) translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }
}

/** Let some points of a line that is seen be handed over to what draws it; a whole trail each time would cost more than drawing it. */
function hand_over(line: three.Line, first: number, count: number): void {
  if (!line.visible) return; // all of it will be when it is
  const places = line.geometry.getAttribute("position") as three.BufferAttribute;
  const last = places.updateRanges.at(-1);
  const follows = last && 3 * first >= last.start && 3 * first <= last.start + last.count;
  if (follows) last.count = Math.max(last.count, 3 * (first + count) - last.start);
  else places.addUpdateRange(3 * first, 3 * count);
  places.needsUpdate = true;
}
