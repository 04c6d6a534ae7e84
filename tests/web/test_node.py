"""The unit tests of what runs in pages, in Node."""

from __future__ import annotations

import node


def test_unit_tests_of_the_component_pass() -> None:
    said = node.run("--test", "--test-reporter=tap", *sorted((node.WEB / "tests").glob("*.test.mjs")))
    assert "# fail 0" in said and "# pass 0" not in said
