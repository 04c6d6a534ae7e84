"""Sums and vectors written down: in plain text that can be read back, in LaTeX, and in MathML.

`write_sum` decides what stands where (signs, collected speeds, numerators and denominators); a `Notation` knows how a
symbol, a power or a fraction looks. Products have numbers first, then parameters (masses, gravity, others), functions,
Z's and speeds.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from ..backends.mathml import GREEK, text_name
from ..backends.mathml import symbol as mathml_symbol
from ..backends.symbolic import latex_name
from .algebra import (
    COORDINATE,
    MASS,
    OTHER,
    PARAMETER,
    Atom,
    FunctionOf,
    Group,
    Number,
    Powers,
    Sum,
    Symbol,
    add,
    collect,
    collect_functions,
    is_moving,
    merge_angles,
    multiply_powers,
    take_out,
)
from .names import set_words
from .records import UnitVector, VectorSum

_SUPERSCRIPT = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_PLAIN_FRACTION = 12  # denominators up to here are written as fractions, others as decimals
_SEVERAL = 2  # factors that are worth to be taken out
_DIGITS = 6


class Notation(Protocol):
    """How the parts of a sum look; where a `bar` stands between numerator and denominator, they need no parentheses."""

    @property
    def bar(self) -> bool: ...
    def number(self, text: str) -> str: ...
    def ratio(self, top: str, bottom: str) -> str: ...
    def symbol(self, symbol: Symbol) -> str: ...
    def call(self, function: str, args: Sequence[str], power: int) -> str: ...
    def power(self, base: str, n: int) -> str: ...
    def product(self, factors: Sequence[str]) -> str: ...
    def fraction(self, top: str, bottom: str, several: bool) -> str: ...
    def parenthesize(self, inner: str) -> str: ...
    def join(self, parts: Sequence[tuple[str, str]]) -> str: ...
    def unit(self, unit: UnitVector) -> str: ...
    def quantity(self, what: str, body: str = "", r: int | None = None) -> str: ...
    def words(self, words: str) -> str: ...


def write_sum(total: Sum, notation: Notation, digits: int = _DIGITS) -> str:
    """A sum, its terms collected by the speeds in them; what all terms are divided by stands below all."""
    if total.is_zero:
        return notation.number("0")
    total = merge_angles(total)
    if len(total.terms) > 1:
        _, below, rest = take_out(total, below_only=True)
        if below:
            above = write_sum(rest, notation, digits)
            return _quotient(notation, [above if notation.bar else notation.parenthesize(above)], below, digits)
    parts = []
    for coefficient, moving in collect(total):
        if moving:
            parts.append(_factor_out(notation, coefficient, moving, digits))
        else:
            for alike in _alike(coefficient):
                parts += _plain(notation, alike, digits)
    return notation.join(parts)


def _alike(coefficient: Sum) -> list[list[tuple[Sum, Powers]]]:
    """(parameters, functions and coordinates) of a sum without speeds: those with the same product of parameters but
    for the sign together, and k l with k r."""
    pieces = collect_functions(coefficient)
    alone = [term for inner, outer in pieces if not outer for term in inner.terms]  # without coordinates
    found: dict[Sum | int, list[tuple[Sum, Powers]]] = {}
    for k, (inner, outer) in enumerate(pieces):
        lengths = bool(outer) and all(isinstance(a, Symbol) and a.kind == COORDINATE for a, _ in outer)
        key: Sum | int = k if outer else _ALONE
        if outer and len(inner.terms) == 1 and inner.terms[0].size >= (1 if lengths else _SEVERAL):
            key = inner if inner.terms[0].coefficient > 0 else -inner
        found.setdefault(key, []).append((inner, outer))
        if lengths and isinstance(key, Sum) and key.terms[0].powers:
            like = [term for term in alone if _divides(key.terms[0].powers, term.powers)]
            alone = [term for term in alone if term not in like]
            found[key] += [(Sum((term,)), ()) for term in like]
    if _ALONE in found:
        found[_ALONE] = [(Sum(tuple(alone)), ())]
    return [alike for alike in found.values() if not alike[0][0].is_zero]


_ALONE = -1


def _divides(powers: Powers, others: Powers) -> bool:
    """Whether a product of parameters is what another one is a multiple of."""
    rest = dict(multiply_powers(others, tuple((a, -n) for a, n in powers)))
    return all(n > 0 for n in rest.values())


def _plain(notation: Notation, alike: Sequence[tuple[Sum, Powers]], digits: int) -> list[tuple[str, str]]:
    """Parts of a sum without speeds: one, where its terms have something in common, else one for each."""
    if len(alike) > 1:
        return [_factor_out(notation, add(inner * Sum.of({outer: Fraction(1)}) for inner, outer in alike), (), digits)]
    ((inner, outer),) = alike
    if outer or (len(inner.terms) > 1 and take_out(inner)[1]):
        return [_factor_out(notation, inner, outer, digits)]
    return [_term(notation, term.coefficient, term.powers, digits) for term in inner.terms]


def _factor_out(notation: Notation, coefficient: Sum, outer: Powers, digits: int) -> tuple[str, str]:
    """(sign, text) of a coefficient times factors: what its terms have in common comes before the parenthesis."""
    if len(coefficient.terms) == 1:
        term = coefficient.terms[0]
        return _term(notation, term.coefficient, multiply_powers(term.powers, outer), digits)
    factor, common, rest = take_out(coefficient)
    sign, size = ("-", -factor) if factor < 0 else ("+", factor)
    first = [] if size == 1 else [_number(notation, size, digits)]
    inner = notation.parenthesize(write_sum(rest, notation, digits))
    plain = tuple((a, n) for a, n in common if isinstance(a, Symbol) and a.kind == PARAMETER and n > 0)
    last = MASS if all(_is_mass(term.powers) for term in rest.terms) else OTHER  # (m1 + m2) g L, but m L (a + b)
    before, after = (
        [_power(notation, a, n, digits) for a, n in plain if (a.place <= last) is b] for b in (True, False)
    )
    others = tuple(item for item in common if item not in plain)
    return sign, _quotient(notation, [*first, *before, inner, *after], multiply_powers(others, outer), digits)


def _is_mass(powers: Powers) -> bool:
    """Whether a product has masses or moments of inertia alone."""
    return all(isinstance(a, Symbol) and a.kind == PARAMETER and a.place == MASS for a, _ in powers)


def _term(notation: Notation, coefficient: Number, powers: Powers, digits: int) -> tuple[str, str]:
    """(sign, text) of a term."""
    sign, size = ("-", -coefficient) if coefficient < 0 else ("+", coefficient)
    factors = [] if size == 1 and any(n > 0 for _, n in powers) else [_number(notation, size, digits)]
    return sign, _quotient(notation, factors, powers, digits)


def _quotient(notation: Notation, factors: list[str], powers: Powers, digits: int = _DIGITS) -> str:
    top = factors + [_power(notation, a, n, digits) for a, n in powers if n > 0]
    bottom = [_power(notation, a, -n, digits) for a, n in powers if n < 0]
    above = notation.product(top) if top else notation.number("1")
    return notation.fraction(above, notation.product(bottom), len(bottom) > 1) if bottom else above


def _power(notation: Notation, atom: Atom, n: int, digits: int) -> str:
    if isinstance(atom, FunctionOf):
        return notation.call(atom.function, [write_sum(a, notation, digits) for a in atom.args], n)
    if isinstance(atom, Group):
        base = notation.parenthesize(write_sum(atom.inner, notation, digits))
    else:
        base = notation.symbol(atom)
    return base if n == 1 else notation.power(base, n)


def _number(notation: Notation, value: Number, digits: int) -> str:
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return notation.number(str(value.numerator))
        if value.denominator <= _PLAIN_FRACTION and value.denominator not in (5, 10):
            return notation.ratio(str(value.numerator), str(value.denominator))
    return notation.number(f"{float(value):.{digits}g}")


def write_vector(vector: VectorSum, notation: Notation, digits: int = _DIGITS) -> str:
    """A vector: measure numbers, in parentheses where they are sums or quotients, times unit vectors."""
    parts = []
    for unit, e in vector.parts:
        if len(e.terms) == 1 and not e.terms[0].powers and abs(e.terms[0].coefficient) == 1:
            parts.append(("-" if e.terms[0].coefficient < 0 else "+", notation.unit(unit)))
            continue
        sign, text = _measure_number(notation, e, digits)
        parts.append((sign, notation.product([text, notation.unit(unit)])))
    return notation.join(parts) if parts else notation.number("0")


def _measure_number(notation: Notation, e: Sum, digits: int) -> tuple[str, str]:
    """(sign, text) of what stands before a unit vector."""
    e = merge_angles(e)
    if len(e.terms) == 1:
        sign, text = _term(notation, e.terms[0].coefficient, e.terms[0].powers, digits)
        plain = notation.bar or all(n > 0 for _, n in e.terms[0].powers)
        return sign, text if plain else notation.parenthesize(text)
    if len(e.terms) > 1:
        factor, common, _ = take_out(e)
        if common and all(n > 0 for _, n in common) and not any(is_moving(a) for a, _ in common):
            return _factor_out(notation, e, (), digits)
        if abs(factor) != 1:
            return _factor_out(notation, e, (), digits)
        if notation.bar and take_out(e, below_only=True)[1]:
            return "+", write_sum(e, notation, digits)
    return "+", notation.parenthesize(write_sum(e, notation, digits))


class PlainText:
    """Plain text: q1' for rates, sin²(q1), factors apart by blanks, D.x for a unit vector; denominators come last."""

    bar = False

    def number(self, text: str) -> str:
        return text

    def ratio(self, top: str, bottom: str) -> str:
        return f"{top}/{bottom}"

    def symbol(self, symbol: Symbol) -> str:
        return text_name(symbol.name)

    def call(self, function: str, args: Sequence[str], power: int) -> str:
        raised = "" if power == 1 else str(power).translate(_SUPERSCRIPT)
        return f"{function}{raised}({', '.join(args)})"

    def power(self, base: str, n: int) -> str:
        return f"{base}{str(n).translate(_SUPERSCRIPT)}"

    def product(self, factors: Sequence[str]) -> str:
        return " ".join(factors)

    def fraction(self, top: str, bottom: str, several: bool) -> str:
        return f"{top}/({bottom})" if several else f"{top}/{bottom}"

    def parenthesize(self, inner: str) -> str:
        return f"({inner})"

    def join(self, parts: Sequence[tuple[str, str]]) -> str:
        return _join(parts, "-", "{} {} {}")

    def unit(self, unit: UnitVector) -> str:
        return f"{unit.frame}.{unit.axis}"

    def quantity(self, what: str, body: str = "", r: int | None = None) -> str:
        star = "*" if what.endswith("*") else ""
        index = "" if r is None else f"_{r}"
        letter = what.rstrip("*")
        at = f"({body}{'*' if letter in ('v', 'a') else ''})" if body else ""
        return f"{letter}{index}{star}{at}"

    def words(self, words: str) -> str:
        return words


class Latex:
    """LaTeX, for mathematics mode."""

    bar = True

    def number(self, text: str) -> str:
        mantissa, _, exponent = text.partition("e")
        return rf"{mantissa} \cdot 10^{{{int(exponent)}}}" if exponent else text

    def ratio(self, top: str, bottom: str) -> str:
        return rf"\tfrac{{{top}}}{{{bottom}}}"

    def symbol(self, symbol: Symbol) -> str:
        return latex_name(symbol.indexed or symbol.name)

    def call(self, function: str, args: Sequence[str], power: int) -> str:
        if function == "sqrt":
            return rf"\sqrt{{{args[0]}}}" if power == 1 else rf"\sqrt{{{args[0]}}}^{{{power}}}"
        name = rf"\{function}" if function in _LATEX_FUNCTIONS else rf"\operatorname{{{function}}}"
        raised = "" if power == 1 else f"^{{{power}}}"
        inner = ", ".join(args)
        return rf"{name}{raised}\left({inner}\right)"

    def power(self, base: str, n: int) -> str:
        return f"{{{base}}}^{{{n}}}"

    def product(self, factors: Sequence[str]) -> str:
        return r" \, ".join(factors)

    def fraction(self, top: str, bottom: str, several: bool) -> str:
        return rf"\frac{{{top}}}{{{bottom}}}"

    def parenthesize(self, inner: str) -> str:
        return rf"\left({inner}\right)"

    def join(self, parts: Sequence[tuple[str, str]]) -> str:
        return _join(parts, "-", "{} {} {}")

    def unit(self, unit: UnitVector) -> str:
        if len(unit.frame) == 1 and unit.frame.isalpha():
            return rf"\mathbf{{{unit.frame.lower()}}}_{unit.axis}"
        return rf"\hat{{\mathbf{{{unit.axis}}}}}_{{{latex_words(unit.frame)}}}"

    def quantity(self, what: str, body: str = "", r: int | None = None) -> str:
        letter = what.rstrip("*")
        shape = _LATEX_LETTERS.get(letter, letter)
        above = (latex_words(body) if body else "") + (r"*" if what.endswith("*") or letter in ("v", "a") else "")
        raised = f"^{{{above}}}" if above else ""
        return f"{shape}{'' if r is None else f'_{{{r}}}'}{raised}"

    def words(self, words: str) -> str:
        return latex_words(words)


class MathML:
    """MathML, which browsers set without help."""

    bar = True

    def number(self, text: str) -> str:
        mantissa, _, exponent = text.partition("e")
        shown = f"<mn>{mantissa}</mn>"
        return f"{shown}<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>" if exponent else shown

    def ratio(self, top: str, bottom: str) -> str:
        return f"<mfrac><mn>{top}</mn><mn>{bottom}</mn></mfrac>"

    def symbol(self, symbol: Symbol) -> str:
        return mathml_symbol(symbol.indexed or symbol.name)

    def call(self, function: str, args: Sequence[str], power: int) -> str:
        if function == "sqrt":
            root = f"<msqrt>{args[0]}</msqrt>"
            return root if power == 1 else f"<msup>{root}<mn>{power}</mn></msup>"
        name = f"<mi>{function}</mi>" if power == 1 else f"<msup><mi>{function}</mi><mn>{power}</mn></msup>"
        inner = "<mo>,</mo>".join(args)
        return f"<mrow>{name}<mo>&#x2061;</mo><mo>(</mo>{inner}<mo>)</mo></mrow>"

    def power(self, base: str, n: int) -> str:
        return f"<msup><mrow>{base}</mrow><mn>{n}</mn></msup>"

    def product(self, factors: Sequence[str]) -> str:
        return f"<mrow>{_THIN.join(factors)}</mrow>"

    def fraction(self, top: str, bottom: str, several: bool) -> str:
        if letters_of(top) > _LONG_FRACTION:
            above = self.parenthesize(top) if len(list(split_terms(top))) > 1 else top
            return f"<mrow>{above}<mo>/</mo>{self.parenthesize(bottom) if several else bottom}</mrow>"
        return f"<mfrac><mrow>{top}</mrow><mrow>{bottom}</mrow></mfrac>"

    def parenthesize(self, inner: str) -> str:
        return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"

    def join(self, parts: Sequence[tuple[str, str]]) -> str:
        minus, plus = "<mo>−</mo>", "<mo>+</mo>"
        first = f"{_NEGATIVE if parts[0][0] == '-' else ''}{parts[0][1]}"
        return first + "".join(f"{minus if sign == '-' else plus}{text}" for sign, text in parts[1:])

    def unit(self, unit: UnitVector) -> str:
        if len(unit.frame) == 1 and unit.frame.isalpha():
            name = f'<mi style="font-weight:bold">{unit.frame.lower()}</mi><mi>{unit.axis}</mi>'
            return f"<msub>{name}</msub>"
        axis = f'<mover accent="true"><mi style="font-weight:bold">{unit.axis}</mi><mo>^</mo></mover>'
        return f"<msub>{axis}<mtext>{html.escape(unit.frame)}</mtext></msub>"

    def quantity(self, what: str, body: str = "", r: int | None = None) -> str:
        letter = what.rstrip("*")
        bold = ' style="font-weight:bold"' if letter != "F" else ""
        stem = f"<mi{bold}>{letter}</mi>"
        star = "<mo>*</mo>" if what.endswith("*") or letter in ("v", "a") else ""
        above = f"<mrow>{f'<mtext>{html.escape(body)}</mtext>' if body else ''}{star}</mrow>"
        if r is None:
            return f"<msup>{stem}{above}</msup>" if body or star else stem
        return f"<msubsup>{stem}<mn>{r}</mn>{above}</msubsup>" if body or star else f"<msub>{stem}<mn>{r}</mn></msub>"

    def words(self, words: str) -> str:
        return f"<mtext>{html.escape(words)}</mtext>"


_MATH_TOKEN = re.compile(r"<mo>[+−]</mo>|</?[^>]*>")


def split_terms(total: str) -> Iterator[str]:
    """The terms of a sum, each with its sign: between them a line may end."""
    start = depth = 0
    for match in _MATH_TOKEN.finditer(total):
        if match[0] in ("<mo>+</mo>", "<mo>−</mo>"):
            if depth == 0:
                yield total[start : match.start()]
                start = match.start()
        elif not match[0].endswith("/>"):
            depth += -1 if match[0].startswith("</") else 1
    yield total[start:]


def letters_of(mathematics: str) -> int:
    """How many letters MathML has to the eye."""
    return len(re.sub("<[^>]*>|&#x206[12];", "", mathematics))


_LONG_FRACTION = 60
"""Letters above a bar; what is longer stands in parentheses before a stroke, where it can be wrapped."""
_NEGATIVE = '<mo form="prefix">−</mo>'
_THIN = '<mo>&#x2062;</mo><mspace width="0.17em"/>'
_LATEX_LETTERS = {"ω": r"\boldsymbol{\omega}", "α": r"\boldsymbol{\alpha}", "v": r"\mathbf{v}", "a": r"\mathbf{a}"}
_LATEX_FUNCTIONS = ("sin", "cos", "tan", "exp", "min", "max")


def _join(parts: Sequence[tuple[str, str]], minus: str, template: str) -> str:
    text = f"{minus if parts[0][0] == '-' else ''}{parts[0][1]}"
    for sign, part in parts[1:]:
        text = template.format(text, sign, part)
    return text


def latex_words(words: str) -> str:
    """Words for the mathematics mode of LaTeX."""
    return rf"\text{{{latex_text(words)}}}"


def latex_text(words: str) -> str:
    """Words for a paragraph of LaTeX: what commands it escaped, quantities such as v_2(bob*) and letters that its fonts
    do not have as mathematics."""
    return set_words(words, _latex_plain, lambda name: f"${latex_name(name)}$")


def _latex_plain(words: str) -> str:
    plain = "".join(c for c in words if c.isprintable() and c not in "\\^~")
    return "".join(
        _latex_quantity(part) if k % 2 else re.sub(r"([_#$%&{}])", r"\\\1", part).translate(_LATEX_SIGNS)
        for k, part in enumerate(_QUANTITY.split(plain))
    )


_QUANTITY = re.compile(
    r"((?<![\w.])[vωaαRTF](?:_\d+)?\*?\([^()*]+\*?\)|(?<![\w.])(?:[vωF]_[a-z\d]+|[Du]_[a-z\d]{1,2})\b)"
)
_LATEX_SIGNS = str.maketrans(
    {
        **{letter: rf"$\{name}$" for name, letter in GREEK.items() if len(letter) == 1},
        "·": r"$\cdot$",
        "×": r"$\times$",
        "−": "--",
        "²": r"$^2$",
        "³": r"$^3$",
        "Σ": r"$\sum$",
    }
)


def _latex_quantity(text: str) -> str:
    """A quantity in words, v_2(bob*) or T*(bob) or F_d, as mathematics."""
    stem, _, place = text.partition("(")
    letter, _, index = stem.rstrip("*").partition("_")
    star = "*" if "*" in text else ""
    body = rf"\text{{{latex_text(place.rstrip(')*'))}}}" if place else ""
    shape = _LATEX_LETTERS.get(letter, rf"\mathbf{{{letter}}}" if letter in "RT" else letter)
    above = f"^{{{body}{star}}}" if body or star else ""
    return f"${shape}{f'_{{{index}}}' if index else ''}{above}$"


TEXT, LATEX, MATHML = PlainText(), Latex(), MathML()
