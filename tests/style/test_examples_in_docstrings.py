"""Every public name says what it is, and shows by an example that runs.

Public are the names of `kane.__all__`, and the attributes of what a model, its equations and its motions answer with. A
field of a record has no docstring of its own: the docstring of its class names it.
"""

from __future__ import annotations

import dataclasses
import doctest
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import kane
from kane.analysis import Eigenmode, Steady
from kane.analysis.linearization import Linearization
from kane.api.places import PlaceAnswers
from kane.api.reactions import Reaction, Reactions
from kane.api.records import ConstraintRows, Residuals, Wrench

METHODS = (FunctionType, property, cached_property, classmethod, staticmethod)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
ANSWERS = (
    kane.Model,
    kane.Trajectory,
    kane.Equations,
    Reaction,
    Reactions,
    Linearization,
    Eigenmode,
    Steady,
    PlaceAnswers,
    ConstraintRows,
    Residuals,
    Wrench,
)
# What a record of a constraint or a load has because the package asks for it; said once, at the protocols.
PROTOCOLS = {"kind", "make_rows", "check", "actions", "potential"}


def public_objects() -> dict[str, Any]:
    """Name → class, function or property that has a docstring of its own."""
    found = {name: getattr(kane, name) for name in kane.__all__} | {c.__name__: c for c in ANSWERS}
    for owner in ANSWERS:
        found |= {f"{owner.__name__}.{name}": value for name, value in methods(owner)}
    return found


def methods(owner: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties of a class, as far as the package defines them."""
    for home in owner.__mro__:
        if not home.__module__.startswith("kane"):
            continue
        for name, value in vars(home).items():
            if not name.startswith("_") and isinstance(value, METHODS):
                yield name, value.__func__ if isinstance(value, (classmethod, staticmethod)) else value


def fields(owner: type) -> list[str]:
    """Public fields of a record."""
    if dataclasses.is_dataclass(owner):
        return [field.name for field in dataclasses.fields(owner) if not field.name.startswith("_")]
    return list(getattr(owner, "_fields", ()))


OBJECTS = public_objects()
RECORDS = [value for value in OBJECTS.values() if inspect.isclass(value) and fields(value)]


def test_a_public_name_has_a_docstring_with_an_example() -> None:
    without = [name for name, value in OBJECTS.items() if ">>> " not in (inspect.getdoc(value) or "")]
    assert not without, "these have no docstring, or no example in it:\n" + "\n".join(without)


@pytest.mark.parametrize("name", OBJECTS)
def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = inspect.getdoc(OBJECTS[name]) or ""
    example = doctest.DocTestParser().get_doctest(text, {"kane": kane, "np": np}, name, None, None)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    assert not report, "".join(report)


def test_the_docstring_of_a_record_names_its_fields() -> None:
    said = {record: set(re.findall(r"\w+", inspect.getdoc(record) or "")) for record in RECORDS}
    missing = [f"{record.__name__}.{name}" for record in RECORDS for name in fields(record) if name not in said[record]]
    assert not missing, "docstrings do not say what these are:\n" + "\n".join(missing)


def test_a_record_has_no_attributes_but_fields_and_what_is_explained() -> None:
    inherited = {name for base in (tuple, dict, Exception) for name in dir(base)}
    found = []
    for record in RECORDS:
        known = {*fields(record), *PROTOCOLS, *(name for name, _ in methods(record)), *inherited}
        found += [f"{record.__name__}.{name}" for name in dir(record) if not name.startswith("_") and name not in known]
    assert not found, "\n".join(found)
