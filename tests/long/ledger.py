"""What a long run has done, block by block, in a file that the next run continues.

The first line says which seed the tries are drawn with and which sources they judge; each further line is a block, so
that a run that is stopped in any way loses at most the block it was in. Tries of other sources prove nothing about
these: where a source has changed, a run begins anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from long.block import ROOT, Block
from long.tries import SEARCHES, wanted


def sources() -> str:
    """A hash of the package and of the tests that the searches are made of."""
    digest = hashlib.sha256()
    for path in sorted([*(ROOT / "src").rglob("*"), *(ROOT / "tests").rglob("*.py")]):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


class Ledger:
    """Blocks of one seed and one state of the sources, in a file of JSON lines."""

    def __init__(self, path: Path, seed: int, blocks: Iterable[Block]):
        self.path, self.seed = path, seed
        self.blocks = list(blocks)

    @classmethod
    def open(cls, path: Path, seed: int | None = None) -> Ledger:
        """The ledger to continue, if it is of these sources, of `seed` where one is given, and not complete; else a new
        one, with a seed from the clock."""
        lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        if lines:
            head = json.loads(lines[0])
            ledger = cls(path, head["seed"], _blocks(lines[1:]))
            if head["sources"] == sources() and seed in (None, ledger.seed) and ledger.unfinished(SEARCHES):
                return ledger
        new = cls(path, time.time_ns() // 1_000_000 % 2**32 if seed is None else seed, ())
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"seed": new.seed, "sources": sources()}) + "\n", encoding="utf-8")
        return new

    def add(self, block: Block) -> None:
        """Keep a block, on disk before anything else happens."""
        self.blocks.append(block)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(block.entries()) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def done(self, name: str) -> int:
        """Tries of a search so far, which are those with the numbers below."""
        return sum(b.done for b in self.blocks if b.name == name)

    def seconds(self, name: str) -> float:
        """Time (s) that a search has had so far."""
        return sum(b.seconds for b in self.blocks if b.name == name)

    def processor(self, name: str) -> float:
        """Processor time (s) of it."""
        return sum(b.processor for b in self.blocks if b.name == name)

    def unfinished(self, names: Iterable[str]) -> list[str]:
        """Searches with tries left, the one that has had the least time first."""
        return sorted((n for n in names if self.done(n) < wanted(n)), key=self.seconds)

    @property
    def faults(self) -> list[str]:
        """One text per fault."""
        return [fault for block in self.blocks for fault in block.faults]

    def table(self) -> list[str]:
        """One line for each search, then one for each of its outcomes, with how often it came."""
        lines = [f"{'search':<12} {'tries':>8} {'of':>8} {'time':>9} {'processor':>10}  outcome"]
        for name in SEARCHES:
            outcomes = sum((b.outcomes for b in self.blocks if b.name == name), Counter[str]())
            time, processor = self.seconds(name), self.processor(name)
            lines.append(f"{name:<12} {self.done(name):>8} {wanted(name):>8} {time:>7.0f} s {processor:>8.0f} s")
            lines.extend(f"{'':<12} {count:>8} {'':>30} {outcome}" for outcome, count in outcomes.most_common())
        return lines


def _blocks(lines: Iterable[str]) -> list[Block]:
    """The blocks of a ledger; a last line that was not written to its end is none."""
    found = []
    for line in lines:
        try:
            entries = json.loads(line)
        except ValueError:
            break
        found.append(Block(**{**entries, "outcomes": Counter(entries["outcomes"])}))
    return found
