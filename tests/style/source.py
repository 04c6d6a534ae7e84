"""The repository as the style tests see it: its files, its layers, its comments and docstrings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kane"
FOLDERS = (".ci", "benchmarks", "docs", "examples", "src", "tests")
TEXT_SUFFIXES = {
    "",
    ".bib",
    ".c",
    ".cff",
    ".h",
    ".html",
    ".json",
    ".md",
    ".py",
    ".toml",
    ".txt",
    ".urdf",
    ".yaml",
    ".yml",
}
TOP_LEVEL_EXCLUDED = {".git", ".venv"}


def text_files() -> Iterator[Path]:
    """Every text file of the repository that a person or a tool has written into it."""
    for path in sorted(ROOT.iterdir()):
        if path.is_file() and path.name not in TOP_LEVEL_EXCLUDED and path.suffix in TEXT_SUFFIXES:
            yield path
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in TEXT_SUFFIXES and "__pycache__" not in path.parts:
                yield path


def python_files(*folders: str) -> list[Path]:
    """The Python files under these folders of the repository, sorted."""
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def markdown_files() -> list[Path]:
    """The pages of the documentation, sorted: those at the top and those under docs and examples."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


def relative(path: Path) -> str:
    """The path as a reader of the repository writes it."""
    return path.relative_to(ROOT).as_posix()


def declared_layers() -> list[tuple[str, ...]]:
    """The layers from the top down, siblings together, as docs/architecture.md draws them."""
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawing = text.split("## Layers", 1)[1].split("```")[1]
    rows = [re.split(r"\s{2,}", line.strip())[0] for line in drawing.strip().splitlines()]
    return [tuple(name.strip() for name in row.split("|")) for row in rows]


def prose(path: Path) -> str:
    """Docstrings and comments of a Python file, or the whole text of any other."""
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return source
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, documented)]
    docstrings = [ast.get_docstring(node) or "" for node in nodes]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join([*docstrings, *(token.string for token in tokens if token.type == tokenize.COMMENT)])
