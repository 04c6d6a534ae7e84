"""Many members of one motion: what is drawn for each, blocks of them, and what is learned from all."""

from __future__ import annotations

from ..simulate import ENDS
from .blocks import Block, block_size
from .draws import Distribution, Plan, choice, normal, uniform
from .gathering import gather_blocks
from .store import Store
from .tallies import Stop, Tally

__all__ = [
    "ENDS",
    "Block",
    "Distribution",
    "Plan",
    "Stop",
    "Store",
    "Tally",
    "block_size",
    "choice",
    "gather_blocks",
    "normal",
    "uniform",
]
