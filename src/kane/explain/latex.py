"""An explanation in LaTeX: sections with align* environments and one table, to be put into a document with amsmath."""

from __future__ import annotations

from collections.abc import Iterator

from .notation import LATEX, latex_words
from .records import Derivation
from .sections import Counts, EquationLine, MathTable, Passage, Sections, Words, beside_sections


def write_latex(d: Derivation, beside: Derivation | None = None, digits: int = 6) -> str:
    """All sections, starred so that they fit into any document."""
    found = list(Sections(d, LATEX, digits).all())
    if beside is not None:
        found += beside_sections(d, beside, LATEX, digits)
    parts = [rf"\section*{{{latex_words(d.model)}}}"]
    for section in found:
        parts += [rf"\subsection*{{{_title(section.title)}}}", *_blocks(section)]
    return "\n".join(parts) + "\n"


def _title(title: str) -> str:
    return latex_words(title).replace("ω × I·ω", r"$\omega \times I \cdot \omega$").replace("I·α", r"$I \cdot \alpha$")


def _blocks(section: Passage) -> Iterator[str]:
    lines = [row for item in section.body if isinstance(item, EquationLine) for row in _rows(item)]
    if lines:
        yield "\\begin{align*}\n" + " \\\\\n".join(lines) + "\n\\end{align*}"
    for item in section.body:
        if isinstance(item, MathTable):
            yield _grid(item)
        elif isinstance(item, Counts):
            yield _counts(item)
        elif isinstance(item, Words):
            yield rf"{latex_words(item.subject)}{': ' + latex_words(item.sentence) if item.sentence else ''} \par"


def _rows(line: EquationLine) -> Iterator[str]:
    if line.note.startswith("= 0"):
        yield rf"{line.right} &= 0 && {latex_words(line.note.partition(', ')[2])}"
    else:
        yield f"{line.left} &{'=' if line.left else ''} {line.right}" + (
            rf" && {_note(line.note)}" if line.note else ""
        )
    for part in line.below:
        yield rf"&\quad {part.right} && {_note(part.note)}"


def _note(note: str) -> str:
    for letter, name in {"ω": r"\omega", "α": r"\alpha", "·": r"\cdot"}.items():
        note = note.replace(letter, f"${name}$")
    parts = note.split("$")
    return "".join(latex_words(p) if k % 2 == 0 and p else p for k, p in enumerate(parts))


def _grid(grid: MathTable) -> str:
    head = " & ".join(grid.head)
    rows = " \\\\\n".join(" & ".join(row) for row in grid.rows)
    return (
        rf"\[ \begin{{array}}{{l{'c' * (len(grid.head) - 1)}}}" + f"\n{head} \\\\ \\hline\n{rows}\n\\end{{array}} \\]"
    )


def _counts(counts: Counts) -> str:
    wide = len(counts.rows[0][1])
    rows = [
        f"{latex_words(name)} & " + " & ".join(f"{mul} & {add} & {trig}" for mul, add, trig in several)
        for name, several in counts.rows
    ]
    head = " & ".join([" ", *(r"\times, \div & + & \sin, \cos" for _ in range(wide))])
    columns = "l" + "rrr" * wide
    return (
        rf"\[ \begin{{array}}{{{columns}}}" + f"\n{head} \\\\ \\hline\n" + " \\\\\n".join(rows) + "\n\\end{array} \\]"
    )
