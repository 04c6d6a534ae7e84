"""Which generalized speeds are worth choosing: choices are tried, and what they cost is counted.

The motion is the same with any speeds; what one evaluation of it takes is not. `suggest_speeds` measures the present
choice, the motion variables of the joints (mostly u = q̇) and what the rules of `speed_rules.py` make of them, alone and
one on top of the other: each rule is kept where it saves operations, and the rules are gone through until none does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..constraints.thresholds import NO_MASS
from ..errors import KaneError, ModelError, Problem
from ..formulation import Equations, formulate
from ..formulation.embedding import evaluate_matrix
from ..graph import Values
from ..markup import paragraph, table
from ..model import Mechanism
from ..model.speeds import are_rates, describe_definitions
from .speed_rules import Rule, speed_rules, write_definitions
from .tables import align_columns

TRIES, FEWEST, WORK = 200, 10, 2400
"""Choices that are measured at most by default: `TRIES`, or where that is less `WORK` divided by the number of speeds,
but not fewer than `FEWEST`. One takes 10 to 100 ms for up to some ten bodies, 1.3 s for twenty that fly."""

PRESENT = "as described"
RATES, OF_JOINTS, FIRST = "u = q'", "those of the joints", "those that were described first"
"""What the motion variables are called as speeds: the rates of the coordinates; those of the joints where joints have
others, as ω of a spherical one; and the first where there are no joints but rates are written in other variables."""
_SHOWN = 60  # characters of the definitions of a choice in a table


@dataclass(frozen=True, slots=True)
class SpeedChoice:
    """Definitions of all speeds by name, and operations that they take: multiplications and divisions, additions, sines
    and cosines of u̇ (`forward`) and of q̇ (`kinematics`), as (mul, add, trig); work on parameters alone is not counted.
    `about` says by which rules the choice was made."""

    about: str
    definitions: Mapping[str, str]
    forward: tuple[int, int, int]
    kinematics: tuple[int, int, int]
    shown: str = ""  # what speeds are that a table names, in words of the field

    @property
    def cost(self) -> int:
        """Multiplications, divisions and additions of u̇ and q̇ together: what each evaluation of a motion takes.

        >>> kane.load("pendulum").suggest_speeds().best.cost
        2
        """
        return sum(self.forward[:2]) + sum(self.kinematics[:2])

    def brief(self) -> str:
        """As much of what the speeds are as fits on a line."""
        return self.shown if len(self.shown) <= _SHOWN else f"{self.shown[: _SHOWN - 1]}…"

    def order(self) -> tuple[int, int]:
        """What choices are compared by: the cost, and where it is equal sines and cosines."""
        return self.cost, self.forward[2] + self.kinematics[2]


@dataclass(frozen=True, slots=True)
class SpeedSuggestions:
    """What choices of generalized speeds cost: the model's own, u = q̇, and others, cheapest first.

    `choices` are all of them; `present` is the model's own, "as described". `rates` is u = q̇, or those of the joints
    where joints have speeds that are no rates, and is `present` where the model is described with them. `tried` is how
    many were measured. `obstacle` says why no others could be tried, where that is so.

    >>> found = kane.load("double-pendulum").suggest_speeds()
    >>> found.best.about
    'absolute rate of lower'
    """

    model: str
    choices: tuple[SpeedChoice, ...]
    present: SpeedChoice
    rates: SpeedChoice
    tried: int
    obstacle: str = ""

    @property
    def best(self) -> SpeedChoice:
        """The choice that costs least; the model's own where none costs less.

        >>> kane.load("pendulum").suggest_speeds().best.definitions
        {'u': "q'"}
        """
        return self.choices[0]

    def to_dict(self) -> dict[str, object]:
        """Plain data, for JSON."""
        return {
            "model": self.model,
            "tried": self.tried,
            "obstacle": self.obstacle,
            "choices": [
                {
                    "about": c.about,
                    "present": c is self.present,
                    "speeds": dict(c.definitions),
                    "cost": c.cost,
                    "forward_dynamics": dict(zip(_COUNTED, c.forward, strict=True)),
                    "kinematics": dict(zip(_COUNTED, c.kinematics, strict=True)),
                }
                for c in self.choices
            ],
        }

    def rows(self) -> list[tuple[str, ...]]:
        """Cells of the table: what was chosen and how it is defined, counts of u̇ and q̇, their sum."""
        return [(c.about, c.brief(), _count(c.forward), _count(c.kinematics), str(c.cost)) for c in self.choices]

    @property
    def _tally(self) -> str:
        left = self.tried - len(self.choices)
        why = "repeat the speeds of others or do not determine the rates"
        said = f"{self.tried} {'choice' if self.tried == 1 else 'choices'} measured"
        return f"{said}, {left} of which {why}" if left > 0 and not self.obstacle else said

    def __str__(self) -> str:
        said = self._tally + (f"; no others, because\n{self.obstacle}" if self.obstacle else "")
        return f"{align_columns([_HEAD, *self.rows()])}\n{said}"

    def _repr_html_(self) -> str:
        """For notebooks."""
        return table(_HEAD, self.rows(), words=2) + paragraph(f"{self._tally}. {self.obstacle}")


_COUNTED = ("mul", "add", "trig")
_HEAD = ("speeds", "defined as", "u': mul + add", "q': mul + add", "in all")


def _count(counted: tuple[int, int, int]) -> str:
    return f"{counted[0]} + {counted[1]}"


def default_tries(mechanism: Mechanism) -> int:
    """Choices that are measured where nothing is said: fewer for large models, whose choices take longer."""
    return min(TRIES, max(FEWEST, WORK // max(1, len(mechanism.speeds))))


def suggest_speeds(
    mechanism: Mechanism, *, tries: int | None = None, progress: Callable[[float], object] | None = None
) -> SpeedSuggestions:
    """What choices of speeds cost, at most `tries` of them measured; `progress` is told the part that is done."""
    tries = default_tries(mechanism) if tries is None else tries
    search = _Search(mechanism, tries, progress)
    present = search.measure_present()
    rates = present if search.has_variables else search.measure(search.about_variables, ())
    if rates is None:
        return SpeedSuggestions(mechanism.name, (present,), present, present, search.tried, search.obstacle)
    search.try_rules(rates)
    found = [c for c in search.found if c is not rates and c is not present]
    kept = _distinct(sorted([present, rates, *found], key=SpeedChoice.order))
    return SpeedSuggestions(mechanism.name, kept, present, rates, search.tried, search.obstacle)


def _distinct(choices: Sequence[SpeedChoice]) -> tuple[SpeedChoice, ...]:
    """One choice of those that define the same speeds."""
    found: dict[tuple[str, ...], SpeedChoice] = {}
    for choice in choices:
        found.setdefault(tuple(choice.definitions.values()), choice)
    return tuple(found.values())


class _Search:
    """Choices measured so far; rules are put on top of each other while that saves operations."""

    def __init__(self, mechanism: Mechanism, tries: int, progress: Callable[[float], object] | None):
        self.mechanism = mechanism
        self.tries, self.tried = max(1, tries), 0
        self.progress = progress
        self._regular_start = False  # whether speeds determine the rates in the initial state
        self._reasons: list[str] = []  # why choices could not be made
        self.found: list[SpeedChoice] = []
        self._known: dict[tuple[str, ...], SpeedChoice | None] = {}

    @property
    def obstacle(self) -> str:
        """Why no choice but the present one could be made, where that is so."""
        return "" if self.found or not self._reasons else self._reasons[0]

    def measure_present(self) -> SpeedChoice:
        """The choice that the model has; where that is u = q̇, or what joints have instead, it says so."""
        m = self.mechanism
        definitions = write_definitions(m)
        self.tried += 1
        equations = formulate(m)
        self._regular_start = _is_regular(_initial_mass_matrix(equations))
        shown = list(definitions) if m.speeds_chosen else self._unusual_speeds()
        same = self.has_variables and self.about_variables != FIRST
        about = f"{PRESENT}: {self.about_variables}" if same else PRESENT
        return _measure(equations, about, definitions, self._describe(definitions, shown))

    @cached_property
    def has_variables(self) -> bool:
        """Whether the speeds of the model are the motion variables, by default or by their definitions."""
        own, _ = self.define(())
        definitions = write_definitions(self.mechanism)
        return not self.mechanism.speeds_chosen or tuple(own.values()) == tuple(definitions.values())

    @cached_property
    def about_variables(self) -> str:
        """What the motion variables are called as speeds."""
        m = self.mechanism
        if are_rates(m, m.motion_variables.values()):
            return RATES
        return OF_JOINTS if m.joints else FIRST

    def _unusual_speeds(self) -> list[str]:
        """Names of the default speeds that are no rates of coordinates."""
        m, rates = self.mechanism, set(self.mechanism.coordinate_rates.values())
        return [name for variable, name in _variables(m) if m.motion_variables[variable] not in rates]

    def _describe(self, definitions: Mapping[str, str], names: Sequence[str]) -> str:
        words = describe_definitions(self.mechanism, {name: definitions[name] for name in names})
        return ", ".join(f"{name} = {text}" for name, text in words.items())

    def measure(self, about: str, rules: Sequence[Rule]) -> SpeedChoice | None:
        """What a choice costs; None where it cannot be made, or there are no tries left."""
        definitions, changed = self.define(rules)
        key = tuple(definitions.values())
        if key in self._known:
            return self._known[key]
        if self.tried >= self.tries:
            return None
        self.tried += 1
        if self.progress is not None:
            self.progress(min(1.0, self.tried / self.tries))
        self._known[key] = None
        try:
            with np.errstate(all="ignore"):  # a choice may be singular where it is judged
                twin = with_speeds(self.mechanism, definitions)
                equations = formulate(twin)
                if self._regular_start:
                    _refuse_if_singular(equations, about)
                if are_rates(twin, [s.definition for s in twin.speed_records.values()]):
                    about, changed = RATES, ()
                shown = self._describe(definitions, changed if rules else self._unusual_speeds())
                self._known[key] = _measure(equations, about, definitions, shown)
        except KaneError as error:
            self._reasons.append(str(error))
        found = self._known[key]
        if found is not None:
            self.found.append(found)
        return found

    def define(self, rules: Sequence[Rule]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Speeds by name → definition, motion variables where no rule replaces them; and which of them are replaced."""
        m = self.mechanism
        chosen = {name: text for rule in rules for name, text in zip(rule.replaces, rule.definitions, strict=True)}
        variables = _variables(m)
        kept = [default for variable, default in variables if chosen.get(variable, variable) == variable]
        taken = {*m.known_names, *kept} - (set(m.speed_records) - set(kept))
        definitions: dict[str, str] = {}
        changed: list[str] = []
        for k, (variable, default) in enumerate(variables):
            name = default
            if default not in kept:
                name = f"u{k + 1}"
                while name in taken or name in definitions:
                    name += "_"
                changed.append(name)
            definitions[name] = chosen.get(variable, variable)
        return definitions, tuple(changed)

    def try_rules(self, start: SpeedChoice) -> None:
        """Every rule alone, all absolute rates together, and rules on top of the best choice until none saves more."""
        rules = speed_rules(self.mechanism)
        best, kept = start, list[Rule]()
        for group in self._starts(rules):
            found = self.measure(_words(group), group)
            if found is not None and found.order() < best.order():
                best, kept = found, group
        improved = True
        while improved and self.tried < self.tries:
            improved = False
            for rule in rules:
                if rule in kept:
                    continue
                group = [*(r for r in kept if not set(r.replaces) & set(rule.replaces)), rule]
                found = self.measure(_words(group), group)
                if found is not None and found.order() < best.order():
                    best, kept, improved = found, group, True
        if self.progress is not None:
            self.progress(1.0)

    def _starts(self, rules: Sequence[Rule]) -> Iterator[list[Rule]]:
        absolute = [r for r in rules if r.about.startswith("absolute")]
        if len(absolute) > 1:
            yield absolute
        yield from ([rule] for rule in rules)


def _words(rules: Sequence[Rule]) -> str:
    """What a choice is called: its rules, or how many there are of one kind."""
    words = list(dict.fromkeys(rule.about for rule in rules))
    if len(words) > 3 and all(w.startswith("absolute") for w in words):
        return f"absolute rates, {len(words)} of them"
    return "; ".join(words)


def _variables(m: Mechanism) -> list[tuple[str, str]]:
    """(motion variable, name of its default speed), in the order that the speeds would have by default."""
    place = m.variable_order()
    return sorted(((v, m.default_speeds[v]) for v in m.motion_variables), key=lambda item: place[item[0]])


def _measure(equations: Equations, about: str, definitions: Mapping[str, str], shown: str) -> SpeedChoice:
    forward, kinematics = (equations.count(name) for name in ("forward_dynamics", "kinematics"))
    counts = [(c["mul"] + c["div"], c["add"], c["trig"]) for c in (forward, kinematics)]
    return SpeedChoice(about, dict(definitions), counts[0], counts[1], shown)


def _initial_mass_matrix(equations: Equations) -> np.ndarray:
    return evaluate_matrix(equations.mass_matrix, Values(equations.system.initial_state()))


def _is_regular(M: np.ndarray) -> bool:
    """Whether a mass matrix is finite and positive definite; that of three angles is not where two axes coincide."""
    if not np.all(np.isfinite(M)) or np.any(np.diag(M) <= 0.0):
        return False
    scale = np.sqrt(np.diag(M))
    return bool(np.linalg.eigvalsh(M / np.outer(scale, scale))[0] > NO_MASS)


def _refuse_if_singular(equations: Equations, about: str) -> None:
    """Refuse speeds that do not determine the rates where the model starts, as ψ' sin θ at θ = 0: M is infinite."""
    if not np.all(np.isfinite(_initial_mass_matrix(equations))):
        what = f"{about}: these speeds do not determine the rates of the coordinates in the initial state"
        raise ModelError(Problem(equations.mechanism.where("speeds"), what))


def with_speeds(mechanism: Mechanism, definitions: Mapping[str, str]) -> Mechanism:
    """A twin of a mechanism with other speeds, and the same motion."""
    twin = mechanism.twin()
    twin.set_speeds(dict(definitions))
    return twin


__all__ = ["SpeedChoice", "SpeedSuggestions", "suggest_speeds", "with_speeds"]
