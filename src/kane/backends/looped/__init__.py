"""Recursions over the bodies of a tree as machine code whose size depends on the kinds of joints, not on their number.

In come steps as programs (`Recursion`) and a `Layout`: tables that say where the numbers of each body are. Out comes a
`Kernel` like any other: called on arrays, or by its address.
"""

from __future__ import annotations

import concurrent.futures
import ctypes
import itertools
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import Program
from .. import native
from ..kernel import Call, Floats, Kernel
from ..llvm.machine import Library, host, library
from ..llvm.writer import Lanes
from .text import CONSTANTS, CONTEXT, Pass, Recursion, module

Places = NDArray[np.int32]

GRAIN = 2000
"""Bodies times samples for one thread: about 0.3 ms, beside which its start is small."""


def _none() -> Places:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the numbers of a tree are. Places are indices into the `work` numbers of one sample.

    `table` is (bodies, 1 + columns): kind, then where each group starts. `inputs` and `outputs` have one array of
    places per group. `presets` are set to `preset_values` before each pass. A spring has three places (effort,
    coordinate, speed) and three values (stiffness, rest, damping). `loads` computes further efforts of one sample from
    all inputs side by side, to be added at `load_places`. `power_places` are pairs of effort and speed; their products
    are summed at `power`. `quaternions`, (m, 4), are places in the state that `unit` makes unit, of size `states`.
    """

    table: Places
    data: Floats
    work: int
    inputs: tuple[Places, ...]
    outputs: tuple[Places, ...]
    presets: Places
    preset_values: Floats
    spring_places: Places = field(default_factory=_none)
    spring_values: Floats = field(default_factory=lambda: np.zeros(0))
    loads: Kernel | None = None
    load_places: Places = field(default_factory=_none)
    power_places: Places = field(default_factory=_none)
    power: int = 0
    states: int = 0
    quaternions: Places = field(default_factory=_none)


class _Loaded:
    """The code for a number of lanes with its context filled."""

    __slots__ = ("_held", "_library", "batch")

    def __init__(self, recursion: Recursion, layout: Layout, lanes: Lanes):
        text = module(recursion, len(layout.inputs), len(layout.outputs), lanes)
        self._library: Library = library(text, "looped", lambda: text)
        self._held: list[Any] = []
        context = (ctypes.c_int64 * len(CONTEXT)).from_address(self._library.data_address("context"))
        for name, value in self._facts(layout, lanes).items():
            context[CONTEXT.index(name)] = value
        self.batch = native.BATCH_FUNCTION(self._library.address("batch"))

    def _hold(self, array: NDArray[Any]) -> int:
        """The address of an array that is kept as long as the code."""
        array = np.ascontiguousarray(array)
        self._held.append(array)
        return array.ctypes.data

    def _table(self, groups: Sequence[Places]) -> int:
        return self._hold(np.array([[len(g), self._hold(g)] for g in groups], dtype=np.int64))

    def _facts(self, layout: Layout, lanes: Lanes) -> dict[str, int]:
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


def compile_looped(recursion: Recursion, layout: Layout, signature: Program, workers: int | None = None) -> Kernel:
    """The kernel of a recursion over the tree of `layout`.

    `signature` has the names and labels of the inputs and the names and shapes of the outputs; it has no rows.
    """
    code = LoopedCode(recursion, layout, native.cores() if workers is None else workers)
    return Kernel(signature, "looped", code, Call(signature, code))


__all__ = ["CONSTANTS", "Layout", "LoopedCode", "Pass", "Recursion", "compile_looped"]
