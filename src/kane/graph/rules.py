"""Construction rules: what stands for op(args) in a graph, at no cost.

0 and 1 vanish, signs are pulled outwards, commuted operands ordered, terms that cancel leave nothing. Each rule gives
the node that stands for its operation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ExpressionError
from .ratios import over

if TYPE_CHECKING:
    from .graph import Graph

CONST, INPUT = "const", "input"
ZERO, ONE = 0, 1  # the first nodes of every graph: vectors along axes make them an argument of most operations


def _strip(g: Graph, node: int) -> tuple[bool, int]:
    """(negative, x) such that node = −x or x; constants are stripped to their size."""
    op = g.ops[node]
    if op == "neg":
        return True, g.args[node][0]
    if op == CONST and g.args[node][0] < 0:
        return True, g._const(-g.args[node][0])
    return False, node


_SIGNED = (CONST, "neg")  # operations with a sign that can be stripped


def _apply_sign(g: Graph, negative: bool, node: int) -> int:
    if not negative:
        return node
    return g._fold("neg", node) if g.ops[node] == CONST else negate(g, node)


def _like_terms(g: Graph, a: int, b: int) -> tuple[float, float, int] | None:
    """(ca, cb, x) such that a = ca x and b = cb x with numbers ca and cb; None where they have no such x."""
    ops, args = g.ops, g.args
    x, y = a, b
    if ops[a] == "mul" and ops[args[a][0]] == CONST:
        x = args[a][1]
    if ops[b] == "mul" and ops[args[b][0]] == CONST:
        y = args[b][1]
    if x != y:
        return None
    return 1.0 if x == a else args[args[a][0]][0], 1.0 if y == b else args[args[b][0]][0], x


def add(g: Graph, a: int, b: int) -> int:
    """The node of a + b."""
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
            return subtract(g, x, g._const(-args[number][0]))
    if op_b == "neg":
        return subtract(g, a, args[b][0])
    if op_a == "neg":
        return subtract(g, b, args[a][0])
    alike = _like_terms(g, a, b)
    if alike is not None and a != b:
        ca, cb, x = alike
        return multiply(g, g._const(ca + cb), x)
    if op_a == "sub" and args[a][1] == b:  # (p − q) + q
        return args[a][0]
    if op_b == "sub" and args[b][1] == a:
        return args[b][0]
    if op_a == CONST or (op_b != CONST and b < a):
        a, b = b, a
    return g._node("add", (a, b))


def _cancel_term(g: Graph, a: int, b: int) -> int | None:
    """a − b where b is a term of a: (b + x) − b or (b − x) − b; None where it is not."""
    if g.ops[a] == "add" and b in g.args[a]:
        x, y = g.args[a]
        return y if x == b else x
    return g.build("neg", g.args[a][1]) if g.ops[a] == "sub" and g.args[a][0] == b else None


def subtract(g: Graph, a: int, b: int) -> int:
    """The node of a − b."""
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
            return add(g, a, g._const(-args[b][0]))
    if a == ZERO:
        return g.build("neg", b)
    if op_b == "neg":
        return add(g, a, args[b][0])
    if op_a == "neg":
        return g.build("neg", add(g, args[a][0], b))
    alike = _like_terms(g, a, b)
    if alike is not None:
        ca, cb, x = alike
        return multiply(g, g._const(ca - cb), x)
    rest = _cancel_term(g, a, b)
    if rest is not None:
        return rest
    rest = _cancel_term(g, b, a)
    if rest is not None:
        return g.build("neg", rest)
    known = g._tables["sub"]
    opposite = known.get((b, a))
    if opposite is not None and (a, b) not in known:
        return g.build("neg", opposite)
    return g._node("sub", (a, b))


def multiply(g: Graph, a: int, b: int) -> int:
    """The node of a b."""
    ops, args = g.ops, g.args
    op_a, op_b = ops[a], ops[b]
    if op_a not in _SIGNED and op_b not in _SIGNED:  # by far the most: the node is made here, without a further call
        new, pair = len(ops), (a, b) if a < b else (b, a)
        node = g._tables["mul"].setdefault(pair, new)
        if node == new:
            ops.append("mul")
            args.append(pair)
        return node
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
        return _apply_sign(g, na != nb, b)
    if ops[a] == CONST and ops[b] == "mul" and ops[args[b][0]] == CONST:
        c, x = args[b]
        return _apply_sign(g, na != nb, multiply(g, g._fold("mul", a, c), x))
    node = g._node("mul", (a, b))
    return negate(g, node) if na != nb else node


def _div(g: Graph, a: int, b: int) -> int:
    va, vb = g.value(a), g.value(b)
    if vb is not None:
        if vb == 0.0:
            raise ExpressionError(f"division of {g.expr(a)!r} by zero")
        return multiply(g, a, g._rational(over((1, 1), g._exact(b))))
    if va == 0.0:
        return a
    na, a = _strip(g, a)
    nb, b = _strip(g, b)
    return _apply_sign(g, na != nb, g._const(1.0) if a == b else g._node("div", (a, b)))


def negate(g: Graph, a: int) -> int:
    """The node of −a, a no constant."""
    if g.ops[a] == "neg":
        return g.args[a][0]
    if g.ops[a] == "sub":
        x, y = g.args[a]
        swapped = g._tables["sub"].get((y, x))
        if swapped is not None:
            return swapped
    return g._node("neg", (a,))


def _odd_rule(op: str):
    def rule(g: Graph, a: int) -> int:
        negative, x = _strip(g, a)
        return _apply_sign(g, negative, g._node(op, (x,)))

    return rule


def _even_rule(op: str):
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


ARITHMETIC = {"add": add, "sub": subtract, "mul": multiply}
"""Rules that fold constants themselves: nine of ten nodes are asked for by them, most with a 0 or a 1 in them."""

RULES = {
    "div": _div,
    "neg": negate,
    "sin": _odd_rule("sin"),
    "cos": _even_rule("cos"),
    "tan": _odd_rule("tan"),
    "asin": _odd_rule("asin"),
    "sign": _odd_rule("sign"),
    "abs": _abs,
    "min": _idempotent("min"),
    "max": _idempotent("max"),
    "select": _select,
    "equal": _equal,
}
