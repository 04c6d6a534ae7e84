"""Reads back what `explain` prints: expressions as numbers, vectors as components along N, all by itself.

The grammar: sums of products; factors stand side by side or after `/`, with equal weight from the left; ² and the like
are powers, also between a function and its parenthesis; `D.x` is a unit vector.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

WORD = re.compile(r"\s*(\d+\.?\d*(?:e[+-]?\d+)?|[A-Za-zα-ωΑ-Ω][A-Za-z0-9_]*(?:\.[xyz])?'*|[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+|[-+/(),])")
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
FUNCTIONS = {"sin": math.sin, "cos": math.cos, "tan": math.tan, "sqrt": math.sqrt, "abs": abs}
Value = float | np.ndarray


class Expression:
    """One pass over the words of a text."""

    def __init__(self, text: str, values: Mapping[str, Value]):
        self.words, at = list[str](), 0
        while at < len(text.rstrip()):
            match = WORD.match(text, at)
            assert match is not None, f"cannot read {text[at:]!r}"
            self.words.append(match[1])
            at = match.end()
        self.values, self.at = values, 0

    def next(self) -> str:
        return self.words[self.at] if self.at < len(self.words) else ""

    def take(self, word: str = "") -> str:
        found = self.next()
        assert not word or found == word, f"expected {word}, found {found}"
        self.at += 1
        return found

    def total(self) -> Value:
        sign = -1.0 if self.next() == "-" else 1.0
        if self.next() == "-":
            self.take()
        value = sign * self.product()
        while self.next() in ("+", "-"):
            sign = 1.0 if self.take() == "+" else -1.0
            value = value + sign * self.product()
        return value

    def product(self) -> Value:
        value = self.factor()
        while self.next() and self.next() not in "+-),":
            if self.next() == "/":
                self.take()
                value = value / self.factor()
            else:
                value = value * self.factor()
        return value

    def factor(self) -> Value:
        word = self.take()
        if word == "(":
            value = self.total()
            self.take(")")
        elif word in FUNCTIONS:
            power = self.raised()
            self.take("(")
            value = FUNCTIONS[word](self.total()) ** power
            self.take(")")
            return value
        else:
            value = float(word) if word[0].isdigit() else self.values[word]
        return value ** self.raised()

    def raised(self) -> int:
        return int(self.take().translate(RAISED)) if re.match(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]", self.next()) else 1


def read(text: str, values: Mapping[str, Value]) -> Value:
    """The number or vector that a text stands for."""
    expression = Expression(text, values)
    value = expression.total()
    assert not expression.next(), f"left over in {text!r}: {expression.words[expression.at :]}"
    return value


def sections(text: str) -> dict[str, list[str]]:
    """Lines of a printed explanation, by the first words of the titles above them."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines()[1:]:
        if line and not line.startswith(" "):
            title = line
            found[title] = []
        elif line.strip():
            found[title].append(line.strip())
    return found


def section(text: str, begins: str) -> list[str]:
    """The lines of the one section whose title begins so."""
    return next(lines for title, lines in sections(text).items() if title.startswith(begins))


def equations(lines: Sequence[str]) -> dict[str, str]:
    """left → right of lines `left = right    [note]`."""
    found = {}
    for line in lines:
        left, equals, right = line.partition("    [")[0].partition(" = ")
        if equals:
            found[left] = right
    return found


def with_Z(text: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """The values, and those of all Z's that a printed explanation defines."""
    known = dict(values)
    titles = [t for t in sections(text) if t.startswith("Z's,")]
    for name, right in equations(sections(text)[titles[0]] if titles else []).items():
        known[name] = read(right, known)
    return known


def partial_velocities(text: str) -> dict[str, dict[str, str]]:
    """ω(A) or v(A*) → speed → vector, of a table in blocks of columns, each with names of speeds above."""
    found, names = dict[str, dict[str, str]](), list[str]()
    for line in section(text, "Partial velocities"):
        cells = re.split(r"\s{3,}", line)
        if re.match(r"[ωv]\(", line):
            found.setdefault(cells[0], {}).update(zip(names, cells[1:], strict=True))
        else:
            names = cells
    return found
