"""Making many parts at once: what a model of thousands of parts needs while it is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_LARGE = 100_000
"""Characters of a text whose parts take longer to be gone through, some 10 ms, than anyone should wait for twice."""


@contextmanager
def without_collections(characters: int) -> Iterator[None]:
    """Read a model of so many characters without searches for cyclic garbage: nothing that is made goes away before
    the end, and going through all of it again and again takes as long as making it. A collector that is off stays off.

    What was made of a large text counts as old in the end, or the next search would go through all of it at once. Old
    parts are searched so seldom that models which are gone would stay: they are looked for before the next is read.
    """
    was_on, large = gc.isenabled(), characters > _LARGE
    if was_on and large:
        gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if large and not gc.get_freeze_count():  # what a program has frozen stays frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()
