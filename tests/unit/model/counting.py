"""Calls of functions, counted: what work costs, whatever else the machine does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def counted_calls(task: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C."""
    calls = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        task()
    finally:
        sys.setprofile(before)
    return calls
