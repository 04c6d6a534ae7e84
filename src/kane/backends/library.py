"""Programs on disk, so that a model file is formulated once per machine.

A program is kept as its text, under a key of what it was made from and of the code that made it; text that does not
parse as a valid program is made anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache as once
from pathlib import Path

from ..errors import KaneError
from ..graph import Program, parse
from . import cache

_MAKERS = ("graph", "space", "model", "constraints", "formulation")
"""Parts of the package whose code decides what a program looks like."""


def load_or_make(parts: tuple[str, ...], make: Callable[[], Program]) -> Program:
    """The program made from `parts`: read from disk if it is there, else made and kept."""
    name = cache.key(b"program", _makers(), *(p.encode() for p in parts))
    stored = cache.load(name)
    if stored is not None:
        try:
            return parse(stored.decode())
        except (KaneError, UnicodeDecodeError):
            pass  # written by something else: make it anew
    program = make()
    cache.save(name, str(program).encode())
    return program


@once
def _makers() -> bytes:
    """What the makers' source files look like from outside: names, sizes, times of change."""
    root = Path(__file__).parents[1]
    return "\n".join(sorted(line for part in _MAKERS for line in _source_lines(str(root / part)))).encode()


def _source_lines(folder: str) -> Iterator[str]:
    """A line for each source file in a folder, by scandir: pathlib takes five times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                state = entry.stat()
                yield f"{entry.path} {state.st_size} {state.st_mtime_ns}"
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _source_lines(entry.path)
