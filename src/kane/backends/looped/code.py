"""The machine code of recursions: loaded, bound to the tables of one tree, called on arrays."""

from __future__ import annotations

import concurrent.futures
import ctypes
import itertools
import math
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import KaneError
from ...graph import Program
from .. import native
from ..kernel import Call, Floats, Kernel, all_finite
from ..llvm.machine import Library, host, library
from ..llvm.writer import Lanes
from .records import Layout, Places, Recursion
from .text import CONTEXT, module

_FLAT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_CHECKED = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)

GRAIN = 20_000
"""Bodies times samples for one thread: about 1 ms of vector code, compared with which its start is short."""


class _Loaded:
    """The code for a number of lanes with its context filled."""

    __slots__ = ("_held", "_library", "batch")

    def __init__(self, recursion: Recursion, layout: Layout, lanes: Lanes):
        text = module(recursion, len(layout.inputs), len(layout.outputs), lanes)
        self._library: Library = library(text, "looped", lambda: text)
        self._held: list[Any] = []
        context = (ctypes.c_int64 * len(CONTEXT)).from_address(self._library.data_address("context"))
        for name, value in self._context_values(layout, lanes).items():
            context[CONTEXT.index(name)] = value
        self.batch = native.BATCH_FUNCTION(self._library.address("batch"))

    def _hold(self, array: NDArray[Any]) -> int:
        """The address of an array that is kept as long as the code."""
        array = np.ascontiguousarray(array)
        self._held.append(array)
        return array.ctypes.data

    def _table(self, groups: Sequence[Places]) -> int:
        return self._hold(np.array([[len(g), self._hold(g)] for g in groups], dtype=np.int64))

    def _context_values(self, layout: Layout, lanes: Lanes) -> dict[str, int]:
        self._held.append(layout.loads)
        return {
            "bodies": len(layout.table),
            "table": self._hold(layout.table),
            "data": self._hold(layout.data),
            "work": self._hold(np.zeros(layout.work * lanes.width)),
            "bytes": layout.work * lanes.width * 8,
            "inputs": self._table(layout.inputs),
            "outputs": self._table(layout.outputs),
            "presets": len(layout.presets),
            "preset_places": self._hold(layout.presets),
            "preset_values": self._hold(layout.preset_values),
            "springs": len(layout.spring_places),
            "spring_places": self._hold(layout.spring_places),
            "spring_values": self._hold(layout.spring_values),
            "loads": 0 if layout.loads is None else layout.loads.address,
            "load_count": len(layout.load_places),
            "load_places": self._hold(layout.load_places),
            "speeds": len(layout.power_places),
            "power_places": self._hold(layout.power_places),
            "power": layout.power,
            "states": layout.states,
            "quaternions": len(layout.quaternions),
            "quaternion_places": self._hold(layout.quaternions),
        }

    def address(self, name: str) -> int:
        return self._library.address(name)


class LoopedCode:
    """Machine code of a recursion over one tree: scalar code now, code over a batch when one comes."""

    __slots__ = ("_batch", "_flat", "_layout", "_lock", "_recursion", "_sizes", "workers")

    def __init__(self, recursion: Recursion, layout: Layout, workers: int):
        self._recursion, self._layout, self.workers = recursion, layout, workers
        self._lock = threading.Lock()
        self._flat = _Loaded(recursion, layout, Lanes(1, host().fma))
        self._batch: _Loaded | None = None
        self._sizes = [len(places) for places in layout.outputs]

    @property
    def address(self) -> int:
        return self._flat.address("flat")

    @property
    def states(self) -> int:
        """Size of the state that is made unit."""
        return self._layout.states

    @property
    def checked_address(self) -> int:
        """Of `int64 f(const double *in, double *out)`, which returns 1 if an input was not finite."""
        return self._flat.address("checked")

    @property
    def unit_address(self) -> int:
        """Of the flat program that makes the quaternions of a state unit."""
        return self._flat.address("unit")

    @property
    def batch_address(self) -> int:
        return self._flat.address("batch")

    def _over_batches(self) -> _Loaded:
        with self._lock:
            if self._batch is None:
                h = host()
                self._batch = _Loaded(self._recursion, self._layout, Lanes(h.width, h.fma))
        return self._batch

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        """As `Code.run`. A sample has the same bits alone and in any batch, by any number of threads."""
        if self._layout.loads is not None:
            return self._run_one_by_one(arrays, batch)
        code = self._flat if batch < host().width else self._over_batches()
        results = [np.empty((batch, size)) for size in self._sizes]
        strides = [a.strides[0] if a.ndim == 2 else 0 for a in arrays]
        doubles = (ctypes.c_int64 * len(strides))(*(s // 8 for s in strides))
        sources, targets = [a.ctypes.data for a in arrays], [r.ctypes.data for r in results]
        steps = [8 * size for size in self._sizes]

        def part(bounds: tuple[int, int]) -> int:
            start, stop = bounds
            inputs = (ctypes.c_void_p * len(sources))(*(p + start * s for p, s in zip(sources, strides, strict=True)))
            outputs = (ctypes.c_void_p * len(targets))(*(p + start * s for p, s in zip(targets, steps, strict=True)))
            return code.batch(stop - start, inputs, doubles, outputs)

        threads = max(1, min(self.workers, batch, batch * len(self._layout.table) // GRAIN))
        edges = [batch * k // threads for k in range(threads + 1)]
        if threads == 1:
            return results, not part((0, batch))
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            return results, not any(list(pool.map(part, itertools.pairwise(edges))))

    def _run_one_by_one(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        """Each sample by the flat function: a program of further efforts reads all inputs side by side."""
        flat, function = np.empty((batch, sum(self._sizes))), _CHECKED(self.checked_address)
        rows = zip(_concatenate(arrays, batch), flat, strict=True)
        bad = [function(row.ctypes.data, result.ctypes.data) for row, result in rows]
        edges = np.cumsum(self._sizes)[:-1]
        return [np.ascontiguousarray(part) for part in np.split(flat, edges, axis=1)], not any(bad)


def _concatenate(arrays: Sequence[Floats], batch: int) -> Floats:
    """All inputs of each sample in one row."""
    return np.concatenate([np.broadcast_to(a, (batch, a.shape[-1])) for a in arrays], axis=1)


def compile_looped(recursion: Recursion, layout: Layout, signature: Program, workers: int | None = None) -> Kernel:
    """The kernel of a recursion over the tree of `layout`.

    `signature` has the names and labels of the inputs and the names and shapes of the outputs; it has no rows.
    """
    code = LoopedCode(recursion, layout, native.cores() if workers is None else workers)
    source = compile_looped, (recursion, layout, signature, workers)
    return Kernel(signature, "looped", code, _Single(Call(signature, code), code), source)


class _Single:
    """The call of a kernel: one sample of plain vectors by the shortest way, anything else by the checked one."""

    __slots__ = ("_call", "_function", "_shape", "_shapes", "_size")

    def __init__(self, call: Call, code: LoopedCode):
        outputs = call.program.outputs
        self._call = call
        self._function = _CHECKED(code.checked_address)
        self._shapes = [(len(g),) for g in call.program.inputs if g.labels]
        self._shape = outputs[0].shape if len(outputs) == 1 else None
        self._size = sum(len(o.slots) for o in outputs)

    def __call__(self, *arrays: Any) -> Any:
        if self._shape is None or [getattr(a, "shape", None) for a in arrays] != self._shapes:
            return self._call(*arrays)
        if any(a.dtype != np.float64 for a in arrays):
            return self._call(*arrays)
        given, result = np.concatenate(arrays), np.empty(self._size)
        bad = self._function(given.ctypes.data, result.ctypes.data)
        if bad or not math.isfinite(result.sum()):
            return self._call(*arrays)  # which says what is wrong
        return result.reshape(self._shape)


class _UnitCode:
    """The code that makes quaternions unit, part of that of a motion."""

    __slots__ = ("_motion",)

    def __init__(self, motion: LoopedCode):
        self._motion = motion

    @property
    def address(self) -> int:
        return self._motion.unit_address

    @property
    def batch_address(self) -> int:
        raise KaneError("a state is made unit one sample at a time: there is no function over a batch")

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        """As `Code.run`, sample by sample."""
        results, function = np.empty((batch, self._motion.states)), _FLAT(self.address)
        for row, result in zip(_concatenate(arrays, batch), results, strict=True):
            function(row.ctypes.data, result.ctypes.data)
        return [results], all_finite(arrays)


def compile_motion(
    recursion: Recursion, layout: Layout, motion: Program, unit: Program
) -> tuple[Kernel, Kernel | None]:
    """(rates of a state, the state with its quaternions unit or None where it has none), given the signatures of both.

    The layout's `states` first numbers after t among the inputs are the state.
    """
    code = LoopedCode(recursion, layout, native.cores())
    given = (recursion, layout, motion, unit)
    rates = Kernel(motion, "looped", code, Call(motion, code), (_motion_kernel, (*given, 0)))
    if not len(layout.quaternions):
        return rates, None
    unit_code = _UnitCode(code)
    return rates, Kernel(unit, "looped", unit_code, Call(unit, unit_code), (_motion_kernel, (*given, 1)))


def _motion_kernel(recursion: Recursion, layout: Layout, motion: Program, unit: Program, which: int) -> Kernel | None:
    """One of the two kernels of a motion."""
    return compile_motion(recursion, layout, motion, unit)[which]


__all__ = ["LoopedCode", "compile_looped", "compile_motion"]
