"""Operations that a mobile manipulator takes, m links on w wheels, beside the bounds of [TK01, Sec. 5.2].

Our counts are of formulated vehicles, every mass, length, angle and moment of inertia kept free, as the paper's
are: links turn about axes of any direction and have principal axes of inertia along their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..formulation import ClosedFormOf, closed_form_program, formulate
from ..graph import Program
from ..model import Mechanism, RoadWheel
from .ops import mobile_manipulator_bound
from .tables import align_columns

LINKS, WHEELS = tuple(range(1, 11)), (3, 4, 5, 6)
"""Numbers of links and of wheels that the table is about."""

PARTS = ("mass_matrix", "bias", "reduced_M", "reduced_F", "forward_dynamics")
"""What is counted: M and F of Eq. 7, Sᵀ M S and Sᵀ(M Ṡz + F) of Eq. 8, and accelerations, constraints embedded."""

_LINK = {"a": 0.3, "b": 0.1, "d": 0.2, "alpha": 0.7, "m": 2.0, "x": 0.1, "y": 0.02, "z": 0.15}
_INERTIA = {"xx": 1.1, "yy": 1.2, "zz": 1.3}
_TRACK = (0.0, 0.35, -0.35, 0.2)  # m: where steered wheels stand, to the left


def general_mobile_manipulator(m: int, w: int) -> Mechanism:
    """A platform on w wheels, two on its rear axle and all others steered, with an arm of m links; every number is a
    parameter."""
    vehicle = Mechanism(f"mobile-manipulator-{m}-{w}", gravity=(0.0, 0.0, "-g"))
    for name, value in {"g": 9.81, "r": 0.15, "mw": 2.0, "jw": 0.02, "front": 0.35, "rear": -0.3, "half": 0.3}.items():
        vehicle.parameter(name, value)
    _add_body(vehicle, "platform", "p", 40.0)
    wheels: dict[str, RoadWheel] = {}
    for j in range(w - 2):
        vehicle.parameter(f"track{j}", _TRACK[j])
        steering = "phi" if j == 0 else "ackermann"
        wheels[f"front{j}"] = RoadWheel(
            at=("front", f"track{j}" if j else 0.0, 0.0), radius="r", mass="mw", inertia="jw", steering=steering
        )
    for side, sign in (("left", ""), ("right", "-")):
        wheels[side] = RoadWheel(at=("rear", f"{sign}half", 0.0), radius="r", mass="mw", inertia="jw")
    parent = "platform"
    for i in range(1, m + 1):
        body = f"link{i}"
        _add_body(vehicle, body, str(i), _LINK["m"])
        for name in ("a", "b", "d", "alpha"):
            vehicle.parameter(f"{name}{i}", _LINK[name])
        turn = {"axis": "x", "angle": f"alpha{i}"}
        at = (f"a{i}", f"b{i}", f"d{i}")
        vehicle.joint(f"joint{i}", "revolute", parent, body, axis="z", rotation=turn, at=at)
        parent = body
    vehicle.vehicle("platform", wheels, steering="phi")
    return vehicle


def _add_body(vehicle: Mechanism, body: str, mark: str, mass: float) -> None:
    values = {"m": mass, **{k: _LINK[k] for k in "xyz"}, **_INERTIA}
    for name, value in values.items():
        vehicle.parameter(f"{name}{mark}", value)
    center = (f"x{mark}", f"y{mark}", f"z{mark}")
    vehicle.body(body, mass=f"m{mark}", center=center, inertia={k: f"{k}{mark}" for k in _INERTIA})


@dataclass(frozen=True, slots=True)
class MobileRow:
    """One vehicle: m links, w wheels, the paper's bound (mul, add), and our counts (mul with div, add with neg) by
    `PARTS`."""

    m: int
    w: int
    bound: tuple[float, float]
    counts: dict[str, tuple[int, int]]

    def factor(self, part: str) -> float:
        """How many times fewer operations a part takes than the bound: the lesser of the two factors."""
        return min(b / max(c, 1) for b, c in zip(self.bound, self.counts[part], strict=True))


@dataclass(frozen=True, slots=True)
class MobileTable:
    """Mobile manipulators beside the bounds of [TK01]."""

    rows: tuple[MobileRow, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data, for JSON."""
        return [
            {
                "links": r.m,
                "wheels": r.w,
                "paper": {"mul": r.bound[0], "add": r.bound[1]},
                **{part: {"mul": mul, "add": add} for part, (mul, add) in r.counts.items()},
            }
            for r in self.rows
        ]

    def cells(self) -> list[tuple[str, ...]]:
        """The columns and the rows as words."""
        head = ("m", "w", "paper", *(part.replace("_", " ") for part in PARTS))
        return [head, *(self._row(r) for r in self.rows)]

    @staticmethod
    def _row(r: MobileRow) -> tuple[str, ...]:
        counts = (f"{mul} + {add}" for mul, add in (r.counts[part] for part in PARTS))
        return (str(r.m), str(r.w), f"{r.bound[0]:g} + {r.bound[1]:g}", *counts)

    def __str__(self) -> str:
        return align_columns(self.cells())


def mobile_table(links: Iterable[int] = LINKS, wheels: Iterable[int] = WHEELS) -> MobileTable:
    """Counts of general mobile manipulators, every parameter free; work on parameters alone is done once and not
    counted."""
    return MobileTable(tuple(mobile_row(m, w) for m in links for w in tuple(wheels)))


def mobile_row(m: int, w: int) -> MobileRow:
    """The counts of one of them."""
    mechanism = general_mobile_manipulator(m, w)
    equations = formulate(mechanism, "all")
    counts: dict[str, tuple[int, int]] = {}
    for part in PARTS:
        if part.startswith("reduced"):
            speeds = [mechanism.speeds[i] for i in equations.embedding.choice.independent]
            chosen = ClosedFormOf(dict(zip(speeds, speeds, strict=True)), ())
            program = closed_form_program(formulate(mechanism, "all"), chosen, [part])
        else:
            program = equations.program(part)
        counts[part] = _arithmetic(program)
    return MobileRow(m, w, mobile_manipulator_bound(m, w), counts)


def _arithmetic(program: Program) -> tuple[int, int]:
    """Multiplications and divisions, and additions and changes of sign, without work on parameters alone."""
    total, once = program.count(), program.count("parameters")
    left = {k: total[k] - once[k] for k in total}
    return left["mul"] + left["div"], left["add"] + left["neg"]


__all__ = [
    "LINKS",
    "PARTS",
    "WHEELS",
    "MobileRow",
    "MobileTable",
    "general_mobile_manipulator",
    "mobile_row",
    "mobile_table",
]
