"""Constraints and loads of a model file: records made from the keys of an entry, by the markers of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from ..constraints.loops import CALLED
from ..constraints.touching import BodyContact
from ..drives import Drive
from ..fields import Field, FieldInfo, fields_of
from ..symbols import suggestion
from ..vehicles import RoadWheel
from .faults import Lost
from .forms import CONDITIONS, CONTACT, CONTACT_CONDITIONS, DRIVE, ROAD_WHEEL, Form, Forms, Key
from .nodes import Node
from .values import Entry, NodeValues

READ: Mapping[Field, Callable[[NodeValues, Node, str], Any]] = {
    Field.BODY: NodeValues.body,
    Field.JOINT: NodeValues.joint,
    Field.FRAME: NodeValues.frame,
    Field.POINT: NodeValues.point,
    Field.SCALAR: NodeValues.quantity,
    Field.COMPONENTS: NodeValues.triple,
    Field.AXIS: NodeValues.axis,
    Field.DIRECTION: NodeValues.direction,
    Field.ROTATION: NodeValues.rotation,
    Field.LABELS: NodeValues.labels,
    Field.WORD: NodeValues.text,
    Field.FLAG: NodeValues.truth,
    Field.INDEX: NodeValues.index,
    Field.EQUATIONS: NodeValues.equations,
    Field.CURVE: NodeValues.equations,
    Field.MEASURE: NodeValues.measure,
    Field.TRIGGER: NodeValues.trigger,
    Field.SHAPE: NodeValues.contact_shape,
}
"""What reads the node of a field, by its marker."""

_CALLED = {
    **CALLED,
    **dict.fromkeys(("nonholonomic", "pfaffian"), "motion"),
    **dict.fromkeys(("holonomic", "position"), "configuration"),
    **dict.fromkeys(("rod", "link"), "distance"),
    **dict.fromkeys(("string", "cable", "tether"), "rope"),
    **dict.fromkeys(("skate", "blade"), "knife-edge"),
    **dict.fromkeys(("wheel", "disc", "disk"), "rolling"),
    **dict.fromkeys(("chain", "pulley"), "belt"),
    "sphere": "rolling-sphere",
    **dict.fromkeys(("bumper", "end", "hard-stop", "limit"), "stop"),
    **dict.fromkeys(("catch", "hook", "clamp"), "latch"),
    **dict.fromkeys(("one-way", "freewheel", "pawl"), "ratchet"),
    **dict.fromkeys(("play", "clearance"), "backlash"),
    **dict.fromkeys(("dry-friction", "coulomb"), "friction"),
}
"""What other programs call constraints, so that an error can name ours."""


def read_constraint(r: NodeValues, forms: Forms, name: str, node: Node, line: int) -> None:
    """Add the constraint that an entry describes."""
    where, known = f"constraint '{name}'", forms.constraints
    r.faults.places[where] = (node.source, line)
    fields = node.value if isinstance(node.value, dict) else {}
    if "type" not in fields:
        what = "'type' is missing" if fields else f"expected a type and its options, found {node.kind}"
        r.faults.note(node.source, line, where, what, fix=f"type is one of {', '.join(known)}")
        raise Lost
    kind = r.text(fields["type"], f"{where} / type")
    if kind not in known:
        what = f"unknown type '{kind}' of a constraint"
        raise r.refuse(fields["type"], where, what, fix=suggestion(_CALLED.get(kind, kind), known))
    form = known[kind]
    own = [key.name for key in form.keys]
    further = [key.name for key in CONDITIONS.keys if key.name not in own]
    given = Entry(r, node, where, line, ("type", *own, *further))
    conditions = _conditions(r, [key for key in CONDITIONS.keys if key.name in further], given)
    r.m.constrain(name, _record(r, form, given), **conditions)


def read_contact(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the contact that an entry describes."""
    r.faults.places[f"contact '{name}'"] = (node.source, line)
    known = (*CONTACT.keys, *CONTACT_CONDITIONS.keys)
    given = Entry(r, node, f"contact '{name}'", line, tuple(key.name for key in known))
    conditions = _conditions(r, CONTACT_CONDITIONS.keys, given)
    record: BodyContact = _record(r, CONTACT, given)
    r.m.contact(name, **{info.name: getattr(record, info.name) for info in fields_of(BodyContact)}, **conditions)


VEHICLE = (
    *("platform", "wheels", "drive", "root", "velocity", "coordinates", "speeds"),
    *("steering", "steering_limit", "steering_inertia", "pivot", "friction", "contact", "restitution"),
)


def read_vehicle(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Stand a platform on the wheels that an entry describes."""
    where = f"vehicle '{name}'"
    r.faults.places[where] = (node.source, line)
    given = Entry(r, node, where, line, VEHICLE)
    platform = given.need("platform", r.body)
    wheels = (given.take if "drive" in given.fields else given.need)("wheels", partial(_read_wheels, r))
    options = {
        "drive": given.take("drive", partial(_read_drive, r)),
        "root": given.take("root", r.text),
        "velocity": given.take("velocity", r.text),
        "coordinates": given.take("coordinates", r.names),
        "speeds": given.take("speeds", r.names),
        "steering": given.take("steering", r.text),
        "steering_limit": given.take("steering_limit", r.quantity),
        "steering_inertia": given.take("steering_inertia", r.quantity),
        "pivot": given.take("pivot", r.triple),
        "friction": given.take("friction", r.quantity),
        "contact": given.take("contact", r.text),
        "restitution": given.take("restitution", r.quantity),
    }
    given.finish()
    assert platform is not None
    r.m.vehicle(platform, wheels, name=name, **{key: value for key, value in options.items() if value is not None})


def _read_drive(r: NodeValues, node: Node, where: str) -> Drive:
    return _record(r, DRIVE, Entry(r, node, where, node.line, tuple(key.name for key in DRIVE.keys)))


def _read_wheels(r: NodeValues, node: Node, where: str) -> dict[str, RoadWheel]:
    if not isinstance(node.value, dict):
        raise r.refuse(node, where, f"expected named wheels, found {node.kind}", fix="write one 'name: {…}' per wheel")
    found: dict[str, RoadWheel] = {}
    lost = False
    for name, entry in node.value.items():
        r.faults.places[f"wheel '{name}'"] = (entry.source, node.line_of(name))
        given = Entry(r, entry, f"wheel '{name}'", node.line_of(name), tuple(key.name for key in ROAD_WHEEL.keys))
        try:
            found[name] = _record(r, ROAD_WHEEL, given)
        except Lost:
            lost = True
    if lost:
        raise Lost
    return found


def read_load(r: NodeValues, forms: Forms, name: str, node: Node, line: int) -> None:
    """Add the load that an entry describes."""
    where, known = f"load '{name}'", forms.loads
    keys = node.value if isinstance(node.value, dict) else {}
    kinds = [kind for kind in known if kind in keys]
    if len(kinds) != 1:
        what, found = f"a load is one of {', '.join(known)}", f"found {', '.join(keys) or node.kind}"
        r.faults.note(node.source, line, where, what, "", found)
        raise Lost
    form = known[kinds[0]]
    given = Entry(r, node, where, line, tuple(key.name for key in form.keys))
    r.m.load(name, _record(r, form, given))


def _conditions(r: NodeValues, keys: Iterable[Key], given: Entry) -> dict[str, Any]:
    """The conditions of an entry."""
    found: dict[str, Any] = {}
    for key in keys:
        found |= given.take(key.name, partial(_read_fields, r, key.fields)) or {}
    return found


def _record(r: NodeValues, form: Form, given: Entry) -> Any:
    """The record of an entry; every fault of its fields is noted before it is left out."""
    values: dict[str, Any] = dict(form.fixed)
    for key in form.keys:
        read = partial(_read_fields, r, key.fields)
        found = given.need(key.name, read) if key.required else given.take(key.name, read)
        values.update(found or {})
    given.finish()
    return form.record(**values)


def _read_fields(r: NodeValues, fields: tuple[FieldInfo, ...], node: Node, where: str) -> dict[str, Any]:
    """The values of the fields that a key holds."""
    nodes = (node,) if len(fields) == 1 else r.items(node, where, len(fields))
    return {info.name: READ[info.holds](r, n, where) for info, n in zip(fields, nodes, strict=True) if info.holds}
