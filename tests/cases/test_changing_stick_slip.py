"""Dry friction: a block on a belt or on a shaken table that sticks and slips, clutches and brakes."""

from __future__ import annotations

import numpy as np

import kane
from cases.changing_records import changes, close, place, record, since, times

GRAZED = 1e-7
"""Tolerance of a motion that touches the speed of the belt again and again without crossing it."""


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
    assert [run.q[-1, 0], run.u[-1, 0]] == close([v["x_T"], v["v_T"]], GRAZED)


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
