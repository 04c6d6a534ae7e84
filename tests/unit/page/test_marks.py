"""What a page shows and changes beside the motion: arrows, control laws, the start, the Z list."""

from __future__ import annotations

import base64
import gzip
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
import node
from kane.backends import compile
from kane.cli import main
from kane.graph.text import parse

STEP = 1e-3

ROUNDING = 1e-11
"""Of forces of some newtons and velocities of some metres per second, from states that agree within 1e-13."""


def ask(path: Path, **task: Any) -> dict[str, Any]:
    return json.loads(node.run("tests/run_marks.mjs", path, json.dumps(task)))


@pytest.mark.parametrize(
    ("name", "seconds"), [("four-bar", 0.7), ("box-on-incline", 0.3), ("rolling-disc", 0.5), ("rocking-block", 0.3)]
)
def test_forces_at_their_places_are_the_reactions_of_a_native_run(name: str, seconds: float, tmp_path: Path) -> None:
    m = kane.load(name)
    found = ask(m.page(tmp_path / "page.html", step=STEP), until=seconds)
    run = m.simulate(seconds, method="rk4", step=STEP)
    reactions = run.reactions()
    assert found["names"]
    for i, place in enumerate(found["names"]):
        expected, at = reactions[place].force[-1], found["at"][3 * i : 3 * i + 3]
        scale = max(1.0, float(np.abs(expected).max()))
        assert np.abs(expected - found["forces"][3 * i : 3 * i + 3]).max() <= ROUNDING * scale
        assert np.abs(reactions[place].point[-1] - at).max() <= ROUNDING


VEHICLES = [
    ("braking-car", None),
    ("tanner-mobile-manipulator", None),
    *(
        pytest.param(name, law, marks=pytest.mark.long)
        for name, law in [
            ("ackermann-car", "weave"),
            ("diff-drive-arm", "drive"),
            ("forklift", "brake"),
            ("mecanum-platform", "sideways"),
            ("two-robots-one-beam", "turn"),
        ]
    ),
]

GROUND = 1e-9
"""Relative to the weight: forces of 10⁴ N on wheels of cars, from states that agree within 1e-12."""


@pytest.mark.parametrize(("name", "law"), VEHICLES)
def test_the_ground_under_wheels_is_that_of_a_native_run(name: str, law: str | None, tmp_path: Path) -> None:
    m = kane.load(name)
    found = ask(m.page(tmp_path / "page.html", step=STEP, control=law), until=0.3)
    run = m.simulate(0.3, method="rk4", step=STEP, control=law)
    forces = dict(zip(found["names"], np.reshape(found["forces"], (-1, 3)), strict=True))
    places = dict(zip(found["names"], np.reshape(found["at"], (-1, 3)), strict=True))
    weight = 9.81 * sum(m.mechanism.number(b.mass, b.name) for b in m.bodies.values())
    assert found["vehicles"] == list(m.mechanism.vehicles)
    for i, vehicle in enumerate(found["vehicles"]):
        ground, tip = run.ground(vehicle), run.tipover(vehicle)
        for k, wheel in enumerate(ground.wheels):
            assert np.abs(forces[wheel] - ground.force[-1, k]).max() <= GROUND * weight
            assert np.abs(places[wheel] - ground.contact[-1, k]).max() <= GROUND
        corners = [found["names"][k] for k in found["outlines"][i]]
        assert corners == [first for first, _ in tip.edges]
        assert abs(found["measures"][i] - tip.alpha[-1]) <= GROUND * weight


@pytest.mark.parametrize("name", ["four-bar", "box-on-incline"])
def test_reactions_have_room_of_their_own(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    rows = sum(len(c.rows) for c in (*m.mechanism.constraints.values(), *m.mechanism.changing.values()))
    data = re.search(r'id="kane-data">(.*?)</script>', m.page(tmp_path / "page.html").read_text(), re.DOTALL)
    assert data is not None
    places = json.loads(data[1])["live"]["places"]
    behind = [at - places["reactions"] for at in places.values() if at > places["reactions"]]
    assert rows > 1 and min(behind) >= 8 * rows  # nothing else begins before their end


def test_another_control_law_has_other_forces_of_the_ground(tmp_path: Path) -> None:
    m = kane.load("mecanum-platform")
    path = m.page(tmp_path / "page.html", control="sideways", step=STEP)
    for law in ("ahead", "none"):
        found = ask(path, until=0.2, law=law)
        run = m.simulate(0.2, method="rk4", step=STEP, control=None if law == "none" else law)
        at = [found["names"].index(wheel) for wheel in run.ground().wheels]
        shown = np.reshape(found["forces"], (-1, 3))[at]
        assert np.abs(shown - run.ground().force[-1]).max() <= GROUND * np.abs(shown).max()


def test_a_hand_that_lifts_a_level_platform_takes_weight_off_its_wheels(tmp_path: Path) -> None:
    """At rest, pulled up at a point: forces and moments of ground, weight and hand balance."""
    m = kane.load("tanner-mobile-manipulator")
    vehicle = next(iter(m.mechanism.vehicles.values()))
    q, u = m.initial_state
    body, point = list(m.bodies).index(vehicle.platform.name), [0.05, 0.1, 0.2]
    start = {"q": q.tolist(), "u": (0.0 * u).tolist()}
    lift = {"body": body, "point": point, "by": [0.0, 0.0, 0.02]}
    found, idle = (ask(m.page(tmp_path / "p.html"), until=2e-3, start=start, lift=x) for x in (lift, None))
    hand, at = np.array(found["hand"]["force"]), np.array(found["hand"]["at"])
    assert hand[2] > 1.0  # N
    wheels = [found["names"].index(w.name) for w in vehicle.wheels]
    here, there = (np.reshape(x["forces"], (-1, 3))[wheels, 2] for x in (found, idle))
    places = np.reshape(found["at"], (-1, 3))[wheels]
    lighter = there - here  # what the hand carries, to the change of the motion in one step
    assert abs(lighter.sum() - hand[2]) <= LIFTED * hand[2]
    assert np.abs(lighter @ places[:, :2] - hand[2] * at[:2]).max() <= LIFTED * hand[2]


LIFTED = 1e-6
"""Relative: the motion of two steps that differ by what the hand does along the speeds."""


def test_velocities_are_those_of_the_mass_centres(tmp_path: Path) -> None:
    m = kane.load("stanford-arm")
    found = ask(m.page(tmp_path / "page.html", control="feedback"), until=0.5)
    for i, (name, body) in enumerate(m.bodies.items()):
        center = [m.mechanism.number(c, name) for c in body.center]
        expected = m.at(name, center).velocity(found["q"], found["u"])[3:]
        assert np.abs(expected - found["velocities"][3 * i : 3 * i + 3]).max() <= ROUNDING


@pytest.mark.parametrize("name", ["four-bar", "bouncing-ball", "piano-key"])
def test_looking_at_forces_changes_no_bit_of_the_motion(name: str, tmp_path: Path) -> None:
    path = kane.load(name).page(tmp_path / "page.html", step=STEP)
    plain, watched = ask(path, until=1.0), ask(path, until=1.0, marks=True)
    assert plain["q"] == watched["q"] and plain["u"] == watched["u"]


@pytest.mark.parametrize("name", ["bouncing-ball", "four-bar-stop"])
def test_looking_at_mean_reactions_changes_no_bit_of_the_steps(name: str, tmp_path: Path) -> None:
    path = kane.load(name).page(tmp_path / "page.html", contacts="stepping", step=STEP)
    plain, watched = ask(path, until=1.0), ask(path, until=1.0, marks=True)
    assert plain["q"] == watched["q"] and plain["u"] == watched["u"] and plain["forces"] == watched["forces"]


def test_what_rests_in_steps_is_held_by_its_weight(tmp_path: Path) -> None:
    m = kane.load("box-on-incline")
    found = ask(m.page(tmp_path / "page.html", contacts="stepping", step=STEP), until=3.0)
    weight = 3 * np.array([m.mechanism.number(g, "gravity") for g in m.mechanism.gravity])  # 3 kg
    assert np.reshape(found["forces"], (-1, 3)).sum(axis=0) == pytest.approx(-weight, abs=1e-6)


HELD = 1e-9
"""rad: what rounding leaves of a place that computed torque holds for half a second."""


def test_an_arm_on_the_command_line_is_held_where_it_starts_until_it_is_let_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    m, path = kane.load("ur5"), tmp_path / "page.html"
    assert main(["page", "ur5", "-o", str(path)]) == 0
    assert "held where it starts" in capsys.readouterr().err
    held, falling = ask(path, until=0.5), ask(path, until=0.5, law="none")
    assert held["laws"] == ["hold", "none"]
    assert np.abs(held["q"] - m.initial_state[0]).max() <= HELD
    assert falling["q"] == pytest.approx(m.simulate(0.5, method="rk4", step=STEP).q[-1].tolist(), abs=ROUNDING)
    assert main(["page", "ur5", "--control", "none", "-o", str(path)]) == 0
    assert ask(path, until=0.1)["laws"] == []


def test_an_arm_on_the_command_line_goes_to_another_posture_and_stays_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, path = kane.load("ur5").initial_state[0], tmp_path / "page.html"
    target[:2] = 0.5, -np.pi / 3
    assert main(["page", "ur5", "--to", "q1=0.5,q2=-60*deg", "--duration", "0.5", "-o", str(path)]) == 0
    assert "follows the motion of --to" in capsys.readouterr().err
    assert np.abs(ask(path, until=1.0)["q"] - target).max() <= FOLLOWED
    assert main(["page", "whipple-bicycle", "--to", "roll=1", "-o", str(path)]) == 2


FOLLOWED = 1e-6
"""rad: what steps of 1 ms of the fourth order leave of a posture to which computed torque leads in half a second."""


def test_another_control_law_moves_it_as_natively(tmp_path: Path) -> None:
    m = kane.load("stanford-arm")
    path = m.page(tmp_path / "page.html", control="feedback", step=STEP)
    for law in ("feedback-free-base", "none", "feedback"):
        found = ask(path, until=0.5, law=law)
        run = m.simulate(0.5, method="rk4", step=STEP, control=None if law == "none" else law)
        assert found["laws"] == ["feedback", "feedback-free-base", "none"]
        assert np.abs(run.q[-1] - found["q"]).max() <= ROUNDING


@pytest.mark.parametrize(
    ("name", "q", "u"),
    [("pendulum", [1.2], [-0.5]), ("bouncing-ball", [0.0], [0.0]), ("bouncing-ball", [0.4], [1.0])],
)
def test_a_start_that_is_set_is_where_a_native_run_begins(
    name: str, q: list[float], u: list[float], tmp_path: Path
) -> None:
    m = kane.load(name)
    found = ask(m.page(tmp_path / "page.html", step=STEP), until=0.5, start={"q": q, "u": u})
    run = m.simulate(0.5, method="rk4", step=STEP, q=q, u=u)
    assert np.abs(run.q[-1] - found["q"]).max() <= ROUNDING
    assert np.abs(run.u[-1] - found["u"]).max() <= ROUNDING
    if run.transitions:
        assert found["states"] == list(run.transitions[-1].mode.values())


def test_the_z_list_has_the_values_of_the_program(tmp_path: Path) -> None:
    path = kane.load("stanford-arm").page(tmp_path / "page.html", control="feedback")
    found = ask(path, until=0.3)
    data = re.search(r'id="kane-data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert data is not None
    text = gzip.decompress(base64.b64decode(json.loads(data[1])["live"]["program"]["text"])).decode()
    program = parse(text)
    sizes = np.cumsum([0, *(len(group) for group in program.inputs)])
    groups = [np.array(found["inputs"][a:b]) for a, b in pairwise(sizes)]
    expected = np.ravel(compile(program, "interpret")(*groups))
    names = text.rstrip().split("\n")[-1].partition(": ")[2].split()
    rows = [int(name[1:]) - 1 for name in names if name.startswith("z")]
    shown = [value for name, value in zip(names, expected, strict=True) if name.startswith("z")]
    assert len(rows) >= 6 and len(found["z"]) == len(program.rows)
    assert np.abs(np.array(found["z"])[rows] - shown).max() <= ROUNDING * np.abs(shown).max()
