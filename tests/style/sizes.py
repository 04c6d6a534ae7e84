"""Prints what has outgrown its soft size; a reason to look, not a failure. Run by `make check`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from style.source import python_files, relative

MODULE_LINES, FUNCTION_LINES, PUBLIC_METHODS = 500, 50, 12


def outgrown(path: Path) -> Iterator[str]:
    """One sentence for each part of a file that is larger than its soft size, which stands in parentheses."""
    source = path.read_text(encoding="utf-8")
    if (lines := len(source.splitlines())) > MODULE_LINES:
        yield f"module has {lines} lines ({MODULE_LINES})"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES:
                yield f"line {node.lineno}: function {node.name} has {lines} lines ({FUNCTION_LINES})"
        elif isinstance(node, ast.ClassDef):
            methods = [item.name for item in node.body if isinstance(item, ast.FunctionDef) and item.name[0] != "_"]
            if len(methods) > PUBLIC_METHODS:
                yield f"line {node.lineno}: class {node.name} has {len(methods)} public methods ({PUBLIC_METHODS})"


def main() -> None:
    """Print one line per part that has outgrown its size."""
    for path in python_files("src", "benchmarks"):
        for sentence in outgrown(path):
            print(f"{relative(path)}: {sentence}")


if __name__ == "__main__":
    main()
