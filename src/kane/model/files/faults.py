"""What is found wrong with a model file: every fault with its line, and which names are lost by it.

A value that cannot be read raises `Lost` after its fault has been noted. What a faulty entry would have declared is
remembered, so that entries that name it are not reported as faulty.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import ExpressionError, ModelError, Problem
from .nodes import MAX_FAULTS, Node, problem, stop_remark


class Lost(Exception):
    """Something could not be read; why has been noted."""


class TooManyFaults(Exception):
    """As many faults have been noted as are listed: the reading ends here."""


def problems_of(error: ModelError | ExpressionError) -> Sequence[Problem]:
    """What is wrong with a part of a model; arithmetic that fails does not know of which part it is."""
    if isinstance(error, ModelError):
        return error.problems
    return [Problem("", str(error), "the numbers of a model and what is computed from them are finite")]


class FaultCollector:
    """The faults of one reading, in the order of files and lines; and what was left out for them."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int, Problem]] = []  # (rank of the file, line, problem)
        self.lost: set[tuple[str, str]] = set()  # (kind, name) of entries that were left out
        self.lost_words: set[str] = set()  # symbols of entries that were left out
        self._ranks: dict[str, int] = {}

    def note(self, source: str, line: int, where: str, what: str, because: str = "", fix: str = "") -> None:
        rank = self._ranks.setdefault(source, len(self._ranks))
        self.found.append((rank, line, problem(source, line, where, what, because, fix)))
        if len(self.found) >= MAX_FAULTS:
            raise TooManyFaults

    def refuse(self, node: Node, where: str, what: str, because: str = "", fix: str = "") -> Lost:
        """Note a fault at a node; returns what to raise."""
        self.note(node.source, node.line, where, what, because, fix)
        return Lost()

    def locate(self, error: ModelError | ExpressionError, prefix: str, source: str, line: int) -> None:
        """Note the problems of the model itself, whose `where` starts with `prefix`, at a line of the file."""
        for p in problems_of(error):
            self.note(source, line, p.where.removeprefix(prefix), p.what, p.because, p.fix)

    def raise_all(self) -> None:
        """Raise ModelError with everything that was noted, if there is anything."""
        if self.found:
            found = sorted(self.found, key=lambda f: f[:2])
            rank, line, _ = found[-1]
            last = next(source for source, k in self._ranks.items() if k == rank)
            raise ModelError([*(p for _, _, p in found), *stop_remark(last, line, len(found))])
