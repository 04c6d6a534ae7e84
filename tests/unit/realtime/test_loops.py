"""The loop that keeps time: what it computes, whatever the clock does."""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.realtime import Coupler, GamepadLink, Human, Mailbox, Replay, SimulatedDevice, Touch, UdpLink
from kane.realtime.priority import WAKING_TIME

RATE = 1000.0
SETTLED = 1e-6  # m: what is left of an oscillation that is damped for seconds
OBSERVED = -1e-6  # J: how far below zero the energy of the observer may be


def weight(mass: float = 2.0) -> kane.Model:
    """A body that moves up and down under gravity."""
    m = kane.Model("weight", gravity=(0, 0, -9.81))
    m.body("weight", mass=mass)
    m.joint("slide", "prismatic", "ground", "weight", axis="z", coordinates=["z"], speeds=["v"])
    return m


def free(model: kane.Model, rate: float, t: float, steps: int = 1) -> np.ndarray:
    """Coordinates at the end of a session in which nobody touches the model."""
    device = SimulatedDevice(damping=0.0)
    return Touch(model, device, Coupler(("q1",), 0.0), rate=rate, steps=steps, real_time=False).run(t).q[-1]


def test_untouched_motion_is_of_second_order() -> None:
    m = kane.load("double-pendulum")
    exact = m.simulate(1.0, rtol=1e-12).q[-1]
    coarse, fine = (np.abs(free(m, rate, 1.0) - exact).max() for rate in (500.0, 1000.0))
    assert 3.7 < coarse / fine < 4.3


def test_a_control_law_drives_the_model() -> None:
    law = {"v": "2*9.81 + 3"}  # carries the weight of 2 kg, and lifts it by 1.5 m/s²
    loop = Touch(weight(), Mailbox(3), None, rate=RATE, control=law, real_time=False)
    session = loop.run(1.0)
    assert np.abs(session.q[:, 0] - 0.75 * session.t**2).max() <= 1e-12
    assert session.least_observed >= OBSERVED
    with pytest.raises(kane.InputError, match="Python function"):
        Touch(weight(), Mailbox(3), None, control=lambda t, q, u: [0.0])


def test_more_steps_in_a_tick_are_those_of_a_faster_loop() -> None:
    m = kane.load("double-pendulum")
    np.testing.assert_allclose(free(m, 500.0, 1.0, steps=2), free(m, 1000.0, 1.0), rtol=0, atol=1e-12)


def test_a_weight_in_the_hand_hangs_where_springs_and_weight_balance() -> None:
    hand, stiffness = 200.0, 1500.0
    human = Human("0", damping=60.0, stiffness=hand)
    device = SimulatedDevice(mass=0.3, damping=1.0, human=human)
    session = Touch(weight(), device, Coupler(("z",), stiffness), real_time=False).run(10.0)
    load = 2.0 * 9.81
    assert session.position[-1, 0] == pytest.approx(-load / hand, abs=SETTLED)
    assert session.place[-1, 0] == pytest.approx(-load / hand - load / stiffness, abs=SETTLED)
    assert session.force[-1, 0] == pytest.approx(-load, abs=1e-3)


def test_a_caster_that_sticks_does_not_creep() -> None:
    m = kane.load("shopping-cart")
    m.set_parameters(mc=5.0)
    human = Human(("0.02*sin(2*t)", "0", "0"), mass=0.5, damping=10.0, stiffness=50.0)
    device = SimulatedDevice(mass=0.5, damping=5.0, human=human)
    session = Touch(m, device, ("x", "y", "heading"), q={"turn": 0.3}, u={"u1": 0.0}, real_time=False).run(5.0)
    assert session.transitions[-1].mode["caster_friction"] == "sticks"
    turn = session.q[:, m.coordinates.index("turn")]
    assert np.ptp(turn) == 0.0
    assert session.least_observed > OBSERVED


def test_a_recording_is_played_again_to_the_bit() -> None:
    m = kane.load("bouncing-ball")
    human = Human("0.3*sin(9*t)", stiffness=80.0, damping=3.0)
    device = SimulatedDevice(mass=0.2, damping=2.0, friction=0.1, encoder=1e-5, delay=2, human=human)
    first = Touch(m, device, (m.coordinates[0],), real_time=False).run(3.0)
    again = Touch(m, Replay(first.position, damping=2.0), first.coupler, real_time=False).run(3.0)
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.force, again.force)
    assert [x.t for x in first.transitions] == [x.t for x in again.transitions]


def test_the_clock_changes_no_bit() -> None:
    m, device = kane.load("double-pendulum"), SimulatedDevice(human=Human("0.1*sin(20*t)", stiffness=50.0, damping=2.0))
    kept = Touch(m, device, ("q2",)).run(0.3)
    free_running = Touch(m, device, ("q2",), real_time=False).run(0.3)
    assert np.array_equal(kept.q, free_running.q)
    assert kept.timing.ticks == 300
    assert "SCHED_FIFO" in kept.timing.scheduling or "ordinary" in kept.timing.scheduling


def locked_memory() -> int:
    """kB of this process that stay in place."""
    (line,) = [x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmLck:")]
    return int(line.split()[1])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell what is locked")
def test_memory_is_locked_no_longer_than_a_loop_runs() -> None:
    m = kane.load("pendulum")
    touches = [Touch(m, SimulatedDevice(), ("q",)) for _ in range(2)]
    before = locked_memory()
    for touch in touches:
        touch.start(60.0)
    while touches[1].state()["t"] < 0.01:
        time.sleep(0.001)
    during = locked_memory()
    allowed = ["memory locked" in touches[0].stop().timing.scheduling, locked_memory() > before]
    assert allowed[0] == allowed[1] == (during > before)  # the second loop still wants it
    touches[1].stop()
    assert locked_memory() == before


def waking_time() -> int:
    """µs that a core may take to wake up, of all who hold a wish for it the least."""
    with WAKING_TIME.open("rb", buffering=0) as file:
        return int.from_bytes(file.read(4), sys.byteorder, signed=True)


@pytest.mark.skipif(not os.access(WAKING_TIME, os.R_OK | os.W_OK), reason="the system keeps no core awake for us")
def test_cores_are_awake_no_longer_than_a_loop_runs() -> None:
    touch, before = Touch(kane.load("pendulum"), SimulatedDevice(), ("q",)), waking_time()
    assert before > 0
    touch.start(60.0)
    while touch.state()["t"] < 0.01:
        time.sleep(0.001)
    assert waking_time() == 0
    assert touch.stop().timing.scheduling.endswith("cores awake")
    assert waking_time() == before


def test_a_loop_runs_where_cores_may_sleep(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("kane.realtime.priority.WAKING_TIME", tmp_path / "nowhere" / "waking-time")
    session = Touch(kane.load("pendulum"), SimulatedDevice(), ("q",)).run(0.01)
    assert session.timing.scheduling.endswith("cores may sleep")


def test_an_encoder_and_dry_friction_are_those_of_the_device() -> None:
    step, m = 1e-3, weight(1e9)
    m.set_gravity((0, 0, 0))
    device = SimulatedDevice(mass=0.1, damping=0.5, friction=3.0, encoder=step, start=(0.01,))
    session = Touch(m, device, Coupler(("z",), 200.0), real_time=False).run(0.5)
    assert np.abs(session.position / step - np.round(session.position / step)).max() < 1e-9
    assert session.position[-1, 0] == pytest.approx(0.01)  # 200 N/m · 10 mm is less than 3 N


def test_a_silent_device_lets_go_and_takes_hold_where_it_is() -> None:
    mailbox = Mailbox(1, damping=5.0, silence=0.05)
    with Touch(weight(), mailbox, ("z",)) as loop:
        mailbox.put([1.0])  # counted from where the weight is
        time.sleep(0.3)
        low = loop.state()["place"][0]
        mailbox.put([7.0])
        mailbox.put([float("nan")])
        session = loop.stop()
    assert low < -0.05  # it falls once nobody holds it
    assert "silent in" in str(session.outcome)
    assert np.abs(np.diff(session.place[:, 0])).max() < 0.01  # nothing snapped


def test_datagrams_move_the_device_if_they_have_the_token() -> None:
    mailbox = Mailbox(1, damping=5.0, silence=5.0)
    with UdpLink(mailbox) as link, Touch(weight(), mailbox, ("z",)) as loop:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
            client.settimeout(5.0)
            for bad in (b"{", b"[]", b'{"position": [0.1]}', b'{"token": "no", "position": [0.1]}'):
                client.sendto(bad, link.address)
            for strange in (b"[" * 4000, b'{"token": "\\ud800", "position": [0.1]}'):  # of any program on this machine
                client.sendto(strange, link.address)
            huge = f'{{"token": "{link.token}", "position": [1{"0" * 400}]}}'
            client.sendto(huge.encode(), link.address)
            for position in ([0.0], [0.0]):
                client.sendto(json.dumps({"token": link.token, "position": position}).encode(), link.address)
                force = json.loads(client.recv(4096))["force"]
                time.sleep(0.3)
        session = loop.stop()
        assert link.bad == 7
    assert len(force) == 1
    assert session.force[-1, 0] < -1.0  # the weight pulls the hand down


def test_a_gamepad_moves_the_device(tmp_path: Path) -> None:
    events = tmp_path / "js0"
    events.write_bytes(b"".join(struct.pack("<IhBB", 0, v, 2, n) for v, n in ((32767, 1), (-32767, 0))))
    mailbox = Mailbox(2)
    with GamepadLink(mailbox, axes=(0, 1), scale=0.2, path=str(events)) as link:
        link.join()
    assert mailbox.position.tolist() == pytest.approx([-0.2, 0.2])
    with pytest.raises(kane.InputError, match="connect a gamepad"):
        GamepadLink(mailbox, path=str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("options", "words"), [({"rate": 0}, "rate = 0"), ({"steps": 0}, "steps = 0"), ({"rate": float("nan")}, "rate")]
)
def test_odd_settings_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(kane.InputError, match=words):
        Touch(weight(), SimulatedDevice(), ("z",), **options)  # type: ignore[arg-type]
