"""Tests of many variants, of which an ordinary run takes one in so many, evenly spread, and `make test-long` all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

ONE_IN = {
    "test_a_built_in_model_of_any_kind_is_seen": 1,
}


def leave_to_long_runs(items: Iterable[pytest.Item]) -> None:
    """Mark what an ordinary run does not take."""
    seen = Counter[str]()
    for item in items:
        if isinstance(item, pytest.Function) and (name := item.originalname) in ONE_IN:
            if seen[name] % ONE_IN[name]:
                item.add_marker(pytest.mark.long)
            seen[name] += 1
