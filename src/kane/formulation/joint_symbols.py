"""Reactions of joints and constraints as names in expressions: force.knee.x and moment.knee.z, components in N of what
acts on the child, or on the second body of a constraint, as `Reactions` has them; force.knee and moment.knee are their
sizes. Each name has a symbol in the graph of the description, which programs replace by what it stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ..graph import Expr, depends_on, substitute
from ..model import Mechanism
from ..space.algebra import Triple
from .mass import SingularMass, solve
from .reactions import all_rows, constraint_wrench, multiplier_symbols, reaction_of_joint

if TYPE_CHECKING:
    from .equations import Equations

MEASURED = ("force", "moment")
MOST_NAMED = 200
"""Joints up to which their reactions have names: of a larger tree they are not written out."""
_PARTS = (".x", ".y", ".z", "")


def named_reactions(mechanism: Mechanism) -> dict[str, tuple[str, str]]:
    """Name → (joint or constraint, its own name) of joints and constraints whose force and moment have names; where
    both have one name, "rear.joint" and "rear.constraint". Constraints between motion variables have efforts instead.
    """
    if len(mechanism.joints) > MOST_NAMED or any(body.joint is None for body in mechanism.bodies.values()):
        return {}
    held = [c.name for c in (*mechanism.constraints.values(), *mechanism.changing.values()) if c.second is not None]
    parts = [*(("joint", name) for name in mechanism.joints), *(("constraint", name) for name in held)]
    both = {*mechanism.joints} & {*held}
    return {f"{name}.{kind}" if name in both else name: (kind, name) for kind, name in parts}


def joint_symbols(mechanism: Mechanism) -> dict[str, Expr]:
    """The names and the symbols that stand for them; names that the description has for something else are left out."""
    names = (f"{what}.{name}{part}" for name in named_reactions(mechanism) for what in MEASURED for part in _PARTS)
    known = mechanism.known_names
    return {name: mechanism.graph.input(f"joint.{name}") for name in names if name not in known}


def without_joint_symbols(equations: Equations, exprs: list[Expr], *, accelerated: bool = False) -> list[Expr]:
    """Expressions in which these symbols are replaced by what they stand for, of t, q, u, tau and the multipliers of
    all rows; `accelerated`, of u̇ in place of tau."""
    mechanism, graph = equations.mechanism, equations.graph
    for name, which in named_reactions(mechanism).items():
        symbols = [graph.input(f"joint.{what}.{name}{part}") for what in MEASURED for part in _PARTS]
        if depends_on(exprs, symbols):
            values = list(_values(_wrench(equations, *which)))
            if not accelerated:
                values = substitute(values, dict(zip(equations.system.udot, _accelerations(equations), strict=True)))
            exprs = substitute(exprs, dict(zip(symbols, values, strict=True)))
    return exprs


def _wrench(equations: Equations, kind: str, name: str) -> tuple[Triple, Triple]:
    """Force and moment in N, of q, u, u̇ and the multipliers of all rows."""
    multipliers = multiplier_symbols(equations.graph, len(all_rows(equations.mechanism)))
    return (reaction_of_joint if kind == "joint" else constraint_wrench)(equations, name, multipliers)


def _accelerations(equations: Equations) -> list[Expr]:
    """u̇ by tau and by the multipliers of all rows, M⁻¹ (tau − bias + Aᵀλ): it does not matter which of the rows hold.
    Where constraints move what has no mass, by tau with the constraints embedded."""
    rows = equations.constraints.A if equations.mechanism.constraints else []
    if not rows:
        return equations.forward_dynamics
    f = [t - b for t, b in zip(equations.tau, equations.bias, strict=True)]
    for row, factor in zip(rows, multiplier_symbols(equations.graph, len(rows)), strict=True):
        f = [x + a * factor for x, a in zip(f, row, strict=True)]
    try:
        return solve(equations.mass_matrix, f, range(len(f)))
    except SingularMass:
        return equations.forward_dynamics


def _values(wrench: Sequence[Triple]) -> Iterator[Expr]:
    """Components and size of both vectors."""
    for x, y, z in wrench:
        yield from (x, y, z, (x * x + y * y + z * z).sqrt())


__all__ = ["joint_symbols", "named_reactions", "without_joint_symbols"]
