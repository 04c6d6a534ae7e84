"""Nodes of a model file as words, numbers, vectors, orientations and shapes, with every fault noted at its line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ...errors import ExpressionError, ModelError, excerpt, suggestion
from ...graph import Expr
from ...space.algebra import Triple
from ..constraints.shapes import OPTIONS as SHAPE_OPTIONS
from ..constraints.shapes import SIZES as SHAPE_SIZES
from ..constraints.shapes import WORDS as CONTACT_SHAPES
from ..drawn_shapes import FIELDS as SHAPE_FIELDS
from ..drawn_shapes import LENGTHS, check_shape
from ..mechanism import INERTIA, Mechanism
from ..records import Shape
from ..symbols import KnownRotation
from .confine import path_inside
from .faults import FaultCollector, Lost
from .nodes import Node

Value = TypeVar("Value")
ROTATION = ("axis", "angle", "euler", "angles", "quaternion", "matrix")
SHAPE = dict.fromkeys(SHAPE_FIELDS)
CONTACT_SHAPE = dict.fromkeys((*CONTACT_SHAPES, *sum(SHAPE_OPTIONS.values(), ())))
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[+-]?\.?(?:nan|inf|infinity)", re.IGNORECASE)
_NOTHING = ("", "~", "null")
_FIGURES = ("0", "1")  # every other number of most files
_INDEX = re.compile(r"[0-9]{1,6}")
WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")


class NodeValues:
    """Reads nodes as values of the mechanism `m`; `folder` is the one from which meshes may be read."""

    def __init__(self, m: Mechanism, faults: FaultCollector, folder: Path | None = None):
        self.m = m
        self.faults = faults
        self.folder = folder
        self.figures = {figure: m.graph.const(float(figure)) for figure in _FIGURES}

    def refuse(self, node: Node, where: str, what: str, because: str = "", fix: str = "") -> Lost:
        """Note a fault at a node; returns what to raise."""
        return self.faults.refuse(node, where, what, because, fix)

    def locate(self, error: ModelError | ExpressionError, source: str, line: int) -> None:
        """Note the problems of the model itself at a line of the file."""
        self.faults.locate(error, self.m.where(""), source, line)

    def attempt(self, node: Node, function: Callable[..., Value], *args: Any, **options: Any) -> Value:
        """What `function` returns; its problems are noted at `node`."""
        try:
            return function(*args, **options)
        except (ModelError, ExpressionError) as error:
            self.locate(error, node.source, node.line)
            raise Lost from None

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

    def _every(self, read: Callable[[Node, str], Value], items: Sequence[Node], where: str) -> list[Value]:
        """All values of a list; every fault is noted before it is left out."""
        found = list[Value]()
        for item in items:
            with suppress(Lost):
                found.append(read(item, where))
        if len(found) < len(items):
            raise Lost
        return found

    def names(self, node: Node, where: str) -> list[str]:
        return [self.text(item, where) for item in self.items(node, where)]

    def quantity(self, node: Node, where: str, names: Mapping[str, Expr] | None = None) -> Expr:
        """A number, or an expression over `names`, those of the model if none are given."""
        value = node.value
        text = value.strip() if isinstance(value, str) else ""
        if (known := self.figures.get(text)) is not None:
            return known
        if _NUMBER.fullmatch(text):
            if math.isfinite(number := float(text)):
                return self.m.graph.const(number)
        elif text in _NOTHING:
            comma = re.search(r"'\d+'$", where) is not None  # {g: 9,81} is g: 9 and another entry, 81
            fix = "write a decimal point, 9.81: a comma ends an entry" if comma else ""
            raise self.refuse(node, where, f"expected a number or an expression, found {node.kind}", fix=fix)
        elif not _NOT_FINITE.fullmatch(text):
            if self.faults.lost_words and not self.faults.lost_words.isdisjoint(WORD.findall(text)):
                raise Lost  # it needs a name whose own fault has been noted
            try:
                return self.m.scalar(text, where, names)
            except (ModelError, ExpressionError) as error:
                self.locate(error, node.source, node.line)
                raise Lost from None
        raise self.refuse(node, where, f"'{excerpt(text)}' is not a finite number", fix="give a finite number")

    def number(self, node: Node, where: str) -> float:
        """A quantity that depends on parameters only, at their defaults."""
        text = node.value
        if isinstance(text, str) and _NUMBER.fullmatch(text) and math.isfinite(value := float(text)):
            return value + 0.0  # 0 for -0
        expr = self.quantity(node, where)
        value = self.attempt(node, self.m.number, expr, where)
        if not math.isfinite(value):
            self.attempt(node, self.m.constant, [expr], where)
        return value

    def index(self, node: Node, where: str) -> int:
        text = self.text(node, where)
        if not _INDEX.fullmatch(text):
            raise self.refuse(node, where, f"'{excerpt(text)}' is not an index", fix="count from 0")
        return int(text)

    def truth(self, node: Node, where: str) -> bool:
        text = self.text(node, where)
        if text not in ("true", "false"):
            raise self.refuse(node, where, f"'{excerpt(text)}' is neither true nor false", fix="write true or false")
        return text == "true"

    def triple(self, node: Node, where: str) -> Triple:
        x, y, z = self._every(self.quantity, self.items(node, where, 3), where)
        return x, y, z

    def axis(self, node: Node, where: str) -> Triple:
        value = node.value if isinstance(node.value, str) else self.triple(node, where)
        return self.attempt(node, self.m.axis, value, where)

    def rotation(self, node: Node, where: str) -> KnownRotation:
        """An orientation, checked."""
        given = Entry(self, node, where, node.line, ROTATION)
        spec = given.take_each(_ROTATION_VALUES)
        given.finish()
        return KnownRotation(self.attempt(node, self.m.rotation, spec or {"nothing": None}, where))

    def rows(self, node: Node, where: str) -> list[Triple]:
        """The rows of a matrix of three columns."""
        return self._every(self.triple, self.items(node, where, 3), where)

    def direction(self, node: Node, where: str) -> str | Triple:
        """A letter, or three components that may depend on the configuration."""
        return node.value if isinstance(node.value, str) else self.triple(node, where)

    def labels(self, node: Node, where: str) -> tuple[str, ...]:
        """One word or a list of them."""
        return tuple(self.names(node, where)) if isinstance(node.value, tuple) else (self.text(node, where),)

    def equations(self, node: Node, where: str) -> tuple[str, ...]:
        """One equation or a list of them, as text."""
        items = node.value if isinstance(node.value, tuple) else (node,)
        texts = tuple(self.text(item, where) for item in items)
        if any(not self.faults.lost_words.isdisjoint(WORD.findall(text)) for text in texts):
            raise Lost  # one of its names has a fault of its own, which has been noted
        return texts

    def measure(self, node: Node, where: str) -> str:
        """An expression that may use measure numbers, as text."""
        if isinstance(node.value, tuple):
            raise self.refuse(node, where, f"expected an expression, found {node.kind}")
        return self.equations(node, where)[0]

    def trigger(self, node: Node, where: str) -> str:
        """An expression that may use names of rows, as text."""
        text = self.measure(node, where)
        lost = {name for kind, name in self.faults.lost if kind in ("constraint", "contact")}
        if any(name in text for name in lost):
            raise Lost  # it may need a row of a constraint whose own fault has been noted
        return text

    def contact_shape(self, node: Node, where: str) -> dict[str, Any]:
        """What a shape that touches is made of."""
        given = Entry(self, node, where, node.line, CONTACT_SHAPE)
        readers: dict[str, Callable[[Node, str], Any]] = {
            **dict.fromkeys(SHAPE_SIZES, self.one_or_list),
            "point": self.triple,
            "vertices": lambda n, w: [self.triple(item, w) for item in self.items(n, w)],
            "plane": self.axis,
            "surface": self.measure,
            "at": self.triple,
            "axis": self.axis,
            "rotation": self.rotation,
            "crown": self.quantity,
            "inside": self.truth,
        }
        spec = {key: given.take(key, readers[key]) for key in given.fields if key in readers}
        given.finish()
        return spec

    def quantities(self, node: Node, where: str) -> list[Expr]:
        return self._every(self.quantity, self.items(node, where), where)

    def declared_name(self, node: Node, where: str, tables: Mapping[str, Mapping[str, Any]]) -> str:
        """The name of something that the file declares; `tables` are by kind."""
        name = self.text(node, where)
        for table in tables.values():
            if name in table:
                return name
        ground = ["ground"] if "body" in tables else []
        if name in ground:
            return name
        if any((kind, name) in self.faults.lost for kind in tables):
            raise Lost
        names = [*ground, *(known for table in tables.values() for known in table)]
        what = f"unknown {' or '.join(tables)} '{excerpt(name)}'"
        raise self.refuse(node, where, what, fix=suggestion(name, names))

    def body(self, node: Node, where: str) -> str:
        return self.declared_name(node, where, {"body": self.m.bodies})

    def joint(self, node: Node, where: str) -> str:
        return self.declared_name(node, where, {"joint": self.m.joints})

    def frame(self, node: Node, where: str) -> str:
        return self.declared_name(node, where, {"frame": self.m.frames, "body": self.m.bodies})

    def point(self, node: Node, where: str) -> str:
        return self.declared_name(node, where, {"point": self.m.points, "body": self.m.bodies})

    def inertia(self, node: Node, where: str) -> dict[str, Expr]:
        given = Entry(self, node, where, node.line, INERTIA)
        entries = {key: given.take(key, self.quantity) for key in INERTIA}
        given.finish()
        return {k: v for k, v in entries.items() if v is not None}

    def shapes(self, node: Node, where: str) -> tuple[Shape, ...]:
        return tuple(self._every(self.shape, self.items(node, where), where))

    def shape(self, node: Node, where: str) -> Shape:
        given = Entry(self, node, where, node.line, SHAPE)
        kinds = [kind for kind in LENGTHS if kind in given.fields]
        file, path, size = "", "", None
        if len(kinds) != 1:
            self.refuse(node, where, f"a shape is one of {', '.join(LENGTHS)}", fix="write {sphere: 0.1}, say")
            given.lost = True
        elif kinds[0] == "mesh":
            file = given.need("mesh", self.text) or ""
            path = path_inside(file, self.folder)
            size = given.take("scale", lambda n, w: self.sizes(n, w, 3)) or (1.0, 1.0, 1.0)
        else:
            size = given.need(kinds[0], lambda n, w: self.sizes(n, w, LENGTHS[kinds[0]]))
        wxyz = given.take("quaternion", lambda n, w: self.sizes(n, w, 4)) or (1.0, 0.0, 0.0, 0.0)
        x, y, z = given.take("at", lambda n, w: self.sizes(n, w, 3)) or (0.0, 0.0, 0.0)
        axis, color = given.take("axis", self.text) or "z", given.take("color", self.text) or ""
        given.finish()
        turn = (wxyz[0], wxyz[1], wxyz[2], wxyz[3])
        read = Shape(kinds[0], tuple(size or ()), (x, y, z), axis, color, turn, file, path)
        return self.attempt(node, check_shape, self.m, read, where)

    def sizes(self, node: Node, where: str, count: int) -> tuple[float, ...]:
        if count == 1:
            return (self.number(node, where),)
        return tuple(self.number(item, where) for item in self.items(node, where, count))

    def one_or_list(self, node: Node, where: str) -> list[Expr]:
        return self.quantities(node, where) if isinstance(node.value, tuple) else [self.quantity(node, where)]

    def one_or_more(self, given: Entry, key: str, convert: Callable[[Node, str], str]) -> list[str] | None:
        one, more = given.take(key, convert), given.take(f"{key}s", self.names)
        if one is not None and more is not None:
            raise self.refuse(
                given.node, given.where, f"{key}: and {key}s: are both given", fix="leave out one of them"
            )
        return more if one is None else [one]


_ROTATION_VALUES: Mapping[str, Callable[[NodeValues, Node, str], Any]] = {
    "axis": NodeValues.axis,
    "angle": NodeValues.quantity,
    "euler": NodeValues.text,
    **dict.fromkeys(("angles", "quaternion"), NodeValues.quantities),
    "matrix": NodeValues.rows,
}
"""What an orientation is made of, and what these values are."""


def entries(file: Entry, section: str) -> Iterator[tuple[str, Node, int]]:
    """(name, node, line of the name) of each entry of a section."""
    node = file.fields.get(section)
    if node is not None and isinstance(node.value, dict):
        lines = node.key_lines
        for name, entry in node.value.items():
            yield name, entry, lines.get(name, node.line)


class Entry:
    """The fields of one mapping: unknown keys are noted with a suggestion, faulty values are noted and make it lost."""

    def __init__(
        self,
        reader: NodeValues,
        node: Node,
        where: str,
        line: int,
        allowed: Collection[str],
        optional: bool = False,
    ):
        self.reader = reader
        self.node = node
        self.where = where
        self.lost = False
        self.fields: Mapping[str, Node] = {}
        if isinstance(node.value, dict):
            self.fields = node.value
        elif not (optional and node.value == ""):
            fix = f"write {next(iter(allowed))}: …, with keys out of {', '.join(allowed)}"
            reader.faults.note(node.source, line, where, f"expected a mapping, found {node.kind}", fix=fix)
            self.lost = True
        for key in self.fields:
            if key not in allowed:  # which is a mapping where there are many entries of a kind
                what = f"unknown key '{excerpt(key)}'"
                entry = self.fields[key]
                reader.faults.note(entry.source, node.line_of(key), where, what, fix=suggestion(key, allowed))
                self.lost = True

    def take(self, key: str, convert: Callable[[Node, str], Value]) -> Value | None:
        """The converted value of a field, or None where it is not given or faulty."""
        node = self.fields.get(key)
        if node is None:
            return None
        try:
            return convert(node, f"{self.where} / {key}" if self.where else key)
        except Lost:
            self.lost = True
            return None

    def need(self, key: str, convert: Callable[[Node, str], Value]) -> Value | None:
        """The converted value of a field that has to be there."""
        self.require(key)
        return self.take(key, convert)

    def require(self, *keys: str) -> None:
        """Note fields that have to be there and are not."""
        for key in keys:
            if key not in self.fields and isinstance(self.node.value, dict):
                self.reader.faults.note(
                    self.node.source, self.node.line, self.where, f"'{key}' is missing", fix=f"add {key}: …"
                )
                self.lost = True

    def take_each(self, readers: Mapping[str, Callable[[NodeValues, Node, str], Any]]) -> dict[str, Any]:
        """The converted values of those fields that `readers` know, that are given and not faulty."""
        found = {}
        reader, where = self.reader, self.where
        for key, node in self.fields.items():
            read = readers.get(key)
            if read is not None:
                try:
                    found[key] = read(reader, node, f"{where} / {key}")
                except Lost:
                    self.lost = True
        return found

    def finish(self) -> None:
        """Leave the entry out where any of its fields is faulty."""
        if self.lost:
            raise Lost
