"""A model in a loop, shown and touched through a WebSocket of this machine alone."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.sync.connection import Connection

import kane
from hanging import WEIGHT, hanging_mass
from kane.cli import main
from kane.realtime.server import Play

RESTS = 1e-3  # of the displacement: what is left of a motion that dies out


@pytest.fixture
def play() -> Iterator[Play]:
    with Play(hanging_mass()) as running:
        yield running


def get(play: Play, path: str, **headers: str) -> tuple[int, str]:
    """Status and text of an answer."""
    connection = HTTPConnection("127.0.0.1", play.port, timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def address(play: Play) -> str:
    return f"ws://127.0.0.1:{play.port}/touch?token={play.token}"


def frames(socket: Connection, seconds: float) -> dict[str, Any]:
    """The last frame after so many seconds."""
    end, frame = time.monotonic() + seconds, {}
    while time.monotonic() < end:
        frame = json.loads(socket.recv(timeout=10))
    return frame


def frame_after(socket: Connection, t: float) -> dict[str, Any]:
    """The first frame of a later time than t (s) of the motion, however long the machine takes to come to it."""
    while (frame := json.loads(socket.recv(timeout=10)))["t"] <= t:
        pass
    return frame


def test_the_page_needs_the_token_and_a_name_of_this_machine(play: Play) -> None:
    status, text = get(play, f"/?token={play.token}")
    assert status == 200
    assert "<kane-page>" in text and "connect-src 'self'" in text
    assert get(play, "/")[0] == 403
    assert get(play, "/?token=guess")[0] == 403
    assert get(play, f"/?token={play.token}", Host="evil.example")[0] == 403
    assert get(play, f"/?token={play.token}", Origin="http://evil.example")[0] == 403
    assert get(play, f"/elsewhere?token={play.token}")[0] == 404


def test_a_page_from_elsewhere_may_not_touch(play: Play) -> None:
    for url, origin in ((address(play), "http://evil.example"), (address(play)[:-1], None)):
        with pytest.raises(InvalidStatus) as refused, connect(url, origin=origin):  # type: ignore[arg-type]
            pass
        assert refused.value.response.status_code == 403


def test_a_pulled_body_rests_where_spring_weight_and_coupler_balance(play: Play) -> None:
    with connect(address(play), origin=f"http://127.0.0.1:{play.port}") as socket:  # type: ignore[arg-type]
        first = frames(socket, 0.1)
        z = first["q"][0]
        socket.send(json.dumps({"grab": 0, "point": [0, 0, 0], "target": [0, 0, z]}))
        socket.send(json.dumps({"pull": [0, 0, z + 0.2]}))
        for nonsense in ("[]", "{", '{"pull": [1]}', '{"grab": 99, "point": [0,0,0], "target": [0,0,0]}'):
            socket.send(nonsense)
        held = frames(socket, 4.0)
        stiffness = held["stiffness"]
        rest = (stiffness * (z + 0.2) - WEIGHT) / (80 + stiffness)
        assert stiffness > 100.0
        assert abs(held["q"][0] - rest) < RESTS * 0.2
        socket.send(json.dumps({"release": True}))
        socket.send(json.dumps({"play": False}))
        frames(socket, 0.3)
        assert frames(socket, 0.1)["t"] == frames(socket, 0.1)["t"]
        socket.send(json.dumps({"reset": True}))
        anew = frames(socket, 0.5)
        assert anew["t"] < 0.6 and anew["playing"]
        assert abs(anew["q"][0] - z) < 1e-6


def test_energies_that_a_page_shows_close_while_one_pulls_at_a_spring(play: Play) -> None:
    """Of the hand and the spring both: m g z + m v²/2 − work, where the spring has done −k (z² − z₀²)/2."""
    with connect(address(play)) as socket:
        z = frames(socket, 0.1)["q"][0]
        socket.send(json.dumps({"grab": 0, "point": [0, 0, 0], "target": [0, 0, z]}))
        socket.send(json.dumps({"pull": [0, 0, z + 0.2]}))
        seen = [frames(socket, 0.05) for _ in range(20)]
    energies = [frame["energy"] for frame in seen]
    for frame, energy in zip(seen, energies, strict=True):
        (height,), (speed,) = frame["q"], frame["u"]
        assert energy["potential"] - WEIGHT * height == pytest.approx(0.0, abs=1e-9)
        assert energy["kinetic"] == pytest.approx(speed**2, abs=1e-9)
    totals = [energy["kinetic"] + energy["potential"] - energy["work"] for energy in energies]
    assert np.ptp([z, *(frame["q"][0] for frame in seen)]) > 0.02
    assert np.ptp(totals) < 1e-5 and max(energy["work"] for energy in energies) > 0.3


def test_a_closed_page_lets_go(play: Play) -> None:
    with connect(address(play)) as socket:
        z = frames(socket, 0.1)["q"][0]
        socket.send(json.dumps({"grab": 0, "point": [0, 0, 0], "target": [0, 0, z]}))
        socket.send(json.dumps({"pull": [0, 0, z + 0.2]}))
        frames(socket, 0.5)
    time.sleep(0.3)
    before = play.touch.state()["force"][0]
    assert before == 0.0
    assert play.touch.alive


def test_frames_have_poses_and_lamps() -> None:
    with Play(kane.load("bouncing-ball")) as play, connect(address(play)) as socket:
        frame = frames(socket, 1.0)
        assert len(frame["poses"]) == 12 and frame["states"] == [*frame["states"]]
        assert np.allclose(frame["poses"][11], frame["q"][0], atol=1e-12)
        assert frame["energy"]["kinetic"] >= 0.0
    assert any(x.cause == "impact" for x in play.session.transitions)


FORCES = 1e-6  # of the weight: a state goes through text to a page and back


def test_the_page_is_told_the_forces_of_the_ground() -> None:
    """Of a vehicle in motion: those of a native run that begins in the state of the frame."""
    m = kane.load("tanner-mobile-manipulator")
    with Play(m) as play, connect(address(play)) as socket:
        frame = frame_after(socket, 0.1)
    data = json.loads(play._page.partition('id="kane-data">')[2].partition("</script>")[0])["remote"]["marks"]
    run = m.simulate(1e-3, q=frame["q"], u=frame["u"])
    ground, tip = run.ground(), run.tipover()
    at = [data["names"].index(wheel) for wheel in ground.wheels]
    forces, places = (np.reshape(frame["marks"][name], (-1, 3))[at] for name in ("forces", "at"))
    assert np.abs(forces - ground.force[0]).max() <= FORCES * np.abs(ground.force[0]).max()
    assert np.abs(places - ground.contact[0]).max() <= FORCES
    assert frame["marks"]["measures"] == [pytest.approx(tip.alpha[0], rel=FORCES)]


def test_the_page_is_told_the_forces_of_contacts_under_a_hand() -> None:
    """A block on a floor, pulled up and aside by less than it weighs and sticks by: what the floor gives, the hand
    and the weight balance."""
    m = kane.Model("block", gravity=(0, 0, -9.81))
    m.body("carriage", mass=0.5)
    m.body("block", mass=1.5)
    m.joint("across", "prismatic", "ground", "carriage", axis="x")
    m.joint("up", "prismatic", "carriage", "block", axis="z")
    m.contact("floor", "block", "ground", shape={"point": (0, 0, 0)}, normal="z", friction=0.6)
    with Play(m) as play, connect(address(play)) as socket:
        before = frames(socket, 0.2)
        socket.send(json.dumps({"grab": 1, "point": [0, 0, 0], "target": [0, 0, 0]}))
        socket.send(json.dumps({"pull": [0.001, 0, 0.002]}))
        after = frames(socket, 1.0)
        state = play.touch.state()
    assert np.abs(np.array(before["marks"]["forces"]) - [0, 0, 1.5 * 9.81]).max() <= FORCES * 20
    assert before["states"] == after["states"] == ["sticks"]
    hand = -state["force"]
    assert hand[2] > 0.01 and np.abs(np.array(after["marks"]["forces"]) + hand - [0, 0, 1.5 * 9.81]).max() <= 1e-3


def test_a_page_lets_a_driven_model_go_and_takes_it_back() -> None:
    m, drop = hanging_mass(), 0.3
    m.set_initial({"z": -WEIGHT / 80.0 - drop})
    law = {"w": f"-80*{drop}"}  # the spring, stretched by the weight and 0.3 m more, and this are in balance
    with Play(m, control=law) as running, connect(address(running)) as socket:
        held = frames(socket, 0.5)
        assert held["law"] == 0 and held["q"][0] == pytest.approx(-WEIGHT / 80.0 - drop, abs=1e-12)
        assert "as given" in get(running, f"/?token={running.token}")[1]
        socket.send(json.dumps({"law": 1}))
        released = frames(socket, 1.0)
        assert released["law"] == 1 and released["playing"]
        energy = released["energy"]["kinetic"] + 0.5 * 80.0 * (released["q"][0] + WEIGHT / 80.0) ** 2
        assert energy == pytest.approx(0.5 * 80.0 * drop**2, rel=1e-4), "it swings about its rest"
        socket.send(json.dumps({"law": 7}))
        socket.send(json.dumps({"reset": True}))
        socket.send(json.dumps({"law": 0}))
        back = frames(socket, 0.5)
        assert back["law"] == 0


def test_the_command_line_says_what_it_waits_for_and_where_it_listens(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "pendulum", "--t", "0.1"]) == 0
    out, told = capfd.readouterr()
    assert "compiling pendulum" in told and f"127.0.0.1 port {urlsplit(out.strip()).port}" in told


@pytest.mark.parametrize("given", [("--rate", "-5"), ("--rate", "nan"), ("--steps", "0")])
def test_a_pace_that_no_loop_has_is_refused_before_anything_is_compiled(
    given: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", "pendulum", "--t", "0.1", *given]) == 1
    told = capfd.readouterr().err
    assert given[0].removeprefix("--") in told and "give" in told and "compiling" not in told
