"""Many members of one motion: what is drawn for each, blocks of them, and what is learned from all."""

from __future__ import annotations

from ..simulate import ENDS
from .blocks import MemberBlock, block_size
from .draws import Distribution, Draws, choice, normal, uniform
from .gathering import blocks_at_a_time, gather_blocks
from .store import Store
from .tallies import Enough, JointTally, Tally

__all__ = [
    "ENDS",
    "Distribution",
    "Draws",
    "Enough",
    "JointTally",
    "MemberBlock",
    "Store",
    "Tally",
    "block_size",
    "blocks_at_a_time",
    "choice",
    "gather_blocks",
    "normal",
    "uniform",
]
