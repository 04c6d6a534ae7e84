"""Constraints embedded at run time: from the terms of a system to programs that an integrator can call.

In come compiled programs that give mass matrix, efforts and constraint rows of a system with all its speeds; out come
the addresses of two flat programs, the rates of the state and its projection onto the constraints. Independent speeds
are chosen anew at every evaluation, by a pivoted QR of the rows [GIL03, Eqs. 44-45], so that no choice made at the
start can become a bad one, and rows that follow from others are recognised wherever that is so.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from ..backends.native import flat_function
from ..constraints.diagnosis import Names, System, explain_stop, find_massless
from ..errors import InputError, ModelError, Problem
from .notice import announced


class Embedding:
    """The motion of a constrained system, compiled: `rhs` and `project` are addresses, valid as long as this lives.

    All programs read [t, q, u (n), work, tau (n), parameters]:

    - `terms` writes q̇, M (n, n), f (n) = tau − bias, A (rows, n), rate (rows) = A u + c, b (rows) of A u̇ = b,
      phi (rows), the position residuals, 0 for rows of motion alone, and the power of the loads;
    - `places` writes the phi of the rows that have one, their G (k, n) out of A, and T (coordinates, n), by which the
      coordinates move with a displacement along the speeds, δq = T δ; None if there is no such row;
    - `unit` writes the state [q, u, work] with unit quaternions; None if there are none.

    `rhs` writes [q̇, u̇, power]; u̇ is nan where the constrained mass matrix is singular. `project` writes the state
    moved to where phi = 0 and A u + c = 0, by steps that are least in the metric of M; work stays.
    With `baumgarte` = (damping ratio, frequency in rad/s) the accelerations also pull errors of the constraints back,
    b − 2 ζ ω rate − ω² phi. `rank` is the rank that the rows have in general, to which nearness to a singular position
    is referred; as many as rows and speeds allow if None. Rows that
    compare by length, those of one constraint in one unit, have the same name in `groups`: the shorter a row is
    beside the longest of its group, the less it determines; without groups all rows compare. `positions` are the rows
    that `places` is about, where it is not all of them. With `driven` the power of the reactions, which is not zero
    where c is not, is added to that of the loads. `names` are those of rows and speeds, for whoever is told what stops
    a motion.

    One simulation at a time: the memory is shared by all calls.
    """

    def __init__(
        self,
        terms: Any,
        places: Any,
        unit: Any,
        *,
        coordinates: int,
        speeds: int,
        rows: int,
        baumgarte: tuple[float, float] | None = None,
        rank: int | None = None,
        groups: Sequence[Hashable] | None = None,
        positions: Sequence[int] | None = None,
        driven: bool = False,
        names: Names | None = None,
    ):
        from ..backends.llvm.bound import Bound

        with announced("the treatment of constraints"):
            from .compiled import embedded  # numba is slow to import: only a simulation pays for it
        from .compiled.lanes import padded

        n = speeds
        states = coordinates + n + 1
        inputs = terms.program.input_count
        holonomic = 0 if places is None else _holonomic(places, coordinates, n)
        _check("terms", terms, inputs, coordinates + n * (n + 1) + rows * (n + 3) + 1)
        if inputs < 1 + states + n:
            raise InputError(
                f"terms: program reads {inputs} numbers; t, q, u, work and tau are {1 + states + n} already"
            )
        if places is not None:
            _check("places", places, inputs, holonomic * (n + 1) + coordinates * n)
        if holonomic > rows:
            raise InputError(f"places is about {holonomic} rows, but there are {rows} in all")
        if unit is not None:
            _check("unit", unit, inputs, states)
        damping, stiffness = _gains(baumgarte)
        self._programs = (terms, places, unit)
        self._embedded = embedded.embedded
        self._memory = np.zeros(len(embedded.TASKS), dtype=embedded.MEMORY)
        self._arrays: dict[str, Any] = {}
        self._fill(
            task=embedded.TASKS,
            terms=terms.address,
            places=0 if places is None else places.address,
            unit=0 if unit is None else unit.address,
            coordinates=coordinates,
            n=n,
            rows=rows,
            holonomic=holonomic,
            inputs=inputs,
            states=states,
            generic=min(rows, n) if rank is None else rank,
            stabilised=int(baumgarte is not None),
            driven=int(driven),
            damping=damping,
            stiffness=stiffness,
        )
        width = padded(n + 1)
        self._hold(
            out=terms.program.output_count,
            place=0 if places is None else places.program.output_count,
            x=inputs,
            kept=coordinates,
            shift=coordinates,
            y=states,
            b=rows,
            zero=n,
            step=n,
            scale=n,
            w=rows * width,
            square=width,
            summed=n,
            longest=rows,
            v=rows,
            row=width,
            x_dependent=n * width,
            product=n * width,
            k=n * width,
        )
        self._choose(order=range(n), **_grouped(rows, holonomic, groups, positions))
        contexts = [self._memory[task:].ctypes.data for task in embedded.TASKS]
        self._bound = [Bound(self._embedded.address, context) for context in contexts[:2]]
        self._samples = contexts[embedded.SAMPLES]
        self.rhs: int = self._bound[0].address
        self.project: int = self._bound[1].address
        self._names = names or Names("system", [str(i) for i in range(rows)], [str(i) for i in range(n)])
        self._system = System(
            flat_function(terms.address, terms.program.output_count),
            flat_function(self.rhs, states),
            coordinates,
            n,
            rows,
            int(self._memory[0]["generic"]),
        )

    def _fill(self, **values: float | Sequence[int]) -> None:
        """Write numbers into the records of all tasks."""
        for name, value in values.items():
            self._memory[name] = value

    def _hold(self, **sizes: int) -> None:
        """Set arrays of these sizes aside and tell the compiled code where they are."""
        for name, size in sizes.items():
            array = self._arrays[name] = np.zeros(max(size, 1))
            self._memory[name] = array.ctypes.data

    def _choose(self, **numbers: Sequence[int]) -> None:
        """Set aside arrays of whole numbers."""
        for name, values in numbers.items():
            array = self._arrays[name] = np.array([*values, 0], dtype=np.int64)
            self._memory[name] = array.ctypes.data

    def accelerations(self, t: Any, q: Any, u: Any, tau: Any, parameters: Any = ()) -> tuple[Any, Any, Any]:
        """(u̇ (k, n), which speeds were taken as independent (k, n), nearness to a singular position (k,)).

        t (k,), q (k, coordinates), u and tau (k, n), parameters (k, …) or (…) for all samples. The nearness is
        |R_rr| / |R_11| of the pivoted QR of the rows: 1 for rows at right angles, 0 where constraints that are
        independent elsewhere depend on each other.
        """
        memory = self._memory[0]
        n, width = int(memory["n"]), int(memory["inputs"])
        times = np.asarray(t, dtype=np.float64).reshape(-1)
        count = len(times)
        free = width - 1 - int(memory["states"]) - n
        parts = {
            "q": (q, int(memory["coordinates"])),
            "u": (u, n),
            "work": (0.0, 1),
            "tau": (tau, n),
            "parameters": (parameters if free else np.empty((count, 0)), free),
        }
        x = np.empty((count, width))
        x[:, 0] = times
        at = 1
        for name, (given, size) in parts.items():
            values = np.asarray(given, dtype=np.float64)
            try:
                x[:, at : at + size] = values
            except ValueError:
                raise InputError(f"{name} has shape {values.shape}; ({count}, {size}) is needed") from None
            at += size
        udot, measure = np.empty((count, n)), np.empty(count)
        independent = np.zeros((count, n), dtype=np.int64)
        given = np.array([count, *(a.ctypes.data for a in (x, independent, measure))], dtype=np.int64)
        self._embedded.ctypes(self._samples, given.ctypes.data, udot.ctypes.data)
        return udot, independent.astype(bool), measure

    def explain(self, x: Any, step: float, began: float) -> str:
        """What keeps a motion that began at a time (s) from going on from the inputs x, where a step (s) was tried;
        "" if nothing is found in the constraints."""
        return explain_stop(self._system, x, step, began, self._names)

    def refuse_massless(self, t: float, q: Any, u: Any, tau: Any, parameters: Any) -> None:
        """Refuse, by name, a speed that moves no mass and that the constraints leave free in this state."""
        udot = self.accelerations([t], q, u, tau, parameters)[0]
        if np.all(np.isfinite(udot)):
            return
        found = find_massless(self._system.at(np.concatenate([[t], q, u, [0.0], tau, parameters])))
        if found is not None:
            raise ModelError(
                Problem(f"{self._names.where} / speed '{self._names.speeds[found.speed]}'", *found.problem)
            )


def _holonomic(places: Any, coordinates: int, n: int) -> int:
    """How many rows have a position residual, from the number of outputs of `places`: k (n + 1) + coordinates n."""
    return max(0, (places.program.output_count - coordinates * n) // (n + 1))


def _grouped(
    rows: int, holonomic: int, groups: Sequence[Hashable] | None, positions: Sequence[int] | None
) -> dict[str, Sequence[int]]:
    """The group of each row of terms and of places, numbered from 0."""
    if positions is None and holonomic == rows:
        positions = range(rows)
    if groups is None:
        return {"groups": [0] * rows, "place_groups": [0] * holonomic}
    if len(groups) != rows:
        raise InputError(f"groups has {len(groups)} entries; one for each of the {rows} rows is needed")
    if positions is None or len(positions) != holonomic:
        raise InputError(
            f"{holonomic} of {rows} rows have a position residual: positions must name them, so that it is known which"
            f" group each belongs to"
        )
    number = {group: i for i, group in enumerate(dict.fromkeys(groups))}
    numbered = [number[g] for g in groups]
    places = [numbered[i] for i in positions]
    again = {group: i for i, group in enumerate(dict.fromkeys(places))}
    return {"groups": numbered, "place_groups": [again[g] for g in places]}


def _check(name: str, kernel: Any, inputs: int, outputs: int) -> None:
    program = kernel.program
    if program.input_count != inputs:
        raise InputError(
            f"{name}: program '{program.name}' reads {program.input_count} numbers, the terms read {inputs}; all"
            f" programs of an embedding read [t, q, u, work, tau, parameters]"
        )
    if program.output_count != outputs:
        raise InputError(
            f"{name}: program '{program.name}' writes {program.output_count} numbers, {outputs} are needed for these"
            f" coordinates, speeds and rows"
        )


def _gains(baumgarte: tuple[float, float] | None) -> tuple[float, float]:
    """(2 ζ ω in 1/s, ω² in 1/s²)."""
    if baumgarte is None:
        return 0.0, 0.0
    ratio, frequency = baumgarte
    if not (math.isfinite(ratio) and math.isfinite(frequency) and ratio >= 0 and frequency > 0):
        raise InputError(
            f"baumgarte = ({ratio!r}, {frequency!r}): give a damping ratio of 0 or more and a positive frequency in"
            f" rad/s, say (1, 20)"
        )
    return 2.0 * ratio * frequency, frequency * frequency
