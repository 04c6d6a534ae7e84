"""Imports go down only: the drawing in docs/architecture.md is the law, and every import is held against it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from style.source import PACKAGE, declared_layers, python_files, relative

LAYERS = declared_layers()
HEIGHT = {name: len(LAYERS) - row for row, names in enumerate(LAYERS) for name in names}
# The face of the package offers the nouns of `api` and stands just above them; `python -m kane` stands above all.
ENTRANCES = {"__init__": HEIGHT["api"] + 0.5, "__main__": len(LAYERS) + 1}


def module_name(path: Path) -> str:
    """The dotted name of a module of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def layer_of(module: str) -> str:
    """The layer that a module belongs to; `__init__` for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def imported_modules(source: str, module: str, is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and dotted name of every module of ours that `source` imports, wherever in the file the import stands."""
    package = module.split(".") if is_package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*start, *([node.module] if node.module else [])])
            # `from kane import graph` names a layer, `from kane import load` the package itself.
            names = [f"kane.{a.name}" if a.name in HEIGHT else stem for a in node.names] if stem == "kane" else [stem]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] == "kane")


def violations(source: str, module: str, is_package: bool = False) -> list[str]:
    """Sentences on the imports of `source` that go up or sideways."""
    height = HEIGHT | ENTRANCES
    here = layer_of(module)
    return [
        f"{line}: layer '{here}' imports '{name}' of layer '{layer_of(name)}', which is not below it"
        for line, name in imported_modules(source, module, is_package)
        if layer_of(name) != here and height.get(layer_of(name), len(height)) >= height.get(here, 0)
    ]


def test_every_module_belongs_to_a_layer() -> None:
    elsewhere = [relative(p) for p in python_files("src") if layer_of(module_name(p)) not in HEIGHT | ENTRANCES]
    assert not elsewhere, "these belong to no layer of docs/architecture.md:\n" + "\n".join(elsewhere)


def test_imports_go_down_only() -> None:
    found = [
        f"{relative(path)}:{sentence}"
        for path in python_files("src")
        for sentence in violations(path.read_text(encoding="utf-8"), module_name(path), path.name == "__init__.py")
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "source",
    [
        "import kane.model",
        "from kane import model",
        "from kane.model.joints import Joint",
        "from ..model import Joint",
        "def late():\n    from kane.model import Joint",
        "from kane import load",
        "import kane",
        "import kane.unheard_of",
    ],
)
def test_an_upward_import_is_found_in_every_form(source: str) -> None:
    assert violations(source, "kane.graph.passes")


@pytest.mark.parametrize(
    "source", ["from kane.errors import KaneError", "from . import ops", "from .graph import Graph"]
)
def test_a_downward_or_inner_import_is_allowed(source: str) -> None:
    assert not violations(source, "kane.graph.passes")


def test_the_command_line_may_use_the_package_and_the_package_not_the_command_line() -> None:
    assert not violations("from kane import __version__, load", "kane.cli.main")
    assert violations("from .cli import main", "kane", is_package=True)


def test_siblings_do_not_import_each_other() -> None:
    assert violations("from kane.formulation import Equations", "kane.backends.llvm")
