"""A flat program at an address, with the memory it works in: what integrators are given in place of a kernel; and the
programs of LANES motions at once."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..backends.kernel import LANES

LINE = 64
"""Bytes of a line of the cache."""

_FLAT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def address_of(array: Any) -> int:
    """Where the numbers of an array are; what `array.ctypes.data` gives, in a fifth of the time. Of records that would
    take a thousand times as long, since every field is described too."""
    if array.dtype.names is not None:
        return array.ctypes.data
    return array.__array_interface__["data"][0]


def aligned_zeros(*shape: int) -> Any:
    """Zeros (float64) that begin where a line of the cache does, so that what is one line long lies in one."""
    size = math.prod(shape)
    whole = np.zeros(size + LINE // 8)
    first = -address_of(whole) % LINE // 8
    return whole[first : first + size].reshape(shape)


@dataclass(frozen=True, slots=True)
class Routine:
    """void f(const double *in, double *out, void *memory), which writes so many `outputs`.

    `memory` is the address of what it works in, 0 for a program that needs nothing; `owner` keeps that alive. Two
    threads must not run it in the same memory.
    """

    address: int
    outputs: int
    memory: int = 0
    owner: Any = field(default=None, repr=False)

    def __call__(self, x: Any) -> Any:
        """What it writes for the inputs x, (outputs,)."""
        given, out = np.ascontiguousarray(x, dtype=np.float64), np.empty(self.outputs)
        self.run(address_of(given), address_of(out))
        return out

    def run(self, source: int, target: int) -> None:
        """Run it on the inputs at one address and write to another."""
        _FLAT(self.address)(source, target, self.memory)


@dataclass(frozen=True, slots=True, eq=False)
class LanePrograms:
    """Programs of LANES motions under constraints, at one `address`: `records` (2,) are their memories, that of rates
    before that of projection, `states` how many numbers a state has. `kept` keeps alive what the records point to."""

    address: int
    records: Any
    states: int
    kept: tuple[Any, ...] = field(repr=False)

    @property
    def rates(self) -> Routine:
        """[q̇, u̇, power] of states under their constraints, (states, LANES), from (inputs, LANES)."""
        return self._routine(0)

    @property
    def projection(self) -> Routine:
        """The states [q, u, work] moved onto their constraints, (states, LANES), from (inputs, LANES)."""
        return self._routine(1)

    def _routine(self, task: int) -> Routine:
        memory = address_of(self.records) + task * self.records.strides[0]
        return Routine(self.address, LANES * self.states, memory, self)
