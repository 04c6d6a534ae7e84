"""What a recursion over bodies is made of: steps by kind of joint, and tables that say where numbers are."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...graph import Program
from ..kernel import Floats, Kernel

Places = NDArray[np.int32]

CONSTANTS = "body"
"""The group of inputs that are constants of a body, the same in all samples."""


@dataclass(frozen=True, slots=True)
class Pass:
    """One step per kind of joint, None for nothing to do, run for all bodies from the ground outward or inward."""

    steps: tuple[Program | None, ...]
    inward: bool


@dataclass(frozen=True, slots=True)
class Recursion:
    """Passes over the bodies, and what is done around them.

    `columns` names the entries of a row of the table after the first, which is the kind. Efforts of springs are added
    before the passes (`springs` = 1), or taken off what they leave (−1), or left out (0). With `power` the power of all
    efforts is stored.
    """

    passes: tuple[Pass, ...]
    columns: tuple[str, ...]
    springs: int = 0
    power: bool = False


def _none() -> Places:
    return np.zeros(0, dtype=np.int32)


@dataclass(frozen=True, slots=True)
class TreeLayout:
    """Where the numbers of a tree are. Places are indices into the `work` numbers of one sample.

    `table` is (bodies, 1 + columns): kind, then where each group starts. `inputs` and `outputs` have one array of
    places per group. `presets` are set to `preset_values` before each pass. A spring has three places (effort,
    coordinate, speed) and three values (stiffness, rest, damping). `loads` computes further efforts of one sample from
    all inputs side by side, to be added at `load_places`. `power_places` are pairs of effort and speed; their products
    are summed at `power`. `quaternions`, (m, 4), are places in the state that `unit` makes unit, of size `states`.
    """

    table: Places
    data: Floats
    work: int
    inputs: tuple[Places, ...]
    outputs: tuple[Places, ...]
    presets: Places
    preset_values: Floats
    spring_places: Places = field(default_factory=_none)
    spring_values: Floats = field(default_factory=lambda: np.zeros(0))
    loads: Kernel | None = None
    load_places: Places = field(default_factory=_none)
    power_places: Places = field(default_factory=_none)
    power: int = 0
    states: int = 0
    quaternions: Places = field(default_factory=_none)


__all__ = ["CONSTANTS", "Pass", "Places", "Recursion", "TreeLayout"]
