"""One block of tries in a process of its own: `python -m long.block SEARCH FIRST COUNT [SECONDS]` (PYTHONPATH=tests:.).

Prints a line of JSON for each try, [number, outcome, fault, processor time so far], before the next begins, so that
whoever waits knows which try killed the process or never ended. Any exception is a fault: searches catch those that
users are promised.
The same command repeats a try: `KANE_SEED=<number> python -m long.block mechanisms 4711 1`.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from long.tries import SEARCHES, function_of

ROOT = Path(__file__).resolve().parents[2]
MOST_MEMORY = 6 * 2**30
"""Bytes of a process of tries: ten times what the largest of them need."""


class Disagreement(AssertionError):
    """Two routes to one number that do not meet."""


@dataclass(slots=True)
class Block:
    """What some tries of a search came to, from the number `first` on: outcomes and how often, one text per fault.

    `seconds` are those of the clock, `processor` those of processors, but for tries that were killed.
    """

    name: str
    first: int
    done: int = 0
    seconds: float = 0.0
    processor: float = 0.0
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def entries(self) -> dict[str, Any]:
        """All of it by name, for JSON."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def add(self, number: int, outcome: str, fault: str) -> None:
        """Count the outcome of the next try."""
        self.outcomes[outcome] += 1
        self.done = number + 1 - self.first
        if outcome.startswith("FAULT"):
            self.faults.append(f"{self.name} {number}: {outcome}\n{fault}")


def limit_memory() -> None:
    """Let no try of this process fill the machine: what wants more than MOST_MEMORY gets a MemoryError, a fault."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, hard))


def make_tries(name: str, first: int, count: int, seconds: float) -> None:
    """Make the tries and print each outcome; none begins after `seconds`."""
    search, started = function_of(name), time.monotonic()
    limit_memory()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with Path(os.devnull).open("w") as null:  # what the package prints is no outcome
        os.dup2(null.fileno(), 1)
    for number in range(first, first + count):
        if number > first and time.monotonic() - started > seconds:
            break
        print(json.dumps([number, "begins", "", 0.0]), file=out, flush=True)
        try:
            line: list[object] = [number, search(number), ""]
        except Exception as error:
            text = "".join(traceback.format_exception(error)[-6:])
            line = [number, f"FAULT {type(error).__name__}", text[-3000:]]
        print(json.dumps([*line, sum(os.times()[:4])]), file=out, flush=True)
    print(json.dumps([first, "ends", "", 0.0]), file=out, flush=True)


def _lines(process: subprocess.Popen[bytes], hang: float) -> Iterator[str]:
    """Lines of a process until it ends; TimeoutError where it is silent for `hang` seconds of a quiet machine."""
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), b""
    with selectors.DefaultSelector() as ready:
        ready.register(descriptor, selectors.EVENT_READ)
        while True:
            silent = 0.0
            while not ready.select(hang):
                silent += hang
                if silent >= hang * waiting():
                    raise TimeoutError
            chunk = os.read(descriptor, 65536)
            if not chunk:
                return
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line.decode() for line in whole)


def waiting() -> float:
    """How many times as long as on a quiet machine things may take: processes for each core, and one."""
    return 1.0 + os.getloadavg()[0] / (os.cpu_count() or 1)


def run_block(name: str, first: int, count: int, seconds: float = float("inf")) -> Block:
    """Make a block of tries in a child process, as many as `seconds` allow and at least one.

    A signal or a hang is a fault of the try during which it happened; the block goes on after it.
    """
    block, started, ended = Block(name, first), time.monotonic(), False
    while not ended and block.done < count and block.seconds <= seconds:
        ended = _run_child(block, count - block.done, seconds - block.seconds)
        block.seconds = time.monotonic() - started
    return block


def _run_child(block: Block, count: int, seconds: float) -> bool:
    """Make the next tries of a block in one process; whether it came to its own end."""
    number, reason = block.first + block.done, ""
    command = [sys.executable, "-X", "faulthandler", "-m", "long.block", block.name, str(number), str(count)]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            [*command, str(seconds)], stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "PYTHONPATH": path}
        )
        ended, spent = False, 0.0
        try:
            for line in _lines(child, SEARCHES[block.name].hang):
                at, outcome, fault, processor = json.loads(line)
                if outcome == "ends":
                    ended = True
                    continue
                number = at
                if outcome != "begins":
                    block.add(number, outcome, fault)
                    spent = processor
            status = child.wait()
            if status or not ended:
                reason = f"FAULT signal {-status}" if status < 0 else f"FAULT process ended with status {status}"
        except TimeoutError:
            reason = "FAULT hang"
        finally:
            child.kill()
            child.communicate()
        block.processor += spent
        if reason:
            errors.seek(0)
            block.add(number, reason, errors.read()[-3000:].decode(errors="replace"))
    return not reason


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[1] not in SEARCHES:
        sys.exit(f"python -m long.block SEARCH FIRST COUNT [SECONDS], where SEARCH is one of {', '.join(SEARCHES)}")
    make_tries(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]) if sys.argv[4:] else float("inf"))
