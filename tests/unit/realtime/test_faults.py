"""What goes wrong in a session is told in a sentence, and the recording up to there is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from websockets.sync.client import connect

import kane
from hanging import hanging_mass
from kane.realtime import Coupler, Mailbox, Replay, Session, SimulatedDevice, Touch
from kane.realtime.server import Play

TESTS = Path(__file__).parents[2]
RATE = 1000.0  # ticks per second, the default
HELD = 1e-3  # m: how far a weight moves that is held by a spring of some thousand N/m


def weight(force: str = "0") -> kane.Model:
    """A body that moves up and down under gravity and one more force."""
    m = kane.Model("weight", gravity=(0, 0, -9.81))
    m.body("weight", mass=0.2)
    m.joint("slide", "prismatic", "ground", "weight", axis="z", coordinates=["z"], speeds=["v"])
    m.load("more", kane.Force("weight", (0, 0, force)))
    return m


def start_holding(mailbox: Mailbox) -> Touch:
    """A loop that has taken hold of the weight, however long the machine keeps it waiting."""
    mailbox.put([0.3])
    loop = Touch(weight(), mailbox, ("z",)).start()
    wait_for_ticks(loop, 100)
    return loop


def wait_for_ticks(loop: Touch, ticks: int) -> None:
    """Wait until so many more ticks have happened."""
    then, end = float(loop.state()["t"][0]), time.monotonic() + 60.0
    while loop.state()["t"][0] < then + ticks / RATE and time.monotonic() < end:
        time.sleep(0.001)


def is_held(session: Session) -> bool:
    """Whether the weight stayed where it was taken hold of."""
    return bool(np.abs(session.place).max() < HELD + 0.2 * 9.81 / session.coupler.stiffnesses()[0])


def test_positions_that_are_no_numbers_are_left_out_and_told() -> None:
    mailbox = Mailbox(1, damping=5.0, silence=1e9)
    loop = start_holding(mailbox)
    for bad in (np.nan, np.inf):
        mailbox.put([bad])
        wait_for_ticks(loop, 100)
    session = loop.stop()
    assert "positions of the device were not finite and left out" in str(session.outcome)
    assert np.isfinite(session.q).all() and np.isfinite(session.force).all()
    assert len(session.t) == session.timing.ticks and is_held(session)


def test_the_last_position_holds_while_the_next_one_is_being_written() -> None:
    """Whoever writes it may be stopped by the machine in the midst, for any number of ticks."""
    mailbox = Mailbox(1, damping=5.0, silence=1e9)
    loop = start_holding(mailbox)
    mailbox.mail[0] += 1  # as `put` begins
    mailbox.position[:] = 5.0
    wait_for_ticks(loop, 100)
    mailbox.position[:] = 0.3
    mailbox.mail[0] += 1  # as it ends
    wait_for_ticks(loop, 100)
    session = loop.stop()
    assert np.ptp(session.position) == 0.0 and is_held(session)


HOLDING = """
from unit.realtime.test_faults import is_held, start_holding, wait_for_ticks
from kane.realtime import Mailbox
import numpy as np

mailbox = Mailbox(1, damping=5.0, silence=1e9)
loop = start_holding(mailbox)
print("holds", flush=True)
input()
wait_for_ticks(loop, 100)
session = loop.stop()
print(session.timing.skipped, is_held(session), np.diff(session.t).max())
"""
"""A process that holds the weight, and is told when it has been stopped."""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="no signal that stops a process")
def test_a_machine_that_stops_the_loop_lets_nothing_fall() -> None:
    """Ticks that were missed for longer than the loop catches up with are skipped, and time stands still meanwhile."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDING], stdin=pipe, stdout=pipe, text=True, cwd=TESTS) as process:
        assert process.stdout is not None and process.stdout.readline() == "holds\n"
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.4)
        process.send_signal(signal.SIGCONT)
        skipped, held, longest = process.communicate("go on\n")[0].split()
    assert int(skipped) > 64 and held == "True" and float(longest) == pytest.approx(1 / RATE)


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
