"""Which of many faces is seen at each dot of a picture: a buffer of depths, filled by one compiled loop.

Importing this module imports numba; drawings do so when the first is made.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simulate.compiled.store import loop

FINER = 2
"""Dots, along both sides, of which each dot of a picture is the mean."""


def paint(corners: Any, colors: Any, lights: Any, picture_size: tuple[int, int]) -> Any:
    """Faces in their colours (f, 3) as a picture (high, wide, 4) of bytes, clear where there is none.

    Corners (f, 4, 3) are dots to the right and down from the upper left, and depths towards the viewer; of each face
    only the outside is seen, where corners go counter-clockwise. Lights (f, 4) are at its corners, and go over from one
    to the next.
    """
    fine = np.array(corners, dtype=np.float64)
    fine[..., :2] = FINER * fine[..., :2] - 0.5  # the middle of the first dot
    high, wide = picture_size
    size = FINER * high, FINER * wide
    seen, shades = np.full(size, -1, dtype=np.int64), np.empty(size)
    _fill(fine, np.ascontiguousarray(lights, dtype=np.float64), np.full(size, -np.inf), seen, shades)
    picture = np.empty((high, wide, 4), dtype=np.uint8)
    _mix(seen, shades, np.ascontiguousarray(colors, dtype=np.float64), picture)
    return picture


@loop
def _fill(corners, lights, depths, seen, shades):
    """Both triangles of all faces, dot by dot: weights of the corners by areas, the nearest face stays."""
    high, wide = depths.shape
    for f in range(len(corners)):
        for k in range(1, 3):
            ax, ay, az = corners[f, 0]
            bx, by, bz = corners[f, k]
            cx, cy, cz = corners[f, k + 1]
            area = (cx - ax) * (by - ay) - (bx - ax) * (cy - ay)  # y goes down
            if not area > 0.0:
                continue
            first, last = max(0, int(np.ceil(min(ay, by, cy)))), min(high - 1, int(np.floor(max(ay, by, cy))))
            left, right = max(0, int(np.ceil(min(ax, bx, cx)))), min(wide - 1, int(np.floor(max(ax, bx, cx))))
            for y in range(first, last + 1):
                for x in range(left, right + 1):
                    at_a = (cx - x) * (by - y) - (bx - x) * (cy - y)
                    at_b = (ax - x) * (cy - y) - (cx - x) * (ay - y)
                    at_c = (bx - x) * (ay - y) - (ax - x) * (by - y)
                    if at_a >= 0.0 and at_b >= 0.0 and at_c >= 0.0:
                        depth = (at_a * az + at_b * bz + at_c * cz) / area
                        if depth > depths[y, x]:
                            depths[y, x] = depth
                            seen[y, x] = f
                            light = at_a * lights[f, 0] + at_b * lights[f, k] + at_c * lights[f, k + 1]
                            shades[y, x] = light / area


@loop
def _mix(seen, shades, colors, picture):
    """Each dot of the picture: the mean colour of the faces that are seen in it, and how much of it they cover."""
    high, wide, _ = picture.shape
    for y in range(high):
        for x in range(wide):
            red, green, blue, count = 0.0, 0.0, 0.0, 0
            for i in range(FINER * y, FINER * (y + 1)):
                for j in range(FINER * x, FINER * (x + 1)):
                    f = seen[i, j]
                    if f >= 0:
                        light = shades[i, j]
                        red, green, blue = (
                            red + light * colors[f, 0],
                            green + light * colors[f, 1],
                            blue + light * colors[f, 2],
                        )
                        count += 1
            share = 255.0 / max(count, 1)
            picture[y, x, 0] = int(share * red + 0.5)
            picture[y, x, 1] = int(share * green + 0.5)
            picture[y, x, 2] = int(share * blue + 0.5)
            picture[y, x, 3] = int(255.0 * count / FINER**2 + 0.5)


__all__ = ["FINER", "paint"]
