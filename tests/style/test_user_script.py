"""The user's script runs, and leaves out no public name; `make check` reads it with strict types."""

from __future__ import annotations

import ast
import json
import tomllib
from pathlib import Path

import kane
from style import user_script
from style.source import ROOT

STRICT = ("src/kane/__init__.py", "src/kane/api", "src/kane/catalogue.py", "src/kane/errors.py")


def test_the_script_runs(tmp_path: Path) -> None:
    user_script.main(tmp_path)


def test_the_script_uses_every_public_name() -> None:
    tree = ast.parse(Path(user_script.__file__).read_text(encoding="utf-8"))
    used = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    public = {*kane.__all__, *(name for name in dir(kane.Model) if not name.startswith("_"))}
    assert sorted(public - used) == []


def test_pyright_reads_what_users_see_in_strict_mode() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pyright"]
    assert set(STRICT) <= set(settings["strict"]), json.dumps(settings)
    assert (ROOT / "src" / "kane" / "py.typed").exists()
