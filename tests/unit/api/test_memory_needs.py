"""What a machine cannot hold is refused before it is begun, and what is counted for it is there when it is computed."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import kane
from kane.api import memory_needs
from kane.api.memory_needs import EnsembleSize
from kane.cli import FAILED, main

OVERHEAD = 2.0
"""What may be held beyond what is counted: programs, and copies that live for a moment."""

TIMES, MEMBERS = 1000, 128


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("sweep pendulum -n 100 --samples 100000000", "100 members at 100000000 times: what is held of them"),
        ("sweep pendulum -n 9 --keep tallies --samples 100000000", "9 members at 100000000 times: what is held"),
        ("simulate pendulum --samples 10000000000", "a motion at 10000000000 times"),
        ("inverse pendulum --to q=1 --samples 10000000000", "a motion at 10000000000 times"),
    ],
)
def test_times_that_nobody_can_hold_are_refused_before_they_are_made(
    line: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(line.split()) == FAILED
    said = capsys.readouterr().err
    assert (
        what in said
        and " takes " in said
        and " GB, and this machine has " in said
        and "fix: fewer times of output" in said
    )


def test_tallies_that_outgrow_what_is_kept_are_refused_with_their_size(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Motions of 100 members are 0.64 GB; a tally of one quantity at one time has 1024 bins and 7 numbers more."""
    monkeypatch.setattr(memory_needs, "_physical_memory", lambda: 24 * 10**9)
    tallies = 400_000 * 2 * 2 * 8 * (1024 + 7) / 1e9
    assert main(["sweep", "pendulum", "--samples", "400000", "--keep", "motions", "-n", "100"]) == FAILED
    said = capsys.readouterr().err
    assert f"{tallies:.3g} GB of it in tallies of 2 quantities at every time" in said
    assert "this machine has 24 GB" in said and "fix: fewer times of output" in said


def test_what_is_counted_of_an_ensemble_is_held_while_it_is_computed() -> None:
    """By what the interpreter and NumPy allocate, with blocks computed one at a time at least."""
    m = kane.load("pendulum")
    times, drawn = np.linspace(0.0, 1.0, TIMES), {"q": "uniform(0, 1)"}
    m.ensemble(times[:3], n=2, q=drawn)  # programs are compiled
    tracemalloc.start()
    try:
        m.ensemble(times, n=MEMBERS, q=drawn)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = EnsembleSize(TIMES, MEMBERS, MEMBERS, "motions", 0, 2, stored=False)
    counted = size.working_memory(2) + size.results(2)
    assert counted < peak < OVERHEAD * counted
