"""Shapes that bodies are drawn with, checked: mappings as in a model file, or records, with expressions in them.

What comes in is an entry of `shapes`, {"cylinder": ["r", 0.02], "axis": "y"} or Shape("cylinder", ("r", 0.02));
what goes out is a `Shape` of numbers, those at the parameters' defaults, which pictures, pages and contacts can use.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..boundary import describe_value
from ..errors import ModelError, Problem, excerpt, suggestion
from ..graph import Expr
from ..space.rotations import UNIT_TOLERANCE
from .records import Shape
from .symbols import Symbols

LENGTHS = {"box": 3, "cylinder": 2, "sphere": 1, "line": 3, "mesh": 3}
"""How many numbers a shape has: lengths (m), where a line ends (m), factors of a mesh."""
FIELDS = (*LENGTHS, "at", "axis", "color", "quaternion", "scale")
DrawnShape = Shape | Mapping[str, Any]
_COLOR = re.compile(r"#[0-9a-fA-F]{6}|[a-z]{1,30}")
_SIZES = {
    "box": "[0.4, 0.1, 0.1], its lengths along x, y, z",
    "cylinder": "[0.05, 0.4], radius and length",
    "sphere": "0.1, its radius",
    "line": "[0, 0, 1], where it ends",
    "mesh": "[1, 1, 1], factors along x, y, z",
}


def make_shapes(m: Symbols, given: Sequence[DrawnShape], where: str) -> tuple[Shape, ...]:
    """The shapes of a body, each checked."""
    where = f"{where} / shapes"
    if not isinstance(given, list | tuple):
        fix = "give a list: shapes=[{'sphere': 0.1}]"
        raise ModelError(Problem(m.where(where), f"{describe_value(given)} is not a list of shapes", fix=fix))
    return tuple(check_shape(m, _record(m, shape, where), where) for shape in given)


def check_shape(m: Symbols, shape: Shape, where: str) -> Shape:
    """A shape with its expressions as numbers, refused where it is none that can be drawn."""
    if shape.kind not in tuple(LENGTHS):
        raise _refuse(m, where, f"no shape is called '{excerpt(str(shape.kind))}'", fix=_kinds())
    place = f"{where} / {shape.kind}"
    size = _numbers(m, shape.size, LENGTHS[shape.kind], place, _SIZES[shape.kind])
    x, y, z = _numbers(m, shape.at, 3, f"{place} / at", "[0, 0, 0.1], where it stands")
    wxyz = _numbers(m, shape.wxyz, 4, f"{place} / quaternion", "[1, 0, 0, 0], how it is turned")
    if shape.axis not in ("x", "y", "z"):
        raise _refuse(m, place, f"axis {describe_value(shape.axis)}", "an axis of a shape is x, y or z", "name one")
    if not isinstance(shape.color, str) or (shape.color and not _COLOR.fullmatch(shape.color)):
        raise _refuse(m, place, f"{excerpt(repr(shape.color))} is not a color", fix="write #rrggbb or a name")
    if abs(math.hypot(*wxyz) - 1.0) > UNIT_TOLERANCE:
        raise _refuse(
            m, place, f"quaternion {list(wxyz)}", "a rotation is a unit quaternion", "divide it by its length"
        )
    if shape.kind not in ("line", "mesh") and min(size) <= 0:
        raise _refuse(m, place, f"lengths {list(size)}", "lengths of a shape are positive", "give lengths > 0")
    return replace(shape, size=size, at=(x, y, z), wxyz=(wxyz[0], wxyz[1], wxyz[2], wxyz[3]))


def _record(m: Symbols, given: DrawnShape, where: str) -> Shape:
    """A mapping as in a model file as a record; a mesh is where its file says."""
    if isinstance(given, Shape):
        return given
    if not isinstance(given, Mapping):
        raise _refuse(m, where, f"{describe_value(given)} is not a shape", fix=_kinds())
    for key in given:
        if key not in FIELDS:
            raise _refuse(m, where, f"unknown '{excerpt(str(key))}'", fix=suggestion(str(key), FIELDS))
    kinds = [kind for kind in LENGTHS if kind in given]
    if len(kinds) != 1:
        raise _refuse(m, where, f"{describe_value(dict(given))} is not one shape", fix=_kinds())
    kind, file = kinds[0], ""
    size = given[kind]
    if kind == "mesh":
        size, file = given.get("scale", (1.0, 1.0, 1.0)), str(size)
        if not Path(file).is_file():
            raise _refuse(m, where, f"mesh '{excerpt(file)}' is not there", fix="give the path of a file")
    elif "scale" in given:
        raise _refuse(m, where, f"scale of a {kind}", "factors are those of a mesh", "change its lengths")
    at, axis, color = given.get("at", (0.0, 0.0, 0.0)), given.get("axis", "z"), given.get("color", "")
    return Shape(kind, size, at, axis, color, given.get("quaternion", (1.0, 0.0, 0.0, 0.0)), file, file)


def _numbers(m: Symbols, given: Any, count: int, where: str, like: str) -> tuple[float, ...]:
    """`count` numbers, or expressions of parameters; one of them may stand alone."""
    if (plain := getattr(given, "tolist", None)) is not None:  # an array
        given = plain()
    values = (given,) if count == 1 and not isinstance(given, list | tuple) else given
    if not isinstance(values, list | tuple) or len(values) != count:
        need = "one number" if count == 1 else f"{count} numbers"
        raise _refuse(m, where, f"{describe_value(given)} is not {need}", fix=f"write {like}")
    return tuple(v if type(v) is float and math.isfinite(v) else _number(m, v, where) for v in values)


def _number(m: Symbols, value: Any, where: str) -> float:
    expr = value if isinstance(value, Expr) else m.scalar(value, where)
    m.constant([expr], where)
    return m.number(expr, where)


def _refuse(m: Symbols, where: str, what: str, because: str = "", fix: str = "") -> ModelError:
    return ModelError(Problem(m.where(where), what, because, fix))


def _kinds() -> str:
    return f"give one of {', '.join(LENGTHS)}: {{'sphere': 0.1}}, {{'cylinder': [0.05, 0.4], 'axis': 'y'}}"
