"""What the ground does to the wheels of all vehicles, for pictures of a motion that goes on.

The same expressions as those of `ground`, as one program that reads what a motion has at hand: its inputs, and where
forces follow from multipliers these, and rates of the state. What pulls at a vehicle along directions in which its
joint keeps it level does no work and is in no effort along the speeds: `pull_at_platforms` has parameters for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import ModelError
from ..graph import Expr, Inputs, Program, lower
from ..graph.layout import INPUTS
from ..model import Force, Mechanism, Torque
from ..space.algebra import Triple, plus, scaled
from .ground import Ground, contact_frames, find_ground, least_of
from .motion import ControlLaw, apply_law
from .reactions import multiplier_symbols

if TYPE_CHECKING:
    from .equations import Equations

PULLS = 3
"""Of a platform that is kept level: a force up (N) and moments about x and y of N (N m), at its origin."""


@dataclass(frozen=True, slots=True)
class WheelMarks:
    """The program of where wheels touch the ground, `contact` (w, 3) (m), of the whole forces there, `force` (w, 3)
    (N), both in N, and of how near vehicles are to tipping over, `measure` (N rad), one for each of `outlines`: the
    wheels, by number and in order, at the corners of a support polygon. `vehicles` have an outline, `told` are all
    whose forces can be told. It reads the inputs of a motion with the pulls behind them, then, where it
    `reads_multipliers`, those of all rows, then, where it `reads_rates`, the rates of the state."""

    program: Program
    wheels: tuple[str, ...]
    outlines: tuple[tuple[int, ...], ...]
    vehicles: tuple[str, ...]
    told: tuple[str, ...]
    reads_multipliers: bool
    reads_rates: bool


def pull_at_platforms(mechanism: Mechanism) -> tuple[Mechanism, tuple[str, ...]]:
    """(a twin in which parameters, `PULLS` for each, pull at platforms that are kept level; whose vehicles these are).

    The parameters are free, come after all others, and are zero.
    """
    twin = mechanism.twin()
    level = tuple(name for name, vehicle in mechanism.vehicles.items() if not vehicle.lifts)
    for i, name in enumerate(level):
        up, about_x, about_y = (f"pull_at_platform_{i}_{k}" for k in range(PULLS))
        for parameter in (up, about_x, about_y):
            twin.parameter(parameter, 0.0, free=True)
        platform = twin.vehicles[name].platform.name
        twin.load(f"pull up at platform {i}", Force(platform, (0, 0, up)))
        twin.load(f"moments on platform {i}", Torque(platform, (about_x, about_y, 0)))
    twin.revision += 1
    return twin, level


def wheel_marks(equations: Equations, law: ControlLaw | None, in_mode: bool) -> WheelMarks | None:
    """The program for all vehicles whose forces can be told, under a control law; `in_mode` as for `find_ground`, with
    equations in which every row holds. None where there are none. The graph of `equations` is used up by it."""
    found: dict[str, Ground] = {}
    for name in equations.mechanism.vehicles:
        try:
            found[name] = find_ground(equations, name, in_mode)
        except ModelError:
            continue  # what keeps it from being told is said where it is asked for
    if not found:
        return None
    wheels, outlines, measures = list[str](), list[tuple[int, ...]](), list[Expr]()
    contact, force = list[Expr](), list[Expr]()
    for name, ground in found.items():
        if ground.edges:
            outlines.append(tuple(len(wheels) + ground.wheels.index(first) for first, _ in ground.edges))
            measures.append(least_of(ground.alpha))
        wheels += ground.wheels
        frames = contact_frames(equations, name)
        contact += [x for triple in frames["contact"] for x in triple]
        force += _whole_forces(equations, frames, ground)
    outputs: dict[str, tuple[tuple[int, ...], list[Expr]]] = {
        "contact": ((len(wheels), 3), contact),
        "force": ((len(wheels), 3), apply_law(equations, law, force)),
    }
    if measures:
        outputs["measure"] = ((len(measures),), apply_law(equations, law, measures))
    of_multipliers = any(ground.of_multipliers for ground in found.values())
    program = lower("wheels", _inputs(equations, of_multipliers, in_mode), outputs)
    outlined = tuple(name for name, ground in found.items() if ground.edges)
    return WheelMarks(program, tuple(wheels), tuple(outlines), outlined, tuple(found), of_multipliers, in_mode)


def _whole_forces(equations: Equations, frames: Mapping[str, list[Triple]], ground: Ground) -> list[Expr]:
    """Components in N of the forces on all wheels; the ground is level in N."""
    found, zero = list[Expr](), equations.graph.const(0.0)
    for k, (ahead, left) in enumerate(zip(frames["ahead"], frames["left"], strict=True)):
        along = plus(scaled(ground.longitudinal[k], ahead), scaled(ground.lateral[k], left))
        found += plus(along, (zero, zero, ground.normal[k]))
    return found


def _inputs(equations: Equations, multipliers: bool, rates: bool) -> list[Inputs]:
    groups = equations.groups([*INPUTS, *(["parameters"] if equations.free else [])])
    if multipliers:
        symbols = multiplier_symbols(equations.graph, len(equations.mechanism.row_names))
        groups.append(Inputs("multipliers", tuple(map(repr, symbols))))
    if rates:
        coordinates = range(len(equations.system.q))
        groups.append(Inputs("qdot", tuple(f"rate_of_coordinate.{i}" for i in coordinates)))
        groups += [*equations.groups(["udot"]), Inputs("power", ("power_of_loads",))]
    return groups


__all__ = ["PULLS", "WheelMarks", "pull_at_platforms", "wheel_marks"]
