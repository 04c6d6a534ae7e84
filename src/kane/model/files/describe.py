"""The description of a mechanism as plain data in the words of model files, in normal form.

Two mechanisms are the same description when these are equal: expressions have their normal text, orientations are
matrices, inertias are central, and what is at its default is left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ...errors import ExpressionError, ModelError, Problem
from ...graph import Expr
from ...space import Frame, Point, position, rotations
from ...space.algebra import Matrix, Triple
from ..constraints import BuiltChanging, BuiltConstraint, WheelContact
from ..constraints.shapes import ContactShape, describe_shape
from ..fields import Field, FieldInfo
from ..joints import (
    Coupled,
    Cylindrical,
    Free,
    Gimbal,
    JointType,
    Planar,
    Prescribed,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    Weld,
)
from ..loads import Action, BuiltLoad, EffortAction, ForceAction, GivenActions
from ..normal import normal_text
from ..records import Body, Joint, Limit, NamedControl, ReactionWheel, Shape
from ..vehicles import UNILATERAL, BuiltVehicle, BuiltWheel
from .forms import CONDITIONS, CONTACT, CONTACT_CONDITIONS, ROAD_WHEEL, Form, form_of

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Plain = Any  # str, float, bool, list and dict of these


def describe(mechanism: Mechanism) -> dict[str, Plain]:
    """The sections of a model file; raises ModelError for what no file can hold (types and frames of your own)."""
    return _Description(mechanism).sections()


def describe_load(mechanism: Mechanism, load: BuiltLoad) -> str:
    """A load as a model file writes it, on one line; what it is where no file can hold it."""
    if isinstance(load.record, GivenActions):
        return "; ".join(map(_action_text, load.record.given))
    if form_of(load.record) is None:
        return type(load.record).__name__
    return ", ".join(f"{key}: {_plain_text(value)}" for key, value in _Description(mechanism).load(load).items())


def describe_control(control: NamedControl) -> dict[str, str]:
    """What a control law gives along which speed or rate, as expressions."""
    return {normal_text(along): normal_text(effort) for along, effort in control.efforts.items()}


def _action_text(action: Action) -> str:
    if isinstance(action, EffortAction):
        return f"effort along {normal_text(action.variable)}: {normal_text(action.value)}"
    components = f"[{', '.join(map(normal_text, action.vector.xyz))}] in {action.vector.frame.name}"
    if isinstance(action, ForceAction):
        return f"force at {action.point.name}: {components}"
    return f"torque on {action.frame.name}: {components}"


def _plain_text(value: Plain) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_plain_text(x) for x in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Description:
    def __init__(self, mechanism: Mechanism):
        self.m = mechanism
        self.identity = rotations.identity(mechanism.graph)
        self.frame_names = {id(f): name for name, f in reversed(mechanism.frames.items())}
        self.point_names = {id(p): name for name, p in reversed(mechanism.points.items())}

    def sections(self) -> dict[str, Plain]:
        m = self.m
        in_joints = {c.name for j in m.joints.values() for c in j.coordinates}
        extra = [c for c in m.coordinates if c not in in_joints]
        given = [c for c in extra if f"{c}'" not in m.default_speeds]
        if given:
            what = "its rate is given by the speeds, as a SymPy script does, and a file defines speeds by rates"
            raise self.refuse(f"coordinate '{given[0]}'", what, "keep the script, or describe bodies and joints")
        of_wheels = {name for v in m.vehicles.values() for w in v.wheels for name in (w.constraint, w.height)}
        sections = {
            "kane": 1,
            "name": m.name,
            "about": m.about,
            "gravity": self.triple(m.gravity, "gravity"),
            "parameters": {
                p.name: {"value": p.value, "free": True} if p.free else p.value for p in m.parameters.values()
            },
            "coordinates": list(m.coordinates),
            "extra_coordinates": {c: {"speed": m.default_speeds[f"{c}'"]} for c in extra},
            "bodies": {b.name: self.body(b) for b in m.bodies.values() if b.name not in m.reaction_wheels},
            "joints": {j.name: self.joint(j) for j in m.joints.values() if j.name not in m.reaction_wheels},
            "reaction_wheels": {w.name: self.wheel(w) for w in m.reaction_wheels.values()},
            **self.vehicles(),
            "frames": {name: self.frame(name, f) for name, f in m.declared_frames.items()},
            "points": {name: self.point(name, p) for name, p in m.declared_points.items()},
            "speeds": self.speeds(),
            "loads": {load.name: self.load(load) for load in m.loads.values()},
            "contacts": {c.given: self.contact(c) for c in m.changing.values() if c.kind == CONTACT.word},
            "constraints": {c.name: self.constraint(c) for c in m.constraints.values() if c.name not in of_wheels}
            | self.all_changing(),
            "rotors": {
                r.name: {
                    "joint": r.joint.name,
                    "inertia": self.scalar(r.inertia, f"rotor '{r.name}'"),
                    **({"index": r.index} if r.index else {}),
                }
                for r in m.rotors.values()
            },
            "controls": {
                c.name: {repr(v): self.scalar(e, f"control '{c.name}' / {v!r}") for v, e in c.efforts.items()}
                for c in m.controls.values()
            },
            "limits": {name: self.limit(limit) for name, limit in m.limits.items()},
            "initial": self.initial(),
            "duration": m.duration,
        }
        return {key: value for key, value in sections.items() if value}

    # scalars -----------------------------------------------------------------------------------------------------

    def refuse(self, where: str, what: str, fix: str = "") -> ModelError:
        because = "a model file holds names and expressions only"
        return ModelError(Problem(self.m.where(where), what, because, fix))

    def scalar(self, expr: Expr | float, where: str) -> float | str:
        if not isinstance(expr, Expr):
            return float(expr)
        if expr.number is not None:
            return expr.number
        try:
            return normal_text(expr)
        except ExpressionError as error:
            raise self.refuse(where, str(error), "name its parts by parameters") from None

    def triple(self, xyz: Triple, where: str) -> list[Plain]:
        """Three components, empty where all are zero."""
        components = [self.scalar(e, where) for e in xyz]
        return components if any(c != 0.0 for c in components) else []

    def axis(self, axis: Triple, where: str) -> Plain:
        for k, letter in enumerate("xyz"):
            for sign, text in ((1.0, letter), (-1.0, f"-{letter}")):
                if all(axis[j].number == (sign if j == k else 0.0) for j in range(3)):
                    return text
        return [self.scalar(e, where) for e in axis]

    def rotation(self, R: Matrix, where: str) -> dict[str, Plain]:
        if self.identity == R:
            return {}
        return {"matrix": [[self.scalar(e, where) for e in row] for row in R]}

    def frame_name(self, frame: Frame, where: str) -> str:
        name = self.frame_names.get(id(frame))
        if name is None:
            raise self.refuse(where, f"frame '{frame.name}' has no name in the model", "declare it with frame(…)")
        return name

    def point_name(self, point: Point, where: str) -> str:
        name = self.point_names.get(id(point))
        if name is None:
            raise self.refuse(where, f"point '{point.name}' has no name in the model", "declare it with point(…)")
        return name

    # entries -----------------------------------------------------------------------------------------------------

    def body(self, body: Body) -> dict[str, Plain]:
        where = f"body '{body.name}'"
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
        entries = {"xx": xx, "yy": yy, "zz": zz, "xy": xy, "xz": xz, "yz": yz}
        data: dict[str, Plain] = {
            "mass": self.scalar(body.mass, where),
            "center": self.triple(body.center, where),
            "inertia": {k: self.scalar(e, where) for k, e in entries.items() if not e.is_zero},
            "shapes": [_shape(s) for s in body.shapes],
            "checked": "" if body.checked else "false",
        }
        if body.joint is None and body.frame is not None and body.origin is not None:
            data["frame"] = self.frame_name(body.frame, where)
            data["origin"] = self.point_name(body.origin, where)
        return _drop_empty(data)

    def joint(self, joint: Joint) -> dict[str, Plain]:
        where = f"joint '{joint.name}'"
        return {
            "type": joint.type.moves.kind if isinstance(joint.type, Prescribed) else joint.type.kind,
            "parent": joint.parent.name,
            "child": joint.child.name,
            **self.joint_options(joint.type, where),
            **_drop_empty(
                {
                    "at": self.triple(joint.at, where),
                    "rotation": self.rotation(joint.mount, where),
                    "child_at": self.triple(joint.child_at, where),
                    "child_rotation": self.rotation(joint.child_mount, where),
                    "coordinates": [c.name for c in joint.coordinates],
                    "speeds": [self.m.default_speeds[repr(rate)] for rate in joint.rates],
                }
            ),
        }

    def wheel(self, wheel: ReactionWheel) -> dict[str, Plain]:
        where = f"wheel '{wheel.name}'"
        return {
            "body": wheel.carrier.name,
            "axis": self.axis(wheel.axis, where),
            "inertia": self.scalar(wheel.inertia, where),
            **_drop_empty(
                {
                    "at": self.triple(wheel.joint.at, where),
                    "coordinate": wheel.joint.coordinates[0].name,
                    "speed": self.m.default_speeds[repr(wheel.joint.rates[0])],
                    "shapes": [_shape(s) for s in wheel.body.shapes],
                }
            ),
        }

    def vehicles(self) -> dict[str, Plain]:
        """Vehicles with wheels that are there: their bodies and joints are written as all others."""
        told = {v.name: self.vehicle(v) for v in self.m.vehicles.values()}
        return {"vehicle": told["vehicle"]} if list(told) == ["vehicle"] else {"vehicles": told}

    def vehicle(self, vehicle: BuiltVehicle) -> dict[str, Plain]:
        where = f"vehicle '{vehicle.name}'"
        return {
            "platform": vehicle.platform.name,
            **_drop_empty({"friction": self.scalar(vehicle.friction, where)}),
            **({"contact": UNILATERAL} if vehicle.unilateral else {}),
            **_drop_empty({"restitution": self.scalar(vehicle.restitution, where)}),
            "wheels": {w.name: self.road_wheel(w) for w in vehicle.wheels},
        }

    def road_wheel(self, wheel: BuiltWheel) -> dict[str, Plain]:
        where = f"wheel '{wheel.name}'"
        middle = position(wheel.center, cast("Point", wheel.rolls.origin))
        there = replace(
            wheel.record,
            radius=wheel.radius,
            at=None,
            on=None,
            mass=0.0,
            inertia=None,
            coordinate=None,
            speed=None,
            steering=None,
            trail=None,
            body=wheel.rolls.name,
            center=middle.xyz,
            roller=None if wheel.record.roller is None else self.m.scalar(wheel.record.roller, where),
            stiffness=self.m.scalar(wheel.record.stiffness, where),
        )
        data = self.record(ROAD_WHEEL, there, where)
        return {key: value for key, value in data.items() if value not in ([0.0, 0.0, 0.0], None)}

    def joint_options(self, kind: JointType, where: str) -> dict[str, Plain]:
        match kind:
            case Prescribed(moves, q):
                told: list[Plain] = [self.scalar(e, where) for e in q]
                return {**self.joint_options(moves, where), "prescribed": told}
            case Revolute(axis) | Prismatic(axis) | Cylindrical(axis):
                return {"axis": self.axis(axis, where)}
            case Screw(axis, pitch):
                return {"axis": self.axis(axis, where), "pitch": self.scalar(pitch, where)}
            case Universal(sequence) | Gimbal(sequence):
                return {"sequence": sequence}
            case Planar(normal, velocity):
                return {"normal": normal, **({} if velocity == "parent" else {"velocity": velocity})}
            case Free(velocity):
                return {"velocity": velocity}
            case Coupled(moves, follows, ratio, offset):
                return {
                    "moves": moves.kind,
                    "axis": self.axis(moves.axis, where),
                    "follows": follows,
                    "ratio": self.scalar(ratio, where),
                    **_drop_empty({"offset": self.scalar(offset, where)}),
                }
            case Weld() | Spherical():
                return {}
        raise self.refuse(where, f"its type '{kind.kind}' is not one of the model files")

    def frame(self, name: str, frame: Frame) -> dict[str, Plain]:
        where = f"frame '{name}'"
        assert frame.parent is not None
        return {
            "parent": self.frame_name(frame.parent, where),
            **_drop_empty({"rotation": self.rotation(frame.R_PF, where)}),
            **({} if frame.w_NF is None else {"angular_velocity": [self.scalar(e, where) for e in frame.w_NF]}),
        }

    def point(self, name: str, point: Point) -> dict[str, Plain]:
        where = f"point '{name}'"
        assert point.parent is not None
        data: dict[str, Plain] = {"parent": self.point_name(point.parent, where)}
        offset = self.triple(point.offset.xyz, where)
        data.update(_drop_empty({"offset": offset, "frame": self.frame_name(point.offset.frame, where)}))
        if point.v_NP is not None:
            components = [self.scalar(e, where) for e in point.v_NP.xyz]
            data["velocity"] = {"frame": self.frame_name(point.v_NP.frame, where), "components": components}
        return data

    def speeds(self) -> dict[str, Plain]:
        if not self.m.speeds_chosen:
            return {}
        return {s.name: self.scalar(s.definition, f"speed '{s.name}'") for s in self.m.speed_records.values()}

    def initial(self) -> dict[str, float | str]:
        rest = {c.name: 0.0 for c in self.m.coordinate_records.values()}
        for joint in self.m.joints.values():
            rest.update((c.name, r) for c, r in zip(joint.coordinates, joint.type.rest, strict=True))
        speeds = sorted(self.m.speed_records.values(), key=lambda speed: -speed.given)  # the first win
        records = (*self.m.coordinate_records.values(), *speeds)
        return {
            r.name: self.scalar(r.initial if r.start is None else r.start, f"initial '{r.name}'")
            for r in records
            if r.start is not None or r.initial != rest.get(r.name, 0.0)
        }

    def limit(self, limit: Limit) -> dict[str, float]:
        entries = {"lower": limit.lower, "upper": limit.upper, "velocity": limit.velocity, "effort": limit.effort}
        return {key: value for key, value in entries.items() if math.isfinite(value)}

    # loads and constraints, by the markers of their fields ----------------------------------------------------------

    def load(self, load: BuiltLoad) -> dict[str, Plain]:
        where = f"load '{load.name}'"
        form = form_of(load.record)
        if form is None:
            raise self.refuse(where, f"its type '{type(load.record).__name__}' is not one of the model files")
        return self.record(form, load.record, where)

    def constraint(self, constraint: BuiltConstraint) -> dict[str, Plain]:
        where = f"constraint '{constraint.name}'"
        form = form_of(constraint.record)
        if form is None:
            raise self.refuse(where, f"its kind '{constraint.kind}' is not one of the model files")
        return {"type": form.word, **self.record(form, constraint.record, where)}

    def contact(self, contact: BuiltChanging) -> dict[str, Plain]:
        where = f"contact '{contact.given}'"
        conditions = self.record(CONTACT_CONDITIONS, contact.conditions, where)
        return {**self.record(CONTACT, contact.record, where), **conditions}

    def all_changing(self) -> dict[str, Plain]:
        """Constraints that come and go; those whose conditions may name rows of others stand after them."""
        written = (CONTACT.word, WheelContact.kind)  # elsewhere: wheels are those of their vehicle
        parts = [c for c in self.m.changing.values() if c.kind not in written]
        last = {c.name: c.conditions.when is not None or c.conditions.until is not None for c in parts}
        return {c.given: self.changing(c) for c in sorted(parts, key=lambda c: last[c.name])}

    def changing(self, part: BuiltChanging) -> dict[str, Plain]:
        """The entry of what comes and goes: that of its record, and its conditions."""
        where = f"constraint '{part.given}'"
        form = form_of(part.record)
        if form is None:
            raise self.refuse(where, f"its kind '{part.kind}' is not one of the model files")
        conditions = self.record(CONDITIONS, part.conditions, where)
        return {"type": form.word, **self.record(form, part.record, where), **conditions}

    def record(self, form: Form, record: Any, where: str) -> dict[str, Plain]:
        """The keys of a record with their values, without those that are at their defaults."""
        data: dict[str, Plain] = {}
        for key in form.keys.values():
            told = [self.field(info, getattr(record, info.name), where) for info in key.fields]
            if key.required or told != [self.field(info, info.default, where) for info in key.fields]:
                data[key.name] = told[0] if len(told) == 1 else told
        return data

    def field(self, info: FieldInfo, value: Any, where: str) -> Plain:
        return None if value is None or info.holds is None else WRITE[info.holds](self, value, where)

    def components(self, values: Sequence[Expr | float], where: str) -> list[Plain]:
        return [self.scalar(e, where) for e in values]

    def direction(self, value: str | Triple, where: str) -> Plain:
        return value if isinstance(value, str) else self.axis(value, where)

    def orientation(self, value: Mapping[str, Any], where: str) -> Plain:
        return self.rotation(value["matrix"], where) or None

    def named_frame(self, value: Frame | str, where: str) -> str:
        return self.frame_name(self.m.find_frame(value, where), where)

    def named_point(self, value: Point | str, where: str) -> str:
        return self.point_name(self.m.find_point(value, where), where)

    def measure(self, value: Expr | str, where: str) -> Plain:
        return value if isinstance(value, str) else self.scalar(value, where)

    def contact_shape(self, shape: ContactShape, where: str) -> dict[str, Plain]:
        return {key: self.plain(value, where) for key, value in describe_shape(shape).items()}

    def plain(self, value: Any, where: str) -> Plain:
        """A value of a shape: expressions as texts, in lists as they are; a tuple of three is an axis."""
        if isinstance(value, Mapping):
            return {key: [self.components(row, where) for row in rows] for key, rows in value.items()}
        if isinstance(value, tuple):
            return self.axis(value, where)
        if isinstance(value, list):
            return [self.plain(item, where) for item in value]
        return value if isinstance(value, bool) else self.scalar(value, where)

    def equations(self, values: Sequence[Expr | str], where: str) -> list[Plain]:
        return [e if isinstance(e, str) else self.scalar(e, where) for e in values]


def _pass_through(writer: _Description, value: Any, where: str) -> Plain:
    return value


WRITE: Mapping[Field, Callable[[_Description, Any, str], Plain]] = {
    Field.BODY: _pass_through,
    Field.JOINT: _pass_through,
    Field.FRAME: _Description.named_frame,
    Field.POINT: _Description.named_point,
    Field.SCALAR: _Description.scalar,
    Field.COMPONENTS: _Description.components,
    Field.AXIS: _Description.direction,
    Field.DIRECTION: _Description.direction,
    Field.ROTATION: _Description.orientation,
    Field.LABELS: lambda writer, value, where: list(value),
    Field.WORD: _pass_through,
    Field.FLAG: _pass_through,
    Field.INDEX: _pass_through,
    Field.EQUATIONS: _Description.equations,
    Field.CURVE: _Description.equations,
    Field.MEASURE: _Description.measure,
    Field.TRIGGER: _Description.scalar,
    Field.SHAPE: _Description.contact_shape,
}
"""What writes the value of a field, by its marker: of a stored record, or of a default."""


def _drop_empty(data: Mapping[str, Plain]) -> dict[str, Plain]:
    """Those entries that say something."""
    return {key: value for key, value in data.items() if isinstance(value, bool) or value not in ([], {}, 0.0, "")}


def _shape(shape: Shape) -> dict[str, Plain]:
    size: Sequence[float] | float = shape.size[0] if len(shape.size) == 1 else list(shape.size)
    data: dict[str, Plain] = {shape.kind: size}
    if shape.kind == "mesh":
        data = {"mesh": shape.file, "scale": [] if shape.size == (1.0, 1.0, 1.0) else size}
    data.update(axis="" if shape.axis == "z" else shape.axis, color=shape.color)
    data.update(quaternion=[] if shape.wxyz == (1.0, 0.0, 0.0, 0.0) else list(shape.wxyz))
    return {**_drop_empty(data), **({"at": list(shape.at)} if any(shape.at) else {})}
