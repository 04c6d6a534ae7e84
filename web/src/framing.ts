// Where a camera has to stand so that a box is seen whole.

export type Vector = [number, number, number];

export const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
export const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const plus = (a: Vector, b: Vector, s = 1): Vector => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
export const unit = (a: Vector): Vector => {
  const length = Math.hypot(...a) || 1;
  return [a[0] / length, a[1] / length, a[2] / length];
};

/** Corners of a box. */
export function corners(low: Vector, high: Vector): Vector[] {
  const found: Vector[] = [];
  for (const x of [low[0], high[0]])
    for (const y of [low[1], high[1]]) for (const z of [low[2], high[2]]) found.push([x, y, z]);
  return found;
}

/** The distance from `target`, against the direction `toward` the camera, at which all points are in view. */
export function distance(points: Vector[], target: Vector, toward: Vector, up: Vector, fov: number, aspect: number): number {
  const right = unit(cross(up, toward));
  const above = cross(toward, right);
  const tall = Math.tan(fov / 2);
  const wide = tall * aspect;
  let most = 0;
  for (const point of points) {
    const p = minus(point, target);
    const depth = dot(p, toward);
    most = Math.max(most, depth + Math.abs(dot(p, right)) / wide, depth + Math.abs(dot(p, above)) / tall);
  }
  return most;
}

/** The direction towards the camera: the normal of a plane motion, from above at an angle, or from the side. */
export function view_direction(up: Vector, normal: Vector | null): Vector {
  const other: Vector = Math.abs(up[2]) < 0.8 ? [0, 0, 1] : [0, -1, 0];
  const front = unit(plus(other, up, -dot(other, up)));
  if (normal) {
    if (Math.abs(dot(normal, up)) < 0.9) return unit(normal);
    return unit(plus(plus([0, 0, 0], front, 0.55), up, 0.84));
  }
  const right = cross(up, front);
  return unit(plus(plus(plus([0, 0, 0], front, 0.8), right, 0.45), up, 0.42));
}

/** Sides from which a mechanism is looked at. */
export const PRESETS = ["standard", "front", "side", "top", "oblique"] as const;
export type Preset = (typeof PRESETS)[number];

/** The direction towards the camera for a side. The front is the plane of a plane motion, if it stands upright. */
export function preset_direction(preset: Preset, up: Vector, normal: Vector | null): Vector {
  if (preset === "standard") return view_direction(up, normal);
  if (preset === "oblique") return view_direction(up, null);
  const other: Vector = Math.abs(up[2]) < 0.8 ? [0, 0, 1] : [0, -1, 0];
  const upright = normal !== null && Math.abs(dot(normal, up)) < 0.9;
  const front = unit(upright ? normal : plus(other, up, -dot(other, up)));
  if (preset === "front") return front;
  if (preset === "side") return cross(up, front);
  return unit(plus(up, front, 1e-3)); // not quite from above, so that it is clear what is up in the picture
}
