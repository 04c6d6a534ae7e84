"""Processes that are forked from this one, which has imported and compiled what they need: each costs no start of
Python. They are for searches that kill, limit or interrupt a process; one try in `FRESH` starts a new one all the same.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

FRESH = 10


class Forked:
    """A forked process that does some work in a folder and ends with its status: as much of `subprocess.Popen` as the
    searches need. What it writes to standard output is lost, what it writes to standard error is kept."""

    def __init__(self, work: Callable[[], int], folder: Path | str):
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `communicate`
        self._process = get_context("fork").Process(target=self._run, args=(work, folder))
        self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def _run(self, work: Callable[[], int], folder: Path | str) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell has those in the background ignore it
        with Path(os.devnull).open("w") as null:
            os.dup2(null.fileno(), 1)
        os.dup2(self._said.fileno(), 2)
        sys.stdout, sys.stderr = (os.fdopen(fd, "w", encoding="utf-8", buffering=1) for fd in (1, 2))
        os.chdir(folder)
        sys.exit(work())

    @property
    def returncode(self) -> int | None:
        """Its status, negative where a signal ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Its status, None while it runs."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal to it, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[None, str]:
        """Wait for its end: nothing, and what it wrote to standard error. One that takes longer is killed."""
        self._process.join(timeout)
        late = self._process.exitcode is None
        if late:
            self._process.kill()
            self._process.join()
        self._said.seek(0)
        said = self._said.read().decode(errors="replace")
        self._said.close()
        if late:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0.0, stderr=said.encode())
        return None, said


def started(
    function: Callable[..., int], *arguments: Any, folder: Path | str, before: str = "", fresh: bool = False
) -> subprocess.Popen[str] | Forked:
    """A process that calls a function of a module with arguments that Python can read back, and ends with its status.

    Forked, or `fresh`, a new interpreter; then `before` is Python that it runs before anything is imported.
    """
    if not fresh:
        return Forked(lambda: function(*arguments), folder)
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"exec(compile({before!r}, 'writing.py', 'exec'))\n"
        f"from {function.__module__} import {function.__name__}\n"
        f"sys.exit({function.__name__}(*{arguments!r}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
