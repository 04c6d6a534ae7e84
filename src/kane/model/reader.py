"""From the tree of a model file to a Mechanism, collecting every fault on the way.

An entry that is faulty is left out or replaced by a harmless stand-in, so that one fault is reported once and the
rest of the file is still judged. Sections are read in the order in which they depend on each other.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from ..errors import ModelError, Problem
from ..graph import Expr
from ..space import Vector
from ..space.algebra import Triple
from .document import Node, problem, shortened, words
from .mechanism import INERTIA, JOINT_TYPES, Mechanism, suggestion
from .records import Shape

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)
Value = TypeVar("Value")

SECTIONS = (
    "kane",
    "extends",
    "name",
    "about",
    "gravity",
    "parameters",
    "coordinates",
    "extra_coordinates",
    "bodies",
    "joints",
    "frames",
    "points",
    "speeds",
    "loads",
    "controls",
    "initial",
)
VERSION = "1"
BODY = ("mass", "center", "inertia", "about", "shapes", "particle", "frame", "origin")
PLACEMENT = ("at", "rotation", "child_at", "child_rotation")
JOINT_OPTIONS = ("axis", "pitch", "sequence", "normal", "velocity")
JOINT = (
    *("type", "parent", "child", *PLACEMENT, *JOINT_OPTIONS),
    *("coordinate", "coordinates", "speed", "speeds", "initial"),
)
ROTATION = ("axis", "angle", "euler", "angles", "quaternion", "matrix")
SHAPES = {"box": 3, "cylinder": 2, "sphere": 1, "line": 3}
LOADS: Mapping[str, tuple[str, ...]] = {
    "force": ("body", "at", "frame", "reaction"),
    "torque": ("body", "frame", "reaction"),
    "spring": ("at", "stiffness", "damping", "rest"),
    "joint_spring": ("stiffness", "damping", "rest", "index"),
    "effort": ("joint", "index"),
}
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?\.?(?:nan|inf|infinity)", re.IGNORECASE)
_INDEX = re.compile(r"[0-9]{1,6}")
_WORD = re.compile(r"[^\W\d]\w*")
_COLOR = re.compile(r"#[0-9a-fA-F]{6}|[a-z]{1,30}")


class _Lost(Exception):
    """Something could not be read; why has been noted."""


class Reader:
    """One reading of one file."""

    def __init__(self, root: Node):
        self.root = root
        self.found: list[tuple[int, int, Problem]] = []  # (rank of the file, line, problem)
        self.sources: dict[str, int] = {}
        self.lost_words: set[str] = set()  # symbols of entries that were left out
        self.lost: set[tuple[str, str]] = set()  # (kind, name) of entries that were left out
        self.places: dict[str, tuple[str, int]] = {}  # "body 'A'" → where it stands
        self.m = Mechanism()

    # faults ------------------------------------------------------------------------------------------------------

    def note(self, source: str, line: int, where: str, what: str, law: str = "", mend: str = "") -> None:
        rank = self.sources.setdefault(source, len(self.sources))
        self.found.append((rank, line, problem(source, line, where, what, law, mend)))

    def refuse(self, node: Node, where: str, what: str, law: str = "", mend: str = "") -> _Lost:
        self.note(node.source, node.line, where, what, law, mend)
        return _Lost()

    def located(self, error: ModelError, source: str, line: int) -> None:
        """Note the problems of the model itself at a line of the file."""
        prefix = self.m.where("")
        for p in error.problems:
            self.note(source, line, p.where.removeprefix(prefix), p.what, p.law, p.mend)

    def attempt(self, node: Node, function: Callable[..., Value], *args: Any, **options: Any) -> Value:
        """What `function` returns; its problems are noted at `node`."""
        try:
            return function(*args, **options)
        except ModelError as error:
            self.located(error, node.source, node.line)
            raise _Lost from None

    def raise_problems(self) -> None:
        if self.found:
            raise ModelError([p for _, _, p in sorted(self.found, key=lambda f: f[:2])])

    # words and numbers -------------------------------------------------------------------------------------------

    def text(self, node: Node, where: str) -> str:
        if not isinstance(node.value, str) or not node.value:
            raise self.refuse(node, where, f"expected a word, found {node.kind}")
        return node.value

    def items(self, node: Node, where: str, count: int | None = None) -> tuple[Node, ...]:
        if not isinstance(node.value, tuple) or count not in (None, len(node.value)):
            found = f"a list of {len(node.value)}" if isinstance(node.value, tuple) else node.kind
            raise self.refuse(node, where, f"expected a list{'' if count is None else f' of {count}'}, found {found}")
        return node.value

    def names(self, node: Node, where: str) -> list[str]:
        return [self.text(item, where) for item in self.items(node, where)]

    def quantity(self, node: Node, where: str) -> Expr:
        """A number, or an expression over the names of the model."""
        text = node.value
        if not isinstance(text, str) or not text.strip() or text.strip() in ("~", "null"):
            raise self.refuse(node, where, f"expected a number or an expression, found {node.kind}")
        text = text.strip()
        is_number = _NUMBER.fullmatch(text) is not None
        if _NOT_FINITE.fullmatch(text) or (is_number and not math.isfinite(float(text))):
            raise self.refuse(node, where, f"'{shortened(text)}' is not a finite number", mend="give a finite number")
        if is_number:
            return self.m.graph.const(float(text))
        if self.lost_words and not self.lost_words.isdisjoint(_WORD.findall(text)):
            raise _Lost  # it needs a name whose own fault has been noted
        return self.attempt(node, self.m.scalar, text, where)

    def number(self, node: Node, where: str) -> float:
        """A quantity that depends on parameters only, at their defaults."""
        expr = self.quantity(node, where)
        self.attempt(node, self.m.constant, [expr], where)
        return self.attempt(node, self.m.number, expr, where)

    def index(self, node: Node, where: str) -> int:
        text = self.text(node, where)
        if not _INDEX.fullmatch(text):
            raise self.refuse(node, where, f"'{shortened(text)}' is not an index", mend="count from 0")
        return int(text)

    def truth(self, node: Node, where: str) -> bool:
        text = self.text(node, where)
        if text not in ("true", "false"):
            raise self.refuse(node, where, f"'{shortened(text)}' is neither true nor false")
        return text == "true"

    def triple(self, node: Node, where: str) -> Triple:
        x, y, z = (self.quantity(item, where) for item in self.items(node, where, 3))
        return (x, y, z)

    def axis(self, node: Node, where: str) -> Triple:
        value = node.value if isinstance(node.value, str) else self.triple(node, where)
        return self.attempt(node, self.m.axis, value, where)

    def rotation(self, node: Node, where: str) -> dict[str, Any]:
        """What Mechanism.rotation takes, checked."""
        given = Entry(self, node, where, "", node.line, ROTATION)
        spec = {
            "axis": given.take("axis", self.axis),
            "angle": given.take("angle", self.quantity),
            "euler": given.take("euler", self.text),
            "angles": given.take("angles", self.quantities),
            "quaternion": given.take("quaternion", self.quantities),
            "matrix": given.take("matrix", lambda n, w: [self.triple(row, w) for row in self.items(n, w, 3)]),
        }
        given.finish()
        spec = {k: v for k, v in spec.items() if v is not None}
        self.attempt(node, self.m.rotation, spec or {"nothing": None}, where)
        return spec

    def quantities(self, node: Node, where: str) -> list[Expr]:
        return [self.quantity(item, where) for item in self.items(node, where)]

    def known(self, kind: str, table: Mapping[str, Any], node: Node, where: str) -> str:
        """The name of something that the file declares."""
        name = self.text(node, where)
        if name in table or (kind == "body" and name == "ground"):
            return name
        if any((k, name) in self.lost for k in kind.split(" or ")):
            raise _Lost
        raise self.refuse(node, where, f"unknown {kind} '{shortened(name)}'", mend=suggestion(name, table))

    def body(self, node: Node, where: str) -> str:
        return self.known("body", self.m.bodies, node, where)

    def joint(self, node: Node, where: str) -> str:
        return self.known("joint", self.m.joints, node, where)

    def frame(self, node: Node, where: str) -> str:
        return self.known("frame or body", {**self.m.frames, **self.m.bodies}, node, where)

    # sections ----------------------------------------------------------------------------------------------------

    def mechanism(self, into: type[AnyMechanism]) -> AnyMechanism:
        """The whole file as an instance of `into`; raises ModelError with everything that is wrong with it."""
        file = Entry(self, self.root, "", "", self.root.line, SECTIONS)
        if file.lost:
            self.raise_problems()
        self.version(file)
        name = file.take("name", self.text) or "model"
        about = file.take("about", self.text) or ""
        self.m = m = into(name, about=about)
        for section, read in (
            ("parameters", self.read_parameter),
            ("bodies", self.read_body),
            ("extra_coordinates", self.read_coordinate),
            ("joints", self.read_joint),
        ):
            self.each(file, section, read)
        gravity = file.take("gravity", self.triple)
        if gravity is not None:
            file.take("gravity", lambda n, w: self.attempt(n, m.set_gravity, gravity))
        self.read_geometry(file)
        file.take("coordinates", lambda n, w: self.read_order(n))
        file.take("speeds", lambda n, w: self.read_speeds(n))
        self.read_velocities(file)
        self.each(file, "loads", self.read_load)
        self.each(file, "controls", self.read_control)
        self.each(file, "initial", self.read_initial)
        self.judge()
        self.raise_problems()
        return m

    def version(self, file: Entry) -> None:
        node = file.fields.get("kane")
        if node is None or node.value != VERSION:
            where = file.node if node is None else node
            found = "it does not say so" if node is None else f"found {node.kind}"
            self.note(where.source, where.line, "kane", f"a model file of version {VERSION} is expected; {found}", "", (
                f"write 'kane: {VERSION}' at the top"
            ))  # fmt: skip

    def entries(self, file: Entry, section: str) -> Iterator[tuple[str, Node, int]]:
        """(name, node, line of the name) of each entry of a section."""
        node = file.fields.get(section)
        if node is None or node.value == "":
            return
        if not isinstance(node.value, Mapping):
            self.note(
                node.source, node.line, section, f"expected named entries, found {node.kind}", "", "write name: …"
            )
            return
        for name, entry in node.value.items():
            yield name, entry, node.line_of(name)

    def each(self, file: Entry, section: str, read: Callable[[str, Node, int], None]) -> None:
        for name, node, line in self.entries(file, section):
            try:
                read(name, node, line)
            except ModelError as error:
                self.located(error, node.source, line)
                self.lose(section, name, node)
            except _Lost:
                self.lose(section, name, node)

    def lose(self, section: str, name: str, node: Node) -> None:
        """Remember what an entry that was left out would have declared, so that its users are not blamed."""
        kind = {"bodies": "body"}.get(section, section.removesuffix("s"))
        self.lost.add((kind, name))
        if section in ("parameters", "extra_coordinates", "joints"):
            self.lost_words.update(w for word in (name, *words(node)) for w in _WORD.findall(word))
            if section == "joints":
                stem = re.sub(r"\W", "_", name)
                self.lost_words.update(f"{x}_{stem}" for x in ("q", "u"))

    def read_parameter(self, name: str, node: Node, line: int) -> None:
        where = f"parameter '{name}'"
        if isinstance(node.value, Mapping):
            given = Entry(self, node, where, name, line, ("value", "free"))
            value, free = given.need("value", self.number), given.take("free", self.truth)
            given.finish()
        else:
            value, free = self.number(node, where), False
        self.m.parameter(name, value or 0.0, free=bool(free))

    def read_coordinate(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"coordinate '{name}'", name, line, ("initial", "speed"), optional=True)
        initial, speed = given.take("initial", self.number), given.take("speed", self.text)
        given.finish()
        self.m.coordinate(name, initial or 0.0, speed=speed)

    def read_body(self, name: str, node: Node, line: int) -> None:
        self.places[f"body '{name}'"] = (node.source, line)
        try:
            self.m.body(name, **self.body_options(name, node, line))
        except (ModelError, _Lost) as error:
            if isinstance(error, ModelError):
                self.located(error, node.source, line)
            try:
                self.m.body(name)  # a massless stand-in: joints may still name it
            except ModelError:
                raise _Lost from None

    def body_options(self, name: str, node: Node, line: int) -> dict[str, Any]:
        given = Entry(self, node, f"body '{name}'", name, line, BODY, optional=True)
        options = {
            "mass": given.take("mass", self.quantity),
            "center": given.take("center", self.triple),
            "inertia": given.take("inertia", self.inertia),
            "about": given.take("about", self.text),
            "shapes": given.take("shapes", self.shapes),
        }
        particle = given.take("particle", self.quantity)
        if particle is not None:
            if options["mass"] is not None or options["inertia"] is not None:
                raise self.refuse(node, given.where, "a particle has neither mass: nor inertia:", mend="particle: MASS")
            options["mass"] = particle
        given.finish()
        return {k: v for k, v in options.items() if v is not None}

    def inertia(self, node: Node, where: str) -> dict[str, Expr]:
        given = Entry(self, node, where, "", node.line, INERTIA)
        entries = {key: given.take(key, self.quantity) for key in INERTIA}
        given.finish()
        return {k: v for k, v in entries.items() if v is not None}

    def shapes(self, node: Node, where: str) -> tuple[Shape, ...]:
        return tuple(self.shape(item, where) for item in self.items(node, where))

    def shape(self, node: Node, where: str) -> Shape:
        given = Entry(self, node, where, "", node.line, (*SHAPES, "at", "axis", "color"))
        kinds = [kind for kind in SHAPES if kind in given.fields]
        if len(kinds) != 1:
            raise self.refuse(node, where, f"a shape is one of {', '.join(SHAPES)}", mend="write {sphere: 0.1}, say")
        size = given.need(kinds[0], lambda n, w: self.sizes(n, w, SHAPES[kinds[0]]))
        at = given.take("at", lambda n, w: self.sizes(n, w, 3)) or (0.0, 0.0, 0.0)
        axis, color = given.take("axis", self.text) or "z", given.take("color", self.text) or ""
        if axis not in ("x", "y", "z"):
            raise self.refuse(node, where, f"axis '{shortened(axis)}' of a shape is not x, y or z")
        if color and not _COLOR.fullmatch(color):
            raise self.refuse(node, where, f"'{shortened(color)}' is not a color", mend="write #rrggbb or a name")
        given.finish()
        if kinds[0] != "line" and any(s <= 0 for s in size or ()):
            raise self.refuse(node, where, f"{kinds[0]} {list(size or ())}", "lengths of a shape are positive")
        return Shape(kinds[0], tuple(size or ()), (at[0], at[1], at[2]), axis, color)

    def sizes(self, node: Node, where: str, count: int) -> tuple[float, ...]:
        if count == 1:
            return (self.number(node, where),)
        return tuple(self.number(item, where) for item in self.items(node, where, count))

    def read_joint(self, name: str, node: Node, line: int) -> None:
        where = f"joint '{name}'"
        self.places[where] = (node.source, line)
        given = Entry(self, node, where, name, line, JOINT)
        kind = given.need("type", self.text)
        parent, child = given.need("parent", self.body), given.need("child", self.body)
        if kind is not None and kind not in JOINT_TYPES:
            type_node = given.fields["type"]
            raise self.refuse(type_node, where, f"unknown joint type '{kind}'", mend=suggestion(kind, JOINT_TYPES))
        options: dict[str, Any] = {
            "at": given.take("at", self.triple),
            "rotation": given.take("rotation", self.rotation),
            "child_at": given.take("child_at", self.triple),
            "child_rotation": given.take("child_rotation", self.rotation),
            "coordinates": self.one_or_more(given, "coordinate", self.text),
            "speeds": self.one_or_more(given, "speed", self.text),
            "initial": given.take("initial", self.one_or_list),
            "axis": given.take("axis", self.axis),
            "pitch": given.take("pitch", self.quantity),
            "sequence": given.take("sequence", self.text),
            "normal": given.take("normal", self.text),
            "velocity": given.take("velocity", self.text),
        }
        given.finish()
        self.m.joint(name, kind, parent, child, **{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

    def one_or_list(self, node: Node, where: str) -> list[Expr]:
        return self.quantities(node, where) if isinstance(node.value, tuple) else [self.quantity(node, where)]

    def one_or_more(self, given: Entry, key: str, convert: Callable[[Node, str], str]) -> list[str] | None:
        one, more = given.take(key, convert), given.take(f"{key}s", self.names)
        if one is not None and more is not None:
            raise self.refuse(
                given.node, given.where, f"{key}: and {key}s: are both given", mend="leave out one of them"
            )
        return more if one is None else [one]

    # the analyst's level -----------------------------------------------------------------------------------------

    def read_geometry(self, file: Entry) -> None:
        """Frames, points and the bodies attached to them, each after what it is built on."""
        tasks: dict[tuple[str, str], tuple[Callable[[], None], Node, int]] = {}
        needs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        frames = {name for name, _, _ in self.entries(file, "frames")}
        points = {name for name, _, _ in self.entries(file, "points")}
        for section, read, links in (
            ("frames", self.read_frame, (("parent", "frame"),)),
            ("points", self.read_point, (("parent", "point"), ("frame", "frame"))),
            ("bodies", self.read_attachment, (("frame", "frame"), ("origin", "point"))),
        ):
            for name, node, line in self.entries(file, section):
                kind = {"bodies": "body"}.get(section, section.removesuffix("s"))
                tasks[kind, name] = (lambda r=read, n=name, d=node, k=line: r(n, d, k)), node, line
                fields = node.value if isinstance(node.value, Mapping) else {}
                needs[kind, name] = [
                    (sort if other.value in (frames if sort == "frame" else points) else "body", other.value)
                    for key, sort in links
                    if (other := fields.get(key)) is not None and isinstance(other.value, str)
                ]
        for body in self.m.bodies.values():
            if body.joint is not None:
                needs.setdefault(("body", body.name), []).append(("body", body.joint.parent.name))
        self.in_order(tasks, needs)

    def in_order(self, tasks: Mapping[tuple[str, str], tuple[Callable[[], None], Node, int]], needs: Mapping) -> None:
        try:
            order = list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            cycle = [f"{kind} '{name}'" for kind, name in error.args[1]]
            _, node, line = next(tasks[key] for key in error.args[1] if key in tasks)
            law, mend = "frames, points and bodies start at the ground", "attach one of them to N, O or the ground"
            self.note(node.source, line, cycle[0], f"is built on itself: {' → '.join(cycle)}", law, mend)
            return
        for key in order:
            if key in tasks:
                run, node, line = tasks[key]
                try:
                    run()
                except ModelError as error:
                    self.located(error, node.source, line)
                    self.lost.add(key)
                except _Lost:
                    self.lost.add(key)

    def read_frame(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"frame '{name}'", name, line, ("parent", "rotation", "angular_velocity"))
        parent, rotation = given.need("parent", self.frame), given.take("rotation", self.rotation)
        given.finish()
        self.m.frame(name, parent or "N", **(rotation or {}))

    def read_point(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"point '{name}'", name, line, ("parent", "offset", "frame", "velocity"))
        parent = given.need(
            "parent", lambda n, w: self.known("point or body", {**self.m.points, **self.m.bodies}, n, w)
        )
        offset = given.take("offset", self.triple)
        frame = given.take("frame", lambda n, w: self.attempt(n, self.m.frame_named, self.frame(n, w), w))
        given.finish()
        carrier = frame or self.m.N
        vector = carrier.vector(0, 0, 0) if offset is None else Vector(carrier, offset)
        self.m.point(name, parent or "O", vector)

    def read_attachment(self, name: str, node: Node, line: int) -> None:
        fields = node.value if isinstance(node.value, Mapping) else {}
        if "frame" not in fields and "origin" not in fields:
            return
        where = f"body '{name}'"
        if "frame" not in fields or "origin" not in fields:
            there = "frame" if "frame" in fields else "origin"
            self.note(node.source, line, where, f"{there}: alone", "a body has a frame and an origin", "give both")
            raise _Lost
        frame = self.frame(fields["frame"], where)
        origin = self.known("point or body", {**self.m.points, **self.m.bodies}, fields["origin"], where)
        self.m.attach(name, frame, origin)

    def read_velocities(self, file: Entry) -> None:
        """Velocities that the analyst sets, in terms of the speeds."""
        for name, node, _ in self.entries(file, "frames"):
            value = node.value.get("angular_velocity") if isinstance(node.value, Mapping) else None
            if value is not None and name in self.m.declared_frames:
                try:
                    frame = self.m.declared_frames[name]
                    frame.set_angular_velocity(Vector(frame, self.triple(value, f"frame '{name}' / angular_velocity")))
                except _Lost:
                    continue
        for name, node, _ in self.entries(file, "points"):
            value = node.value.get("velocity") if isinstance(node.value, Mapping) else None
            if value is not None and name in self.m.declared_points:
                try:
                    self.read_point_velocity(name, value)
                except _Lost:
                    continue

    def read_point_velocity(self, name: str, node: Node) -> None:
        given = Entry(self, node, f"point '{name}' / velocity", name, node.line, ("frame", "components"))
        frame = given.take("frame", lambda n, w: self.attempt(n, self.m.frame_named, self.frame(n, w), w))
        components = given.need("components", self.triple)
        given.finish()
        if components is not None:
            self.m.declared_points[name].set_velocity(Vector(frame or self.m.N, components))

    # order, speeds, loads, controls ------------------------------------------------------------------------------

    def read_order(self, node: Node) -> None:
        names = self.names(node, "coordinates")
        if not self.found:  # otherwise coordinates may be missing for reasons that have been noted
            self.attempt(node, self.m.order_coordinates, names)

    def read_speeds(self, node: Node) -> None:
        if not isinstance(node.value, Mapping):
            raise self.refuse(node, "speeds", f"expected name: definition, found {node.kind}")
        if any(kind == "joint" for kind, _ in self.lost):
            raise _Lost
        definitions = {}
        for name, definition in node.value.items():
            definitions[name] = self.text(definition, f"speed '{name}'")
        try:
            self.m.set_speeds(definitions)
        except ModelError as error:
            for p in error.problems:
                blamed = next((n for n in definitions if f"speed '{n}'" in p.where), None)
                line = node.line if blamed is None else node.line_of(blamed)
                source = node.source if blamed is None else node.value[blamed].source
                self.note(source, line, p.where.removeprefix(self.m.where("")), p.what, p.law, p.mend)
            raise _Lost from None

    def read_load(self, name: str, node: Node, line: int) -> None:
        where = f"load '{name}'"
        keys = node.value if isinstance(node.value, Mapping) else {}
        kinds = [kind for kind in LOADS if kind in keys]
        if len(kinds) != 1:
            self.note(
                node.source,
                line,
                where,
                f"a load is one of {', '.join(LOADS)}",
                "",
                f"found {', '.join(keys) or node.kind}",
            )
            raise _Lost
        given = Entry(self, node, where, name, line, (kinds[0], *LOADS[kinds[0]]))
        if kinds[0] in ("force", "torque"):
            self.read_action(kinds[0], name, given)
        elif kinds[0] == "spring":
            self.read_spring(name, given)
        elif kinds[0] == "joint_spring":
            joint, options = given.need("joint_spring", self.joint), self.spring_options(given)
            index = given.take("index", self.index) or 0
            given.finish()
            self.m.joint_spring(name, joint or "", index=index, **options)
        else:
            joint, value = given.need("joint", self.joint), given.need("effort", self.quantity)
            index = given.take("index", self.index) or 0
            given.finish()
            self.m.effort(name, joint or "", value if value is not None else 0.0, index=index)

    def read_action(self, kind: str, name: str, given: Entry) -> None:
        vector, body = given.need(kind, self.triple), given.need("body", self.body)
        options = {
            "at": given.take("at", self.triple) if kind == "force" else None,
            "frame": given.take("frame", self.frame),
            "reaction": given.take("reaction", self.body),
        }
        given.finish()
        add = self.m.force if kind == "force" else self.m.torque
        add(name, body or "", vector or (), **{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

    def read_spring(self, name: str, given: Entry) -> None:
        ends = given.need("spring", lambda n, w: [self.body(item, w) for item in self.items(n, w, 2)])
        at = given.take("at", lambda n, w: [self.triple(item, w) for item in self.items(n, w, 2)])
        options = self.spring_options(given)
        given.finish()
        first, second = ends or ("", "")
        if at is not None:
            options.update(first_at=at[0], second_at=at[1])
        self.m.spring(name, first, second, **options)

    def spring_options(self, given: Entry) -> dict[str, Any]:
        options = {key: given.take(key, self.quantity) for key in ("stiffness", "damping", "rest")}
        return {k: v for k, v in options.items() if v is not None}

    def read_control(self, name: str, node: Node, line: int) -> None:
        where = f"control '{name}'"
        if not isinstance(node.value, Mapping):
            raise self.refuse(node, where, f"expected efforts along speeds, rates or joints, found {node.kind}")
        if self.lost & {("joint", target) for target in node.value}:
            raise _Lost
        law = {}
        for target, value in node.value.items():
            law[target] = self.quantity(value, f"{where} / {target}")
        self.m.control(name, law)

    def read_initial(self, name: str, node: Node, line: int) -> None:
        if name in self.lost_words:
            return
        self.m.set_initial({name: self.quantity(node, f"initial '{name}'")})

    def judge(self) -> None:
        """What can only be said about the whole; only where nothing else is wrong."""
        if self.found:
            return
        try:
            self.m.validate()
        except ModelError as error:
            for p in error.problems:
                where = p.where.removeprefix(self.m.where(""))
                source, line = self.places.get(where, (self.root.source, self.root.line))
                self.note(source, line, where, p.what, p.law, p.mend)


class Entry:
    """The fields of one mapping: unknown keys are noted with a suggestion, faulty values are noted and make it lost."""

    def __init__(
        self,
        reader: Reader,
        node: Node,
        where: str,
        name: str,
        line: int,
        allowed: Sequence[str],
        optional: bool = False,
    ):
        self.reader = reader
        self.node = node
        self.where = where
        self.lost = False
        self.fields: Mapping[str, Node] = {}
        if isinstance(node.value, Mapping):
            self.fields = node.value
        elif not (optional and node.value == ""):
            mend = f"write {allowed[0]}: …, with keys out of {', '.join(allowed)}"
            reader.note(node.source, line, where, f"expected a mapping, found {node.kind}", mend=mend)
            self.lost = True
        for key in self.fields:
            if key not in allowed:
                what = f"unknown key '{shortened(key)}'"
                entry = self.fields[key]
                reader.note(entry.source, node.line_of(key), where, what, mend=suggestion(key, allowed))
                self.lost = True

    def take(self, key: str, convert: Callable[[Node, str], Value]) -> Value | None:
        """The converted value of a field, or None where it is not given or faulty."""
        node = self.fields.get(key)
        if node is None:
            return None
        try:
            return convert(node, f"{self.where} / {key}" if self.where else key)
        except _Lost:
            self.lost = True
            return None

    def need(self, key: str, convert: Callable[[Node, str], Value]) -> Value | None:
        """The converted value of a field that has to be there."""
        if key not in self.fields and isinstance(self.node.value, Mapping):
            self.reader.note(self.node.source, self.node.line, self.where, f"'{key}' is missing", mend=f"add {key}: …")
            self.lost = True
        return self.take(key, convert)

    def finish(self) -> None:
        """Leave the entry out where any of its fields is faulty."""
        if self.lost:
            raise _Lost


__all__ = ["LOADS", "SECTIONS", "SHAPES", "VERSION", "Reader"]
