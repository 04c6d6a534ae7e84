"""Where the ground would have to pull a wheel that rolls on it at all times: there it would lift in truth.

Rolling with a row `normal` has its force in λ; where a planar joint keeps the height, the ground acts through that
joint, on all wheels together that roll without such a row below it. Forces are looked at along the states of a motion.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..advice import terminal_event
from ..backends import compile
from ..constraints.thresholds import REDUNDANT
from ..formulation import joint_symbols, multiplier_symbols, watch_program
from ..formulation.joint_symbols import named_reactions
from ..graph import Expr
from ..model import Joint, Mechanism
from .constrained import constraint_rows
from .ensemble_watch import evaluate_program
from .records import Array

if TYPE_CHECKING:
    from .trajectory import Trajectory

PULLED = 1e-6
"""Share of the largest force beside it, negative, from which on a wheel is pulled; less is what rounding leaves."""
UNFELT = 1e-9
"""The same share of weight and of kinetic energy per radius: forces that are none at all are rounding too."""
LOOKS = 1000
"""States of a motion that are looked at, at equal distances; about the first pull all."""


@dataclass(frozen=True, slots=True)
class _Pressed:
    """What keeps wheels on the ground: bodies, names of the ground, and the force that presses them apart, in symbols
    and in a text for an event."""

    bodies: tuple[str, ...]
    on: str
    force: Expr
    text: str
    row: int | None = None


def pull_sentences(run: Trajectory) -> Iterable[str]:
    """Wheels that would have to be pulled down, from when on, and how to end the motion there."""
    answers, m = run.answers, run.answers.mechanism
    if m.changing or answers.recursive() or not m.constraints:
        return
    pressed = answers.make_once("pressed", lambda: _find_pressed(answers.mechanism))
    if not pressed or not (np.all(np.isfinite(run.q)) and np.all(np.isfinite(run.u))):
        return
    places = np.unique(np.linspace(0, len(run.t) - 1, min(len(run.t), LOOKS)).round().astype(int))
    found: list[tuple[float, str]] = []
    values, least = _forces(run, pressed, places), _unfelt(run)
    open_rows = _open_rows(run) if any(p.row is not None for p in pressed) else set[int]()
    for k, wheel in enumerate(pressed):
        force = values[:, k]
        enough = max(PULLED * float(np.abs(values).max(initial=0.0)), least)
        if wheel.row in open_rows or not np.any(force < -enough):
            continue
        first = int(np.argmax(force < -enough))
        about = slice(int(places[max(first - 1, 0)]), int(places[first]) + 1)
        when = _first_pull(run.t[about], _forces(run, pressed, about)[:, k], enough)
        wheels = " and ".join(f"'{body}'" for body in wheel.bodies)
        said = (
            f"{wheel.on} would have to pull {wheels} from t = {when:.4g} s on, with up to {-force.min():.3g} N:"
            f" in truth there is nothing that holds it, and it lifts; end the motion there, "
            f"{terminal_event('lifts', wheel.text)}"
        )
        found.append((when, said))
    yield from (said for _, said in sorted(found))


def _first_pull(t: Array, force: Array, enough: float) -> float:
    """When a force between two states falls through zero for the first time, by a straight line."""
    k = int(np.argmax(force < -enough)) if np.any(force < -enough) else len(force) - 1
    if k == 0 or force[k - 1] <= 0.0:
        return float(t[k])
    return float(t[k - 1] + (t[k] - t[k - 1]) * force[k - 1] / (force[k - 1] - force[k]))


def _forces(run: Trajectory, pressed: tuple[_Pressed, ...], places: Any) -> Array:
    """The forces that press, (k, wheels) (N), at some states."""
    answers = run.answers
    kernel = answers.make_once(
        "pressing", lambda: compile(watch_program(answers.fresh_equations(), [p.force for p in pressed]))
    )
    t = run.t[places]
    states = np.concatenate([run.q[places], run.u[places], run.work[places, None]], axis=1)
    values = np.broadcast_to(answers.values, (len(t), len(answers.values)))
    return evaluate_program(kernel, answers, values, t, states, run.tau[places])


def _unfelt(run: Trajectory) -> float:
    """A force (N) that is none beside weight and motion."""
    m = run.answers.mechanism
    weight = sum(m.number(b.mass, b.name) for b in m.bodies.values()) * float(
        np.linalg.norm([m.number(c, "gravity") for c in m.gravity])
    )
    given: list[Any] = [(getattr(c.record, "radius", None), c.name) for c in m.constraints.values()]
    radii = [m.number(radius, name) for radius, name in given if radius is not None]
    energy = float(np.abs(run.answers.ask("energy", run.t[0], None, q=run.q[0], u=run.u[0])[0]))
    return UNFELT * (weight + energy / min(radii, default=1.0))


def _open_rows(run: Trajectory) -> set[int]:
    """Rows whose λ rigid bodies leave open where the motion starts."""
    A = constraint_rows(run.answers, run.q[0], run.u[0], t=run.t[0]).A
    U, sizes, _ = np.linalg.svd(A)
    null = U[:, int(np.count_nonzero(sizes > REDUNDANT * sizes[0])) :]
    return {int(row) for row in np.flatnonzero(np.abs(null).max(axis=1, initial=0.0) > REDUNDANT)}


def _find_pressed(m: Mechanism) -> tuple[_Pressed, ...]:
    """What is kept on the ground, vehicles aside, whose wheels are judged otherwise."""
    own = {w.constraint for v in m.vehicles.values() for w in v.wheels} | {
        w.name for v in m.vehicles.values() for w in v.wheels
    }
    rows = dict(zip(m.row_names, multiplier_symbols(m.graph, len(m.row_names)), strict=True))
    found: list[_Pressed] = []
    level: dict[str, list[Any]] = {}
    for name, constraint in m.constraints.items():
        if not constraint.kind.startswith("rolling") or name in own or constraint.second is None:
            continue
        row = f"{name}.normal"
        on = "the ground" if constraint.first is m.ground else f"'{constraint.first.name if constraint.first else ''}'"
        if row in rows:
            found.append(_Pressed((constraint.second.name,), on, rows[row], row, m.row_names.index(row)))
        elif constraint.first is m.ground and (root := _planar_root(m, constraint.second)) is not None:
            level.setdefault(root.name, []).append(constraint)
    symbols, labels = joint_symbols(m), {which: label for label, which in named_reactions(m).items()}
    for root, constraints in level.items():
        label = labels.get(("joint", root))
        if label is None:
            continue
        normal = _normal(m, constraints[0].record.normal)
        parts = [(s, f"force.{label}.{axis}") for s, axis in zip(normal, "xyz", strict=True) if abs(s) > REDUNDANT]
        force = sum((symbols[name] * s for s, name in parts), m.graph.const(0.0))
        text = " + ".join({1.0: name, -1.0: f"-{name}"}.get(s, f"{s:.12g}*{name}") for s, name in parts)
        found.append(_Pressed(tuple(c.second.name for c in constraints), "the ground", force, text))
    return tuple(found)


def _normal(m: Mechanism, normal: Any) -> list[float]:
    """The unit normal of the ground."""
    from ..viewer.shapes import direction  # which imports what draws

    return [float(x) for x in direction(m, normal)]


def _planar_root(m: Mechanism, body: Any) -> Joint | None:
    """The planar joint to the ground that carries a body."""
    while body is not None and body.joint is not None:
        if body.joint.parent is m.ground:
            return body.joint if body.joint.type.kind == "planar" else None
        body = body.joint.parent
    return None


__all__ = ["pull_sentences"]
