"""The hash-consed scalar graph: Kane's Z list, built as it is written.

Two equal expressions are one node from the moment they are built. Rules that cost nothing are applied at
construction (0, 1, signs pulled outwards, constants folded, commuted operands ordered). Node ids are integers in
topological order, so every pass over a graph is one loop.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from ..errors import ExpressionError
from .formula import cut_formula, write_formula
from .ops import TABLE
from .ratios import RATIONAL, Ratio, ratio, shorten_ratio
from .rules import ARITHMETIC, CONST, INPUT, ONE, RULES, ZERO, add, multiply, negate, subtract

_ROUND = 4e-16  # sin and cos of constants this close to 0, 1/2 or 1 are meant to be it: cos(90 deg) = 0

_LARGEST_PRODUCT = 64  # integers up to here are powers by multiplication, six squares and as many products at most

Scalar = "Expr | float | int"


class Graph:
    """An append-only list of nodes `(op, args)`; `args` of a constant is its value, of an input its name."""

    __slots__ = ("_numbers", "_powers", "_ratios", "_tables", "args", "inputs", "ops", "provenance")

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[tuple[Any, ...]] = []
        self.inputs: dict[str, int] = {}
        self.provenance: dict[int, str] = {}
        self._tables: defaultdict[str, dict[tuple, int]] = defaultdict(dict)  # operation → arguments → node
        self._numbers: dict[float, int] = {}  # constant → node; -0.0 and 0.0 are one key
        self._ratios: dict[int, Ratio] = {}
        self._powers: dict[tuple[int, int], int] = {}  # base, exponent → the product that stands for the power
        self._const(0.0)
        self._const(1.0)

    def __len__(self) -> int:
        return len(self.ops)

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} nodes, {len(self.inputs)} inputs>"

    # leaves ------------------------------------------------------------------------------------------------------

    def input(self, name: str) -> Expr:
        """The input called `name`; the same node each time."""
        node = self.inputs.get(name)
        if node is None:
            node = self.inputs[name] = len(self.ops)
            self.ops.append(INPUT)
            self.args.append((name,))
        return Expr(self, node)

    def const(self, value: float) -> Expr:
        """The number `value`, finite."""
        node = self._numbers.get(value)
        return Expr(self, self._new_const(float(value)) if node is None else node)

    def lift(self, x: Expr | float) -> Expr:
        """`x` as an expression of this graph."""
        if isinstance(x, Expr):
            if x.graph is not self:
                raise ExpressionError("an expression of another graph cannot be mixed in: build both in one model")
            return x
        return self.const(x)

    def expr(self, node: int) -> Expr:
        return Expr(self, node)

    def value(self, node: int) -> float | None:
        """The number a node stands for, or None if it is not a constant."""
        return self.args[node][0] if self.ops[node] == CONST else None

    # construction ------------------------------------------------------------------------------------------------

    def _node(self, op: str, args: tuple) -> int:
        ops = self.ops
        new = len(ops)
        node = self._tables[op].setdefault(args, new)
        if node == new:
            ops.append(op)
            self.args.append(args)
        return node

    def new_node(self, op: str, args: tuple) -> int:
        """The node `op(*args)`, which is known to be new and to be what the construction rules would make."""
        ops = self.ops
        node = self._tables[op][args] = len(ops)
        ops.append(op)
        self.args.append(args)
        return node

    def _const(self, value: float) -> int:
        node = self._numbers.get(value)
        return self._new_const(value) if node is None else node

    def _new_const(self, value: float) -> int:
        """The node of a constant that is not there yet."""
        if not math.isfinite(value):
            what = f"the constant {value} is not a finite number: check divisions by zero and overflow"
            raise ExpressionError(what)
        ops = self.ops
        node = self._numbers[value] = len(ops)
        ops.append(CONST)
        self.args.append((value,))
        return node

    def build(self, op: str, *args: int) -> int:
        """The node `op(*args)`, after the construction rules."""
        rule = ARITHMETIC.get(op)
        if rule is not None:
            return rule(self, *args)
        ops = self.ops
        for a in args:
            if ops[a] != CONST:
                break
        else:
            return self._fold(op, *args)
        rule = RULES.get(op)
        if rule is not None:
            return rule(self, *args)
        return self._node(op, args)

    def _fold(self, op: str, *args: int) -> int:
        """The constant `op(*args)` of constants."""
        exact = RATIONAL.get(op)
        if exact is not None and not (op == "div" and self.args[args[1]][0] == 0.0):
            known = self._ratios
            return self._rational(exact(*[known.get(a) or self._exact(a) for a in args]))
        numbers = [self.args[a][0] for a in args]
        result = TABLE[op].value(*numbers)
        if op in ("sin", "cos") and abs(result - round(2.0 * result) / 2.0) < _ROUND:
            result = round(2.0 * result) / 2.0
        if not math.isfinite(result):
            shown = ", ".join(f"{x:g}" for x in numbers)
            raise ExpressionError(f"{op}({shown}) among constants is not a finite number")
        return self._const(result)

    def _exact(self, node: int) -> Ratio:
        """A constant as the decimal number that was written, or as the exact result of arithmetic on such numbers."""
        known = self._ratios.get(node)
        if known is None:
            known = self._ratios[node] = ratio(self.args[node][0])
        return known

    def _rational(self, exact: Ratio) -> int:
        """The node of an exact result: 0.3 − 0.1 − 0.2 is 0, so terms that cancel on paper leave nothing behind."""
        try:
            node = self._const(exact[0] / exact[1])
        except OverflowError:
            raise ExpressionError("arithmetic among constants overflows: check units and powers") from None
        if node not in self._ratios and (short := shorten_ratio(exact)) is not None:
            self._ratios[node] = short
        return node

    def note(self, exprs: Iterable[Expr], text: str) -> None:
        """Remember what nodes stand for, up to their signs; shown as comments in a printed program. The first note
        stays."""
        for e in exprs:
            node = self.args[e.id][0] if self.ops[e.id] == "neg" else e.id
            if self.ops[node] not in (CONST, INPUT):
                self.provenance.setdefault(node, text)


class Expr:
    """A scalar expression: a node of a graph, with operators. Equal expressions compare equal."""

    __slots__ = ("graph", "id")

    def __init__(self, graph: Graph, node: int):
        self.graph = graph
        self.id = node

    def _operand(self, other: Expr | float) -> int | None:
        """The node of `other` in this graph; None if it is nothing that expressions work on."""
        if isinstance(other, (Expr, int, float)):
            return self.graph.lift(other).id
        return None

    def _binary(self, op: str, other: Expr | float, swap: bool = False) -> Expr:
        g = self.graph
        b = g._const(other) if type(other) is float else self._operand(other)
        if b is None:
            return NotImplemented
        return Expr(g, g.build(op, b, self.id) if swap else g.build(op, self.id, b))

    def __add__(self, other: Expr | float) -> Expr:
        g = self.graph
        if type(other) is Expr and other.graph is g:
            a, b = self.id, other.id
            return self if b == ZERO else other if a == ZERO else Expr(g, add(g, a, b))
        if type(other) is float:
            return Expr(g, add(g, self.id, g._const(other)))
        return self._binary("add", other)

    __radd__ = __add__

    def __sub__(self, other: Expr | float) -> Expr:
        g = self.graph
        if type(other) is Expr and other.graph is g:
            b = other.id
            return self if b == ZERO else Expr(g, subtract(g, self.id, b))
        if type(other) is float:
            return Expr(g, subtract(g, self.id, g._const(other)))
        return self._binary("sub", other)

    def __rsub__(self, other: Expr | float) -> Expr:
        if type(other) is float:
            g = self.graph
            return Expr(g, subtract(g, g._const(other), self.id))
        return self._binary("sub", other, swap=True)

    def __mul__(self, other: Expr | float) -> Expr:
        g = self.graph
        if type(other) is Expr and other.graph is g:
            a, b = self.id, other.id
            if a <= ONE:
                return self if a == ZERO else other
            if b <= ONE:
                return other if b == ZERO else self
            return Expr(g, multiply(g, a, b))
        if type(other) is float:
            if other == 1.0:  # as most slopes are
                return self
            return -self if other == -1.0 else Expr(g, multiply(g, self.id, g._const(other)))
        return self._binary("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Expr | float) -> Expr:
        return self._binary("div", other)

    def __rtruediv__(self, other: Expr | float) -> Expr:
        return self._binary("div", other, swap=True)

    def __neg__(self) -> Expr:
        g, a = self.graph, self.id
        return Expr(g, g._fold("neg", a) if g.ops[a] == CONST else negate(g, a))

    def __pos__(self) -> Expr:
        return self

    def __pow__(self, exponent: float) -> Expr:
        """Powers by small integers become multiplications, those by ±1/2 square roots; any other stays a power, nan for
        negative x unless the exponent is an integer."""
        if not math.isfinite(exponent):
            raise ExpressionError(f"power {exponent}: an exponent is a finite number")
        if abs(exponent) == 0.5:
            return self.sqrt() if exponent > 0 else 1.0 / self.sqrt()
        if exponent != int(exponent) or abs(exponent) > _LARGEST_PRODUCT:
            return self._binary("pow", float(exponent))
        n, g = int(abs(exponent)), self.graph
        known = g._powers.get((self.id, n))
        result = g.expr(self._product(n) if known is None else known)
        return 1.0 / result if exponent < 0 else result

    def _product(self, n: int) -> int:
        """The node of x x … x with n factors, by squares."""
        result, square, left = self.graph.const(1.0), self, n
        while left:
            if left & 1:
                result = result * square
            left >>= 1
            if left:
                square = square * square
        self.graph._powers[self.id, n] = result.id
        return result.id

    def _unary(self, op: str) -> Expr:
        g, a = self.graph, self.id
        if g.ops[a] == CONST:
            return Expr(g, g._fold(op, a))
        rule = RULES.get(op)
        return Expr(g, g._node(op, (a,)) if rule is None else rule(g, a))

    def sqrt(self) -> Expr:
        return self._unary("sqrt")

    def sin(self) -> Expr:
        return self._unary("sin")

    def cos(self) -> Expr:
        return self._unary("cos")

    def tan(self) -> Expr:
        return self._unary("tan")

    def asin(self) -> Expr:
        return self._unary("asin")

    def acos(self) -> Expr:
        return self._unary("acos")

    def atan2(self, x: Expr | float) -> Expr:
        """The angle whose tangent is self / x, in (−π, π]."""
        return self._binary("atan2", x)

    def exp(self) -> Expr:
        return self._unary("exp")

    def log(self) -> Expr:
        return self._unary("log")

    def __abs__(self) -> Expr:
        return self._unary("abs")

    def abs(self) -> Expr:
        return self._unary("abs")

    def sign(self) -> Expr:
        return self._unary("sign")

    def min(self, other: Expr | float) -> Expr:
        return self._binary("min", other)

    def max(self, other: Expr | float) -> Expr:
        return self._binary("max", other)

    def less(self, other: Expr | float) -> Expr:
        """1 where self < other, else 0."""
        return self._binary("less", other)

    def less_equal(self, other: Expr | float) -> Expr:
        return self._binary("less_equal", other)

    def equal(self, other: Expr | float) -> Expr:
        return self._binary("equal", other)

    def select(self, then: Expr | float, otherwise: Expr | float) -> Expr:
        """`then` where self is not zero, else `otherwise`."""
        g = self.graph
        return Expr(g, g.build("select", self.id, g.lift(then).id, g.lift(otherwise).id))

    @property
    def number(self) -> float | None:
        """The number this expression stands for, or None if it depends on inputs."""
        g, node = self.graph, self.id
        return g.args[node][0] if g.ops[node] == CONST else None

    @property
    def is_zero(self) -> bool:
        return self.id == ZERO

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Expr):
            return self.id == other.id and self.graph is other.graph
        return isinstance(other, (int, float)) and self.number == other

    def __hash__(self) -> int:
        return self.id

    def __bool__(self) -> bool:
        raise ExpressionError("an expression has no truth value: write select(condition, then, otherwise)")

    def __repr__(self) -> str:
        return cut_formula(self.graph, self.id)

    def __str__(self) -> str:
        from .passes import reachable  # which reads graphs

        return write_formula(self.graph, self.id, reachable(self.graph, [self.id]))
