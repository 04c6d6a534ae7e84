"""The hash-consed scalar graph: Kane's Z list, built as it is written.

Two equal expressions are one node from the moment they are built. Rules that cost nothing are applied at
construction (0, 1, signs pulled outwards, constants folded, commuted operands ordered). Node ids are integers in
topological order, so every pass over a graph is one loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from ..errors import ExpressionError
from .ops import TABLE

CONST, INPUT = "const", "input"
ZERO, ONE = 0, 1  # the first nodes of every graph: vectors along axes make them an argument of most operations

_RATIONAL = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
}
"""Operations that constants fold by in exact arithmetic."""

_DIGITS = 1024  # bits of a denominator kept exactly; longer ones start again from their float
_ROUND = 4e-16  # sin and cos of constants this close to 0, 1/2 or 1 are meant to be it: cos(90 deg) = 0

Scalar = "Expr | float | int"


class Graph:
    """An append-only list of nodes `(op, args)`; `args` of a constant is its value, of an input its name."""

    __slots__ = ("_fractions", "_table", "args", "inputs", "ops", "provenance")

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.args: list[tuple] = []
        self.inputs: dict[str, int] = {}
        self.provenance: dict[int, str] = {}
        self._table: dict[tuple, int] = {}
        self._fractions: dict[int, Fraction] = {}
        self._node(CONST, (0.0,))
        self._node(CONST, (1.0,))

    def __len__(self) -> int:
        return len(self.ops)

    def __repr__(self) -> str:
        return f"<Graph of {len(self)} nodes, {len(self.inputs)} inputs>"

    # leaves ------------------------------------------------------------------------------------------------------

    def input(self, name: str) -> Expr:
        """The input called `name`; the same node each time."""
        if name not in self.inputs:
            self.inputs[name] = self._node(INPUT, (name,))
        return Expr(self, self.inputs[name])

    def const(self, value: float) -> Expr:
        """The number `value`, finite."""
        return Expr(self, self._const(float(value)))

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
        key = op, args
        node = self._table.get(key)
        if node is None:
            node = self._table[key] = len(self.ops)
            self.ops.append(op)
            self.args.append(args)
        return node

    def _const(self, value: float) -> int:
        if not math.isfinite(value):
            raise ExpressionError(f"the constant {value} is not a finite number: check divisions by zero and overflow")
        return self._node(CONST, (value + 0.0,))  # + 0.0 makes -0.0 and 0.0 one node

    def build(self, op: str, *args: int) -> int:
        """The node `op(*args)`, after the construction rules."""
        rule = _ARITHMETIC.get(op)
        if rule is not None:
            return rule(self, *args)
        ops = self.ops
        for a in args:
            if ops[a] != CONST:
                break
        else:
            return self._fold(op, *args)
        rule = _RULES.get(op)
        if rule is not None:
            return rule(self, *args)
        return self._node(op, args)

    def _fold(self, op: str, *args: int) -> int:
        """The constant `op(*args)` of constants."""
        numbers = [self.args[a][0] for a in args]
        if op in _RATIONAL and not (op == "div" and numbers[1] == 0.0):
            return self._rational(_RATIONAL[op](*(self._exact(a) for a in args)))
        result = TABLE[op].value(*numbers)
        if op in ("sin", "cos") and abs(result - round(2.0 * result) / 2.0) < _ROUND:
            result = round(2.0 * result) / 2.0
        if not math.isfinite(result):
            shown = ", ".join(f"{x:g}" for x in numbers)
            raise ExpressionError(f"{op}({shown}) among constants is not a finite number")
        return self._const(result)

    def _exact(self, node: int) -> Fraction:
        """A constant as the decimal number that was written, or as the exact result of arithmetic on such numbers."""
        known = self._fractions.get(node)
        if known is None:
            known = self._fractions[node] = Fraction(repr(self.args[node][0]))
        return known

    def _rational(self, exact: Fraction) -> int:
        """The node of an exact result: 0.3 − 0.1 − 0.2 is 0, so terms that cancel on paper leave nothing behind."""
        try:
            node = self._const(float(exact))
        except OverflowError:
            raise ExpressionError("arithmetic among constants overflows: check units and powers") from None
        if exact.denominator.bit_length() <= _DIGITS:
            self._fractions.setdefault(node, exact)
        return node

    def note(self, exprs: Iterable[Expr], text: str) -> None:
        """Remember what nodes stand for; shown as comments in a printed program. The first note stays."""
        for e in exprs:
            if self.ops[e.id] not in (CONST, INPUT):
                self.provenance.setdefault(e.id, text)


class Expr:
    """A scalar expression: a node of a graph, with operators. Equal expressions compare equal."""

    __slots__ = ("graph", "id")

    def __init__(self, graph: Graph, node: int):
        self.graph = graph
        self.id = node

    def _with(self, other: Expr | float) -> int | None:
        """The node of `other` in this graph; None if it is nothing that expressions work on."""
        if isinstance(other, (Expr, int, float)):
            return self.graph.lift(other).id
        return None

    def _binary(self, op: str, other: Expr | float, swap: bool = False) -> Expr:
        g, b = self.graph, self._with(other)
        if b is None:
            return NotImplemented
        return Expr(g, g.build(op, b, self.id) if swap else g.build(op, self.id, b))

    def __add__(self, other: Expr | float) -> Expr:
        g = self.graph
        if type(other) is Expr and other.graph is g:
            a, b = self.id, other.id
            return self if b == ZERO else other if a == ZERO else Expr(g, _add(g, a, b))
        return self._binary("add", other)

    __radd__ = __add__

    def __sub__(self, other: Expr | float) -> Expr:
        g = self.graph
        if type(other) is Expr and other.graph is g:
            b = other.id
            return self if b == ZERO else Expr(g, _sub(g, self.id, b))
        return self._binary("sub", other)

    def __rsub__(self, other: Expr | float) -> Expr:
        return self._binary("sub", other, swap=True)

    def __mul__(self, other: Expr | float) -> Expr:
        g = self.graph
        if type(other) is Expr and other.graph is g:
            a, b = self.id, other.id
            if a <= ONE:
                return self if a == ZERO else other
            if b <= ONE:
                return other if b == ZERO else self
            return Expr(g, _mul(g, a, b))
        return self._binary("mul", other)

    __rmul__ = __mul__

    def __truediv__(self, other: Expr | float) -> Expr:
        return self._binary("div", other)

    def __rtruediv__(self, other: Expr | float) -> Expr:
        return self._binary("div", other, swap=True)

    def __neg__(self) -> Expr:
        return self._unary("neg")

    def __pos__(self) -> Expr:
        return self

    def __pow__(self, exponent: float) -> Expr:
        """Powers by small integers become multiplications; 0.5 is the square root."""
        if exponent == 0.5:
            return self.sqrt()
        if exponent != int(exponent) or abs(exponent) > 64:
            raise ExpressionError(f"power {exponent}: only integers up to 64 in size and 0.5 are powers here")
        n = int(abs(exponent))
        result, square = self.graph.const(1.0), self
        while n:
            if n & 1:
                result = result * square
            n >>= 1
            if n:
                square = square * square
        return 1.0 / result if exponent < 0 else result

    def _unary(self, op: str) -> Expr:
        return Expr(self.graph, self.graph.build(op, self.id))

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
        return self.graph.value(self.id)

    @property
    def is_zero(self) -> bool:
        return self.number == 0.0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Expr):
            return self.graph is other.graph and self.id == other.id
        return isinstance(other, (int, float)) and self.number == other

    def __hash__(self) -> int:
        return hash((id(self.graph), self.id))

    def __bool__(self) -> bool:
        raise ExpressionError("an expression has no truth value: write select(condition, then, otherwise)")

    def __repr__(self) -> str:
        return _shown(self.graph, self.id, depth=4)


def _shown(g: Graph, node: int, depth: int) -> str:
    op, args = g.ops[node], g.args[node]
    if op == INPUT:
        return args[0]
    if op == CONST:
        return f"{args[0]:g}"
    if not depth:
        return f"z{node}"
    inner = [_shown(g, a, depth - 1) for a in args]
    infix = TABLE[op].infix
    return f"({inner[0]} {infix} {inner[1]})" if infix else f"{op}({', '.join(inner)})"


# construction rules: each returns the node that stands for op(args) ------------------------------------------------


def _strip(g: Graph, node: int) -> tuple[bool, int]:
    """(negative, x) such that node = −x or x; constants are stripped to their size."""
    op = g.ops[node]
    if op == "neg":
        return True, g.args[node][0]
    if op == CONST and g.args[node][0] < 0:
        return True, g._const(-g.args[node][0])
    return False, node


_SIGNED = (CONST, "neg")  # operations with a sign that can be stripped


def _signed(g: Graph, negative: bool, node: int) -> int:
    return g.build("neg", node) if negative else node


def _factor(g: Graph, node: int) -> tuple[float, int]:
    """(c, x) such that node = c x with c a number and x neither a product with a number nor a sign change."""
    ops, sign = g.ops, 1.0
    if ops[node] == "neg":
        sign, node = -1.0, g.args[node][0]
    if ops[node] == "mul":
        c, x = g.args[node]
        if ops[c] == CONST:
            return sign * g.args[c][0], x
    return sign, node


def _add(g: Graph, a: int, b: int) -> int:
    ops, args = g.ops, g.args
    op_a, op_b = ops[a], ops[b]
    if op_a == CONST or op_b == CONST:
        number, x = (a, b) if op_a == CONST else (b, a)
        if number == ZERO:
            return x
        op_x = ops[x]
        if op_x == CONST:
            return a if b == ZERO else g._fold("add", a, b)
        if op_x != "neg" and args[number][0] < 0:
            return _sub(g, x, g._const(-args[number][0]))
    if op_b == "neg":
        return _sub(g, a, args[b][0])
    if op_a == "neg":
        return _sub(g, b, args[a][0])
    (ca, xa), (cb, xb) = _factor(g, a), _factor(g, b)
    if xa == xb and a != b:
        return g.build("mul", g._const(ca + cb), xa)
    if op_a == "sub" and args[a][1] == b:  # (p − q) + q
        return args[a][0]
    if op_b == "sub" and args[b][1] == a:
        return args[b][0]
    if op_a == CONST or (op_b != CONST and b < a):
        a, b = b, a
    return g._node("add", (a, b))


def _less(g: Graph, a: int, b: int) -> int | None:
    """a − b where b is a term of a: (b + x) − b or (b − x) − b; None where it is not."""
    if g.ops[a] == "add" and b in g.args[a]:
        x, y = g.args[a]
        return y if x == b else x
    return g.build("neg", g.args[a][1]) if g.ops[a] == "sub" and g.args[a][0] == b else None


def _sub(g: Graph, a: int, b: int) -> int:
    if b == ZERO:
        return a
    if a == b:
        return ZERO
    ops, args = g.ops, g.args
    op_a, op_b = ops[a], ops[b]
    if op_b == CONST:
        if op_a == CONST:
            return g._fold("sub", a, b)
        if args[b][0] < 0:
            return _add(g, a, g._const(-args[b][0]))
    if a == ZERO:
        return g.build("neg", b)
    if op_b == "neg":
        return _add(g, a, args[b][0])
    if op_a == "neg":
        return g.build("neg", _add(g, args[a][0], b))
    (ca, xa), (cb, xb) = _factor(g, a), _factor(g, b)
    if xa == xb:
        return g.build("mul", g._const(ca - cb), xa)
    rest = _less(g, a, b)
    if rest is not None:
        return rest
    rest = _less(g, b, a)
    if rest is not None:
        return g.build("neg", rest)
    opposite = g._table.get(("sub", (b, a)))
    if opposite is not None and ("sub", (a, b)) not in g._table:
        return g.build("neg", opposite)
    return g._node("sub", (a, b))


def _mul(g: Graph, a: int, b: int) -> int:
    ops, args = g.ops, g.args
    op_a, op_b = ops[a], ops[b]
    if op_a not in _SIGNED and op_b not in _SIGNED:
        return g._node("mul", (a, b) if a < b else (b, a))
    if a <= ONE:
        return a if a == ZERO else b
    if b <= ONE:
        return b if b == ZERO else a
    if op_a == CONST and op_b == CONST:
        return g._fold("mul", a, b)
    na, a = _strip(g, a)
    nb, b = _strip(g, b)
    if ops[b] == CONST or (b < a and ops[a] != CONST):
        a, b = b, a
    if a == ONE:
        return _signed(g, na != nb, b)
    if ops[a] == CONST and ops[b] == "mul" and ops[args[b][0]] == CONST:
        c, x = args[b]
        return _signed(g, na != nb, g.build("mul", g._fold("mul", a, c), x))
    node = g._node("mul", (a, b))
    return _neg(g, node) if na != nb else node


def _div(g: Graph, a: int, b: int) -> int:
    va, vb = g.value(a), g.value(b)
    if vb is not None:
        if vb == 0.0:
            raise ExpressionError(f"division of {_shown(g, a, 3)} by zero")
        return _mul(g, a, g._rational(1 / g._exact(b)))
    if va == 0.0:
        return a
    na, a = _strip(g, a)
    nb, b = _strip(g, b)
    return _signed(g, na != nb, g._const(1.0) if a == b else g._node("div", (a, b)))


def _neg(g: Graph, a: int) -> int:
    if g.ops[a] == "neg":
        return g.args[a][0]
    if g.ops[a] == "sub":
        x, y = g.args[a]
        swapped = g._table.get(("sub", (y, x)))
        if swapped is not None:
            return swapped
    return g._node("neg", (a,))


def _odd(op: str):
    def rule(g: Graph, a: int) -> int:
        negative, x = _strip(g, a)
        return _signed(g, negative, g._node(op, (x,)))

    return rule


def _even(op: str):
    def rule(g: Graph, a: int) -> int:
        return g._node(op, (_strip(g, a)[1],))

    return rule


def _abs(g: Graph, a: int) -> int:
    _, x = _strip(g, a)
    return x if g.ops[x] in ("abs", "sqrt", "exp") else g._node("abs", (x,))


def _idempotent(op: str):
    def rule(g: Graph, a: int, b: int) -> int:
        return a if a == b else g._node(op, (a, b))

    return rule


def _select(g: Graph, condition: int, then: int, otherwise: int) -> int:
    c = g.value(condition)
    if c is not None:
        return then if c else otherwise
    return then if then == otherwise else g._node("select", (condition, then, otherwise))


def _equal(g: Graph, a: int, b: int) -> int:
    return g._const(1.0) if a == b else g._node("equal", (min(a, b), max(a, b)))


_ARITHMETIC = {"add": _add, "sub": _sub, "mul": _mul}
"""Rules that fold constants themselves: nine of ten nodes are asked for by them, most with a 0 or a 1 in them."""

_RULES = {
    "div": _div,
    "neg": _neg,
    "sin": _odd("sin"),
    "cos": _even("cos"),
    "tan": _odd("tan"),
    "asin": _odd("asin"),
    "sign": _odd("sign"),
    "abs": _abs,
    "min": _idempotent("min"),
    "max": _idempotent("max"),
    "select": _select,
    "equal": _equal,
}
