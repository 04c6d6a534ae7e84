"""Searches for faults find none: no untyped exception, no signal, no hang, no disagreement between two routes.

A short slice of each, always the same, runs with all tests; `make test-long` makes 10⁵ tries with new seeds.
"""

from __future__ import annotations

import pytest

from long.block import MODULES, faults_of_block
from long.tries import TRIES, blocks

SHOWN = 5  # faults of a block that a failure shows in full; all are counted


@pytest.mark.parametrize(
    ("name", "first", "count"),
    [
        pytest.param(name, *block.values, marks=block.marks, id=f"{name} {block.id}")
        for name in TRIES
        for block in blocks(name)
    ],
)
def test_a_search_finds_no_fault(name: str, first: int, count: int) -> None:
    faults = faults_of_block(name, first, count)
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults[:SHOWN])


def test_every_search_has_its_numbers_and_its_module() -> None:
    assert set(MODULES) == set(TRIES)
    assert all(0 < t.short < t.long and t.block > 0 for t in TRIES.values())
