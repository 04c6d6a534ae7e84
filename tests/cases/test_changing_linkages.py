"""A cart whose caster sticks, double pendulums that meet a wall or a stop, a four-bar linkage against a stop."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

import kane
from cases.changing_records import changes, close, place, record, times


def cart(p: SimpleNamespace) -> kane.Model:
    """Example 3 of [GIL03] from above: u1 along the cart, v across it, u2 of the heading, u3 − u2 of the caster."""
    model = kane.Model("cart")
    model.body("basket", mass=p.mB, center=(p.L1, 0, 0), inertia={"xx": p.IB, "yy": p.IB, "zz": p.IB})
    model.body("caster", mass=p.mC, center=(-p.L3, 0, 0))
    place: dict[str, Any] = {"coordinates": ["q1", "q2", "q3"], "speeds": ["u1", "v", "u2"]}
    model.joint("place", "planar", "ground", "basket", velocity="body", **place)
    model.joint(
        "caster", "revolute", "basket", "caster", axis="z", at=(p.L2, 0, 0), coordinates=["q4"], speeds=["turn"]
    )
    model.constrain("axle", kane.KnifeEdge("basket", direction="y"))
    model.constrain("wheel", kane.KnifeEdge("caster", at=(-p.L3, 0, 0), direction="y"))
    model.load("F", kane.Force("basket", (f"{p.F0} + {p.F1}*sin({p.wF}*t)", 0, 0), at=(0, 0, 0), frame="basket"))
    model.load("tau", kane.Torque("basket", (0, 0, f"{p.T0} + {p.T1}*sin({p.wT}*t)")))
    return model


def cart_speeds(u: np.ndarray) -> list[float]:
    """u1, u2, u3 of the record."""
    return [u[0], u[2], u[2] + u[3]]


def test_the_caster_of_a_cart_sticks_and_frees_at_given_times() -> None:
    d = record("K01")
    p, v = d.p, d.values
    model = cart(p)
    swing = "*".join(f"(t - {t})" for t in p.times)
    model.constrain("stuck", kane.MotionEquations("turn = 0"), when=f"-({swing})", until=swing)
    run = model.simulate(p.T, q=d.initial["q"], u={"u1": d.initial["u1"], "u2": d.initial["u2"]})
    found = changes(run)
    assert [x.cause for x in found] == ["imposed" if "imposed" in e["kind"] else "freed" for e in d.events]
    assert times(found) == close(times(d.events))
    for x, e in zip(found, d.events, strict=True):
        assert place(run, x.t) == close(e["q"])
        assert cart_speeds(x.u_before) == close(e["u_before"])
        assert cart_speeds(x.u_after) == close(e["u_after"])
        if "energy_lost" in e:
            assert x.energy_change == close(-e["energy_lost"])
            assert x.impulse["stuck"] == close([e["impulse_on_sticking_row"]])
    assert run.q[-1] == close(v["q_T"])
    assert cart_speeds(run.u[-1]) == close(v["u_T"])
    assert run.energy().kinetic[-1] == close(v["energy_T"])
    assert -sum(x.energy_change for x in found) == close(v["total_energy_lost_in_impositions"])


def test_the_caster_of_a_cart_sticks_and_frees_by_dry_friction_in_its_axis() -> None:
    d = record("K04")
    p, v = d.p, d.values
    model = cart(p)
    model.constrain("axis", kane.Brake("caster", bound=p.Tc))
    run = model.simulate(p.T, q=d.initial["q"], u={"u1": d.initial["u1"], "u2": d.initial["u2"]})
    found = changes(run)
    assert [x.cause for x in found] == ["stick" if e["kind"] == "sticks" else "slip" for e in d.events]
    assert times(found) == close(times(d.events))
    for x, e in zip(found, d.events, strict=True):
        assert place(run, x.t) == close(e["q"])
        assert cart_speeds(x.u_after)[:2] == close(e["u"])
    assert run.q[-1] == close(v["q_T"])
    assert cart_speeds(run.u[-1]) == close(v["u_T"])
    assert run.energy().kinetic[-1] == close(v["energy_T"])


def double_pendulum(p: SimpleNamespace) -> kane.Model:
    """Point masses on massless rods that hang in the plane of x and y; q = a, b − a and u = a', b'."""
    model = kane.Model("pendulum", gravity=(0, -p.g, 0))
    model.body("upper", mass=p.m1, center=(0, -p.L1, 0))
    model.body("lower", mass=p.m2, center=(0, -p.L2, 0))
    model.joint("hinge", "revolute", "ground", "upper", axis="z", coordinates=["a"])
    model.joint("elbow", "revolute", "upper", "lower", axis="z", at=(0, -p.L1, 0), coordinates=["bend"])
    model.set_speeds({"da": "a'", "db": "a' + bend'"})
    return model


def swing(model: kane.Model, name: str) -> kane.Trajectory:
    """The motion of a record's double pendulum, past its last event; impacts are compared with those of the record."""
    d = record(name)
    start = d.initial
    last = d.events[-1]["t"]
    run = model.simulate(last + 1e-3, q=[start["a"], start["b"] - start["a"]], u=[start["da"], start["db"]])
    found = changes(run)
    assert times(found) == close(times(d.events))
    for x, e in zip(found, d.events, strict=True):
        a, bend = q = place(run, x.t)
        assert [a, a + bend] == close(e["q"])
        assert x.u_after == close(e["u_after"])
        assert sum(model.energy(q, x.u_after)) == close(e["energy_after"])
        if "impulse" in e:
            (impulse,) = x.impulse.values()
            assert impulse[0] == close(e["impulse"])
            assert np.all(impulse[1:] == 0.0)
            assert x.u_before == close(e["u_before"])
            assert x.energy_change == close(e["energy_after"] - e["energy_before"])
    return run


def test_the_tip_of_a_double_pendulum_strikes_a_wall() -> None:
    p = record("P01").p
    model = double_pendulum(p)
    model.contact("wall", "lower", "ground", normal="-x", at=(p.wall, 0, 0), restitution=p.e)
    assert all(x.cause == "impact" for x in changes(swing(model, "P01")))


def test_the_elbow_of_a_double_pendulum_rebounds_from_a_stop() -> None:
    p = record("P03").p
    model = double_pendulum(p)
    model.constrain("stop", kane.HardStop("bend", upper=p.qmax, restitution=p.e))
    assert all(x.cause == "impact" for x in changes(swing(model, "P03")))


def test_the_elbow_of_a_double_pendulum_stays_at_a_stop_until_the_reaction_would_pull() -> None:
    d = record("P05")
    p = d.p
    model = double_pendulum(p)
    model.constrain("stop", kane.HardStop("bend", upper=p.qmax))
    found = changes(swing(model, "P05"))
    assert [x.cause for x in found] == ["release" if "releases" in e["kind"] else "impact" for e in d.events]
    stays = ["open" if "leaves" in e["kind"] or "releases" in e["kind"] else "sticks" for e in d.events]
    assert [x.mode["stop"] for x in found] == stays


def test_the_rocker_of_a_four_bar_strikes_a_stop() -> None:
    d = record("F01")
    p, v = d.p, d.values
    model = kane.Model("four-bar", gravity=(0, -p.g, 0))
    for name, mass, length in (("crank", p.ma, p.a), ("coupler", p.mb, p.b), ("rocker", p.mc, p.c)):
        J = mass * length**2 / 12
        model.body(name, mass=mass, center=(length / 2, 0, 0), inertia={"yy": J, "zz": J})
    model.joint("crank", "revolute", "ground", "crank", axis="z", coordinates=["q"], speeds=["u"])
    model.joint("coupler", "revolute", "crank", "coupler", axis="z", at=(p.a, 0, 0), coordinates=["r"])
    model.joint("rocker", "revolute", "ground", "rocker", axis="z", at=(p.d, 0, 0), coordinates=["s"], speeds=["us"])
    ends = {"first_at": (p.b, 0, 0), "second_at": (p.c, 0, 0), "rows": ("x", "y")}
    model.constrain("pin", kane.Loop("revolute", "coupler", "rocker", **ends))
    model.constrain("stop", kane.HardStop("s", lower=p.smin, restitution=p.e))
    start = {"q": p.q0, "r": v["coupler_0"] - p.q0, "s": v["rocker_0"]}
    run = model.simulate(d.events[-1]["t"] + 1e-3, q=start, u={"u": p.dq0})
    assert sum(model.energy(run.q[0], run.u[0])) == close(v["energy_0"])
    found = changes(run)
    assert times(found) == close(times(d.events))
    for x, e in zip(found, d.events, strict=True):
        q = place(run, x.t)
        assert x.cause == "impact"
        assert [q[0], q[0] + q[1], q[2]] == close([e["q"], e["coupler"], e["rocker"]])
        assert [x.u_before[0], x.u_before[2]] == close([e["u_before"], e["rocker_rate_before"]])
        assert [x.u_after[0], x.u_after[2]] == close([e["u_after"], e["rocker_rate_after"]])
        assert x.impulse["stop"] == close([e["impulse_moment_on_rocker"]])
        assert sum(model.energy(q, x.u_after)) == close(e["energy_after"])
        assert x.energy_change == close(e["energy_after"] - e["energy_before"])
