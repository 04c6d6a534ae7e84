"""An explanation in HTML, equations in MathML: pieces for a notebook, and a file of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..backends.mathml import symbol
from ..markup import Markup, scroll_bars, text
from .names import set_words
from .notation import MATHML, letters_of, split_terms
from .records import Derivation
from .sections import CHOICES, Counts, EquationLine, MathTable, Passage, Sections, Words, beside_sections
from .text import split_columns

FOLDED = 24
"""Lines of a section that are shown at once; a longer one is to be opened."""

_SHORT_NOTE = 30
"""Letters of a note that is not wrapped."""

_ALL = ":is(#kane-explain, .kane-explain)"
_STYLE = (
    """
§ { line-height: 1.5; max-width: 72rem; }
§ h3 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
§ .wide { overflow: auto; max-height: 85vh; padding: .1rem 0 .3rem; }
§ table { border-collapse: collapse; margin: 0; font-size: inherit; }
§ tr, § tr:hover { background: none; }
§ td, § th { padding: .22rem .9rem .22rem 0; text-align: left; vertical-align: baseline; white-space: nowrap;
  font-weight: normal; }
§ .sum { padding-left: 1.6rem; text-indent: -1.6rem; white-space: normal; }
§ .grid th, § .grid td { border-bottom: 1px solid rgba(128, 128, 128, .3); padding-right: 1.4rem; }
§ .note { opacity: .7; font-size: .88em; }
§ .sum math { margin: .14em 0; }
§ .long { white-space: normal; min-width: 13rem; }
§ .part .sum { padding-left: 3.2rem; font-size: .95em; }
§ .count td, § .count th { text-align: right; font-variant-numeric: tabular-nums; }
§ .count td:first-child { text-align: left; }
§ math { font-size: 1.04em; text-indent: 0; white-space: nowrap; }
§ sub { line-height: 0; font-size: .75em; }
§ dt, § dd { float: none; width: auto; display: block; padding: 0; }
§ dt { margin: .35rem 0 0; font-weight: normal; } § dd { margin: 0 0 0 1.4rem; opacity: .8; max-width: 50rem; }
@media (max-width: 40rem) {
  § .lines, § .lines tbody { display: block; }
  § .lines tr { display: grid; grid-template-columns: max-content 1fr; padding: .1rem 0; }
  § .lines td { padding-top: .1rem; padding-bottom: .1rem; padding-right: .6rem; }
  § .lines td.note { grid-column: 2; white-space: normal; padding-left: 1.6rem; }
}
@media print {
  § { font-size: 8.5pt; } § .wide { max-height: none; overflow: visible; }
  § td.note { white-space: normal; min-width: 5.5rem; padding-right: 0; }
  § tr { break-inside: avoid; } § h3 { break-after: avoid; }
  § .grid th, § .grid td { padding-right: .6rem; }
  § details::details-content { content-visibility: visible; height: auto; } § summary { display: none; }
}
""".replace("§", _ALL)
    + scroll_bars(f"{_ALL} .wide")
)
# A selector by id is stronger than those by which notebooks set tables and lists, right-aligned, striped and floating.

_DOCUMENT = """
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1.6rem 1.2rem 3rem; max-width: 74rem;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; font-size: 16px; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } p { margin: .3rem 0; }
@media (prefers-color-scheme: dark) { body { background: #12181f; color: #dbe3ec; } }
"""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def write_html(d: Derivation, beside: Derivation | None = None, digits: int = 6) -> str:
    """The sections as HTML: equations that are wrapped between their terms, in boxes that scroll where that is not
    enough."""
    found = list(Sections(d, MATHML, digits).all())
    if beside is not None:
        found += beside_sections(d, beside, MATHML, digits)
    return f'<style>{_STYLE}</style><div class="kane-explain">{"".join(map(_section, found))}</div>\n'


def write_document(d: Derivation, beside: Derivation | None = None, digits: int = 6) -> str:
    """The same as a file of its own, which asks for nothing from outside."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{text(d.model)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<style>{_DOCUMENT}</style></head>\n'
        f"<body><h1>{text(d.model)}</h1><p>{text(d.about)}</p>\n{write_html(d, beside, digits)}</body></html>\n"
    )


def _section(section: Passage) -> str:
    body = "".join(_blocks(section))
    lines = sum(isinstance(item, EquationLine) for item in section.body)
    if lines > FOLDED:
        body = f"<details><summary>{lines} lines</summary>{body}</details>"
    return f"<h3>{_words(section.title)}</h3>\n{body}\n"


def _blocks(section: Passage) -> Iterator[str]:
    rows = "".join(row for item in section.body if isinstance(item, EquationLine) for row in _rows(item))
    if rows:
        yield f'<div class="wide"><table class="lines">{rows}</table></div>'
    said = [item for item in section.body if isinstance(item, Words)]
    if said:
        yield f"<dl>{''.join(f'<dt>{_words(w.subject)}</dt><dd>{_words(w.sentence)}</dd>' for w in said)}</dl>"
    for item in section.body:
        if isinstance(item, MathTable):
            yield _grid(item)
        elif isinstance(item, Counts):
            yield _counts(item)


_INDEX = re.compile(r"(?<!\w)([A-Za-zωτ])_([A-Za-z0-9]+)")


def _words(sentence: str) -> Markup:
    """Words with the indices of the letters in them below the line: v_1, F_d."""
    return Markup(set_words(sentence, lambda words: _INDEX.sub(r"\1<sub>\2</sub>", str(text(words))), _inline))


def _inline(name: str) -> str:
    return f"<math>{symbol(name)}</math>"


def _math(inner: str) -> Markup:
    return Markup(f'<math displaystyle="true">{inner}</math>')


def _sum(total: str) -> Markup:
    """A sum as mathematics that may be wrapped, within the parentheses of terms that are long too."""
    first, *others = (piece for term in split_terms(total) for piece in _loosen(term))
    infix = (re.sub("^<mo>", '<mo form="infix">', term) for term in others)
    return Markup("<wbr/>".join(_math(term) for term in (first, *infix)))


_LONG_TERM = 36
"""Letters of a term that is wrapped as a whole."""

_OUTER = re.compile(r"<(/?)(\w+)[^>]*?(/?)>|[^<]+")


def _loosen(term: str) -> Iterator[str]:
    """A term, or the pieces of a long one: it is cut at the signs inside its parentheses, but for those of functions
    and quotients."""
    if letters_of(term) <= _LONG_TERM:
        yield term
    else:
        yield from filter(None, split_terms(_without_rows(term)))


def _without_rows(term: str) -> str:
    """The term without rows that only hold together what stands in it, at any depth of them, functions left alone."""
    out, inside, kept = list[str](), list[bool](), 0
    for match in _OUTER.finditer(term):
        closing, name, empty = match[1], match[2], match[3]
        if name is None or empty:
            out.append(match[0])
        elif closing:
            if inside.pop():
                kept -= 1
                out.append(match[0])
        else:
            keep = kept > 0 or name != "mrow" or _is_call(term[match.end() :])
            inside.append(keep)
            kept += keep
            if keep:
                out.append(match[0])
    return "".join(out)


def _is_call(rest: str) -> bool:
    return re.match(r"<m(i|sup)>(?:<mi>)?\w+</mi>(?:<mn>\d+</mn></msup>)?<mo>&#x2061;</mo>", rest) is not None


def _cell(total: str) -> Markup:
    return Markup(f'<td class="sum">{_sum(total)}</td>')


def _note(words: str) -> Markup:
    wide = " long" if len(words) > _SHORT_NOTE else ""
    return Markup(f'<td class="note{wide}">{_words(words)}</td>')


def _rows(line: EquationLine) -> Iterator[str]:
    zero, _, note = line.note.partition(", ") if line.note.startswith("= 0") else ("", "", line.note)
    right = f"{line.right}<mo>=</mo><mn>0</mn>" if zero else line.right
    left = _math(f"{line.left}<mo>=</mo>") if line.left else ""
    yield f"<tr><td>{left}</td>{_cell(right)}{_note(note)}</tr>\n"
    for part in line.below:
        yield f'<tr class="part"><td></td>{_cell(part.right)}{_note(part.note)}</tr>\n'


_LETTERS_WIDE = 96
"""Letters of a table beside each other, what a sheet of A4 has room for; columns that are more stand below."""


def _grid(grid: MathTable) -> str:
    rows = [grid.head, *grid.rows]
    widths = [max(_least_width(row[k]) for row in rows) for k in range(len(grid.head))]
    return "".join(_block(grid, (0, *block)) for block in split_columns(widths, _LETTERS_WIDE))


def _least_width(cell: str) -> int:
    """Letters of the longest piece of a cell that is not wrapped."""
    return max(letters_of(piece) for term in split_terms(cell) for piece in _loosen(term))


def _block(grid: MathTable, columns: Sequence[int]) -> str:
    head = "".join(f"<th>{_math(grid.head[k]) if grid.head[k] else ''}</th>" for k in columns)
    rows = "".join(f"<tr>{''.join(_cell(row[k]) for k in columns)}</tr>\n" for row in grid.rows)
    return f'<div class="wide"><table class="grid"><tr>{head}</tr>\n{rows}</table></div>'


def _counts(counts: Counts) -> str:
    wide = len(counts.rows[0][1])
    above = "".join(f'<th colspan="3">{choice}</th>' for choice in CHOICES) if wide == len(CHOICES) else ""
    over = f"<tr><th></th>{above}</tr>\n" if above else ""
    head = "<th></th>" + "<th>multiply, divide</th><th>add</th><th>sin, cos</th>" * wide
    rows = "".join(
        f"<tr><td>{text(name)}</td>{''.join(f'<td>{a}</td><td>{b}</td><td>{c}</td>' for a, b, c in several)}</tr>\n"
        for name, several in counts.rows
    )
    return f'<div class="wide"><table class="grid count">{over}<tr>{head}</tr>\n{rows}</table></div>'
