r"""An explanation in LaTeX: sections with align* environments and one table, lines cut so that they fit on a page.

A piece for a document with amsmath and graphicx, or a document of its own. Widths are estimated in letters: sums are
cut between their terms, then inside parentheses, and what cannot be cut is made smaller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import wrap

from .notation import LATEX, latex_text
from .records import Derivation
from .sections import CHOICES, Counts, EquationLine, MathTable, Passage, Sections, Words, beside_sections

WIDE = 52.0
"""Letters of mathematics in a line: 345 pt, the text of an article in 10 pt, less an indent."""

_NOTE = 0.75  # width of a letter of a note beside one of mathematics
_ROOM = r"0.85\linewidth"  # of a line that is made smaller
_WRAPPED = 70  # letters of a note in a line of its own

_DOCUMENT = r"""\documentclass[fleqn]{{article}}
\usepackage{{amsmath,graphicx}}
\begin{{document}}
{}\end{{document}}
"""


def write_latex(d: Derivation, beside: Derivation | None = None, digits: int = 6) -> str:
    """All sections, starred so that they fit into any document."""
    found = list(Sections(d, LATEX, digits).all())
    if beside is not None:
        found += beside_sections(d, beside, LATEX, digits)
    parts = [rf"\section*{{{latex_text(d.model)}}}", *([latex_text(d.about)] if d.about else [])]
    parts += [r"\begingroup\allowdisplaybreaks"]
    for section in found:
        parts += [rf"\subsection*{{\raggedright {latex_text(section.title)}}}", *_blocks(section)]
    return "\n".join(parts) + "\n\\endgroup\n"


def write_latex_document(d: Derivation, beside: Derivation | None = None, digits: int = 6) -> str:
    """The same as a document of its own."""
    return _DOCUMENT.format(write_latex(d, beside, digits))


def _blocks(section: Passage) -> Iterator[str]:
    rows = [row for item in section.body if isinstance(item, EquationLine) for row in _rows(item)]
    if rows:
        yield _align(rows)
    for item in section.body:
        if isinstance(item, MathTable):
            yield _grid(item)
        elif isinstance(item, Counts):
            yield _counts(item)
    said = [item for item in section.body if isinstance(item, Words)]
    if said:
        items = (rf"\item {latex_text(f'{w.subject}: {w.sentence}' if w.sentence else w.subject)}" for w in said)
        yield "\\begin{itemize}\n" + "\n".join(items) + "\n\\end{itemize}"


def _align(rows: Sequence[str]) -> str:
    return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"


def _rows(line: EquationLine) -> Iterator[str]:
    zero, _, note = line.note.partition(", ") if line.note.startswith("= 0") else ("", "", line.note)
    left = f"{line.left} = " if line.left else ""
    yield from _cut(left + line.right + (" = 0" if zero else ""), note)
    for part in line.below:
        yield from _cut(part.right, part.note, r"\quad ")


def _cut(equation: str, note: str, indent: str = "") -> Iterator[str]:
    """An equation in as many rows as it needs; its note at the right of the last one, or below it."""
    rows = [rf"&{indent}{row}" for row in lines_of(equation)]
    if not note:
        yield from rows
    elif width(rows[-1]) + 2 + _NOTE * len(note) <= WIDE:
        yield from rows[:-1]
        yield rf"{rows[-1]} \tag*{{\footnotesize {latex_text(note)}}}"
    else:
        yield from rows
        for part in wrap(note, _WRAPPED):
            yield rf"&\qquad \text{{\footnotesize {latex_text(part)}}}"


def lines_of(equation: str) -> list[str]:
    r"""The lines of an equation, none of them wider than `WIDE`; those that go on begin with \qquad."""
    pieces = [piece for term in split_terms(equation) for piece in _loosen(term)]
    lines: list[str] = []
    for piece in pieces:
        if lines and width(lines[-1]) + width(piece) <= WIDE:
            lines[-1] += piece
        else:
            lines.append(piece if not lines else rf"\qquad {piece.lstrip()}")
    return [line if width(line) <= WIDE else _shrink(line) for line in lines]


def _loosen(term: str) -> list[str]:
    """A term, or the pieces of one that is too wide for a line: cut inside its parentheses."""
    if width(term) <= WIDE:
        return [term]
    return split_terms(re.sub(r"\\(left|right)(?=[()])", lambda m: rf"\big{m[1][0]}", term))


def _shrink(line: str) -> str:
    lead, rest = (r"\qquad ", line.removeprefix(r"\qquad ")) if line.startswith(r"\qquad ") else ("", line)
    return rf"{lead}\resizebox{{\ifdim\width>{_ROOM} {_ROOM}\else\width\fi}}{{!}}{{$\displaystyle {rest}$}}"


def split_terms(text: str) -> list[str]:
    r"""The text before each + and − that stands in no braces and between no \left and \right."""
    found, start, depth = [], 0, 0
    for match in re.finditer(r"\\left\b|\\right\b|[{}]|(?<= )[+-](?= )", text):
        token = match[0]
        if token in "+-":
            if depth == 0 and match.start() > 1:
                found.append(text[start : match.start() - 1])
                start = match.start() - 1
        else:
            depth += 1 if token in ("{", r"\left") else -1
    return [*found, text[start:]]


def width(text: str) -> float:
    """About how many letters wide mathematics is."""
    total, _ = _width(text, 0)
    return total


_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^&]|\s+|.")
_NARROW = {r"\,": 0.3, r"\left": 0.0, r"\right": 0.0, r"\displaystyle": 0.0, r"\quad": 2.0, r"\qquad": 4.0, "&": 0.0}
_SHELLS = {r"\text", r"\mathbf", r"\mathrm", r"\boldsymbol", r"\hat", r"\dot", r"\operatorname", r"\footnotesize"}
_SMALL = 0.7  # of an index or a power


def _width(text: str, at: int) -> tuple[float, int]:
    """(width, end) of a group that begins at a place and ends with its brace or the text."""
    total, scale = 0.0, 1.0
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None
        token, at = match[0], match.end()
        if token == "}":
            break
        if token in "_^":
            scale = _SMALL
            continue
        if token in (r"\frac", r"\tfrac"):
            over, at = _width(text, at + 1)
            under, at = _width(text, at + 1)
            size = max(over, under) * (_SMALL if token == r"\tfrac" else 1.0)
        elif token == "{":
            size, at = _width(text, at)
        elif token in _SHELLS or token.isspace():
            continue
        else:
            size = _NARROW.get(token, _letters(token))
        total, scale = total + scale * size, 1.0
    return total, at


def _letters(token: str) -> float:
    if token in "+-=":
        return 2.0
    return 3.0 if token in (r"\sin", r"\cos", r"\tan", r"\exp", r"\min", r"\max", r"\sqrt") else 1.0


def _grid(grid: MathTable) -> str:
    """A table, or where that is too wide, one equation for each entry that is not zero."""
    rows = [grid.head, *grid.rows]
    if sum(max(width(row[k]) for row in rows) + 2 for k in range(len(grid.head))) <= WIDE:
        head, body = " & ".join(grid.head), " \\\\\n".join(" & ".join(row) for row in grid.rows)
        columns = "l" + "c" * (len(grid.head) - 1)
        stretch = r"\renewcommand{\arraystretch}{1.3}"
        return rf"\[ {stretch} \begin{{array}}{{{columns}}}" + f"\n{head} \\\\ \\hline\n{body}\n\\end{{array}} \\]"
    listed = [
        line
        for row in grid.rows
        for name, entry in zip(grid.head[1:], row[1:], strict=True)
        if entry != "0"
        for line in _cut(rf"{_partial(row[0], name)} = {entry}", "")
    ]
    return _align(listed) + "\nAll others are zero."


def _partial(what: str, by: str) -> str:
    return what if by.startswith(r"\text") else rf"\frac{{\partial {what}}}{{\partial {by}}}"


def _counts(counts: Counts) -> str:
    wide = len(counts.rows[0][1])
    rows = [
        rf"\text{{{latex_text(name)}}} & " + " & ".join(f"{mul} & {add} & {trig}" for mul, add, trig in several)
        for name, several in counts.rows
    ]
    head = " & ".join([" ", *(r"\times, \div & + & \sin, \cos" for _ in range(wide))])
    if wide == len(CHOICES):
        head = "".join(rf" & \multicolumn{{3}}{{c}}{{\text{{{choice}}}}}" for choice in CHOICES) + f" \\\\\n{head}"
    columns = "l" + "rrr" * wide
    return (
        rf"\[ \begin{{array}}{{{columns}}}" + f"\n{head} \\\\ \\hline\n" + " \\\\\n".join(rows) + "\n\\end{array} \\]"
    )
