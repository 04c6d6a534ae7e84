// Normals of a mesh for its light, as drawings have them (viewer/drawings.py): round where it is round, with edges.

const EDGE = 0.7; // cosine of the angle between two triangles beyond which there is an edge between them

/** Unit normals at the corners of triangles, nine numbers for each: means of those of the triangles around, by their
 *  angles there, as far as there is no edge between them. */
export function corner_normals(places: ArrayLike<number>, triangles: ArrayLike<number>): Float32Array {
  const sides = triangles.length;
  const own = new Float64Array(sides); // of each triangle, its unit normal
  const angles = new Float64Array(sides);
  for (let at = 0; at < sides; at += 3) {
    const p = [0, 1, 2].map((k) => [0, 1, 2].map((i) => places[3 * triangles[at + k] + i]));
    const normal = unit(cross(minus(p[1], p[0]), minus(p[2], p[0])));
    for (let k = 0; k < 3; k++) {
      own[at + k] = normal[k];
      const there = minus(p[(k + 1) % 3], p[k]);
      const back = minus(p[(k + 2) % 3], p[k]);
      angles[at + k] = Math.atan2(Math.hypot(...cross(there, back)), dot(there, back));
    }
  }
  const around: number[][] = Array.from({ length: places.length / 3 }, () => []);
  for (let side = 0; side < sides; side++) around[triangles[side]].push(side);
  const found = new Float32Array(3 * sides);
  const normal_of = (side: number) => own.subarray(side - (side % 3), side - (side % 3) + 3);
  for (let side = 0; side < sides; side++) {
    const mine = normal_of(side);
    const sum = [0, 0, 0];
    for (const other of around[triangles[side]]) {
      const beside = normal_of(other);
      if (other !== side && dot(mine, beside) <= EDGE) continue;
      for (let i = 0; i < 3; i++) sum[i] += angles[other] * beside[i];
    }
    found.set(Math.hypot(...sum) > 0 ? unit(sum) : mine, 3 * side);
  }
  return found;
}

type Numbers = ArrayLike<number>;

const minus = (a: Numbers, b: Numbers) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a: Numbers, b: Numbers) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a: Numbers, b: Numbers) => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

function unit(a: number[]): number[] {
  const length = Math.hypot(...a) || 1;
  return a.map((x) => x / length);
}
