"""An interrupt (Ctrl-C) ends an ensemble at any time: what is done is kept, and the ensemble says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.api import ensembles
from kane.cli import INTERRUPTED, main
from kane.report import write_ensemble

ASKED: dict[str, Any] = {"n": 500, "seed": 1, "q": {"q": "uniform(-1, 1)"}, "events": {"up": "q - 0.5"}}
TIMES = np.linspace(0, 1, 5)


@pytest.fixture(name="at_once")
def interrupt_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interrupt comes while the first block is computed."""

    def gather(*_: Any) -> Iterator[Any]:
        raise KeyboardInterrupt
        yield

    monkeypatch.setattr(ensembles, "gather_blocks", gather)


def interrupt(progress: kane.ensemble.Progress) -> None:
    if progress.done >= 128:
        raise KeyboardInterrupt


def test_what_is_done_is_that_of_the_whole_ensemble() -> None:
    m = kane.load("pendulum")
    part, whole = m.ensemble(TIMES, progress=interrupt, **ASKED), m.ensemble(TIMES, **ASKED)
    assert (part.interrupted, whole.interrupted) == (True, False)
    assert str(part) == "interrupted after 128 of 500 members over 1 s: 128 reached the end"
    assert part.q is not None and whole.q is not None and np.array_equal(part.q, whole.q[:128])


@pytest.mark.parametrize("keep", ["motions", "ends", "tallies"])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("t", [1.0, TIMES])
@pytest.mark.usefixtures("at_once")
def test_an_interrupt_before_the_first_block_leaves_an_ensemble_without_members(
    keep: str, stored: bool, t: Any, tmp_path: Path
) -> None:
    store = tmp_path / "runs.zarr" if stored else None
    found = kane.load("pendulum").ensemble(t, keep=keep, store=store, watch={"h": "cos(q)"}, **ASKED)
    assert found.interrupted and len(found) == 0
    assert repr(found) == "<Ensemble of 'pendulum', interrupted after 0 of 500 members over 1 s>"
    assert "<p>pendulum: interrupted after 0 of 500" in found._repr_html_()
    assert found.to_table().num_rows == 0 and found.to_xarray().sizes["member"] == 0
    assert not found.tallies["h"].count.any() and found.numbers["q"].shape == (0,)
    if keep != "tallies":
        assert found.end_q is not None and found.end_q.shape == (0, 1)
        assert np.isnan(found.share("up")) and found.sensitivity("first_up") == {}
    for ask in (lambda: found.plot(), lambda: found.member(0), lambda: write_ensemble(found, tmp_path / "r.html")):
        with pytest.raises(kane.InputError, match="let some members finish"):
            ask()


@pytest.mark.parametrize("samples", ["0", "5"])
@pytest.mark.usefixtures("at_once")
def test_the_shell_has_status_130_and_a_sentence(samples: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["sweep", "pendulum", "-n", "500", "--q", "q=uniform(1,3)", "--event", "up=q-2", "--samples", samples]
    assert main([*line, "--time", "1"]) == INTERRUPTED
    said = capsys.readouterr()
    assert said.out == "interrupted after 0 of 500 members over 1 s\n"
    assert said.err.startswith("interrupted: 0 of 500 members are done\n")
    assert main([*line, "--json"]) == INTERRUPTED
    told = json.loads(capsys.readouterr().out)
    assert told["interrupted"] and told["members"] == 0 and told["events"]["up"]["share"] is None
