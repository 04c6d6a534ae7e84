"""What the analyst gave to SymPy: coordinates, speeds, bodies, loads and constraints of a method object, unevaluated.

SymPy keeps some of it under names that begin with an underscore only; they are read here and in `skeleton`, and
nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...errors import InputError


@dataclass(frozen=True, slots=True)
class Description:
    """SymPy objects in the order in which they were given.

    `kinematics` are expressions that are zero, linear in q̇ and u; empty where the speeds are the rates themselves.
    `holonomic` and `motion` are constraints, expressions that are zero; `motion` may repeat the rates of `holonomic`.
    `lagrangian` takes the place of the bodies' inertia and of conservative loads where it is given.
    """

    frame: Any
    fixed_point: Any
    q: tuple[Any, ...]
    u: tuple[Any, ...]
    auxiliary: tuple[Any, ...]
    kinematics: tuple[Any, ...]
    bodies: tuple[Any, ...]
    loads: tuple[tuple[Any, Any], ...]
    holonomic: tuple[Any, ...]
    motion: tuple[Any, ...]
    lagrangian: Any = None


def read(method: Any) -> Description:
    """The description inside a `KanesMethod`, `System` or `LagrangesMethod`."""
    try:
        from sympy.physics import mechanics
    except ImportError:
        raise InputError("SymPy is not installed: pip install 'kane[sympy]'") from None
    if isinstance(method, mechanics.KanesMethod):
        return _of_kane(method)
    if isinstance(method, mechanics.LagrangesMethod):
        return _of_lagrange(method)
    if isinstance(method, mechanics.System):
        _refuse_incomplete(method)
        if isinstance(method._eom_method, mechanics.LagrangesMethod) or not method.kdes:
            return _of_system_by_lagrange(method)
        return _of_system(method)
    kind = type(method).__name__
    raise InputError(f"a model cannot be read from {kind}: give SymPy's KanesMethod, System or LagrangesMethod")


def _of_kane(method: Any) -> Description:
    import sympy as sp

    u = method.u
    if not method._k_kqdot:
        raise InputError("this KanesMethod has no kinematic differential equations: give it kd_eqs")
    if not method.bodies:
        raise InputError(
            "this KanesMethod has no bodies yet: give it bodies=..., or call kanes_equations(bodies, loads)"
        )
    rates = rate(method.q)
    kinematics = method._k_ku_implicit * u + method._k_kqdot_implicit * rates + method._f_k_implicit
    if method._uaux:  # which SymPy keeps in the solution for q̇ only
        solved = sp.Matrix([method._qdot_u_map[q] for q in rates])
        kinematics -= method._k_kqdot_implicit * solved.jacobian(method._uaux) * sp.Matrix(method._uaux)
    motion = method._k_nh * u + method._f_nh if method._k_nh else ()
    return Description(
        frame=method._inertial,
        fixed_point=None,
        q=tuple(method.q),
        u=tuple(u),
        auxiliary=tuple(method._uaux),
        kinematics=tuple(kinematics),
        bodies=tuple(method.bodies),
        loads=_pairs(method.forcelist),
        holonomic=tuple(method._f_h),
        motion=tuple(motion),
    )


def _of_system(system: Any) -> Description:
    return Description(
        frame=system.frame,
        fixed_point=system.fixed_point,
        q=tuple(system.q),
        u=tuple(system.u),
        auxiliary=tuple(system.u_aux),
        kinematics=tuple(system.kdes),
        bodies=tuple(system.bodies),
        loads=_system_loads(system),
        holonomic=tuple(system.holonomic_constraints),
        motion=tuple(system.velocity_constraints),
    )


def _refuse_incomplete(system: Any) -> None:
    """Refuse a System that does not say enough for equations of motion, with what is missing."""
    by_lagrange = system._eom_method is not None and not hasattr(system._eom_method, "kanes_equations")
    lacks = {
        "coordinates: add_coordinates, or joints": not system.q,
        "bodies: add_bodies": not system.bodies,
        "kinematic differential equations for its speeds: add_kdes": bool(system.u)
        and not system.kdes
        and not by_lagrange,
    }
    if missing := [what for what, lacking in lacks.items() if lacking]:
        raise InputError(f"this System has no {'; no '.join(missing)}")


def _of_system_by_lagrange(system: Any) -> Description:
    from sympy.physics.mechanics import LagrangesMethod, Lagrangian

    chosen = system._eom_method
    if isinstance(chosen, LagrangesMethod):
        return _of_lagrange(chosen, system.fixed_point)
    try:
        lagrangian = Lagrangian(system.frame, *system.bodies)
    except ValueError as error:
        raise InputError(
            f"this System does not say how all of its bodies move: {' '.join(str(error).split())}"
        ) from None
    return Description(
        frame=system.frame,
        fixed_point=system.fixed_point,
        q=tuple(system.q),
        u=(),
        auxiliary=(),
        kinematics=(),
        bodies=(),
        loads=_system_loads(system),
        holonomic=tuple(system.holonomic_constraints),
        motion=tuple(system.nonholonomic_constraints),
        lagrangian=lagrangian,
    )


def _of_lagrange(method: Any, fixed_point: Any = None) -> Description:
    return Description(
        frame=method.inertial,
        fixed_point=fixed_point,
        q=tuple(method.q),
        u=(),
        auxiliary=(),
        kinematics=(),
        bodies=(),
        loads=_pairs(method.forcelist),
        holonomic=tuple(method._hol_coneqs),
        motion=tuple(method.coneqs)[len(method._hol_coneqs) :],
        lagrangian=method._L[0],
    )


def _system_loads(system: Any) -> tuple[tuple[Any, Any], ...]:
    return _pairs([*system.loads, *(load for actuator in system.actuators for load in actuator.to_loads())])


def _pairs(loads: Any) -> tuple[tuple[Any, Any], ...]:
    return tuple((where, vector) for where, vector in loads or ())


def clock() -> Any:
    """SymPy's symbol of time, of which `dynamicsymbols` are functions."""
    from sympy.physics import vector

    symbols: Any = vector.dynamicsymbols
    return symbols._t


def rate(q: Any) -> Any:
    """The derivative of a coordinate by time."""
    return q.diff(clock())


__all__ = ["Description", "clock", "rate", "read"]
