"""Operations that the efforts of a general n-axis arm take, as formulas in n, beside Table 1 of [AMR89].

Our line is counted, not claimed: a general arm, with every parameter of the Hartenberg–Denavit table and of the
inertias kept free, is formulated for several n, and the counts lie on a straight line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import KaneError
from ..formulation import formulate
from ..model import Mechanism
from .tables import align_columns

_COUNTED = (3, 4, 6)  # numbers of axes that are counted; two fix a straight line, the third proves it is one
_LINK = {"a": 0.3, "alpha": 0.7, "d": 0.2, "m": 2.0, "x": 0.1, "y": 0.2, "z": 0.15}
_INERTIA = {"xx": 1.1, "yy": 1.2, "zz": 1.3, "xy": 0.01, "xz": 0.02, "yz": 0.03}


@dataclass(frozen=True, slots=True)
class Formula:
    """slope n + constant operations."""

    slope: int
    constant: int

    def at(self, n: int) -> int:
        return self.slope * n + self.constant

    def __str__(self) -> str:
        return f"{self.slope}n {'-' if self.constant < 0 else '+'} {abs(self.constant)}"


@dataclass(frozen=True, slots=True)
class ArmRow:
    """An algorithm: who, by which method (EL Euler–Lagrange, NE Newton–Euler), formulas, counts for six axes."""

    source: str
    method: str
    mul: Formula | None
    add: Formula | None
    mul_six: int
    add_six: int


PUBLISHED = (
    ArmRow("Hollerbach [HOL80]", "EL", Formula(412, -277), Formula(320, -201), 2195, 1719),
    ArmRow("Luh, Walker & Paul [LWP80]", "NE", Formula(150, -48), Formula(131, -48), 852, 738),
    ArmRow("Walker & Orin [WO82]", "NE", Formula(137, -22), Formula(101, -11), 800, 595),
    ArmRow("Hollerbach & Sahar [HS83]", "NE", None, None, 688, 558),
    ArmRow("Kane & Levinson, Stanford arm [KL83]", "Kane", None, None, 646, 394),
    ArmRow("Khalil, Kleinfinger & Gautier [KKG86]", "NE", Formula(105, -92), Formula(94, -86), 538, 478),
    ArmRow("Angeles, Ma & Rojas [AMR89]", "Kane", Formula(105, -109), Formula(90, -105), 521, 435),
)
"""Table 1 of [AMR89]."""


@dataclass(frozen=True, slots=True)
class ArmTable:
    """Table 1 of [AMR89] with our own line at the end."""

    rows: tuple[ArmRow, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain data, for JSON."""
        return [
            {
                "source": r.source,
                "method": r.method,
                "mul": None if r.mul is None else str(r.mul),
                "add": None if r.add is None else str(r.add),
                "mul_six": r.mul_six,
                "add_six": r.add_six,
            }
            for r in self.rows
        ]

    def __str__(self) -> str:
        head = ("efforts of an n-axis arm", "method", "mul", "add", "mul, n = 6", "add, n = 6")
        cells: list[tuple[str, ...]] = [head]
        for r in self.rows:
            formulas = ("" if r.mul is None else str(r.mul), "" if r.add is None else str(r.add))
            cells.append((r.source, r.method, *formulas, str(r.mul_six), str(r.add_six)))
        return align_columns(cells)


def general_arm(n: int) -> Mechanism:
    """A serial arm of n revolute axes, nothing special about it: every parameter is a free symbol."""
    arm = Mechanism(f"general-arm-{n}", gravity=(0.0, 0.0, "-g"))
    arm.parameter("g", 9.81)
    parent = "ground"
    for i in range(1, n + 1):
        for name, value in {**_LINK, **_INERTIA}.items():
            arm.parameter(f"{name}{i}", value)
        body = f"link{i}"
        arm.body(body, mass=f"m{i}", center=(f"x{i}", f"y{i}", f"z{i}"), inertia={k: f"{k}{i}" for k in _INERTIA})
        arm.joint(
            f"joint{i}",
            "revolute",
            parent,
            body,
            axis="z",
            rotation={"axis": "x", "angle": f"alpha{i}"},
            at=(f"a{i}", f"-d{i}*sin(alpha{i})", f"d{i}*cos(alpha{i})"),
        )
        parent = body
    return arm


def arm_table() -> ArmTable:
    """Table 1 of [AMR89] and our line: work on parameters alone is done once and not counted."""
    counts = {n: formulate(general_arm(n), "all").count("inverse_dynamics") for n in _COUNTED}
    mul = _line({n: c["mul"] for n, c in counts.items()})
    add = _line({n: c["add"] + c["neg"] for n, c in counts.items()})
    return ArmTable((*PUBLISHED, ArmRow("kane", "Kane", mul, add, mul.at(6), add.at(6))))


def _line(counts: dict[int, int]) -> Formula:
    """The straight line through the counts; refuses counts that are not on one."""
    axes: Sequence[int] = sorted(counts)
    first, second = axes[0], axes[1]
    slope = (counts[second] - counts[first]) // (second - first)
    line = Formula(slope, counts[first] - slope * first)
    if any(line.at(n) != counts[n] for n in axes):
        raise KaneError(f"operation counts {counts} are not linear in the number of axes")
    return line
