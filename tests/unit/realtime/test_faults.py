"""What goes wrong in a session is told in a sentence, and the recording up to there is kept."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.client import connect

import kane
from hanging import hanging_mass
from kane.realtime import Coupler, Mailbox, Replay, SimulatedDevice, Touch
from kane.realtime.server import Play

TRIES = 5  # of what needs a machine that keeps time
HELD = 1e-3  # m: how far a weight moves that is held by a spring of some thousand N/m


def weight(force: str = "0") -> kane.Model:
    """A body that moves up and down under gravity and one more force."""
    m = kane.Model("weight", gravity=(0, 0, -9.81))
    m.body("weight", mass=0.2)
    m.joint("slide", "prismatic", "ground", "weight", axis="z", coordinates=["z"], speeds=["v"])
    m.load("more", kane.Force("weight", (0, 0, force)))
    return m


def is_held_while_positions_are_no_numbers() -> bool:
    """Whether the weight stays where it is held; a machine that stops the loop for long may let it fall."""
    mailbox = Mailbox(1, damping=5.0, silence=1e9)
    mailbox.put([0.3])
    loop = Touch(weight(), mailbox, ("z",)).start()
    time.sleep(0.2)
    for bad in (np.nan, np.inf):
        mailbox.put([bad])
        time.sleep(0.1)
    session = loop.stop()
    assert "positions of the device were not finite and left out" in str(session.outcome)
    assert np.isfinite(session.q).all() and np.isfinite(session.force).all()
    assert len(session.t) == session.timing.ticks
    return bool(np.abs(session.place).max() < HELD + 0.2 * 9.81 / session.coupler.stiffnesses()[0])


def test_positions_that_are_no_numbers_are_left_out_and_told() -> None:
    assert any(is_held_while_positions_are_no_numbers() for _ in range(TRIES))


def test_a_device_that_leaves_lets_go_and_one_that_comes_back_takes_hold() -> None:
    mailbox = Mailbox(1, damping=5.0, silence=0.2)
    loop = Touch(weight("0.2*9.81"), mailbox, ("z",)).start()  # it floats
    for _ in range(3):
        for k in range(20):
            mailbox.put([0.01 * k])
            time.sleep(0.004)
        time.sleep(0.5)
    session = loop.stop()
    held = session.force[:, 0] != 0.0
    assert np.count_nonzero(np.diff(held.astype(int)) == 1) == 3  # taken hold of three times
    assert not held[-1] and "silent in" in str(session.outcome)
    assert not mailbox.force.any()


def test_a_model_that_is_too_slow_for_the_rate_is_told_and_its_recording_kept(tmp_path: Path) -> None:
    m, device, coupler = kane.load("double-pendulum"), SimulatedDevice(damping=0.0), Coupler(("q1",), 0.0)
    slow = Touch(m, device, coupler, rate=10_000.0, steps=1000).run(0.02)
    assert slow.outcome.reason == "end" and slow.timing.overruns > 0.5 * slow.timing.ticks
    assert "too slow for the rate: a tick takes" in str(slow.outcome) and "fix: lower the rate" in str(slow.outcome)
    assert slow.timing.late > 100 and slow.timing.skipped > 64 and slow.timing.ticks == 200
    free = Touch(m, device, coupler, rate=10_000.0, steps=1000, real_time=False).run(0.02)
    assert np.array_equal(slow.q, free.q)
    slow.save(tmp_path / "slow.npz")
    with np.load(tmp_path / "slow.npz") as kept:
        assert np.array_equal(kept["q"], slow.q)
        assert Replay(kept["position"]).position.shape == (200, 1)


def test_a_motion_that_ends_in_no_number_stops_with_a_sentence_and_what_was_before() -> None:
    mailbox = Mailbox(1, damping=5.0, silence=1e9)
    mailbox.put([0.0])
    session = Touch(weight("sqrt(0.1 - t)"), mailbox, ("z",), real_time=False).run(1.0)
    assert session.outcome.reason == "not-finite" and not session.outcome.success
    assert "a state that is not finite at t = " in str(session.outcome)
    assert session.t[-1] == pytest.approx(0.1, abs=2e-3) and np.isfinite(session.q).all()
    assert not mailbox.force.any()  # the hand is not pulled at by a loop that has ended


def test_a_fault_is_shown_to_the_page_and_the_session_kept() -> None:
    model = weight("select(t < 5, 0, sqrt(5.2 - t))")  # 4 s are tried out for the camera
    with Play(model) as play, connect(f"ws://127.0.0.1:{play.port}/touch?token={play.token}") as socket:
        end, frame = time.monotonic() + 30.0, {}
        while time.monotonic() < end and not frame.get("stopped"):
            frame = json.loads(socket.recv(timeout=10))
    assert "a state that is not finite" in frame["stopped"] and frame["playing"] is False
    assert play.session.outcome.reason == "not-finite" and 5.1 < play.session.t[-1] < 5.3


SOON = 0.2  # s for a farewell: frames that nobody has read stand before it


def test_one_page_that_is_closed_does_not_take_the_body_from_another() -> None:
    with Play(hanging_mass()) as play:
        url = f"ws://127.0.0.1:{play.port}/touch?token={play.token}"
        with connect(url, close_timeout=SOON) as first:
            z = json.loads(first.recv(timeout=10))["q"][0]
            first.send(json.dumps({"grab": 0, "point": [0, 0, 0], "target": [0, 0, z]}))
            first.send(json.dumps({"pull": [0, 0, z + 0.2]}))
            with connect(url, close_timeout=SOON) as second:
                second.recv(timeout=10)
                time.sleep(0.3)
                second.send(json.dumps({"pull": [0, 0, z - 5.0]}))  # not its body
                second.send(json.dumps({"release": True}))
                time.sleep(0.3)
            time.sleep(0.3)
            assert play.touch.state()["force"][2] != 0.0
            assert play.mailbox.position[2] == z + 0.2
        time.sleep(0.3)
        assert play.touch.state()["force"][2] == 0.0
        assert play.touch.alive
    assert len(play.session.t) > 500 and play.session.outcome.reason == "interrupt"
