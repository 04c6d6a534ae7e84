"""Constraints and loads of a model file: records made from the keys of an entry, by the markers of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ...errors import closest, suggestion
from ..constraints.loops import CALLED
from ..constraints.touching import BodyContact
from ..drives import Drive
from ..fields import Field, fields_of
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
    fields = node.value if isinstance(node.value, dict) else {}
    if "type" not in fields:
        what = "'type' is missing" if fields else f"expected a type and its options, found {node.kind}"
        r.faults.note(node.source, line, where, what, fix=f"type is one of {', '.join(known)}")
        raise _check_rest(r, [*known.values(), CONDITIONS], where, node, line)
    kind = r.text(fields["type"], f"{where} / type")
    if kind not in known:
        what = f"unknown type '{kind}' of a constraint"
        r.refuse(fields["type"], where, what, fix=suggestion(_CALLED.get(kind, kind), known))
        raise _check_rest(r, [*known.values(), CONDITIONS], where, node, line, "type")
    form = known[kind]
    further = {key: value for key, value in CONDITIONS.keys.items() if key not in form.keys}
    given = Entry(r, node, where, line, {"type": None, **form.keys, **further})
    conditions = _conditions(r, further, given)
    r.m.constrain(name, _record(r, form, given), **conditions)


def read_contact(r: NodeValues, name: str, node: Node, line: int) -> None:
    """Add the contact that an entry describes."""
    given = Entry(r, node, f"contact '{name}'", line, {**CONTACT.keys, **CONTACT_CONDITIONS.keys})
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
    return _record(r, DRIVE, Entry(r, node, where, node.line, DRIVE.keys))


def _read_wheels(r: NodeValues, node: Node, where: str) -> dict[str, RoadWheel]:
    if not isinstance(node.value, dict):
        raise r.refuse(node, where, f"expected named wheels, found {node.kind}", fix="write one 'name: {…}' per wheel")
    found: dict[str, RoadWheel] = {}
    lost = False
    for name, entry in node.value.items():
        given = Entry(r, entry, f"wheel '{name}'", node.line_of(name), ROAD_WHEEL.keys)
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
        what = f"a load is one of {', '.join(known)}; found {', '.join(keys) or node.kind}"
        meant = [(key, close) for key in keys if (close := closest(key, known)) is not None]
        fix = f"did you mean '{meant[0][1]}' by '{meant[0][0]}'?" if meant and not kinds else "name one kind"
        r.faults.note(node.source, line, where, what, "", fix)
        raise _check_rest(r, known.values(), where, node, line, *(key for key, _ in meant))
    form = known[kinds[0]]
    given = Entry(r, node, where, line, form.keys)
    r.m.load(name, _record(r, form, given))


def _check_rest(r: NodeValues, forms: Iterable[Form], where: str, node: Node, line: int, *judged: str) -> Lost:
    """Note what is wrong with an entry of an unknown kind whatever its kind: keys that no form has, and values of those
    that hold the same in every form that has them. The keys in `judged` have been noted; returns what to raise."""
    if not isinstance(node.value, dict):
        return Lost()
    found: dict[str, list[Key]] = {}
    for form in forms:
        for name, key in form.keys.items():
            found.setdefault(name, []).append(key)
    alike = {
        name: replace(keys[0], required=False)
        for name, keys in found.items()
        if len({tuple(info.holds for info in key.fields) for key in keys}) == 1
    }
    _take_fields(r, alike, Entry(r, node, where, line, [*judged, *found]), {})
    return Lost()


def _conditions(r: NodeValues, keys: Mapping[str, Key], given: Entry) -> dict[str, Any]:
    """The conditions of an entry."""
    found: dict[str, Any] = {}
    _take_fields(r, keys, given, found)
    return found


def _record(r: NodeValues, form: Form, given: Entry) -> Any:
    """The record of an entry; every fault of its fields is noted before it is left out."""
    values: dict[str, Any] = dict(form.fixed)
    _take_fields(r, form.keys, given, values)
    given.finish()
    return form.record(**values)


def _take_fields(r: NodeValues, keys: Mapping[str, Key], given: Entry, values: dict[str, Any]) -> None:
    """Add the values of the fields that keys hold, those keys that are given; others, and faulty ones, are noted."""
    for name, key in keys.items():
        node = given.fields.get(name)
        if node is None:
            if key.required:
                given.require(name)
            continue
        where = f"{given.where} / {name}"
        try:
            nodes = (node,) if len(key.fields) == 1 else r.items(node, where, len(key.fields))
            for info, part in zip(key.fields, nodes, strict=True):
                if info.holds is not None:
                    values[info.name] = READ[info.holds](r, part, where)
        except Lost:
            given.lost = True
