"""Constraints embedded at run time for LANES motions at once: the memory that the compiled program works in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.kernel import LANES
from .embedding import Embedding
from .notice import announce_compilation
from .routine import Routine, address_of, aligned_zeros
from .start import memory_of

_TASKS = 2
"""Rates and projection, the first of `compiled.embedded.TASKS`."""


class LaneWorkspace:
    """Programs of an embedding for LANES motions, which work in this memory.

    `rates` and `projections` are the programs of the motions alone, whose memory must be kept alive: they do what a
    lane does not do as the others do. `asked`, (1,) of int64, has the bits of lanes whose outputs are wanted.
    """

    __slots__ = ("_arrays", "_code", "_records", "_size")

    def __init__(self, embedding: Embedding, rates: Sequence[Any], projections: Sequence[Any], asked: Any):
        with announce_compilation("the treatment of constraints"):
            from .compiled import embedded, lane_embedded

        layout, plan = embedding.layout, embedding.plan
        buffer = aligned_zeros(LANES * plan.buffer.size)
        addresses = np.array([[memory_of(x) for x in alone] for alone in (rates, projections)], dtype=np.int64)
        arrays: dict[str, Any] = {
            "asked": asked,
            "inputs_alone": np.zeros(layout.inputs.size),
            "outputs_alone": np.zeros(layout.state.size),
        }
        records = np.zeros(_TASKS, dtype=lane_embedded.LANE_MEMORY)
        for name in embedded.MEMORY.names or ():
            records[name] = plan.records[name][:_TASKS]
        for name in embedded.OWN:
            records[name] = LANES * records[name] + address_of(buffer)
        for name in ("q_start", "u_start"):
            records[name] *= LANES
        for name in ("terms", "places", "unit"):
            kernel = getattr(embedding, name)
            records[name] = 0 if kernel is None else kernel.lanes_address
        for name, array in arrays.items():
            records[name] = address_of(array)
        records["alone"] = [address_of(row) for row in addresses]
        self._arrays = (buffer, addresses, *arrays.values())
        self._records, self._code, self._size = records, lane_embedded.lane_program, layout.state.size

    @property
    def rates(self) -> Routine:
        """[q̇, u̇, power] of states, (states, LANES), from (inputs, LANES)."""
        return self._routine(0)

    @property
    def projection(self) -> Routine:
        """The states [q, u, work] moved onto the constraints, (states, LANES), from (inputs, LANES)."""
        return self._routine(1)

    def _routine(self, task: int) -> Routine:
        memory = address_of(self._records) + task * self._records.strides[0]
        return Routine(self._code.address, LANES * self._size, memory, self)


def goes_in_lanes(embedding: Embedding) -> bool:
    """Whether all programs of an embedding can be computed for LANES samples at once."""
    kernels = (embedding.terms, embedding.places, embedding.unit)
    return all(kernel is None or kernel.lanes_address for kernel in kernels)


__all__ = ["LaneWorkspace", "goes_in_lanes"]
