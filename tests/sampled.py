"""Functions that draw a member's number, in a module that workers can import, and a folder's digest."""

from __future__ import annotations

import hashlib
import os
import signal
from pathlib import Path

import numpy as np

KILLED = "KANE_TEST_KILLED"
"""Environment: a file that is there when the worker has been killed once."""


def draw(generator: np.random.Generator) -> float:
    """An angle (rad)."""
    return float(generator.uniform(-1.0, 1.0))


DEADLY = 0.99
"""Angle (rad) beyond which a member kills its process."""


def kill_once(generator: np.random.Generator) -> float:
    """An angle; the first member to draw one beyond DEADLY kills its process."""
    angle = draw(generator)
    if angle > DEADLY and not Path(os.environ[KILLED]).exists():
        Path(os.environ[KILLED]).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return angle


def kill_unless_told(generator: np.random.Generator) -> float:
    """An angle; some members kill their process, unless KILLED is set."""
    angle = draw(generator)
    if angle > DEADLY and KILLED not in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
    return angle


def digest(folder: Path) -> str:
    """SHA-256 over the names and bytes of all files of a folder."""
    found = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        data = path.read_bytes()
        found.update(f"{path.relative_to(folder).as_posix()} {len(data)}\n".encode())
        found.update(data)
    return found.hexdigest()
