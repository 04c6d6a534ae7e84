"""Motion under constraints: consistent starts, drift, singular positions, accelerations where pivots vanish.

The parallelogram is the yardstick: its cranks turn alike and its coupler does not turn at all, so that it moves as one
pendulum, and it is singular where it is flat, where both cranks point along the ground.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

import kane
from kane.errors import InputError, ModelError, SingularError
from kane.model import (
    ConfigurationEquations,
    Distance,
    Loop,
    MotionEquations,
    PointOnLine,
    RollingOnSphere,
    read_mechanism,
)

LENGTH, SPAN, GRAVITY = 0.8, 1.3, 9.81


def parallelogram(gap: float = 0.0) -> kane.Model:
    """Cranks of 2 kg, a coupler of 3 kg, closed by a spatial pin: three of its five rows are redundant."""
    m = kane.Model("parallelogram", gravity=(0, -GRAVITY, 0))
    for name, mass, length in (("left", 2.0, LENGTH), ("coupler", 3.0, SPAN), ("right", 2.0, LENGTH + gap)):
        slender = mass * length**2 / 12
        m.body(name, mass=mass, center=(length / 2, 0, 0), inertia={"yy": slender, "zz": slender})
    m.joint("left", "revolute", "ground", "left", coordinates=["a"], speeds=["ua"], initial=[-1.0])
    m.joint(
        "coupler", "revolute", "left", "coupler", at=(LENGTH, 0, 0), coordinates=["b"], speeds=["ub"], initial=[1.0]
    )
    m.joint("right", "revolute", "ground", "right", at=(SPAN, 0, 0), coordinates=["c"], speeds=["uc"], initial=[-1.0])
    m.constrain("pin", Loop("revolute", "coupler", "right", first_at=(SPAN, 0, 0), second_at=(LENGTH + gap, 0, 0)))
    return m


def pendulum_acceleration(a: float) -> float:
    """The same as one pendulum: two rods about their ends and the coupler as a particle at the end of a crank."""
    inertia = 2 * 2.0 * LENGTH**2 / 3 + 3.0 * LENGTH**2
    return -GRAVITY * math.cos(a) * LENGTH * (2 * 2.0 / 2 + 3.0) / inertia


def test_accelerations_are_those_of_a_pendulum() -> None:
    m = parallelogram()
    for a in (-1.0, 0.3, 2.0, 1e-9, 0.0, math.pi):
        udot = m.forward_dynamics([a, -a, a], [2.0, -2.0, 2.0], np.zeros(3))
        assert np.all(np.isfinite(udot))
        if abs(math.sin(a)) > 0.1:
            assert udot == pytest.approx(np.array([1, -1, 1]) * pendulum_acceleration(a), rel=1e-12)


def test_batches_and_single_calls_agree_where_pivots_vanish() -> None:
    m = parallelogram()
    a = np.array([-1.0, 0.0, 1e-7, 0.4])
    q, u = np.stack([a, -a, a], axis=1), np.tile([2.0, -2.0, 2.0], (4, 1))
    together = m.forward_dynamics(q, u, np.zeros((4, 3)))
    alone = [m.forward_dynamics(x, y, np.zeros(3)) for x, y in zip(q, u, strict=True)]
    assert together == pytest.approx(np.array(alone), rel=1e-12)


def test_freedom_tells_redundant_rows() -> None:
    freedom = parallelogram().freedom()
    assert (freedom.degrees, freedom.rank) == (1, 2)
    assert freedom.redundant == ("pin.z", "pin.rx", "pin.ry")
    assert parallelogram().freedom([0.0, 0.0, 0.0]).degrees == 2


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_moves_as_a_pendulum(embed: str) -> None:
    """Below the flat position, where both embeddings are far from singular."""
    m = parallelogram()
    one = kane.Model("pendulum", gravity=(0, -GRAVITY, 0))
    one.body("rod", mass=4.0, center=(LENGTH / 2, 0, 0), inertia={"yy": 4 * LENGTH**2 / 12, "zz": 4 * LENGTH**2 / 12})
    one.body("end", mass=3.0)
    one.joint("pin", "revolute", "ground", "rod", coordinates=["a"], speeds=["ua"], initial=[-1.0])
    one.joint("end", "weld", "rod", "end", at=(LENGTH, 0, 0))
    t = np.linspace(0.0, 5.0, 26)
    found, there = m.simulate(t, embed=embed), one.simulate(t, rtol=1e-12)
    assert found.outcome.success
    assert found.q[:, 0] == pytest.approx(there.q[:, 0], abs=1e-8)
    assert found.q[:, 1] == pytest.approx(-there.q[:, 0], abs=1e-8)
    assert np.abs(found.residuals.position).max() < 1e-13
    assert np.abs(found.residuals.velocity).max() < 1e-12
    assert found.check().passed


def test_passes_its_flat_position_and_says_so() -> None:
    """Singular where sin a = 0: an event watches for it, and both tell the same times."""
    m = parallelogram()
    motion = m.simulate((0, 10), u={"ua": 7.0}, events={"flat": "sin(a)"})
    energy = np.sum(motion.energy(), axis=0)
    assert motion.outcome.success
    assert np.ptp(energy) < 1e-9 * abs(energy[0])
    assert np.abs(motion.q[:, 0] + motion.q[:, 1]).max() < 1e-9  # it never becomes an antiparallelogram
    (flat,) = motion.events
    assert len(flat) > 10
    assert [s.t for s in motion.singularities] == pytest.approx(flat.t, abs=1e-5)
    assert {s.degrees for s in motion.singularities} == {2}
    assert "singular position" in str(motion.outcome)


def test_starts_in_its_flat_position() -> None:
    motion = parallelogram().simulate((0, 4), q=[0, 0, 0], u=[6, -6, 6])
    energy = np.sum(motion.energy(), axis=0)
    assert motion.outcome.success
    assert np.ptp(energy) < 1e-8 * energy[0]


FOLDING = (SPAN - LENGTH) / (SPAN + LENGTH)
"""−ua / uc as a flat parallelogram begins to fold. With w = ua + ub, LENGTH (uc − ua) = SPAN w across the bars, and
LENGTH (uc² − ua²) = SPAN w² along them: w = 0, it stays a parallelogram, or w = uc + ua."""


@pytest.mark.parametrize("u", [(6.0, -6.0, 6.0), (-FOLDING * 5.0, 5.0, 5.0)], ids=["parallel", "folding"])
def test_both_branches_lead_on_from_the_flat_position(u: tuple[float, float, float]) -> None:
    m = parallelogram()
    assert m.project([0, 0, 0], u)[1] == pytest.approx(u, rel=1e-12)
    motion = m.simulate((0, 0.5), q=[0, 0, 0], u=u)
    energy = np.sum(motion.energy(), axis=0)
    assert motion.outcome.success and np.ptp(energy) < 1e-8 * energy[0]
    if u[0] == 6.0:
        assert np.abs(motion.q[:, 0] - motion.q[:, 2]).max() < 1e-9


def test_speeds_between_the_branches_are_refused_and_the_branches_told() -> None:
    """They satisfy A u = 0, and A u̇ = b has no solution: b has a part along the bars."""
    m = parallelogram()
    between = np.array([6.0, -6.0, 6.0]) + np.array([-FOLDING * 5.0, 5.0, 5.0])
    rows = m.constraint_rows([0, 0, 0], between)
    assert np.abs(rows.rate).max() < 1e-12
    for ask in (m.project, lambda q, u: m.simulate((0, 1), q=q, u=u)):
        with pytest.raises(ModelError) as refused:
            ask([0, 0, 0], between)
        assert f"'pin.x' by {rows.b[0]:.3g} (m/s² or rad/s²)" in str(refused.value)
        told = re.findall(r"ua (\S+), ub (\S+), uc ([^\s;]+)", str(refused.value))
        folding, parallel = sorted((u / u[2] for u in np.array(told, dtype=float)), key=lambda u: u[0])
        assert parallel == pytest.approx([1, -1, 1], abs=1e-5)
        assert folding == pytest.approx([-FOLDING, 1, 1], abs=1e-5)


def test_speeds_on_a_branch_but_for_rounding_are_turned_onto_it() -> None:
    m = parallelogram()
    rounded = [round(-FOLDING * 5.0, 3), 5.0, 5.0]
    assert m.project([0, 0, 0], rounded)[1] == pytest.approx([-FOLDING * 5.0, 5.0, 5.0], rel=1e-3)
    found = m.project([0, 0, 0], rounded)[1]
    assert found[1] == pytest.approx(found[2], rel=1e-9) and found[0] == pytest.approx(-FOLDING * found[1], rel=1e-9)


def test_a_guess_that_closes_to_the_flat_position_keeps_speeds_of_a_branch() -> None:
    """A double root is found to the square root of what residuals tell: rows as short as that determine nothing."""
    m = parallelogram()
    q, u = m.project({"a": 0.0, "b": 0.5, "c": -0.5}, [6.0, -6.0, 6.0], hold=["a"])
    assert q == pytest.approx([0, 0, 0], abs=1e-5)
    assert u == pytest.approx([6, -6, 6], rel=1e-5)
    with pytest.raises(SingularError):
        m.linearize({"a": 0.0}, [6.0, -6.0, 6.0])


def test_a_speed_that_is_given_stays_in_the_branches_that_are_told() -> None:
    with pytest.raises(ModelError, match=r"such as ua 7, ub -7, uc 7; or ua 7, ub -29\.4, uc -29\.4;"):
        parallelogram().simulate((0, 1), q=[0, 0, 0], u={"ua": 7.0})


def test_a_linkage_that_is_rigid_but_for_first_order_moves_nowhere() -> None:
    """Two rods in one line between fixed pins: their middle may have a speed across, and goes nowhere."""
    m = kane.Model("strut")
    m.body("first", mass=1.0, center=(0.5, 0, 0), inertia={"yy": 0.1, "zz": 0.1})
    m.body("second", mass=1.0, center=(0.5, 0, 0), inertia={"yy": 0.1, "zz": 0.1})
    m.joint("a", "revolute", "ground", "first", coordinates=["a"], speeds=["ua"])
    m.joint("b", "revolute", "first", "second", at=(1, 0, 0), coordinates=["b"], speeds=["ub"])
    m.constrain("end", Loop("spherical", "second", "ground", first_at=(1, 0, 0), second_at=(2, 0, 0)))
    assert m.project(u=[0, 0])[1] == pytest.approx([0, 0])
    with pytest.raises(ModelError, match=r"'end\.x' by -2 .*\n.*\n.*no speeds close to these are possible"):
        m.project(u=[1, -2])


def test_no_singular_position_is_announced_where_there_is_none() -> None:
    assert parallelogram().simulate((0, 3)).singularities == ()
    assert kane.load("whipple-bicycle").simulate((0, 2)).singularities == ()


def test_a_guess_is_closed_and_names_are_held() -> None:
    m = parallelogram()
    q, u = m.project({"a": -0.7, "b": 0.5, "c": -0.9}, {"ua": 1.5}, hold=["a", "ua"])
    assert q == pytest.approx([-0.7, 0.7, -0.7], abs=1e-11)
    assert u == pytest.approx([1.5, -1.5, 1.5], abs=1e-11)
    motion = m.simulate((0, 0.1), q={"a": -0.7}, u={"ua": 1.5})
    assert motion.q[0] == pytest.approx(q, abs=1e-11)


def test_least_change() -> None:
    """A guess off by δ is moved to the nearest closed configuration, not to any."""
    q, _ = parallelogram().project([-1.0 + 1e-3, 1.0, -1.0], np.zeros(3))
    assert q == pytest.approx(np.array([-1, 1, -1]) * (1.0 - 1e-3 / 3), abs=1e-6)


def test_a_loop_that_cannot_close_is_refused_with_its_gap() -> None:
    m = parallelogram(gap=5.0)
    with pytest.raises(ModelError, match=r"'pin\.[xy]' by .*\(m or rad\)"):
        m.simulate((0, 1))


def test_contradicting_rates_are_refused_by_name() -> None:
    m = parallelogram()
    m.constrain("turn", MotionEquations("a' = 1"))
    m.constrain("rest", MotionEquations("c' = 0"))
    with pytest.raises(ModelError, match=r"together; residuals: .*'(turn|rest|pin\.[xy])'"):
        m.simulate((0, 1))


def test_driven_constraints_do_the_work_they_take() -> None:
    """A crank turned at a given rate: the energy balance includes what turns it."""
    m = parallelogram()
    m.constrain("motor", MotionEquations("a' = 0.3*cos(2*t)"))
    t = np.linspace(0.0, 3.0, 31)
    motion = m.simulate(t)
    assert motion.q[:, 0] == pytest.approx(-1.0 + 0.15 * np.sin(2 * t), abs=1e-9)
    assert motion.check().passed
    assert m.freedom().degrees == 0


def test_baumgarte_holds_and_nothing_drifts_away() -> None:
    m = kane.load("four-bar")
    held = m.simulate((0, 3), drift=(1.0, 20.0), rtol=1e-9)
    free = m.simulate((0, 3), drift="none", rtol=1e-6)
    kept = m.simulate((0, 3), rtol=1e-6)
    assert np.abs(held.residuals.position).max() < 1e-7
    assert 1e-12 < np.abs(free.residuals.position).max() < 1e-3
    assert np.abs(kept.residuals.position).max() < 1e-13


def test_unknown_ways_of_embedding_are_refused() -> None:
    m = parallelogram()
    with pytest.raises(InputError, match="'run-time' or at 'formulation'"):
        m.simulate((0, 1), embed="later")
    with pytest.raises(InputError, match="'project', 'none'"):
        m.simulate((0, 1), drift="away")
    with pytest.raises(InputError, match="run time"):
        m.simulate((0, 1), drift=(1.0, 10.0), embed="formulation")
    with pytest.raises(InputError, match="unknown coordinate or speed 'd'"):
        m.project(hold=["d"])
    with pytest.raises(InputError, match="no constraints"):
        kane.load("pendulum").constraint_rows([0.0], [0.0])


def test_wheel_frame_in_its_own_axes() -> None:
    """A planar joint with velocities along the child's axes moves as one with velocities in the parent's."""
    accelerations = []
    for velocity in ("parent", "body"):
        m = kane.Model(velocity, gravity=(0, -3.0, 0))
        m.body("plate", mass=2.0, center=(0.3, 0.1, 0), inertia={"xx": 0.1, "yy": 0.2, "zz": 0.3})
        m.joint("slide", "planar", "ground", "plate", velocity=velocity, coordinates=["x", "y", "h"])
        h, v = 0.4, np.array([1.0, -2.0])
        turn = np.array([[math.cos(h), -math.sin(h)], [math.sin(h), math.cos(h)]])
        u = np.append(v if velocity == "parent" else turn.T @ v, 1.7)
        assert m.qdot([0.1, 0.2, h], u) == pytest.approx([*v, 1.7])
        udot = m.forward_dynamics([0.1, 0.2, h], u, np.zeros(3))
        if velocity == "body":  # v̇ in the parent's axes is R (u̇ + ω × u)
            udot[:2] = turn @ (udot[:2] + 1.7 * np.array([-u[1], u[0]]))
        accelerations.append(udot)
    assert accelerations[0] == pytest.approx(accelerations[1], rel=1e-12)


def test_drives_of_a_parallel_robot() -> None:
    """One crank holds the parallelogram against gravity with the moment of all weights; both share it equally."""
    m = parallelogram()
    a = -0.6
    q, still = np.array([a, -a, a]), np.zeros(3)
    moment = GRAVITY * math.cos(a) * LENGTH * (2.0 / 2 + 2.0 / 2 + 3.0)
    assert m.drive_efforts(q, still, still, ["ua"]) == pytest.approx([moment, 0, 0], rel=1e-12)
    both = m.drive_efforts(np.tile(q, (2, 1)), np.zeros((2, 3)), np.zeros((2, 3)), ["ua", "uc"])
    assert both == pytest.approx(np.tile([moment / 2, 0, moment / 2], (2, 1)), rel=1e-12)
    motion = m.simulate((0, 1), q=q, u=still, tau=both[0])
    assert motion.q[-1] == pytest.approx(q, abs=1e-9)
    with pytest.raises(InputError, match="cannot produce this motion"):
        m.drive_efforts(q, still, still, [])
    with pytest.raises(InputError, match="unknown speed 'ux'"):
        m.drive_efforts(q, still, still, ["ux"])


def test_a_start_that_is_flat_or_open_does_not_spoil_the_choice() -> None:
    """Rows are judged where they are independent: away from a flat start, or where the loop is closed."""
    for start in ([0.0, 0.0, 0.0], [0.4, 0.0, -0.3]):
        m = parallelogram()
        m.set_initial(dict(zip(m.coordinates, start, strict=True)))
        assert len(m.equations().embedding.choice.dependent) == 2
        udot = m.forward_dynamics([-1.0, 1.0, -1.0], [2.0, -2.0, 2.0], np.zeros(3))
        assert udot == pytest.approx(np.array([1, -1, 1]) * pendulum_acceleration(-1.0), rel=1e-11)


def test_a_flat_guess_of_a_linkage_that_is_never_flat_is_closed() -> None:
    """All residuals are stationary there: the search is tried once more from beside."""
    m = kane.load("four-bar")
    q, _ = m.project(np.zeros(3), np.zeros(3))
    assert np.abs(m.constraint_rows(q, np.zeros(3)).phi).max() < 1e-12


def test_constraints_without_value_at_the_start_are_named() -> None:
    m = kane.Model("ball in a bowl", gravity=(0, 0, -9.81))
    m.body("ball", mass=1.0, inertia={"xx": 0.01, "yy": 0.01, "zz": 0.01})
    m.joint("flight", "free", "ground", "ball")
    m.constrain("bowl", RollingOnSphere("ball", radius=0.1, on_radius=1.0, inside=True))
    m.set_initial(dict.fromkeys(m.coordinates[4:], 0.0))
    with pytest.raises(SingularError, match="constraints have no value there"):
        m.forward_dynamics(m.initial_state[0], m.initial_state[1], np.zeros(6))
    q = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -0.9])
    assert m.simulate((0, 0.1), q=q).q[-1] == pytest.approx(q, abs=1e-9)


def test_driven_work_is_the_same_in_both_embeddings() -> None:
    """A cart of 2 kg moved as sin t: its kinetic energy is the work of what moves it."""
    m = kane.Model("driven")
    m.body("cart", mass=2.0)
    m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"], speeds=["v"])
    m.constrain("drive", MotionEquations("x' = sin(t)"))
    for embed in ("run-time", "formulation"):
        motion = m.simulate((0, 1), embed=embed)
        assert motion.work[-1] == pytest.approx(math.sin(1.0) ** 2, rel=1e-9)


COIN = """
kane: 1
name: coin
gravity: [0, 0, -9.81]
bodies: {coin: {mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.2}}}
joints:
  fall: {type: free, parent: ground, child: coin, velocity: parent}
constraints:
  table: {type: rolling, body: coin, radius: 0.3, axis: z}
"""


@pytest.mark.parametrize(("method", "within"), [("dop853", 1e-9), ("rk45", 1e-7), ("radau", 1e-7)])
def test_a_coin_that_falls_flat_keeps_its_energy_and_stops(method: str, within: float) -> None:
    """It turns about its tangent, 0.19 kg m2, until it lies flat, where its point of contact is any of its rim."""
    m = kane.Model.of(read_mechanism(COIN, "coin.yaml"))
    start = dict(zip(m.coordinates[:4], (math.cos(0.7), math.sin(0.7), 0.0, 0.0), strict=True))
    run = m.simulate((0, 1), q=start, method=method, rtol=1e-10 if method == "dop853" else 1e-7)
    assert not run.outcome.success
    assert "constraint 'table." in str(run.outcome)
    assert "cannot be continued there" in str(run.outcome)
    energy = run.energy().kinetic + run.energy().potential
    assert np.ptp(energy) < within * energy[0]
    assert abs(run.u[-1, 0]) == pytest.approx(math.sqrt(2 * GRAVITY * 0.3 * math.sin(1.4) / 0.19), rel=1e-5)


def arm() -> kane.Model:
    """Two links of 2 m and 1 kg each, hanging from the ground."""
    m = kane.Model("arm", gravity=(0, -GRAVITY, 0))
    for name, parent, at, u, angle in (("upper", "ground", 0.0, "u", 0.5), ("lower", "upper", 2.0, "v", -1.0)):
        m.body(name, mass=1.0, center=(1, 0, 0), inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
        m.joint(name, "revolute", parent, name, at=(at, 0, 0), speeds=[u], initial=[angle])
    return m


@pytest.mark.parametrize("method", ["dop853", "rk45", "radau"])
def test_a_mechanism_that_is_held_at_full_reach_does_not_run_for_ever(method: str) -> None:
    m = arm()
    m.set_initial(dict.fromkeys(m.coordinates, 0.0))
    m.constrain("wall", PointOnLine("ground", "lower", first_at=(4, 0, 0), second_at=(2, 0, 0), axis="y", rows=["x"]))
    run = m.simulate((0, 0.01), method=method)
    assert not run.outcome.success
    assert run.t[-1] < 1e-6
    assert "constraint 'wall' loses rank there (the mechanism is fully extended, or lies flat)" in str(run.outcome)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_rod_that_grows_beyond_reach_is_named(method: str) -> None:
    """4 m are reached after 2 s; the stay beside it, whose speeds grow as well, is not to blame."""
    m = arm()
    m.constrain("rod", Distance("ground", "lower", second_at=(2, 0, 0), length="3 + 0.5*t"))
    m.body("third", mass=1.0, center=(1, 0, 0), inertia={"yy": 0.1, "zz": 0.1})
    m.joint("third", "revolute", "upper", "third", at=(1, 0, 0), initial=[0.3])
    m.constrain("stay", Distance("lower", "third", second_at=(2, 0, 0), length=1.5))
    run = m.simulate((0, 4), method=method)
    assert not run.outcome.success
    assert run.t[-1] == pytest.approx(2.0, abs=1e-6)
    assert "constraint 'rod' loses rank there" in str(run.outcome)


@pytest.mark.parametrize("angle", ["log(1 - t)", "sqrt(1 - t)"])
def test_something_imposed_that_ends_is_named(angle: str) -> None:
    m = arm()
    m.constrain("drive", ConfigurationEquations(f"{m.coordinates[0]} = {angle}"))
    run = m.simulate((0, 2))
    assert not run.outcome.success
    assert run.t[-1] == pytest.approx(1.0, abs=1e-6)
    assert re.search("constraint 'drive' (cannot be continued there|has no value beyond)", str(run.outcome))


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_jump_of_an_imposed_rate_is_an_impact_at_its_time(method: str) -> None:
    """The impulse acts along the imposed angle alone: the momentum of the other one passes unchanged."""
    m = arm()
    m.constrain("drive", ConfigurationEquations(f"{m.coordinates[0]} = 0.3*abs(t - 1)"))
    run = m.simulate((0, 2), method=method, rtol=1e-9)
    assert run.outcome.success
    before, after = np.flatnonzero(run.t <= 1.0)[-1], np.flatnonzero(run.t > 1.0)[0]
    assert run.t[after] - run.t[before] < 1e-12
    assert (run.u[before, 0], run.u[after, 0]) == pytest.approx((-0.3, 0.3))
    momentum = [m.mass_matrix(run.q[k])[1] @ run.u[k] for k in (before, after)]
    assert momentum[1] == pytest.approx(momentum[0], rel=1e-9)


def test_a_speed_without_mass_is_refused_by_name_in_both_embeddings() -> None:
    m = kane.Model("bead")
    m.body("wire")
    m.body("bead", mass=1.0)
    m.joint("turn", "revolute", "ground", "wire", axis="z")
    m.joint("fly", "planar", "ground", "bead", speeds=["vx", "vy", "spin"], initial=[0.5, 0, 0])
    m.constrain("threaded", PointOnLine("wire", "bead", axis="x", rows=["y"]))
    for embed in ("run-time", "formulation"):
        with pytest.raises(ModelError, match="speed 'spin': moves no mass and no inertia"):
            m.simulate((0, 1), embed=embed)
