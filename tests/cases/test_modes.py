"""Modes of constraints that come and go, written out: against a solve of the whole system, and recombination."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.errors import InputError

G = 9.81


def disk(mu: float = 0.2) -> kane.Model:
    """A disk that a force drives over a rough floor (record D08 of the references)."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("disk", mass=2.0, inertia={"xx": 1, "yy": 0.0625, "zz": 1})
    m.joint("j", "planar", "ground", "disk", normal="y")
    m.contact("floor", "disk", "ground", shape={"sphere": 0.25}, normal="z", at=(0, 0, -0.25), friction=mu)
    m.load("push", kane.Force("disk", ("15*sin(4*t)", 0, 0)))
    return m


def rod(mu: float) -> kane.Model:
    """A rod that may stand on its lower end, the other end touching a wall."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("rod", mass=1.5, inertia={"xx": 1, "yy": 0.2, "zz": 1})
    m.joint("j", "planar", "ground", "rod", normal="y", initial=(0.4, 0.3, 0.3))
    m.contact("floor", "rod", "ground", shape={"point": (0, 0, -0.7)}, normal="z", friction=mu)
    m.contact("wall", "rod", "ground", shape={"point": (0, 0, 0.7)}, normal="-x", at=(2, 0, 0), friction=0.1)
    return m


def by_elimination(m: kane.Model, states: dict[str, str], mu: dict[str, float], x: np.ndarray) -> np.ndarray:
    """u̇ from the whole system of accelerations and reactions, in numbers: M u̇ − Gᵀ λ = f, A u̇ = b."""
    whole = kane.Model.of(m.mechanism.all_rows_held())
    q, u = x[1:4], x[4:7]
    rows = whole.constraint_rows(q, u, t=x[0])
    M, f = m.mass_matrix(q), -m.inverse_dynamics(q, u, np.zeros(3), t=x[0])
    A, columns, b = [], [], []
    for k, (name, state) in enumerate(states.items()):
        n, s = rows.A[2 * k], rows.A[2 * k + 1]
        if state == "open":
            continue
        sign = {"slips forward": 1.0, "slips backward": -1.0}.get(state, 0.0)
        A.append(n)
        b.append(rows.b[2 * k])
        columns.append(n - mu[name] * sign * s)
        if state == "sticks":
            A.append(s)
            b.append(rows.b[2 * k + 1])
            columns.append(s)
    if not A:
        return np.linalg.solve(M, f)
    count = len(A)
    K = np.block([[M, -np.array(columns).T], [np.array(A), np.zeros((count, count))]])
    return np.linalg.solve(K, np.concatenate([f, b]))[:3]


def test_every_mode_solves_the_whole_system() -> None:
    from kane.backends import compile

    m, rng = rod(0.6), np.random.default_rng(3)
    written = [mode for mode in m.modes() if mode.motion is not None]
    assert len(written) == 15  # of 16: where both ends stick four rows hold three speeds
    for mode in written:
        assert mode.motion is not None
        kernel = compile(mode.motion)
        for _ in range(5):
            x = np.concatenate([[0.3], rng.uniform(0.2, 0.6, 3), rng.normal(size=3)])
            rates = kernel([x[0]], x[1:4], x[4:7], [0.0], np.zeros(3))
            expected = by_elimination(m, mode.states, {"floor": 0.6, "wall": 0.1}, x)
            np.testing.assert_allclose(rates[3:6], expected, rtol=1e-9, atol=1e-9)


def test_state_machine_and_recombination_move_alike() -> None:
    m = disk()
    one, two = m.simulate(6.0), m.simulate(6.0, embed="formulation")
    assert [x.cause for x in one.transitions] == [x.cause for x in two.transitions]
    times = np.array([[x.t for x in run.transitions] for run in (one, two)])
    np.testing.assert_allclose(times[0], times[1], atol=1e-11)
    np.testing.assert_allclose(one.u[-1], two.u[-1], atol=1e-11)
    # P(t) = 3/2 mu m g/(1 + J/(m r²)) … of a disk: it slips where the friction of rolling, P/3, reaches mu m g
    first = np.arcsin(3 * 0.2 * 2.0 * G / 15) / 4
    assert abs(times[1][1] - first) < 1e-12


def test_modes_are_listed_with_guards_and_resets() -> None:
    text = str(disk().modes())
    assert "4 modes" in text and "floor slips backward" in text
    assert "floor open: the gap falls through zero → closed; impact with restitution 0" in text


def test_modes_are_exported_to_c() -> None:
    sources = disk().modes().to_c()
    assert set(sources) == {f"mode_{k}{end}" for k in range(4) for end in ("", "_ends")}
    assert all("mode_" in header and "{" in source for header, source in sources.values())


def test_modes_that_cannot_be_enumerated_are_refused() -> None:
    m = kane.Model(gravity=(0, 0, -G))
    m.joint("j", "free", "ground", m.body("ball", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1}))
    m.contact("floor", "ball", "ground", shape={"sphere": 0.1}, friction=0.3)
    with pytest.raises(InputError, match="any direction in a plane"):
        m.modes()
    with pytest.raises(InputError, match="one mode only"):
        kane.load("pendulum").modes()


def test_accelerations_and_reactions_are_those_of_the_mode_at_each_time() -> None:
    run = disk().simulate(np.linspace(0, 1.5, 31))
    first, second = run.transitions[1].t, run.transitions[2].t
    assert first < 0.24 < 0.7 < second  # rolls, slips forward, rolls
    push = 15 * np.sin(4 * run.t)
    rolls = (run.t < first) | (run.t > second) & (run.t < run.transitions[3].t)
    friction = np.where(rolls, -push / 3, -0.2 * 2 * G)
    slips = (run.t > first) & (run.t < second)
    np.testing.assert_allclose(run.multipliers[rolls | slips, 0], 2 * G, rtol=1e-12)
    np.testing.assert_allclose(run.multipliers[rolls | slips, 1], friction[rolls | slips], atol=1e-9)
    np.testing.assert_allclose(run.acceleration()[rolls | slips, 1], ((push + friction) / 2)[rolls | slips], atol=1e-9)
    floor, joint = run.reactions()["floor"], run.reactions()["j"]
    sign = 1.0 if floor.on == "disk" else -1.0
    np.testing.assert_allclose(sign * floor.force[rolls | slips, 2], 2 * G, rtol=1e-12)
    np.testing.assert_allclose(sign * floor.force[rolls | slips, 0], friction[rolls | slips], atol=1e-9)
    np.testing.assert_allclose(joint.force[:, [0, 2]], 0.0, atol=1e-9)  # free in its plane
