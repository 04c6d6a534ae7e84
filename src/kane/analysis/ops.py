"""Operation counts of a model's programs, beside what the literature needs for the same arm.

One row per computation: multiplications, additions (subtractions are additions), divisions, sines and cosines of one
evaluation. Counted with all numbers folded in, and with every parameter kept free and the work on parameters alone done
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formulation import formulate
from ..model import Mechanism, load_mechanism
from .tables import align_columns

COMPUTATIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


@dataclass(frozen=True, slots=True)
class OperationRow:
    """How many operations one evaluation takes, by whom; None where a source does not say.

    `total` is multiplications, divisions and additions together, where a source gives no more than that.
    """

    computation: str
    source: str
    mul: int | None
    add: int | None
    div: int | None = None
    trig: int | None = None
    total: int | None = None

    @property
    def arithmetic(self) -> int | None:
        """Multiplications, divisions and additions together."""
        return self.total if self.mul is None or self.add is None else self.mul + self.add + (self.div or 0)


PUBLISHED: dict[str, tuple[OperationRow, ...]] = {
    "stanford-arm": (
        OperationRow("inverse_dynamics", "Kane & Levinson [KL83]", 646, 394),
        OperationRow("inverse_dynamics", "Angeles, Ma & Rojas, any six-axis arm [AMR89]", 521, 435),
        OperationRow("inverse_dynamics", "Newton-Euler [HOL80], Lagrange [SIL82], as cited in [KL83]", 852, 738),
        OperationRow("inverse_dynamics", "Newton-Euler [WO82], as cited in [KL83]", 1541, 1196),
        OperationRow("inverse_dynamics", "Lagrange [HOL80], as cited in [KL83]", 2195, 1719),
    ),
    "puma-560": (
        OperationRow("inverse_dynamics", "Armstrong, Khatib & Burdick, explicit [AKB86]", 739, 426),
        OperationRow(
            "inverse_dynamics", "Armstrong, Khatib & Burdick, without what is below 1 % [AKB86]", None, None, total=305
        ),
        OperationRow("inverse_dynamics", "Newton-Euler, as cited in [AKB86]", None, None, total=1560),
    ),
}
"""Counts of the literature, by what the names of the built-in models of the arm start with."""

KNOWN_ARMS: dict[str, str] = {
    "puma-560": "PUMA 560",
    "stanford-arm": "Stanford arm",
    "ur5": "UR5",
    "panda": "Panda",
    "iiwa": "LBR iiwa",
}
"""Built-in arms that everybody knows."""


@dataclass(frozen=True, slots=True)
class OperationTable:
    """The rows for one model, ours first, then those of the literature."""

    model: str
    rows: tuple[OperationRow, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data, for JSON."""
        return [
            {
                "computation": r.computation,
                "source": r.source,
                "mul": r.mul,
                "add": r.add,
                "div": r.div,
                "trig": r.trig,
                "arithmetic": r.arithmetic,
            }
            for r in self.rows
        ]

    def __str__(self) -> str:
        head = ("computation", "by", "mul", "add", "div", "trig", "in all")
        cells = [head, *(self._cells(r) for r in self.rows)]
        return align_columns(cells)

    @staticmethod
    def _cells(r: OperationRow) -> tuple[str, ...]:
        return (r.computation, r.source, *map(_count_text, (r.mul, r.add, r.div, r.trig, r.arithmetic)))


@dataclass(frozen=True, slots=True)
class KnownArms:
    """Efforts of well-known arms, numbers folded, beside what the literature needs for them: (arm, row)."""

    rows: tuple[tuple[str, OperationRow], ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data, for JSON."""
        return [
            {"arm": arm, "source": r.source, "mul": r.mul, "add": r.add, "arithmetic": r.arithmetic, "trig": r.trig}
            for arm, r in self.rows
        ]


def known_arms() -> KnownArms:
    """Customised counts of `KNOWN_ARMS`: what one evaluation of the efforts costs with all numbers folded in."""
    rows: list[tuple[str, OperationRow]] = []
    for model, arm in KNOWN_ARMS.items():
        count = formulate(load_mechanism(model)).count("inverse_dynamics")
        ours = OperationRow("inverse_dynamics", "kane", count["mul"], count["add"], count["div"], count["trig"])
        rows += [(arm, ours), *((arm, row) for row in PUBLISHED.get(model, ()))]
    return KnownArms(tuple(rows))


def mobile_manipulator_bound(m: int, w: int) -> tuple[float, float]:
    """Multiplications and additions that a vehicle on w wheels with m links takes at most by [TK01, Sec. 5.2]."""
    return 37.5 * m**2 + 441.5 * m + 88 + 28 * w, 31.5 * m**2 + 392.5 * m + 26 + 11 * w


def _vehicle_bound(mechanism: Mechanism) -> list[OperationRow]:
    """The bound of the literature for a model that is one vehicle; nothing for others."""
    if len(mechanism.vehicles) != 1:
        return []
    (vehicle,) = mechanism.vehicles.values()
    aside = {id(body) for wheel in vehicle.wheels for body in (wheel.rolls, wheel.carrier)} | {id(vehicle.platform)}
    moved = [b for b in mechanism.bodies.values() if b.joint is not None and b.joint.rates and id(b) not in aside]
    m, w = sum(not b.mass.is_zero for b in moved), len(vehicle.wheels)
    mul, add = mobile_manipulator_bound(m, w)
    source = f"Tanner & Kyriakopoulos, upper bound for m = {m} links, w = {w} wheels [TK01]"
    return [OperationRow("forward_dynamics", source, round(mul), round(add))]


def _count_text(count: int | None) -> str:
    return "" if count is None else str(count)


def operation_table(mechanism: Mechanism) -> OperationTable:
    """Counts of the model's programs, numbers folded and all parameters free, beside the literature's."""
    rows = []
    for source, free in (("kane, numbers folded", ()), ("kane, all parameters free", "all")):
        if free and not mechanism.parameters:
            continue
        equations = formulate(mechanism, free)
        for computation in COMPUTATIONS:
            count = equations.count(computation)
            rows.append(OperationRow(computation, source, count["mul"], count["add"], count["div"], count["trig"]))
    for stem, published in PUBLISHED.items():
        if mechanism.builtin.startswith(stem):
            rows += published
    rows += _vehicle_bound(mechanism)
    order = {c: k for k, c in enumerate(COMPUTATIONS)}
    return OperationTable(mechanism.name, tuple(sorted(rows, key=lambda r: order[r.computation])))


__all__ = [
    "KNOWN_ARMS",
    "KnownArms",
    "OperationRow",
    "OperationTable",
    "known_arms",
    "mobile_manipulator_bound",
    "operation_table",
]
