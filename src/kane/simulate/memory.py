"""The memory of one run of a compiled loop: its record, the arrays that the record names, and what of them has to be
kept for a run that is to go on later.

`compiled.records` says what is where. A loop remembers everything here, so that a run which is put back into the same
memory goes on with the same bits.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .compiled import records
from .routine import LINE, address_of, aligned_zeros
from .settings import IMPLICIT, STEPPING, Settings
from .solution import Event
from .start import Start
from .tableaux import TABLEAUX, pack_rows

FIRST_ROOM = 256
"""Rows of output to begin with; doubled whenever they are full."""

SPARE_ROOM, MOST_ROOM = 16, 1 << 18
"""Rows of output more than there are steps, where their number is known beforehand, and most rows to begin with."""

FEW = 64
"""Rows of output of a motion that is looked at all the time; some steps of it are taken at once."""

OUTPUT, CROSSINGS = ("out_t", "out_y"), ("event_t", "event_y", "event")
"""Arrays of which only the rows that are written count."""

WITHIN_A_STEP = ("found", "found_at", "search", "cluster")
"""Arrays that no step reads what an earlier one has left in."""

NEVER = 2**62
"""More steps than any motion has."""

NUMBERS = (*records.COUNTERS, *records.REALS, "transitions", "transition_fault", "limited")
"""What a loop remembers besides arrays; all else in its record are sizes and addresses."""


class LoopMemory:
    """The record of a loop, `state`, and its `arrays` by name; `array` is the record as the loop takes it."""

    def __init__(self, start: Start, settings: Settings, items: tuple[Event, ...], programs: dict[str, int]):
        self.start = start
        self.settings = settings
        self.array = np.zeros(1, dtype=records.MEMORY)
        self.state = self.array[0]
        self.arrays: dict[str, Any] = {}
        self._implicit: dict[str, Any] = {}
        self._given: set[str] = {"times", "atol", "directions", "terminal"}
        for name, address in programs.items():
            self.state[name] = address
        self._motion_arrays()
        self._event_arrays(items)
        if settings.method == IMPLICIT:
            self.hold_implicit()
        elif settings.method == STEPPING:
            self.state["fixed"] = 1
            self.hold(dense=np.zeros((3, start.y0.size)))
        else:
            self.hold_explicit()

    def hold(self, **arrays: Any) -> None:
        """Keep arrays alive and tell the loop where they are."""
        for name, array in arrays.items():
            self.arrays[name] = array
            self.state[name] = address_of(array)

    def copies(self, count: int) -> tuple[Any, Any]:
        """(records, (count,) of MEMORY, what their arrays are in): so many runs that are where this one is now, before
        its first crossing. Programs, the place of output and what nobody writes are shared."""
        own = {name: x for name, x in self.arrays.items() if name not in self._given and name != "out_y"}
        starts = np.cumsum([0, *(-(-x.nbytes // LINE) * (LINE // 8) for x in own.values())])
        memory = aligned_zeros(count, int(starts[-1])).view(np.int64)
        copies = np.repeat(self.array, count)
        lanes = address_of(memory) + memory.strides[0] * np.arange(count)
        for (name, array), at in zip(own.items(), starts, strict=False):
            if name not in CROSSINGS and name not in WITHIN_A_STEP:  # long, and nothing in them is known yet
                memory[:, at : at + array.nbytes // 8] = np.ascontiguousarray(array).view(np.int64).ravel()
            copies[name] = lanes + 8 * at
        if self.state["f"] == self.state["k"]:
            copies["f"] = copies["k"]
        return copies, memory

    def _motion_arrays(self) -> None:
        start, settings, state = self.start, self.settings, self.state
        n = start.y0.size
        rows = max(FIRST_ROOM, start.times.size + 1)
        if start.times.size == 0 and settings.step:
            rows = max(rows, int(min(abs(start.t1 - start.t0) / settings.step + SPARE_ROOM, MOST_ROOM)))
        state["n"], state["width"] = n, start.width
        state["requested"], state["room"] = start.times.size, rows
        state["rtol"], state["max_step"] = settings.rtol, settings.max_step
        state["t"] = state["t_end"] = state["origin"] = start.t0
        state["t_last"] = start.t1
        state["sign"] = -1.0 if start.t1 < start.t0 else 1.0
        state["span"] = abs(start.t1 - start.t0)
        state["fixed_step"] = settings.step or 0.0
        state["h"] = settings.step or settings.first_step or 0.0
        state["error"], state["fresh"], state["stored"] = 1e-4, 1, 1
        state["next_time"] = min(1, start.times.size)
        self.hold(
            atol=settings.tolerances(n),
            x=np.concatenate([np.zeros(1 + n), start.parameters]),
            y=start.y0.copy(),
            y_new=np.zeros(n),
            saved=np.zeros(n),
            scratch=np.zeros(n),
            other=np.zeros(n),
            times=start.times,
            out_t=np.empty(rows),
            out_y=np.empty((rows, n)),
        )
        self.arrays["out_t"][0] = start.t0
        self.arrays["out_y"][0] = start.y0

    def _event_arrays(self, items: tuple[Event, ...]) -> None:
        n, events = self.start.y0.size, len(items)
        splits = records.splits_for(n, events)
        found = records.most_crossings(splits) * events
        self.state["events"], self.state["event_room"] = events, 2 * found
        self.state["splits"], self.state["step_room"] = splits, found
        self.hold(
            directions=np.array([e.direction for e in items], dtype=np.int64),
            terminal=np.array([e.terminal for e in items], dtype=np.int64),
            g=np.zeros((records.EVENT_ROWS, events)),
            search=np.zeros((records.DEPTH + 3, records.POINT)),
            cluster=np.zeros(records.CLUSTER_ROOM),
            g_point=np.zeros(events),
            g_rounding=np.zeros(events),
            g_sign=np.zeros(events, dtype=np.int64),
            fast=np.zeros(events, dtype=np.int64),
            unresolved=np.zeros(events, dtype=np.int64),
            doubtful=np.zeros(events, dtype=np.int64),
            doubtful_t=np.zeros(events),
            found_at=np.empty(found),
            found=np.empty(found, dtype=np.int64),
            event_t=np.empty(2 * found),
            event_y=np.empty((2 * found, n)),
            event=np.empty(2 * found, dtype=np.int64),
        )

    def hold_explicit(self) -> None:
        """Hold what an explicit method works in."""
        tableau = self.settings.tableau
        assert tableau is not None
        state = self.state
        state["stages"], state["rows"] = tableau.stages, len(tableau.a)
        state["fixed"], state["error_order"] = int(not tableau.adaptive), tableau.error_order
        state["error_rows"], state["dense_rows"] = len(tableau.error), len(tableau.dense)
        watched = tableau.adaptive and tableau.stability > 0.0
        state["stability"], state["stiff_due"] = tableau.stability, records.LOOK if watched else NEVER
        constants = _tableau_arrays(tableau.name)
        self._given |= set(constants)
        self.hold(**constants)
        self.hold(
            k=np.zeros((len(tableau.a), self.start.width)),
            dense=np.zeros((3 + len(tableau.dense), self.start.y0.size)),
        )
        state["f"] = state["k"]

    def hold_implicit(self) -> None:
        """Hold what the implicit method works in."""
        self.state["error_order"], self.state["dense_rows"] = 3, 0
        if not self._implicit:
            self._implicit = _implicit_arrays(self.start.y0.size, self.start.width)
        for array in self._implicit.values():
            array[...] = 0
        self.hold(**self._implicit)

    def beginning(self) -> Beginning:
        """What this memory is before a run begins, for `begin_again`."""
        changed = {name: array for name, array in self.arrays.items() if name not in self._given}
        unknown = (*OUTPUT, *CROSSINGS, *WITHIN_A_STEP)
        return Beginning(
            self.array.copy(), dict(self.arrays), {n: a.copy() for n, a in changed.items() if n not in unknown}
        )

    def begin_again(self, beginning: Beginning, y0: Any, parameters: Any) -> None:
        """Be as at the beginning of a run of the same kind from another state, with other parameters."""
        self.array[...] = beginning.record
        self.arrays.clear()
        self.arrays.update(beginning.arrays)
        for name, values in beginning.values.items():
            self.arrays[name][...] = values
        self.arrays["y"][:] = self.arrays["out_y"][0] = y0
        self.arrays["x"][1 + y0.size :] = parameters

    def keep_few(self) -> None:
        """Have room for `FEW` states, and for the crossings of one step, before the first one: for whoever takes them
        away all the time."""
        for name in (*OUTPUT, *CROSSINGS):
            if name not in self.arrays:
                continue
            array, count = self.arrays[name], FEW if name in OUTPUT else int(self.state["step_room"])
            fewer = np.zeros((count, *array.shape[1:]), dtype=array.dtype)
            if name in OUTPUT:
                fewer[0] = array[0]
            self.hold(**{name: fewer})
        self.state["room"] = FEW
        self.state["event_room"] = self.state["step_room"]

    def grow(self) -> None:
        """Double whatever is nearly full."""
        state = self.state
        if state["requested"] == 0 and state["stored"] + 2 >= state["room"]:
            self._enlarge(OUTPUT, int(state["stored"]), "room")
        if state["events"] and state["crossings"] + state["step_room"] > state["event_room"]:
            self._enlarge(CROSSINGS, int(state["crossings"]), "event_room")

    def _enlarge(self, names: tuple[str, ...], used: int, size: str) -> None:
        """Twice the rows of arrays, of which so many are used, and their number where the loop reads it."""
        for name in names:
            array = self.arrays[name]
            larger = np.empty((2 * array.shape[0], *array.shape[1:]), dtype=array.dtype)
            larger[:used] = array[:used]
            self.hold(**{name: larger})
        self.state[size] = self.arrays[names[0]].shape[0]

    def contents(self) -> dict[str, Any]:
        """Everything that the loop remembers, by name, as it is now."""
        used = dict.fromkeys(OUTPUT, int(self.state["stored"])) | dict.fromkeys(CROSSINGS, int(self.state["crossings"]))
        kept = {
            name: array[: used.get(name)].copy()
            for name, array in self.arrays.items()
            if name not in self._given and name not in WITHIN_A_STEP
        }
        return kept | {name: np.array(self.state[name]) for name in NUMBERS}

    def restore(self, contents: Mapping[str, Any]) -> None:
        """Remember what was kept of a run like this one."""
        stored, crossings = int(contents["stored"]), int(contents["crossings"])
        if stored < 1 or crossings < 0 or not 0 <= int(contents["next_time"]) <= self.state["requested"]:
            raise InputError("what was kept of the run is damaged")
        while self.state["room"] < stored + 2:
            self._enlarge(OUTPUT, 0, "room")
        while self.state["event_room"] < crossings + self.state["step_room"]:
            self._enlarge(CROSSINGS, 0, "event_room")
        for name, array in self.arrays.items():
            if name in self._given or name in WITHIN_A_STEP:
                continue
            used = {**dict.fromkeys(OUTPUT, stored), **dict.fromkeys(CROSSINGS, crossings)}.get(name)
            put_back(array[:used], contents[name])
        for name in NUMBERS:
            self.state[name] = contents[name]

    def pieces(self) -> Iterator[MemoryPiece]:
        """All of this memory, for a copy of it elsewhere; of arrays that no step reads what is left in, zeros."""
        for name in WITHIN_A_STEP:
            self.arrays[name][...] = 0
        self.arrays["out_t"][int(self.state["stored"]) :] = 0.0
        self.arrays["out_y"][int(self.state["stored"]) :] = 0.0
        for name in CROSSINGS:
            self.arrays[name][int(self.state["crossings"]) :] = 0
        addresses = (*records.PROGRAMS, *records.PROGRAM_MEMORY, *records.SEARCHES, *records.ADDRESSES)
        yield MemoryPiece.of_record(self.array, (*addresses, "transition", "transition_memory"))
        for array in self.arrays.values():
            yield MemoryPiece(array)


@dataclass(frozen=True, slots=True)
class Beginning:
    """The memory of a run before it begins: its record, its arrays by name, and the values of those that count."""

    record: Any
    arrays: dict[str, Any]
    values: dict[str, Any]


@dataclass(frozen=True, slots=True)
class MemoryPiece:
    """An array that compiled code works in; `addresses` are the places of its 64-bit words that are addresses, of
    arrays and of programs."""

    array: Any
    addresses: tuple[int, ...] = ()

    @classmethod
    def of_record(cls, array: Any, fields: Iterable[str]) -> MemoryPiece:
        """Records of which these fields are addresses."""
        words = array.dtype.itemsize // 8
        starts = [array.dtype.fields[name][1] // 8 for name in fields]
        return cls(array, tuple(row * words + start for row in range(array.size) for start in starts))


def piece_of(array: Any) -> tuple[int, int]:
    """Address and length, in words of eight bytes, of an array."""
    return address_of(array), array.nbytes // 8


def fields_of(record: Any, names: Iterable[str]) -> list[tuple[int, int]]:
    """Address and length of numbers of a record, which is an array of one, by their names."""
    return [(address_of(record) + record.dtype.fields[name][1], 1) for name in names]


def put_back(array: Any, contents: Any) -> None:
    """Fill an array with what was kept of it."""
    if contents.shape != array.shape or contents.dtype != array.dtype:
        raise InputError("what was kept of the run is damaged")
    array[...] = contents


def _implicit_arrays(n: int, width: int) -> dict[str, Any]:
    """What the implicit method works in, of n states, where rates have so many numbers."""
    return {
        "f": np.zeros(width),
        "k": np.zeros((3, width)),
        "dense": np.zeros((3, n)),
        "jacobian_matrix": np.zeros((n, n)),
        "real_factors": np.zeros((n, n)),
        "complex_factors": np.zeros((n, n), dtype=np.complex128),
        "real_pivots": np.zeros(n, dtype=np.int64),
        "complex_pivots": np.zeros(n, dtype=np.int64),
        "z": np.zeros((3, n)),
        "w": np.zeros((3, n)),
        "residual": np.zeros((3, n)),
        "complex_part": np.zeros(n, dtype=np.complex128),
    }


@functools.cache
def _tableau_arrays(name: str) -> dict[str, Any]:
    """The arrays of a tableau as the loop wants them; shared by all simulations, which only read them."""
    tableau = TABLEAUX[name]
    arrays: dict[str, Any] = {"c": np.array(tableau.c)}
    for matrix, rows in (("a", tableau.a), ("error", tableau.error), ("dense", tableau.dense)):
        start, column, value = pack_rows(rows)
        arrays[f"{matrix}_start"] = np.array(start, dtype=np.int64)
        arrays[f"{matrix}_column"] = np.array(column, dtype=np.int64)
        arrays[f"{matrix}_value"] = np.array(value, dtype=np.float64)
    return arrays


__all__ = ["Beginning", "LoopMemory", "MemoryPiece", "put_back"]
