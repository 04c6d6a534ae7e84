"""Where the numbers of a motion stand: in its state, in the inputs of its programs, in what these programs write.

A flat program reads and writes numbers side by side. `Layout` says once in which order, from the sizes of a system;
formulation writes programs in this order, integrators and compiled code read their offsets from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


class Blocks(Mapping[str, Block]):
    """Blocks one after another, by name; `size` is how many numbers they are in all."""

    __slots__ = ("_blocks", "size")

    def __init__(self, shapes: Sequence[tuple[str, tuple[int, ...]]]):
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

    @property
    def state(self) -> Blocks:
        """The state of an integrator, y = [q, u, work]."""
        return Blocks([("q", (self.coordinates,)), ("u", (self.speeds,)), ("work", ())])

    @property
    def inputs(self) -> Blocks:
        """What every program of a motion reads."""
        return Blocks(self._inputs())

    @property
    def event_inputs(self) -> Blocks:
        """What a program of events reads that watches multipliers."""
        return Blocks([*self._inputs(), ("multipliers", (self.rows,))])

    def _inputs(self) -> list[tuple[str, tuple[int, ...]]]:
        n = self.speeds
        return [
            ("t", ()),
            ("q", (self.coordinates,)),
            ("u", (n,)),
            ("work", ()),
            ("tau", (n,)),
            ("parameters", (self.parameters,)),
        ]

    @property
    def terms(self) -> Blocks:
        """What constraints are embedded from: q̇, M, f = tau − bias, the rows A, their rate A u + c, b of A u̇ = b, the
        residuals phi (0 for rows of motion alone), the power of the loads."""
        n, m = self.speeds, self.rows
        return Blocks(
            [
                ("qdot", (self.coordinates,)),
                ("M", (n, n)),
                ("f", (n,)),
                ("A", (m, n)),
                ("rate", (m,)),
                ("b", (m,)),
                ("phi", (m,)),
                ("power", ()),
            ]
        )

    @property
    def places(self) -> Blocks:
        """What positions are closed with: phi of the rows in `positions`, their rows G of A, and T, by which the
        coordinates move with a displacement along the speeds, δq = T δ."""
        k, n = len(self.positions), self.speeds
        return Blocks([("phi", (k,)), ("G", (k, n)), ("T", (self.coordinates, n))])


INPUTS = ("t", "q", "u", "work", "tau")
"""Groups of inputs of every program of a motion, in the order of `Layout.inputs`; parameters follow where some are
free."""

__all__ = ["INPUTS", "Block", "Blocks", "Layout"]
