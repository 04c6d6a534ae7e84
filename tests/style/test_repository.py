"""Nothing in the repository depends on the machine it was written on, and every file says the same version."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator

import pytest

from style.source import PACKAGE, ROOT, python_files, relative, text_files

MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|farm|opt|home/\w+|Users/\w+)/|[A-Z]:\\\\?Users")
HOST = re.compile(r"\b(?:https?|wss?|ftp|git)://(?:[^\s/@]+@)?([A-Za-z0-9.-]+)")
# Where papers, licences and formats are identified, and this machine itself; `example` and the like are reserved.
KNOWN_HOSTS = {
    "127.0.0.1",
    "localhost",
    "0.0.0.0",
    "www.ros.org",
    "creativecommons.org",
    "doi.org",
    "github.com",
    "json-schema.org",
    "keepachangelog.com",
    "semver.org",
    "www.collada.org",
    "www.w3.org",
}
RESERVED_HOST = re.compile(r"(^|\.)(example|invalid|test|example\.(com|org|net))$")
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "misc", "common", "base"}


def machine_parts(text: str) -> Iterator[tuple[int, str]]:
    """Line and words of every path or host in a text that only one machine has."""
    for match in MACHINE_PATH.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[0]
    for match in HOST.finditer(text):
        if match[1] not in KNOWN_HOSTS and not RESERVED_HOST.search(match[1]):
            yield text.count("\n", 0, match.start()) + 1, match[0]


def test_no_path_or_host_of_one_machine() -> None:
    found = [
        f"{relative(path)}:{line}: {part}"
        for path in text_files()
        for line, part in machine_parts(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_a_path_or_host_of_one_machine_would_be_found() -> None:
    path, host = "/ro" + "ot/", "ht" + "tps://mirror.somewhere"
    text = f"see\n{path}notes,\n{host}/simple and ht" + "tps://doi.org/10"
    assert list(machine_parts(text)) == [(2, path), (3, host)]


def test_every_module_is_named_after_what_it_holds() -> None:
    stems = {path.stem: relative(path) for path in python_files("src", "tests", "benchmarks")}
    assert not VAGUE_NAMES & set(stems)
    assert not [name for stem, name in stems.items() if re.fullmatch(r"test_.*\d", stem)]


def declared_version() -> str:
    """The version, from the one place that states it; the package is built with it."""
    return re.findall(r'^__version__ = "(.+)"$', (PACKAGE / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)[0]


def test_the_installed_version_is_the_declared_one() -> None:
    assert importlib.metadata.version("kane") == declared_version()


def test_the_changelog_and_the_citation_name_the_declared_version() -> None:
    version = declared_version()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_package_says_that_it_has_types() -> None:
    assert (
        PACKAGE / "py.typed"
    ).is_file()  # PEP 561: without it, type checkers take no types from an installed package


def pinned(name: str) -> list[str]:
    """The lines of a file of constraints that name a package."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-lowest.txt"])
def test_every_pinned_version_is_exact(name: str) -> None:
    assert not [pin for pin in pinned(name) if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)]


def test_lower_bounds_are_the_lowest_versions_that_are_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = [*project["dependencies"], *project["optional-dependencies"]["sympy"]]
    bounds += [line for line in project["optional-dependencies"]["viewer"] if line.startswith("matplotlib")]
    lowest = dict(pin.lower().split("==") for pin in pinned("constraints-lowest.txt"))
    for line in bounds:
        package, bound = line.split(">=")
        assert lowest[package] in (bound, f"{bound}.0"), package
