"""Times at which programs of a motion jump or bend, read from the programs: t where a comparison changes sides.

In come programs over [t, y, p] with the values of their parameters, out come pairs of times just before and just after
each change, so that steps end there: an error estimate never sees a pulse that no stage falls into. What is compared
has to be linear in t, with parameters and numbers: "select(t < t1, 5, 0)", "min(t/T, 1)". A change that depends on the
state is not known beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ..graph import Program
from ..graph.ops import TABLE

COMPARISONS = frozenset({"less", "less_equal", "equal", "min", "max", "abs", "sign"})
"""Operations that jump or bend where their arguments are equal, or where their one argument is zero."""

ROUNDINGS = 8.0
"""How many roundings of what is compared, or of t, lie between the times before and after a change."""

_EPS = 2.0**-52


class Change(NamedTuple):
    """Times (s) just before and just after something changes, in the order in which a motion meets them."""

    before: float
    after: float


class _Line(NamedTuple):
    """start + slope t, and the size of the largest number that went into it."""

    start: float
    slope: float
    size: float


def time_changes(programs: Iterable[tuple[Program, Sequence[float]]], t0: float, t1: float) -> tuple[Change, ...]:
    """All changes from t0 to t1 (s) of programs with the values of their group `parameters`, none of them overlapping.

    One at t0 or t1 to within rounding is among them.
    """
    low, high = min(t0, t1), max(t0, t1)
    found: list[tuple[float, float]] = []
    for program, parameters in programs:
        for t, margin in _roots(program, parameters):
            before, after = min(t - margin, math.nextafter(t, -math.inf)), max(t + margin, math.nextafter(t, math.inf))
            if after >= low and before <= high:
                found.append((before, after))
    merged: list[tuple[float, float]] = []
    for before, after in sorted(found):
        if merged and before <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(after, merged[-1][1]))
        else:
            merged.append((before, after))
    if t1 >= t0:
        return tuple(Change(*pair) for pair in merged)
    return tuple(Change(after, before) for before, after in reversed(merged))


def _roots(program: Program, parameters: Sequence[float]) -> list[tuple[float, float]]:
    """(time, margin of rounding) of each comparison that is linear in t."""
    if not any(row.op in COMPARISONS for row in program.rows) or not any(
        len(g) for g in program.inputs if g.name == "t"
    ):
        return []
    values = _inputs(program, parameters)
    found = []
    for op, args in program.rows:
        lines = [values[a] for a in args]
        known = [line for line in lines if line is not None]
        if len(known) < len(lines):
            values.append(None)
            continue
        if op in COMPARISONS:
            gap = known[0] if len(known) == 1 else _sum(known[0], known[1], -1.0)
            if gap.slope != 0.0 and math.isfinite(t := -gap.start / gap.slope):
                found.append((t, ROUNDINGS * _EPS * max(abs(t), gap.size / abs(gap.slope))))
        values.append(_combine(op, known))
    return found


def _inputs(program: Program, parameters: Sequence[float]) -> list[_Line | None]:
    """The lines of inputs and constants; None for what is no line in t."""
    values: list[_Line | None] = []
    for group in program.inputs:
        if group.name == "t":
            values.append(_Line(0.0, 1.0, 0.0))
        elif group.name == "parameters" and len(group) == len(parameters):
            values += [_Line(float(p), 0.0, abs(float(p))) for p in parameters]
        else:
            values += [None] * len(group)
    return values + [_Line(c, 0.0, abs(c)) for c in program.constants]


def _sum(x: _Line, y: _Line, factor: float) -> _Line:
    return _Line(x.start + factor * y.start, x.slope + factor * y.slope, max(x.size, y.size))


def _scale(x: _Line, factor: float) -> _Line:
    return _Line(x.start * factor, x.slope * factor, x.size * abs(factor))


def _combine(op: str, lines: Sequence[_Line]) -> _Line | None:
    """What an operation makes of lines, if that is a line."""
    if all(line.slope == 0.0 for line in lines):
        value = TABLE[op].value(*(line.start for line in lines))
        return _Line(value, 0.0, max(abs(value), *(line.size for line in lines))) if math.isfinite(value) else None
    if op in ("add", "sub"):
        return _sum(lines[0], lines[1], 1.0 if op == "add" else -1.0)
    if op == "neg":
        return _scale(lines[0], -1.0)
    if op == "mul":
        x, y = lines if lines[1].slope == 0.0 else (lines[1], lines[0])
        return _scale(x, y.start) if y.slope == 0.0 else None
    if op == "div" and lines[1].slope == 0.0 and lines[1].start != 0.0:
        return _scale(lines[0], 1.0 / lines[1].start)
    return None


__all__ = ["Change", "time_changes"]
