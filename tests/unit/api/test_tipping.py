"""Tip-over along a motion: the times between which a vehicle tips."""

from __future__ import annotations

import numpy as np
import pytest

from kane.api.tipping import balanced_on, spans_without
from kane.api.vehicles import Crossing


@pytest.mark.parametrize(
    ("values", "spans"),
    [
        ([1.0, 2.0, 1.0], ()),
        ([-1.0, -1.0, -2.0], ((0.0, 2.0),)),
        ([-1.0, 1.0, -1.0], ((0.0, 0.5), (1.5, 2.0))),
        ([1.0, -1.0, 1.0], ((0.5, 1.5),)),
        ([1.0, 0.0, 0.0], ((1.0, 2.0),)),
        ([1.0, 0.0, 1.0], ()),
    ],
)
def test_spans_of_a_sampled_function(values: list[float], spans: tuple[tuple[float, float], ...]) -> None:
    assert spans_without(np.arange(3.0), np.array(values)) == spans


def test_an_edge_is_balanced_on_from_the_change_of_a_contact_between_samples() -> None:
    measure = np.array([[1.0], [0.0], [0.0], [2.0]])
    changes = [Crossing(0.4, "contact of front", "open"), Crossing(2.5, "contact of front", "closed")]
    begins, ends = balanced_on([("left", "right")], np.arange(4.0), measure, changes)
    assert (float(begins), begins.what, begins.to) == (0.4, "edge left-right", "zero")
    assert (float(ends), ends.to) == (2.5, "positive")
