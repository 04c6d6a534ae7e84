"""A Haply Inverse3 through the WebSocket of its service, which here is a process that simulates one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.realtime import HaplyLink, Mailbox, Touch
from kane.realtime.haply import AGAIN, force_command, read_state
from unit.realtime.inverse_service import BAD, DAMPING, ENDS

WEIGHT = 9.81 * 0.05


@pytest.fixture
def service() -> Iterator[subprocess.Popen[str]]:
    program = [sys.executable, str(Path(__file__).with_name("inverse_service.py"))]
    process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.wait()


def address(service: subprocess.Popen[str]) -> str:
    assert service.stdout is not None
    return f"ws://127.0.0.1:{service.stdout.readline().strip()}"


def ball() -> kane.Model:
    """A weight that moves in space."""
    m = kane.Model("ball", gravity=(0, 0, -9.81))
    parent = "ground"
    for axis in "xyz":
        m.body(f"along {axis}", mass=0.05 if axis == "z" else 0.0)
        m.joint(axis, "prismatic", parent, f"along {axis}", axis=axis, coordinates=[axis])
        parent = f"along {axis}"
    return m


def wait_for(what: str, link: HaplyLink, value: int) -> None:
    end = time.monotonic() + 20.0
    while getattr(link, what) < value and time.monotonic() < end:
        time.sleep(0.01)
    assert getattr(link, what) >= value


def test_a_weight_is_felt_through_bad_frames_silence_and_a_lost_connection(service: subprocess.Popen[str]) -> None:
    mailbox = Mailbox(3, damping=DAMPING, most_force=3.0, silence=0.2, delay=0.01)
    loop = Touch(ball(), mailbox, ("x", "y", "z"))
    with HaplyLink(mailbox, address(service), device_id="04BA") as link:
        loop.start()
        wait_for("lost", link, 1)
        time.sleep(2 * AGAIN)
        session = loop.stop()
        assert not mailbox.force.any()  # a loop that has stopped pulls at nobody
        time.sleep(0.1)
        assert link.bad == len(BAD)
    told, _ = service.communicate(timeout=20)
    report = json.loads(told)
    assert report["refused"] == 0 and report["connections"] == 2 and report["profiles"] == ["kane", "kane"]
    assert report["commands"] > ENDS
    assert -3.0 <= report["least"] < -0.9 * WEIGHT and report["last"] == 0.0
    assert session.position[:, 2].min() < -1e-3  # the weight has pulled the device down
    assert "the device was silent in" in str(session.outcome) and session.outcome.reason == "interrupt"
    assert np.isfinite(session.position).all() and np.abs(session.position).max() < 5.0  # the other one is at 9
    assert np.abs(session.force).max() <= 3.0


def test_commands_are_what_states_are_read_from() -> None:
    told = json.loads(force_command("A", (1, 2, 3), "us"))
    assert told["inverse3"][0]["commands"]["set_cursor_force"]["values"] == {"x": 1.0, "y": 2.0, "z": 3.0}
    frame = '{"inverse3": [{"device_id": "A", "state": {"cursor_position": {"x": 1, "y": 2, "z": 3.5}}}]}'
    assert read_state(frame, None) == read_state(frame, "A") == ("A", [1.0, 2.0, 3.5])
    assert read_state(frame, "B") is None
    for bad in BAD.values():
        assert read_state(bad, None) is None


def test_a_service_that_is_not_there_or_not_here_is_named() -> None:
    with pytest.raises(kane.InputError, match=re.escape("no service answers at ws://127.0.0.1:9")):
        HaplyLink(Mailbox(3), "ws://127.0.0.1:9")
    for url in ("ws://example.org:10001", "http://localhost:10001", 7):
        with pytest.raises(kane.InputError, match="of this machine"):
            HaplyLink(Mailbox(3), url)  # type: ignore[arg-type]
    with pytest.raises(kane.InputError, match=r"Mailbox\(3\)"):
        HaplyLink(Mailbox(2))
