"""Models and equations travel: pickled or copied, they answer as before, whatever their size and order."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kane
from kane import Model
from kane.model import builtin_names

DEEP = 400
"""Bodies in a row: a walk from the last to the ground is deeper than Python's stack allows."""

WAYS = (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy)


def chain(size: int, order: range) -> Model:
    """A chain of rods whose bodies and joints are declared in the given order."""
    model = Model("chain", gravity=[0.3, 0.0, -9.81])
    for k in order:
        model.body(f"b{k}", mass=1.5, center=[0.1, 0.02, 0.0], inertia={"xx": 0.002, "yy": 0.01, "zz": 0.011})
    for k in order:
        inner = f"b{k - 1}" if k else "ground"
        model.joint(f"j{k}", "revolute", inner, f"b{k}", at=[0.2, 0, 0], axis="xyz"[k % 3])
    assert len(model.bodies) == size
    return model


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("order", [range(DEEP), range(DEEP - 1, -1, -1)], ids=["outward", "inward"])
def test_a_long_chain_travels_in_whatever_order_it_was_declared(way: Callable[[Any], Any], order: range) -> None:
    model = chain(DEEP, order)
    there = way(model)
    assert there.coordinates == model.coordinates
    q, u = np.linspace(-1, 1, DEEP), np.linspace(0.5, -0.5, DEEP)
    assert np.array_equal(there.bias(q, u), model.bias(q, u))
    again = way(model)  # once asked
    assert np.array_equal(again.bias(q, u), model.bias(q, u))


def test_a_loose_branch_travels_too() -> None:
    model = Model("loose")
    for k in range(DEEP + 1):
        model.body(f"b{k}", mass=1.0)
    for k in range(DEEP, 0, -1):
        model.joint(f"j{k}", "revolute", f"b{k - 1}", f"b{k}", axis="z")
    there = pickle.loads(pickle.dumps(model.mechanism))
    assert list(there.bodies) == list(model.bodies)
    assert vars(there).keys() == vars(model.mechanism).keys()


@pytest.mark.parametrize("name", builtin_names())
def test_every_built_in_model_travels_before_and_after_it_was_asked(name: str) -> None:
    model = kane.load(name)
    before = pickle.loads(pickle.dumps(model))
    q, u = model.initial_state
    expected = model.energy(q, u)
    for there in (before, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert there.energy(q, u) == expected


@pytest.mark.parametrize("name", ["pendulum", "four-bar", "rolling-disc", "andrews-squeezer"])
def test_motions_and_equations_travel_and_so_do_models_that_made_them(name: str) -> None:
    model = kane.load(name)
    run = model.simulate((0.0, 1e-3))
    equations = model.equations()
    for way in WAYS:
        assert np.array_equal(way(run).energy(), run.energy())
        assert way(equations).count() == equations.count()
        assert np.array_equal(way(model).simulate((0.0, 1e-3)).q, run.q)
