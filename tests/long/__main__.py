"""All searches for faults, for a stated time: `python -m long [SEARCH ...]` (PYTHONPATH=tests:.).

Blocks of tries are made one after another, always of the search that has had the least time, so that those with few or
quick tries come to their end and the others share the rest. What is done is kept in build/long/ledger.jsonl: the next
run goes on where this one stopped, with the same seed, until all tries are made. Ends with a table of tries and
outcomes, and with status 1 if any try was a fault.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from long.block import ROOT, run_block, waiting
from long.ledger import Ledger
from long.tries import LONG_SECONDS, SEARCHES, TESTS_SHARE, wanted

BLOCK_SECONDS = 120.0  # of a quiet machine, at most: a stopped run loses no more, and a block has a process to start


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m long", description="Search for faults.")
    parser.add_argument("searches", nargs="*", metavar="SEARCH", help=f"only these of: {', '.join(SEARCHES)}")
    parser.add_argument("--seconds", type=float, default=(1.0 - TESTS_SHARE) * LONG_SECONDS, help="time for all")
    parser.add_argument("--workers", type=int, default=1, help="blocks at the same time")
    parser.add_argument("--ledger", type=Path, default=ROOT / "build" / "long" / "ledger.jsonl")
    arguments = parser.parse_args()
    unknown = set(arguments.searches) - set(SEARCHES)
    if unknown:
        parser.error(f"no search {', '.join(sorted(unknown))}; there are {', '.join(SEARCHES)}")
    return arguments


def run(ledger: Ledger, names: list[str], seconds: float, workers: int) -> None:
    """Make blocks of these searches until their tries are made or the time is over; one block of each at a time."""
    end, lock, busy = time.monotonic() + seconds, threading.Lock(), set[str]()
    share = seconds * workers / len(names)  # short runs come to every search once

    def work() -> None:
        while True:
            with lock:
                free = [n for n in ledger.unfinished(names) if n not in busy]
                left = end - time.monotonic()
                if not free or left <= 0:
                    return
                name, first = free[0], ledger.done(free[0])
                busy.add(name)
            turn = min(BLOCK_SECONDS * waiting(), share)
            block = run_block(name, first, wanted(name) - first, min(left, turn))
            with lock:
                ledger.add(block)
                busy.discard(name)
                print(f"{name} {first} to {first + block.done - 1}: {dict(block.outcomes)}", flush=True)
                for fault in block.faults:
                    print(fault, flush=True)

    with ThreadPoolExecutor(workers) as pool:
        for future in [pool.submit(work) for _ in range(workers)]:
            future.result()


def main() -> int:
    """Run the searches; 1 if there are faults."""
    arguments = _parse()
    given = os.environ.get("KANE_SEED")
    ledger = Ledger.open(arguments.ledger, int(given) if given else None)
    os.environ["KANE_SEED"] = str(ledger.seed)
    before = len(ledger.blocks)
    print(f"KANE_SEED={ledger.seed}, {before} blocks made earlier, {arguments.seconds:.0f} s", flush=True)
    os.environ["KANE_CACHE_DIR"] = str(arguments.ledger.with_name("cache").absolute())  # of compiled code: not a user's
    run(ledger, arguments.searches or list(SEARCHES), arguments.seconds, arguments.workers)
    print("\n".join(ledger.table()))
    where = f"{platform.machine()}, Python {platform.python_version()}"
    print(f"KANE_SEED={ledger.seed}, {time.strftime('%Y-%m-%d')}, {where}")
    print(f"{len(ledger.faults)} faults" if ledger.faults else "no fault")
    left = ledger.unfinished(SEARCHES)
    print(f"to go on: the same command ({', '.join(left)})" if left else "all tries are made")
    return 1 if ledger.faults else 0


if __name__ == "__main__":
    sys.exit(main())
