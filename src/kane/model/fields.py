"""What the fields of constraints and loads hold: markers, from which files are read and written and values are judged.

A record annotates each field with one of these types: `radius: Scalar`, `body: BodyName`. One table here says how
what a user gave becomes what is stored, names checked and texts parsed; `READ` in `files/kinds.py` and `WRITE` in
`files/describe.py` are the other two tables. A field without a marker is left alone, and cannot stand in a model file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from ..errors import InputError
from ..space import Frame, Point
from .joints import ORIGIN as ORIGIN  # for records of loads and constraints
from .records import Body, Joint
from .symbols import Quantity

if TYPE_CHECKING:
    from .builder import Builder

Record = TypeVar("Record")


class Field(Enum):
    """What a field holds."""

    __hash__ = object.__hash__  # there is one of each, and tables have them as keys; that of Enum is written in Python

    BODY = auto()
    JOINT = auto()
    FRAME = auto()
    POINT = auto()
    SCALAR = auto()
    COMPONENTS = auto()
    AXIS = auto()
    DIRECTION = auto()
    ROTATION = auto()
    LABELS = auto()
    WORD = auto()
    FLAG = auto()
    INDEX = auto()
    EQUATIONS = auto()
    CURVE = auto()
    MEASURE = auto()
    TRIGGER = auto()
    SHAPE = auto()


BodyName = Annotated[Body | str, Field.BODY]
"""A body of the mechanism or its name; the ground is "ground"."""
JointName = Annotated[Joint | str, Field.JOINT]
"""A joint of the mechanism or its name."""
FrameName = Annotated[Frame | Body | str, Field.FRAME]
"""A frame or its name; a body stands for its frame."""
PointName = Annotated[Point | Body | str, Field.POINT]
"""A point or its name; a body stands for its origin."""
Scalar = Annotated[Quantity, Field.SCALAR]
"""A number, or an expression; which names it may use is for the record to say."""
Components = Annotated[Sequence[Quantity], Field.COMPONENTS]
"""Three numbers or expressions."""
Axis = Annotated[str | Sequence[Quantity], Field.AXIS]
"""A unit vector in parameters: "x", "-y", … or three components."""
Direction = Annotated[str | Sequence[Quantity], Field.DIRECTION]
"""A unit vector whose components may also depend on coordinates and t."""
Rotation = Annotated[Mapping[str, Any], Field.ROTATION]
"""An orientation: {axis, angle}, {euler, angles}, {quaternion} (wxyz) or {matrix} (rows)."""
Labels = Annotated[Sequence[str], Field.LABELS]
"""Labels of rows."""
Word = Annotated[str, Field.WORD]
Flag = Annotated[bool, Field.FLAG]
Index = Annotated[int, Field.INDEX]
"""Which coordinate or speed of a joint, from 0."""
Equations = Annotated[Quantity | Sequence[Quantity], Field.EQUATIONS]
"""Equations ("q1' = 2*q2'"), or expressions that are zero: one, or a list."""
CurveEquations = Annotated[Quantity | Sequence[Quantity], Field.CURVE]
"""Equations in x, y, z, t and parameters: one, or a list."""
Measure = Annotated[Quantity, Field.MEASURE]
"""An expression that may also use measure numbers (w.BODY.x, v.POINT.x, r.POINT.x)."""
Trigger = Annotated[Quantity, Field.TRIGGER]
"""An expression that may also use names of rows, which stand for their reactions."""
ShapeSpec = Annotated[Mapping[str, Any], Field.SHAPE]
"""A shape that touches or is touched: {sphere: r}, {plane: z}, … with where it stands (`constraints/shapes.py`)."""


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """A field of a record: its name, what it holds (None without a marker), and its default where it has one."""

    name: str
    holds: Field | None
    required: bool
    default: Any


@cache
def fields_of(kind: type) -> tuple[FieldInfo, ...]:
    """The fields of a kind of record, in their order; none for what is no dataclass."""
    if not is_dataclass(kind):
        return ()
    hints = _hints(kind)
    return tuple(
        FieldInfo(f.name, _marker(hints[f.name]), f.default is MISSING and f.default_factory is MISSING, f.default)
        for f in fields(kind)
    )


def _hints(kind: type) -> dict[str, Any]:
    """The annotations of a class; one defined inside a function finds the types of this module by their names."""
    try:
        return get_type_hints(kind, include_extras=True)
    except NameError:
        here = {name: value for name, value in globals().items() if not name.startswith("_")}
    try:
        return get_type_hints(kind, localns={**here, "KW_ONLY": KW_ONLY, "ClassVar": ClassVar}, include_extras=True)
    except NameError as error:
        raise InputError(f"the annotations of {kind.__name__} cannot be read: {error}") from None


def _marker(hint: Any) -> Field | None:
    """The marker in an annotation, also where it may be None."""
    if get_origin(hint) is Annotated:
        return next((m for m in hint.__metadata__ if isinstance(m, Field)), None)
    return next((m for m in (_marker(part) for part in get_args(hint)) if m is not None), None)


def resolve_fields(record: Record, build: Builder) -> Record:
    """The record with texts as expressions and parts by their names; refuses what is no such thing in the mechanism.
    Fields at their defaults stay as they are."""
    values: dict[str, Any] = {}
    for info in fields_of(type(record)):
        value = getattr(record, info.name)
        if info.holds is not None and value is not info.default:
            values[info.name] = _RESOLVE[info.holds](build, value, info.name)
    return replace(record, **values) if values else record  # type: ignore[type-var]


def _frame(build: Builder, value: Any, field: str) -> Frame | str:
    frame = build.frame(value, field)
    return frame if isinstance(value, Frame) else value.name if isinstance(value, Body) else value


def _point(build: Builder, value: Any, field: str) -> Point | str:
    point = build.point(value, field)
    return point if isinstance(value, Point) else value.name if isinstance(value, Body) else value


_RESOLVE: Mapping[Field, Callable[[Builder, Any, str], Any]] = {
    Field.BODY: lambda build, value, field: build.body(value).name,
    Field.JOINT: lambda build, value, field: build.joint(value).name,
    Field.FRAME: _frame,
    Field.POINT: _point,
    Field.SCALAR: lambda build, value, field: build.scalar(value, field),
    Field.COMPONENTS: lambda build, value, field: build.triple(value, field),
    Field.AXIS: lambda build, value, field: build.axis(value, field),
    Field.DIRECTION: lambda build, value, field: build.direction(value, field),
    Field.ROTATION: lambda build, value, field: {"matrix": build.rotation(value, field)},
    Field.LABELS: lambda build, value, field: (value,) if isinstance(value, str) else tuple(map(str, value)),
    Field.WORD: lambda build, value, field: str(value),
    Field.FLAG: lambda build, value, field: build.flag(value, field),
    Field.INDEX: lambda build, value, field: value,
    Field.EQUATIONS: lambda build, value, field: build.equations(value),
    Field.CURVE: lambda build, value, field: build.curve(value),
    Field.MEASURE: lambda build, value, field: build.equations(value)[0],
    Field.TRIGGER: lambda build, value, field: build.trigger(value, field),
    Field.SHAPE: lambda build, value, field: build.contact_shape(value, field),
}
