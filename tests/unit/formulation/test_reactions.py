"""Reactions by three routes on random trees and under every kind of constraint, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kane import InputError, Model, ModelError
from kane.analysis.check import random_states
from kane.api.reactions import Reactions
from kane.constraints.multipliers import Balance, multipliers_by_released_rows, multipliers_by_singular_values
from kane.formulation.dense import dense_equations
from kane.model import Distance, Loop, PointOnPlane, Spring
from laws.guided import BETWEEN, TIES
from laws.trees import Plan, build, plans
from seeds import FIXED, examples, generator

Array = NDArray[np.float64]

AGREEMENT = 1e-9  # relative to the largest force and moment: three formulations, conditions up to 1e5
EXACT = 1e-12
METHODS = ("auxiliary", "multipliers", "complement")
ROUTES = (multipliers_by_singular_values, multipliers_by_released_rows)


def sizes(found: Reactions) -> float:
    """The largest force or moment."""
    held = [*found.joints.values(), *(c for c in found.constraints.values() if c.force is not None)]
    return max(float(max(np.abs(r.force).max(), np.abs(r.moment).max())) for r in held)


def agree(found: Reactions, other: Reactions, tolerance: float = AGREEMENT) -> None:
    """Both have the same reactions, about the same points, and leave the same components open."""
    assert list(found) == list(other)
    assert found.undetermined == other.undetermined
    size = tolerance * max(sizes(other), 1.0)
    assert np.abs(found.multipliers - other.multipliers).max(initial=0.0) <= size
    for name in found:
        one, two = found[name], other[name]
        assert (one.force is None) == (two.force is None)
        if one.force is not None:
            for part in ("force", "moment", "point"):
                assert np.abs(getattr(one, part) - getattr(two, part)).max() <= size, (name, part)
        for variable, effort in one.efforts.items():
            assert np.abs(effort - two.efforts[variable]).max() <= size


@settings(max_examples=examples(5), derandomize=FIXED, deadline=None)
@given(plans(size=4))
def test_three_routes_agree_on_random_trees(plan: Plan) -> None:
    model = build(plan)
    states = random_states(dense_equations(model.mechanism), 2, 0)
    found = [model.reactions(states.q, states.u, states.tau, t=states.t, method=m) for m in METHODS]
    agree(found[0], found[2])
    agree(found[1], found[2])
    assert not found[0].undetermined


@settings(max_examples=examples(3), derandomize=FIXED, deadline=None)
@given(plans(size=2), st.integers(0, 2**32 - 1))
def test_three_routes_agree_for_any_choice_of_speeds(plan: Plan, seed: int) -> None:
    model = build(plan, np.random.default_rng(seed))
    states = random_states(dense_equations(model.mechanism), 2, 0)
    found = [model.reactions(states.q, states.u, states.tau, t=states.t, method=m) for m in METHODS]
    agree(found[0], found[2])
    agree(found[1], found[2])


def guided() -> Model:
    """A body A in a gimbal, with a fork F, a wheel W in it and a slider S, and B, which turns and carries K."""
    first = {"euler": "body 321", "angles": [0.1, 0.2, 0.3]}
    model = Model("guided", gravity=[1.0, 2.0, -9.0])
    model.parameter("R", 0.4)
    for k, name in enumerate("ABFWSK"):
        inertia = {"xx": 0.4, "yy": 0.5, "zz": 0.6, "xy": 0.02}
        model.body(name, mass=1.0 + 0.3 * k, center=[0.1, 0.05 * k, -0.1], inertia=inertia)
    model.joint("gimbal", "gimbal", "ground", "A", sequence="body 312", child_at=(0.3, -0.2, 0.1))
    model.joint("table", "revolute", "ground", "B", axis="z", at=(0, 0.1, 0))
    model.joint("fork", "revolute", "A", "F", axis="x", at=(0.1, -0.2, 0.3), rotation=first, coordinates=["fork"])
    model.joint("spin", "revolute", "F", "W", axis="y", at=(-0.3, 0.1, 0.2), child_at=(0, 0.2, 0), coordinates=["spin"])
    model.joint("slide", "prismatic", "A", "S", axis=(0.0, 0.6, 0.8), coordinates=["slide"])
    model.joint("arm", "revolute", "B", "K", axis="x", at=(0.1, -0.2, 0.3), child_at=(-0.3, 0.1, 0.2))
    model.load("rope", Spring("W", "K", first_at=(0.1, 0, 0), stiffness=4.0, damping=0.3))
    return model


CASES = {case.name: case for case in (*BETWEEN, *TIES)}
SOME = [
    ("revolute along first", "B"),
    ("distance", "ground"),
    ("point on curve", "B"),
    ("wheel", "B"),
    ("disc of its own", "A"),
    ("ball on ball", "B"),
    ("ellipsoid", "ground"),
    ("gear", "ground"),
    ("configuration", "ground"),
]


@pytest.mark.parametrize(("name", "on"), SOME)
def test_three_routes_agree_under_constraints(name: str, on: str) -> None:
    """At places where nothing is special, moving as the constraint allows: reactions are linear in b there too."""
    model = guided()
    constraint = CASES[name].build(model.mechanism, on)
    states, t = random_states(dense_equations(model.mechanism), 1, 3), 0.4
    q, u, tau = states.q[0], states.u[0], states.tau[0]
    rows = model.constraint_rows(q, u, t=t)
    u = u - np.linalg.pinv(rows.A) @ rows.rate
    found = [model.reactions(q, u, tau, t=t, method=m, anywhere=True) for m in METHODS]
    agree(found[0], found[2])
    agree(found[1], found[2])
    assert len(found[0].multipliers) == len(constraint.rows)
    if constraint.second is None:
        assert found[0].constraints["c"].efforts


@settings(max_examples=examples(3), derandomize=FIXED, deadline=None, phases=[Phase.generate])
@given(
    plans(kinds=("revolute", "prismatic", "universal", "weld"), size=4).filter(lambda plan: len(plan.bodies) > 1),
    st.sampled_from(["revolute", "spherical", "weld", "distance"]),
    st.integers(0, 2**32 - 1),
)
def test_three_routes_agree_on_random_loops(plan: Plan, kind: str, seed: int) -> None:
    """A loop from the last body to another one or to the ground; often it has fewer freedoms than rows."""
    rng, model = np.random.default_rng(seed), build(plan)
    last = len(plan.bodies) - 1
    other = int(rng.integers(-1, last))
    ends: dict[str, Any] = {"first_at": rng.normal(size=3).tolist(), "second_at": rng.normal(size=3).tolist()}
    bodies = ("ground" if other < 0 else f"b{other}", f"b{last}")
    if kind == "distance":
        model.constrain("loop", Distance(*bodies, length=1.2, **ends))
    else:
        model.constrain("loop", Loop(kind, *bodies, **ends))
    states = random_states(dense_equations(model.mechanism), 1, 0)
    q, u, tau, t = states.q[0], states.u[0], states.tau[0], float(states.t[0, 0])
    rows = model.constraint_rows(q, u, t=t)
    u = u - np.linalg.pinv(rows.A) @ rows.rate
    udot = moving(model, q, u, tau, t)
    found = [model.reactions(q, u, tau, t=t, udot=udot, method=m, anywhere=True) for m in METHODS]
    agree(found[0], found[2])
    agree(found[1], found[2])


def moving(model: Model, q: Array, u: Array, tau: Array, t: float) -> Array:
    """u̇ of the equations with multipliers, M u̇ − Aᵀ λ = tau − bias and A u̇ = b, by least squares."""
    rows, M = model.constraint_rows(q, u, t=t), model.mass_matrix(q, t=t)
    m, n = rows.A.shape
    left = np.block([[M, -rows.A.T], [rows.A, np.zeros((m, m))]])
    right = np.concatenate([tau - model.bias(q, u, t=t), rows.b])
    return np.asarray(np.linalg.lstsq(left, right, rcond=1e-11)[0][:n], dtype=float)


@pytest.mark.parametrize("kind", ["prescribed", "coupled", "wheel"])
def test_three_routes_agree_for_joints_without_speeds_of_their_own(kind: str) -> None:
    model = Model(kind, gravity=[0.0, -9.81, 0.5])
    inertia = {"xx": 0.1, "yy": 0.2, "zz": 0.25, "xz": 0.01}
    for name in ("a", "b", "c"):
        model.body(name, mass=1.3, center=[0.3, 0.1, -0.1], inertia=inertia)
    model.joint("one", "revolute", "ground", "a", axis="z", speeds=["u1"])
    if kind == "prescribed":
        model.joint("two", "revolute", "a", "b", axis="x", at=[0.5, 0, 0], prescribed=["sin(2*t)"])
    elif kind == "coupled":
        options: dict[str, Any] = {"moves": "revolute", "follows": "one", "ratio": -0.7, "offset": 0.1}
        model.joint("two", "coupled", "a", "b", axis="x", at=[0.5, 0, 0], **options)
    else:
        model.joint("two", "weld", "a", "b", at=[0.5, 0, 0])
        model.reaction_wheel("flywheel", "b", (0.0, 0.6, 0.8), 0.03, at=[0.1, 0, 0])
    model.joint("three", "universal", "b", "c", at=[0.2, 0.1, 0.0])
    rng = generator(2)
    q, u, tau = (rng.uniform(-1, 1, (3, len(names))) for names in (model.coordinates, model.speeds, model.speeds))
    t = np.array([[0.1], [0.5], [1.1]])
    found = [model.reactions(q, u, tau, t=t, method=m) for m in METHODS]
    agree(found[0], found[2], EXACT)
    agree(found[1], found[2], EXACT)


def test_a_batch_is_what_its_states_are_and_frames_turn_components() -> None:
    model = guided()
    model.constrain("c", Loop("revolute", "B", "W", axis="y"))
    states = random_states(dense_equations(model.mechanism), 3, 1)
    many = model.reactions(states.q, states.u, states.tau, t=states.t, anywhere=True)
    turned = model.reactions(states.q, states.u, states.tau, t=states.t, frame="F", on="parent", anywhere=True)
    for k in range(3):
        one = model.reactions(states.q[k], states.u[k], states.tau[k], t=float(states.t[k, 0]), anywhere=True)
        R = model.at("F").pose(states.q[k])[0]
        for name in one:
            size = EXACT * sizes(one)
            assert np.abs(one[name].force - many[name].force[k]).max() <= size
            assert np.abs(one[name].moment + R @ turned[name].moment[k]).max() <= size
    assert (turned["c"].on, many["c"].on, turned["slide"].on) == ("B", "W", "A")


def test_parameters_that_stay_free_take_effect_at_once() -> None:
    model = Model("hanging", gravity=[0, 0, -10])
    model.parameter("m", 2.0, free=True)
    model.body("load", mass="m")
    model.joint("hook", "weld", "ground", "load")
    model.body("pointer", mass=1.0, inertia={"xx": 1.0, "zz": 1.0})
    model.joint("pivot", "revolute", "load", "pointer", axis="z")
    for mass in (2.0, 5.0):
        model.set_parameters(m=mass)
        for method in METHODS:
            found = model.reactions([0.0], [0.0], method=method)["hook"].force
            assert np.abs(found - [0, 0, 10 * (mass + 1)]).max() <= EXACT * 100


def test_along_a_trajectory_reactions_have_its_times() -> None:
    model = Model("pendulum", gravity=[0, -9.81, 0])
    model.body("bob", mass=1.0, center=[0, -1, 0])
    model.joint("pin", "revolute", "ground", "bob", axis="z", initial=[1.2])
    run = model.simulate(np.linspace(0, 2, 21), rtol=1e-11, atol=1e-12)
    tension = run.reactions(frame="bob")["pin"].force[:, 1]
    theta = run.q[:, 0]
    by_energy = 9.81 * (3 * np.cos(theta) - 2 * np.cos(1.2))  # m g (3 cos θ − 2 cos θ0), released from rest
    assert np.abs(tension - by_energy).max() <= 1e-8
    assert "21 states" in repr(run.reactions())


# multipliers ---------------------------------------------------------------------------------------------------------


@settings(max_examples=examples(30), derandomize=FIXED, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_multipliers_are_the_least_that_balance(n: int, rank: int, more: int, seed: int) -> None:
    """Both routes find the solution of Aᵀ λ = g whose λ²/k is least: it has no part in the null space, measured so."""
    rng = np.random.default_rng(seed)
    rank = min(rank, n)
    rows = rng.normal(size=(4, rank, n))
    A = np.concatenate([rows, rng.normal(size=(4, more, rank)) @ rows], axis=1)[:, rng.permutation(rank + more)]
    mass = rng.uniform(0.5, 3.0, (4, n))
    g = np.einsum("bmn,bm->bn", A, rng.normal(size=(4, rank + more)))
    stiffness = rng.uniform(0.2, 5.0, rank + more)
    balance = Balance(A, g, mass, stiffness)
    for k, found in enumerate(solve(balance) for solve in ROUTES):
        size = np.abs(found.values).max()
        conditions = np.linalg.cond(rows).max()
        assert np.abs(np.einsum("bmn,bm->bn", A, found.values) - g).max() <= AGREEMENT * size * conditions, k
        assert np.abs(np.einsum("bmn,bmk->bnk", A, found.null)).max(initial=0.0) <= AGREEMENT * conditions
        scaled = found.values / np.sqrt(stiffness)
        along = np.einsum("bmk,bm->bk", found.null / np.sqrt(stiffness)[:, None], scaled)
        assert np.abs(along).max(initial=0.0) <= AGREEMENT * np.abs(scaled).max() * conditions
        assert all(np.linalg.matrix_rank(x, tol=1e-6) == more for x in found.null)


def test_a_row_of_rounding_errors_is_one_that_is_always_satisfied() -> None:
    """Of its multiplier nothing is known, and it changes no other one."""
    A = np.array([[[1.0, 2.0], [3e-17, -2e-17]]])
    g = np.array([[5.0, 10.0]])
    for solve in ROUTES:
        found = solve(Balance(A, g, np.ones((1, 2))))
        assert np.abs(found.values - [5, 0]).max() <= EXACT
        assert (found.null[0] != 0).any(axis=1).tolist() == [False, True]


def test_samples_of_different_rank_are_each_judged_by_themselves() -> None:
    """Two rods, parallel in one sample and not in the other."""
    A = np.array([[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 2.0]]])
    g = np.array([[2.0, 0.0], [2.0, 3.0], [0.0, 4.0]])
    for solve in ROUTES:
        found = solve(Balance(A, g, np.ones((3, 2))))
        assert np.abs(found.values - [[1, 1], [2, 3], [0, 2]]).max() <= EXACT
        loose = (found.null != 0).any(axis=2)
        assert loose.tolist() == [[True, True], [False, False], [True, False]]


# refusals ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arm() -> Model:
    model = Model("arm", gravity=[0, 0, -9.81])
    model.body("link", mass=1.0, center=[0.5, 0, 0], inertia={"yy": 0.1, "zz": 0.1})
    model.joint("hinge", "revolute", "ground", "link", axis="y")
    return model


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"on": "link"}, "on = 'link'"),
        ({"method": "guess"}, "auxiliary, multipliers, complement"),
        ({"tau": [1.0, 2.0]}, "tau has shape (2,)"),
        ({"tau": [np.nan]}, "tau is not finite"),
        ({"tau": np.zeros((2, 1)), "t": np.zeros((3, 1))}, "batches of different size"),
        ({"tau": [0.0], "udot": [5.0]}, "left over"),
        ({"tau": [0.0], "udot": [5.0], "method": "complement"}, "left over"),
    ],
    ids=lambda x: str(x),
)
def test_what_cannot_be_answered_is_refused_in_words(arm: Model, options: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as refused:
        arm.reactions([0.1], [0.2], **options)
    assert says in str(refused.value)


def test_unknown_names_are_told_with_those_that_are_known(arm: Model) -> None:
    found = arm.reactions([0.1], [0.2])
    with pytest.raises(KeyError, match="hinge"):
        found["knee"]
    with pytest.raises(InputError, match="no row"):
        found.multiplier("loop")
    with pytest.raises(ModelError, match="link"):
        arm.reactions([0.1], [0.2], frame="lnk")


def test_bodies_of_the_analysts_frames_are_refused() -> None:
    model = Model("analyst")
    model.body("bob", mass=1.0, frame="N", origin="O")
    model.body("arm", mass=1.0, inertia={"xx": 1.0, "zz": 1.0})
    model.joint("hinge", "revolute", "bob", "arm", axis="z")
    with pytest.raises(ModelError, match="bob"):
        model.reactions(np.zeros(len(model.coordinates)), np.zeros(len(model.speeds)))


def test_a_name_of_a_joint_and_a_constraint_is_not_guessed() -> None:
    model = Model("twins", gravity=[0, 0, -10])
    model.body("load", mass=1.0)
    model.joint("same", "prismatic", "ground", "load", axis="z")
    model.constrain("same", PointOnPlane("ground", "load", height=0.0))
    found = model.reactions([0.0], [0.0])
    with pytest.raises(InputError, match="joint and a constraint"):
        found["same"]
    assert np.abs(found.constraints["same"].force - [0, 0, 10]).max() <= EXACT * 10
    assert list(found) == ["same (joint)", "same (constraint)"] and "same (constraint)" in repr(found)
    assert dict(found)["same (constraint)"] is found.constraints["same"]
