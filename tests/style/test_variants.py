"""Tests that leave variants to long runs are tests that there are, each once, with variants."""

from __future__ import annotations

import re

from style.source import python_files
from variants import ONE_IN


def test_every_name_in_the_table_is_that_of_one_test_with_variants() -> None:
    sources = "\n".join(path.read_text(encoding="utf-8") for path in python_files("tests"))
    varied = re.findall(r"^@pytest\.mark\.parametrize\((?:(?!^def ).*\n)+?def (test_\w+)\(", sources, re.MULTILINE)
    assert [name for name in ONE_IN if varied.count(name) != 1] == []


def test_one_in_one_would_leave_nothing() -> None:
    assert min(ONE_IN.values()) >= 2 and list(ONE_IN) == sorted(ONE_IN)
