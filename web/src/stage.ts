// The scene in three dimensions: bodies, floor, axes, trails, what the pointer holds, and a camera that shows all of it.

import * as three from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import type { Body, Piece, SceneData, Triple } from "./data";
import { corners, distance, type Vector, view_direction } from "./framing";

const FOV = (28 * Math.PI) / 180;
const MARGIN = 1.1;
const TRAIL = 1500;
const GROWN = 4; // a mechanism that has left its box by this factor is followed
const EASE = 0.18;

export interface Hit {
  body: number;
  /** In the body's frame (m). */
  local: Triple;
  /** In N (m). */
  point: Triple;
}

interface Look {
  background: number;
  floor: number;
  section: number;
  light: number;
  edge: number;
}

const LOOKS: Record<"light" | "dark", Look> = {
  light: { background: 0xf7f9fb, floor: 0xdfe5eb, section: 0xc3ccd6, light: 1.7, edge: 0x1e293b },
  dark: { background: 0x151c25, floor: 0x2f3c4c, section: 0x4d5f74, light: 1.5, edge: 0x05080c },
};

export class Stage {
  readonly canvas: HTMLCanvasElement;
  private readonly renderer: three.WebGLRenderer;
  private readonly scene = new three.Scene();
  private readonly camera = new three.PerspectiveCamera((FOV * 180) / Math.PI, 1, 0.01, 1000);
  private readonly controls: OrbitControls;
  private readonly nodes: three.Group[] = [];
  private readonly spheres: { center: three.Vector3; radius: number }[] = [];
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

  constructor(
    private readonly data: SceneData,
    private readonly overlay: HTMLElement,
  ) {
    const software = draws_by_software();
    this.renderer = new three.WebGLRenderer({ antialias: !software, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = !software;
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
    for (const [index, body] of data.bodies.entries()) this.add_body(index, body);
    this.add_lights();
    this.add_axes();
    this.set_dark(false);
  }

  set_dark(dark: boolean): void {
    const look = LOOKS[dark ? "dark" : "light"];
    this.scene.background = new three.Color(look.background);
    this.scene.fog = new three.Fog(look.background); // the floor ends in it, not at an edge
    this.sun.intensity = look.light;
    if (this.floor) this.extras.remove(this.floor);
    this.floor = this.make_floor(look);
    if (this.floor) this.extras.add(this.floor);
    this.scene.traverse((o) => {
      if (o instanceof three.LineSegments && o.userData.edge) {
        (o.material as three.LineBasicMaterial).color.set(look.edge);
      }
    });
  }

  show_labels(shown: boolean): void {
    this.overlay.hidden = !shown;
  }

  show_frames(shown: boolean): void {
    this.frames.visible = shown;
    for (const node of this.nodes) for (const o of node.children) if (o.userData.frame) o.visible = shown;
  }

  show_trails(shown: boolean): void {
    for (const trail of this.trails) trail.line.visible = shown;
  }

  clear_trails(): void {
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

  /** Let the camera show all of the mechanism again. */
  fit(): void {
    this.taken = false;
    this.low = [...this.data.low];
    this.high = [...this.data.high];
    this.followed = this.data.followed;
    this.place_camera(1);
  }

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
    if (grow) for (const trail of this.trails) this.grow_trail(trail);
  }

  /** Draw with less effort, for a machine that draws slowly: without shadows, then with larger pixels. */
  draw_simpler(): void {
    if (this.renderer.shadowMap.enabled) {
      this.renderer.shadowMap.enabled = false;
      this.sun.castShadow = false;
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

  private add_body(index: number, body: Body): void {
    const node = new three.Group();
    node.matrixAutoUpdate = false;
    node.userData.body = index;
    const bounds = new three.Box3();
    for (const piece of body.pieces) {
      const mesh = make_piece(piece, 0.011 * this.extent);
      node.add(mesh);
      mesh.updateMatrixWorld(true);
      bounds.expandByObject(mesh);
    }
    const sphere = bounds.getBoundingSphere(new three.Sphere());
    if (bounds.isEmpty()) sphere.set(new three.Vector3(), 0);
    this.spheres.push({ center: sphere.center, radius: sphere.radius });
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
    if (body.trace) this.add_trail(index, body);
  }

  private add_trail(index: number, body: Body): void {
    const geometry = new three.BufferGeometry();
    geometry.setAttribute("position", new three.BufferAttribute(new Float32Array(3 * TRAIL), 3));
    geometry.setDrawRange(0, 0);
    const material = new three.LineBasicMaterial({ color: css_color(body.color), transparent: true, opacity: 0.55 });
    const line = new three.Line(geometry, material);
    line.frustumCulled = false;
    this.scene.add(line);
    this.trails.push({ node: index, at: new three.Vector3(...(body.trace as Triple)), line, count: 0 });
  }

  private grow_trail(trail: (typeof this.trails)[number]): void {
    const places = trail.line.geometry.getAttribute("position") as three.BufferAttribute;
    if (trail.count === TRAIL) {
      (places.array as Float32Array).copyWithin(0, 3);
      trail.count--;
    }
    const p = this.nodes[trail.node].localToWorld(trail.at.clone());
    places.setXYZ(trail.count++, p.x, p.y, p.z);
    places.needsUpdate = true;
    trail.line.geometry.setDrawRange(0, trail.count);
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
    const grid = new three.GridHelper(cells * cell, cells, look.section, look.floor);
    const shade = new three.Mesh(
      new three.PlaneGeometry(cells * cell, cells * cell).rotateX(-Math.PI / 2),
      new three.ShadowMaterial({ opacity: 0.18 }),
    );
    shade.receiveShadow = true;
    floor.add(grid, shade);
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
    const toward = view_direction(this.up, this.data.normal);
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

/** Whether there is no graphics processor: then shadows and smooth edges would cost more than all the rest. */
function draws_by_software(): boolean {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** A colour of a model; gray where it is none that browsers know. */
function css_color(text: string): three.Color {
  const color = new three.Color(0x7a8594);
  if (/^#[0-9a-f]{6}$/i.test(text)) color.set(text);
  else if (text.toLowerCase() in three.Color.NAMES) color.set(text.toLowerCase());
  return color;
}

function make_piece(piece: Piece, line_radius: number): three.Object3D {
  const color = css_color(piece.color);
  const material = new three.MeshStandardMaterial({ color, roughness: 0.62, metalness: 0.05 });
  let geometry: three.BufferGeometry;
  let edges = 25;
  const group = new three.Group();
  const place = new three.Vector3(...piece.at);
  const turn = new three.Quaternion(piece.wxyz[1], piece.wxyz[2], piece.wxyz[3], piece.wxyz[0]);
  if (piece.kind === "box") {
    geometry = new three.BoxGeometry(piece.size[0], piece.size[1], piece.size[2]);
  } else if (piece.kind === "sphere") {
    geometry = new three.SphereGeometry(piece.size[0], 56, 36);
    edges = 0;
    for (const axis of ["x", "y"] as const) group.add(meridian(piece.size[0], axis, color));
  } else if (piece.kind === "cylinder") {
    geometry = new three.CylinderGeometry(piece.size[0], piece.size[0], piece.size[1], 40);
    if (piece.size[0] > 0.6 * piece.size[1]) group.add(...spokes(piece.size[0], piece.size[1], color));
    group.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), axis_vector(piece.axis));
  } else {
    const end = new three.Vector3(piece.size[0], piece.size[1], piece.size[2]);
    const along = end.clone().sub(place);
    geometry = new three.CapsuleGeometry(line_radius, along.length(), 6, 14);
    edges = 0;
    group.quaternion.setFromUnitVectors(new three.Vector3(0, 1, 0), along.clone().normalize());
    place.add(end).multiplyScalar(0.5);
  }
  const mesh = new three.Mesh(geometry, material);
  mesh.castShadow = true;
  group.add(mesh);
  if (edges) {
    const outline = new three.LineBasicMaterial({ color: 0x1e293b, transparent: true, opacity: 0.35 });
    const lines = new three.LineSegments(new three.EdgesGeometry(geometry, edges), outline);
    lines.userData.edge = true;
    group.add(lines);
  }
  group.quaternion.premultiply(turn);
  group.position.copy(place);
  return group;
}

const axis_vector = (axis: "x" | "y" | "z"): three.Vector3 =>
  new three.Vector3(axis === "x" ? 1 : 0, axis === "y" ? 1 : 0, axis === "z" ? 1 : 0);

/** A great circle on a sphere: without one its turning could not be seen. */
function meridian(radius: number, axis: "x" | "y", color: three.Color): three.Mesh {
  const geometry = new three.TorusGeometry(radius, 0.03 * radius, 8, 48);
  if (axis === "x") geometry.rotateY(Math.PI / 2);
  return new three.Mesh(geometry, new three.MeshStandardMaterial({ color: color.clone().multiplyScalar(0.55) }));
}

/** Bars across the ends of a wheel, for the same reason. */
function spokes(radius: number, length: number, color: three.Color): three.Mesh[] {
  const material = new three.MeshStandardMaterial({ color: color.clone().multiplyScalar(0.55) });
  return [0, Math.PI / 2].map((angle) => {
    const bar = new three.Mesh(new three.BoxGeometry(1.9 * radius, 1.04 * length, 0.09 * radius), material);
    bar.rotation.y = angle;
    return bar;
  });
}
