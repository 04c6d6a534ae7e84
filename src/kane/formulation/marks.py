"""What moves with a picture of a motion besides its bodies: velocities, and places and forces of constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..graph import Expr, Program
from ..graph.layout import INPUTS
from ..space.algebra import Triple
from .places import place_of, velocity
from .reactions import unit_forces

if TYPE_CHECKING:
    from .equations import Equations


def marks_program(equations: Equations) -> Program:
    """Velocities of the mass centres of all bodies (bodies, 3) (m/s) and, where there are constraints, the point of
    each (constraints, 3) (m) and the force of a unit reaction of each row on the second body there (rows, 3), all in N:
    the force of a constraint is Σ λ of its rows times these. Points of constraints that have none are zero."""
    mechanism = equations.mechanism
    found: list[Expr] = []
    for name, body in mechanism.bodies.items():
        found += velocity(equations, place_of(equations, name, body.center))[3:]
    outputs: dict[str, tuple[tuple[int, ...], list[Expr]]] = {"velocity": ((len(mechanism.bodies), 3), found)}
    points, forces = unit_forces(equations)
    if points:
        outputs["point"] = ((len(points), 3), _flat(points))
        outputs["force"] = ((len(forces), 3), _flat(forces))
    return equations.lower_outputs("marks", INPUTS, outputs)


def _flat(triples: list[Triple]) -> list[Expr]:
    return [e for triple in triples for e in triple]


__all__ = ["marks_program"]
