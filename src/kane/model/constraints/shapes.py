"""Shapes that touch and surfaces that are touched, as a model file or a mapping gives them.

`{sphere: r, at: [x, y, z]}` and so on: one word with its sizes (m), and where it stands in its body. Sizes and places
may be expressions in parameters. The shapes that a body is drawn with say the same in numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from ...errors import suggestion
from ...graph import Expr
from ...space import rotations
from ...space.algebra import Matrix, Triple, minus, plus, scaled, times
from ..records import Body, Shape
from .equations import curve_exprs

if TYPE_CHECKING:
    from ..builder import Builder

SIZES: Mapping[str, int] = {"sphere": 1, "disc": 1, "cylinder": 2, "capsule": 2, "box": 3, "ellipsoid": 3}
"""Words of shapes that have sizes, with how many: radius; radius, length; lengths of edges; semi-axes (m)."""

WORDS = ("point", *SIZES, "vertices", "plane", "surface")
"""All words of shapes."""

OPTIONS: Mapping[str, tuple[str, ...]] = {
    "point": (),
    "sphere": ("at", "inside"),
    "disc": ("at", "axis", "crown"),
    "cylinder": ("at", "axis", "inside"),
    "capsule": ("at", "axis"),
    "box": ("at", "rotation"),
    "ellipsoid": ("at", "rotation"),
    "vertices": (),
    "plane": ("at",),
    "surface": (),
}
"""What else may be said of a shape."""

_DRAWN = ("sphere", "box", "cylinder", "line")
"""Shapes of drawings that can touch; of a mesh only the picture is known."""


@dataclass(frozen=True, slots=True)
class ContactShape:
    """A shape in the frame of its body, by its word in `WORDS`.

    `size` as in `SIZES`; `at` (m) is its middle, or a point of a plane; `axis` is the unit vector along a cylinder, a
    capsule or the axle of a disc, or the normal of a plane; `rotation` turns a box or an ellipsoid; `crown` (m) is the
    radius of a disc's rim in cross-section; `inside` says that it is a hollow, touched from within. `vertices` are
    places (m) of a convex body; `form` is f(x, y, z, t), zero on a surface and positive where the other body may be.
    """

    word: str
    size: tuple[Expr, ...]
    at: Triple
    axis: Triple
    rotation: Matrix
    crown: Expr
    inside: bool = False
    vertices: tuple[Triple, ...] = ()
    form: Expr | None = None


def make_shape(build: Builder, given: Mapping[str, Any] | ContactShape, field: str) -> ContactShape:
    """The shape of a mapping, judged; of one that was made before, judged again."""
    spec = describe_shape(given) if isinstance(given, ContactShape) else given
    if not isinstance(cast("object", spec), Mapping):
        what, fix = f"{spec!r} is no shape", "give {'sphere': r}, {'box': (x, y, z)}, {'plane': 'z'}, …"
        raise build.refuse(what, fix=fix, field=field)
    words = [word for word in spec if word in WORDS]
    if len(words) != 1:
        found = f"made of {', '.join(map(str, spec)) or 'nothing'}"
        raise build.refuse(f"a shape {found}", f"a shape is one of {', '.join(WORDS)}", "name one", field)
    (word,) = words
    if odd := next((key for key in spec if key != word and key not in OPTIONS[word]), None):
        what = f"a {word} has no '{odd}'"
        raise build.refuse(what, fix=suggestion(str(odd), (word, *OPTIONS[word])), field=field)
    return _SpecReader(build, field, word, spec).shape()


def describe_shape(shape: ContactShape) -> dict[str, Any]:
    """The mapping that makes a shape, without what is at its default."""
    value: Any = shape.size[0] if len(shape.size) == 1 else list(shape.size)
    if shape.word == "point":
        return {"point": list(shape.at)}
    if shape.word == "vertices":
        return {"vertices": [list(place) for place in shape.vertices]}
    if shape.word == "surface":
        return {"surface": shape.form}
    options = OPTIONS[shape.word]
    spec: dict[str, Any] = {shape.word: shape.axis if shape.word == "plane" else value}
    if any(not x.is_zero for x in shape.at):
        spec["at"] = list(shape.at)
    if "axis" in options and shape.axis != rotations.unit(shape.crown.graph, 2):
        spec["axis"] = shape.axis
    if "rotation" in options and shape.rotation != rotations.identity(shape.crown.graph):
        spec["rotation"] = {"matrix": shape.rotation}
    if not shape.crown.is_zero:
        spec["crown"] = shape.crown
    return {**spec, "inside": True} if shape.inside else spec


@dataclass(frozen=True, slots=True)
class _SpecReader:
    """Reads the mapping of one shape."""

    build: Builder
    field: str
    word: str
    spec: Mapping[str, Any]

    def shape(self) -> ContactShape:
        build, word = self.build, self.word
        origin = (0.0, 0.0, 0.0)
        at = build.fixed_triple(self.spec[word] if word == "point" else self.spec.get("at", origin), self.field)
        axis = build.axis(self.spec[word] if word == "plane" else self.spec.get("axis", "z"), self.field)
        rotation = build.rotation(self.spec.get("rotation"), self.field)
        crown = build.positive(self.spec.get("crown", 0.0), self.field, "≥ 0", "crown")
        inside = build.flag(self.spec.get("inside", False), "inside")
        size: tuple[Expr, ...] = self.sizes() if word in SIZES else ()
        if size and build.number(crown) > build.number(size[0]):
            what, because = f"crown {crown!r} m, radius {size[0]!r} m", "the crown of a disc does not exceed its radius"
            raise build.refuse(what, because, "give the outer radius of the disc", self.field)
        vertices = self.vertices() if word == "vertices" else ()
        form = self.form() if word == "surface" else None
        return ContactShape(word, size, at, axis, rotation, crown, inside, vertices, form)

    def sizes(self) -> tuple[Expr, ...]:
        given, count = self.spec[self.word], SIZES[self.word]
        values = _items(given) or [given]
        if len(values) != count:
            named = {1: "one size, its radius", 2: "two sizes, radius and length", 3: "three sizes"}[count]
            raise self.build.refuse(f"{len(values)} sizes are given", f"a {self.word} has {named}", field=self.field)
        return tuple(self.build.positive(v, self.field, called=f"size of a {self.word}") for v in values)

    def vertices(self) -> tuple[Triple, ...]:
        places = _items(self.spec["vertices"])
        if not places:
            fix = "give a list of places (x, y, z)"
            raise self.build.refuse(f"vertices {self.spec['vertices']!r}", fix=fix, field=self.field)
        return tuple(self.build.fixed_triple(place, self.field) for place in places)

    def form(self) -> Expr:
        forms = curve_exprs(self.build, self.spec["surface"])
        if len(forms) != 1:
            raise self.build.refuse(f"{len(forms)} equations are given", "a surface has one", field=self.field)
        return forms[0]


def _items(given: Any) -> list[Any]:
    """The items of a list, a tuple or an array; none of anything else."""
    values: Any = given.tolist() if hasattr(given, "tolist") else given
    return [*values] if type(values) in (list, tuple) else []


def drawn_shapes(build: Builder, body: Body) -> list[ContactShape]:
    """The shapes that a body is drawn with, as far as they can touch; the mass centre of a particle without any."""
    graph = build.graph
    zero, still = graph.const(0.0), rotations.identity(graph)
    drawn = [shape for shape in body.shapes if shape.kind in _DRAWN]
    build.check_room(len(drawn))
    made = [_drawn_shape(build, shape) for shape in drawn]
    if not made and all(e.is_zero for row in body.inertia for e in row) and body is not build.ground:
        made = [ContactShape("point", (), body.center, rotations.unit(graph, 2), still, zero)]
    return made


def _drawn_shape(build: Builder, shape: Shape) -> ContactShape:
    graph = build.graph
    turn = rotations.quaternion([graph.const(e) for e in shape.wxyz])
    axis = times(turn, rotations.unit(graph, "xyz".index(shape.axis)))
    at, size = rotations.triple(graph, shape.at), tuple(graph.const(s) for s in shape.size)
    zero = graph.const(0.0)
    if shape.kind == "line":
        end = rotations.triple(graph, shape.size)
        return ContactShape("vertices", (), at, axis, turn, zero, vertices=(at, end))
    return ContactShape(shape.kind, size, at, axis, turn, zero)


def corners(shape: ContactShape) -> list[Triple]:
    """Given vertices, or the corners of a box (m), in the order −−−, −−+, −+−, … of their signs along x, y, z."""
    if shape.word == "vertices":
        return list(shape.vertices)
    x, y, z = (0.5 * s for s in shape.size)
    signs = [(i, j, k) for i in (-1.0, 1.0) for j in (-1.0, 1.0) for k in (-1.0, 1.0)]
    return [plus(shape.at, times(shape.rotation, (i * x, j * y, k * z))) for i, j, k in signs]


def ends(shape: ContactShape) -> tuple[Triple, Triple]:
    """The middles of both ends of a cylinder or a capsule (m)."""
    half = scaled(0.5 * shape.size[1], shape.axis)
    return minus(shape.at, half), plus(shape.at, half)
