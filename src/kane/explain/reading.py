"""Expressions of a graph read as sums of products, and the Z's that stand for what would be too long.

In a small system every expression is multiplied out. Where one of them becomes longer than `SMALL` terms, Z's are
introduced instead, as Kane and Levinson do: quantities of the derivation that are not short get a name when they are
met (`Reader.name`), and a product that would become too long names its factors. A node that has a name is a symbol in
all that is read later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from ..graph import Expr, Graph
from ..graph.graph import CONST, INPUT
from .algebra import NAMED, ONE, ZERO, Number, Sum, Symbol, add, function_sum, number_sum, symbol_sum

SMALL = 40
"""Terms of an expression that is still read from end to end."""

LONG = 110
"""Size, in factors, of an equation that is better written with Z's."""

SHORT = 2
"""Terms of a quantity that needs no Z of its own where there are Z's."""

_LARGEST_DENOMINATOR = 1000  # fractions such as 1/3 are meant; 0.333333333333333 is one of them


class TooLong(Exception):
    """An expression of a small system has more than `SMALL` terms."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A Z: its symbol, what it stands for in words, and its value, in which earlier ones may occur."""

    symbol: Symbol
    meaning: str
    value: Sum

    def __str__(self) -> str:
        return f"{self.symbol.name} = {self.value}    [{self.meaning}]"


class Reader:
    """Reads expressions of one graph. With `naming`, what is long gets a Z; without, it raises `TooLong`.

    `symbols` maps the names of inputs to symbols; `taken` are names that no Z may have.
    """

    def __init__(self, graph: Graph, symbols: Mapping[str, Symbol], *, naming: bool):
        self.graph = graph
        self.naming = naming
        self.definitions: list[Definition] = []
        self._symbols = symbols
        self._letter = "Z"
        while any(name.startswith(self._letter) and name[len(self._letter) :].isdecimal() for name in symbols):
            self._letter += "Z"
        self._known: dict[int, Sum] = {}
        self._named: dict[Sum, Sum] = {}
        self._about = ""

    def read(self, expr: Expr, about: str = "") -> Sum:
        """An expression as a sum; `about` says what it is, for the Z's that it may need."""
        self._about = about
        stack = [expr.id]
        ops, args = self.graph.ops, self.graph.args
        while stack:
            node = stack[-1]
            if node in self._known:
                stack.pop()
                continue
            missing = () if ops[node] in (CONST, INPUT) else [a for a in args[node] if a not in self._known]
            if missing:
                stack.extend(missing)
                continue
            self._known[node] = self._read_node(node)
            stack.pop()
        return self._known[expr.id]

    def name(self, expr: Expr, meaning: str) -> Sum:
        """The same, and where Z's are introduced, a Z for it if it is not short; all that is read later has that Z."""
        found = self.read(expr, meaning)
        if not self.naming or (len(found.terms) <= SHORT and found.size <= 2 * SHORT + 4):
            return found
        named = self.define(found, meaning)
        self._known[expr.id] = named
        if self.graph.ops[expr.id] == "neg":  # products have the sign outside
            self._known[self.graph.args[expr.id][0]] = -named
        return named

    def define(self, value: Sum, meaning: str) -> Sum:
        """A Z for a sum; the sum itself where that is as short."""
        if len(value.terms) <= 1 and value.size <= 2:
            return value
        if value in self._named:
            return self._named[value]
        place = len(self.definitions) + 1
        symbol = Symbol(f"{self._letter}{place}", NAMED, place)
        self.definitions.append(Definition(symbol, meaning, value))
        self._named[value] = symbol_sum(symbol)
        return self._named[value]

    # one node ----------------------------------------------------------------------------------------------------

    def _read_node(self, node: int) -> Sum:
        op, args = self.graph.ops[node], self.graph.args[node]
        if op == CONST:
            return number_sum(exact(args[0])) if args[0] else ZERO
        if op == INPUT:
            return symbol_sum(self._symbols.get(args[0], Symbol(args[0])))
        inner = [self._known[a] for a in args]
        if op in ("add", "sub", "neg"):
            return self._fit(add(inner if op == "add" else [*inner[:-1], -inner[-1]]))
        if op == "mul":
            return self._product(inner[0], inner[1])
        if op == "div":
            return self._product(inner[0], self._shorten(inner[1]).inverse())
        if op == "pow" and (n := _integer(inner[1])) is not None:
            return self._power(inner[0], n)
        return function_sum(op, tuple(map(self._shorten, inner)))

    def _shorten(self, inner: Sum) -> Sum:
        """What is divided by, or what a function is taken of: where Z's are introduced a long one becomes one."""
        return self.define(inner, self._part()) if self.naming and len(inner.terms) > 2 * SHORT else inner

    def _power(self, base: Sum, n: int) -> Sum:
        total = ONE
        for _ in range(abs(n)):
            total = self._product(total, base)
        return total.inverse() if n < 0 else total

    def _product(self, first: Sum, second: Sum) -> Sum:
        if len(first.terms) * len(second.terms) > SMALL:
            if not self.naming:
                raise TooLong
            if len(first.terms) >= len(second.terms):
                first = self.define(first, self._part())
            else:
                second = self.define(second, self._part())
            return self._product(first, second)
        return first * second

    def _fit(self, total: Sum) -> Sum:
        """A sum that is not too long: where Z's are introduced, the first terms become one."""
        while len(total.terms) > SMALL:
            if not self.naming:
                raise TooLong
            first, rest = Sum(total.terms[: SMALL // 2]), Sum(total.terms[SMALL // 2 :])
            total = add([self.define(first, self._part()), rest])
        return total

    def _part(self) -> str:
        return f"part of {self._about}" if self._about else "part of what follows"


def _integer(total: Sum) -> int | None:
    if len(total.terms) != 1 or total.terms[0].powers:
        return None
    value = total.terms[0].coefficient
    return int(value) if value == int(value) else None


def exact(value: float) -> Number:
    """A number as the fraction or the decimal that was meant; as it is where neither is short."""
    near = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    if float(near) == value:
        return near
    decimal = Fraction(repr(value))
    return decimal if len(repr(value)) <= 8 else value
