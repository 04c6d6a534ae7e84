"""What tests of ensembles share."""

from __future__ import annotations

import pytest

from kane.simulate import members


@pytest.fixture(name="alone")
def count_members_alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The members that are simulated from Python, each with memory of its own."""
    found: list[int] = []
    original = members._Block.run_alone
    monkeypatch.setattr(members._Block, "run_alone", lambda self, i: (found.append(i), original(self, i)))
    return found
