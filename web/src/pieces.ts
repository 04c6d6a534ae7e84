// Bodies as meshes: all pieces of a body are one mesh with colours at its corners, and one set of edges.

import * as three from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { type Body, type Piece, type Triple, unpack } from "./data";
import { corner_normals } from "./normals";

const DARKER = 0.55; // marks on spheres and wheels, beside the colour of the body
const EDGE_ANGLE = 25; // degrees between faces that have an edge between them

/** How finely round things are drawn: sides of a cylinder; a sphere has as many around, and two thirds of it downward;
 *  sides of the thin rings on spheres; steps of the round ends of lines. */
export interface Fineness {
  sides: number;
  ring: number;
  cap: number;
}

const FINE: Fineness = { sides: 48, ring: 6, cap: 4 };
const COARSE = { most: 20, least: 12 }; // sides, where the processor draws
const AFFORDABLE = 9000; // triangles in all there: it takes about a microsecond for each

/** As fine as can be drawn fast enough: by a processor, things are the coarser the more of them there are. */
export function fineness_for(bodies: Body[], by_processor: boolean): Fineness {
  if (!by_processor) return FINE;
  const round = bodies.flatMap((body) => body.pieces).filter((piece) => piece.kind === "sphere").length;
  const sides = Math.floor(Math.sqrt((0.5 * AFFORDABLE) / Math.max(1, round))); // a sphere with rings has about 2 sides²
  return { sides: Math.max(COARSE.least, Math.min(COARSE.most, sides)), ring: 3, cap: 2 };
}

export interface BodyParts {
  solid: three.BufferGeometry;
  edges: three.BufferGeometry | null;
}

/** A colour of a model; gray where it is none that browsers know. */
export function css_color(text: string): three.Color {
  const color = new three.Color(0x7a8594);
  if (/^#[0-9a-f]{6}$/i.test(text)) color.set(text);
  else if (text.toLowerCase() in three.Color.NAMES) color.set(text.toLowerCase());
  return color;
}

/** The geometry of a body, in its frame; null where it has no pieces. */
export async function body_parts(body: Body, line_radius: number, fineness: Fineness): Promise<BodyParts | null> {
  const solids: three.BufferGeometry[] = [];
  const edges: three.BufferGeometry[] = [];
  for (const piece of body.pieces) await add_piece(piece, line_radius, fineness, solids, edges);
  if (!solids.length) return null;
  return { solid: mergeGeometries(solids), edges: edges.length ? mergeGeometries(edges) : null };
}

async function add_piece(
  piece: Piece,
  line_radius: number,
  { sides, ring, cap }: Fineness,
  solids: three.BufferGeometry[],
  edges: three.BufferGeometry[],
): Promise<void> {
  const color = css_color(piece.color);
  const dark = color.clone().multiplyScalar(DARKER);
  const place = new three.Vector3(...piece.at);
  const turn = new three.Quaternion(piece.wxyz[1], piece.wxyz[2], piece.wxyz[3], piece.wxyz[0]);
  const made: [three.BufferGeometry, three.Color][] = [];
  let edged = true;
  if (piece.kind === "box") {
    made.push([new three.BoxGeometry(piece.size[0], piece.size[1], piece.size[2]), color]);
  } else if (piece.kind === "sphere") {
    made.push([new three.SphereGeometry(piece.size[0], sides, Math.round((2 * sides) / 3)), color]);
    for (const axis of ["x", "y"] as const) made.push([meridian(piece.size[0], axis, sides, ring), dark]);
    edged = false;
  } else if (piece.kind === "cylinder") {
    made.push([new three.CylinderGeometry(piece.size[0], piece.size[0], piece.size[1], sides), color]);
    if (piece.size[0] > 0.6 * piece.size[1]) for (const bar of spokes(piece.size[0], piece.size[1])) made.push([bar, dark]);
    turn.multiply(new three.Quaternion().setFromUnitVectors(new three.Vector3(0, 1, 0), axis_vector(piece.axis)));
  } else if (piece.kind === "line") {
    const end = new three.Vector3(piece.size[0], piece.size[1], piece.size[2]);
    const along = end.clone().sub(place);
    made.push([new three.CapsuleGeometry(line_radius, along.length(), cap, Math.max(8, Math.round(sides / 3))), color]);
    turn.multiply(new three.Quaternion().setFromUnitVectors(new three.Vector3(0, 1, 0), along.clone().normalize()));
    place.add(end).multiplyScalar(0.5);
    edged = false;
  } else {
    made.push([await mesh_geometry(piece), color]);
  }
  const at = new three.Matrix4().compose(place, turn, new three.Vector3(1, 1, 1));
  if (edged && piece.kind !== "mesh") {
    const lines = new three.EdgesGeometry(made[0][0], EDGE_ANGLE);
    edges.push(lines.applyMatrix4(at));
  }
  for (const [geometry, tint] of made) solids.push(paint(geometry, tint).applyMatrix4(at));
}

/** A geometry with what all pieces have: places, normals, colours and an index. */
function paint(geometry: three.BufferGeometry, color: three.Color): three.BufferGeometry {
  geometry.deleteAttribute("uv");
  const count = geometry.getAttribute("position").count;
  if (!geometry.index) geometry.setIndex(Array.from({ length: count }, (_, i) => i));
  const colors = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) color.toArray(colors, 3 * i);
  return geometry.setAttribute("color", new three.BufferAttribute(colors, 3));
}

/** A mesh: corners as 16-bit multiples of `size`, triangles by the numbers of their corners. */
async function mesh_geometry(piece: Piece): Promise<three.BufferGeometry> {
  const corners = new Uint16Array((await unpack(piece.corners as string)).buffer);
  const triangles = new Uint16Array((await unpack(piece.triangles as string)).buffer);
  const places = new Float32Array(corners.length);
  for (let i = 0; i < corners.length; i++) places[i] = piece.size[i % 3] * corners[i];
  const geometry = new three.BufferGeometry();
  geometry.setAttribute("position", new three.BufferAttribute(places, 3));
  geometry.setIndex(new three.BufferAttribute(triangles, 1));
  const solid = geometry.toNonIndexed(); // a corner has a light of its own in each triangle
  return solid.setAttribute("normal", new three.BufferAttribute(corner_normals(places, triangles), 3));
}

const axis_vector = (axis: "x" | "y" | "z"): three.Vector3 =>
  new three.Vector3(axis === "x" ? 1 : 0, axis === "y" ? 1 : 0, axis === "z" ? 1 : 0);

/** A great circle on a sphere: without one its turning could not be seen. */
function meridian(radius: number, axis: "x" | "y", sides: number, ring: number): three.BufferGeometry {
  const geometry = new three.TorusGeometry(radius, 0.03 * radius, ring, sides);
  if (axis === "x") geometry.rotateY(Math.PI / 2);
  return geometry;
}

/** Bars across the ends of a wheel, for the same reason. */
function spokes(radius: number, length: number): three.BufferGeometry[] {
  return [0, Math.PI / 2].map((angle) => new three.BoxGeometry(1.9 * radius, 1.04 * length, 0.09 * radius).rotateY(angle));
}

/** The points of a solid, in its body's frame (m). */
export function points_of(solid: three.BufferGeometry): Triple[] {
  const at = solid.getAttribute("position");
  return Array.from({ length: at.count }, (_, i) => [at.getX(i), at.getY(i), at.getZ(i)]);
}
