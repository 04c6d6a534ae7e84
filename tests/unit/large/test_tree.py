"""Layout of large trees: O(n) memory, places of everything, and what stands in the way of recursion named."""

from __future__ import annotations

import numpy as np
import pytest

from kane import Model
from kane.errors import ModelError
from kane.large import LargeAnswers, LargeTree, obstacles
from kane.model import Force, Spring
from unit.large.mechanisms import states, tree

NUMBERS_PER_BODY = 40  # of workspace: what one revolute joint keeps, and a share of the slots


@pytest.mark.parametrize("branches", [1, 2, 5])
def test_memory_grows_with_the_number_of_bodies_alone(branches: int) -> None:
    small, large = LargeTree(tree(100, branches).mechanism), LargeTree(tree(400, branches).mechanism)
    assert large.place_at - small.place_at <= 300 * NUMBERS_PER_BODY
    assert len(large.data) == 4 * len(small.data)


def test_a_chain_of_any_length_needs_the_same_few_slots() -> None:
    def slots(size: int) -> int:
        return len(np.unique(LargeTree(tree(size).mechanism).columns["slot"]))

    assert slots(300) == slots(20) <= 3


def test_no_body_overwrites_what_another_still_waits_for() -> None:
    """Between a body and its last child no other body uses its slot, outward or inward."""
    laid = LargeTree(tree(200, 3).mechanism)
    slot, parent = laid.columns["slot"], laid.parent
    last = {int(p): k for k, p in enumerate(parent) if p >= 0}
    for body, child in last.items():
        assert slot[body] not in slot[body + 1 : child + 1]


def test_answers_follow_the_order_of_coordinates() -> None:
    model, turned = tree(6, 2), tree(6, 2)
    q, u, x = states(model, 3, 1)
    turned.mechanism.order_coordinates(model.coordinates[::-1])
    free = np.zeros(0)
    here = LargeAnswers(model.mechanism).answer("forward_dynamics", 0.0, (q, u, x), free)
    there = LargeAnswers(turned.mechanism).answer("forward_dynamics", 0.0, (q[:, ::-1], u[:, ::-1], x[:, ::-1]), free)
    assert np.array_equal(here, there[:, ::-1])


def test_bodies_may_be_declared_from_the_outside_in() -> None:
    inside, outside = tree(8), Model("tree", gravity=[0.3, 0.0, -9.81])
    for k in reversed(range(8)):
        outside.body(f"b{k}", mass=1.5, center=[0.1, 0.02, 0.0], inertia={"xx": 0.002, "yy": 0.01, "zz": 0.011})
    for k in reversed(range(8)):
        outside.joint(f"j{k}", "revolute", f"b{k - 1}" if k else "ground", f"b{k}", at=[0.2, 0, 0], axis="xyz"[k % 3])
    q, u, x = states(inside, 2, 3)
    free = np.zeros(0)
    here = LargeAnswers(inside.mechanism).answer("inverse_dynamics", 0.0, (q, u, x), free)
    there = LargeAnswers(outside.mechanism).answer("inverse_dynamics", 0.0, (q[:, ::-1], u[:, ::-1], x[:, ::-1]), free)
    assert np.array_equal(here, there[:, ::-1])


def test_everything_that_recursion_does_not_do_is_named() -> None:
    model = tree(4)
    model.body("follower", mass=1.0)
    model.joint("gear", "coupled", "b0", "follower", follows="j1", moves="revolute", axis="z", ratio=2.0)
    model.load("push", Force("b1", [1.0, 0.0, 0.0]))
    model.load("band", Spring("b1", "b3", stiffness=3.0))
    model.particle("dust", 0.1, frame="N", origin="O")
    named = [problem.where for problem in obstacles(model.mechanism)]
    assert [where.split(" / ")[1] for where in named] == ["body 'dust'", "joint 'gear'", "load 'push'", "load 'band'"]


def test_speeds_chosen_freely_are_named() -> None:
    model = tree(2)
    model.set_speeds({"s0": "q_j0' + q_j1'", "s1": "q_j1'"})
    assert [problem.where.split(" / ")[1] for problem in obstacles(model.mechanism)] == ["speed 's0'"]


def test_a_joint_that_moves_no_mass_is_refused_by_name() -> None:
    model = tree(3)
    model.body("tip")
    model.joint("last", "revolute", "b2", "tip")
    with pytest.raises(ModelError, match=r"speed 'u_last': moves no mass"):
        LargeTree(model.mechanism)
