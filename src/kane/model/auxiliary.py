"""Reactions that an analyst brings into evidence by auxiliary speeds, which are zero in the motion.

The description that moves knows neither: auxiliary speeds and unknown reactions are zero in it. Its twin has the
auxiliary speeds among its speeds, last, and the reactions among its parameters; the generalized forces along the
auxiliary speeds are what the reactions follow from [KL83].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graph import Expr

if TYPE_CHECKING:
    from .mechanism import Mechanism


@dataclass(frozen=True, slots=True)
class AuxiliaryReaction:
    """An unknown force or torque by its name; `on` names the points or frames that it acts on, `unit` is "N", "N m", or
    empty where it is a factor of both."""

    name: str
    on: str
    unit: str


@dataclass(frozen=True, slots=True)
class AuxiliarySpeeds:
    """`twin` has the speeds of the description that moves and then the auxiliary ones, and the `reactions` as
    parameters. `parts` are the loads and constraints that the reactions were described with, `speeds` the definitions
    of the speeds."""

    twin: Mechanism
    reactions: tuple[AuxiliaryReaction, ...]
    parts: tuple[str, ...]
    speeds: tuple[Expr, ...]


__all__ = ["AuxiliaryReaction", "AuxiliarySpeeds"]
