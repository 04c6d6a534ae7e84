"""Sums of products as a textbook has them: powers collected, factors and terms in a fixed order.

A `Sum` is a tuple of `ProductTerm`s, each a coefficient times powers of atoms: symbols, functions such as sin(q1), and
sums that are divided by. Sums are added, multiplied and inverted; sin² + cos² is 1. Nothing is factored: a writer
collects terms by the speeds in them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

PARAMETER, COORDINATE, FUNCTION, NAMED, SPEED, RATE, EFFORT = range(7)
"""Kinds of factors in the order in which a product has them: numbers come before all of them."""

MASS, GRAVITY, OTHER = range(-2, 1)
"""Roles of parameters as places: m g L has masses and moments of inertia before gravity before lengths and others."""

Number = Fraction | float


@dataclass(frozen=True, slots=True)
class Symbol:
    """A letter: a parameter, coordinate, speed, rate (of a speed), effort, or a Z that is defined elsewhere."""

    name: str
    kind: int = PARAMETER
    place: int = OTHER  # among those of its kind, where they have an order; the role of a parameter
    indexed: str = ""  # m_C of a parameter mC, which mathematics has as m with an index

    def key(self) -> tuple[object, ...]:
        return (self.kind, self.place, natural(self.name))


@dataclass(frozen=True)
class FunctionOf:
    """A function of sums, such as sin, cos or sqrt."""

    function: str
    args: tuple[Sum, ...]

    @cached_property
    def _key(self) -> tuple[object, ...]:
        return (FUNCTION, 0, tuple(a.key() for a in self.args), self.function)

    @cached_property
    def _hash(self) -> int:
        return hash((self.function, self.args))

    def __hash__(self) -> int:
        return self._hash

    def key(self) -> tuple[object, ...]:
        return self._key


@dataclass(frozen=True)
class Group:
    """A sum as one factor: what is divided by."""

    inner: Sum

    def key(self) -> tuple[object, ...]:
        return (FUNCTION, 1, (self.inner.key(),), "")


Atom = Symbol | FunctionOf | Group
Powers = tuple[tuple[Atom, int], ...]


_NUMBER = (((COORDINATE, float("inf"), ()), 0),)
"""The place of a number by itself in a sum: after parameters and coordinates, before functions."""


@dataclass(frozen=True)
class ProductTerm:
    """A coefficient times powers of atoms, in order."""

    coefficient: Number
    powers: Powers

    @cached_property
    def _key(self) -> tuple[object, ...]:
        moving = tuple((a.key(), -n) for a, n in self.powers if is_moving(a))
        rest = tuple((a.key(), -n) for a, n in self.powers if not is_moving(a))
        return (*_dynamic_rank(self.powers), moving, rest or _NUMBER)

    def key(self) -> tuple[object, ...]:
        return self._key

    @property
    def size(self) -> int:
        """Factors that are written."""
        return sum(_atom_size(a) for a, _ in self.powers) + (abs(self.coefficient) != 1)


@dataclass(frozen=True)
class Sum:
    """Terms in order; no two of them have the same powers, none is zero."""

    terms: tuple[ProductTerm, ...]

    @cached_property
    def _hash(self) -> int:
        return hash(self.terms)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        from .notation import TEXT, write_sum  # which reads these sums

        return write_sum(self, TEXT)

    @staticmethod
    def of(terms: Mapping[Powers, Number]) -> Sum:
        found = (ProductTerm(c, powers) for powers, c in terms.items() if c)
        return Sum(tuple(sorted(found, key=ProductTerm.key)))

    def key(self) -> tuple[object, ...]:
        return tuple((t.key(), float(t.coefficient)) for t in self.terms)

    @property
    def is_zero(self) -> bool:
        return not self.terms

    @property
    def size(self) -> int:
        """Factors that are written, a little more for each term: how long it is to the eye."""
        return sum(1 + term.size for term in self.terms)

    def as_dict(self) -> dict[Powers, Number]:
        return {term.powers: term.coefficient for term in self.terms}

    def __neg__(self) -> Sum:
        return Sum(tuple(ProductTerm(-t.coefficient, t.powers) for t in self.terms))

    def __add__(self, other: Sum) -> Sum:
        return add([self, other])

    def __mul__(self, other: Sum) -> Sum:
        out: dict[Powers, Number] = {}
        for a in self.terms:
            for b in other.terms:
                powers = multiply_powers(a.powers, b.powers)
                out[powers] = out.get(powers, 0) + a.coefficient * b.coefficient
        return Sum.of(_shorten(out))

    def inverse(self) -> Sum:
        """One over it: term by term where there is one, else over the sum as a whole."""
        if len(self.terms) == 1:
            term = self.terms[0]
            one = Fraction(1) if isinstance(term.coefficient, Fraction) else 1.0
            return Sum.of({tuple((a, -n) for a, n in term.powers): one / term.coefficient})
        return Sum.of({((Group(self), -1),): Fraction(1)})


def symbol_sum(symbol: Atom) -> Sum:
    """An atom by itself."""
    return Sum.of({((symbol, 1),): Fraction(1)})


def function_sum(function: str, args: tuple[Sum, ...]) -> Sum:
    """A function of sums; the argument of a sine or cosine begins with a positive term, sin(b - a) is -sin(a - b)."""
    if function in _PARTNER and not args[0].is_zero and args[0].terms[0].coefficient < 0:
        turned = symbol_sum(FunctionOf(function, (-args[0],)))
        return -turned if function == "sin" else turned
    return symbol_sum(FunctionOf(function, args))


def number_sum(value: Number) -> Sum:
    """A number by itself."""
    return Sum.of({(): value})


def add(sums: Iterable[Sum]) -> Sum:
    """The sum of sums."""
    out: dict[Powers, Number] = {}
    for each in sums:
        for term in each.terms:
            out[term.powers] = out.get(term.powers, 0) + term.coefficient
    return Sum.of(_shorten({p: c for p, c in out.items() if not _is_rounding(c)}))


_ROUNDING = 1e-15  # a coefficient this small is left over from others that cancel


def _is_rounding(c: Number) -> bool:
    return isinstance(c, float) and abs(c) < _ROUNDING


def multiply_powers(first: Powers, second: Powers) -> Powers:
    """Powers of a product."""
    if not first or not second:
        return first or second
    found = dict(first)
    for atom, n in second:
        found[atom] = found.get(atom, 0) + n
    for atom, n in list(found.items()):
        if abs(n) >= 2 and isinstance(atom, FunctionOf) and atom.function == "sqrt":
            _square_root(found, atom, n)
    return tuple(sorted(((a, n) for a, n in found.items() if n), key=lambda item: item[0].key()))


def _square_root(powers: dict[Atom, int], root: FunctionOf, n: int) -> None:
    """Write √x to the n as x to the n/2, and one √x more where n is odd."""
    whole = int(n / 2)
    powers[root] = n - 2 * whole
    inner = root.args[0]
    plain = len(inner.terms) == 1 and inner.terms[0].coefficient == 1
    for atom, k in inner.terms[0].powers if plain else ((Group(inner), 1),):
        powers[atom] = powers.get(atom, 0) + k * whole


def _shorten(terms: dict[Powers, Number]) -> dict[Powers, Number]:
    """Terms without sin² + cos² and without what cancels with a sum that they are divided by."""
    terms = _contract_squares(terms)
    while (found := _find_multiple(terms)) is not None:
        divided, whole, c = found
        for powers in divided:
            del terms[powers]
        terms[whole] = terms.get(whole, 0) + c
        terms = _contract_squares({p: c for p, c in terms.items() if c})
    return terms


def _find_multiple(terms: Mapping[Powers, Number]) -> tuple[list[Powers], Powers, Number] | None:
    """Terms that together are c r S/S, or c r S/√S: (their powers, r or r √S, c)."""
    for powers, c in terms.items():
        for atom, n in powers:
            if n > 0 or isinstance(atom, Symbol):
                continue
            below = atom.inner if isinstance(atom, Group) else atom.args[0]
            if len(below.terms) == 1 or (isinstance(atom, FunctionOf) and atom.function != "sqrt"):
                continue
            first = below.terms[0]
            rest = multiply_powers(powers, tuple((a, -k) for a, k in first.powers))
            divided = [multiply_powers(term.powers, rest) for term in below.terms]
            size = c / first.coefficient
            if all(terms.get(p) == size * t.coefficient for p, t in zip(divided, below.terms, strict=True)):
                return divided, multiply_powers(rest, ((atom, 1 if isinstance(atom, Group) else 2),)), size
    return None


def _contract_squares(terms: dict[Powers, Number]) -> dict[Powers, Number]:
    """Terms with c sin²(x) r + c cos²(x) r written as c r, again and again."""
    while (pair := _find_pair(terms)) is not None:
        sine, cosine, rest = pair
        merged = terms.pop(sine)
        terms.pop(cosine)
        left = terms.get(rest, 0) + merged
        if left:
            terms[rest] = left
        else:
            terms.pop(rest, None)
    return terms


def _find_pair(terms: Mapping[Powers, Number]) -> tuple[Powers, Powers, Powers] | None:
    for powers, c in terms.items():
        for atom, n in powers:
            if n >= 2 and isinstance(atom, FunctionOf) and (other := _PARTNER.get(atom.function)):
                rest = multiply_powers(powers, ((atom, -2),))
                partner = multiply_powers(rest, ((FunctionOf(other, atom.args), 2),))
                if terms.get(partner) == c:
                    return powers, partner, rest
    return None


_PARTNER = {"sin": "cos", "cos": "sin"}


def merge_angles(total: Sum) -> Sum:
    """The sum with sin x cos y ± cos x sin y written as sin(x ± y), and cos x cos y ∓ sin x sin y as cos(x ± y)."""
    terms = total.as_dict()
    while (found := _find_angles(terms)) is not None:
        first, second, merged, c = found
        terms.pop(first)
        terms.pop(second)
        terms[merged] = terms.get(merged, 0) + c
    return Sum.of(terms)


def _find_angles(terms: Mapping[Powers, Number]) -> tuple[Powers, Powers, Powers, Number] | None:
    for powers, c in terms.items():
        calls = [a for a, n in powers if n >= 1 and isinstance(a, FunctionOf) and a.function in _PARTNER]
        for x in calls:
            for y in calls:
                if (x.function, y.function) not in (("sin", "cos"), ("cos", "cos")) or x.args == y.args:
                    continue
                rest = multiply_powers(powers, ((x, -1), (y, -1)))
                swapped = ((FunctionOf(_PARTNER[x.function], x.args), 1), (FunctionOf(_PARTNER[y.function], y.args), 1))
                other = multiply_powers(rest, tuple(sorted(swapped, key=lambda item: item[0].key())))
                if (d := terms.get(other)) is not None and abs(d) == abs(c) and other != powers:
                    same = (d == c) == (x.function == "sin")
                    angle = add([x.args[0], y.args[0] if same else -y.args[0]])
                    (term,) = function_sum(x.function, (angle,)).terms
                    return powers, other, multiply_powers(rest, term.powers), c * term.coefficient
    return None


def is_moving(atom: Atom) -> bool:
    """Whether an atom is a speed, the rate of one, or an effort."""
    return isinstance(atom, Symbol) and atom.kind in (SPEED, RATE, EFFORT)


def _dynamic_rank(powers: Powers) -> tuple[int, int]:
    """Terms with rates of speeds come first, then those with speeds, the highest power first, then all others."""
    kinds = {a.kind for a, _ in powers if isinstance(a, Symbol)}
    degree = sum(n for a, n in powers if isinstance(a, Symbol) and a.kind == SPEED)
    if RATE in kinds:
        return 0, 0
    return (1, -degree) if degree else (2 if EFFORT not in kinds else 3, 0)


def collect(total: Sum) -> list[tuple[Sum, Powers]]:
    """(coefficient, moving factors): terms with the same speeds, rates and efforts together, in their order."""
    return _collect(total, is_moving)


def collect_functions(total: Sum) -> list[tuple[Sum, Powers]]:
    """(coefficient, factors): terms with the same factors besides parameters together."""
    return _collect(total, lambda atom: not (isinstance(atom, Symbol) and atom.kind == PARAMETER))


def _collect(total: Sum, belongs: Callable[[Atom], bool]) -> list[tuple[Sum, Powers]]:
    found: dict[Powers, dict[Powers, Number]] = {}
    for term in total.terms:
        outside = tuple((a, n) for a, n in term.powers if belongs(a))
        inside = tuple((a, n) for a, n in term.powers if not belongs(a))
        found.setdefault(outside, {})[inside] = term.coefficient
    return [(Sum.of(inside), outside) for outside, inside in found.items()]


def take_out(total: Sum, *, below_only: bool = False) -> tuple[Number, Powers, Sum]:
    """(number, powers, rest) whose product a sum is: what all its terms have in common, the sign of the first among it;
    with `below_only`, what all of them are divided by."""
    common = dict(total.terms[0].powers)
    for term in total.terms[1:]:
        powers = dict(term.powers)
        for atom in list(common):
            n, m = common[atom], powers.get(atom, 0)
            shared = min(n, m) if n > 0 else max(n, m)
            if n * m <= 0 or not shared:
                del common[atom]
            else:
                common[atom] = shared
    if below_only:
        common = {a: n for a, n in common.items() if n < 0}
    factor: Number = Fraction(1)
    if not below_only:
        sizes = {abs(t.coefficient) for t in total.terms}
        factor = (sizes.pop() if len(sizes) == 1 else Fraction(1)) * (1 if total.terms[0].coefficient > 0 else -1)
    powers = tuple(sorted(common.items(), key=lambda item: item[0].key()))
    away = tuple((a, -n) for a, n in powers)
    rest = {multiply_powers(t.powers, away): t.coefficient / factor for t in total.terms}
    return factor, powers, Sum.of(rest)


def symbols_of(total: Sum) -> set[str]:
    """Names of all symbols in a sum."""
    found: set[str] = set()
    for term in total.terms:
        for atom, _ in term.powers:
            if isinstance(atom, Symbol):
                found.add(atom.name)
            else:
                inner = atom.args if isinstance(atom, FunctionOf) else (atom.inner,)
                for each in inner:
                    found |= symbols_of(each)
    return found


def _atom_size(atom: Atom) -> int:
    return 1 if isinstance(atom, Symbol) else 1 + sum(a.size - 1 for a in _inner(atom))


def _inner(atom: FunctionOf | Group) -> tuple[Sum, ...]:
    return atom.args if isinstance(atom, FunctionOf) else (atom.inner,)


@cache
def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """A key by which q2 comes before q10, and letters go by the alphabet whatever their case."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p.casefold() + p) for p in parts)


ZERO = Sum(())
ONE = number_sum(Fraction(1))
