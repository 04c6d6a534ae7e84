"""Small programs as MathML, which browsers set without help: each output as one equation in the inputs.

A piece of MathML carries how tightly it holds together, so that only the parentheses that are needed are written.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Callable

from ..graph import Program

SMALL = 40
"""Operations that one equation may show; a longer one is not read but skipped."""

_PRIME = '<mo lspace="0" rspace="0">′</mo>'
_SUM, _PRODUCT, _ATOM = range(3)
Piece = tuple[str, int]

_SMALL_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi psi omega"
)
_LARGE_NAMES = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
_LETTERS = "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
GREEK: dict[str, str] = dict(zip(f"{_SMALL_NAMES} {_LARGE_NAMES}".split(), _LETTERS, strict=True))
"""Names of letters → letters."""


def text_name(label: str) -> str:
    """A label in plain text: letters for names of letters, phi1 is φ1 and tau_u is τ_u; r.mu.x of a body stays."""
    return re.sub(r"(?<![A-Za-z.])[A-Za-z]+(?![A-Za-z.])", lambda word: GREEK.get(word[0], word[0]), label)


_CALLS = {"asin": "arcsin", "acos": "arccos", "log": "ln", "sign": "sgn"}


def equations(program: Program) -> list[str] | None:
    """One `<math>` element per element of the outputs, or None where they are too long to be read."""
    sizes = [0] * program.first_row
    for row in program.rows:
        sizes.append(min(1 + sum(sizes[a] for a in row.args), SMALL + 1))
    slots = [s for out in program.outputs for s in out.slots]
    if max((sizes[s] for s in slots), default=0) > SMALL:
        return None
    pieces: list[Piece] = [(symbol(label), _ATOM) for g in program.inputs for label in g.labels]
    pieces += [_number(c) for c in program.constants]
    factors: dict[int, tuple[int, ...]] = {}  # of products by their places
    for row in program.rows:
        if row.op == "mul":
            factors[len(pieces)] = sum((factors.get(a, (a,)) for a in row.args), ())
            pieces.append(_product(pieces, factors[len(pieces)]))
        else:
            pieces.append(_row(row.op, [pieces[a] for a in row.args]))
    shown = []
    for out in program.outputs:
        for k, slot in enumerate(out.slots):
            index = "".join(str(i + 1) for i in _position(k, out.shape))
            left = f"<msub>{_stem(out.name)}<mn>{index}</mn></msub>" if index else _stem(out.name)
            shown.append(f'<math display="block">{left}<mo>=</mo>{pieces[slot][0]}</math>')
    return shown


def _position(k: int, shape: tuple[int, ...]) -> list[int]:
    place = []
    for n in reversed(shape):
        place.append(k % n)
        k //= n
    return place[::-1]


def symbol(label: str) -> str:
    """A label as a symbol: a dot for a rate (u1'), which is a prime after a name of several letters (yaw'), since a dot
    would stand over one of them; an index for digits and for what follows `_`."""
    rate = label.endswith("'")
    name = label.rstrip("'")
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d*)((?:_\w+)*)", name, flags=re.ASCII)
    if match is None:
        return f"<mi>{html.escape(label)}</mi>"
    letters = match.group(1)
    primed = rate and _is_word(letters)
    stem = _rate_of(letters) if rate and not primed else _stem(letters)
    parts = (match.group(2), *match.group(3).split("_"))
    index = ",".join(GREEK.get(part, part) for part in parts if part)
    found = f"<msub>{stem}<mtext>{html.escape(index)}</mtext></msub>" if index else stem
    return f"<mrow>{found}{_PRIME}</mrow>" if primed else found


def _stem(name: str) -> str:
    if name.endswith("dot") and len(name) > 3:
        return _rate_of(name[:-3])
    return f"<mi>{html.escape(GREEK.get(name, name))}</mi>"


def _is_word(name: str) -> bool:
    return len(GREEK.get(name, name)) > 1


def _rate_of(name: str) -> str:
    """A letter with a dot over it, larger than what browsers put there, which is hardly seen; a word with a prime."""
    if _is_word(name):
        return f"<mrow>{_stem(name)}{_PRIME}</mrow>"
    return f'<mover>{_stem(name)}<mo mathsize="160%">˙</mo></mover>'


def _number(value: float) -> Piece:
    mantissa, _, exponent = f"{abs(value):.6g}".partition("e")
    text = f"<mn>{mantissa}</mn>"
    if exponent:
        text += f"<mo>·</mo><msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
    return (f"<mrow><mo>−</mo>{text}</mrow>", _SUM) if value < 0 else (text, _PRODUCT if exponent else _ATOM)


def _parenthesize(piece: Piece, needed: int) -> str:
    text, holds = piece
    return text if holds >= needed else f"<mrow><mo>(</mo>{text}<mo>)</mo></mrow>"


def _infix(sign: str, left: int, right: int, holds: int) -> Callable[[list[Piece]], Piece]:
    def write(args: list[Piece]) -> Piece:
        text = f"{_parenthesize(args[0], left)}<mo>{sign}</mo>{_parenthesize(args[1], right)}"
        return f"<mrow>{text}</mrow>", holds

    return write


_WRITTEN: dict[str, Callable[[list[Piece]], Piece]] = {
    "add": _infix("+", _SUM, _SUM, _SUM),
    "sub": _infix("−", _SUM, _PRODUCT, _SUM),
    "div": lambda a: (f"<mfrac><mrow>{a[0][0]}</mrow><mrow>{a[1][0]}</mrow></mfrac>", _ATOM),
    "pow": lambda a: (f"<msup>{_parenthesize(a[0], _ATOM)}<mrow>{a[1][0]}</mrow></msup>", _ATOM),
    "neg": lambda a: (f"<mrow><mo>−</mo>{_parenthesize(a[0], _PRODUCT)}</mrow>", _SUM),
    "sqrt": lambda a: (f"<msqrt>{a[0][0]}</msqrt>", _ATOM),
    "abs": lambda a: (f"<mrow><mo>|</mo>{a[0][0]}<mo>|</mo></mrow>", _ATOM),
    "less": _infix("&lt;", _SUM, _SUM, _SUM),
    "less_equal": _infix("≤", _SUM, _SUM, _SUM),
    "equal": _infix("=", _SUM, _SUM, _SUM),
    "select": lambda a: (
        f"<mrow><mo>{{</mo><mtable><mtr><mtd>{a[1][0]}</mtd><mtd><mtext>where </mtext>{a[0][0]}</mtd></mtr>"
        f"<mtr><mtd>{a[2][0]}</mtd><mtd><mtext>else</mtext></mtd></mtr></mtable></mrow>",
        _SUM,
    ),
}


def _product(pieces: list[Piece], factors: tuple[int, ...]) -> Piece:
    """A product, each of its factors once, with a power where it occurs more often."""
    counts = Counter(factors)
    written = [
        f"<msup>{_parenthesize(pieces[a], _ATOM)}<mn>{n}</mn></msup>" if n > 1 else _parenthesize(pieces[a], _PRODUCT)
        for a, n in counts.items()
    ]
    if len(written) == 1:
        return written[0], _ATOM
    between = '<mo>&#x2062;</mo><mspace width="0.17em"/>'
    return f"<mrow>{between.join(written)}</mrow>", _PRODUCT


def _row(op: str, args: list[Piece]) -> Piece:
    if op in _WRITTEN:
        return _WRITTEN[op](args)
    inside = "<mo>,</mo>".join(text for text, _ in args)
    return f"<mrow><mi>{_CALLS.get(op, op)}</mi><mo>(</mo>{inside}<mo>)</mo></mrow>", _ATOM
