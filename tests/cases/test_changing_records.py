"""Every reference motion of changing constraints is compared with, or named here with the reason why not."""

from __future__ import annotations

import re
from pathlib import Path

from cases.changing_records import RECORDS

NOT_EXPRESSED: dict[str, str] = {}
"""Records that no model expresses, and why."""


def test_every_record_is_compared_with_or_named() -> None:
    tests = [path for path in Path(__file__).parent.glob("test_changing_*.py") if path != Path(__file__)]
    named = {name for path in tests for name in re.findall(r'"([A-Z]\d\d)"', path.read_text(encoding="utf-8"))}
    assert named | set(NOT_EXPRESSED) == set(RECORDS)
    assert not named & set(NOT_EXPRESSED)
