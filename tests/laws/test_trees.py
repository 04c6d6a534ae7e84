"""Laws of mechanics on random trees of bodies with every joint type and load, by the fast route and the dense one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kane import Model
from kane.analysis import check
from kane.analysis.check import random_states
from kane.analysis.programs import Array, Programs, States
from kane.formulation.dense import dense_equations
from laws.trees import EULER, KINDS, MOUNTS, Plan, build, choose_speeds, planned, plans, reframed, rotation, turned
from seeds import FIXED, examples, generator

SAMPLES = 2
BACKEND = "numpy"  # formulation is what is tested here; backends are held against the interpreter elsewhere
AGREEMENT = 1e-9  # relative to the sum of the sizes of all terms, as in `kane.analysis.check`
DRIFT = 1e-8  # of momentum in one second at rtol 1e-10
SEEDS = st.integers(0, 2**32 - 1)


def held(model: Model) -> None:
    """All laws of `check` hold."""
    report = check(model.mechanism, samples=SAMPLES, backend=BACKEND)
    assert report.passed, str(report)


def efforts(model: Model, states: States) -> Array:
    return Programs(model.equations(), BACKEND)("inverse_dynamics", states)


def scale(model: Model, states: States) -> Array:
    """Sum of the sizes of all terms of each effort."""
    dense = dense_equations(model.mechanism)
    rows = zip(states.q, states.u, states.t, states.udot, strict=True)
    return np.array([dense.state(q, u, float(t[0])).effort_scale(udot) for q, u, t, udot in rows])


@settings(max_examples=examples(6), derandomize=FIXED)
@given(plans(size=8))
def test_every_law_holds_on_a_random_tree(plan: Plan) -> None:
    held(build(plan))


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=2), SEEDS)
def test_every_law_holds_for_any_choice_of_speeds(plan: Plan, seed: int) -> None:
    held(build(plan, np.random.default_rng(seed)))


def test_every_law_holds_on_a_tree_of_all_joint_types() -> None:
    kinds = [
        "free",
        "spherical",
        "weld",
        "gimbal",
        "universal",
        "cylindrical",
        "screw",
        "planar",
        "prismatic",
        "revolute",
    ]
    plan = planned(generator(8), kinds, [None] * 10, ["any", "none"] * 5, ["force", "spring"])
    held(build(plan))


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "weld"])
@pytest.mark.parametrize("mount", MOUNTS)
def test_every_law_holds_for_a_joint_on_a_moving_body(kind: str, mount: str) -> None:
    rng = generator(5)
    plan = planned(rng, ["revolute", kind, "weld"], ["x", "y", None], [mount] * 3, [])
    chain = [replace(b, parent=k - 1) for k, b in enumerate(plan.bodies)]
    held(build(replace(plan, bodies=tuple(chain))))


@pytest.mark.parametrize("sequence", EULER)
def test_every_law_holds_for_every_euler_sequence(sequence: str) -> None:
    plan = planned(generator(3), ["gimbal"], [None], ["any"], [])
    body = replace(plan.bodies[0], options={"sequence": sequence})
    held(build(replace(plan, bodies=(body,))))


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=2), SEEDS)
def test_laws_hold_when_parts_move_at_zero_speed(plan: Plan, seed: int) -> None:
    """u = Y s + Z(q, t): what is defined so drifts, and has no plain power balance."""
    model = build(replace(plan, loads=()))
    choose_speeds(model, np.random.default_rng(seed), drift=True)
    report = check(model.mechanism, samples=SAMPLES, backend=BACKEND)
    assert report.passed, str(report)
    assert report.row("power balance").value is None


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=3, loads=("force", "torque", "spring")), SEEDS)
def test_motion_does_not_depend_on_the_choice_of_speeds(plan: Plan, seed: int) -> None:
    usual = build(replace(plan, loads=()))
    chosen = build(replace(plan, loads=()), np.random.default_rng(seed))
    states = random_states(dense_equations(usual.mechanism), SAMPLES, 1)
    sdot = Programs(usual.equations(), BACKEND)("forward_dynamics", states)
    dense = dense_equations(chosen.mechanism)
    for k, (q, s, tau) in enumerate(zip(states.q, states.u, states.tau, strict=True)):
        W = dense.state(q, np.zeros_like(s)).W
        u = np.linalg.solve(W, s)
        at = dense.state(q, u)
        one = States(states.t[k : k + 1], q[None], u[None], u[None], (W.T @ tau)[None])
        udot = Programs(chosen.equations(), BACKEND)("forward_dynamics", one)[0]
        same = W @ (udot - at.definition_rate)
        assert np.allclose(same, sdot[k], rtol=AGREEMENT, atol=AGREEMENT * (1 + np.abs(sdot[k]).max()))


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=4), SEEDS)
def test_efforts_do_not_depend_on_the_frames_of_the_bodies(plan: Plan, seed: int) -> None:
    model, other = build(plan), build(reframed(plan, np.random.default_rng(seed)))
    states = random_states(dense_equations(model.mechanism), SAMPLES, 2)
    error = np.abs(efforts(other, states) - efforts(model, states))
    assert np.all(error <= AGREEMENT * scale(model, states))


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=4), SEEDS)
def test_efforts_do_not_depend_on_how_the_world_is_turned(plan: Plan, seed: int) -> None:
    model, other = build(plan), build(turned(plan, rotation(np.random.default_rng(seed))))
    states = random_states(dense_equations(model.mechanism), SAMPLES, 3)
    error = np.abs(efforts(other, states) - efforts(model, states))
    assert np.all(error <= AGREEMENT * scale(model, states))


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=4))
def test_free_parameters_give_what_numbers_give(plan: Plan) -> None:
    folded = build(replace(plan, free=frozenset()))
    free = build(replace(plan, free=frozenset(folded.parameters)))
    states = random_states(dense_equations(folded.mechanism), SAMPLES, 4)
    error = np.abs(efforts(free, states) - efforts(folded, states))
    assert np.all(error <= AGREEMENT * scale(folded, states))


@pytest.mark.parametrize(
    "kinds", [("free", "spherical", "prismatic"), ("free", "gimbal", "revolute", "screw")], ids=lambda k: "-".join(k)
)
def test_a_floating_tree_keeps_its_momentum(kinds: tuple[str, ...]) -> None:
    """Springs and pairs of forces inside do not change momentum, linear or angular; energy follows their work."""
    rng = generator(11)
    plan = planned(rng, list(kinds), [None] * len(kinds), ["any"] * len(kinds), ["spring", "pair of forces"])
    bodies = tuple(replace(b, parent=k - 1) for k, b in enumerate(plan.bodies))
    inner = tuple(replace(load, first=1, second=2) for load in plan.loads)
    model = build(replace(plan, bodies=bodies, loads=inner, gravity=np.zeros(3), free=frozenset()))
    u = rng.normal(size=len(model.speeds)) * 0.5
    motion = model.simulate(np.linspace(0.0, 1.0, 21), u=u, rtol=1e-10, atol=1e-12)
    report = motion.check(tolerance=DRIFT)
    assert report.passed, str(report)
    assert {"p·nx", "p·ny", "p·nz", "H·nx", "H·ny", "H·nz"} <= {row.name for row in report.rows}
