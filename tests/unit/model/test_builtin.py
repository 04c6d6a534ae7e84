"""The built-in models have the data of their sources."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kane.graph import evaluate
from kane.model import builtin_names, load_mechanism
from kane.model.joints import Prismatic, Revolute
from peers.stanford import CHAIN, GRAVITY, START, feedback_effort

ROUNDING = 1e-13
states = st.lists(st.floats(-2, 2), min_size=6, max_size=6)


@pytest.mark.parametrize("name", builtin_names())
def test_every_model_says_what_it_is_and_can_be_drawn(name: str) -> None:
    m = load_mechanism(name)
    assert m.name == name and m.about
    assert all(body.shapes for body in m.bodies.values())


@pytest.mark.parametrize("name", ["stanford-arm", "stanford-arm-kane"])
def test_the_stanford_arm_has_the_data_of_the_paper(name: str) -> None:
    m = load_mechanism(name)
    assert m.coordinates == tuple(f"q{k}" for k in range(1, 7)) and m.speeds == tuple(f"u{k}" for k in range(1, 7))
    assert [m.number(g, "") for g in m.gravity] == [0.0, -GRAVITY, 0.0]
    assert [c.initial for c in m.coordinate_records.values()] == list(START)
    parent = "ground"
    for link, joint in zip(CHAIN, m.joints.values(), strict=True):
        body, kind = m.bodies[link.name], joint.type
        assert (joint.parent.name, joint.child.name) == (parent, link.name)
        assert isinstance(kind, Prismatic if link.joint == "prismatic" else Revolute)
        assert tuple(m.number(e, "") for e in kind.axis) == link.axis
        assert joint.coordinates[0].name == f"q{link.coordinate + 1}"
        assert tuple(m.number(e, "") for e in joint.at) == link.offset
        assert m.number(body.mass, "") == link.mass
        assert tuple(m.number(e, "") for e in body.center) == link.mass_center
        moments = np.array([[m.number(e, "") for e in row] for row in body.inertia])
        np.testing.assert_array_equal(moments, np.diag(link.inertia))
        parent = link.name


@pytest.mark.parametrize("name", ["stanford-arm", "stanford-arm-kane"])
@given(states, states)
def test_the_feedback_law_is_the_paper_s(name: str, q: list[float], rates: list[float]) -> None:
    m = load_mechanism(name)
    values = {p.name: p.value for p in m.parameters.values()}
    values.update((f"q{k + 1}", x) for k, x in enumerate(q))
    values.update((f"q{k + 1}'", x) for k, x in enumerate(rates))
    expected = feedback_effort(np.array(q), np.array(rates))
    for law, waist in (("feedback", expected[0]), ("feedback-free-base", 0.0)):
        efforts = {repr(variable): value for variable, value in m.controls[law].efforts.items()}
        found = evaluate([efforts[f"q{k}'"] for k in range(1, 7)], values)
        np.testing.assert_allclose(found, [waist, *expected[1:]], rtol=ROUNDING, atol=50 * ROUNDING)


@given(states, states)
def test_the_paper_s_speeds_are_components_of_the_forearm_s_angular_velocity(
    q: list[float], rates: list[float]
) -> None:
    m = load_mechanism("stanford-arm-kane")
    values = {f"q{k + 1}": x for k, x in enumerate(q)} | {f"q{k + 1}'": x for k, x in enumerate(rates)}
    s2, c2, s3, c3 = math.sin(q[1]), math.cos(q[1]), math.sin(q[2]), math.cos(q[2])
    w_D = np.array([s2 * s3 * rates[0] + c3 * rates[1], c2 * rates[0] + rates[2], -s2 * c3 * rates[0] + s3 * rates[1]])
    found = evaluate([s.definition for s in m.speed_records.values()], values)
    np.testing.assert_allclose(found, [*w_D, *rates[3:]], atol=ROUNDING)
