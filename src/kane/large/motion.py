"""The kernels of a simulation of a large tree: those of the written-out form, with the same inputs, by recursion.

All take t, q, u, the work integral, tau and free parameters, in this order (`kane.formulation.motion`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..backends import Kernel, compile
from ..backends.looped import Places, compile_motion
from ..graph import Expr, substitute
from ..graph.layout import INPUTS
from ..model.attitude import quaternion_places
from .answers import LargeAnswers, signature
from .terms import speed_indices, sum_efforts
from .tree import NOWHERE, POWER


@dataclass(frozen=True, slots=True)
class LargeMotion:
    """Rates of y = [q, u, work]; y with its quaternions unit, where there are any; watched functions; efforts of a
    control law from t, q and u; efforts of loads and law as the rates take them."""

    motion: Kernel
    unit: Kernel | None
    events: Kernel | None
    law: Kernel | None
    efforts: Kernel | None


def large_motion(answers: LargeAnswers, law: Mapping[Expr, Expr] | None, watched: Sequence[Expr]) -> LargeMotion:
    """The kernels of a simulation with a control law, motion variable → effort, compiled in."""
    terms = answers.terms
    motion, unit, efforts = _rates(answers, law or {})
    return LargeMotion(
        motion,
        unit,
        compile(terms.program("watch", INPUTS, "events", _with_law(answers, law, watched))) if watched else None,
        None if law is None else compile(terms.program("control", ("t", "q", "u"), "tau", _along_speeds(answers, law))),
        efforts,
    )


def _rates(answers: LargeAnswers, law: Mapping[Expr, Expr]) -> tuple[Kernel, Kernel | None, Kernel | None]:
    """(rates of the state, the state made unit, efforts of loads and law)."""
    tree, terms = answers.tree, answers.terms
    efforts = sum_efforts([*answers.load_efforts.items(), *law.items()])
    exerted = compile(terms.program("efforts", INPUTS, "efforts", list(efforts.values()))) if efforts else None
    groups = (*INPUTS, *(["parameters"] if terms.free else []))
    nowhere = np.array([NOWHERE], dtype=np.int32)
    places: dict[str, Places] = {
        "t": nowhere,
        "q": tree.q_places,
        "u": tree.u_places,
        "work": nowhere,
        "tau": tree.x_places,
        "parameters": np.full(len(terms.free), NOWHERE, dtype=np.int32),
    }
    rates = np.concatenate([tree.q_places, tree.x_places, np.array([POWER], dtype=np.int32)])
    recursion = answers.recursion("motion")
    layout = answers.layout(
        recursion,
        tuple(places[g] for g in groups),
        (rates,),
        answers.base_acceleration,
        loads=exerted,
        load_places=tree.x_places[speed_indices(efforts, answers.mechanism)],
        power_places=np.stack([tree.x_places, tree.u_places], axis=1),
        power=POWER,
        states=len(rates),
        quaternions=_quaternions(answers),
    )
    forms = [signature(answers.mechanism, name, groups, {out: (len(rates),)}) for name, out in _FORMS]
    return (*compile_motion(recursion, layout, *forms), exerted)


_FORMS = (("motion", "rates"), ("unit", "y"))


def _quaternions(answers: LargeAnswers) -> Places:
    """Where in q the four numbers of each quaternion are, (m, 4)."""
    return np.array(list(quaternion_places(answers.mechanism).values()), dtype=np.int32).reshape(-1, 4)


def _along_speeds(answers: LargeAnswers, law: Mapping[Expr, Expr]) -> list[Expr]:
    """The efforts of a law along all speeds, in their order."""
    mechanism = answers.mechanism
    zero = mechanism.graph.const(0.0)
    return [law.get(s.definition, zero) for s in mechanism.speed_records.values()]


def _with_law(answers: LargeAnswers, law: Mapping[Expr, Expr] | None, exprs: Sequence[Expr]) -> list[Expr]:
    """Expressions in which the efforts of a law are added to those along the speeds that they name (tau_u1)."""
    if law is None:
        return list(exprs)
    named = [answers.mechanism.graph.input(f"tau_{s}") for s in answers.mechanism.speeds]
    return substitute(exprs, {t: t + e for t, e in zip(named, _along_speeds(answers, law), strict=True)})


__all__ = ["LargeMotion", "large_motion"]
