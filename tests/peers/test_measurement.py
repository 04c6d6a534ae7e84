"""The arithmetic behind the benchmark table."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measure import Duel, Row, Spread, disagreement, duel, exactly
from benchmarks.table import Part, cells, read, write


def test_a_ratio_is_formed_within_each_repeat() -> None:
    row = Duel("them", ours=[1.0, 2.0, 4.0], theirs=[3.0, 6.0, 12.0]).row("task", 3, error=0.0, runs=2)
    assert row.value == Spread(3.0, 3.0, 3.0)
    assert row.ours == Spread(1.0, 0.75, 1.5)
    assert row.met


def test_a_target_is_met_from_its_own_side() -> None:
    assert Row("count", exactly(90), "additions", 90, "at most").met
    assert not Row("count", exactly(91), "additions", 90, "at most").met
    assert Row("count", exactly(91), "additions").met is None


def test_both_sides_are_timed_in_turn() -> None:
    order: list[str] = []
    times = duel("them", lambda: order.append("ours"), lambda: order.append("theirs"), repeats=3)
    turns = [side for side, before in zip(order, [None, *order], strict=False) if side != before]
    assert turns[-6:] == ["ours", "theirs"] * 3
    assert len(times.ours) == len(times.theirs) == 3


def test_disagreement_is_relative_to_the_largest_answer() -> None:
    assert disagreement([1.0, 100.0], [1.0, 200.0]) == 0.5


@pytest.mark.parametrize(
    ("time", "shown"), [(2.5, "2.5 s"), (2.5e-3, "2.5 ms"), (2.5e-8, "25 ns"), (2.5e-11, "0.025 ns")]
)
def test_times_are_shown_in_a_unit_of_their_size(time: float, shown: str) -> None:
    row = Row("task", exactly(2.0), "times faster", peer="them", ours=exactly(time), theirs=exactly(1.0), error=1e-13)
    assert cells(row)[4:] == (shown, "them: 1 s", "1e-13")


def test_the_table_and_the_record_hold_every_row(tmp_path: Path) -> None:
    rows = (
        Row("first", exactly(np.float64(1.5)), "times faster", 2),
        Row("second", exactly(3), "additions", 4, "at most"),
    )
    write({"part": Part({"processor": "abacus"}, rows)}, tmp_path)
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert "| first | 1.5 times faster | at least 2 | **no** |" in page
    assert "1 of 2 targets are met; not: first." in page
    assert "- processor: abacus" in page
    assert [(row["name"], row["met"]) for row in record["part"]["rows"]] == [("first", False), ("second", True)]


def test_parts_are_read_back_and_tell_where_their_machines_differ(tmp_path: Path) -> None:
    timed = Row("third", Spread(2.0, 1.0, 3.0), "times faster", peer="them", ours=exactly(1e-3), theirs=exactly(2e-3))
    parts = {
        "one": Part({"processor": "abacus", "cores": "2"}, (timed,)),
        "two": Part({"processor": "slide rule", "cores": "2"}, (Row("fourth", exactly(1), ""),)),
    }
    write(parts, tmp_path)
    page = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert read(tmp_path) == parts
    assert "- cores: 2" in page
    assert "- processor" not in page
    assert "| two | slide rule |" in page
