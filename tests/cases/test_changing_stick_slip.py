"""Dry friction: a block on a belt or on a shaken table that sticks and slips, clutches and brakes."""

from __future__ import annotations

from typing import Any

import numpy as np

import kane
from cases.changing_records import changes, close, place, reaction, record, since, times


def block(m: float, k: float = 0.0) -> kane.Model:
    """A block on a straight line, on a spring where k is given: x, v."""
    model = kane.Model("block")
    model.body("block", mass=m)
    model.joint("slide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    if k:
        model.load("spring", kane.JointSpring("slide", stiffness=k))
    return model


def test_a_block_on_a_belt_sticks_and_slips_periodically() -> None:
    d = record("S01")
    p, v = d.p, d.values
    model = block(p.m, p.k)
    model.constrain("belt", kane.Friction(f"v - {p.vb}", bound=p.muk * p.m * p.g, static=p.mus / p.muk))
    run = model.simulate(p.T, q=[0.0], u=[p.vb])
    found = changes(run)
    assert run.transitions[0].mode["belt"] == "sticks"
    assert [x.cause for x in found] == [e["kind"].split()[0] for e in d.events]
    assert times(found) == close(times(d.events))
    assert [[place(run, x.t)[0], x.u_after[0]] for x in found] == [close([e["x"], e["v"]]) for e in d.events]
    assert [run.q[-1, 0], run.u[-1, 0]] == close([v["x_T"], v["v_T"]])
    assert run.check().passed  # energy too: the belt works


def test_a_block_on_a_belt_with_one_coefficient_ends_in_a_motion_that_grazes_the_belt() -> None:
    d = record("S03")
    p, v = d.p, d.values
    model = block(p.m, p.k)
    model.constrain("belt", kane.Friction(f"v - {p.vb}", bound=p.mu * p.m * p.g))
    run = model.simulate(p.T, q=[p.x], u=[p.v])
    found = changes(run)[: len(d.events)]
    assert times(found) == close(times(d.events))
    assert [[place(run, x.t)[0], x.u_after[0]] for x in found] == [close([e["x"], e["v"]]) for e in d.events]
    ends = ["slips" if "slip" in e["kind"] else "sticks" for e in d.events]
    assert [x.mode["belt"] for x in found] == ends
    assert [run.q[-1, 0], run.u[-1, 0]] == close([v["x_T"], v["v_T"]])


def test_dry_friction_takes_the_same_from_every_half_swing_until_the_block_sticks() -> None:
    d = record("S05")
    p, v = d.p, d.values
    model = block(p.m, p.k)
    model.constrain("table", kane.Brake("slide", bound=p.mu * p.m * p.g))
    run = model.simulate(v["t_stop"] + 1.0, q=[p.x0])
    found = changes(run)
    assert times(found) == close(times(d.events))
    assert [place(run, x.t)[0] for x in found] == close([e["x"] for e in d.events])
    assert [x.mode["table"] == "sticks" for x in found] == [e["sticks"] for e in d.events]
    rest = since(run, found[-1].t)
    assert np.all(run.u[rest] == 0.0) and np.all(run.q[rest] == run.q[-1])
    energy = run.energy()
    total = energy.kinetic + energy.potential
    assert total[0] - total[-1] == close(v["energy_lost"])


def test_a_block_on_a_shaken_table_follows_it_while_it_sticks() -> None:
    d = record("S07")
    p, v = d.p, d.values
    model = block(1.0)
    model.constrain("table", kane.Friction(f"v - {p.A * p.Omega}*cos({p.Omega}*t)", bound=p.mu * p.g))
    run = model.simulate(p.T, u=[p.A * p.Omega])
    found = changes(run)
    assert [x.cause for x in found] == [e["kind"].split()[0] for e in d.events]
    assert times(found) == close(times(d.events))
    assert [[place(run, x.t)[0], x.u_after[0]] for x in found] == [close([e["x"], e["v"]]) for e in d.events]
    assert [run.q[-1, 0], run.u[-1, 0]] == close([v["x_T"], v["v_T"]])


def rotors(*inertias: float) -> kane.Model:
    """Rotors on one axis, with angles a1, a2, … and rates w1, w2, … ."""
    model = kane.Model("rotors")
    for k, J in enumerate(inertias, 1):
        model.body(f"rotor {k}", inertia={"xx": J, "yy": J, "zz": J})
        names: dict[str, Any] = {"coordinates": [f"a{k}"], "speeds": [f"w{k}"]}
        model.joint(f"shaft {k}", "revolute", "ground", f"rotor {k}", axis="z", **names)
    return model


def test_a_clutch_slips_locks_is_overloaded_and_locks_again() -> None:
    d = record("J01")
    p, v = d.p, d.values
    model = rotors(p.J1, p.J2)
    model.load("drive", kane.Effort("shaft 1", f"{p.T10} + {p.T11}*sin({p.Om}*t)"))
    model.load("load", kane.Effort("shaft 2", p.T2))
    model.constrain("clutch", kane.Clutch("shaft 1", "shaft 2", bound=p.Tc))
    run = model.simulate(p.T, u=[p.w1, p.w2])
    found = changes(run)
    assert [x.cause for x in found] == ["stick" if e["kind"] == "locks" else "slip" for e in d.events]
    assert times(found) == close(times(d.events))
    assert [x.u_after for x in found] == [close([e["w1"], e["w2"]]) for e in d.events]
    assert run.u[-1] == close([v["w1_T"], v["w2_T"]])


def test_backlash_passes_momentum_to_and_fro() -> None:
    d = record("J03")
    p = d.p
    model = kane.Model("backlash")
    for k, mass in enumerate((p.m1, p.m2), 1):
        model.body(f"mass {k}", mass=mass)
        names: dict[str, Any] = {"coordinates": [f"x{k}"], "speeds": [f"v{k}"]}
        model.joint(f"slide {k}", "prismatic", "ground", f"mass {k}", axis="x", **names)
    model.constrain("play", kane.Backlash("x2 - x1", play=2 * p.dl, restitution=p.e))
    run = model.simulate(d.events[-1]["t"] + 1e-3, q=[0.0, p.z], u=[p.v1, p.v2])
    found = changes(run)
    assert times(found) == close(times(d.events))
    for x, e in zip(found, d.events, strict=True):
        assert x.cause == "impact" and place(run, x.t)[0] == close(e["x1"])
        assert [*x.u_before, *x.u_after] == close([e["v1_before"], e["v2_before"], e["v1"], e["v2"]])
        end = "play.lower" if e["end"] == "-delta" else "play.upper"
        assert x.constraints == (end,) and x.impulse[end] == close([abs(e["impulse"])])


def test_a_one_way_clutch_holds_and_releases() -> None:
    d = record("J05")
    p, v = d.p, d.values
    model = rotors(p.J)
    model.load("drive", kane.Effort("shaft 1", f"{p.T0} + {p.T1}*sin({p.Om}*t)"))
    model.constrain("pawl", kane.Ratchet("w1"))
    run = model.simulate(p.T, u=[p.w])
    found = changes(run)
    assert times(found) == close(times(d.events))
    assert [x.mode["pawl"] for x in found] == ["sticks" if e["kind"] == "holds" else "open" for e in d.events]
    assert [place(run, x.t)[0] for x in found] == close([e["angle"] for e in d.events])
    assert run.q[-1, 0] == close(v["angle_T"]) and run.u[-1, 0] == v["w_T"] == 0.0


def test_a_brake_is_applied_stops_the_rotor_and_is_released() -> None:
    d = record("J07")
    p, v = d.p, d.values
    model = rotors(p.J)
    model.load("drive", kane.Effort("shaft 1", p.T_drive))
    model.constrain("brake", kane.Brake("shaft 1", bound=p.Tb), when=f"t - {p.t_on}", until=f"t - {p.t_off}")
    run = model.simulate(p.T, u=[p.w0])
    found = changes(run)
    assert [x.cause for x in found] == ["imposed", "stick", "freed"]
    assert times(found) == close([p.t_on, v["t_stop"], p.t_off])
    assert place(run, found[1].t)[0] == close(v["angle_stop"])
    assert [run.u[-1, 0], run.q[-1, 0]] == close([v["w_T"], v["angle_T"]])
    held = (run.t > found[1].t) & (run.t < p.t_off)
    assert np.any(held) and np.all(run.u[held] == 0.0)


def test_a_latch_catches_a_mass_holds_it_and_lets_it_go() -> None:
    d = record("J09")
    p, v = d.p, d.values
    model = block(p.m, p.k)
    model.constrain("latch", kane.Latch(f"x - {p.xl}"), duration=p.t_hold)
    caught, released = d.events
    shortly = released["t"] + 0.3
    held = 0.5 * (caught["t"] + released["t"])
    run = model.simulate([0.0, held, shortly, v["t_next_turning"] + 1e-3], q=[p.x0], events={"turning": "v"})
    catch, release = changes(run)
    assert [catch.cause, release.cause] == ["imposed", "freed"]
    assert times([catch, release]) == close([caught["t"], released["t"]])
    assert catch.u_before[0] == close(caught["v_before"]) and catch.u_after[0] == 0.0
    assert catch.energy_change == close(-caught["energy_lost"])
    assert abs(reaction(run, "latch")[1]) == close(v["reaction_while_held"])
    assert run.q[2, 0] == close(v["x_at_0p3s_after_release"])
    turning = run.events[0]
    assert turning.t[-1] == close(v["t_next_turning"]) and turning.y[-1][0] == close(v["x_next_turning"])
