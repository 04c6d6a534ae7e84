"""An expression as a formula on one line, which says all that it depends on: -cos(q2)*cos(q3)/sin(q2).

Factors of a product are collected, and cancelled where they are divided by; nothing else is changed. What would be
longer than a few lines is cut: `…` stands for what is not shown, never the number of a node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .ops import TABLE
from .rules import CONST, INPUT

LONGEST = 2000
"""Characters of a formula that is written in full: what is longer is a program's to tell, line by line."""

SHOWN = 4
"""Operations inside each other that are shown of an expression that is cut."""

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_Product = tuple[float, Mapping[int, int]]  # a coefficient times powers of nodes that are no products


class Nodes(Protocol):
    """What is read of a graph."""

    ops: list[str]
    args: list[tuple[Any, ...]]


def write_formula(graph: Nodes, node: int, nodes: Sequence[int]) -> str:
    """The formula of a node; `nodes` are those that it is computed from and itself, in topological order."""
    found = _Formulas(graph)
    for each in nodes:
        found.add(each)
        if len(found.texts[each]) > LONGEST:
            return cut_formula(graph, node)
    return found.texts[node]


def cut_formula(graph: Nodes, node: int, depth: int = SHOWN) -> str:
    """A node by its outermost operations."""
    op, args = graph.ops[node], graph.args[node]
    if op == INPUT:
        return args[0]
    if op == CONST:
        return f"{args[0]:g}"
    if not depth:
        return "…"
    inner = [cut_formula(graph, a, depth - 1) for a in args]
    infix = TABLE[op].infix
    return f"({inner[0]} {infix} {inner[1]})" if infix else f"{op}({', '.join(inner)})"


class _Formulas:
    """Texts of nodes, each made of those of its arguments."""

    def __init__(self, graph: Nodes):
        self.graph = graph
        self.texts: dict[int, str] = {}
        self._products: dict[int, _Product] = {}
        self._binds: dict[int, int] = {}

    def add(self, node: int) -> None:
        """The text of a node whose arguments have theirs."""
        op, args = self.graph.ops[node], self.graph.args[node]
        product = self._product(node, op, args)
        self._products[node] = product
        if product[1] == {node: 1}:
            self.texts[node], self._binds[node] = self._write(op, args)
        else:
            self.texts[node], self._binds[node] = self._write_product(product)

    def _product(self, node: int, op: str, args: tuple[Any, ...]) -> _Product:
        if op == CONST:
            return args[0], {}
        inner = [self._products[a] for a in args] if op in ("neg", "mul", "div", "pow") else []
        if op == "neg":
            return -inner[0][0], inner[0][1]
        if op == "mul":
            return inner[0][0] * inner[1][0], _multiply(inner[0][1], inner[1][1], 1)
        if op == "div" and inner[1][0]:
            return inner[0][0] / inner[1][0], _multiply(inner[0][1], inner[1][1], -1)
        if op == "pow" and inner[0][0] == 1 and not inner[1][1] and inner[1][0].is_integer():
            return 1.0, _multiply({}, inner[0][1], int(inner[1][0]))
        return 1.0, {node: 1}

    def _write_product(self, product: _Product) -> tuple[str, int]:
        size, powers = abs(product[0]), product[1]
        above = [self._power(node, n) for node, n in powers.items() if n > 0]
        below = [self._power(node, -n) for node, n in powers.items() if n < 0]
        if size != 1 or not above:
            above = [f"{size:.15g}", *above]
        text = "*".join(above)
        if below:
            text += f"/{below[0]}" if len(below) == 1 else f"/({'*'.join(below)})"
        alone = len(above) == 1 and not below
        sign = "-" if product[0] < 0 else ""
        return f"{sign}{text}", _SUM if sign else _POWER if alone and "**" in text else _ATOM if alone else _PRODUCT

    def _power(self, node: int, n: int) -> str:
        if n == 1:
            return self._operand(node, _PRODUCT)
        return f"{self._operand(node, _ATOM)}**{n}"

    def _operand(self, node: int, binds: int) -> str:
        """The text of a node, in parentheses where it binds less than is asked for."""
        return self.texts[node] if self._binds[node] >= binds else f"({self.texts[node]})"

    def _write(self, op: str, args: tuple[Any, ...]) -> tuple[str, int]:
        if op == INPUT:
            return args[0], _ATOM
        if op in ("add", "sub"):
            return self._sum(args[0], args[1], negative=op == "sub"), _SUM
        infix = TABLE[op].infix
        if infix == "**":
            return f"{self._operand(args[0], _ATOM)}**{self._operand(args[1], _ATOM)}", _POWER
        if infix:
            space = "" if infix == "/" else " "
            return f"({self._operand(args[0], _PRODUCT)}{space}{infix}{space}{self._operand(args[1], _ATOM)})", _ATOM
        return f"{op}({', '.join(self.texts[a] for a in args)})", _ATOM

    def _sum(self, first: int, second: int, *, negative: bool) -> str:
        left, right = self.texts[first], self.texts[second]
        if right.startswith("-") and self._products[second][0] < 0:
            negative, right = not negative, right[1:]
            whole = self._products[second][1] != {second: 1}
        else:
            whole = self._binds[second] > _SUM
        if left.startswith("-") and self._products[first][0] < 0 and not negative:
            return f"{right} - {left[1:]}" if whole else f"{left} + {right}"
        if negative and not whole:
            right = f"({right})"
        return f"{left} {'-' if negative else '+'} {right}"


def _multiply(first: Mapping[int, int], second: Mapping[int, int], n: int) -> dict[int, int]:
    """Powers of a product with the n-th power of another."""
    found = dict(first)
    for node, k in second.items():
        found[node] = found.get(node, 0) + n * k
    return {node: k for node, k in found.items() if k}
