"""Names of a model in what is written: letters for bodies with long names, and speeds and coordinates within words.

A textbook calls the plane of the disc P and says so once: vectors and formulas have the letter then, sentences the
name. In words that are set beside mathematics, such as "effort along ω", symbols stand between two marks, so that a
writer sets them as it does in equations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from string import ascii_uppercase

from ..backends.mathml import GREEK, text_name
from .records import Derivation

LONG_NAME = 12
"""Characters of the name of a body that is written out in vectors, if it is one word."""

_OPEN, _CLOSE = "\ue000", "\ue001"  # of private use: in no name
_MARKED = re.compile(f"{_OPEN}(.*?){_CLOSE}")


def body_letters(d: Derivation) -> dict[str, str]:
    """Name → letter of each body whose name is long or of several words."""
    bodies = list(dict.fromkeys(p.body for p in d.partials))
    long = [name for name in bodies if " " in name or len(name) > LONG_NAME]
    taken = {"N", "O", *bodies, *(s.symbol.name for s in (*d.speeds, *d.coordinates))}
    found = dict[str, str]()
    for name in long:
        found[name] = next(letter for letter in _letters(name) if letter not in taken)
        taken.add(found[name])
    return found


def _letters(name: str) -> Iterator[str]:
    """What a body may be called: the first letters of its words, other letters, letters with numbers."""
    initials = [word[0].upper() for word in re.findall(r"[A-Za-z]\w*", name)]
    yield from (c for c in initials if c in ascii_uppercase)
    yield from ascii_uppercase
    yield from (f"{c}{k}" for k in range(1, 1000) for c in (*initials[:1], "B"))


def indexed_name(name: str, others: Collection[str]) -> str:
    """m_C of mC, I_t of It: the letter and its index where a name of two letters is one of these, unless another
    parameter would look like it; else nothing."""
    match = re.fullmatch(r"([A-Za-z])([A-Z]\d*)|([A-Z])([a-z])", name)
    if match is None or name in GREEK:
        return ""
    found = "_".join(part for part in match.groups() if part)
    return "" if found in others else found


def shorten_names(words: str, letters: Mapping[str, str]) -> str:
    """Words with letters for bodies in their quantities and unit vectors, v_1(P*) and P.x, but not in sentences."""
    for name, letter in letters.items():
        found = re.escape(name)
        words = re.sub(rf"\({found}(?=\*?\))", f"({letter}", words)
        words = re.sub(rf"(?<![\w.]){found}(?=\.[xyz]\b)", letter, words)
    return words


def symbol_names(d: Derivation) -> dict[str, str]:
    """Text → name of all speeds and coordinates, and of their rates."""
    names = [s.symbol.name for s in (*d.speeds, *d.coordinates)]
    return {text_name(f"{name}{prime}"): f"{name}{prime}" for name in names for prime in ("", "'")}


def mark_symbols(words: str, names: Mapping[str, str]) -> str:
    """Words with marks about the symbols in them: those that can be no word, and what an effort acts along."""
    sure = [text for text in names if not (text.isascii() and text.isalpha())]
    for pattern in filter(None, (_pattern(sure), _pattern(names, "(?<=effort along )"))):
        words = pattern.sub(lambda m: f"{_OPEN}{names[m[0]]}{_CLOSE}", words)
    return words


def _pattern(texts: Collection[str], before: str = r"(?<![\w.(·\ue000])") -> re.Pattern[str] | None:
    longest_first = sorted(texts, key=len, reverse=True)
    return re.compile(rf"{before}(?:{'|'.join(map(re.escape, longest_first))})(?![\w.('\ue001]| ×)") if texts else None


def set_words(words: str, plain: Callable[[str], str], symbol: Callable[[str], str]) -> str:
    """Words written: what stands between marks as a symbol, all else as `plain` has it."""
    parts: Sequence[str] = _MARKED.split(words)
    return "".join(symbol(part) if k % 2 else plain(part) for k, part in enumerate(parts) if part)
