"""Trees too large to be written out: one compiled step per kind of joint, looped over the bodies."""

from .answers import LargeAnswers
from .choice import by_recursion, refuse_if_too_large
from .motion import LargeMotion, large_motion
from .tree import LargeTree, obstacles

__all__ = [
    "LargeAnswers",
    "LargeMotion",
    "LargeTree",
    "by_recursion",
    "large_motion",
    "obstacles",
    "refuse_if_too_large",
]
