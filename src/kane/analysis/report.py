"""What a check found: rows of name, statement, value and tolerance, printed as a table."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Any

from ..errors import visible
from ..markup import Markup, paragraph, table, verdict


@dataclass(frozen=True, slots=True)
class CheckRow:
    """One statement that has to hold. `value` is its relative violation; None where it was not checked."""

    name: str
    statement: str
    value: float | None
    tolerance: float
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the statement holds, or was not checked; a value that is not a number does not pass."""
        return self.value is None or self.value <= self.tolerance


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The rows of a check of one model, and what was checked."""

    model: str
    about: str
    rows: tuple[CheckRow, ...]

    @property
    def passed(self) -> bool:
        """Whether every statement holds."""
        return all(row.passed for row in self.rows)

    def row(self, name: str) -> CheckRow:
        """The row of that name."""
        return next(row for row in self.rows if row.name == name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        rows = [
            {
                "name": r.name,
                "statement": r.statement,
                "value": r.value,
                "tolerance": r.tolerance,
                "passed": r.passed,
                "note": r.note,
            }
            for r in self.rows
        ]
        return {"model": self.model, "about": self.about, "passed": self.passed, "rows": rows}

    def html_table(self) -> str:
        """Laws, the verdict, and the value that is compared with a tolerance, as HTML."""
        rows: list[tuple[Any, ...]] = []
        for r in self.rows:
            if r.value is None:
                none = Markup('<span class="soft">not checked</span>')
                rows.append((r.name, none, f"{r.statement} ({r.note})", "", ""))
            else:
                rows.append((r.name, verdict(r.passed), r.statement, f"{r.value:.1e}", f"{r.tolerance:.0e}"))
        return table(("check", "", "", "value", "tolerance"), rows, words=3)

    def _repr_html_(self) -> str:
        return paragraph(f"'{visible(self.model)}', {self.about}: {self._verdict()}") + self.html_table()

    def _verdict(self) -> str:
        return "all checks passed" if self.passed else f"{sum(not r.passed for r in self.rows)} of the checks failed"

    def __str__(self) -> str:
        head = ("check", "", "value", "tolerance", "")
        lines = [head, *(_cells(row) for row in self.rows)]
        widths = [max(_width(line[k]) for line in lines) for k in range(4)]
        table = []
        for line in lines:
            gaps = [" " * (width - _width(cell)) for cell, width in zip(line, widths, strict=False)]
            text = f"{line[0]}{gaps[0]}  {line[1]}{gaps[1]}  {gaps[2]}{line[2]}  {gaps[3]}{line[3]}  {line[4]}"
            table.append(text.rstrip())
        return "\n".join([f"'{visible(self.model)}', {self.about}: {self._verdict()}", *table])


def _width(text: str) -> int:
    """Columns that a text takes: dots above letters take none."""
    return sum(not unicodedata.combining(c) for c in text)


def _cells(row: CheckRow) -> tuple[str, str, str, str, str]:
    if row.value is None:
        return row.name, row.statement, "—", "", f"not checked: {row.note}"
    verdict = "ok" if row.passed else "FAILED"
    return row.name, row.statement, f"{row.value:.1e}", f"{row.tolerance:.0e}", f"{verdict}  {row.note}".rstrip()
