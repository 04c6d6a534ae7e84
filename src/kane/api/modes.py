"""The state machine of a mechanism whose constraints come and go: its modes, what ends them, what they begin with.

Where modes can be enumerated each is one straight-line program. Guards are functions that fall through zero where the
mode ends; resets say what happens to the speeds there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from ..backends import compile, to_c
from ..errors import InputError, ModelError
from ..formulation import Equations, ModeRows, SlidingFriction, mode_programs
from ..graph import Expr, Program
from ..model import BuiltChanging, Mechanism
from ..simulate import mode_number
from .answers import Answers

MOST_MODES = 256
"""Modes that are written out at most."""

OPEN, STICKS, FORWARD, BACKWARD = "open", "sticks", "slips forward", "slips backward"


@dataclass(frozen=True, slots=True)
class ModeState:
    """One mode: what each changing constraint does in it, and its programs: `motion` writes [q̇, u̇, power], `ends` the
    reactions, rates and residuals of all rows, and what the rates of slipping rows are sums of (Σ |a u| + |c|). Without
    programs, `because` says why it is not written out."""

    states: dict[str, str]
    motion: Program | None = field(default=None, repr=False)
    ends: Program | None = field(default=None, repr=False)
    because: str = ""

    def __str__(self) -> str:
        told = ", ".join(f"{name} {state}" for name, state in self.states.items())
        if self.motion is None:
            return f"{told}: {self.because}"
        count = self.motion.count()
        return f"{told}: {count['mul']} multiplications, {count['add']} additions, {count['div']} divisions"


@dataclass(frozen=True, slots=True)
class Guard:
    """What ends a state of a constraint: where `function` falls through zero, `leads_to` follows after `reset`."""

    constraint: str
    state: str
    function: str
    leads_to: str
    reset: str

    def __str__(self) -> str:
        return f"{self.constraint} {self.state}: {self.function} falls through zero → {self.leads_to}; {self.reset}"


@dataclass(frozen=True, slots=True)
class Modes:
    """All modes of a mechanism, with the guards that end them and the resets at their beginning.

    >>> m = kane.load("pendulum")
    >>> lock = m.constrain("lock", kane.Brake("pivot", bound=2))
    >>> [mode.states["lock"] for mode in m.modes()]
    ['sticks', 'slips forward', 'slips backward']
    """

    states: tuple[ModeState, ...]
    guards: tuple[Guard, ...]

    def __len__(self) -> int:
        return len(self.states)

    def __iter__(self) -> Iterator[ModeState]:
        return iter(self.states)

    def __str__(self) -> str:
        lines = [f"{len(self)} modes", *(f"  {k}: {mode}" for k, mode in enumerate(self.states)), "guards and resets"]
        return "\n".join([*lines, *(f"  {guard}" for guard in self.guards)])

    def to_c(self) -> dict[str, tuple[str, str]]:
        """(header, source) in C of each program of each mode that is written out, by the name of its function: mode_K
        and mode_K_ends for the mode K."""
        found: dict[str, tuple[str, str]] = {}
        for k, mode in enumerate(self.states):
            for name, program in ((f"mode_{k}", mode.motion), (f"mode_{k}_ends", mode.ends)):
                if program is not None:
                    found[name] = to_c(program, name)
        return found


def modes(answers: Answers) -> Modes:
    """The modes of a mechanism whose constraints come and go: a finite state machine, each mode one program.

    What `simulate(..., embed="formulation")` runs. `print(m.modes())` lists states, guards and resets; `to_c()` gives
    the programs in C. More than 256 modes, or a contact that slips in a plane, are refused.

    >>> m = kane.load("pendulum")
    >>> lock = m.constrain("lock", kane.Brake("pivot", bound=2))
    >>> print(m.modes())
    3 modes
      0: lock sticks: 2 multiplications, 0 additions, 0 divisions
      1: lock slips forward: 2 multiplications, 3 additions, 0 divisions
      2: lock slips backward: 2 multiplications, 3 additions, 0 divisions
    guards and resets
      lock sticks: 1 times the bound less the size of its friction falls through zero → slips; speeds stay
      lock slips: the speed of its slip falls through zero → sticks or slips the other way; speeds stay
    """
    return answers.make_once("modes", lambda: find_modes(answers))


def find_modes(answers: Answers, law: Any = None) -> Modes:
    """The modes of a mechanism, written out where every reaction is determined, with the efforts of a law."""
    mechanism = answers.mechanism
    if not mechanism.changing:
        raise InputError(f"model '{mechanism.name}' has no constraints that come and go, so there is one mode only")
    changing = list(mechanism.changing.values())
    possible = [_possible_states(mechanism, c) for c in changing]
    count = 1
    for states in possible:
        count *= len(states)
    if count > MOST_MODES:
        fix = "simulate without embed='formulation': the modes that are met are embedded at run time"
        raise InputError(f"{len(changing)} constraints that come and go have {count} modes\n    fix: {fix}")
    whole = answers.all_rows_held()
    found = tuple(_write_mode(whole, mechanism, changing, states, law) for states in product(*possible))
    return Modes(found, tuple(g for c, states in zip(changing, possible, strict=True) for g in _guards(c, states)))


def mode_table(answers: Answers, law: Any = None) -> tuple[Any, ...]:
    """What `ChangingSet.table` takes: the modes that are written out, compiled."""
    return tuple(
        (mode_number(list(mode.states.values())), compile(mode.motion), compile(mode.ends))
        for mode in find_modes(answers, law)
        if mode.motion is not None and mode.ends is not None
    )


def _possible_states(mechanism: Mechanism, c: BuiltChanging) -> tuple[str, ...]:
    slips = len(c.rows) - 1 if c.type == "contact" else len(c.rows)
    if c.type == "contact" and (slips == 0 or c.law.static.is_zero):
        return OPEN, STICKS
    if c.type in ("one-way", "switched"):
        return OPEN, STICKS
    if slips > 1:
        because = "its slip has any direction in a plane, so that its modes cannot be enumerated"
        fix = "simulate without embed='formulation'"
        raise InputError(f"{mechanism.where(c.name)}: {because}\n    fix: {fix}")
    if c.type == "contact":
        return OPEN, STICKS, FORWARD, BACKWARD
    switched = any(e is not None for e in (c.law.when, c.law.until, c.law.duration))
    return (OPEN, STICKS, FORWARD, BACKWARD) if switched else (STICKS, FORWARD, BACKWARD)


def _write_mode(
    whole: Answers, mechanism: Mechanism, changing: Sequence[BuiltChanging], states: Sequence[str], law: Any
) -> ModeState:
    named = {c.name: state for c, state in zip(changing, states, strict=True)}
    permanent = len(mechanism.row_names)
    try:
        equations = whole.fresh_equations()
        rows = _rows_of(equations, changing, states, permanent)
        motion, _ = mode_programs(equations, rows, permanent, law)
        equations = whole.fresh_equations()
        _, ends = mode_programs(equations, _rows_of(equations, changing, states, permanent), permanent, law)
    except ModelError as error:
        return ModeState(named, because=f"embedded at run time, {error.problems[0].what}")
    return ModeState(named, motion, ends)


def _rows_of(
    equations: Equations, changing: Sequence[BuiltChanging], states: Sequence[str], permanent: int
) -> ModeRows:
    held, friction, first = list(range(permanent)), list[SlidingFriction](), permanent

    def take(e: Expr) -> Expr:
        return equations.system.take.one(e)

    for c, state in zip(changing, states, strict=True):
        rows = range(first, first + len(c.rows))
        first += len(c.rows)
        sign = -1.0 if state == BACKWARD else 1.0
        if state == STICKS:
            held += rows if c.type != "contact" or not c.law.static.is_zero else rows[:1]
        elif state != OPEN and c.type == "contact":
            held.append(rows[0])
            friction.append(SlidingFriction(rows[1], sign, take(c.law.friction), rows[0]))
        elif state != OPEN:
            assert c.law.bound is not None
            friction.append(SlidingFriction(rows[0], sign, take(c.law.friction) * take(c.law.bound), None))
    return ModeRows(tuple(held), tuple(friction))


def _guards(c: BuiltChanging, states: Sequence[str]) -> Iterator[Guard]:
    normal, slips = c.row_names()[0], STICKS in states and FORWARD in states
    kept = "speeds stay"
    if c.type == "contact":
        yield Guard(c.name, OPEN, "the gap", "closed", f"impact with restitution {c.law.restitution!r}")
        yield Guard(c.name, "closed", f"the reaction {normal}", OPEN, kept)
    elif c.type == "one-way":
        yield Guard(c.name, OPEN, f"the rate of {normal}", STICKS, kept)
        yield Guard(c.name, STICKS, f"the reaction {normal}", OPEN, kept)
    if c.law.when is not None:
        yield Guard(c.name, OPEN, f"−({c.law.when!r})", "imposed", "the impulse that its rows take")
    if c.law.until is not None:
        yield Guard(c.name, "imposed", f"−({c.law.until!r})", OPEN, kept)
    if c.law.duration is not None:
        yield Guard(c.name, "imposed", f"time since it was imposed + {c.law.duration!r}, less t", OPEN, kept)
    if slips:
        limit = f"{c.law.static!r} times {'the bound' if c.type == 'friction' else normal}"
        yield Guard(c.name, STICKS, f"{limit} less the size of its friction", "slips", kept)
        yield Guard(c.name, "slips", "the speed of its slip", "sticks or slips the other way", kept)


__all__ = ["Guard", "ModeState", "Modes", "find_modes", "mode_table", "modes"]
