"""Classes of the package: one name each, and chains that a reader can follow."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Iterator

import kane
from style.source import python_files

LONGEST = 3
"""Classes of ours in a chain of inheritance, the last one included."""

MOST = 72
"""Public names of a model: what a user sees at one glance after pressing Tab."""


def class_definitions() -> Iterator[ast.ClassDef]:
    """Every class of the package, as it is written."""
    for path in python_files("src"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def test_no_class_name_is_defined_twice() -> None:
    names = Counter(node.name for node in class_definitions())
    assert not {name for name, count in names.items() if count > 1}


def test_chains_of_our_own_classes_are_short() -> None:
    bases = {node.name: [ast.unparse(base).split(".")[-1] for base in node.bases] for node in class_definitions()}

    def height(name: str) -> int:
        return 1 + max((height(base) for base in bases[name] if base in bases), default=0)

    assert not {name for name in bases if height(name) > LONGEST}


def test_a_model_has_few_public_names_and_all_of_them_are_explained() -> None:
    public = [name for name in dir(kane.Model) if not name.startswith("_")]
    assert len(public) <= MOST
    assert set(public) == {name for name in dir(kane.load("pendulum")) if not name.startswith("_")}
    text = inspect.getdoc(kane.Model) or ""
    assert not [name for name in public if f"`{name}`" not in text]


def test_constraints_and_loads_are_records_not_dictionaries() -> None:
    for path in python_files("src"):
        text = path.read_text(encoding="utf-8")
        assert "given: dict" not in text, path
    for path in python_files("src/kane/model/constraints", "src/kane/model/loads"):
        assert "getattr(" not in path.read_text(encoding="utf-8"), path
