"""How large a model may be where its equations have to be written out: more is refused before the work is done.

Bodies on joints of their own are computed by recursion, as many as there are. What restricts them, coordinates outside
joints and speeds that were chosen are written out, with matrices that are dense in them.
"""

from __future__ import annotations

MOST_ROWS = 1000
"""Rows of constraints and contacts together. Measured, to the first answer: 20 rods between bodies 5 s, 50 39 s, 100
139 s, growing with the square: hours for 1000."""

MOST_STEPS = 12_000
"""Frames between the ground and the bodies that constraints and contacts act on, beyond the first ten of each, all
together; also frames between the ground and what chosen speeds measure. A chain of 144 joints, the longest that is
written out at all, may have a contact at each of its links."""

MOST_COORDINATES = 2000
"""Coordinates outside joints, and generalized speeds that are chosen."""

MOST_SPEEDS = 20_000
"""Speeds of the joints and wheels of a model file. Of 20 000 the mass matrix has 3.2 GB."""

MOST_PARTS = 33_000
"""Bodies, frames, joints and coordinates of joints of a model file, prescribed ones twice; a reaction wheel is three,
and a row of a Hartenberg–Denavit table. What is computed by recursion is measured up to 10 000 bodies with a coordinate
each, which are 30 000."""

TURN = 4
"""Parts that a rotation counts as, and an axis that is not x, y or z: products of directions take as long."""
