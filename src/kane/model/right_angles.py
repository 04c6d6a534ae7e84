"""Right angles that are written with few digits: which angles are taken as right, and what the others cost.

A rotation by exactly 90° is made of zeros and ones and costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

RIGHT_ANGLE = 1e-9
"""Angles (rad) this close to a multiple of 90° are taken as that: 90*deg is not π/2 to the last bit."""

MOST_OFF = 0.02
"""How far (rad) from a right angle one may be taken as that: a degree."""

_LISTED = 8  # names that a remark lists


def judge_tolerance(value: Any) -> str:
    """What is wrong with a tolerance of right angles, with the fix; "" of one that is a small angle."""
    if isinstance(value, Real) and 0.0 <= float(value) <= MOST_OFF and not isinstance(value, bool):
        return ""
    return (
        f"right_angle={value!r} is not from 0 to {MOST_OFF} rad: angles this close to a multiple of 90° are taken as"
        " that; 1.5708 is 4e-6 off, so give right_angle=1e-5"
    )


def cos_sin(angle: float, right_angle: float = RIGHT_ANGLE) -> tuple[float, float]:
    """Cosine and sine, exact where the angle is a multiple of 90° to within `right_angle` (rad)."""
    quarters = angle / (math.pi / 2)
    if abs(quarters) < 1e6 and abs(quarters - round(quarters)) * (math.pi / 2) <= right_angle:
        return ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))[round(quarters) % 4]
    return math.cos(angle), math.sin(angle)


def right_angle_error(text: str) -> float:
    """How far (rad) a multiple of 90° lies from the number that a text rounds it to, such as 1.5708 or 3.14; zero for
    any other angle: 1.570657 is one that was measured."""
    value = float(text)
    off = abs(value - round(value / (math.pi / 2)) * math.pi / 2)
    digits = len(text.lower().partition("e")[0].partition(".")[2])
    return off if abs(value) > 1.0 and off < min(_ROUNDED, 10.0**-digits) else 0.0


_ROUNDED = 2e-3  # rad: 3.14 is the coarsest number that still means 180°


def rounded_sentences(rounded: Mapping[str, float], how: str) -> tuple[str, str, str]:
    """What is told of right angles that are rounded: where → how far off (rad); `how` the tolerance is given."""
    off = max(rounded.values())
    scale = 10.0 ** math.floor(math.log10(off))
    what = f"right angles are rounded, at most {off:.1g} rad off, in {name_list(rounded)}"
    because = "a rotation by exactly 90° costs no operations, one by nearly 90° as many as any other"
    return what, because, f"if they are meant to be right, {how} of {math.ceil(off / scale) * scale:g}"


def name_list(names: Iterable[str]) -> str:
    """The first names of many, and how many there are more."""
    known = list(names)
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return f"{', '.join(known[:_LISTED])}{more}"
