"""A member of an ensemble against the motion that is simulated alone with the same numbers."""

from __future__ import annotations

import numpy as np

import kane


def assert_motions_alone(found: kane.Ensemble) -> None:
    """Every member has the bits of its motion alone: its end and why it ended, output, crossings."""
    assert found.end_t is not None and found.end_q is not None and found.end_u is not None
    for i in range(len(found)):
        alone = found.member(i)
        assert found.reasons[i] == alone.outcome.reason
        assert found.messages.get(i, "") == ("" if alone.outcome.success else str(alone.outcome))
        assert found.end_t[i] == alone.t[-1]
        assert np.array_equal(found.end_q[i], alone.q[-1])
        assert np.array_equal(found.end_u[i], alone.u[-1])
        if found.q is not None:
            rows = np.isfinite(found.q[i, :, 0])
            assert np.array_equal(found.q[i, rows], alone.q[: np.count_nonzero(rows)])
        for crossings in alone.events:
            event = crossings.event.name
            first = crossings.t[0] if len(crossings) else np.nan
            assert found.crossings[event][i] == len(crossings), event
            assert np.array_equal(found.first[event][i], first, equal_nan=True), event
