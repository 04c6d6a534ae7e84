"""The observer of passivity: energy that comes in, that there is, and that loads and drives of the model give."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.realtime import Coupler, Human, Session, SimulatedDevice, Touch

OBSERVED = -1e-6  # J: how far below zero the energy of the observer may be
BALANCED = 1e-5  # J: of a motion without losses, over some thousand steps of second order


def assert_passive(session: Session) -> None:
    """What the observer sees is never less than the energy of the motion, at the end of each tick."""
    moving = np.concatenate([session.kinetic[:1], session.kinetic[:-1]])
    assert session.least_observed > OBSERVED
    assert (session.observed - moving)[1:].min() > OBSERVED


def test_a_thousand_impacts_give_no_energy_to_the_hand() -> None:
    m = kane.load("bouncing-ball")
    (z,) = m.coordinates
    human = Human("0.02 + 0.05*sin(40*t)", mass=0.2, damping=2.0, stiffness=300.0)
    session = Touch(m, SimulatedDevice(mass=0.1, damping=1.5, human=human), (z,), real_time=False).run(120.0)
    assert len(session.transitions) > 1000
    assert_passive(session)


def test_a_thousand_changes_of_a_piano_key_give_no_energy_to_the_hand() -> None:
    """A finger that is a load of the model presses as well: its work is no energy out of nothing."""
    m = kane.load("piano-key")
    human = Human("0.03 - 0.03*sin(12*t)", mass=1e-3, damping=0.05, stiffness=5.0)
    session = Touch(m, SimulatedDevice(1e-3, 0.02, human=human), ("k",), real_time=False).run(60.0)
    assert len(session.transitions) > 1000
    assert_passive(session)


def test_a_thousand_impacts_of_a_slower_model_give_no_energy_to_the_hand() -> None:
    """Four ticks in a step; the observer is told at the beginning of each."""
    m, k = kane.load("bouncing-ball"), 4
    human = Human("0.02 + 0.05*sin(40*t)", mass=0.2, damping=2.0, stiffness=300.0)
    device = SimulatedDevice(mass=0.1, damping=1.5, human=human)
    session = Touch(m, device, m.coordinates, rate=4000, ticks_per_step=k, real_time=False).run(120.0)
    assert len(session.transitions) > 1000
    assert session.least_observed > OBSERVED
    assert (session.observed[k::k] - session.kinetic[k - 1 : -1 : k]).min() > OBSERVED


@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_a_plate_that_is_driven_does_the_work_of_its_impacts(restitution: float) -> None:
    """A ball of mass m meets a plate that is driven towards it with speed V: of a closing speed c = V + v the impulse
    is P = m (1 + e) c, the drive does the work P V, and m (1 − e²) c²/2 are lost."""
    mass, speed, fall = 0.8, 0.5, 1.0
    m = kane.Model("plate")
    m.body("plate", mass=3.0)
    m.body("ball", mass=mass)
    m.joint("up", "prismatic", "ground", "plate", axis="z", coordinates=["plate"], speeds=["u"])
    m.joint("fall", "prismatic", "ground", "ball", axis="z", coordinates=["z"], speeds=["w"])
    m.constrain("drive", kane.ConfigurationEquations((f"plate - {speed}*t",)))
    m.contact("meet", "ball", "plate", shape={"point": (0, 0, 0)}, normal="z", restitution=restitution)
    coupler, q, u = Coupler(("z",), 0.0), {"z": 0.3}, {"u": speed, "w": -fall}
    session = Touch(m, SimulatedDevice(damping=0.0), coupler, real_time=False, q=q, u=u).run(0.4)
    closing = speed + fall
    work, lost = mass * (1 + restitution) * closing * speed, 0.5 * mass * (1 - restitution**2) * closing**2
    assert session.kinetic[-1] - session.kinetic[0] == pytest.approx(work - lost, rel=1e-9)
    assert session.observed[-1] - session.observed[0] == pytest.approx(work, rel=1e-9)
    assert session.observed[-1] - session.kinetic[-2] == pytest.approx(lost, abs=1e-9)


def test_a_model_is_not_pulled_harder_than_the_device_can() -> None:
    """A hand 1 m ahead drags 2 kg through a device that exerts 3 N: the momentum is 3 N t, and the observer content."""
    m = kane.Model("sled")
    m.body("sled", mass=2.0)
    m.joint("slide", "prismatic", "ground", "sled", axis="x", coordinates=["x"], speeds=["v"])
    device = SimulatedDevice(0.3, 2.0, force=3.0, human=Human("1", damping=5.0, stiffness=100.0))
    session = Touch(m, device, ("x",), real_time=False).run(0.5)
    pulled = np.abs(session.force[:, 0]) > 2.999
    assert np.count_nonzero(pulled) > 300 and np.abs(session.force).max() <= 3.0
    gained = np.diff(session.u[:, 0])[pulled[1:]]
    np.testing.assert_allclose(gained, 3.0 / 2.0 * 1e-3, rtol=1e-9)
    assert_passive(session)


@pytest.mark.parametrize("name", ["stick-slip", "woodpecker", "newtons-cradle"])
def test_belts_springs_and_heights_are_accounted_for(name: str) -> None:
    m = kane.load(name)
    human = Human("0.02*sin(5*t)", damping=1.0, stiffness=20.0)
    session = Touch(m, SimulatedDevice(0.1, 1.0, human=human), (m.coordinates[0],), real_time=False).run(3.0)
    assert_passive(session)


@pytest.mark.parametrize("name", ["pendulum", "mass on a spring"])
def test_where_nothing_is_lost_the_observer_sees_the_energy_of_the_motion(name: str) -> None:
    m, axis, q = kane.load("pendulum"), "q", 0.4
    if name != "pendulum":
        m, axis, q = kane.Model("spring"), "x", 0.1
        m.body("mass", mass=2.0)
        m.joint("slide", "prismatic", "ground", "mass", axis="x", coordinates=["x"])
        m.load("spring", kane.JointSpring("slide", stiffness=50.0))
    coupler, device = Coupler((axis,), 0.0), SimulatedDevice(damping=0.0)
    session = Touch(m, device, coupler, real_time=False, rate=10_000, q={axis: q}).run(2.0)
    np.testing.assert_allclose(session.observed[1:], session.kinetic[:-1], rtol=0, atol=BALANCED)
    assert np.ptp(session.kinetic) > 0.1


@pytest.mark.parametrize("ticks_per_step", [1, 4])
def test_the_work_of_the_hand_is_that_of_its_force_along_the_way(ticks_per_step: int) -> None:
    """Kinetic + potential − work stays, and the work is the sum of force times way, which the session tells."""
    axes, human = ("r.lower.x", "r.lower.y"), Human(("0.5*sin(2*t)", "-1 + 0.3*sin(3*t)"), 0.5, 10.0, 80.0)
    device, rate = SimulatedDevice(mass=0.5, damping=5.0, human=human), 1000 * ticks_per_step
    loop = Touch(kane.load("double-pendulum"), device, axes, rate=rate, ticks_per_step=ticks_per_step, real_time=False)
    session = loop.run(3.0)
    total = session.kinetic + session.potential - session.work
    assert np.ptp(session.work) > 10.0 and np.ptp(total) < 1e-5 * np.ptp(session.work)  # of steps of second order
    if ticks_per_step == 1:  # else the force on the device is worked out between places too
        along = -np.cumsum(np.sum(session.force[1:] * np.diff(session.place, axis=0), axis=1))
        assert np.abs(session.work[1:] - session.work[0] - along).max() < 1e-7 * np.ptp(session.work)


def test_a_hand_under_impacts_leaves_the_balance_of_energy_as_it_is() -> None:
    human = Human("0.02 + 0.05*sin(40*t)", mass=0.2, damping=2.0, stiffness=300.0)
    device = SimulatedDevice(mass=0.1, damping=1.5, human=human)
    session = Touch(kane.load("bouncing-ball"), device, ("z",), real_time=False).run(5.0)
    total = session.kinetic + session.potential - session.work
    assert len(session.transitions) > 50 and np.ptp(session.work) > 1.0
    assert np.ptp(total) < 1e-12 * np.ptp(session.work)
