"""Serial arms from tables of Hartenberg-Denavit parameters, in three conventions that must be named.

Every convention places frame i, fixed in link i, by four numbers a, alpha, d, theta; they differ in the axis that joint
i turns about, in the end of the link at which its frame sits, and in a sign:

  standard   T_i = Rz(theta) Tz(d) Tx(a) Rx(alpha): joint i turns about z of frame i − 1; frame i sits at the far end
  modified   T_i = Rx(alpha) Tx(a) Rz(theta) Tz(d): joint i turns about z of frame i; frame i sits at the near end
  hd         T_i = Rx(alpha) Tx(a) Rz(theta) Tz(−b): as modified, but the origin lies at −b along Z_i [AMR89, Eqs. 7-8]

A revolute joint adds its coordinate to theta, a prismatic one to d (or b). Lengths in metres, angles in radians.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import ModelError, Problem, suggestion
from ..graph import Expr
from ..space import rotations
from ..space.algebra import Matrix, Triple, plus, product, scaled, times, transpose
from .right_angles import RIGHT_ANGLE, cos_sin, judge_tolerance, right_angle_error, rounded_sentences
from .symbols import KnownRotation

if TYPE_CHECKING:
    from .mechanism import Mechanism
    from .records import Body, Joint

CONVENTIONS: Mapping[str, str] = {
    "standard": "Rz(theta) Tz(d) Tx(a) Rx(alpha), frame i at the far end of link i, joint i about z of frame i - 1",
    "modified": "Rx(alpha) Tx(a) Rz(theta) Tz(d), frame i at joint i and about its own z, a and alpha of link i - 1",
    "hd": "Rx(alpha) Tx(a) Rz(theta) Tz(-b), as modified, but the origin of frame i lies at -b along its z",
}
BODY = ("mass", "center", "inertia", "about", "shapes")


def explain_conventions() -> str:
    """The conventions and how they differ, in one sentence each."""
    return "; ".join(f"{name}: {what}" for name, what in CONVENTIONS.items())


JOINTS = ("revolute", "prismatic")
"""Types of the joint that a row describes, the default first."""


def explain_joints(kind: object) -> tuple[str, str]:
    """Why a row has no joint of this type, and what to write."""
    return "a row of the table describes a joint of one coordinate", suggestion(str(kind), JOINTS)


def dh_arm(
    mechanism: Mechanism,
    convention: str,
    rows: Mapping[str, Mapping[str, Any]],
    *,
    parent: Body | str = "ground",
    at: Sequence[Any] = (0.0, 0.0, 0.0),
    rotation: Mapping[str, Any] | None = None,
    right_angle: float = RIGHT_ANGLE,
) -> list[Joint]:
    """Attach the links of a table to `parent`, whose frame 0 stands at `at` (m) turned by `rotation`.

    `rows` maps the name of each joint to its row: a, alpha, theta and d (b in `hd`), all four, the joint's own one
    where its coordinate is zero; `type` (revolute, the default, or prismatic); `body`, a body declared before or the
    name of a new one with mass, center and inertia in frame i; `coordinate`, `speed`, `initial` where wanted. Angles
    within `right_angle` (rad) of a multiple of 90° are taken as that; others that look like one, rounded, are remarked.
    """
    problems = _check(mechanism, convention, rows)
    if wrong := judge_tolerance(right_angle):
        problems.append(Problem(mechanism.where("dh / right_angle"), wrong))
    if problems:
        raise ModelError(problems)
    where = "dh"
    place = (mechanism.triple(at, f"{where} / at"), mechanism.fixed_rotation(rotation, f"{where} / rotation"))
    joints: list[Joint] = []
    inner: Body | str = parent
    turns = _Turns(mechanism, right_angle)
    for name, row in rows.items():
        given = {key: row[key] for key in BODY if key in row}
        body = str(row.get("body", name))
        if given or body not in mechanism.bodies:
            mechanism.body(body, **given)
        options: dict[str, Any] = _placement(turns, convention, name, row, place)
        for key, plural in (("coordinate", "coordinates"), ("speed", "speeds"), ("initial", "initial")):
            if row.get(key) is not None:
                options[plural] = [row[key]]
        joints.append(mechanism.joint(name, row.get("type", "revolute"), inner, body, **options))
        inner = body
        place = None
    if turns.rounded:
        remark = rounded_sentences(turns.rounded, "give the table right_angle=...")
        mechanism.remarks.append(Problem(mechanism.where("dh"), *remark))
    return joints


def _placement(
    turns: _Turns, convention: str, name: str, row: Mapping[str, Any], base: tuple[Triple, Matrix] | None
) -> dict[str, Any]:
    """Where the joint sits in its two links, as Mechanism.joint takes it."""
    where, m = f"dh / {name}", turns.mechanism
    length = "b" if convention == "hd" else "d"
    a, d = m.scalar(row["a"], f"{where} / a"), m.scalar(row[length], f"{where} / {length}")
    turn_x = turns.about(0, row["alpha"], name, "alpha")
    turn_z = turns.about(2, row["theta"], name, "theta")
    zero = m.graph.const(0.0)
    along = -d if convention == "hd" else d
    options: dict[str, Any] = {"axis": "z"}
    if convention == "hd" and row.get("type") == "prismatic":
        options["axis"] = "-z"
    if convention == "standard":
        offset, mount = (zero, zero, zero), turn_z
        inward = transpose(turn_x)
        options["child_at"] = scaled(-1.0, times(inward, (a, zero, along)))
        options["child_rotation"] = _spec(m, inward)
    else:
        offset, mount = plus((a, zero, zero), times(turn_x, (zero, zero, along))), product(turn_x, turn_z)
    if base is not None:
        offset, mount = plus(base[0], times(base[1], offset)), product(base[1], mount)
    return {**options, "at": offset, "rotation": _spec(m, mount)}


def _spec(m: Mechanism, R: Matrix) -> KnownRotation | None:
    return None if m.unturned == R else KnownRotation(R, fixed=True)  # made of angles that have been judged


class _Turns:
    """Turns about x or z; by multiples of 90° made of zeros and ones. Notes joints with right angles of few digits."""

    def __init__(self, mechanism: Mechanism, right_angle: float):
        self.mechanism = mechanism
        self.rounded: dict[str, float] = {}  # joint → how far an angle is off (rad)
        self._right_angle = right_angle

    def about(self, axis: int, angle: Any, joint: str, key: str) -> Matrix:
        """The matrix of an angle in the row of a joint."""
        m, where = self.mechanism, f"dh / {joint} / {key}"
        expr: Expr = m.scalar(angle, where)
        m.constant([expr], where)
        if expr.number is None:
            return rotations.simple(axis, expr)
        off = right_angle_error(repr(expr.number))
        if off > self._right_angle:
            self.rounded[joint] = max(off, self.rounded.get(joint, 0.0))
        c, s = cos_sin(expr.number, self._right_angle)
        number = m.graph.const
        return rotations.simple_of(axis, number(c), number(s), number(-s))


def _check(m: Mechanism, convention: str, rows: Mapping[str, Mapping[str, Any]]) -> list[Problem]:
    """Everything that is missing or unknown."""
    if convention not in CONVENTIONS:
        what = f"unknown convention '{convention}'" if convention else "the convention is not named"
        because = f"the same four numbers mean different arms: {explain_conventions()}"
        return [Problem(m.where("dh"), what, because, f"say which: {', '.join(CONVENTIONS)}")]
    if not rows:
        return [Problem(m.where("dh / rows"), "the table is empty", fix="give one row per joint")]
    if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
        fix = 'write {"shoulder": {"a": 0, "alpha": 0, "d": 0.3, "theta": 0}, "elbow": …}'
        return [Problem(m.where("dh / rows"), "expected names of joints with a row each, numbers by name", fix=fix)]
    problems = []
    needed = ("a", "alpha", "b" if convention == "hd" else "d", "theta")
    known = dict.fromkeys((*needed, "type", "body", "coordinate", "speed", "initial", *BODY))
    for name, row in rows.items():
        missing = [key for key in needed if row.get(key) is None]
        if missing:
            because = f"a row of convention '{convention}' has {', '.join(needed)}: {CONVENTIONS[convention]}"
            fix = "give all four; the joint's own one is its value where the coordinate is zero, often 0"
            problems.append(Problem(m.where(f"dh / {name}"), f"{', '.join(missing)} missing", because, fix))
        for key in ("alpha", "theta"):
            if isinstance(row.get(key), (int, float)) and abs(row[key]) > 2 * math.pi:
                because, fix = "angles are in radians, and that is more than a turn", f"write '{row[key]:g}*deg'"
                problems.append(Problem(m.where(f"dh / {name}"), f"{key} = {row[key]:g}", because, fix))
        unknown = [key for key in row if key not in known]
        if unknown:
            other = "hd measures b against Z_i, the others d along it" if {"b", "d"} & set(unknown) else ""
            fix = f"a row has {', '.join(known)}"
            problems.append(Problem(m.where(f"dh / {name}"), f"unknown {', '.join(unknown)}", other, fix))
        if (kind := row.get("type", JOINTS[0])) not in JOINTS:
            because, fix = explain_joints(kind)
            problems.append(Problem(m.where(f"dh / {name}"), f"type '{kind}'", because, fix))
    return problems
