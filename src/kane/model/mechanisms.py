"""Mechanisms built in Python where the number of parts is a parameter.

Each function returns a description like that of a model file: `kane.Model.of(n_four_bar(40))` can be asked.
"""

from __future__ import annotations

from ..errors import ModelError, Problem
from .constraints import Loop
from .mechanism import Mechanism
from .records import Shape

MOST_FOUR_BARS = 500
"""Four-bars that are built in a row: a thousand bars, more than are computed in a reasonable time."""

_RADIUS = 0.03  # of a bar as drawn, in lengths of the bar


def n_four_bar(
    n: int,
    *,
    length: float = 1.0,
    mass: float = 1.0,
    velocity: float = 1.0,
    gravity: float = 9.81,
) -> Mechanism:
    """n four-bars in a row, as in problem A02 of the IFToMM library of benchmark problems: 2 n + 1 uniform bars.

    Bars 0 … n of the same `length` (m) and `mass` (kg) stand on the ground, one length apart along x; couplers
    0 … n − 1 join the upper end of each with that of the next, by pins C1 … Cn with the rows x and y. All start
    upright, the upper ends with `velocity` (m/s) along x; `gravity` (m/s²) is along −y. q0 … are the angles (rad) of
    the bars from the vertical, clockwise, p0 … those of the couplers from the normals of the bars that carry them;
    u0 … and r0 … are their rates. The defaults are the benchmark's; with n = 2 they give the built-in `n-four-bar`.
    """
    if not 1 <= n <= MOST_FOUR_BARS:
        what, because = f"n = {n}", "a row of four-bars has at least one of them"
        raise ModelError(Problem("n_four_bar", what, because, f"give 1 ≤ n ≤ {MOST_FOUR_BARS}"))
    made = Mechanism("n-four-bar", gravity=(0.0, "-g", 0.0), about=f"{n} coupled four-bars, IFToMM benchmark A02")
    for name, value in (("g", gravity), ("m", mass), ("L", length), ("v", velocity)):
        made.parameter(name, value)
    I = "m*L**2/12"  # kg m², across a bar
    upright = Shape("cylinder", (_RADIUS * length, length), (0.0, length / 2, 0.0), "y", "steelblue")
    level = Shape("cylinder", (_RADIUS * length, length), (length / 2, 0.0, 0.0), "x", "goldenrod")
    for k in range(n + 1):
        bar, coupler = f"bar {k}", f"coupler {k}"
        made.body(bar, mass="m", center=(0, "L/2", 0), inertia={"xx": I, "zz": I}, shapes=[upright])
        foot = (f"{k}*L", 0, 0)
        made.joint(f"A{k}", "revolute", "ground", bar, at=foot, axis="-z", coordinates=[f"q{k}"], speeds=[f"u{k}"])
        if k > 0:
            before, tip, top = f"coupler {k - 1}", ("L", 0, 0), (0, "L", 0)
            pin = Loop("revolute", before, bar, first_at=tip, second_at=top, rows=("x", "y"))
            made.constrain(f"C{k}", pin)
        if k < n:
            made.body(coupler, mass="m", center=("L/2", 0, 0), inertia={"yy": I, "zz": I}, shapes=[level])
            head = (0, "L", 0)
            made.joint(f"B{k}", "revolute", bar, coupler, at=head, axis="-z", coordinates=[f"p{k}"], speeds=[f"r{k}"])
    made.set_initial({f"u{k}": "v/L" for k in range(n + 1)} | {f"r{k}": "-v/L" for k in range(n)})
    return made
