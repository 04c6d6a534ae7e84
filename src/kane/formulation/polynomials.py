"""Quotients of determinants, which must not look singular where they are not: sin² + cos² = 1, common factors cancel.

An expression is multiplied out into a sum of products of atoms; pairs of terms that differ only in sin²(x) against
cos²(x) are merged, again and again; atoms common to all terms of a numerator and its denominator are dropped; the sums
are put together anew.
"""

from __future__ import annotations

from collections import Counter

from ..graph import Expr
from ..graph.graph import CONST

_ROUNDING = 1e-14  # a coefficient this small is left over from others that cancel
_TERMS = 256  # sums longer than this are left as they are

Monomial = tuple[int, ...]  # ids of the atoms, sorted, repeated as often as they occur


def quotient(numerator: Expr, denominator: Expr) -> Expr:
    """numerator / denominator, both contracted and without common factors."""
    top, bottom = _contract_squares(numerator), _contract_squares(denominator)
    if top is None or bottom is None:
        return numerator / denominator
    if not top:
        return numerator.graph.const(0.0)
    shared = _common_atoms([*top, *bottom])
    for atom in shared.elements():
        top, bottom = _divide_by_atom(top, atom), _divide_by_atom(bottom, atom)
    return _assemble(numerator, top) / _assemble(denominator, bottom)


def contracted_number(expr: Expr) -> float | None:
    """The number that an expression is at every state, where multiplying out and sin² + cos² = 1 show it; else None."""
    if expr.number is not None:
        return expr.number
    terms = _contract_squares(expr)
    if terms is None or any(monomial for monomial, k in terms.items() if abs(k) > _ROUNDING):
        return None
    return terms.get((), 0.0)


def _contract_squares(expr: Expr) -> dict[Monomial, float] | None:
    """The terms of `expr` with sin² + cos² contracted to 1."""
    terms = _expand(expr)
    while terms is not None and (pair := _pair(expr, terms)) is not None:
        sine, cosine, rest = pair
        merged = terms.pop(sine)
        terms.pop(cosine)
        terms[rest] = terms.get(rest, 0.0) + merged
    return terms


def _common_atoms(monomials: list[Monomial]) -> Counter[int]:
    """Atoms that divide all of them, as often as they do."""
    shared = Counter(monomials[0])
    for monomial in monomials[1:]:
        shared &= Counter(monomial)
    return shared


def _divide_by_atom(terms: dict[Monomial, float], atom: int) -> dict[Monomial, float]:
    out = {}
    for monomial, coefficient in terms.items():
        rest = list(monomial)
        rest.remove(atom)
        out[tuple(rest)] = coefficient
    return out


def _expand(expr: Expr) -> dict[Monomial, float] | None:
    """The terms of a polynomial in atoms, or None where there are too many."""
    graph = expr.graph
    known: dict[int, dict[Monomial, float]] = {}
    stack = [expr.id]
    while stack:
        node = stack[-1]
        op, args = graph.ops[node], graph.args[node]
        if op == CONST:
            known[node] = {(): args[0]}
        elif op not in ("add", "sub", "neg", "mul"):
            known[node] = {(node,): 1.0}
        elif missing := [a for a in args if a not in known]:
            stack.extend(missing)
            continue
        else:
            known[node] = _combine(op, [known[a] for a in args])
            if len(known[node]) > _TERMS:
                return None
        stack.pop()
    return known[expr.id]


def _combine(op: str, parts: list[dict[Monomial, float]]) -> dict[Monomial, float]:
    out: dict[Monomial, float] = {}
    if op == "mul":
        for a, x in parts[0].items():
            for b, y in parts[1].items():
                key = tuple(sorted(a + b))
                out[key] = out.get(key, 0.0) + x * y
    else:
        signs = (-1.0,) if op == "neg" else (1.0, -1.0 if op == "sub" else 1.0)
        for sign, part in zip(signs, parts, strict=True):
            for a, x in part.items():
                out[a] = out.get(a, 0.0) + sign * x
    return {m: c for m, c in out.items() if c}


def _pair(expr: Expr, terms: dict[Monomial, float]) -> tuple[Monomial, Monomial, Monomial] | None:
    """(term with sin², term with cos², what both have besides), with equal coefficients."""
    graph = expr.graph
    for monomial, coefficient in terms.items():
        for atom, times in Counter(monomial).items():
            if times < 2 or graph.ops[atom] != "sin":
                continue
            rest = list(monomial)
            rest.remove(atom)
            rest.remove(atom)
            cosine = graph.build("cos", graph.args[atom][0])
            other = tuple(sorted([*rest, cosine, cosine]))
            if terms.get(other) == coefficient:
                return monomial, other, tuple(rest)
    return None


def _assemble(expr: Expr, terms: dict[Monomial, float]) -> Expr:
    graph = expr.graph
    total = graph.const(0.0)
    for monomial, coefficient in terms.items():
        product = graph.const(coefficient)
        for atom in monomial:
            product = product * graph.expr(atom)
        total = total + product
    return total
