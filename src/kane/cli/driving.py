"""What moves the model of a command: a control law of its own, expressions, or computed torque that holds an arm where
it starts or brings it along a motion."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..api import Array, Model
from ..api.memory_needs import require_motion_memory
from ..api.run_values import find_coordinate, units_of
from ..planning import ComputedTorque, Hold, Move, move
from ..report.motions import Motion, cycloid
from . import UsageError
from .given import assignments, control_of, coordinates_of
from .parser import HELD
from .streams import say

ARM = {"revolute", "prismatic", "weld", "coupled"}  # kinds of joints that computed torque drives
DURATION = 10.0  # s, of the motion of --to where nothing is said
ON_TARGET = 1e-3  # rad, m: what a target may be missed by and still count as reached
STIFFNESS = 25.0  # 1/s², of an arm that is held or follows; critically damped
DAMPING = 2.0 * STIFFNESS**0.5  # 1/s
GAINS = f"accelerations {STIFFNESS:g} 1/s² times errors and {DAMPING:g} 1/s times their rates"
HOLD, NONE = HELD


@dataclass(frozen=True, slots=True)
class Driving:
    """A control as `simulate` takes it, where its motion ends and when (s) if it has one, and a sentence about it where
    the model has no name for it."""

    law: Any = None
    end: float | None = None
    about: str = ""
    target: tuple[float, ...] = ()


def asked_motion(model: Model, arguments: Namespace) -> Motion | None:
    """The motion that --to asks for, from where the model starts."""
    if not arguments.to:
        if arguments.duration is not None:
            meant = (
                f"--t {arguments.duration:g} says how long is simulated" if hasattr(arguments, "t") else "leave it out"
            )
            raise UsageError(
                f"--duration {arguments.duration:g}: there is no --to whose motion takes so long\n    fix: {meant}"
            )
        return None
    m = model.mechanism
    joints = [name for name in m.joints if find_coordinate(m, name) != name]
    given = assignments(model, arguments.to, [*m.coordinate_records, *joints], "--to")
    target = {find_coordinate(m, name): value for name, value in given.items()}
    if len(target) < len(given):
        raise UsageError(f"--to {','.join(arguments.to)}: a coordinate is given twice, by its name and by its joint")
    samples = {"samples": arguments.samples} if arguments.command == "inverse" else {}
    require_motion_memory(model.mechanism, samples.get("samples", 0))
    return cycloid(model, target, duration=_duration(arguments), start=_start(model, arguments), **samples)


def drive_of(model: Model, arguments: Namespace, motion: Motion | None = None, *, shown: bool = False) -> Driving:
    """What moves a model as the command line says.

    Where it says nothing, an arm follows the `motion` that was asked for; and a model that is `shown` moves under its
    first control law, or is held if it is an arm, unless it starts with speeds of its own.
    """
    given: str | None = arguments.control
    if given is None and motion is not None and _can_follow(model):
        way = move(motion.q[0], motion.q[-1], law="cycloid", duration=float(motion.t[-1]))
        about = f"{_subject(model)} follows the motion of --to, by computed torque at every joint: {GAINS}"
        return Driving(_torque(way), way.duration, about, tuple(motion.q[-1].tolist()))
    if given is None and shown and motion is None:
        given = next(iter(model.controls), HOLD if is_arm(model) and not arguments.u else None)
    if given == HOLD and given not in model.controls:
        if not _can_follow(model):
            what = "only revolute and prismatic joints without constraints are held, by computed torque"
            raise UsageError(f"--control {HOLD}: {what}\n    fix: give efforts by expressions, u1=-2*q1-u1")
        way = Hold(tuple(_start(model, arguments).tolist()))
        return Driving(_torque(way), about=f"{_subject(model)} is held where it starts, by computed torque: {GAINS}")
    if given is None or (given == NONE and given not in model.controls):
        return Driving()
    return Driving(control_of(model, given))


def refuse_unfollowed(drive: Driving, arguments: Namespace) -> None:
    """Refuse a motion of --to that the model does not follow."""
    if arguments.to and not drive.target:
        raise UsageError(
            "--to: what follows it has revolute and prismatic joints alone, no constraints, and no other --control"
        )


def off_target(model: Model, drive: Driving, t: float, q: Array) -> dict[str, float]:
    """How far (rad, m) coordinates are from where the motion of --to has led them; nothing before its end at t."""
    if not drive.target or drive.end is None or t < drive.end:
        return {}
    return dict(zip(model.coordinates, (q - drive.target).tolist(), strict=True))


def target_sentence(model: Model, off: dict[str, float]) -> str:
    """How well a motion ended at its target, in words."""
    missed = {name: x for name, x in off.items() if abs(x) > ON_TARGET}
    units = units_of(model.mechanism, list(off))
    if not missed:
        return f"target of --to: reached within {max(map(abs, off.values())):.1e} (rad, m)"
    return f"target of --to: missed, {', '.join(f'{name} by {x:+.4g} {units[name]}' for name, x in missed.items())}"


def say_what_moves(drive: Driving, arguments: Namespace) -> None:
    """Say what moves a model that is shown, where nobody asked for it."""
    if drive.about:
        say(drive.about if arguments.control else f"{drive.about} (--control {NONE} lets it go)")
    elif arguments.control is None and isinstance(drive.law, str):
        say(f"control law '{drive.law}' (choose another with --control, or {NONE})")


def _subject(model: Model) -> str:
    return "the arm" if is_arm(model) else "the mechanism"


def _duration(arguments: Namespace) -> float:
    return DURATION if arguments.duration is None else arguments.duration


def is_arm(model: Model) -> bool:
    """Whether a model is a robot arm, which nobody wants to see fall: its joints are driven and have limits, or it is a
    chain whose last body they can move in all six directions."""
    return _can_follow(model) and bool(model.mechanism.limits or _moves_in_all_directions(model))


def _can_follow(model: Model) -> bool:
    """Whether computed torque can drive all coordinates."""
    kinds = {joint.type.kind for joint in model.joints.values()}
    return not (kinds - ARM or model.constraints or model.changing) and bool(model.speeds)


def _moves_in_all_directions(model: Model) -> bool:
    inner = {joint.parent.name for joint in model.joints.values()}
    ends = [name for name in model.bodies if name not in inner]
    if len(ends) != 1 or len(model.speeds) < 6:
        return False
    q = model.initial_state[0] + np.arange(1.0, len(model.coordinates) + 1.0)  # the start may be a singular position
    return int(np.linalg.matrix_rank(model.at(ends[0]).jacobian(q))) == 6


def _torque(way: Hold | Move) -> ComputedTorque:
    return ComputedTorque(way, stiffness=STIFFNESS, damping=DAMPING)


def _start(model: Model, arguments: Namespace) -> Array:
    """Coordinates at the start, those of --q among them."""
    q = model.initial_state[0].copy()
    given = getattr(arguments, "q", [])
    for name, value in coordinates_of(model, given).items():
        q[model.coordinates.index(name)] = value
    return q
