"""Units as powers of symbols, so that products, quotients and roots of quantities have theirs.

A radian is a number: it stays where it tells something (rad/s, rad², N rad), and goes where a length is multiplied by
an angle (m, m/s). A force along a velocity is a power (W), a moment through an angle a work (J).
"""

from __future__ import annotations

SYMBOLS = ("N", "J", "W", "kg", "m", "rad", "s")
"""Symbols that units are made of, in the order in which they are written."""

Powers = tuple[int, ...]
"""The power of each symbol, in their order."""

NUMBER: Powers = (0,) * len(SYMBOLS)
"""The unit of a number, which is none."""

_DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_ABOVE, _BELOW = str.maketrans("0123456789", _DIGITS), str.maketrans(_DIGITS, "0123456789")


def read_unit(text: str) -> Powers | None:
    """The powers of a unit like 'N m' or 'rad/s²'; None of an empty text, which is not known, or of other symbols."""
    found = dict.fromkeys(SYMBOLS, 0)
    above, _, below = text.partition("/")
    for side, words in ((1, above.removeprefix("1").split()), (-1, below.strip("()").split())):
        for word in words:
            symbol = word.rstrip(_DIGITS)
            if symbol not in found:
                return None
            found[symbol] += side * int(word[len(symbol) :].translate(_BELOW) or 1)
    return tuple(found.values()) if text else None


def write_unit(powers: Powers | None) -> str:
    """A unit as text; empty for a number, or where it is not known.

    >>> write_unit(read_unit("m/s²")), write_unit(NUMBER)
    ('m/s²', '')
    """
    if powers is None or powers == NUMBER:
        return ""
    above, below = (
        [_word(symbol, side * x) for symbol, x in zip(SYMBOLS, powers, strict=True) if side * x > 0] for side in (1, -1)
    )
    under = f"/({' '.join(below)})" if len(below) > 1 else "".join(f"/{word}" for word in below)
    return (" ".join(above) or "1") + under


def _word(symbol: str, power: int) -> str:
    return symbol + (str(power).translate(_ABOVE) if power > 1 else "")


def multiply(a: Powers, b: Powers) -> Powers:
    """The unit of a product: 'N m' by 'rad/s' are W, 'm' by 'rad/s' are m/s."""
    product = tuple(x + y for x, y in zip(a, b, strict=True))
    return _NAMED.get(product) or _without_angles(product)


def _without_angles(powers: Powers) -> Powers:
    """The same unit; of a length by an angle, that of a length."""
    found = dict(zip(SYMBOLS, powers, strict=True))
    return tuple((found | {"rad": 0}).values()) if found["m"] and found["rad"] > 0 else powers


def invert(a: Powers) -> Powers:
    """The unit of 1 over a quantity."""
    return tuple(-x for x in a)


def square_root(a: Powers) -> Powers | None:
    """The unit of a square root; None where a symbol would have half a power."""
    return None if any(x % 2 for x in a) else tuple(x // 2 for x in a)


def _read(text: str) -> Powers:
    found = read_unit(text)
    assert found is not None
    return found


_NAMED = {_read(text): _read(name) for text, name in (("N m rad", "J"), ("N m/s", "W"), ("N m rad/s", "W"))}
"""Products that have a name of their own."""


__all__ = ["NUMBER", "SYMBOLS", "Powers", "invert", "multiply", "read_unit", "square_root", "write_unit"]
