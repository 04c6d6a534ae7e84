"""Pieces of HTML: text that stays text, tables, paragraphs. What is not `Markup` is escaped, whoever it came from."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any


def text(value: Any) -> str:
    """Anything as text of the page."""
    return html.escape(str(value))


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, words: int = 1) -> str:
    """A table; the first `words` columns hold words. Cells that are `Markup` stand as they are."""

    def cell(tag: str, i: int, value: Any) -> str:
        kind = ' class="w"' if i < words else ""
        return f"<{tag}{kind}>{value if isinstance(value, Markup) else _breakable(text(value))}</{tag}>"

    head = "".join(cell("th", i, name) for i, name in enumerate(columns))
    body = "".join(f"<tr>{''.join(cell('td', i, v) for i, v in enumerate(row))}</tr>\n" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div>\n'


_LONG_WORD = re.compile(r"[^\s&;]{25,}")


def _breakable(words: str) -> str:
    """Text in which words that are too long for a column may be cut behind signs that join their parts."""
    return _LONG_WORD.sub(lambda word: re.sub(r"([_./=+*-])(?=\w)", r"\1<wbr>", word[0]), words)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def verdict(passed: bool) -> Markup:
    """A word that is seen from afar."""
    return Markup('<span class="ok">ok</span>' if passed else '<span class="no">FAILED</span>')


def details(summary: str, body: str) -> str:
    """Something to be opened by who wants it."""
    return f"<details><summary>{text(summary)}</summary>{body}</details>\n"


def paragraph(words: str) -> str:
    """Words on lines of their own, one for each line of them."""
    return "<p>{}</p>\n".format(text(words).replace("\n", "<br>\n"))


def code_block(words: str) -> str:
    """Text as it stands, line by line."""
    return f"<pre>{text(words)}</pre>\n"


def scroll_bars(boxes: str) -> str:
    """A style sheet by which the boxes of a selector scroll where something is wider, with bars that are always seen:
    browsers that hide their own until a box is scrolled show those that a page draws."""
    return f"""
{boxes} {{ overflow-x: auto; }}
{boxes}::-webkit-scrollbar {{ height: 10px; width: 10px; }}
{boxes}::-webkit-scrollbar-track {{ background: rgba(128, 128, 128, .16); border-radius: 5px; }}
{boxes}::-webkit-scrollbar-thumb {{ background: rgba(128, 128, 128, .6); border-radius: 5px; }}
"""


def _told_without_trust(what: str) -> str:
    """A line that is hidden by a style sheet. Notebooks that somebody else has run drop formulas, frames and style
    sheets until they are trusted."""
    words = f"The notebook is not trusted, so {what}. Run the cell, or choose “Trust Notebook”."
    return f'<style>.kane-distrusted {{ display: none }}</style><p class="kane-distrusted">{text(words)}</p>\n'


DISTRUSTED_FORMULAS = _told_without_trust("formulas lose their powers, indices and fractions")
DISTRUSTED_FRAME = _told_without_trust("pictures and motions are not shown")


__all__ = [
    "DISTRUSTED_FORMULAS",
    "DISTRUSTED_FRAME",
    "Markup",
    "code_block",
    "details",
    "paragraph",
    "scroll_bars",
    "table",
    "text",
    "verdict",
]
