"""One text for one expression, whatever the history of its graph.

Which of a + b and b + a, or of a − b and −(b − a), a graph holds depends on what was built in it before. `normal_text`
writes both alike: operands that commute are sorted, signs go as far out as they can, and a difference is turned round
rather than negated. None of this changes a floating-point value. The text is of the grammar of model files and reads
back as the same expression, in any graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..errors import ExpressionError
from ..graph import Expr, Graph, reachable
from .expression import MAX_LENGTH

_SUM, _PRODUCT, _ATOM = range(3)
_ODD = frozenset({"sin", "tan", "asin", "sign"})
_EVEN = frozenset({"cos", "abs"})
_COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "=="}


@dataclass(frozen=True, slots=True)
class _Form:
    """A node as `sign` times its upright form; text of the upright form and of its negative; how tightly they bind.

    Of x and −x exactly one is upright, whichever of the two a graph holds.
    """

    sign: int
    upright: str
    negative: str
    binds: int

    def text(self, sign: int = 1) -> str:
        """The text of the node times `sign`."""
        return self.upright if self.sign * sign > 0 else self.negative

    def parenthesize(self, *binds: int) -> str:
        """The upright form as an operand: in parentheses where it binds as loosely as any of `binds`."""
        return f"({self.upright})" if self.binds in binds else self.upright

    def times(self, sign: int) -> _Form:
        return _Form(self.sign * sign, self.upright, self.negative, self.binds)


def number_text(value: float) -> str:
    """The shortest text of a number that reads back as the same float64."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def normal_text(expr: Expr) -> str:
    """The normal text of an expression; what is shared is repeated, so a text beyond `MAX_LENGTH` is refused."""
    graph = expr.graph
    forms: dict[int, _Form] = {}
    for node in reachable(graph, [expr.id]):
        form = forms[node] = _form(graph, node, forms)
        if len(form.upright) > MAX_LENGTH - 1:
            raise ExpressionError(f"an expression takes more than {MAX_LENGTH} characters to write out")
    return forms[expr.id].text()


def _form(graph: Graph, node: int, forms: dict[int, _Form]) -> _Form:
    op, args = graph.ops[node], graph.args[node]
    if op == "input":
        return _signed_form(1, args[0], _ATOM)
    if op == "const":
        return _signed_form(-1 if args[0] < 0 else 1, number_text(abs(args[0])), _ATOM)
    parts = [forms[a] for a in args]
    if op == "neg":
        return parts[0].times(-1)
    if op in ("add", "sub"):
        return _sum(parts, (1, 1 if op == "add" else -1))
    if op in ("mul", "div"):
        return _product(op, parts)
    if op in _ODD:
        return _signed_form(parts[0].sign, f"{op}({parts[0].upright})", _ATOM)
    if op in _EVEN:
        return _signed_form(1, f"{op}({parts[0].upright})", _ATOM)
    if op == "pow":
        base, exponent = parts
        inner = base.upright if base.binds == _ATOM and base.sign > 0 else f"({base.text()})"
        return _signed_form(1, f"{inner}**{exponent.text()}", _PRODUCT)
    texts = [p.text() for p in parts]
    if op in _COMPARISONS:
        texts = sorted(texts) if op == "equal" else texts
        return _signed_form(1, f"({texts[0]} {_COMPARISONS[op]} {texts[1]})", _ATOM)
    return _signed_form(1, f"{op}({', '.join(texts)})", _ATOM)


def _signed_form(sign: int, text: str, binds: int) -> _Form:
    return _Form(sign, text, f"-{text}", binds)


def _sum(parts: Sequence[_Form], signs: Sequence[int]) -> _Form:
    """x ± y. Upright is the form whose first operand, sums before others and then by text, has a positive sign."""
    terms = sorted(
        ((p.times(s) for p, s in zip(parts, signs, strict=True))), key=lambda p: (p.binds != _SUM, p.upright)
    )
    sign = terms[0].sign
    return _Form(sign, _sum_text([t.times(sign) for t in terms]), _sum_text([t.times(-sign) for t in terms]), _SUM)


def _sum_text(terms: Sequence[_Form]) -> str:
    """A sum of two terms. A sum inside takes its sign in; where one term is negative the positive one comes first."""
    first, second = terms
    if first.binds != _SUM and first.sign < 0 < second.sign:
        first, second = second, first
    if second.binds == _SUM:
        return f"{first.text()} + ({second.text()})"
    return f"{first.text()} {'-' if second.sign < 0 else '+'} {second.upright}"


def _product(op: str, parts: Sequence[_Form]) -> _Form:
    left, right = parts
    sign = left.sign * right.sign
    if op == "div":
        return _signed_form(sign, f"{left.parenthesize(_SUM)}/{right.parenthesize(_SUM, _PRODUCT)}", _PRODUCT)
    if left.upright == right.upright:
        return _signed_form(sign, f"{left.parenthesize(_SUM, _PRODUCT)}**2", _PRODUCT)
    left, right = sorted(parts, key=lambda p: (p.binds != _PRODUCT, p.upright))
    return _signed_form(sign, f"{left.parenthesize(_SUM)}*{right.parenthesize(_SUM, _PRODUCT)}", _PRODUCT)
