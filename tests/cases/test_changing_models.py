"""Built-in models whose constraints come and go, against closed forms and the records of tests/reference."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

RECORDS: dict[str, dict[str, Any]] = {
    record["id"]: record
    for record in json.loads(
        (Path(__file__).parents[1] / "reference" / "changing_constraints.json").read_text(encoding="utf-8")
    )["records"]
}
TIMES = 1e-12  # s, of impacts: rounding of a search on a polynomial
THRESHOLD = 1e-9  # of a coefficient of friction between two modes
RATIO = 1e-9
CREEP = 1e-13  # m/s
CART = 1e-11  # of states, after integration with the default tolerances


def changes(run: kane.Trajectory) -> list[Any]:
    """Transitions after the choice at the start."""
    assert run.outcome.success, run.outcome
    return list(run.transitions[1:])


# bouncing ball -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("h", "e", "g"), [(1.0, 0.9, 9.81), (1.0, 0.5, 9.81), (0.3, 0.8, 1.62)])
def test_the_ball_bounces_at_the_times_of_its_parabolas_and_then_rests(h: float, e: float, g: float) -> None:
    """t1 = √(2h/g), then 2 eᵏ v1/g from one to the next; at rest after t1 + 2 v1 e/(g (1 − e))."""
    model = kane.load("bouncing-ball")
    model.set_parameters(h=h, e=e, g=g)
    v = math.sqrt(2 * g * h)
    rest = v / g + 2 * v * e / (g * (1 - e))
    run = model.simulate(rest + 1.0)
    impacts = [x for x in changes(run) if x.cause == "impact"]
    expected = v / g + np.concatenate([[0.0], np.cumsum(2 * v / g * e ** np.arange(1, 20))])
    assert np.abs([x.t for x in impacts[:20]] - expected).max() <= TIMES
    for k, impact in enumerate(impacts[:20]):
        assert impact.u_after == pytest.approx([v * e ** (k + 1)], rel=1e-11)
        assert impact.impulse["floor"][0] == pytest.approx(0.2 * (1 + e) * v * e**k, rel=1e-11)
    assert run.transitions[-1].t == pytest.approx(rest, abs=1e-5)
    after = run.t > run.transitions[-1].t
    assert after.any() and not run.q[after].any() and not run.u[after].any()


def test_the_ball_is_dropped_from_the_height_that_is_given() -> None:
    model = kane.load("bouncing-ball", free=["h"])
    for run in (model.simulate(1.0, parameters={"h": 0.5}), model.simulate(1.0, parameters=[0.5])):
        assert run.q[0] == [0.5] and run.transitions[1].t == pytest.approx(math.sqrt(1 / 9.81), abs=TIMES)
    assert model.simulate(1.0).q[0] == [1.0]


# disk on a ramp ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(3))
def test_the_disk_rolls_above_and_slips_below_the_threshold(case: int) -> None:
    """mu* = tan(phi)/(1 + m r²/J), found by bisection; rolling a = g sin(phi)/(1 + J/(m r²))."""
    record = RECORDS["D01"]
    phi = math.radians(record["parameters"]["phi_deg"][case])
    model = kane.load("disk-on-ramp", free=["mu"])
    m, r = (model.parameters[name].value for name in ("m", "r"))
    model.set_parameters(phi=phi, J=record["parameters"]["J_over_mr2"][case] * m * r**2)
    low, high = 0.0, 1.0
    while high - low > THRESHOLD / 10:
        middle = (low + high) / 2
        rolls = model.simulate(0.01, parameters={"mu": middle}).transitions[0].mode["ramp"] == "sticks"
        low, high = (low, middle) if rolls else (middle, high)
    assert low == pytest.approx(record["values"]["mu_star"][case], abs=THRESHOLD)
    run = model.simulate(1.0, parameters={"mu": 2 * high})
    v, _, w = run.u[-1]
    assert [v, r * w] == pytest.approx([record["values"]["acceleration_rolling"][case]] * 2, rel=1e-12)


# rocking block -------------------------------------------------------------------------------------------------------


def test_the_block_rocks_with_housners_ratio() -> None:
    """ω⁺/ω⁻ = 1 − 1.5 sin²(alpha), at the times of the record, ten times; then it stands."""
    record = RECORDS["R01"]
    model = kane.load("rocking-block")
    p = {name: parameter.value for name, parameter in model.parameters.items()}
    assert {name: p[name] for name in ("b", "h", "g")} == {name: record["parameters"][name] for name in ("b", "h", "g")}
    assert p["angle0"] == record["parameters"]["theta0"]
    run = model.simulate(9.0)
    impacts = [x for x in changes(run) if x.cause == "impact"][:10]
    ratio = 1 - 1.5 * math.sin(math.atan2(p["b"], p["h"])) ** 2
    assert [x.u_after[2] / x.u_before[2] for x in impacts] == pytest.approx([ratio] * 10, rel=RATIO)
    assert [x.t for x in impacts] == pytest.approx([e["t"] for e in record["events"]], abs=1e-10)
    energies = [x.energy_change / p["m"] for x in impacts]
    assert energies == pytest.approx([-e["energy_lost_over_m"] for e in record["events"]], rel=1e-10)
    assert run.transitions[-1].mode == {"right": "sticks", "left": "sticks"}
    assert np.abs(run.u[-1]).max() <= CREEP


def test_a_squat_block_stops_dead() -> None:
    model = kane.load("rocking-block")
    model.set_parameters(**{k: RECORDS["R04"]["parameters"][k] for k in ("b", "h", "g")})
    model.set_parameters(angle0=-RECORDS["R04"]["parameters"]["theta0"])
    (impact, *_) = changes(run := model.simulate(1.0))
    assert impact.t == pytest.approx(RECORDS["R04"]["values"]["t_impact"], abs=1e-10)
    assert np.abs(run.u[-1]).max() <= CREEP


# Painlevé's rod ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", RECORDS["V03"]["values"]["table"], ids=lambda c: f"{c['theta']}-{c['w']}")
def test_the_rod_tells_paradoxes(case: dict[str, Any]) -> None:
    p = RECORDS["V03"]["parameters"]
    model = kane.load("painleve-rod")
    model.set_parameters(**{name: p[name] for name in ("m", "l", "mu", "g")})
    run = model.simulate(1e-3, q=[0, 0, case["theta"]], u=[-2.0, 0.0, case["w"]])
    first = run.transitions[0]
    found = "indeterminate" if first.possible > 1 else "slides" if first.mode["A"] == "slips" else "leaves"
    if any(x.cause == "impact without collision" for x in run.transitions[:2]):
        found = "inconsistent"
    assert found == case["result"]


def test_the_inconsistent_rod_is_struck_without_a_collision() -> None:
    """By the impulse that brings the end to rest: nothing approaches, so nothing rebounds, whatever e is."""
    record = RECORDS["V05"]
    p, expected = record["parameters"], record["values"]["newton"]
    model = kane.load("painleve-rod")
    model.set_parameters(**{name: p[name] for name in ("m", "l", "mu", "g", "e")})
    run = model.simulate(1e-3, q=[0, 0, p["theta"]], u=[-p["V"], 0.0, p["w"]])
    struck = next(x for x in run.transitions if x.cause == "impact without collision")
    normal, along = struck.impulse["A"]
    assert [normal, abs(along)] == pytest.approx([expected["P_n"], expected["P_t"]], rel=1e-10)
    assert struck.u_after[:2] == pytest.approx([expected["v_t"], expected["v_n"]], abs=1e-10)
    assert struck.energy_change == pytest.approx(expected["energy_change"], rel=1e-10)


# box on an incline ---------------------------------------------------------------------------------------------------


def test_the_box_does_not_creep() -> None:
    model = kane.load("box-on-incline")
    run = model.simulate(100.0)
    assert np.abs(run.u).max() <= CREEP
    assert np.abs(run.q[-1, 4:6]).max() <= 100.0 * CREEP
    assert set(run.transitions[-1].mode.values()) == {"sticks"} and len(run.transitions) == 1


@pytest.mark.parametrize("mu", [0.3, 0.36])
def test_the_box_slides_straight_down(mu: float) -> None:
    model = kane.load("box-on-incline")
    phi, g = math.radians(20), 9.81
    model.set_parameters(mu=mu, phi=phi)
    run = model.simulate(2.0)
    a = g * (math.sin(phi) - mu * math.cos(phi))
    assert run.u[-1] == pytest.approx([0, 0, 0, 2 * a, 0, 0], abs=1e-10)
    assert run.q[-1] == pytest.approx([1, 0, 0, 0, 2 * a, 0, 0.1], abs=1e-10)


# shopping cart -------------------------------------------------------------------------------------------------------


def pushed_cart(record: dict[str, Any]) -> tuple[kane.Model, np.ndarray, np.ndarray]:
    """The cart of a record with its loads, and its start."""
    model, p, start = kane.load("shopping-cart"), record["parameters"], record["initial"]
    model.set_parameters(**{name: p[name] for name in ("mB", "IB", "mC", "L1", "L2", "L3")})
    model.load(
        "push", kane.Force("basket", (f"{p['F0']} + {p['F1']}*sin({p['wF']}*t)", 0, 0), at=(0, 0, 0), frame="basket")
    )
    model.load("turn", kane.Torque("basket", (0, 0, f"{p['T0']} + {p['T1']}*sin({p['wT']}*t)")))
    speeds = {"u1": start["u1"], "u2": start["u2"]}
    return model, *model.project(start["q"], speeds, hold=["u1", "u2", *model.coordinates])


def assert_end(run: kane.Trajectory, values: dict[str, Any]) -> None:
    u1, _, u2, turning = run.u[-1]
    assert run.q[-1] == pytest.approx(values["q_T"], rel=CART, abs=CART)
    assert [u1, u2, u2 + turning] == pytest.approx(values["u_T"], rel=CART, abs=CART)


def test_the_cart_is_locked_and_freed_by_time() -> None:
    record = RECORDS["K01"]
    model, q, u = pushed_cart(record)
    locked = "*".join(f"(t - {t})" for t in record["parameters"]["times"])  # changes its sign at each of them
    model.constrain("caster_lock", when=f"-{locked}", until=locked)
    run = model.simulate(record["parameters"]["T"], q=q, u=u)
    found = changes(run)
    assert [x.t for x in found] == pytest.approx([e["t"] for e in record["events"]], abs=1e-12)
    assert [x.cause for x in found] == ["imposed", "freed"] * 3
    for change, event in zip(found, record["events"], strict=True):
        assert change.u_after[[0, 2]] == pytest.approx(event["u_after"][:2], abs=CART)
        assert change.energy_change == pytest.approx(-event.get("energy_lost", 0.0), abs=CART)
    assert_end(run, record["values"])


def test_the_cart_is_locked_once_by_its_parameters() -> None:
    model, q, u = pushed_cart(RECORDS["K01"])
    first, second = RECORDS["K01"]["events"][:2]
    model.set_parameters(lock=first["t"], free=second["t"])
    found = changes(model.simulate(1.0, q=q, u=u))
    assert [x.t for x in found] == pytest.approx([first["t"], second["t"]], abs=1e-12)
    assert found[1].u_after[[0, 2]] == pytest.approx(second["u_after"][:2], abs=CART)


def test_the_caster_sticks_and_frees_itself_by_dry_friction() -> None:
    record = RECORDS["K04"]
    model, q, u = pushed_cart(record)
    model.set_parameters(mc=record["parameters"]["Tc"])
    run = model.simulate(record["parameters"]["T"], q=q, u=u)
    found = changes(run)
    assert [x.t for x in found] == pytest.approx([e["t"] for e in record["events"]], abs=CART)
    assert [x.cause for x in found] == ["stick", "slip"] * 2
    assert_end(run, record["values"])


def test_a_caster_without_friction_changes_nothing() -> None:
    """mc = 0: no transition where its turning reverses, and the energy stays."""
    run = kane.load("shopping-cart").simulate(8.0)
    assert not changes(run)
    energy = run.energy()
    assert np.ptp(energy.kinetic + energy.potential) < 1e-10


# stick and slip, cradle, four-bar, spinning ball, pushed box ---------------------------------------------------------

CLOSE = 1e-10  # times (s) and states of the records


def test_the_block_on_the_belt_sticks_and_slips_periodically() -> None:
    """Slip lasts (2/ω)(π − atan(a ω/v)), stick 2 a/v with a = (mus − muk) m g/k."""
    record = RECORDS["S01"]
    run = kane.load("stick-slip").simulate(record["parameters"]["T"])
    found = changes(run)
    assert [x.cause for x in found[:4]] == ["slip", "stick"] * 2
    assert [x.t for x in found] == pytest.approx([e["t"] for e in record["events"]], abs=CLOSE)
    assert [run.q[-1, 0], run.u[-1, 0]] == pytest.approx([record["values"][k] for k in ("x_T", "v_T")], abs=1e-10)
    assert run.check().passed


def test_the_last_ball_of_the_cradle_takes_all_of_the_speed() -> None:
    """The times are those of a pendulum that swings by half periods; the speed goes through the balls at rest."""
    record = RECORDS["N07"]
    run = kane.load("newtons-cradle").simulate(5.7, impact="sequential")
    found = [x for x in changes(run) if x.cause == "impact"]
    assert [x.t for x in found] == pytest.approx(record["values"]["impact_times"], abs=1e-10)
    speed = record["values"]["speed_at_impact"]
    for k, impact in enumerate(found):
        leaves = 4 if k % 2 == 0 else 0
        assert abs(impact.u_after[leaves]) == pytest.approx(speed, rel=1e-10)
        assert np.abs(np.delete(impact.u_after, leaves)).max() < 1e-9


def test_the_rocker_rebounds_from_its_stop() -> None:
    record = RECORDS["F01"]
    p = record["parameters"]
    model = kane.load("four-bar-stop")
    values = {name: parameter.value for name, parameter in model.parameters.items()}
    assert {k: values[k] for k in "abcde"} == {k: p[k] for k in "abcde"}
    found = changes(model.simulate(4.0))
    events = record["events"][: len(found)]
    assert len(found) >= 3 and [x.t for x in found] == pytest.approx([e["t"] for e in events], abs=1e-10)
    for change, event in zip(found, events, strict=True):
        assert change.u_after[0] == pytest.approx(event["u_after"], rel=1e-10)
        assert abs(change.impulse["stop"][0]) == pytest.approx(event["impulse_moment_on_rocker"], rel=1e-10)
        assert change.energy_change == pytest.approx(event["energy_after"] - event["energy_before"], rel=1e-10)


def test_the_spinning_ball_swerves_at_each_bounce() -> None:
    record = RECORDS["B08"]
    found = changes(kane.load("spinning-ball").simulate(2.0))
    for change, event in zip(found, record["events"], strict=False):
        assert change.t == pytest.approx(event["t"], abs=CLOSE)
        assert change.u_after[3:] == pytest.approx(event["v_after"], abs=CLOSE)
    assert len(found) >= len(record["events"])


@pytest.mark.parametrize("height", [0.1, 0.2, 0.39])
def test_a_box_pushed_low_slides_when_friction_of_both_corners_is_used_up(height: float) -> None:
    """At F = mu m g, whatever share of it each corner holds; then m v' = F − mu m g."""
    model = kane.load("pushed-box")
    model.set_parameters(c=height)
    (slips,) = changes(run := model.simulate(6.0))
    assert slips.t == pytest.approx(RECORDS["X13"]["values"]["F_slide"] / 10.0, abs=1e-10)
    assert set(slips.mode.values()) == {"slips"}
    assert run.u[-1] == pytest.approx([0.5 * (6.0 - slips.t) ** 2, 0, 0], abs=1e-10)


def test_a_box_pushed_high_tips_first() -> None:
    """At F = m g b/c, about its right corner."""
    run = kane.load("pushed-box").simulate(2.5)
    tips = next(x for x in changes(run) if x.cause == "release")
    assert tips.t == pytest.approx(RECORDS["X13"]["values"]["F_tip"] / 10.0, abs=1e-10)
    assert tips.mode == {"right": "sticks", "left": "open"} and run.q[-1, 2] > 0.0


def test_balls_that_swing_together_do_not_part_and_meet_for_ever() -> None:
    run = kane.load("newtons-cradle").simulate(1.0)  # by Poisson's law all but the first swing on together
    assert run.outcome.success and len(run.transitions) < 20
    assert run.energy().kinetic[-1] + run.energy().potential[-1] == pytest.approx(
        run.energy().kinetic[0] + run.energy().potential[0], rel=1e-10
    )
