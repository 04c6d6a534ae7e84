"""An explanation in plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .notation import TEXT
from .records import Derivation
from .sections import Counts, EquationLine, MathTable, Passage, Sections, Words, beside_sections

WIDE = 110
"""Characters of a line with a table, where no terminal says how wide it is."""

_INDENT, _GAP = "  ", "   "


def write_text(d: Derivation, beside: Derivation | None = None, digits: int = 6, width: int = WIDE) -> str:
    """The whole derivation, section by section, tables in blocks of columns that fit into `width` characters."""
    found = list(Sections(d, TEXT, digits).all())
    if beside is not None:
        found += beside_sections(d, beside, TEXT, digits)
    lines = [f"{d.model}: {d.about}" if d.about else d.model]
    for section in found:
        lines += ["", section.title, *(f"{_INDENT}{line}".rstrip() for line in _lines(section, width))]
    return "\n".join(lines) + "\n"


def _lines(section: Passage, width: int) -> Iterator[str]:
    for item in section.body:
        if isinstance(item, EquationLine):
            yield from _write_line(item)
        elif isinstance(item, MathTable):
            yield from _write_grid(item, width - len(_INDENT))
        elif isinstance(item, Counts):
            yield from _write_counts(item)
        else:
            yield _write_words(item)


def _write_line(line: EquationLine) -> Iterator[str]:
    note = line.note
    if note.startswith("= 0"):
        zero, _, name = note.partition(", ")
        yield f"{line.right} {zero}    [{name}]"
    else:
        left = f"{line.left} = " if line.left else ""
        yield f"{left}{line.right}" + (f"    [{note}]" if note else "")
    for part in line.below:
        yield f"    {part.right}    [{part.note}]"


def _write_words(item: Words) -> str:
    return f"{item.subject}: {item.sentence}" if item.sentence else item.subject


def _write_grid(grid: MathTable, width: int) -> Iterator[str]:
    """In columns; where all of them are too wide, block under block of those that fit, each with the labels."""
    rows = [grid.head, *grid.rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(grid.head))]
    for number, block in enumerate(split_columns(widths, width)):
        if number:
            yield ""
        for row in rows:
            yield _GAP.join(row[k].ljust(widths[k]) for k in (0, *block)).rstrip()


def split_columns(widths: Sequence[int], width: int) -> Iterator[list[int]]:
    """Columns from 1 on in blocks that fit, beside column 0, into a width; one column at least."""
    block, used = list[int](), widths[0]
    for k, wide in enumerate(widths[1:], 1):
        if block and used + len(_GAP) + wide > width:
            yield block
            block, used = [], widths[0]
        block.append(k)
        used += len(_GAP) + wide
    yield block


def _write_counts(counts: Counts) -> Iterator[str]:
    for name, several in counts.rows:
        shown = (f"{mul:4} multiply or divide, {add:4} add, {trig:2} sin, cos" for mul, add, trig in several)
        yield f"{name:17} " + "   |".join(shown)
