"""Programs on disk, so that a model file is formulated once per machine.

A program is kept as its text, under a key of what it was made from and of the code that made it; text that does not
parse as a valid program is made anew.
"""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    with _no_search_of_old_objects():
        program = make()
    cache.save(name, str(program).encode())
    return program


@contextmanager
def _no_search_of_old_objects() -> Iterator[None]:
    """Let Python look for garbage only among what is made meanwhile.

    A formulation makes tens of thousands of small objects, which sooner or later calls for a search through all
    objects of the process, every imported library's included: 40 ms inside a formulation of 70 ms. Whoever has frozen
    objects already is left alone.
    """
    if gc.get_freeze_count():
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@once
def _makers() -> bytes:
    """A hash of the makers' source files: their names and their contents, read once per process."""
    root = str(Path(__file__).parents[1])
    seen = hashlib.sha256()
    for file in sorted(path for part in _MAKERS for path in _sources(f"{root}{os.sep}{part}")):
        content = _content(file)
        seen.update(f"{file[len(root) :]}\0{len(content)}\0".encode())
        seen.update(content)
    return seen.digest()


def _content(file: str) -> bytes:
    """The bytes of a file, by the system's own calls: there are a hundred files, and pathlib takes twice as long."""
    handle = os.open(file, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        return os.read(handle, os.fstat(handle).st_size)
    finally:
        os.close(handle)


def _sources(folder: str) -> Iterator[str]:
    """The source files in a folder and those below, by scandir: pathlib takes five times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path)
