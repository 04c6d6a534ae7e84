"""A Mechanism written as URDF, where that can express it.

A URDF link's frame is that of its inboard joint, so bodies whose joint sits elsewhere are written in the axes of the
joint. Gravity, speeds, controls, initial values and symbols of coordinates are no part of a URDF and are left out.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ExpressionError, ModelError, Problem
from ...graph import Expr, evaluate
from ..joints import Coupled, Free, Planar, Prismatic, Revolute, Weld
from ..loads import BuiltLoad, Effort, JointSpring
from ..mechanism import Mechanism
from ..normal import number_text
from ..records import Body, Joint, Shape
from .losses import RATES, recognize_loss
from .values import UNBOUNDED, rpy_of

Array = np.ndarray[Any, np.dtype[np.float64]]
WORLD = "world"


def to_urdf(mechanism: Mechanism) -> str:
    """The URDF of a mechanism, parameters at their values; raises ModelError with everything that URDF cannot say."""
    return _Writer(mechanism).text()


class _Writer:
    def __init__(self, mechanism: Mechanism):
        self.m = mechanism
        self.problems: list[Problem] = []
        self.damping: dict[str, float] = {}
        self.friction: dict[str, float] = {}

    def refuse(self, where: str, what: str, fix: str = "") -> None:
        self.problems.append(Problem(self.m.where(where), what, "it cannot be expressed in URDF", fix))

    def text(self) -> str:
        m = self.m
        self.check()
        root = self.root()
        lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<robot name={quoteattr(m.name)}>"]
        if root is None:
            lines.append(f'  <link name="{self.world}"/>')
        for body in m.bodies.values():
            lines += self.link(body)
        place = {c: i for i, c in enumerate(m.coordinates)}
        joints = [j for j in m.joints.values() if j is not root]
        joints.sort(key=lambda j: min((place[c.name] for c in j.coordinates), default=len(place)))
        for joint in joints:
            lines += self.joint(joint)
        if self.problems:
            raise ModelError(self.problems)
        return "\n".join([*lines, "</robot>", ""])

    # what can be said ----------------------------------------------------------------------------------------------

    def check(self) -> None:
        m = self.m
        in_joints = {c.name for j in m.joints.values() for c in j.coordinates}
        for name in m.coordinates:
            if name not in in_joints:
                self.refuse(f"coordinate '{name}'", "belongs to no joint")
        for body in m.bodies.values():
            if body.joint is None:
                self.refuse(f"body '{body.name}'", "is attached to a frame, not by a joint")
        for joint in m.joints.values():
            if not isinstance(joint.type, (Weld, Revolute, Prismatic, Planar, Free, Coupled)):
                self.refuse(f"joint '{joint.name}'", f"is of type {joint.type.kind}", "build it of revolute joints")
            elif isinstance(joint.type, Free) and joint.type.velocity != "body":
                self.refuse(f"joint '{joint.name}'", "has its velocity in the parent's axes", "use velocity='body'")
        for rotor in m.rotors.values():
            self.refuse(f"rotor '{rotor.name}'", "is the inertia of a drive", "remove it before")
        for constraint in m.constraints.values():
            self.refuse(f"constraint '{constraint.name}'", f"is of kind {constraint.kind}", "remove it before")
        for given in dict.fromkeys(part.given for part in m.changing.values()):
            self.refuse(f"constraint '{given}'", "comes and goes", "remove it before")
        for load in m.loads.values():
            if not self.take_load(load):
                self.refuse(f"load '{load.name}'", f"is a {type(load.record).__name__}", "remove it before")

    def take_load(self, load: BuiltLoad) -> bool:
        """Whether a load is the damping or the friction of a joint; remembers it."""
        record, build = load.record, load.build
        if not isinstance(record, (JointSpring, Effort)):
            return False
        joint = build.joint(record.joint)
        if joint.type.kind not in ("revolute", "prismatic"):
            return False
        if isinstance(record, JointSpring):
            if not build.scalar(record.stiffness).is_zero:
                return False
            found = self.number(build.scalar(record.damping))
            self.damping[joint.name] = self.damping.get(joint.name, 0.0) + found
            return True
        return self.take_loss(load.name, joint, build.scalar(record.value))

    def take_loss(self, name: str, leader: Joint, value: Expr) -> bool:
        """Whether an effort is the damping or the friction of its joint or of one that follows it, the one that the
        load is named after first; remembers it.
        """
        known = {p.name: p.value for p in self.m.parameters.values()}
        try:
            found = [evaluate([value], {**known, repr(leader.rates[0]): r})[0] for r in RATES]
        except ExpressionError:
            return False
        shares = {leader.name: 1.0}
        for other in self.m.joints.values():
            if isinstance(other.type, Coupled) and other.type.follows == leader.name:
                shares[other.name] = self.number(other.type.ratio)
        for joint in sorted(shares, key=lambda joint: not name.startswith(f"{joint} ")):
            share = shares[joint]
            if not share:
                continue
            # the rates of that joint, and what it feels of the effort
            loss = recognize_loss([share * r for r in RATES], [x / share for x in found])
            if loss is not None:
                losses = self.damping if loss.kind == "damping" else self.friction
                losses[joint] = losses.get(joint, 0.0) + loss.size
                return True
        return False

    def root(self) -> Joint | None:
        """The weld by which the root link stands on the ground at the origin; None where a world link is needed."""
        bases = [j for j in self.m.joints.values() if j.parent is self.m.ground]
        if len(bases) == 1 and isinstance(bases[0].type, Weld):
            p, R = self.place(bases[0])
            p_C, R_C = self.frame_in_joint(bases[0].child)
            if not np.any(p) and np.array_equal(R, np.eye(3)) and not np.any(p_C) and np.array_equal(R_C, np.eye(3)):
                return bases[0]
        return None

    @property
    def world(self) -> str:
        name = WORLD
        while name in self.m.bodies:
            name += "_"
        return name

    # numbers ---------------------------------------------------------------------------------------------------------

    def number(self, expr: Any) -> float:
        return self.m.number(expr, "to_urdf") + 0.0

    def array(self, exprs: Sequence[Any]) -> Array:
        return np.array([self.number(e) for e in exprs])

    def matrix(self, rows: Sequence[Sequence[Any]]) -> Array:
        return np.array([[self.number(e) for e in row] for row in rows])

    def place(self, joint: Joint) -> tuple[Array, Array]:
        """(p, R) of a joint in its parent body."""
        return self.array(joint.at), self.matrix(joint.mount)

    def frame_in_joint(self, body: Body) -> tuple[Array, Array]:
        """(p, R) of a body's frame in the frame of its inboard joint, which is that of the URDF link."""
        if body.joint is None:
            return np.zeros(3), np.eye(3)
        R = self.matrix(body.joint.child_mount).T
        return -R @ self.array(body.joint.child_at) + 0.0, R

    # elements --------------------------------------------------------------------------------------------------------

    def link(self, body: Body) -> list[str]:
        p, R = self.frame_in_joint(body)
        inside: list[str] = []
        mass, I = self.number(body.mass), self.matrix(body.inertia)
        if mass or np.any(I):
            center = p + R @ self.array(body.center)
            I = R @ I @ R.T
            entries = {"ixx": I[0, 0], "iyy": I[1, 1], "izz": I[2, 2], "ixy": I[0, 1], "ixz": I[0, 2], "iyz": I[1, 2]}
            written = " ".join(f'{key}="{_text(value)}"' for key, value in entries.items())
            inside = [
                "    <inertial>",
                f"      {_origin(center, np.eye(3))}",
                f'      <mass value="{_text(mass)}"/>',
                f"      <inertia {written}/>",
                "    </inertial>",
            ]
        for shape in body.shapes:
            inside += self.visual(shape, p, R)
        name = quoteattr(body.name)
        return [f"  <link name={name}>", *inside, "  </link>"] if inside else [f"  <link name={name}/>"]

    def visual(self, shape: Shape, p: Array, R: Array) -> list[str]:
        if shape.kind == "line":
            return []
        own = _rotation(shape.wxyz)
        if shape.kind == "cylinder" and shape.axis != "z":  # columns: x, y, z with z along the axis
            own = own @ np.roll(np.eye(3), 1 if shape.axis == "x" else 2, axis=0)
        sizes = [_text(s) for s in shape.size]
        form = {
            "box": lambda: f'<box size="{" ".join(sizes)}"/>',
            "cylinder": lambda: f'<cylinder radius="{sizes[0]}" length="{sizes[1]}"/>',
            "sphere": lambda: f'<sphere radius="{sizes[0]}"/>',
            "mesh": lambda: f'<mesh filename={quoteattr(shape.file)} scale="{" ".join(sizes)}"/>',
        }[shape.kind]()
        material = []
        if shape.color.startswith("#"):
            rgb = " ".join(_text(int(shape.color[i : i + 2], 16) / 255) for i in (1, 3, 5))
            material = [f'      <material name="{shape.color}"><color rgba="{rgb} 1"/></material>']
        origin = _origin(p + R @ np.array(shape.at), R @ own)
        return ["    <visual>", f"      {origin}", f"      <geometry>{form}</geometry>", *material, "    </visual>"]

    def joint(self, joint: Joint) -> list[str]:
        p_B, R_B = self.frame_in_joint(joint.parent)
        p, R = self.place(joint)
        kind, moves = self.kind(joint), joint.type.moves if isinstance(joint.type, Coupled) else joint.type
        parent = self.world if joint.parent is self.m.ground else joint.parent.name
        lines = [
            f'  <joint name={quoteattr(joint.name)} type="{kind}">',
            f"    {_origin(p_B + R_B @ p, R_B @ R)}",
            f"    <parent link={quoteattr(parent)}/>",
            f"    <child link={quoteattr(joint.child.name)}/>",
        ]
        if isinstance(moves, (Revolute, Prismatic)):
            lines.append(f'    <axis xyz="{_words(self.array(moves.axis))}"/>')
        elif isinstance(moves, Planar):
            if moves.normal != "z":
                self.refuse(f"joint '{joint.name}'", f"is planar with normal {moves.normal}", "turn it so that it is z")
            lines.append('    <axis xyz="0 0 1"/>')
        if isinstance(joint.type, Coupled):
            ratio, offset = _text(self.number(joint.type.ratio)), _text(self.number(joint.type.offset))
            follows = quoteattr(joint.type.follows)
            lines.append(f'    <mimic joint={follows} multiplier="{ratio}" offset="{offset}"/>')
        if kind in ("revolute", "prismatic", "continuous"):
            lines += self.limit(joint, kind) + self.dynamics(joint)
        return [*lines, "  </joint>"]

    def kind(self, joint: Joint) -> str:
        kind = joint.moves_as
        if kind == "revolute" and joint.coordinates:
            limit = self.m.limits.get(joint.coordinates[0].name)
            return "revolute" if limit is not None and math.isfinite(limit.upper - limit.lower) else "continuous"
        return {"weld": "fixed", "free": "floating"}.get(kind, kind)

    def limit(self, joint: Joint, kind: str) -> list[str]:
        limit = self.m.limits.get(joint.coordinates[0].name) if joint.coordinates else None
        bounds = [math.inf] * 4 if limit is None else [-limit.lower, limit.upper, limit.velocity, limit.effort]
        keys = ("lower", "upper", "velocity", "effort") if kind != "continuous" else ("velocity", "effort")
        values = dict(zip(("lower", "upper", "velocity", "effort"), bounds, strict=True))
        values["lower"] = -values["lower"]
        written = " ".join(f'{key}="{_text(values[key])}"' for key in keys)
        return [] if kind == "continuous" and limit is None else [f"    <limit {written}/>"]

    def dynamics(self, joint: Joint) -> list[str]:
        damping, friction = self.damping.get(joint.name, 0.0), self.friction.get(joint.name, 0.0)
        if not damping and not friction:
            return []
        return [f'    <dynamics damping="{_text(damping)}" friction="{_text(friction)}"/>']


def _text(value: float) -> str:
    """A number; without bound it is the largest one, since other readers know no infinity."""
    return number_text(max(-UNBOUNDED, min(UNBOUNDED, float(value) + 0.0)))


def quoteattr(text: str) -> str:
    """An attribute's value in quotes."""
    return f'"{html.escape(text)}"'


def _words(values: Sequence[float] | Array) -> str:
    return " ".join(_text(v) for v in values)


def _origin(p: Array, R: Array) -> str:
    return f'<origin xyz="{_words(p)}" rpy="{_words(rpy_of(R))}"/>'


def _rotation(wxyz: Sequence[float]) -> Array:
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
