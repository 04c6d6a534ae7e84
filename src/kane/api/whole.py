"""Questions about the system as a whole at a state: its momentum, inertia, mass centre, places of its bodies, what acts
on it from outside, and its efforts as linear in its inertial parameters. Methods of `Model`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..formulation import external_program, regressor_program
from ..large import refuse_if_too_large
from . import given
from .answers import Answers
from .records import Array, Momentum, Wrench


def momentum(
    answers: Answers,
    q: Any,
    u: Any,
    *,
    about: Sequence[float] | str = (0.0, 0.0, 0.0),
    t: Any = 0.0,
    parameters: Any = None,
) -> Momentum:
    """Linear momentum, and angular momentum about a point fixed in N at `about` (m), components in N.

    With about="center" the angular momentum is about the mass centre, without loss of digits far from the origin.

    >>> m = kane.load("pendulum")
    >>> m.momentum([0], [2.0]).angular.tolist()
    [0.0, 0.0, 2.0]
    """
    if isinstance(about, str):
        if about != "center":
            raise InputError(f"momentum about '{about}': give a point (x, y, z) in N, or 'center'")
        return Momentum(*answers.ask("central_momentum", t, parameters, q=q, u=u))
    linear, angular = answers.ask("momentum", t, parameters, q=q, u=u)
    return Momentum(linear, angular - np.cross(given.triple("about", about), linear))


def inertia(
    answers: Answers, q: Any, *, about: Sequence[float] | None = None, t: Any = 0.0, parameters: Any = None
) -> Array:
    """Inertia of the whole system (kg m²), (…, 3, 3), components in N, about its mass centre or the point `about`
    (m, fixed in N).

    >>> m = kane.load("double-pendulum")
    >>> m.inertia([0, 0]).round(6).tolist()
    [[0.5, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.5]]
    """
    mass, center, central = answers.ask("inertia", t, parameters, q=q)
    if about is None:
        return central
    arm = np.asarray(center) - given.triple("about", about)
    square = (arm**2).sum(axis=-1)[..., None, None] * np.eye(3)
    return central + np.asarray(mass)[..., None, None] * (square - arm[..., :, None] * arm[..., None, :])


def mass_center(answers: Answers, q: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
    """Position of the system's mass centre in N (m).

    >>> m = kane.load("double-pendulum")
    >>> m.mass_center([0, 0]).tolist()
    [0.0, -1.5, 0.0]
    """
    moment = answers.ask("mass_center", t, parameters, q=q)
    return moment[..., 1:] / moment[..., :1]


def poses(answers: Answers, q: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
    """For each body, in order, R_NB by rows (9) and the position of its origin in N (3): (bodies, 12).

    >>> m = kane.load("double-pendulum")
    >>> m.poses([0, 0])[1, 9:].tolist()
    [0.0, -1.0, 0.0]
    """
    return answers.ask("poses", t, parameters, q=q)


def external_loads(
    answers: Answers, q: Any, u: Any, *, tau: Any = None, t: Any = 0.0, parameters: Any = None
) -> Wrench:
    """What acts on the whole from outside: resultant force, and moment about the origin of N, components in N.

    Gravity, loads, and tau along the speeds of free joints. They are the rates of the momenta; what acts between
    bodies cancels. Every joint to the ground has to be free: others react.

    >>> m = kane.load("free-body")
    >>> m.set_gravity((0, 0, -10))
    >>> q, u = m.initial_state
    >>> m.external_loads(q, u).force.round(6).tolist(), m.mass
    ([0.0, 0.0, -10.0], 1.0)
    """
    refuse_if_too_large(answers.mechanism, "external loads")
    answer = answers.compile_once("external loads", lambda: external_program(answers.fresh_equations()))
    efforts = np.zeros(len(answers.mechanism.speeds)) if tau is None else tau
    return Wrench(*answers.evaluate(answer, t, parameters, {"q": q, "u": u, "tau": efforts}))


def regressor(
    answers: Answers, q: Any, u: Any, udot: Any, *, friction: bool = False, t: Any = 0.0, parameters: Any = None
) -> Array:
    """Y, (…, n, 10 bodies), with tau = Y π: π are m, hx, hy, hz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz of each body in
    order, about its origin and in its frame. Loads other than gravity take no part. With `friction` two columns
    follow for each revolute or prismatic joint: r and r/√(r² + v²), with its rate r and v of friction in a URDF.

    >>> m = kane.load("pendulum")
    >>> m.regressor([0], [0], [1]).shape
    (1, 10)
    """
    refuse_if_too_large(answers.mechanism, "regressor")
    answer = answers.compile_once(
        ("regressor", bool(friction)), lambda: regressor_program(answers.fresh_equations(), bool(friction))
    )
    return answers.evaluate(answer, t, parameters, {"q": q, "u": u, "udot": udot})


__all__ = ["external_loads", "inertia", "mass_center", "momentum", "poses", "regressor"]
