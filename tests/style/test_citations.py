"""Every source that a docstring, a comment or a page cites, as in [KL83, Eq. 90], is listed in docs/references.bib."""

from __future__ import annotations

import re

from style.source import ROOT, markdown_files, prose, python_files, relative

KEY = r"[A-Z][A-Za-z]*[0-9]{2}[a-z]?"
CITATION = re.compile(rf"\[({KEY}(?:[,;][^\[\]]*)?)\]")
BIBLIOGRAPHY = ROOT / "docs" / "references.bib"


def cited_keys(text: str) -> set[str]:
    """The keys in `text`: [KEY], [KEY, where] and [KEY, where; KEY, where]."""
    parts = [part.strip() for match in CITATION.finditer(text) for part in match[1].split(";")]
    return {match[0] for part in parts if (match := re.match(rf"{KEY}\b", part))}


def listed_keys() -> list[str]:
    """The keys of the bibliography, in its order."""
    return re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.MULTILINE)


def test_cited_sources_are_in_the_bibliography() -> None:
    listed = set(listed_keys())
    paths = [*python_files("src", "tests", "benchmarks"), *markdown_files()]
    citing = [path for path in paths if re.search(rf"\[{KEY}", path.read_text(encoding="utf-8"))]  # the others are most
    found = [f"{relative(path)}: [{key}]" for path in citing for key in sorted(cited_keys(prose(path)) - listed)]
    assert not found, f"these are not in {relative(BIBLIOGRAPHY)}:\n" + "\n".join(found)


def test_no_key_is_listed_twice() -> None:
    assert len(listed_keys()) == len(set(listed_keys()))


def test_a_citation_is_recognised_in_every_form() -> None:
    line = "as in [" + "AB83], [" + "CD90a, Eq. 90] and [" + "EF01, p. 3; GH02, Sec. 4], not x[0] or [1, 2]"
    assert cited_keys(line) == {"AB83", "CD90a", "EF01", "GH02"}
