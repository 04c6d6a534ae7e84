"""Questions that a model answers by name: lists of names, states off the constraints, times and shares."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import InputError
from kane.model import Distance, Effort

CART, POLE, LENGTH, GRAVITY = 2.0, 0.5, 0.4, 9.81
ROUNDING = 1e-9  # N, of forces of some 10 N at rows that are held to rounding


def cart() -> kane.Model:
    """A point mass on a light rod, on a cart."""
    m = kane.Model("cart", gravity=(0, -GRAVITY, 0))
    m.body("cart", mass=CART)
    m.body("bob", mass=POLE)
    m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["place"], speeds=["pace"])
    m.body("rod")
    m.joint("pin", "revolute", "cart", "rod", coordinates=["tilt"], speeds=["turn"])
    m.joint("tip", "weld", "rod", "bob", at=(0, LENGTH, 0))
    return m


def rods() -> kane.Model:
    """Two rods of 1 m on the ground, 1 m apart, their ends joined by a distance of 1 m: a parallelogram."""
    m = kane.Model("rods", gravity=(0, -GRAVITY, 0))
    for name, at in (("a", 0.0), ("b", 1.0)):
        m.body(name, mass=1.0, center=(0.5, 0, 0), inertia={"yy": 1 / 12, "zz": 1 / 12})
        m.joint(name, "revolute", "ground", name, at=(at, 0, 0), coordinates=[f"q{name}"], speeds=[f"u{name}"])
    m.constrain("bar", Distance("a", "b", length=1.0, first_at=(1, 0, 0), second_at=(1, 0, 0)))
    m.set_initial({"qa": -1.0, "qb": -1.0})
    return m


@pytest.mark.parametrize(
    ("one", "many"),
    [
        (lambda m: m.linearize(inputs="pace").B, lambda m: m.linearize(inputs=["pace", "pace"]).B),
        (lambda m: m.linearize(outputs="tilt").C, lambda m: m.linearize(outputs=["tilt"]).C),
        (lambda m: m.linearize(ignore="place").A, lambda m: m.linearize(ignore=["place"]).A),
        (lambda m: m.linearize().without("place").A, lambda m: m.linearize().without(["place"]).A),
        (
            lambda m: m.equilibrium([0, 0.3], hold="tilt", efforts="turn").tau,
            lambda m: m.equilibrium([0, 0.3], hold=["tilt"], efforts=["turn", "turn"]).tau,
        ),
        (lambda m: m.trim([0, 0.3], unknowns="tilt").q, lambda m: m.trim([0, 0.3], unknowns=["tilt"]).q),
        (lambda m: m.project([1, 2], hold="tilt")[0], lambda m: m.project([1, 2], hold=["tilt"])[0]),
    ],
)
def test_a_name_alone_is_one_name_and_a_name_twice_is_one_too(
    one: Callable[..., Any], many: Callable[..., Any]
) -> None:
    m = cart()
    assert one(m) == pytest.approx(many(m), abs=1e-12)


def test_a_drive_named_twice_acts_once() -> None:
    """tau = (M + m) a along the rail and −m L a about the pin, the rod upright."""
    tau = cart().drive_efforts([0, 0], [0, 0], [1.0, 0.0], ["pace", "turn", "pace"])
    assert tau == pytest.approx([CART + POLE, -POLE * LENGTH], rel=1e-12)
    found = cart().linearize(udot={"pace": 1.0}, inputs=["pace", "turn", "pace"]).at.tau
    assert found == pytest.approx([CART + POLE, -POLE * LENGTH], rel=1e-12)


@pytest.mark.parametrize(
    "ask",
    [
        lambda m, q, u: m.reactions(q, u),
        lambda m, q, u: m.reactions(q, u, method="complement"),
        lambda m, q, u: m.drive_efforts(q, u, np.zeros(2), ["ua"]),
    ],
)
def test_a_state_off_the_constraints_is_refused_by_row_and_size(ask: Callable[..., Any]) -> None:
    """With one rod upright and one lying, their ends are √5 m apart: (d² − L²) / 2 L = 2 m."""
    m = rods()
    with pytest.raises(InputError, match=r"q does not .*'bar.*' is off by 2 \(m or rad\)"):
        ask(m, [math.pi / 2, 0.0], [0.0, 0.0])
    with pytest.raises(InputError, match=r"u does not .*'bar.*' is off by .* \(m/s or rad/s\)"):
        ask(m, [1.0, 1.0], [0.0, 1.0])


def test_accelerations_off_the_constraints_are_refused_and_those_on_them_driven() -> None:
    m = rods()
    q, u = m.project(u={"ua": 2.0}, hold=["ua"])
    with pytest.raises(InputError, match=r"udot does not satisfy .*'bar.*' .* \(m/s² or rad/s²\)\n.*forward_dynamics"):
        m.drive_efforts(q, u, [1.0, 2.0], ["ua"])
    udot = m.forward_dynamics(q, u, [1.5, 0.0])
    assert m.drive_efforts(q, u, udot, ["ua"]) == pytest.approx([1.5, 0.0], abs=1e-12)


def test_times_and_shares_that_are_none_are_refused() -> None:
    m = cart()
    for t in (math.nan, "now"):
        with pytest.raises(InputError, match=r"^t is not "):
            m.reactions([0, 0], [0, 0], t=t)
    for within in (-1.0, 0.0, math.nan):
        with pytest.raises(InputError, match="share between 0 and 1"):
            rods().freedom(within=within)


def test_states_that_were_found_print_as_tables() -> None:
    m = cart()
    assert repr(m.equilibrium()).startswith("steady to")
    with pytest.raises(KeyError, match=r"no coordinate, speed or effort 'title'\n.*did you mean 'tilt'"):
        m.equilibrium()["title"]
    assert repr(m.linearize()).startswith("linearization of 'cart'")


def test_a_coordinate_that_only_a_stop_feels_is_not_steady_while_it_runs_on() -> None:
    """Far from its stop a wheel runs on and nothing changes; the stop is felt all the same, elsewhere."""
    m = kane.Model("wheel")
    m.body("wheel", mass=1.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.2})
    m.joint("axle", "revolute", "ground", "wheel", coordinates=["q"], speeds=["u"])
    assert m.linearize(u=[1.0]).running == ()
    m.load("stop", Effort("axle", "select(q < 3, 0, -100*(q - 3))"))
    assert m.linearize(u=[1.0]).running == ("q",)


# texts ---------------------------------------------------------------------------------------------------------------


def weight_and_text(m: kane.Model, k: int) -> tuple[float, float]:
    """(potential energy asked for by a text that nobody asked for before, what it is)."""
    text, angle = f"{k}*deg + {k + 0.5}/7*L", math.radians(k) + (k + 0.5) / 7 * LENGTH
    return float(m.energy({"tilt": text}, {"turn": f"L*{k}"}).potential), POLE * GRAVITY * LENGTH * math.cos(angle)


def cart_with_a_parameter() -> kane.Model:
    m = cart()
    m.parameter("L", LENGTH)
    return m


def test_texts_given_to_questions_leave_the_description_as_it_is() -> None:
    m = cart_with_a_parameter()
    m.energy([0, 0], [0, 0])
    nodes = len(m.mechanism.graph)
    for k in range(200):
        found, expected = weight_and_text(m, k)
        assert found == pytest.approx(expected, abs=1e-12)
    assert len(m.mechanism.graph) == nodes


def test_threads_may_ask_with_texts() -> None:
    """While threads ask, others formulate: all would add to the one graph of the description."""
    m = cart_with_a_parameter()
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(weight_and_text, m, k) for k in range(600)]
            steady = [pool.submit(m.trim, steady=[f"{k}.5*tilt + turn"]) for k in range(4)]
            found = [one.result() for one in asked]
            for one in steady:
                one.result()
    finally:
        sys.setswitchinterval(before)
    assert [a for a, _ in found] == pytest.approx([b for _, b in found], abs=1e-12)
    graph = m.mechanism.graph
    for n, (op, args) in enumerate(zip(graph.ops, graph.args, strict=True)):
        leaf = {"const": graph.const, "input": graph.input}.get(op)
        assert n == (graph._tables[op][args] if leaf is None else leaf(*args).id)


def test_a_text_that_depends_on_the_motion_or_on_nothing_known_is_refused() -> None:
    m = cart_with_a_parameter()
    with pytest.raises(InputError, match="it depends on 'place'"):
        m.energy({"tilt": "2*place"}, [0, 0])
    with pytest.raises(InputError, match="unknown symbol 'l'; did you mean 'L'"):
        m.energy({"tilt": "2*l"}, [0, 0])


def test_a_motion_with_other_parameters_is_checked_with_them() -> None:
    m = kane.load("double-pendulum", free=["m1", "L2"])
    report = m.simulate(1.0, parameters={"m1": 1.3, "L2": 0.7}).check()
    assert report.passed, str(report)


@pytest.mark.parametrize("asked_before", [False, True])
@pytest.mark.parametrize("at_the_call", [False, True])
def test_reactions_under_what_comes_and_goes_are_of_the_parameters_of_the_motion(
    asked_before: bool, at_the_call: bool
) -> None:
    """A beam of mass m that is hinged at one end and rests on a floor at the other: either carries m g / 2."""
    beam = kane.Model("beam", gravity=(0, 0, -GRAVITY))
    beam.parameter("m", 1.0, free=True)
    beam.body("a", mass="m", center=(0.5, 0, 0), inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    beam.joint("hinge", "revolute", "ground", "a", axis="y")
    beam.contact("rest", "a", "ground", shape={"point": (1.0, 0, 0)}, normal="z")
    if asked_before:
        beam.simulate(0.01).reactions()
    if not at_the_call:
        beam.set_parameters(m=3.0)
    run = beam.simulate(0.01, parameters={"m": 3.0} if at_the_call else None)
    found = run.reactions()["hinge"].force
    assert np.allclose(found, (0, 0, 1.5 * GRAVITY), rtol=0, atol=ROUNDING)
