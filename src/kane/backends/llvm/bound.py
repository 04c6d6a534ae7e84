"""A flat program out of a compiled function that also wants a context: void f(in, out) = core(context, in, out).

The flat convention has no room for a context, yet a loop that calls by address needs nothing else. So a function of a
few instructions is put in between, which knows one core and one context; they are data beside it, so that the code is
compiled once and kept in the cache.
"""

from __future__ import annotations

import ctypes

from .machine import library

_TEXT = """
@core = global ptr null
@context = global i64 0

define void @flat(ptr %in, ptr %out) nounwind {
  %core = load ptr, ptr @core, align 8
  %context = load i64, ptr @context, align 8
  %source = ptrtoint ptr %in to i64
  %target = ptrtoint ptr %out to i64
  call void %core(i64 %context, i64 %source, i64 %target)
  ret void
}
"""


class Bound:
    """A flat program at `address`, valid as long as this lives.

    It calls void core(int64 context, int64 in, int64 out), all of them addresses; what is there must live as long.
    """

    __slots__ = ("_library", "address")

    def __init__(self, core: int, context: int):
        self._library = library(_TEXT, "bound", lambda: _TEXT)
        for name, value in (("core", core), ("context", context)):
            ctypes.c_int64.from_address(self._library.data_address(name)).value = value
        self.address = self._library.address("flat")


__all__ = ["Bound"]
