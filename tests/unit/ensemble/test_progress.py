"""How far an ensemble is: in a notebook, on a terminal, in a log; with the rate and what is left."""

from __future__ import annotations

import logging
import sys
import types
from typing import Any

import pytest

import kane
from kane.api import ensemble_progress
from kane.api.ensemble_progress import ProgressLine


def sweep(progress: Any) -> Any:
    """Eight blocks; some members are refused."""
    m = kane.load("pendulum")
    return m.ensemble(0.1, n=500, seed=1, parameters={"m": "uniform(-0.2, 1)"}, progress=progress)


def test_a_function_is_told_all_of_it() -> None:
    told: list[Any] = []
    found = sweep(told.append)
    assert [p.done for p in told] == [*range(64, 500, 64), 500] and {p.count for p in told} == {500}
    assert told[-1].failed == 500 - found.success.sum() > 0
    assert all(p.rate > 0 and p.left == pytest.approx((p.count - p.done) / p.rate) for p in told)


def test_true_is_a_line_every_while_in_a_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    caplog.set_level(logging.INFO, "kane.ensemble")
    sweep(True)
    (record,) = caplog.records  # it took no ten seconds
    assert record.getMessage().startswith("500 of 500 members, ") and "failed" in record.getMessage()
    caplog.clear()
    monkeypatch.setattr(ensemble_progress, "LOG_EVERY", 0.0)
    sweep(True)
    assert len(caplog.records) == 8


def test_on_a_terminal_it_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(ensemble_progress, "on_terminal", lambda: True)
    sweep(True)
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1 and shown.endswith("\n")
    assert shown.split("\r")[-1].startswith("500 of 500 members, ")


def test_in_a_notebook_it_is_one_line_that_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, bundle: dict[str, str], raw: bool) -> None:
            assert raw and shown
            shown[0] = bundle["text/plain"]

    def display(bundle: dict[str, str], raw: bool, display_id: bool) -> Handle:
        assert raw and display_id
        shown.append(bundle["text/plain"])
        return Handle()

    kernel = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))  # pyright: ignore[reportArgumentType]
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))  # pyright: ignore[reportArgumentType]
    sweep(True)
    assert len(shown) == 1 and shown[0].startswith("500 of 500 members, ")


def test_what_is_no_function_is_named() -> None:
    with pytest.raises(kane.InputError, match="progress"):
        sweep(3)
    assert sweep(False).success.any() and isinstance(ensemble_progress.teller(True), ProgressLine)
