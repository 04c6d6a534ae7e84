"""A program is the same whatever was asked or parsed before it, in every process, cache or none: every one is lowered
from a graph of its own."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.formulation import Equations
from kane.model import builtin_names

MODELS = ("double-pendulum", "satellite-with-panels", "whipple-bicycle", "stanford-arm-kane")

HASH_SEEDS = ("0", "1", "4711")
OTHERS = [name for name in builtin_names() if name not in MODELS]
every_model = pytest.mark.parametrize("name", [*MODELS, *(pytest.param(n, marks=pytest.mark.long) for n in OTHERS)])
DIGESTS = """
import hashlib, random, sys
import numpy as np
import kane
from kane.formulation import Equations

seed, *models = sys.argv[1:]
for name in models:
    m = kane.load(name)
    order = [w for w in Equations.SIGNATURES if m.constraints or w not in ("constraints", "guarded_dynamics")]
    random.Random(seed).shuffle(order)
    texts = {w: str(m.equations().program(w)) for w in order}
    q, u = m.initial_state
    answers = m.forward_dynamics(q, u, np.ones(len(u))).tobytes() + m.inverse_dynamics(q, u, np.ones(len(u))).tobytes()
    digest = hashlib.sha256(answers)
    for w in sorted(texts):
        digest.update(texts[w].encode())
    print(name, digest.hexdigest())
"""
"""Prints one digest of all programs of each model, asked for in an order of their own, and of compiled answers."""


def names_of(model: kane.Model) -> list[str]:
    """Programs that a model has."""
    rows = ("constraints", "guarded_dynamics")
    return [name for name in Equations.SIGNATURES if model.constraints or name not in rows]


@every_model
def test_programs_do_not_depend_on_the_order_of_questions(name: str) -> None:
    first = kane.load(name)
    alone = {what: str(Equations(kane.load(name).mechanism).program(what)) for what in names_of(first)}
    order = names_of(first)
    random.Random(name).shuffle(order)
    equations = first.equations()
    for what in order:
        assert str(equations.program(what)) == alone[what], f"{what} after {order[: order.index(what)]}"


def test_a_motion_does_not_depend_on_what_was_asked_before() -> None:
    """A double pendulum for 20 s: what differs in the last bit at the start differs in the first digit at the end."""
    asked = kane.load("double-pendulum")
    asked.inverse_dynamics([1.0, 2.0], [0.0, 0.0], [0.0, 0.0])
    asked.energy([1.0, 2.0], [0.0, 0.0])
    motions = [m.simulate(20, q=[1.5, 2.0]) for m in (asked, kane.load("double-pendulum"))]
    assert np.array_equal(motions[0].q, motions[1].q)


@every_model
def test_programs_do_not_depend_on_what_was_parsed_before(name: str) -> None:
    """Events, control laws and measures are parsed into the graph of the description, where they may name what the
    equations of motion compute too: before the first question, and between questions."""
    plain, asked = kane.load(name), kane.load(name)
    x, v = asked.coordinates[-1], asked.speeds[-1]
    texts = [f"sin({x})*cos({x}) + {v}**2", f"(9.81*sin({x}) - {v})*{v}", f"sin({x} + {asked.coordinates[0]})**2"]
    for k, what in enumerate(names_of(plain)):
        asked.mechanism.scalar(texts[k % len(texts)], "event")
        assert str(asked.equations().program(what)) == str(plain.equations().program(what)), what


def digests(seed: str, models: list[str], cache: Path) -> str:
    """What a process of its own prints, with a hash seed and an order of questions of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "KANE_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", DIGESTS, seed, *models], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def assert_same_in_every_process(models: list[str], folder: Path) -> None:
    """Cold caches, one for each hash seed, and then a warm one."""
    found = {seed: digests(seed, models, folder / seed) for seed in HASH_SEEDS}
    found["warm"] = digests(HASH_SEEDS[0], models, folder / HASH_SEEDS[1])
    assert len(set(found.values())) == 1, found


def test_programs_and_answers_are_the_same_in_every_process(tmp_path: Path) -> None:
    assert_same_in_every_process(["double-pendulum", "whipple-bicycle"], tmp_path)


@pytest.mark.long
def test_programs_and_answers_of_all_models_are_the_same_in_every_process(tmp_path: Path) -> None:
    assert_same_in_every_process(list(builtin_names()), tmp_path)
