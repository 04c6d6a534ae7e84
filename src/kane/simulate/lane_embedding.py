"""Constraints embedded at run time for LANES motions at once: the memory that the compiled program works in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.kernel import LANES
from .embedding import Embedding
from .notice import announce_compilation
from .routine import LanePrograms, address_of, aligned_zeros
from .start import memory_of

_TASKS = 2
"""Rates and projection, the first of `compiled.embedded.TASKS`."""


def lanes_of_embedding(
    embedding: Embedding, rates: Sequence[Any], projections: Sequence[Any], asked: Any
) -> LanePrograms:
    """Programs of an embedding for LANES motions, with the memory that they work in.

    `rates` and `projections` are the programs of the motions alone, whose memory must be kept alive: they do what a
    lane does not do as the others do. `asked`, (1,) of int64, has the bits of lanes whose outputs are wanted.
    """
    with announce_compilation("the treatment of constraints in ensembles"):
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
    kept = (buffer, addresses, *arrays.values())
    return LanePrograms(lane_embedded.lane_program.address, records, layout.state.size, kept)


def goes_in_lanes(embedding: Embedding) -> bool:
    """Whether all programs of an embedding can be computed for LANES samples at once."""
    kernels = (embedding.terms, embedding.places, embedding.unit)
    return all(kernel is None or kernel.lanes_address for kernel in kernels)


__all__ = ["goes_in_lanes", "lanes_of_embedding"]
