"""Reading models leaves no more behind than making them by hand does."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from kane.graph import Graph
from kane.model import read_mechanism
from unit.model.large_files import PARTS

ENTRY = "joints: revolute"


@pytest.fixture
def before() -> Iterator[int]:
    """Graphs that there are already, with the collector as users have it."""
    assert gc.isenabled()
    of_tests = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    gc.collect()
    yield graphs()
    gc.set_threshold(*of_tests)


def graphs() -> int:
    """Graphs that have not been collected: each model has one."""
    return sum(type(thing) is Graph for thing in gc.get_objects())  # not isinstance: it would ask dead proxies


def test_small_models_that_are_gone_are_collected_on_the_way(before: int) -> None:
    """Bodies and joints refer to each other: only the collector finds them, and nobody calls it here."""
    text, count = PARTS[ENTRY](3_000), 200
    for _ in range(count):
        read_mechanism(text, "small.yaml")
    assert graphs() - before < count / 2


def test_a_large_model_that_is_gone_makes_room_for_the_next(before: int) -> None:
    text = PARTS[ENTRY](150_000)
    for _ in range(4):
        read_mechanism(text, "large.yaml")
    assert graphs() - before <= 1


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        read_mechanism(PARTS[ENTRY](150_000), "large.yaml")
        assert not gc.isenabled()
    finally:
        gc.enable()
