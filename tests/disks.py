"""Disks of a few kilobytes that tests can fill."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mounted_disk(folder: Path, size: str) -> Iterator[Callable[[str], None]]:
    """A disk of a size such as "64k" at a folder; gives what changes the size. Skips where nothing can be mounted."""

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
        subprocess.run(command, capture_output=True, check=True)

    try:
        mount(f"size={size}")
    except OSError:
        pytest.skip("no mount")
    except subprocess.CalledProcessError:
        pytest.skip("only root can mount")
    try:
        yield lambda other: mount(f"remount,size={other}")
    finally:
        subprocess.run(["umount", str(folder)], check=True)
