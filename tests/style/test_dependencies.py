"""What the package imports is what it declares, and the base install is enough for everything but the extras."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from style.source import ROOT, python_files, relative

EXTRAS = (
    "viewer",
    "peers",
    "meshes",
    "xacro",
    "ensemble",
    "dask",
)  # what the package itself may use when it is there; the others are for its developers
WITHOUT_EXTRAS = """
import sys
for name in {blocked}:
    sys.modules[name] = None
import kane
model = kane.load("stanford-arm")
q, u = model.initial_state
model.forward_dynamics(q, u, 0 * u)
"""


def declared(*extras: str) -> set[str]:
    """Normalised names of the distributions that the base install, or these extras, bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    lines = [line for extra in extras for line in optional[extra]] if extras else project["dependencies"]
    return {normalised(re.split(r"[\[<>=!~ ;]", line)[0]) for line in lines}


def normalised(name: str) -> str:
    """A distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def installed() -> dict[str, set[str]]:
    """Top-level modules, each with the normalised names of the distributions that hold it."""
    modules = importlib.metadata.packages_distributions()
    return {module: {normalised(name) for name in names} for module, names in modules.items()}


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level module of every import of another package, the standard library left out."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        else:
            continue
        modules = {name.split(".")[0] for name in names} - sys.stdlib_module_names - {"kane"}
        yield from ((node.lineno, module) for module in sorted(modules))


def test_every_imported_package_is_declared() -> None:
    known = declared() | declared(*EXTRAS)
    found = [
        f"{relative(path)}:{line}: {name}"
        for path in python_files("src")
        for line, name in imported(path)
        if not installed().get(name, set()) & known
    ]
    assert not found, "declare it in pyproject.toml:\n" + "\n".join(found)


def test_the_base_install_loads_and_computes_without_the_extras() -> None:
    blocked = sorted(module for module, names in installed().items() if names & (declared(*EXTRAS) - declared()))
    subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS.format(blocked=blocked)], check=True)
