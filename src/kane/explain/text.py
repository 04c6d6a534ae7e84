"""An explanation in plain text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .notation import TEXT
from .records import Derivation
from .sections import Counts, EquationLine, MathTable, Passage, Sections, Words, beside_sections

_WIDE = 110  # characters of a table; a wider one is written row by row


def write_text(d: Derivation, beside: Derivation | None = None, digits: int = 6) -> str:
    """The whole derivation, section by section."""
    found = list(Sections(d, TEXT, digits).all())
    if beside is not None:
        found += beside_sections(d, beside, TEXT, digits)
    lines = [f"{d.model}: {d.about}" if d.about else d.model]
    for section in found:
        lines += ["", section.title, *(f"  {line}".rstrip() for line in _lines(section))]
    return "\n".join(lines) + "\n"


def _lines(section: Passage) -> Iterator[str]:
    for item in section.body:
        if isinstance(item, EquationLine):
            yield from _write_line(item)
        elif isinstance(item, MathTable):
            yield from _write_grid(item)
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


def _write_grid(grid: MathTable) -> Iterable[str]:
    """In columns, or where that is too wide one line for each row."""
    rows = [grid.head, *grid.rows]
    widths = [max(len(row[k]) for row in rows) for k in range(len(grid.head))]
    if sum(widths) + 3 * len(widths) <= _WIDE:
        return ["   ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [
        f"{row[0]}: " + "; ".join(f"{name}: {entry}" for name, entry in zip(grid.head[1:], row[1:], strict=True))
        for row in grid.rows
    ]


def _write_counts(counts: Counts) -> Iterator[str]:
    for name, several in counts.rows:
        shown = (f"{mul:4} multiply or divide, {add:4} add, {trig:2} sin, cos" for mul, add, trig in several)
        yield f"{name:17} " + "   |".join(shown)
