"""Making many parts at once: what a model of thousands of parts needs while it is read."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Read a model without searches for cyclic garbage: nothing that is made goes away before the end, and going
    through all of it again and again takes as long as making it. A collector that is off already stays off. In the end
    what was made counts as old, or the next search would go through all of it at once."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # what a program has frozen stays frozen
                gc.freeze()
                gc.unfreeze()
            gc.enable()
