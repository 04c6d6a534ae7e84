"""Every threshold of rank or singularity is in one table: others are found by their names and by how they are used."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from style.source import PACKAGE, python_files, relative

TABLE = PACKAGE / "constraints" / "thresholds.py"

WORDS = {"RANK", "SINGULAR", "REDUNDANT", "DEPENDENT", "PIVOT", "MASSLESS", "LOCKED", "LOCK", "WEAK", "FIRM", "REGULAR"}
"""Words in the name of a constant that say what it is for."""

OPTIONS = {"rcond", "rtol", "tol", "hermitian"}
RANKING = {"lstsq", "pinv", "matrix_rank", "null_space", "orth"}
"""Functions of linear algebra that judge a rank, and the options by which they are told how."""

SPECTRUM = {"svd", "svdvals", "cond", "eigvalsh", "eigh"}
"""Functions whose values are compared where a rank or a singular matrix is judged."""

SMALL = 1e-2
"""A number below this (but zero), or above its inverse, beside such values is a threshold."""


def numbers(node: ast.AST) -> Iterator[float]:
    """The numbers written in an expression."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, int | float) and part.value is not True:
            yield float(part.value)


def is_threshold(value: float) -> bool:
    """Whether a number is small or large enough to be one."""
    return 0.0 < abs(value) < SMALL or abs(value) > 1.0 / SMALL


def called(node: ast.AST) -> str:
    """The name of the function that is called, or ""."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def assigned_names(node: ast.AST) -> Iterator[tuple[str, ast.AST | None]]:
    """Names that a statement gives values to, each with the expression."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name):
                    yield part.id, node.value
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id, node.value


def named_thresholds(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Constants of a module whose names say rank or singularity."""
    for node in tree.body:
        for name, value in assigned_names(node):
            if value is not None and WORDS & set(name.strip("_").split("_")) and any(map(is_threshold, numbers(value))):
                yield node.lineno, f"constant '{name}'"


def options(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Numbers given to functions that judge a rank."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in RANKING:
            for keyword in node.keywords:
                if keyword.arg in OPTIONS and any(map(is_threshold, numbers(keyword.value))):
                    yield node.lineno, f"{keyword.arg} of {called(node)}"


def comparisons(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Comparisons of singular values or conditions with numbers, in the function in which they were computed."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not any(called(p) in SPECTRUM for p in ast.walk(function)):
            continue
        values = {
            name
            for node in ast.walk(function)
            for name, value in assigned_names(node)
            if value is not None and any(called(part) in SPECTRUM for part in ast.walk(value))
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and any(map(is_threshold, numbers(node))):
                used = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
                if used & values or any(called(part) in SPECTRUM for part in ast.walk(node)):
                    yield node.lineno, "comparison of singular values or conditions"


def thresholds(source: str) -> list[str]:
    """The thresholds that a source defines, each as `line: what`."""
    tree = ast.parse(source)
    found = {*named_thresholds(tree), *options(tree), *comparisons(tree)}
    return [f"{line}: {what}" for line, what in sorted(found)]


def test_thresholds_are_in_the_table() -> None:
    elsewhere = [
        f"{relative(path)}:{sentence}"
        for path in python_files("src")
        if path != TABLE
        for sentence in thresholds(path.read_text(encoding="utf-8"))
    ]
    assert not elsewhere, f"define it in {relative(TABLE)}, with its reason:\n" + "\n".join(elsewhere)


@pytest.mark.parametrize(
    "source",
    [
        "SINGULAR = 1e-6",
        "_RANK: float = 1e-10",
        "LOST, RANK = 1e-5, 0.1",
        "x = np.linalg.lstsq(A, b, rcond=1e-11)",
        "r = np.linalg.matrix_rank(A, tol=1e-9 * size)",
        "def f(A):\n    _, s, _ = np.linalg.svd(A)\n    return (s > 1e-9 * s.max()).sum()",
        "def f(A):\n    return np.linalg.cond(A) > 1e5",
    ],
)
def test_a_threshold_is_found_in_every_form(source: str) -> None:
    assert thresholds(source)


@pytest.mark.parametrize(
    "source",
    [
        "from ..constraints.thresholds import REDUNDANT",
        "x = np.linalg.lstsq(A, b, rcond=REDUNDANT)",
        "x = np.linalg.lstsq(A, b, rcond=None)",
        "_STEPS = 200",
        "def f(A):\n    _, s, _ = np.linalg.svd(A)\n    return s > REDUNDANT * s.max(initial=0.0)",
    ],
)
def test_the_use_of_the_table_is_none(source: str) -> None:
    assert not thresholds(source)


def test_every_entry_of_the_table_has_a_reason_and_is_used() -> None:
    body = ast.parse(TABLE.read_text(encoding="utf-8")).body
    entries = [(i, name) for i, node in enumerate(body) for name, _ in assigned_names(node)]
    texts = {p: p.read_text(encoding="utf-8") for p in python_files("src")}
    for i, name in entries:
        reason = body[i + 1]
        assert isinstance(reason, ast.Expr) and isinstance(reason.value, ast.Constant), f"{name} has no reason"
        assert sum(name in text for text in texts.values()) > 1 or texts[TABLE].count(name) > 1, f"{name} is not used"


def test_no_threshold_is_defined_twice() -> None:
    tree = ast.parse(TABLE.read_text(encoding="utf-8"))
    targets = [t for node in tree.body if isinstance(node, ast.Assign) for t in node.targets]
    names = [t.id for t in targets if isinstance(t, ast.Name)]
    assert sorted(names) == sorted(set(names))
