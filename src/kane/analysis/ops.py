"""Operation counts of a model's programs, beside what the literature needs for the same arm.

One row per computation: multiplications, additions (subtractions are additions), divisions, sines and cosines of one
evaluation. Counted with all numbers folded in, and with every parameter kept free and the work on parameters alone done
once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formulation import formulate
from ..model import Mechanism

COMPUTATIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")


@dataclass(frozen=True, slots=True)
class OperationRow:
    """How many operations one evaluation takes, by whom; None where a source does not say."""

    computation: str
    source: str
    mul: int
    add: int
    div: int | None = None
    trig: int | None = None


PUBLISHED: dict[str, tuple[OperationRow, ...]] = {
    "stanford-arm": (
        OperationRow("inverse_dynamics", "Kane & Levinson [KL83]", 646, 394),
        OperationRow("inverse_dynamics", "Angeles, Ma & Rojas, any six-axis arm [AMR89]", 521, 435),
        OperationRow("inverse_dynamics", "Newton-Euler [HOL80], Lagrange [SIL82], as cited in [KL83]", 852, 738),
        OperationRow("inverse_dynamics", "Newton-Euler [WO82], as cited in [KL83]", 1541, 1196),
        OperationRow("inverse_dynamics", "Lagrange [HOL80], as cited in [KL83]", 2195, 1719),
    )
}
"""Counts of the literature, by the name that the models of the arm start with."""


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
            }
            for r in self.rows
        ]

    def __str__(self) -> str:
        head = ("computation", "by", "mul", "add", "div", "trig")
        cells = [head, *((r.computation, r.source, *map(_shown, (r.mul, r.add, r.div, r.trig))) for r in self.rows)]
        widths = [max(len(line[k]) for line in cells) for k in range(6)]
        lines = []
        for line in cells:
            words = [f"{c:<{w}}" if k < 2 else f"{c:>{w}}" for k, (c, w) in enumerate(zip(line, widths, strict=True))]
            lines.append("  ".join(words).rstrip())
        return "\n".join(lines)


def _shown(count: int | None) -> str:
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
        if mechanism.name.startswith(stem):
            rows += published
    order = {c: k for k, c in enumerate(COMPUTATIONS)}
    return OperationTable(mechanism.name, tuple(sorted(rows, key=lambda r: order[r.computation])))


__all__ = ["OperationRow", "OperationTable", "operation_table"]
