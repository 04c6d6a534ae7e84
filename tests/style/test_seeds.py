"""Ordinary runs draw the same random systems every time; a run with a number of its own draws others, repeatably."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from seeds import generator, seed
from style.source import ROOT, relative

LAWS = sorted((ROOT / "tests" / "laws").glob("test_*.py"))
FROZEN = re.compile(r"default_rng\(\d+\)|derandomize=True|max_examples=\d")


def test_without_a_number_seeds_are_those_that_the_tests_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KANE_SEED", raising=False)
    assert [seed(k) for k in range(50)] == list(range(50))


def test_one_number_gives_the_same_systems_again_and_another_gives_others(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = {}
    for run in ("1", "2", "1"):
        monkeypatch.setenv("KANE_SEED", run)
        numbers = np.array([generator(k).random(4) for k in range(20)])
        np.testing.assert_array_equal(drawn.setdefault(run, numbers), numbers)
        assert len({seed(k) for k in range(1000)}) == 1000  # draws of one test stay different from each other
    assert not np.any(drawn["1"] == drawn["2"])


@pytest.mark.parametrize("path", LAWS, ids=relative)
def test_laws_draw_new_systems_at_night(path: Path) -> None:
    assert not FROZEN.findall(path.read_text(encoding="utf-8"))
