"""How figures and tables are printed: drawn on a terminal, plain columns in a pipe, JSON on request."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..errors import visible

BAR_AFTER = 0.5
"""Seconds of work before a progress bar appears; shorter work needs none."""


def can_draw(stream: Any = None) -> bool:
    """Whether the stream is a terminal that can draw."""
    stream = sys.stdout if stream is None else stream
    try:
        return bool(getattr(stream, "isatty", lambda: False)()) and os.environ.get("TERM", "") != "dumb"
    except ValueError:  # closed
        return False


def show(*things: Any, end: str = "\n") -> None:
    """Print to standard output; texts of a model cannot command the terminal."""
    print(visible(" ".join(map(str, things))), end=end)


def heading(text: str) -> None:
    """A line above a block of figures."""
    if can_draw():
        from rich.console import Console
        from rich.text import Text

        Console(highlight=False).print(Text(f"\n{visible(text)}", style="bold"))
    else:
        show(f"\n{text}")


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]], *, words: int = 1) -> None:
    """Rows under column names; the first `words` columns hold words, the others figures, flushed right."""
    cells = [[_cell(value) for value in row] for row in rows]
    if can_draw():
        _draw_table(columns, cells, words)
        return
    widths = [max([len(name), *(len(row[i]) for row in cells)]) for i, name in enumerate(columns)]
    for row in [list(columns), *cells]:
        shown = [c.ljust(w) if i < words else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True))]
        show("  ".join(shown).rstrip())


def _draw_table(columns: Sequence[str], cells: Sequence[Sequence[str]], words: int) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(columns):
        drawn.add_column(name, justify="left" if i < words else "right", overflow="fold")
    for row in cells:
        drawn.add_row(*(Text(c) for c in row))
    Console(highlight=False).print(drawn)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else visible(str(value))


def print_json(value: Any) -> None:
    """Print JSON that scripts can read; what is not a finite number is null, which is all that JSON has for it."""
    show(json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False))  # JSON writes \\u001b as we do


def _finite(value: Any) -> Any:
    """The value with None in place of nan and infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(x) for name, x in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(x) for x in value]
    return value


class Bar:
    """A progress bar on standard error that appears when the work turns out to be long."""

    def __init__(self, label: str):
        self._label = label
        self._began = time.perf_counter()
        self._progress: Any = None
        self._task: Any = None

    def __call__(self, fraction: float) -> None:
        if self._progress is None:
            if time.perf_counter() - self._began < BAR_AFTER or not can_draw(sys.stderr):
                return
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn(self._label), BarColumn(), TextColumn("{task.percentage:3.0f} %"))
            self._progress = Progress(
                *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True, redirect_stdout=False
            )
            self._task = self._progress.add_task(self._label, total=1.0)
            self._progress.start()
        self._progress.update(self._task, completed=min(1.0, fraction))

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()


@contextmanager
def bar(label: str) -> Iterator[Bar]:
    """A bar to be called with the fraction done, gone at the end of the block."""
    shown = Bar(label)
    try:
        yield shown
    finally:
        shown.close()
