"""A rigid body on several points that begins to slip, slides and comes to rest: against own equations and statics.

The body moves in the plane of the floor: three accelerations, normal forces from the balance of forces and moments
with N = a + b x + c y (contacts of equal stiffness), friction −μ N v / |v| at every point.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq, minimize

import kane

G = 9.81
CORNERS = np.array([(0.15, 0.1), (-0.15, 0.1), (-0.15, -0.1), (0.15, -0.1)])
ANGLES = 0.3 + 2 * np.pi / 3 * np.arange(3)
TRIPOD = 0.1 * np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])
HEIGHT = 0.1  # m, of the mass centre
ONSET = 1e-9  # s: the convex program of the oracle is solved to 1e-10
FROM_REST = 1e-8  # the oracle begins with 1e-9 m/s along the first slip, and follows a stiff motion
SLIDING = 1e-9  # of states after a second, both integrated

Array = np.ndarray


@dataclass(frozen=True)
class Slider:
    """1 kg on points (x, y) of its base, HEIGHT below its mass centre; a force along x on the point (0, off) there."""

    points: Array
    mu: float
    force: Callable[[float], float] = lambda t: 0.0
    off: float = 0.0
    slope: float = 0.0
    inertia: float = 0.011

    def places(self, angle: float) -> Array:
        c, s = np.cos(angle), np.sin(angle)
        return self.points @ np.array([[c, s], [-s, c]])

    def driven(self, t: float, angle: float) -> tuple[Array, Array]:
        """Force and moment about the mass centre of all that is no contact."""
        force = np.array([self.force(t), 0.0, 0.0])
        at = np.array([-self.off * np.sin(angle), self.off * np.cos(angle), -HEIGHT])
        return force + G * np.array([np.sin(self.slope), 0, -np.cos(self.slope)]), np.cross(at, force)

    def contacts(self, t: float, angle: float, directions: Array) -> tuple[Array, Array]:
        """Normal forces, and the moments of unit ones with their friction −μ along the directions."""
        places, (force, moment) = self.places(angle), self.driven(t, angle)
        ones = np.ones(len(places))
        shape = np.column_stack([ones, places])
        unit = np.cross(np.column_stack([places, -HEIGHT * ones]), np.column_stack([-self.mu * directions, ones]))
        balance = np.array([ones, unit[:, 0], unit[:, 1]]) @ shape
        return shape @ np.linalg.solve(balance, -np.array([force[2], moment[0], moment[1]])), unit[:, 2]

    def slips(self, angle: float, v: Array) -> Array:
        places = self.places(angle)
        return v[:2] + v[2] * np.column_stack([-places[:, 1], places[:, 0]])

    def rates(self, t: float, y: Array) -> Array:
        """y = x, y, angle and their rates, all points slipping."""
        slips = self.slips(y[2], y[3:])
        directions = slips / np.linalg.norm(slips, axis=1)[:, None]
        force, moment = self.driven(t, y[2])
        normal, about = self.contacts(t, y[2], directions)
        friction = -self.mu * normal @ directions
        return np.concatenate([y[3:], force[:2] + friction, [(moment[2] + normal @ about) / self.inertia]])

    def needed(self, t: float) -> tuple[float, Array]:
        """The least largest share of friction that holds the body at rest, and the forces with it."""
        force, moment = self.driven(t, 0.0)
        k, places = len(self.points), self.places(0.0)
        along = -force[:2] / np.linalg.norm(force[:2])
        reach = np.linalg.norm(force[:2]) / (self.mu * -force[2])
        normal, _ = Slider(self.points, self.mu * reach, self.force, self.off, self.slope).contacts(
            t, 0.0, np.tile(-along, (k, 1))
        )  # friction of all points sums up to −force
        balance = np.zeros((3, 2 * k))
        balance[0, 0::2], balance[1, 1::2] = 1, 1
        balance[2, 0::2], balance[2, 1::2] = -places[:, 1], places[:, 0]
        target = -np.array([force[0], force[1], moment[2]])
        bound = self.mu * normal
        start = np.linalg.pinv(balance) @ target
        most = 1.01 * np.max(np.hypot(start[0::2], start[1::2]) / bound)
        found = minimize(
            lambda z: z[-1],
            np.append(start, most),
            jac=lambda z: np.append(np.zeros(2 * k), 1.0),
            constraints=[
                {"type": "eq", "fun": lambda z: balance @ z[:-1] - target},
                {"type": "ineq", "fun": lambda z: z[-1] ** 2 - (z[0:-1:2] ** 2 + z[1:-1:2] ** 2) / bound**2},
            ],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-15},
        )
        return found.x[-1], found.x[:-1].reshape(k, 2)

    def first_slip(self, forces: Array) -> Array:
        """The motion (vx, vy, w) of which these friction forces are opposite to the slips at all points."""
        away = np.column_stack([-forces[:, 1], forces[:, 0]])
        places = self.places(0.0)
        across = np.column_stack([away, places[:, 0] * away[:, 1] - places[:, 1] * away[:, 0]])
        motion = np.linalg.svd(across)[2][-1]
        return motion if np.sum(self.slips(0.0, motion) * forces) < 0.0 else -motion


def body(slider: Slider, push: str = "0") -> kane.Model:
    """The same body with six freedoms and a contact at every point."""
    gravity = (G * np.sin(slider.slope), 0, -G * np.cos(slider.slope))
    m = kane.Model("slider", gravity=gravity)
    m.body("box", mass=1.0, inertia={"xx": 0.006, "yy": 0.01, "zz": slider.inertia})
    speeds = ["wx", "wy", "wz", "vx", "vy", "vz"]
    m.joint("free", "free", "ground", "box", velocity="parent", initial=[1, 0, 0, 0, 0, 0, HEIGHT], speeds=speeds)
    places = [(x, y, -HEIGHT) for x, y in slider.points]
    m.contact("floor", "box", "ground", shape={"vertices": places}, normal="z", friction=slider.mu)
    m.load("push", kane.Force("box", (push, 0, 0), at=(0, slider.off, -HEIGHT)))
    return m


def in_plane(run: kane.Trajectory) -> Array:
    """x, y, angle and their rates."""
    q, u = run.q, run.u
    return np.column_stack([q[:, 4], q[:, 5], 2 * np.arctan2(q[:, 3], q[:, 0]), u[:, 3], u[:, 4], u[:, 2]])


def onset_of(slider: Slider, low: float, high: float) -> float:
    """When (s) the friction that the body needs is all that there is."""
    return float(brentq(lambda t: slider.needed(t)[0] - 1.0, low, high, xtol=1e-12))  # pyright: ignore[reportArgumentType]


def follow(slider: Slider, times: Sequence[float], start: Array, method: str = "DOP853", tight: float = 1e-12) -> Array:
    found = solve_ivp(
        slider.rates, (times[0], times[-1]), start, method=method, rtol=tight, atol=1e-2 * tight, t_eval=times
    )
    return found.y.T


@pytest.mark.parametrize("off", [0.02, 0.05, 0.3])
def test_a_box_pushed_off_its_middle_begins_to_slip_and_turn_at_its_limit(off: float) -> None:
    """3 t N: onset is where no friction within the cones balances; the first slip is the motion it belongs to."""
    slider = Slider(CORNERS, 0.4, lambda t: 3 * t, off)
    onset = onset_of(slider, 0.3, 1.6)
    times = [0.0, *(onset + np.array([0.02, 0.1, 0.3, 0.6]))]
    run = body(slider, "3*t").simulate(times, rtol=1e-11, atol=1e-13)
    assert run.outcome.success and run.check().passed
    _, slip = run.transitions
    assert slip.cause == "slip" and set(slip.mode.values()) == {"slips"}
    assert slip.t == pytest.approx(onset, abs=ONSET)
    first = slider.first_slip(slider.needed(onset)[1])
    expected = slider.slips(0.0, first)
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    assert np.array([slip.slip[f"floor.{k + 1}"] for k in range(4)]) == pytest.approx(expected, abs=1e-4)
    states = in_plane(run)[1:]
    assert follow(slider, times[1:], states[0]) == pytest.approx(states, abs=SLIDING)
    from_rest = np.concatenate([np.zeros(3), 1e-9 * first])
    assert follow(slider, [onset, *times[1:]], from_rest, "Radau", 1e-10)[1:] == pytest.approx(states, abs=FROM_REST)


@cache
def pushed_on_its_corner() -> tuple[Slider, kane.Trajectory]:
    slider = Slider(CORNERS, 0.4, lambda t: -3 * t, -0.4)
    return slider, body(slider, "-3*t").simulate(np.linspace(0, 1.2, 121))


def test_friction_that_is_told_holds_the_body_and_is_within_its_bounds_until_it_slips() -> None:
    """Where proportional shares would be beyond the cone of a contact, others take more."""
    slider, run = pushed_on_its_corner()
    onset = onset_of(slider, 0.2, 1.0)
    assert run.transitions[1].t == pytest.approx(onset, abs=ONSET)
    held = run.t < onset
    forces = run.multipliers[held].reshape(-1, 4, 3)
    used = np.linalg.norm(forces[:, :, 1:], axis=2) / (0.4 * forces[:, :, 0])
    assert used.max() < 1.0 + 1e-9
    assert forces[:, :, 1].sum(axis=1) == pytest.approx(3 * run.t[held], abs=1e-9)
    assert np.abs(run.u[held]).max() < 1e-13


@pytest.mark.parametrize(("mu", "slope"), [(0.3, 0.0), (0.5, 0.2)])
def test_turning_and_sliding_end_at_the_same_instant(mu: float, slope: float) -> None:
    """All slips of a box end together, in one transition, on a slope too."""
    slider = Slider(CORNERS, mu, slope=slope)
    start = {"wz": 5.0, "vx": 1.0, "vy": 0.3}
    run = body(slider).simulate(2.0, u=start, rtol=1e-11, atol=1e-13)
    assert run.outcome.success and run.check().passed
    _, stick = run.transitions
    assert stick.cause == "stick" and set(stick.mode.values()) == {"sticks"}
    assert np.abs(run.u[run.t > stick.t]).max() < 1e-13
    y = np.array([0, 0, 0, 1.0, 0.3, 5.0])
    times = np.linspace(0, stick.t - 1e-3, 5).tolist()
    again = body(slider).simulate(times, u=start, rtol=1e-11, atol=1e-13)
    assert follow(slider, times, y) == pytest.approx(in_plane(again), abs=SLIDING)
    speeds = np.linalg.norm(slider.slips(in_plane(again)[-1, 2], in_plane(again)[-1, 3:]), axis=1)
    assert np.all(speeds > 1e-4) and speeds.max() < 0.02  # all of them are about to end


def turning_rates(slider: Slider, y: Array, still: int) -> Array:
    """Rates of y = angle and its rate while the point `still` sticks and the others slip about it: unknown are the
    angular acceleration, the friction there, and a, b, c of the normal forces."""
    places, k = slider.places(y[0]), len(slider.points)
    arm = -places[still]  # from the point to the mass centre
    away = places - places[still]
    slips = np.sign(y[1]) * np.column_stack([-away[:, 1], away[:, 0]])
    lengths = np.linalg.norm(slips, axis=1)
    lengths[still] = 1.0
    friction = -slider.mu * slips / lengths[:, None]
    shape = np.column_stack([np.ones(k), places])
    at = np.column_stack([places, np.full(k, -HEIGHT)])
    unit = np.cross(at, np.column_stack([friction, np.ones(k)])).T @ shape
    held = np.cross(at[still], np.eye(3)[:2]).T
    rows = np.zeros((6, 6))
    rows[:2] = np.column_stack([[arm[1], -arm[0]], np.eye(2), friction.T @ shape])
    rows[2, 3:] = shape.sum(axis=0)
    rows[3:] = np.column_stack([[0, 0, -slider.inertia], held, unit])
    right = np.concatenate([-(y[1] ** 2) * arm, [G], np.zeros(3)])
    return np.array([y[1], np.linalg.solve(rows, right)[0]])


def test_a_body_turns_about_a_point_that_has_come_to_rest() -> None:
    """One of three points sticks first, the others turn about it until all rest."""
    slider = Slider(TRIPOD, 0.3)
    run = body(slider).simulate(2.0, u={"wz": 5.0, "vx": 1.0, "vy": 0.3}, rtol=1e-11, atol=1e-13)
    assert run.outcome.success and run.check().passed
    _, pivot, rest = run.transitions
    assert list(pivot.mode.values()) == ["sticks", "slips", "slips"] and set(rest.mode.values()) == {"sticks"}
    sliding = run.t < pivot.t
    states = in_plane(run)
    assert follow(slider, list(run.t[sliding]), states[0]) == pytest.approx(states[sliding], abs=SLIDING)
    turning = (run.t > pivot.t) & (run.t < rest.t - 1e-6)
    times, begun = run.t[turning], states[turning][:, [2, 5]]
    found = solve_ivp(
        lambda t, y: turning_rates(slider, y, 0),
        (times[0], times[-1]),
        begun[0],
        rtol=1e-11,
        atol=1e-13,
        t_eval=times,
        method="DOP853",
    )
    assert pytest.approx(begun, abs=SLIDING) == found.y.T
    assert max(np.linalg.norm(slider.slips(y[2], y[3:])[0]) for y in states[turning]) < 1e-12


def test_a_table_that_is_pushed_and_let_go_comes_to_rest() -> None:
    slider = Slider(CORNERS, 0.4, off=0.05)
    run = body(slider, "3*(1 - sign(t - 0.3))").simulate(2.0)
    assert run.outcome.success and run.check().passed
    assert [x.cause for x in run.transitions] == ["start", "stick"]
    assert set(run.transitions[0].mode.values()) == {"slips"}
    assert set(run.transitions[1].mode.values()) == {"sticks"} and np.abs(run.u[-1]).max() < 1e-13
    energy = run.energy()
    assert energy.kinetic.max() > 0.05
