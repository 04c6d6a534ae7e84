"""Trees too large to be written out: one compiled step per kind of joint, looped over the bodies."""

from .answers import LargeAnswers
from .tree import LargeTree, obstacles

__all__ = ["LargeAnswers", "LargeTree", "obstacles"]
