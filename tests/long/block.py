"""One block of tries in a process of its own: `python -m long.block SEARCH FIRST COUNT` (PYTHONPATH=tests:.).

Prints a line of JSON for each try, [number, outcome, fault], before the next begins, so that whoever waits knows which
try killed the process or never ended. Any exception is a fault: searches catch those that users are promised.
The same command repeats a try: `KANE_SEED=<number> python -m long.block mechanisms 4711 1`.
"""

from __future__ import annotations

import importlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from long.tries import TRIES, leave

Search = Callable[[int], str]
ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    "files": "hostile_files",
    "commands": "command_lines",
    "arguments": "odd_arguments",
    "programs": "random_programs",
    "mechanisms": "random_mechanisms",
    "constrained": "random_constraints",
    "linkages": "tilted_linkages",
    "sequences": "random_sequences",
    "orders": "random_orders",
    "threads": "thread_storms",
    "kills": "interrupted_writes",
    "full disks": "interrupted_writes",
}
"""Where each search is: a module of this folder with a function `search`, or `search_<name>`."""


class Disagreement(AssertionError):
    """Two routes to one number that do not meet."""


def search_named(name: str) -> Search:
    """The function that makes one try."""
    module = importlib.import_module(f"long.{MODULES[name]}")
    return getattr(module, f"search_{name.replace(' ', '_')}", None) or module.search


def run_block(name: str, first: int, count: int) -> None:
    """Make the tries and print each outcome."""
    search = search_named(name)
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    with Path(os.devnull).open("w") as null:  # what the package prints is no outcome
        os.dup2(null.fileno(), 1)
    for number in range(first, first + count):
        print(json.dumps([number, "begins", ""]), file=out, flush=True)
        try:
            line = [number, search(number), ""]
        except Exception as error:
            text = "".join(traceback.format_exception(error)[-6:])
            line = [number, f"FAULT {type(error).__name__}", text[-3000:]]
        print(json.dumps(line), file=out, flush=True)


def _lines(process: subprocess.Popen[bytes], hang: float) -> Iterator[str]:
    """Lines of a process until it ends; TimeoutError where it is silent for `hang` seconds."""
    assert process.stdout is not None
    descriptor, rest = process.stdout.fileno(), b""
    with selectors.DefaultSelector() as ready:
        ready.register(descriptor, selectors.EVENT_READ)
        while True:
            if not ready.select(hang):
                raise TimeoutError
            chunk = os.read(descriptor, 65536)
            if not chunk:
                return
            *whole, rest = (rest + chunk).split(b"\n")
            yield from (line.decode() for line in whole)


def faults_of_block(name: str, first: int, count: int) -> list[str]:
    """Make a block of tries in a child process and leave its outcomes; returns one text per fault.

    A signal or a hang is a fault of the try during which it happened; the block goes on after it.
    """
    outcomes: Counter[str] = Counter()
    faults: list[str] = []
    at, end = first, first + count
    while at < end:
        number, reason = at, ""
        command = [sys.executable, "-X", "faulthandler", "-m", "long.block", name, str(at), str(end - at)]
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests"), str(ROOT)])
        with tempfile.TemporaryFile() as errors:
            child = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "PYTHONPATH": path}
            )
            try:
                for line in _lines(child, TRIES[name].hang):
                    number, outcome, fault = json.loads(line)
                    if outcome == "begins":
                        continue
                    outcomes[outcome] += 1
                    at = number + 1
                    if outcome.startswith("FAULT"):
                        faults.append(f"{name} {number}: {outcome}\n{fault}")
                status = child.wait()
                if status or at < end:
                    reason = f"FAULT signal {-status}" if status < 0 else f"FAULT process ended with status {status}"
            except TimeoutError:
                reason = "FAULT hang"
            finally:
                child.kill()
                child.communicate()
            if reason:
                errors.seek(0)
                outcomes[reason] += 1
                faults.append(f"{name} {number}: {reason}\n{errors.read()[-3000:].decode(errors='replace')}")
                at = number + 1
    leave(name, outcomes)
    return faults


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in TRIES:
        sys.exit(f"python -m long.block SEARCH FIRST COUNT, where SEARCH is one of {', '.join(TRIES)}")
    run_block(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
