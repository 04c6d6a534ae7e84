"""Parts of a mechanism in a model file: parameters, bodies, joints, wheels, speeds, drives, controls, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...errors import ExpressionError, ModelError, suggestion
from ..dh import JOINTS, explain_joints
from ..joints import JOINT_OPTIONS, PLACEMENT
from ..measures import MeasureNumbers
from ..mechanism import JOINT_TYPES
from .faults import Lost
from .nodes import Node
from .values import Entry, NodeValues

WHEEL = dict.fromkeys(("body", "axis", "inertia", "at", "coordinate", "speed", "shapes"))
BODY = dict.fromkeys(("mass", "center", "inertia", "about", "checked", "shapes", "particle", "frame", "origin"))
ROTOR = ("joint", "inertia", "ratio", "index")
LIMIT = ("lower", "upper", "velocity", "effort")
DH = ("convention", "parent", "at", "rotation", "right_angle", "rows")
DH_ROW = dict.fromkeys(("type", "body", "a", "alpha", "d", "b", "theta", "coordinate", "speed", "initial"))
JOINT = dict.fromkeys(
    (
        *("type", "parent", "child", *PLACEMENT, *JOINT_OPTIONS),
        *("coordinate", "coordinates", "speed", "speeds", "initial", "prescribed"),
    )
)


def read_parameter(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Declare the parameter that an entry describes."""
    where = f"parameter '{name}'"
    if isinstance(node.value, dict):
        given = Entry(r, node, where, line, ("value", "free"))
        value, free = given.need("value", r.number), given.take("free", r.truth)
        given.finish()
    else:
        value, free = r.number(node, where), False
    r.m.parameter(name, value or 0.0, free=bool(free))


def read_coordinate(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Declare the coordinate that an entry describes."""
    given = Entry(r, node, f"coordinate '{name}'", line, ("initial", "speed"), optional=True)
    initial, speed = given.take("initial", r.number), given.take("speed", r.text)
    given.finish()
    r.m.coordinate(name, initial or 0.0, speed=speed)


def read_body(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the body that an entry describes."""
    try:
        r.m.body(name, **_body_options(r, name, node, line))
    except (ModelError, ExpressionError, Lost) as error:
        if not isinstance(error, Lost):
            r.locate(error, node.source, line)
        try:
            r.m.body(name)  # a massless stand-in: joints may still name it
        except ModelError:
            raise Lost from None


def _body_options(r: NodeValues, name: str, node: Node, line: int) -> dict[str, Any]:
    given = Entry(r, node, f"body '{name}'", line, BODY, optional=True)
    options = given.take_each(_BODY_VALUES)
    if "particle" in options:
        if "mass" in options or "inertia" in options:
            raise r.refuse(node, given.where, "a particle has neither mass: nor inertia:", fix="particle: MASS")
        options["mass"] = options.pop("particle")
    given.finish()
    return options


_BODY_VALUES: Mapping[str, Callable[[NodeValues, Node, str], Any]] = {
    **dict.fromkeys(("mass", "particle"), NodeValues.quantity),
    "center": NodeValues.triple,
    "inertia": NodeValues.inertia,
    "about": NodeValues.text,
    "checked": NodeValues.truth,
    "shapes": NodeValues.shapes,
}
"""What a body is made of, but for where it is attached, and what these values are."""


def read_dh(r: NodeValues, node: Node, where: str) -> None:
    """The joints of a table of Hartenberg-Denavit parameters."""
    given = Entry(r, node, "dh", node.line, DH)
    convention = given.take("convention", r.text) or ""
    parent, at = given.take("parent", r.body), given.take("at", r.triple)
    tolerance = given.take("right_angle", r.number)
    rotation, table = given.take("rotation", r.rotation), given.fields.get("rows")
    rows: dict[str, dict[str, Any]] = {}
    entries = table.value if table is not None and isinstance(table.value, dict) else {}
    for name, row in entries.items():
        fields = Entry(r, row, f"dh / {name}", row.line, DH_ROW)
        fields.require("body")
        rows[name] = fields.take_each(_DH_VALUES)
        given.lost = given.lost or fields.lost
    if given.lost:
        r.faults.lost_words.update(
            str(row[key]) for row in rows.values() for key in ("coordinate", "speed") if key in row
        )
        r.faults.lost.update(("joint", name) for name in rows)
        raise Lost
    options: dict[str, Any] = {"parent": parent or "ground", "at": at or (0.0, 0.0, 0.0), "rotation": rotation}
    if tolerance is not None:
        options["right_angle"] = tolerance
    r.attempt(node, r.m.dh, convention, rows, **options)


def _dh_type(r: NodeValues, node: Node, where: str) -> str:
    kind = r.text(node, where)
    if kind not in JOINTS:
        raise r.refuse(node, where, f"type '{kind}'", *explain_joints(kind))
    return kind


_DH_VALUES: Mapping[str, Callable[[NodeValues, Node, str], Any]] = {
    "type": _dh_type,
    **dict.fromkeys(("coordinate", "speed"), NodeValues.text),
    **dict.fromkeys(("a", "alpha", "d", "b", "theta", "initial"), NodeValues.quantity),
    "body": NodeValues.body,
}
"""What a row of a table is made of, and what these values are."""


def read_joint(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the joint that an entry describes."""
    where = f"joint '{name}'"
    given = Entry(r, node, where, line, JOINT)
    kind = given.need("type", r.text)
    parent, child = given.need("parent", r.body), given.need("child", r.body)
    if kind is not None and kind not in JOINT_TYPES:
        r.refuse(given.fields["type"], where, f"unknown joint type '{kind}'", fix=suggestion(kind, JOINT_TYPES))
        given.lost = True
    options = given.take_each(_JOINT_VALUES)
    for key in ("coordinate", "speed"):
        if (names := r.one_or_more(given, key, r.text)) is not None:
            options[f"{key}s"] = names
    given.finish()
    r.m.joint(name, kind, parent, child, **options)  # type: ignore[arg-type]


_JOINT_VALUES: Mapping[str, Callable[[NodeValues, Node, str], Any]] = {
    **dict.fromkeys(("at", "child_at"), NodeValues.triple),
    **dict.fromkeys(("rotation", "child_rotation"), NodeValues.rotation),
    **dict.fromkeys(("initial", "prescribed"), NodeValues.one_or_list),
    **dict.fromkeys(("pitch", "ratio", "offset"), NodeValues.quantity),
    **dict.fromkeys(("sequence", "normal", "velocity", "moves"), NodeValues.text),
    "axis": NodeValues.axis,
    "follows": NodeValues.joint,
}
"""Options of a joint, and what their values are."""


def read_speeds(r: NodeValues, node: Node, where: str) -> None:
    """Choose the generalized speeds that the section defines."""
    if not isinstance(node.value, dict):
        raise r.refuse(node, "speeds", f"expected name: definition, found {node.kind}")
    if any(kind == "joint" for kind, _ in r.faults.lost):
        raise Lost
    definitions = {}
    for name, definition in node.value.items():
        definitions[name] = r.text(definition, f"speed '{name}'")
    try:
        r.m.set_speeds(definitions)
    except ModelError as error:
        r.faults.lost_words.update(definitions)  # what names these speeds is not at fault
        for p in error.problems:
            blamed = next((n for n in definitions if f"speed '{n}'" in p.where), None)
            line = node.line if blamed is None else node.line_of(blamed)
            source = node.source if blamed is None else node.value[blamed].source
            r.faults.note(source, line, p.where.removeprefix(r.m.where("")), p.what, p.because, p.fix)
        raise Lost from None


def read_control(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the control law that an entry describes."""
    where = f"control '{name}'"
    if not isinstance(node.value, dict):
        raise r.refuse(node, where, f"expected efforts along speeds, rates or joints, found {node.kind}")
    if r.faults.lost & {("joint", target) for target in node.value}:
        raise Lost
    names = MeasureNumbers(r.m, r.m.known_names)
    efforts = {target: r.quantity(value, f"{where} / {target}", names) for target, value in node.value.items()}
    r.m.control(name, efforts)


def read_rotor(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the rotor that an entry describes."""
    given = Entry(r, node, f"rotor '{name}'", line, ROTOR)
    joint, inertia = given.need("joint", r.joint), given.need("inertia", r.quantity)
    ratio, index = given.take("ratio", r.quantity), given.take("index", r.index)
    given.finish()
    own = inertia if inertia is not None else 0.0
    r.m.rotor(name, joint or "", own, ratio=1.0 if ratio is None else ratio, index=index or 0)


def read_limit(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Set the limits that an entry gives."""
    if name in r.faults.lost_words:
        return
    given = Entry(r, node, f"limit of '{name}'", line, LIMIT)
    values = {key: given.take(key, r.number) for key in LIMIT}
    given.finish()
    r.m.limit(name, **{k: v for k, v in values.items() if v is not None})


def read_initial(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Set the initial value that an entry gives."""
    if name in r.faults.lost_words:
        return
    value = r.rotation if node.kind == "a mapping" else r.quantity
    r.m.set_initial({name: value(node, f"initial '{name}'")})


def read_reaction_wheel(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the wheel that an entry describes."""
    where = f"wheel '{name}'"
    given = Entry(r, node, where, line, WHEEL)
    given.require("body", "axis", "inertia")
    options = given.take_each(_WHEEL_VALUES)
    given.finish()
    r.m.reaction_wheel(name, **options)


_WHEEL_VALUES: Mapping[str, Callable[[NodeValues, Node, str], Any]] = {
    "body": NodeValues.body,
    "axis": NodeValues.axis,
    "inertia": NodeValues.quantity,
    "at": NodeValues.triple,
    **dict.fromkeys(("coordinate", "speed"), NodeValues.text),
    "shapes": NodeValues.shapes,
}
"""What a wheel that spins is made of, and what these values are."""
