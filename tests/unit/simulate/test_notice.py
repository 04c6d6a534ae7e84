"""Compiling is announced, where there is something to compile: at a terminal at once, elsewhere if it takes long."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from numba import njit

from kane.simulate import notice
from kane.simulate.notice import after_compilation, announce_compilation

SIMULATION = """
import sys
import kane

class Terminal:
    written = ""
    def isatty(self):
        return True
    def write(self, text):
        self.written += text
    def flush(self):
        pass

sys.stderr = Terminal()
MOTION
print(sys.stderr.written, end="")
"""


MOTIONS = [
    ('kane.load("pendulum").simulate((0.0, 0.1), method="rk4", step=0.01)', ["the integrator"]),
    pytest.param(
        'kane.load("four-bar").simulate((0.0, 0.1), events={"start": "t - 0.05"})',
        ["the treatment of constraints", "the integrator"],
        marks=pytest.mark.long,
    ),
]


def said(motion: str, cache: Path) -> list[str]:
    """The lines that a simulation in a fresh process writes to a terminal, with compiled code kept in `cache`."""
    environment = {**os.environ, "KANE_CACHE_DIR": str(cache)}
    run = subprocess.run(
        [sys.executable, "-c", SIMULATION.replace("MOTION", motion)],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize(("motion", "compiled"), MOTIONS)
def test_compiling_is_announced_once_per_installation(motion: str, compiled: list[str], tmp_path: Path):
    first, second = said(motion, tmp_path), said(motion, tmp_path)
    assert [line.split(",")[0] for line in first] == [f"compiling {what}" for what in compiled]
    assert second == []


@pytest.mark.parametrize(("terminal", "seconds", "told"), [(True, 0.0, 1), (False, 0.0, 0), (False, 0.3, 1)])
def test_who_is_not_at_a_terminal_is_told_of_what_takes_long(
    terminal: bool, seconds: float, told: int, monkeypatch: pytest.MonkeyPatch
):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: terminal)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(notice, "PATIENCE", 0.1 if seconds else 60.0)
    notice._tell_once.cache_clear()
    with announce_compilation("a sum"):
        assert njit(lambda x: x + 1)(1) == 2
        assert njit(lambda x: x + 2)(1) == 3
        time.sleep(seconds)
    assert stream.getvalue().count("compiling a sum, once per installation") == stream.getvalue().count("\n") == told


def test_threads_that_compile_the_same_say_so_once(monkeypatch: pytest.MonkeyPatch):
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", stream)
    notice._tell_once.cache_clear()
    for what, more in (("a sum", 1), ("a sum", 2), ("a product", 3)):
        with announce_compilation(what), announce_compilation(what):  # each hears of what any of them compiles
            assert njit(lambda x, more=more: x + more)(1) == 1 + more
    assert [line.split(",")[0] for line in stream.getvalue().splitlines()] == [
        "compiling a sum",
        "compiling a product",
    ]


def test_what_comes_after_compiling_is_called_when_it_is_over():
    times: list[float] = []
    with after_compilation(lambda: times.append(time.perf_counter())):
        assert times == []
        assert njit(lambda x: x + 4)(1) == 5
        compiled = time.perf_counter()
    assert times and times[-1] <= compiled
    assert njit(lambda x: x + 5)(1) == 6 and times[-1] <= compiled  # behind the block nobody listens


def test_nothing_is_said_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(notice, "PATIENCE", 0.0)
    with announce_compilation("a sum"):
        time.sleep(0.1)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("stream", ["none", "closed"])
def test_a_process_without_standard_error_simulates(
    stream: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if stream == "none" else closed)
    monkeypatch.setattr(notice, "PATIENCE", 0.0)
    with announce_compilation("a sum"):
        assert njit(lambda x: x + 1)(1) == 2
        time.sleep(0.1)
    assert capsys.readouterr().out == ""


INTERRUPTED = """
import importlib.abc
import signal
import sys
import kane

class Interrupt(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "numba.core.typing.context":
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
model = kane.load("four-bar")
try:
    model.simulate(0.1)
except KeyboardInterrupt:
    print("interrupted")
print(model.simulate(0.1).outcome.reason)
"""


def test_an_interrupt_while_numba_is_imported_leaves_a_process_that_works() -> None:
    """The import is interrupted in its midst: a module that is there by half would fail ever after."""
    run = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["interrupted", "end"], run.stderr


def test_an_interrupt_waits_until_compiling_is_done_and_a_second_one_does_not() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), announce_compilation("something"):
        signal.raise_signal(signal.SIGINT)
        steps.append("went on")
    assert steps == ["went on"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt), announce_compilation("something"):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        steps.append("went on again")
    assert steps == ["went on"]
