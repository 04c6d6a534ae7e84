"""Time stepping against closed forms and against the engine that finds every change: order, bounds, energy."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import InputError
from kane.simulate.compiled.contacts import NORMAL, PROBLEM, work_size

G = 9.81
STEPS = (8e-3, 4e-3, 2e-3, 1e-3, 5e-4)  # s
FIRST_ORDER = 0.8  # fitted exponent: errors of events jump by a step, so that the fit of five steps is rough
RISE = 1e-6  # J
SETTLED = 1e-8  # natural residual of contact problems that is aimed at
FLIGHT = 1e-11  # J: rounding of some hundred steps, and what iteration leaves
DEEPEST = 2e-9  # m: what is left to the velocities of the next step, twice


def ball(restitution: float = 0.0, friction: float = 0.0, radius: float = 0.1) -> kane.Model:
    """A ball over a floor, in a plane: coordinates z, x, angle; z is 0 where it touches."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("ball", mass=1, inertia=dict.fromkeys(("xx", "yy", "zz"), 0.4 * radius**2))
    m.joint("j", "planar", "ground", "ball", normal="y")
    shape: dict[str, Any] = {"shape": {"sphere": radius}, "normal": "z", "at": (0, 0, -radius)}
    m.contact("floor", "ball", "ground", **shape, restitution=restitution, friction=friction)
    return m


def box(slope: float = 0.0, friction: float = 0.4, velocity: str = "parent") -> kane.Model:
    """A box on four corners, on a plane that slopes along x (rad); its velocity is in axes of the ground or its own."""
    x, y, z, mass = 0.3, 0.2, 0.1, 2.0
    m = kane.Model(gravity=(G * math.sin(slope), 0, -G * math.cos(slope)))
    squares = {"xx": y * y + z * z, "yy": x * x + z * z, "zz": x * x + y * y}
    m.body("box", mass=mass, inertia={k: mass / 12 * v for k, v in squares.items()})
    m.joint("j", "free", "ground", "box", velocity=velocity)
    shape = {"box": (x, y, z)}
    m.contact("floor", "box", "ground", shape=shape, normal="z", at=(0, 0, -z / 2), friction=friction)
    return m


def order(steps: tuple[float, ...], errors: list[float]) -> float:
    """The exponent with which errors fall with the step, by least squares."""
    return float(np.polyfit(np.log(steps), np.log(errors), 1)[0])


def energies(m: kane.Model, run: kane.Trajectory) -> np.ndarray:
    """Total energy (J) at every step."""
    return np.array([sum(m.energy(q, u)) for q, u in zip(run.q, run.u, strict=True)])


def test_a_bouncing_ball_falls_into_its_closed_form_with_the_step() -> None:
    h0, e, end = 0.5, 0.7, 1.0
    m, errors = ball(restitution=e), []
    v = math.sqrt(2 * G * h0)
    first = v / G
    second = first + 2 * e * v / G
    rest = end - second
    z = e * e * v * rest - G / 2 * rest**2
    for step in STEPS:
        run = m.simulate(end, q=[h0, 0, 0], contacts="stepping", step=step)
        impacts = [x for x in run.transitions if x.cause == "impact"]
        assert [x.t for x in impacts] == pytest.approx([first, second], abs=3 * step)
        errors.append(abs(run.q[-1, 0] - z))
        assert run.q[:, 0].min() >= -DEEPEST
    assert order(STEPS, errors) > FIRST_ORDER


def test_free_flight_is_exact_under_gravity() -> None:
    run = ball().simulate(0.3, q=[1.0, 0, 0], u=[1.0, 2.0, 3.0], contacts="stepping", step=0.01)
    assert run.q[-1] == pytest.approx([1 + 0.3 - G / 2 * 0.09, 0.6, 0.9], abs=1e-13)


def test_a_ball_thrown_with_back_spin_rolls_at_its_closed_form_velocity() -> None:
    m, v, w, errors = ball(friction=0.3), 2.0, -30.0, []
    rolling = (v + 0.4 * 0.1 * w) / 1.4  # angular momentum about the point of contact stays
    ends = m.simulate(1.0, u=[0, v, w])
    for step in STEPS:
        run = m.simulate(1.0, u=[0, v, w], contacts="stepping", step=step)
        assert run.u[-1] == pytest.approx([0, rolling, rolling / 0.1], abs=1e-9)
        errors.append(float(np.abs(run.q[-1] - ends.q[-1]).max()))
        assert [x.cause for x in run.transitions] == ["start", "stick"]
    assert order(STEPS, errors) > FIRST_ORDER


def test_a_block_that_slides_up_a_slope_stops_and_stays() -> None:
    slope, mu, v, errors = 0.4, 0.5, -2.0, []  # downhill is +x
    m = box(slope, mu)
    a = G * (math.sin(slope) + mu * math.cos(slope))
    for step in STEPS:
        run = m.simulate(1.0, u=[0, 0, 0, v, 0, 0], contacts="stepping", step=step)
        errors.append(abs(run.q[-1, 4] + v * v / (2 * a)))
        assert np.abs(run.u[-1]).max() < 1e-12
    assert order(STEPS, errors) > FIRST_ORDER


def test_a_box_below_the_cone_of_friction_does_not_creep() -> None:
    run = box(0.4, 0.5).simulate(2.0, contacts="stepping", step=2e-3)
    assert np.abs(run.u).max() < 1e-13
    assert np.abs(run.q - run.q[0]).max() < 1e-13


@pytest.mark.parametrize("spin", [(0, 0, 0), (3, -5, 2), (8, 6, -4)])
def test_a_box_thrown_at_the_floor_gains_no_energy_and_stays_above(spin: tuple[float, ...]) -> None:
    m = box()
    run = m.simulate(2.0, q=[1, 0, 0, 0, 0, 0, 0.4], u=[*spin, 2, 1, 0], contacts="stepping", step=1e-3)
    assert run.outcome.success
    total = energies(m, run)
    assert np.max(total - np.minimum.accumulate(total)) < RISE
    assert corners(run.q).min() > -DEEPEST


@pytest.mark.parametrize("velocity", ["parent", "body"])
@pytest.mark.parametrize("spin", [(3, -5, 2), (8, 6, -4)])
def test_a_box_that_tumbles_keeps_its_energy_in_flight_and_gains_little_on_the_floor(
    velocity: str, spin: tuple[float, ...]
) -> None:
    m = box(velocity=velocity)
    rises: list[float] = []
    for step in (2e-3, 1e-3):
        run = m.simulate(1.0, q=[1, 0, 0, 0, 0, 0, 0.4], u=[*spin, 2, 1, 0], contacts="stepping", step=step)
        total = energies(m, run)
        flight = total[run.t < next(x.t for x in run.transitions[1:])]
        assert np.ptp(flight) < FLIGHT
        rises.append(float(np.max(total - np.minimum.accumulate(total))))
    assert rises[1] < (RISE if velocity == "parent" else 1e-5)
    assert rises[1] < max(rises[0] / 6, FLIGHT)  # of third order


def corners(q: np.ndarray) -> np.ndarray:
    """Heights (m) of the eight corners of `box` over the floor, from quaternions and places."""
    w, x, y, z = q[:, :4].T
    third = np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1)
    return q[:, 6:7] + 0.05 + third @ (np.array([0.15, 0.1, 0.05])[:, None] * signs)


def test_balls_in_a_row_pass_on_no_more_than_they_have() -> None:
    m = kane.Model()
    for k in range(4):
        m.body(f"b{k}", mass=1.0 + k)
        m.joint(f"j{k}", "prismatic", "ground", f"b{k}", axis="x")
    for k in range(3):
        m.contact(f"c{k}", f"b{k}", f"b{k + 1}", shape={"sphere": 0.5}, surface={"sphere": 0.5}, restitution=1.0)
    run = m.simulate(3.0, q=[0, 1.5, 3, 4.5], u=[3, 0, 0, -1], contacts="stepping", step=1e-3)
    total = energies(m, run)
    assert np.diff(total).max() < 1e-12
    momentum = run.u @ np.array([1.0, 2.0, 3.0, 4.0])
    assert momentum == pytest.approx(np.full(len(run.t), -1.0), abs=1e-12)
    assert np.diff(run.q, axis=1).min() > 1 - DEEPEST


def heap(balls: int, half: float) -> tuple[kane.Model, np.ndarray]:
    """Balls of 5 cm that fall into a box of the half width (m), and where they start: in layers, out of line."""
    m, radius = kane.Model(gravity=(0, 0, -G)), 0.05
    shape: dict[str, Any] = {"sphere": radius}
    walls = {"floor": ("z", 0, 0), "w": ("x", -1, 0), "e": ("-x", 1, 0), "s": ("y", 0, -1), "n": ("-y", 0, 1)}
    for i in range(balls):
        m.body(f"b{i}", mass=0.5, inertia=dict.fromkeys(("xx", "yy", "zz"), 5e-4))
        m.joint(f"j{i}", "free", "ground", f"b{i}", velocity="parent")
        for wall, (normal, x, y) in walls.items():
            at = (x * half, y * half, 0)
            m.contact(f"{wall}{i}", f"b{i}", "ground", shape=shape, normal=normal, at=at, friction=0.3)
        for j in range(i):
            m.contact(f"p{j}_{i}", f"b{i}", f"b{j}", shape=shape, surface=shape, friction=0.3)
    layer, corner = np.divmod(np.arange(balls), 4)
    places = np.stack([0.058 * (-1.0) ** (corner % 2), 0.058 * (-1.0) ** (corner // 2), 0.08 + 0.13 * layer], axis=1)
    q = np.zeros((balls, 7))
    q[:, 0], q[:, 4:] = 1.0, places + np.random.default_rng(1).uniform(-0.007, 0.007, (balls, 3))
    return m, q.ravel()


def test_a_heap_stays_apart_gains_nothing_and_tells_how_well_its_contacts_are_solved() -> None:
    m, q = heap(8, 0.13)
    run = m.simulate(1.0, q=q, contacts="stepping", step=0.01)
    total = energies(m, run)
    assert np.max(total - np.minimum.accumulate(total)) < RISE
    x = run.q.reshape(len(run.t), 8, 7)[:, :, 4:]
    i, j = np.triu_indices(8, 1)
    assert np.linalg.norm(x[:, i] - x[:, j], axis=-1).min() > 0.1 - DEEPEST
    assert np.abs(x[:, :, :2]).max() < 0.13 - 0.05 + DEEPEST
    residual = run.statistics.contact_residual
    assert residual is not None and residual < SETTLED
    assert "solved roughly" not in str(run.outcome)
    report = run.check()
    assert report.passed, report
    assert report.row("steps").value == pytest.approx(residual, abs=SETTLED)  # worked out anew, from the states


def test_a_few_contacts_are_solved_to_the_last_and_events_have_no_steps_to_solve() -> None:
    m = box()
    run = m.simulate(0.5, q=[1, 0, 0, 0, 0, 0, 0.1], u=[3, -5, 2, 2, 1, 0], contacts="stepping", step=2e-3)
    residual = run.statistics.contact_residual
    assert residual is not None and 0 < residual < SETTLED
    assert "roughly" not in str(run.outcome)
    assert m.simulate(0.1).statistics.contact_residual is None


def pendulum_on_a_stop() -> kane.Model:
    """A rod held by a loop, that is by permanent rows, which falls on a stop of its angle."""
    m = kane.Model(gravity=(0, 0, -G))
    m.body("rod", mass=2, inertia={"xx": 1 / 6, "yy": 1 / 6})
    m.joint("j", "planar", "ground", "rod", normal="y")
    m.constrain("pin", kane.Loop("revolute", "ground", "rod", axis="y", second_at=(0, 0, 0.5), rows=("x", "z")))
    m.contact("stop", "rod", "ground", shape={"point": (0, 0, -0.5)}, normal="x", at=(-0.2, 0, 0))
    return m


def test_permanent_constraints_hold_and_the_motion_is_that_of_events() -> None:
    m, errors = pendulum_on_a_stop(), []
    q = m.project(dict(zip(m.coordinates, [-0.4, 0.3, -0.6], strict=True)))[0]
    ends = m.simulate(0.8, q=q)
    steps = STEPS[1:]
    for step in steps:
        run = m.simulate(0.8, q=q, contacts="stepping", step=step)
        assert np.abs(run.residuals.position).max() < 1e-12
        assert np.abs(run.residuals.velocity).max() < 1e-10
        errors.append(float(np.abs(run.q[-1] - ends.q[-1]).max()))
    assert max(errors) < 1e-2
    assert errors[-1] < 2e-3


def test_what_does_not_go_with_steps_is_refused() -> None:
    m = ball()
    wrong: tuple[tuple[dict[str, Any], str], ...] = (
        ({"contacts": "steps"}, "stepping"),
        ({"contacts": "stepping"}, "step="),
        ({"contacts": "stepping", "step": -1.0}, "positive"),
        ({"contacts": "stepping", "step": 1e-3, "method": "rk4"}, "method"),
        ({"contacts": "stepping", "step": 1e-3, "impact": "poisson"}, "newton"),
        ({"contacts": "stepping", "step": 1e-3, "events": {"hit": "floor.normal"}}, "hit"),
    )
    for given, word in wrong:
        with pytest.raises(InputError, match=word):
            m.simulate(1.0, **given)
    with pytest.raises(InputError, match="backward"):
        m.simulate((1.0, 0.0), contacts="stepping", step=1e-3)
    with pytest.raises(InputError, match="nothing that comes and goes"):
        kane.load("pendulum").simulate(1.0, contacts="stepping", step=1e-3)


def test_events_of_the_user_are_found_between_steps() -> None:
    events = {"half": {"expression": "q_j_1 - 0.25", "terminal": True}}
    run = ball().simulate(1.0, q=[0.5, 0, 0], contacts="stepping", step=1e-3, events=events)
    assert run.outcome.reason == "event"
    assert run.t[-1] == pytest.approx(math.sqrt(0.5 / G), abs=1e-6)


def test_output_at_given_times_is_that_of_all_steps_between_them() -> None:
    m = ball(restitution=0.5)
    times = np.array([0.0, 0.1, 0.33, 0.5])
    run = m.simulate(times, q=[0.5, 0, 0], contacts="stepping", step=0.01)
    every = m.simulate(0.5, q=[0.5, 0, 0], contacts="stepping", step=0.01)
    assert run.t == pytest.approx(times)
    assert run.q[:, 0] == pytest.approx(np.interp(times, every.t, every.q[:, 0]), abs=1e-12)


def switched_models() -> dict[str, tuple[kane.Model, dict[str, Any], float]]:
    """Models with what is no contact: a brake, a ratchet, a latch that lets go again, a clutch; start and end (s)."""
    found: dict[str, tuple[kane.Model, dict[str, Any], float]] = {}
    for name in ("brake", "ratchet", "latch", "clutch"):
        m = kane.Model(gravity=(0, 0, -G))
        m.body("a", mass=2, center=(0, 0, -0.5), inertia={"xx": 0.2, "yy": 0.2, "zz": 0.1})
        m.joint("j", "revolute", "ground", "a", axis="y", coordinates=["q"], speeds=["u"])
        m.body("b", mass=1, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
        m.joint("k", "revolute", "ground", "b", axis="y", coordinates=["r"], speeds=["w"])
        found[name] = (m, {"q": [1.0, 0.0], "u": [0.0, 2.0]}, 1.3)
    found["brake"][0].constrain("c", kane.Friction("u", bound=1.0))
    found["ratchet"][0].constrain("c", kane.Ratchet("w - u"))
    found["latch"][0].constrain("c", kane.Latch("r - 1"), duration=0.3)
    found["clutch"][0].constrain("c", kane.Friction("u - w", bound=0.5), when="t - 0.4", until="t - 0.9")
    return found


@pytest.mark.parametrize("name", ["brake", "ratchet", "latch", "clutch"])
def test_what_is_no_contact_moves_as_with_events_while_the_step_shrinks(name: str) -> None:
    m, start, end = switched_models()[name]
    ends, errors = m.simulate(end, **start), []
    for step in STEPS[2:]:
        run = m.simulate(end, **start, contacts="stepping", step=step)
        errors.append(float(np.abs(run.q[-1] - ends.q[-1]).max()))
    assert errors[-1] < 0.6 * errors[0]
    assert errors[-1] < 4.0 * STEPS[-1]


def settle(W: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, float, int]:
    """(r, natural residual, sweeps) of a problem of normal contacts, as a large problem of a step is settled."""
    from kane.simulate.compiled.contact_programs import SETTLE, contact_program  # compiled when it is imported

    k = len(b)
    first, rows, kinds = np.arange(k), np.ones(k, dtype=np.int64), np.full(k, NORMAL, dtype=np.int64)
    mu, r, work = np.zeros(k), np.zeros(k), np.zeros(work_size(k, k))
    lists = [array.ctypes.data for array in (first, rows, kinds, mu, mu)]
    arrays = [array.ctypes.data for array in (W, b, r, work)]
    program = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_int64] * 12)(contact_program.address)
    residual = program(SETTLE, k, *lists, k, *arrays)
    return r, residual, int(work[: PROBLEM.itemsize // 8].view(PROBLEM)[0]["sweeps"])


def test_legs_of_a_table_that_are_not_equally_long_are_settled_although_sweeps_only_drift() -> None:
    """Four legs, of which one is 1e-6 too short for its speed: it carries nothing, or those across from it carry all.
    A sweep changes forces by 1e-6 of their size, so that hundreds of thousands would be needed."""
    J = np.array([[1.0, x, y] for x, y in ((1, 1), (-1, 1), (-1, -1), (1, -1))])
    W = np.ascontiguousarray(J @ np.diag([1.0, 3.0, 3.0]) @ J.T)
    for short in (1e-6, -1e-6):
        b = np.ascontiguousarray(-J @ np.array([1.0, 0.1, 0.2]) + short * np.array([1.0, 0.0, 0.0, 0.0]))
        r, residual, sweeps = settle(W, b)
        u = W @ r + b
        assert residual <= SETTLED and sweeps < 2000
        assert r.min() >= 0.0 and u.min() > -1e-8 and np.abs(r * u).max() < 1e-7
        assert (r == 0.0).any()
