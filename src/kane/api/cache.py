"""Everything that was compiled for one description, kept until the description changes: the one cache of a model."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Any, TypeVar

Value = TypeVar("Value")

MOST = 64
"""Things that are kept at most: a simulation with its control law takes about a third of a megabyte."""


class Cache:
    """Things by key, made when first asked for, by one thread at a time; forgotten when `revision` changes, and, beyond
    `MOST` of them, those that were not asked for longest."""

    def __init__(self, lock: RLock | None = None) -> None:
        self.revision = -1
        self._things: OrderedDict[Hashable, Any] = OrderedDict()
        self.lock = RLock() if lock is None else lock
        """Held by whoever adds to the graph of the description: caches of descriptions that share one share it."""

    def find_or_make(self, revision: int, key: Hashable, make: Callable[[], Value]) -> Value:
        """The thing called `key` of a description at `revision`; made by `make` if it is not here."""
        with self.lock:
            if revision != self.revision:
                self._things.clear()
                self.revision = revision
            if key not in self._things:
                self._things[key] = make()
                while len(self._things) > MOST:
                    self._things.popitem(last=False)
            self._things.move_to_end(key)
            return self._things[key]

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels empty: what was compiled is made again where it is needed."""
        return Cache, ()

    def __len__(self) -> int:
        return len(self._things)

    def empty(self) -> Cache:
        """A cache for another description over the same graph."""
        return Cache(self.lock)

    def without(self, dropped: Callable[[Hashable], bool]) -> Cache:
        """A cache of its own with the same things, but for those whose key is `dropped`."""
        other = self.empty()
        with self.lock:
            other.revision = self.revision
            other._things.update((key, thing) for key, thing in self._things.items() if not dropped(key))
        return other


__all__ = ["Cache"]
