"""A model identified from measured efforts: `identify`, and what comes of it."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis.base_parameters import BaseParameters, base_parameters
from ..analysis.identification import fit_efforts, nearest_bodies
from ..boundary import check_choice, describe_value
from ..errors import InputError
from ..formulation.regressor import PARAMETERS, friction_names, parameter_names, parameter_values, rubbing_joints
from ..graph import evaluate
from ..model import Mechanism
from ..model.loads import Effort, JointSpring
from ..model.urdf.losses import SMOOTH
from .model import Model
from .records import Array


@dataclass(frozen=True, slots=True)
class Identification:
    """What measured efforts say of a model.

    `base` are the base parameters, `values` (b,) those of the measurement, of which those of friction are not negative,
    with their standard `deviation` and `condition`, that of the regressor over the motion, each column in units of its
    length: beyond some hundreds the motion does not excite all of them. `noise` (n,) is the standard deviation of each
    effort (N m, N). `parameters` are those of rigid bodies and of friction, by name; `model` is the model with them.

    >>> arm = kane.load("panda")
    >>> q, u, udot = np.random.default_rng(1).normal(size=(3, 50, 7))
    >>> found = kane.identify(arm, q, u, udot, arm.inverse_dynamics(q, u, udot), friction=False)
    >>> len(found.base), found.condition < 100
    (43, True)
    """

    base: BaseParameters
    values: Array
    deviation: Array
    condition: float
    noise: Array
    parameters: dict[str, float]
    model: Model

    def __str__(self) -> str:
        lines = [f"{len(self.base)} base parameters, condition of the motion {self.condition:.3g}"]
        lines += [
            f"{value: .6e} ± {spread:.1e}  {name}"
            for name, value, spread in zip(self.base.names, self.values, self.deviation, strict=True)
        ]
        return "\n".join(lines)


def _refuse_odd_measurement(
    model: Any, q: Any, u: Any, udot: Any, tau: Any, friction: Any, noise: Any, trust: Any
) -> None:
    """Refuse what is no model, no table of numbers, or no size."""
    if not isinstance(model, Model):
        raise InputError(f"model = {describe_value(model)} is no model\n    fix: give a kane.Model")
    check_choice("friction", friction)
    for name, value in {"q": q, "u": u, "udot": udot, "tau": tau}.items():
        if not _are_numbers(value):
            found = _find_lost(name, value) or f"{name} = {describe_value(value)}"
            raise InputError(f"{found}\n    fix: give finite numbers, one row for each instant")
    for name, value in {"noise": 1.0 if noise is None else noise, "trust": trust}.items():
        if not _are_numbers(value) or not np.all(np.asarray(value, dtype=float) > 0.0):
            raise InputError(f"{name} = {describe_value(value)}\n    fix: give positive numbers")
    if noise is not None and np.shape(noise) not in ((), (1,), (len(model.speeds),)):
        raise InputError(
            f"noise has shape {np.shape(noise)}\n    fix: give one number, or one for each of {', '.join(model.speeds)}"
        )


def _are_numbers(value: Any) -> bool:
    try:
        return bool(np.all(np.isfinite(np.asarray(value, dtype=float))))
    except (TypeError, ValueError, OverflowError):
        return False


def _find_lost(name: str, value: Any) -> str:
    """Where the first entry of a table of numbers is not finite; "" of what is no table of numbers."""
    try:
        table = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return ""
    lost = np.argwhere(~np.isfinite(table))
    place = ", ".join(map(str, lost[0].tolist()))
    more = f", and {len(lost) - 1} more like it" if len(lost) > 1 else ""
    return f"{name}[{place}] is {table[tuple(lost[0])]:g}{more}"


def _refuse_still(Y: Array) -> None:
    """Refuse a motion that does not excite all base parameters, the columns of Y (k, n, b)."""
    columns = Y.reshape(-1, Y.shape[2])
    lengths = np.linalg.norm(columns, axis=0)
    if not np.all(lengths > 0.0) or np.linalg.matrix_rank(columns / lengths) < len(lengths):
        raise InputError(
            f"the motion does not tell all {len(lengths)} base parameters apart\n    fix: measure one in which all"
            " joints move, at different positions, speeds and accelerations"
        )


def identify(
    model: Model, q: Any, u: Any, udot: Any, tau: Any, *, friction: bool = True, noise: Any = None, trust: float = 1.0
) -> Identification:
    """The model that explains efforts `tau` (k, n), measured at q, u and udot, (k, …): masses, centres and inertias of
    rigid bodies, and with `friction` viscous and Coulomb friction of every joint.

    `noise` (n,) is the standard deviation of the efforts (N m, N); without it, it is taken from what is left of them.
    What efforts do not tell stays near the description, whose parameters have a relative standard deviation of `trust`.
    Other loads of the model act as they do in it. The law of friction is that of joints from a URDF.

    >>> arm = kane.load("panda")
    >>> q, u, udot = np.random.default_rng(1).normal(size=(3, 50, 7))
    >>> found = kane.identify(arm, q, u, udot, arm.inverse_dynamics(q, u, udot), friction=False, noise=0.1)
    >>> bool(np.allclose(found.model.mass_matrix(q[0]), arm.mass_matrix(q[0]), atol=1e-3))
    True
    """
    _refuse_odd_measurement(model, q, u, udot, tau, friction, noise, trust)
    bare = _without_friction(model) if friction else model
    equations = bare.equations()
    measured = np.atleast_2d(np.asarray(tau, dtype=float))
    if measured.shape != np.shape(u) or measured.shape[1] != len(model.speeds):
        raise InputError(
            f"tau has shape {measured.shape}, u {np.shape(u)}\n    fix: give efforts and states of the same instants,"
            f" (k, {len(model.speeds)})"
        )
    given = np.array(evaluate(parameter_values(equations), {p.name: p.value for p in bare.parameters.values()}))
    plain = bare.regressor(q, u, udot)
    known = bare.inverse_dynamics(q, u, udot) - plain @ given
    names = parameter_names(equations) + (friction_names(equations) if friction else [])
    Y = bare.regressor(q, u, udot, friction=True) if friction else plain
    base = base_parameters(equations, friction=friction)
    if measured.size < len(base):
        raise InputError(f"{measured.size} efforts for {len(base)} base parameters\n    fix: measure a longer motion")
    _refuse_still(Y[..., list(base.independent)])
    wanted = None if noise is None else np.broadcast_to(np.asarray(noise, dtype=float), measured.shape[1:])
    rubbing = [k for k, column in enumerate(base.independent) if column >= len(given)]
    fit = fit_efforts(Y[..., list(base.independent)], measured - known, wanted, rubbing)
    start = np.concatenate([given, np.zeros(len(names) - len(given))])
    movable = [b for b in range(len(given) // 10) if given[10 * b] > 0.0]
    columns = [10 * b + i for b in movable for i in range(10)] + list(range(len(given), len(names)))
    found = start.copy()
    left = measured - known - np.delete(Y, columns, axis=2) @ np.delete(start, columns)
    found[columns] = nearest_bodies(Y[..., columns], left, fit.noise, start[columns], len(movable), trust)
    parameters = dict(zip(names, found.tolist(), strict=True))
    written = _with_parameters(bare.mechanism, parameters, friction)
    return Identification(base, fit.values, fit.deviation, fit.condition, fit.noise, parameters, written)


def _without_friction(model: Model) -> Model:
    """The model without the losses that a URDF gave to its joints."""
    mechanism = copy.deepcopy(model.mechanism)
    for joint in rubbing_joints(mechanism):
        for kind in ("damping", "friction"):
            mechanism.loads.pop(f"{joint.name} {kind}", None)
    mechanism.revision += 1
    return Model.of(mechanism)


def _with_parameters(given: Mechanism, parameters: dict[str, float], friction: bool) -> Model:
    """A model of these parameters."""
    mechanism = copy.deepcopy(given)
    for body in mechanism.bodies.values():
        m, hx, hy, hz, xx, yy, zz, xy, xz, yz = (parameters[f"{p}.{body.name}"] for p in PARAMETERS)
        if m <= 0.0:
            continue
        c = np.array([hx, hy, hz]) / m
        about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - m * (c @ c * np.eye(3) - np.outer(c, c))
        number = mechanism.graph.const
        body.mass, body.center = number(m), (number(c[0]), number(c[1]), number(c[2]))
        rows = [(number(float(a)), number(float(b)), number(float(d))) for a, b, d in about]
        body.inertia = (rows[0], rows[1], rows[2])
    if friction:
        for joint in rubbing_joints(mechanism):
            viscous, dry = parameters[f"viscous.{joint.name}"], parameters[f"Coulomb.{joint.name}"]
            rate = joint.rates[0]
            mechanism.load(f"{joint.name} damping", JointSpring(joint, damping=viscous))
            law = -(dry * rate / (rate * rate + SMOOTH * SMOOTH).sqrt())
            mechanism.load(f"{joint.name} friction", Effort(joint, law))
    mechanism.revision += 1
    return Model.of(mechanism)


__all__ = ["Identification", "identify"]
