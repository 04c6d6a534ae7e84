"""Meshes as convex bodies that touch: the vertices of the convex hull of an STL, OBJ or COLLADA file.

Contact knows places that touch a surface. Of a mesh these are the vertices of its convex hull; of many, those are kept
whose hull misses the least, and what it misses is said. Reading meshes takes the packages trimesh and, for COLLADA,
pycollada, extras.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from ..errors import InputError, visible
from .collada import Surface, read_collada
from .mechanism import Mechanism
from .records import Shape
from .urdf.visuals import Packages, package_folders

COLLADA = ".dae"
SUFFIXES = (".stl", ".obj", COLLADA)
MOST_BYTES = 64_000_000
"""A file that is longer is no mesh to touch with."""

VERTICES = 32
"""Vertices that are kept where no number is given."""

MOST_VERTICES = 1000
"""More vertices than any contact problem takes."""

Array = np.ndarray[Any, np.dtype[np.float64]]
Triangles = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class ConvexHull:
    """Vertices (m) of a convex body, in the frame that its mesh was placed in: those kept of so many that the hull of
    the mesh `file` has. The hull of the mesh lies within `distance` (m) of theirs, which lies inside.

    >>> import trimesh
    >>> _ = trimesh.creation.box((0.2, 0.1, 0.1)).export("block.stl")
    >>> hull = kane.convex_hull("block.stl")
    >>> hull
    <ConvexHull of block.stl: all 8 vertices>
    >>> m = kane.Model("block", gravity=(0, 0, -9.81))
    >>> block = m.body("block", mass=1.0, inertia={"xx": 1e-3, "yy": 1e-3, "zz": 1e-3})
    >>> joint = m.joint("free", "free", "ground", "block")
    >>> len(m.contact("floor", "block", "ground", shape=hull.shape, friction=0.3))
    8
    """

    file: str
    vertices: tuple[tuple[float, float, float], ...]
    of: int
    distance: float

    @property
    def shape(self) -> dict[str, Any]:
        """The shape that a contact is given."""
        return {"vertices": [list(place) for place in self.vertices]}

    def __repr__(self) -> str:
        if len(self.vertices) == self.of:
            return f"<ConvexHull of {self.file}: all {self.of} vertices>"
        kept = f"{len(self.vertices)} of {self.of} vertices"
        return f"<ConvexHull of {self.file}: {kept}, {self.distance:.3g} m too small at most>"


def convex_hull(mesh: Shape | str | Path, *, vertices: int = VERTICES, scale: float = 1.0) -> ConvexHull:
    """The convex hull of a mesh, by at most so many `vertices`: of a file (.stl, .obj, .dae) whose numbers are metres
    when multiplied by `scale`, or of a mesh that a body is drawn with, as it stands there.

    >>> import trimesh
    >>> _ = trimesh.creation.icosphere(subdivisions=3, radius=100).export("ball.stl")
    >>> kane.convex_hull("ball.stl", vertices=60, scale=1e-3).of
    642
    """
    if not isinstance(vertices, int) or isinstance(vertices, bool) or not 4 <= vertices <= MOST_VERTICES:
        raise InputError(f"vertices = {vertices!r}: give a whole number from 4 to {MOST_VERTICES}")
    if isinstance(mesh, Shape):
        path, name = _path_of(mesh), mesh.file
        places = _in_body(mesh, _read(path).places)
    else:
        if not isinstance(cast("object", mesh), str | Path):
            raise InputError(
                f"{mesh!r} is no mesh\n    fix: give the path of an .stl or .obj file, or a shape of a body"
            )
        path, name = Path(mesh), Path(mesh).name
        places = _read(path).places
    if not (isinstance(scale, int | float) and np.isfinite(scale) and scale > 0.0):
        raise InputError(f"scale = {scale!r}: give a positive number, 1e-3 for a mesh in millimetres")
    return _reduce(name, scale * places, vertices)


def missing_meshes(mechanism: Mechanism, packages: Packages = ()) -> str:
    """A sentence about meshes that cannot be shown since nobody knows where they are, which names the first of them,
    and what to do about each kind: those without a package, those of packages that are in no folder of `packages`, and
    those that are missing in theirs. Empty if there are none."""
    names = {s.file for body in mechanism.bodies.values() for s in body.shapes if s.kind == "mesh" and not s.path}
    if not names:
        return ""
    plain, unknown, gone = [n for n in sorted(names) if not n.startswith(_PACKAGE)], list[str](), list[str]()
    absent, there = set[str](), set[str]()  # packages
    for name in sorted(names.difference(plain)):
        package, _, rest = name.removeprefix(_PACKAGE).partition("/")
        place = next((folder for folder in package_folders(package, packages) if folder.is_dir()), None)
        (absent if place is None else there).add(package)
        (unknown if place is None else gone).append(name if place is None else str(place / rest))
    fixes = list[str]()
    if plain:
        fixes.append(f"put {_list_first(plain)} into the folder of the robot, where its file says")
    if unknown:
        fixes.append(f"name the folder that holds {_packages(absent)}, --packages FOLDER or packages=[FOLDER]")
    if gone:
        fixes.append(f"put {_list_first(gone)} there, or name another folder that holds {_packages(there)}")
    several = "mesh" if len(names) == 1 else f"{len(names)} meshes"
    what = f"{several} not found, left out of pictures: {_list_first([*plain, *unknown, *gone])}"
    return f"{what}\n    fix: {'; '.join(fixes)}"


_PACKAGE = "package://"
_NAMED = 3  # meshes that are named; of others it is said how many they are


def _list_first(names: Sequence[str]) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return " ".join(visible(", ".join(names[:_NAMED])).split()) + more


def _packages(names: Collection[str]) -> str:
    return f"package{'s' * (len(names) > 1)} {_list_first(sorted(names))}"


def mesh_surface(shape: Shape) -> Surface:
    """A mesh that a body is drawn with (m), in the frame of the body; the corners of a triangle go counter-clockwise
    seen from outside, also where factors mirror it."""
    found = _read(_path_of(shape))
    triangles = found.triangles[:, ::-1] if np.prod(np.sign(shape.size)) < 0 else found.triangles
    return replace(found, places=_in_body(shape, found.places), triangles=triangles)


def _in_body(mesh: Shape, places: Array) -> Array:
    return _turn(mesh.wxyz, places * np.array(mesh.size)) + np.array(mesh.at)


def _path_of(shape: Shape) -> Path:
    if shape.kind != "mesh":
        raise InputError(f"a {shape.kind} is no mesh: it touches as it is")
    if not shape.path:
        raise InputError(
            f"mesh '{shape.file}' lies outside the folder of the model, or is not there\n"
            "    fix: name its package by packages=…, or give the path of the file"
        )
    return Path(shape.path)


def _read(path: Path) -> Surface:
    """A mesh in its own units, those of COLLADA in metres and with colours."""
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(f"{path}: is no mesh that can be read\n    fix: give one of {', '.join(SUFFIXES)}")
    if path.suffix.lower() == COLLADA:
        return _check(path, _open(path, lambda stream: read_collada(stream.read(), str(path))))
    try:
        import trimesh  # an extra
    except ImportError:
        raise InputError("reading a mesh takes the package trimesh\n    fix: pip install 'kane[meshes]'") from None

    def load(stream: BinaryIO) -> Surface:
        kind = path.suffix.lower()[1:]
        loaded: Any = trimesh.load(stream, file_type=kind, force="mesh", process=False, skip_materials=True)
        faces = np.array(loaded.faces, dtype=np.int64).reshape(-1, 3)
        return Surface(np.array(loaded.vertices, dtype=np.float64), faces, np.full(len(faces), ""))

    return _check(path, _open(path, load))


def _open(path: Path, read: Callable[[BinaryIO], Surface]) -> Surface:
    """What is read from a file, if it is not too long; whatever goes wrong becomes a sentence."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"{path}: has more than {MOST_BYTES / 1e6:g} MB\n    fix: simplify the mesh")
        with path.open("rb") as stream:
            return read(stream)
    except InputError:
        raise
    except Exception as error:  # whatever a damaged file does to a reader that is not ours
        raise InputError(f"{path}: cannot be read as a mesh: {type(error).__name__}: {error}") from None


def _check(path: Path, found: Surface) -> Surface:
    """The mesh; refuses what is none."""
    places = found.places
    if places.ndim != 2 or places.shape[1:] != (3,) or len(places) < 4 or not np.all(np.isfinite(places)):
        raise InputError(f"{path}: has no four vertices with finite places: it is no mesh")
    return found


def _turn(wxyz: tuple[float, float, float, float], places: Array) -> Array:
    """Places turned by a unit quaternion."""
    w, v = wxyz[0], np.array(wxyz[1:])
    across = 2.0 * np.cross(v, places)
    return places + w * across + np.cross(v, across)


def _reduce(name: str, places: Array, count: int) -> ConvexHull:
    """The hull of places by at most `count` of its vertices: from a tetrahedron on, always the one furthest outside."""
    from scipy import spatial  # pyright: ignore[reportMissingTypeStubs] # slow to import

    hull: Any = cast("Any", spatial).ConvexHull
    try:
        corners = np.unique(places[hull(places).vertices], axis=0)
    except spatial.QhullError:
        raise InputError(
            f"{name}: is flat: its convex hull has no volume\n    fix: give its corners as vertices"
        ) from None
    if count >= len(corners):
        return ConvexHull(name, tuple(map(tuple, corners.tolist())), len(corners), 0.0)
    chosen = _tetrahedron(corners)
    while len(chosen) < count:
        faces = hull(corners[chosen]).equations
        outside = (corners @ faces[:, :3].T + faces[:, 3]).max(axis=1)
        outside[chosen] = -np.inf
        chosen.append(int(np.argmax(outside)))
    kept = corners[sorted(chosen)]
    left = np.delete(corners, chosen, axis=0)
    distance = max((_distance(kept, place) for place in left), default=0.0)
    return ConvexHull(name, tuple(map(tuple, kept.tolist())), len(corners), distance)


def _tetrahedron(corners: Array) -> list[int]:
    """Four corners that are far apart: the first, the furthest from it, from the line, and from the plane."""
    first = 0
    second = int(np.argmax(np.linalg.norm(corners - corners[first], axis=1)))
    along = corners[second] - corners[first]
    across = np.linalg.norm(np.cross(corners - corners[first], along), axis=1)
    third = int(np.argmax(across))
    normal = np.cross(along, corners[third] - corners[first])
    return [first, second, third, int(np.argmax(np.abs((corners - corners[first]) @ normal)))]


def _distance(kept: Array, place: Array) -> float:
    """How far a place is from the convex hull of others: |Σ λ v − p| least with λ ≥ 0, Σ λ = 1."""
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs] # slow to import

    arms = (kept - place).T
    size = 1e3 * float(np.abs(arms).max())
    weights = cast("Any", optimize).nnls(np.vstack([arms, np.full(len(kept), size)]), np.array([0.0, 0.0, 0.0, size]))[
        0
    ]
    return float(np.linalg.norm(arms @ weights) / weights.sum())


__all__ = ["ConvexHull", "Surface", "Triangles", "convex_hull", "mesh_surface"]
