"""Constraints that come and go for LANES motions at once: the memory that the compiled program works in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backends.kernel import LANES
from .changing import ChangingRun, ChangingSet
from .notice import announce_compilation
from .routine import LanePrograms, address_of, aligned_zeros


def lanes_of_modes(constraints: ChangingSet, runs: Sequence[ChangingRun], asked: Any) -> LanePrograms:
    """Programs of LANES motions under changing constraints, with the memory that they work in.

    `runs` are the motions, each in the mode that holds in it. `asked`, (1,) of int64, has the bits of lanes whose
    outputs are wanted.
    """
    with announce_compilation("constraints that come and go in ensembles"):
        from .compiled import lane_modes

    layout = constraints.layout
    table = np.zeros(4 ** len(constraints.elements), dtype=np.int64)
    for number, rates, _ in constraints.table:
        table[number] = rates.lanes_address
    tasks = [[run.rates, run.projection] for run in runs]
    arrays: dict[str, Any] = {
        "asked": asked,
        "table": table,
        "constraints": np.array([run.address for run in runs], dtype=np.int64),
        "inputs_alone": np.zeros(layout.inputs.size),
        "outputs_alone": np.zeros(layout.state.size),
        "outputs": aligned_zeros(layout.state.size, LANES),
    }
    alone = np.array([[routine.memory for routine in pair] for pair in zip(*tasks, strict=True)], dtype=np.int64)
    records = np.zeros(len(alone), dtype=lane_modes.MEMORY)
    records["task"], records["program"] = range(len(alone)), tasks[0][0].address
    records["inputs"], records["states"] = layout.inputs.size, layout.state.size
    records["alone"] = [address_of(row) for row in alone]
    for name, array in arrays.items():
        records[name] = address_of(array)
    kept = (alone, *arrays.values(), *runs)
    return LanePrograms(lane_modes.mode_lanes_program.address, records, layout.state.size, kept)


def has_mode_lanes(constraints: ChangingSet) -> bool:
    """Whether modes are written out, so that their rates can be computed for LANES samples at once."""
    return bool(constraints.table) and all(rates.lanes_address for _, rates, _ in constraints.table)


__all__ = ["has_mode_lanes", "lanes_of_modes"]
