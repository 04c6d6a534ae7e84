"""`Model.explain` and `Model.suggest_speeds`: Kane's method to be read, and which speeds make it short."""

# pyright: reportUnnecessaryIsInstance=false
# What callers give is judged, whatever its type was declared to be.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..analysis.speeds import SpeedChoice, SpeedSuggestions, suggest_speeds, with_speeds
from ..boundary import check_function
from ..errors import InputError
from ..explain import MANY, Derivation, Explanation, derive
from ..large import refuse_if_too_large
from ..model import Mechanism
from .answers import Answers

SUGGESTED, RATES = "suggested", "rates"


def explain(
    answers: Answers,
    *,
    beside: str | Mapping[str, str] | None = SUGGESTED,
    independent: Sequence[str] | None = None,
) -> Explanation:
    """Kane's method on this model, step by step: definitions of the speeds, angular velocities and velocities, the
    table of partial velocities, F_r and F_r* term by term, what drops out and why, the equations.

    `beside` is another choice of speeds that is shown beside it: "suggested", the cheapest that `suggest_speeds` finds
    besides the model's own (none where that is dearer and too long to be read); "rates", u = q̇;
    definitions by name, as for `set_speeds`; or None.
    `independent` names the speeds that the equations of motion of a model with constraints are written for, as many as
    it has degrees of freedom; by default those from which the others follow by the shortest formulas.

    >>> print(kane.load("pendulum").explain())
    pendulum: Simple pendulum of length L with a particle of mass m
    <BLANKLINE>
    Generalized speeds
      u = q'
    ...
    """
    mechanism = answers.mechanism
    refuse_if_too_large(mechanism, "explain")
    answers.refuse_without_bodies("explain")
    return Explanation(derive(mechanism, independent=independent), _derive_beside(mechanism, beside))


def _derive_beside(mechanism: Mechanism, beside: str | Mapping[str, str] | None) -> Derivation | None:
    if beside is None:
        return None
    if isinstance(beside, Mapping):
        return derive(with_speeds(mechanism, beside))
    if beside not in (SUGGESTED, RATES):
        raise InputError(
            f"explain: beside={beside!r} is no choice of speeds\n"
            "    fix: 'suggested', 'rates', definitions by name ({'u1': 'w.D.x', …}) or None"
        )
    found = suggest_speeds(mechanism)
    choice = found.rates if beside == RATES else _other(found)
    if choice is None or choice is found.present:
        return None
    other = derive(with_speeds(mechanism, choice.definitions))
    dearer = choice.cost > found.present.cost
    return None if beside == SUGGESTED and dearer and len(other.Z) > MANY else other


def _other(found: SpeedSuggestions) -> SpeedChoice | None:
    """The cheapest choice besides the model's own."""
    own = tuple(found.present.definitions.values())
    return next((c for c in found.choices if tuple(c.definitions.values()) != own), None)


def suggest(answers: Answers, tries: int | None, progress: Callable[[float], object] | None) -> SpeedSuggestions:
    """What choices of speeds cost for the model with these answers."""
    check_function("progress", progress, "the part that is done", 1)
    if tries is not None and (not isinstance(tries, int) or isinstance(tries, bool) or tries < 1):
        raise InputError(f"suggest_speeds: tries={tries!r} is no number of choices\n    fix: give one from 1 on")
    refuse_if_too_large(answers.mechanism, "suggest_speeds")
    answers.refuse_without_bodies("suggest_speeds")
    return suggest_speeds(answers.mechanism, tries=tries, progress=progress)


__all__ = ["RATES", "SUGGESTED", "explain", "suggest"]
