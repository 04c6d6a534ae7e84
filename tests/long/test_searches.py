"""Searches for faults find none, and would find one: no untyped exception, signal, hang or disagreement of two routes.

A short slice of each, always the same, runs with all tests; `make test-long` makes 10⁵ tries with new seeds.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kane.cli.parser import COMMANDS
from laws.trees import planned
from long import ledger, random_impacts
from long.block import MOST_MEMORY, Block, Disagreement, run_block
from long.closures import Closed
from long.command_lines import drawn_line, options_of
from long.interrupted_writes import IN_PLACE, kill_inside
from long.ledger import Ledger
from long.newton import Tree
from long.random_constraints import SINGLE, Drawn, judge
from long.random_mechanisms import drawn_state
from long.tries import SEARCHES, wanted

MUTATED = 2  # the number of an impact that slips, of something that rolls
SHOWN = 5  # faults of a block that a failure shows in full; all are counted


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_finds_no_fault(name: str) -> None:
    count = SEARCHES[name].short
    block = run_block(name, 0, count)
    assert not block.faults, f"{len(block.faults)} faults\n" + "\n".join(block.faults[:SHOWN])
    assert block.done == sum(block.outcomes.values()) == count


@pytest.mark.parametrize("what", ["motion.csv", "model.yaml"])
def test_the_search_for_lost_files_notices_files_written_in_place(what: str) -> None:
    """A mutation check: with a writer that opens the file itself, a kill inside the write loses the file, and the
    search reports it.

    Files written in place were once a fault of the package that kills at moments of the clock alone had not found.
    """

    def is_noticed(part: float) -> bool:
        try:
            kill_inside(what, part, IN_PLACE)
        except Disagreement:
            return True
        return False

    assert any(is_noticed(part) for part in (0.5, 0.4, 0.6))


@pytest.mark.parametrize("make", SINGLE)
def test_the_oracle_notices_another_constraint(make: Callable[..., Closed]) -> None:
    """A mutation check: a constraint that the package is told a little otherwise is a disagreement."""
    rng = np.random.default_rng(3)
    tree = Tree(planned(rng, ["free", "free"], ["x", "y"], ["any", "any"], []))
    q, u, tau, t = drawn_state(tree, rng)
    still = np.zeros(tree.nu)
    closed = make(0, 1, tree.motion(q, still, still, t), rng)
    assert judge(Drawn(tree, [closed], None, q, u, tau, t)) == "accelerations agree, full rank"
    field = next(f for f in ("radius", "semi_axes", "second_at", "at") if hasattr(closed.record, f))
    record: Any = closed.record
    other = replace(closed, record=replace(record, **{field: 1.01 * np.array(getattr(record, field))}))
    with pytest.raises(Disagreement):
        judge(Drawn(tree, [other], None, q, u, tau, t))


def test_the_judge_of_impacts_notices_other_ones() -> None:
    """A mutation check: speeds after an impact that are a little larger, another law of friction, a contact that still
    approaches, permanent constraints that are left."""
    struck, rng, _ = random_impacts.draw(MUTATED)
    u = random_impacts.drawn_speeds(struck, rng)
    assert u is not None
    change = random_impacts.resolve(random_impacts.model_of(struck), struck.q, u, "plastic")
    random_impacts.judge(struck, change, "plastic")
    smooth = replace(struck, touching=[replace(x, friction=0.5 * x.friction) for x in struck.touching])
    for system, other in (
        (struck, replace(change, u_after=1.001 * change.u_after)),
        (struck, replace(change, u_after=change.u_before)),
        (struck, replace(change, u_after=change.u_after + 1e-6)),
        (smooth, change),
    ):
        with pytest.raises(Disagreement):
            random_impacts.judge(system, other, "plastic")


def test_every_command_and_every_option_is_drawn() -> None:
    """But for options that open a window, and `--help`."""
    rng = np.random.default_rng(1)
    drawn = {(line[0], word) for line in (drawn_line(rng) for _ in range(3000)) for word in line[1:]}
    assert {line for line, _ in drawn} >= set(COMMANDS)
    offered = {(command, option) for command in COMMANDS for option, _ in options_of(command)}
    assert {(c, o) for c, o in offered if c != "bench" and o != "--nonsense"} <= drawn


def _block(name: str, first: int, done: int, seconds: float, outcomes: dict[str, int]) -> Block:
    faults = [outcome for outcome in outcomes if outcome.startswith("FAULT")]
    return Block(name, first, done, seconds, 0.5 * seconds, Counter(outcomes), faults)


def test_a_run_continues_the_one_that_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "ledger.jsonl"
    first = Ledger.open(path)
    first.add(_block("files", 0, 70, 3.0, {"read": 69, "FAULT hang": 1}))
    first.add(_block("kills", 0, 2, 9.0, {"whole": 2}))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"name": "files", "first": 70, "do')  # killed while it wrote
    again = Ledger.open(path)
    assert (again.seed, again.done("files"), again.done("kills")) == (first.seed, 70, 2)
    assert again.faults == ["FAULT hang"]
    assert again.unfinished(["kills", "files", "orders"]) == ["orders", "files", "kills"]
    assert Ledger.open(path, seed=again.seed + 1).blocks == []
    changed = Ledger.open(path)
    changed.add(_block("orders", 0, 5, 1.0, {"same": 5}))
    monkeypatch.setattr(ledger, "sources", lambda: "others")
    assert Ledger.open(path).blocks == []


def test_a_finished_search_is_not_continued(tmp_path: Path) -> None:
    run = Ledger.open(tmp_path / "ledger.jsonl")
    run.add(_block("kills", 0, wanted("kills"), 9.0, {"whole": wanted("kills")}))
    assert run.unfinished(["kills", "threads"]) == ["threads"]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited on Linux alone")
def test_a_try_that_wants_all_memory_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        f"import long.hostile_files as f\nf.search = lambda k: str(len(bytearray({2 * MOST_MEMORY})))\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert run_block("files", 1, 1).outcomes == Counter({"FAULT MemoryError": 1})


def test_a_block_puts_faults_down_to_their_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, long.hostile_files as f\n"
        "def search(k):\n"
        "    if k == 2: os.kill(os.getpid(), signal.SIGSEGV)\n"
        "    if k == 3: raise ValueError('untyped')\n"
        "    return 'fine'\n"
        "f.search = search\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    block = run_block("files", 1, 4)
    assert block.done == 4 and block.processor > 0.0
    assert block.outcomes == Counter({"fine": 2, "FAULT signal 11": 1, "FAULT ValueError": 1})
    assert [fault.partition("\n")[0] for fault in block.faults] == [
        "files 2: FAULT signal 11",
        "files 3: FAULT ValueError",
    ]


def test_a_block_that_dies_at_its_end_keeps_its_tries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, signal, long.hostile_files as f\n"
        "atexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))\n"
        "f.search = lambda k: 'fine'\n",
        encoding="utf-8",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    block = run_block("files", 5, 2)
    assert block.done == 2
    assert block.outcomes == Counter({"fine": 2, "FAULT signal 11": 1})
    assert block.faults[0].startswith("files 6: ")
