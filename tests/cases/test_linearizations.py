"""Linearizations about many states in one call, and with the loop closed: against one state at a time, and slopes of
the compiled motion itself."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import kane
from kane.analysis import Linearization
from kane.analysis.linearizations import Linearizations
from kane.errors import InputError, SingularError

SAME = 1e-10
"""Relative: the same algebra in another order of operations, elements beside the largest of their matrix."""

SLOPE = 1e-7
"""Of central differences with a step of 1e-5, relative to the largest element."""


def assert_same(many: Linearizations, i: int, one: Linearization) -> None:
    """Compare a sample with the linearization of that state alone."""
    assert many.states == one.states
    there = many[i]
    for name in ("A", "B", "C", "D", "rates", "shape"):
        a, b = getattr(there, name), getattr(one, name)
        np.testing.assert_allclose(a, b, atol=SAME * (1.0 + np.abs(b).max(initial=0.0)), rtol=0, err_msg=name)
    np.testing.assert_allclose(there.at.udot, one.at.udot, atol=SAME * (1.0 + np.abs(one.at.udot).max()))


def bicycle_speeds(m: kane.Model, v: np.ndarray) -> dict[str, np.ndarray]:
    return {"urear": -v / m.parameters["rR"].value, "uroll": 0 * v, "usteer": 0 * v}


def test_the_bicycle_over_its_speeds_is_the_bicycle_at_each_of_them() -> None:
    m = kane.load("whipple-bicycle")
    v = np.linspace(1.0, 8.0, 5)
    named = bicycle_speeds(m, v)
    keep = ["roll", "steer", "uroll", "usteer"]
    many = m.linearize(u=named, independent=keep, outputs=["roll", "uroll'", "roll + 2*steer"])
    assert isinstance(many, Linearizations)
    for i in (0, 2, 4):
        one = m.linearize(
            u={name: float(x[i]) for name, x in named.items()},
            independent=keep,
            outputs=["roll", "uroll'", "roll + 2*steer"],
        )
        assert_same(many, i, one)


def test_parameters_differ_from_sample_to_sample() -> None:
    m = kane.load("double-pendulum", free=["L1", "m2"])
    values = {"L1": np.array([0.5, 1.0, 2.0]), "m2": np.array([1.0, 2.0, 0.5])}
    q = np.array([[0.1, 0.2], [0.3, -0.1], [0.0, 0.0]])
    many = m.linearize(q, [0, 0], parameters=values)
    for i in range(3):
        one = m.linearize(q[i], [0, 0], parameters={name: float(x[i]) for name, x in values.items()})
        assert_same(many, i, one)


def test_attitudes_and_samples_off_their_constraints() -> None:
    m = kane.load("free-body")
    u = np.array([[0.1, 5.0, 0.2, 0, 0, 0], [1.0, 0.0, 0.0, 0.1, 0.2, 0.3]])
    q = np.array([[1.0, 0, 0, 0, 0, 0, 0], [0.5, 0.5, 0.5, 0.5, 1, 2, 3]])
    many = m.linearize(q, u)
    for i in range(2):
        assert_same(many, i, m.linearize(q[i], u[i]))
    bar = kane.load("four-bar")
    first = bar.coordinates[0]
    angles = np.array([0.3, 0.6])
    many = bar.linearize({first: angles})  # the others follow, one by one
    for i in range(2):
        assert_same(many, i, bar.linearize({first: float(angles[i])}))


def test_samples_say_where_they_are_not_steady_as_states_alone_do() -> None:
    bicycle = kane.load("whipple-bicycle")
    v, push = np.array([3.0, 5.0, 5.0]), np.array([0.0, 0.0, 0.5])  # the last one is rolling over
    many = bicycle.linearize(u={"ux": v, "uroll": push}, ignore=True)
    for i, one in enumerate(many):
        alone = bicycle.linearize(u={"ux": v[i], "uroll": push[i]}, ignore=True)
        assert one.running == alone.running == many.running[i]
    assert many.running[:2] == ((), ()) and "roll" in many.running[2]
    assert "not steady at 1 of them: roll" in repr(many) and "at this instant only: roll" in repr(many[2])


def test_what_is_left_out_of_samples_is_left_out_of_each() -> None:
    bicycle = kane.load("whipple-bicycle")
    many = bicycle.linearize(u={"ux": np.array([3.0, 5.0]), "uroll": 0.0}, ignore=True)
    left = many.without("ux")
    for i, one in enumerate(left):
        alone = many[i].without("ux")
        assert one.states == alone.states == tuple(name for name in many.states if name != "ux")
        assert one.outputs == alone.outputs and one.positions == alone.positions
        for name in "ABCD":
            assert np.array_equal(getattr(one, name), getattr(alone, name))
    with pytest.raises(InputError, match=r"'roll' cannot be left out: the rates of .* depend on it"):
        many.without("roll")


def test_eigenvalues_of_samples_are_those_of_each() -> None:
    m = kane.load("double-pendulum")
    many = m.linearize({"q1": [0.0, 0.4]}, [0, 0])
    for i, one in enumerate(many):
        np.testing.assert_allclose(many.eigenvalues[i], np.sort_complex(one.eigenvalues), atol=1e-9)
    cart = kane.load("cart-pole").linearize({"q": [0.0, 0.2]}, [0, 0], ignore=True)
    assert cart.states == ("q", "v", "u")
    assert cart.A.shape == (2, 3, 3)


def closed_rates(m: kane.Model, law: dict[str, str], x: np.ndarray) -> np.ndarray:
    """ẋ of a tree under a law, by its own programs: law and accelerations, no derivative anywhere."""
    n = len(m.speeds)
    q, u = x[:n], x[n:]
    run = m.simulate([0, 1e-9, 2e-9], q=q, u=u, control=law)
    return np.concatenate([m.qdot(q, u), m.forward_dynamics(q, u, run.tau[0])])


def test_a_closed_loop_has_the_slopes_of_the_controlled_motion() -> None:
    m = kane.load("double-pendulum")
    law = {"u1": "-4*sin(q1) - u1*q2", "u2": "-2*q2 - 0.5*u2 + q1*u1"}
    x = np.array([0.4, -0.3, 0.7, 0.2])
    found = m.linearize(x[:2], x[2:], control=law)
    h = 1e-5
    slopes = np.column_stack(
        [(closed_rates(m, law, x + h * e) - closed_rates(m, law, x - h * e)) / (2 * h) for e in np.eye(4)]
    )
    np.testing.assert_allclose(found.A, slopes, atol=SLOPE * np.abs(slopes).max())
    np.testing.assert_allclose(found.rates, closed_rates(m, law, x), rtol=1e-9)
    many = m.linearize(np.tile(x[:2], (2, 1)), x[2:], control=law)
    assert_same(many, 1, found)


def test_the_law_of_a_model_stabilizes_what_falls_without_it() -> None:
    m = kane.load("cart-pole")
    assert m.linearize([0, 0], [0, 0]).eigenvalues.real.max() > 1.0
    assert m.linearize([0, 0], [0, 0], control="balance").eigenvalues.real.max() < 0.0


def test_what_does_not_go_together_is_refused() -> None:
    m = kane.load("double-pendulum")
    with pytest.raises(kane.InputError, match="cannot be differentiated"):
        m.linearize([0, 0], [0, 0], control=lambda t, q, u: [0, 0])
    with pytest.raises(kane.InputError, match="samples do not agree: q 2, u 3"):
        m.linearize(np.zeros((2, 2)), np.zeros((3, 2)))
    with pytest.raises(kane.InputError, match="one state at a time"):
        m.linearize(np.zeros((2, 2)), np.zeros((2, 2)), udot=[0, 0])
    with pytest.raises(kane.InputError, match="give one of them"):
        m.linearize([0, 0], [0, 0], udot=[0, 0], control={"u1": "q1"})


def test_python_control_takes_the_system_with_its_names() -> None:
    lin = kane.load("cart-pole").linearize([0, 0], [0, 0], inputs=["v"], outputs=["x", "q"])
    system = lin.to_control()
    assert system.state_labels == ["x", "q", "v", "u"]
    assert system.input_labels == ["tau_v"]
    assert system.output_labels == ["x", "q"]
    s = 0.3 + 0.7j
    transfer = lin.C @ np.linalg.solve(s * np.eye(4) - lin.A, lin.B) + lin.D
    np.testing.assert_allclose(system(s), transfer, rtol=1e-12)
    poles = sorted(system.poles(), key=lambda z: (z.real, z.imag))
    np.testing.assert_allclose(poles, lin.eigenvalues, atol=1e-9)
    turning = kane.load("free-body").linearize()  # states flight.x, which python-control would not take
    assert "flight_x" in turning.to_control().state_labels


def test_python_control_takes_a_system_for_each_of_many_states() -> None:
    lins = kane.load("pendulum").linearize({"q": [0.0, 0.5, 1.0]}, [0])
    systems = lins.to_control()
    assert len(systems) == 3
    for i, system in enumerate(systems):
        np.testing.assert_array_equal(system.A, lins.A[i])


def test_python_control_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(kane.InputError, match=r"kane\[control\]"):
        kane.load("pendulum").linearize([0], [0]).to_control()


@pytest.mark.parametrize("turned", [0.0, 1e-14])
def test_a_sample_at_which_the_choice_does_not_hold_is_named(turned: float) -> None:
    """x' = q y': solved for y' where q is 2; not at all where it is 0, though x' would be."""
    m = kane.Model("beads", gravity=(0, 0, 0))
    for name in ("x", "y", "q"):
        m.body(name, mass=1)
        m.joint(f"slide of {name}", "prismatic", "ground", name, axis="x", coordinates=[name], speeds=[f"v{name}"])
    m.constrain("tie", kane.MotionEquations(["x' - q*y'"]))
    still = [0, 0, 0]
    m.linearize({"q": [2.0, 2.0 + turned]}, still, independent=["vx"])
    with pytest.raises(SingularError, match="state 1: the constraints do not determine the dependent speeds"):
        m.linearize({"q": [2.0, turned]}, still, independent=["vx"])
