"""How far a link's axes are best turned about its own z: counted from what is zero, nothing is tried.

What lies across z, the offsets to the next joints, the first moment, products of inertia, has two components, and
turned axes can make one of them vanish. A vector x + iy is multiplied by exp(−iφ) when the axes turn by φ, and
(Ixx − Iyy)/2 + i Ixy by exp(−2iφ). Every component that is left takes part in multiplications and additions of the
recursion, and has their number as its weight. The angles at which something vanishes are few: the lightest is taken.

All that has the orientation of the link counts: what slides on it or is welded to it too. Inertias are those that
regrouping leaves.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..graph import Expr
from ..space.algebra import Matrix, Triple, product, times

if TYPE_CHECKING:
    from .links import Link

_RIGHT = math.pi / 2
_ROUNDING = 1e-13  # of a component beside the other: turned vectors are exact to this
_PARALLEL = 1e-12  # axes whose cosine is this close to 1 are parallel
_UNKNOWN = complex(1.0, 0.7548776662466927)  # a direction that no turn by a number meets


@dataclass(frozen=True, slots=True)
class Weights:
    """Operations that a component across z takes part in, the mean of inverse dynamics and half of forward dynamics."""

    offset: float  # U p and p × F, and in M the shift of the composite body
    moment: float  # U h and h × a
    product: float  # of inertia: three terms of I α + ω × I ω, and a difference of squares
    difference: float  # Ixx − Iyy


_SPATIAL = Weights(offset=15.0, moment=10.0, product=7.0, difference=2.0)
_PLANAR = Weights(offset=8.0, moment=2.0, product=0.0, difference=0.0)  # ω stays along z
_AXIS = 60.0  # of the next joint, with both components: five vectors are turned once more on their way out and in
_START = 1.0  # an angle that starts elsewhere: one addition


@dataclass(frozen=True, slots=True)
class Across:
    """A vector across z, or (Ixx − Iyy)/2 and Ixy, which turn twice as fast; and what its components weigh."""

    value: complex
    weights: tuple[float, float]
    speed: int = 1
    is_number: bool = True  # others depend on free parameters: they count, but no angle suits them

    def cost(self, angle: float) -> float:
        """What is left of it in axes turned by `angle`."""
        v = self.value * cmath.exp(-1j * self.speed * angle)
        least = _ROUNDING * abs(v)
        return self.weights[0] * (abs(v.real) > least) + self.weights[1] * (abs(v.imag) > least)

    def angles(self) -> Iterable[float]:
        """Turns of less than 45° that make one component vanish."""
        if self.is_number:
            first = cmath.phase(self.value) / self.speed
            yield from (math.remainder(first + k * _RIGHT / self.speed, _RIGHT) for k in range(self.speed))


def cheapest_turn(link: Link) -> float:
    """The angle (rad) by which the axes of a link with its joint's axis along z are best turned about it, or 0."""
    found = [v for v in _all_across(link) if v.value]
    angles = sorted({a for v in found for a in v.angles() if abs(a) > _ROUNDING}, key=abs)
    best, least = 0.0, sum(v.cost(0.0) for v in found)
    starts = _START * (1 + sum(_is_parallel(child) for child in link.children))
    for angle in angles:
        cost = starts + sum(v.cost(angle) for v in found)
        if cost < least:
            best, least = angle, cost
    return best


def _all_across(link: Link) -> Iterable[Across]:
    """Everything across z that has the orientation of the link."""
    weights = _PLANAR if _is_planar(link) else _SPATIAL
    carried: list[tuple[Link, Matrix | None]] = [(link, None)]
    for each, R in carried:
        yield _vector(R, each.inertia.h, weights.moment)
        for child in each.children:
            yield _vector(R, child.offset, weights.offset)
            at_rest = child.R_rest if R is None else product(R, child.R_rest)
            if child.axis is not None:
                yield _vector(at_rest, child.axis, _AXIS)
            elif child.kind != "weld":
                yield from (_vector(None, (m[0], m[1], m[2]), _AXIS) for m in zip(*at_rest, strict=True))
            if child.kind in ("prismatic", "weld"):
                carried.append((child, at_rest))
    I = link.inertia.I
    yield _vector(None, I[2], weights.product)
    yield _pair(0.5 * (I[0][0] - I[1][1]), I[0][1], (weights.difference, weights.product), speed=2)


def _vector(R: Matrix | None, xyz: Triple, weight: float) -> Across:
    x, y, _ = xyz if R is None else times(R, xyz)
    return _pair(x, y, (weight, weight))


def _pair(x: Expr, y: Expr, weights: tuple[float, float], speed: int = 1) -> Across:
    if x.number is not None and y.number is not None:
        return Across(complex(x.number, y.number), weights, speed)
    unknown = complex(_UNKNOWN.real * (not x.is_zero), _UNKNOWN.imag * (not y.is_zero))
    return Across(unknown, weights, speed, is_number=False)


def _is_parallel(link: Link) -> bool:
    """Whether a joint turns about the z of the link before."""
    return link.kind == "revolute" and link.axis is not None and _is_along_z(times(link.R_rest, link.axis))


def _is_along_z(e: Sequence[Expr]) -> bool:
    z = e[2].number
    return z is not None and abs(abs(z) - 1.0) < _PARALLEL


def _is_planar(link: Link) -> bool:
    """Whether everything further in turns about the z of the link."""
    inner = link
    while inner.parent is not None:
        if inner.kind == "revolute" and not _is_along_z(inner.R_rest[2]):
            return False
        inner = inner.parent
        if inner.kind not in ("revolute", "prismatic", "weld"):
            return False
    return True


__all__ = ["cheapest_turn"]
