"""Where the numbers of a motion stand: in its state, in the inputs of its programs, in what these programs write.

A flat program reads and writes numbers side by side. `Layout` says once in which order, from the sizes of a system;
formulation writes programs in this order, integrators and compiled code read their offsets from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Block:
    """Numbers side by side in a flat array: an array of `shape`, row by row, from the place `start` on."""

    name: str
    shape: tuple[int, ...]
    start: int

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def stop(self) -> int:
        return self.start + self.size

    @property
    def place(self) -> slice:
        return slice(self.start, self.stop)


Shapes = list[tuple[str, tuple[int, ...]]]
"""Names of blocks with their shapes, in their order."""


class Blocks(Mapping[str, Block]):
    """Blocks one after another, by name; `size` is how many numbers they are in all."""

    __slots__ = ("_blocks", "size")

    def __init__(self, shapes: Shapes):
        self._blocks: dict[str, Block] = {}
        self.size = 0
        for name, shape in shapes:
            self._blocks[name] = Block(name, shape, self.size)
            self.size += self._blocks[name].size

    def __getitem__(self, name: str) -> Block:
        return self._blocks[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def split(self, flat: Any) -> dict[str, Any]:
        """The blocks of `flat`, an array (…, size), each as (…, *shape), by name."""
        lead = flat.shape[:-1]
        return {name: flat[..., block.place].reshape((*lead, *block.shape)) for name, block in self._blocks.items()}


@dataclass(frozen=True, slots=True)
class Layout:
    """The order of numbers of a system with so many coordinates, speeds, free parameters and rows of constraints.

    `positions` are the rows that restrict positions, so that they have a residual phi.
    """

    coordinates: int
    speeds: int
    parameters: int = 0
    rows: int = 0
    positions: tuple[int, ...] = ()
    state: Blocks = field(init=False, repr=False, compare=False)
    """The state of an integrator, y = [q, u, work]."""
    inputs: Blocks = field(init=False, repr=False, compare=False)
    """What every program of a motion reads: [t, q, u, work, tau, parameters]."""
    event_inputs: Blocks = field(init=False, repr=False, compare=False)
    """What a program of events reads that watches multipliers: the inputs and λ of all rows."""
    terms: Blocks = field(init=False, repr=False, compare=False)
    """What constraints are embedded from: q̇, M, f = tau − bias, the rows A, their rate A u + c, b of A u̇ = b, the
    residuals phi (0 for rows of motion alone), the power of the loads."""
    places: Blocks = field(init=False, repr=False, compare=False)
    """What positions are closed with: phi of the rows in `positions`, their rows G of A, and T, by which the
    coordinates move with a displacement along the speeds, δq = T δ."""

    def __post_init__(self) -> None:
        coordinates, n, m, k = self.coordinates, self.speeds, self.rows, len(self.positions)
        inputs: Shapes = [("t", ()), ("q", (coordinates,)), ("u", (n,)), ("work", ()), ("tau", (n,))]
        inputs.append(("parameters", (self.parameters,)))
        terms: Shapes = [("qdot", (coordinates,)), ("M", (n, n)), ("f", (n,)), ("A", (m, n))]
        terms += [("rate", (m,)), ("b", (m,)), ("phi", (m,)), ("power", ())]
        blocks: dict[str, Shapes] = {
            "state": [("q", (coordinates,)), ("u", (n,)), ("work", ())],
            "inputs": inputs,
            "event_inputs": [*inputs, ("multipliers", (m,))],
            "terms": terms,
            "places": [("phi", (k,)), ("G", (k, n)), ("T", (coordinates, n))],
        }
        for name, shapes in blocks.items():
            object.__setattr__(self, name, Blocks(shapes))


INPUTS = ("t", "q", "u", "work", "tau")
"""Groups of inputs of every program of a motion, in the order of `Layout.inputs`; parameters follow where some are
free."""

__all__ = ["INPUTS", "Block", "Blocks", "Layout"]
