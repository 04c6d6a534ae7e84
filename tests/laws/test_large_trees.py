"""Recursions over the bodies give what the written-out equations give, and what Pinocchio gives."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin  # pyright: ignore[reportMissingImports]
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from cases.test_peer_trees import KINDS as PEER_KINDS
from cases.test_peer_trees import pinocchio_tree, to_pinocchio
from kane import Model
from kane.backends import compile
from kane.formulation import Equations, motion_program
from kane.formulation.joint_kinds import joint_kind
from kane.large import LargeAnswers, by_recursion, large_motion
from kane.large.answers import ANSWERS
from kane.model import Stop
from kane.model.joints import Free
from laws.trees import AXES, EULER, KINDS, MOUNTS, UNIVERSAL, Plan, build, planned, plans
from seeds import FIXED, examples, generator
from unit.large.mechanisms import Array, states, tree

AGREEMENT = 1e-10  # relative to the largest entry: two float64 codes that round differently
SAMPLES = 5  # a vector and a remainder
ALONG_JOINTS = ("joint spring", "effort")  # loads that recursions take
# A failing plan names its numbers; to make it smaller would formulate hundreds of others.
SEEDS = st.integers(0, 2**32 - 1)
QUESTIONS = {
    "inverse_dynamics": "qux",
    "bias": "qu",
    "forward_dynamics": "qux",
    "mass_matrix": "q",
    "kinematics": "qu",
    "energy": "qu",
    "momentum": "qu",
    "mass_center": "q",
    "central_momentum": "qu",
    "inertia": "q",
    "poses": "q",
}


def written_out(model: Model, name: str, t: Array, arrays: tuple[Array, ...]) -> Any:
    """The answer of the written-out program, in NumPy."""
    kernel = compile(model.equations().program(name), "numpy")
    takes = {g.name for g in kernel.program.inputs if g.labels}
    lead, last = ((t,) if "t" in takes else ()), ((model.mechanism.free_values(),) if "parameters" in takes else ())
    return kernel(*lead, *arrays, *last)


def disagreement(ours: Any, theirs: Any) -> float:
    """Largest difference relative to the largest entry, or in itself where all entries are small."""
    a, b = np.asarray(ours), np.asarray(theirs)
    assert a.shape == b.shape
    return float(np.abs(a - b).max() / max(1.0, np.abs(b).max())) if b.size else 0.0


def several(answer: Any) -> tuple[Any, ...]:
    return answer if isinstance(answer, tuple) else (answer,)


def agree(model: Model, names: tuple[str, ...], seed: int) -> None:
    """All answers called `names` are those of the written-out form, in a batch and alone."""
    q, u, x = states(model, SAMPLES, seed)
    t = np.linspace(0.0, 1.0, SAMPLES)[:, None]
    recursion, free = LargeAnswers(model.mechanism), model.mechanism.free_values()
    for name in names:
        arrays = tuple({"q": q, "u": u, "x": x}[group] for group in QUESTIONS[name])
        theirs = written_out(model, name, t, arrays)
        ours = recursion.answer(name, t, arrays, free)
        alone = recursion.answer(name, t[0], tuple(a[0] for a in arrays), free)
        for mine, single, other in zip(*map(several, (ours, alone, theirs)), strict=True):
            assert disagreement(mine, other) <= AGREEMENT, name
            assert disagreement(single, mine[0]) <= AGREEMENT, name


def test_every_program_of_the_written_out_form_has_a_recursion() -> None:
    under_constraints = {"constraints", "guarded_dynamics"}  # large trees have none
    exported = {"jacobian", "regressor"}  # programs for other tools, which are written out
    assert set(QUESTIONS) == set(ANSWERS) == set(Equations.SIGNATURES) - under_constraints - exported


@settings(max_examples=examples(5), derandomize=FIXED, phases=[Phase.generate])
@given(plans(size=7, loads=ALONG_JOINTS), SEEDS)
def test_every_answer_is_that_of_the_written_out_form(plan: Plan, seed: int) -> None:
    agree(build(plan), tuple(QUESTIONS), seed)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "weld"])
def test_every_kind_of_joint_moves_as_in_the_written_out_form(kind: str) -> None:
    plan = planned(generator(9), ["revolute", kind, "weld", kind], [None] * 4, ["any"] * 4, [])
    model = build(plan)
    moving = [j.name for j in model.joints.values() if j.rates]
    for name in moving[:2]:
        model.mechanism.rotor(f"motor of {name}", name, 0.02, ratio=5.0)
    agree(model, ("inverse_dynamics", "forward_dynamics", "energy"), 4)


OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "weld": ({},),
    **{kind: tuple({"axis": axis} for axis in AXES if axis) for kind in ("revolute", "prismatic", "cylindrical")},
    "screw": tuple({"axis": axis, "pitch": 0.1} for axis in AXES if axis),
    "universal": tuple({"sequence": s} for s in UNIVERSAL),
    "gimbal": tuple({"sequence": s} for s in (*EULER, "body z", "space yx")),
    "spherical": ({},),
    "planar": tuple({"normal": n, "velocity": v} for n in "xyz" for v in ("body", "parent")),
    "free": ({"velocity": "body"}, {"velocity": "parent"}),
}
"""Every kind of joint with every option that it takes."""


def test_the_options_of_these_tests_are_all_that_joints_have() -> None:
    for kind, options in OPTIONS.items():
        made = Model("one").mechanism.joint_type(kind, dict(options[0]), "joint")
        assert is_dataclass(made)
        assert {f.name for f in fields(made)} == set(options[0])
    assert set(OPTIONS) == set(KINDS)


@pytest.mark.parametrize("kind", OPTIONS)
def test_every_option_of_a_joint_is_that_of_the_written_out_form(kind: str) -> None:
    options = OPTIONS[kind]
    for first in range(0, len(options), 4):  # four joints of the kind in one tree, a revolute one inboard of them
        chosen = options[first : first + 4]
        plan = planned(generator(first + 1), ["revolute", *[kind] * len(chosen)], [None] * 5, ["any"] * 5, [])
        taken = (replace(b, options=o) for b, o in zip(plan.bodies[1:], chosen, strict=False))
        agree(build(replace(plan, bodies=(plan.bodies[0], *taken))), ("inverse_dynamics", "kinematics"), 5)


@pytest.mark.parametrize("size", [8, 9])
def test_a_model_moves_alike_on_both_sides_of_the_switch_to_recursion(size: int) -> None:
    """Chains of planar joints whose speeds are in the body: 24 speeds are written out, 27 are not."""
    model = tree(size, kind="planar", velocity="body")
    assert by_recursion(model.mechanism) == (size == 9)
    q, u, udot = (rows[0] for rows in states(model, 1, size))
    for name in ("inverse_dynamics", "kinematics"):
        arrays = (q, u, udot) if name == "inverse_dynamics" else (q, u)
        ask = model.inverse_dynamics if name == "inverse_dynamics" else model.qdot
        assert disagreement(ask(*arrays), written_out(model, name, np.zeros(1), arrays)) <= AGREEMENT
    assert disagreement(model.forward_dynamics(q, u, model.inverse_dynamics(q, u, udot)), udot) <= 1e-8


@dataclass(frozen=True, slots=True)
class Slow(Free):
    """A joint type of a user's own, made from one that recursions know."""

    ratio: float = 0.5


def test_a_joint_type_that_recursion_does_not_know_is_refused() -> None:
    assert joint_kind(Free("body")) is not None
    assert joint_kind(Slow("body")) is None


def test_wheels_and_stops_are_felt_as_in_the_written_out_form() -> None:
    plan = planned(generator(2), ["free", "revolute", "gimbal"], [None] * 3, ["any"] * 3, [])
    model = build(plan)
    model.reaction_wheel("wheel", "b0", [0.6, 0.0, 0.8], 0.05)
    model.reaction_wheel("gyro", "b1", "y", 0.02)
    model.load("end", Stop("j1", lower=-0.1, upper=0.5, stiffness=40.0, damping=2.0))
    agree(model, ("inverse_dynamics", "forward_dynamics", "energy", "momentum"), 11)


@pytest.mark.parametrize("size", [20, 50])
def test_efforts_of_a_tree_of_all_kinds_of_joints_are_those_of_the_written_out_form(size: int) -> None:
    rng = generator(size)
    kinds = [KINDS[k % len(KINDS)] for k in range(size)]
    rng.shuffle(kinds)
    axes = [AXES[int(k)] for k in rng.integers(len(AXES), size=size)]
    mounts = [MOUNTS[int(k)] for k in rng.integers(len(MOUNTS), size=size)]
    agree(
        build(planned(rng, kinds, axes, mounts, list(ALONG_JOINTS))), ("inverse_dynamics", "energy", "momentum"), size
    )


@pytest.mark.parametrize("seed", range(3))
def test_dynamics_of_fifty_bodies_are_those_of_pinocchio(seed: int) -> None:
    rng = generator(seed)
    kinds = [PEER_KINDS[int(k)] for k in rng.integers(len(PEER_KINDS), size=50)]
    plan = planned(rng, kinds, [None] * 50, ["any"] * 50, [])
    for body in plan.bodies:
        if body.kind == "free":
            body.options["velocity"] = "body"
    model, peer = build(plan), pinocchio_tree(plan)
    data, recursion, free = peer.createData(), LargeAnswers(model.mechanism), model.mechanism.free_values()
    q, u, x = states(model, 2, seed)
    tau = recursion.answer("inverse_dynamics", 0.0, (q, u, x), free)
    udot = recursion.answer("forward_dynamics", 0.0, (q, u, x), free)
    for k in range(2):
        there, speeds = to_pinocchio(plan, q[k], u[k])
        given = to_pinocchio(plan, q[k], x[k])[1]
        for ours, theirs in ((tau, pin.rnea), (udot, pin.aba)):
            wanted = theirs(peer, data, there, speeds, given)
            assert disagreement(to_pinocchio(plan, q[k], ours[k])[1], wanted) <= AGREEMENT


@settings(max_examples=examples(4), derandomize=FIXED, phases=[Phase.generate])
@given(plans(size=5, loads=ALONG_JOINTS), SEEDS)
def test_rates_of_a_simulation_are_those_of_the_written_out_form(plan: Plan, seed: int) -> None:
    """The compiled motion: q̇, u̇, and the power of tau and all loads but gravity; a control law compiled in."""
    model = build(plan)
    law = {
        model.mechanism.speed_records[model.speeds[-1]].definition: model.mechanism.scalar(
            f"cos(t) - {model.coordinates[0]}", "law"
        )
    }
    q, u, tau = states(model, SAMPLES, seed)
    free = [model.mechanism.free_values()] if len(model.mechanism.free_values()) else []
    recursion = large_motion(LargeAnswers(model.mechanism), law, []).motion
    program = compile(motion_program(model.equations(), law), "numpy")
    assert disagreement(recursion(0.7, q, u, 0.0, tau, *free), program(0.7, q, u, 0.0, tau, *free)) <= AGREEMENT
