"""What became of a vehicle whose wheels lift: facts by hand, told in the same words wherever they are told."""

from __future__ import annotations

import html
import math
import re
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.api.lifting import Lifting
from kane.api.tipping import name_of
from kane.cli import main
from kane.report import write

BRAKES = {"h": 1.6, "mu": 1.2, "brake": 9000.0}
SHELL = ["braking-car", "--set", "h=1.6,mu=1.2,brake=9000"]
EDGE = "front_right-front_left"
NO_BODY = (
    "its body has no contact with the ground: what follows after it turned over is not physical;"
    " give the body a contact, or end the run there by an event"
)
ON_ITS_SIDE = {"expression": "1 - 2*(q_root_x*q_root_x + q_root_y*q_root_y)", "terminal": True}
"""The platform's z axis is level."""


def car(**parameters: float) -> kane.Model:
    """The built-in car with a mass centre so high that its brakes lift its rear wheels at once."""
    m = kane.load("braking-car")
    m.set_parameters(**{**BRAKES, **parameters})
    return m


@pytest.fixture(scope="module")
def somersault() -> kane.Trajectory:
    return car().simulate(4)


def lifting_of(run: kane.Trajectory) -> Lifting:
    found = run.tipover().lifting
    assert found is not None
    return found


def balance_angle(m: kane.Model) -> float:
    """Pitch (rad) at which the mass centre is above the contacts of the front wheels, which are below their axle."""
    p = {name: parameter.value for name, parameter in m.parameters.items()}
    height = p["m"] * (p["h"] - p["r"]) / (p["m"] + 4 * p["mw"])
    return math.atan2(p["wheelbase"] / 2, height)


def test_a_somersault_is_told_with_its_wheels_its_edge_and_its_end(somersault: kane.Trajectory) -> None:
    lifting, run = lifting_of(somersault), somersault
    rear = next(x.t for x in run.transitions if x.mode["rear_left"] == x.mode["rear_right"] == "open")
    front = next(x.t for x in run.transitions if x.mode["front_left"] == x.mode["front_right"] == "open")
    assert lifting.over is not None and (float(lifting.over), lifting.over.what) == (rear, f"edge {EDGE}")
    first = {c.what: float(c) for c in reversed(lifting.contacts) if c.to == "open"}
    expected = {"rear_left": rear, "rear_right": rear, "front_left": front, "front_right": front}
    assert first == {f"contact of {wheel}": t for wheel, t in expected.items()}
    end, (w, x, y, z, px, py, _) = lifting.end, run.q[-1, :7]
    assert end is not None and end.place == (px, py) and end.t == run.t[-1]
    assert end.tilt == pytest.approx(math.acos(np.clip(w * w - x * x - y * y + z * z, -1, 1)), abs=1e-7)
    assert end.standing == tuple(n for n in lifting.wheels if run.transitions[-1].mode[n] != "open")


def test_outcome_shell_and_report_tell_a_somersault_in_the_same_words(
    somersault: kane.Trajectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sentences = lifting_of(somersault).sentences
    story = "\n".join(sentences)
    short = f"tips over {EDGE} from t = 0 s; ends upside down, tilted by 180.0°, at (15.349, 0) m; {NO_BODY}"
    assert "; ".join(sentences).endswith(short)
    assert str(somersault.outcome).splitlines()[1:] == [somersault.transitions.summary(), *sentences]
    assert somersault.tipover().headline == short and repr(somersault.tipover()).startswith(short)
    for command in ("simulate", "vehicle"):
        assert main([command, *SHELL]) == 0
        assert story in capsys.readouterr().out
    assert main(["vehicle", *SHELL]) == 0
    assert f"tip-over\n{short}\n" in capsys.readouterr().out
    page = write(car(), tmp_path / "r.html", trajectory=somersault, scene=False).path.read_text(encoding="utf-8")
    text = html.unescape(re.sub(r"<[^>]+>", "|", page.replace("<br>", "")))
    assert text.count(story) == 2 and f"{short}." in text  # with the outcome, and in the chapter; below the measure
    assert "would tip over" not in text.replace("where the vehicle would tip over", "")


@pytest.mark.parametrize("beyond", [-0.01, 0.01])
def test_a_car_tips_over_if_its_mass_centre_goes_beyond_its_front_wheels(beyond: float) -> None:
    m = car()
    half = 0.5 * (balance_angle(m) + beyond)
    pitch = f"q_root_y*{math.cos(half)} - q_root_w*{math.sin(half)}"
    run = m.simulate(4, events={"pitch": {"expression": pitch, "terminal": True}})
    assert run.outcome.reason == "event"
    assert (lifting_of(run).over is not None) == (beyond > 0) == ("tips over" in str(run.outcome))
    assert run.tipover().verdict == ("tips over" if beyond > 0 else "tips")


def test_a_car_that_lifts_its_wheels_and_lands_does_not_tip_over() -> None:
    """At 1 m/s it has the energy to lift its mass centre by some 5 cm, of the 0.5 m that it takes to tip over."""
    run = car().simulate(2, u={"u_root_vx": 1.0})
    lifting = lifting_of(run)
    assert lifting.over is None and run.tipover().verdict == "tips" and "tips over" not in str(run.outcome)
    assert lifting.ends.startswith("ends upright") and lifting.ends.endswith("on all wheels")
    assert lifting.ends in str(run.outcome) and lifting.ends in run.tipover().headline


def test_a_run_that_ends_on_its_side_has_not_gone_through_the_ground() -> None:
    run = car().simulate(4, events={"side": ON_ITS_SIDE})
    assert run.outcome.reason == "event" and 0.1 < run.t[-1] < 1.5
    lifting = lifting_of(run)
    assert lifting.end is not None and lifting.end.tilt == pytest.approx(math.pi / 2, abs=1e-6)
    assert not lifting.through and NO_BODY not in str(run.outcome)
    assert "ends tilted by 90.0° at" in lifting.ends and run.tipover().verdict == "tips over"


def test_a_body_with_a_contact_of_its_own_does_not_go_through_the_ground() -> None:
    m = car()
    m.contact("roof", "body", "ground", shape={"sphere": 0.1, "at": (-0.2, 0, 0.85)}, friction=0.5)
    run = m.simulate(1.3)
    lifting = lifting_of(run)
    assert lifting.end is not None and lifting.end.tilt > math.pi / 2
    assert not lifting.through and NO_BODY not in str(run.outcome)


def test_the_edges_of_a_somersault_agree_with_its_sentences(somersault: kane.Trajectory) -> None:
    """The front edge is zero from the start on, since it tips over that; the others in flight; and all of them are
    negative at the end, upside down, as the measure is."""
    tip, lifting = somersault.tipover(), lifting_of(somersault)
    told = {edge: [(float(c), c.to) for c in tip.crossings if c.what == name_of(edge)] for edge in tip.edges}
    front = ("front_right", "front_left")
    flight = next(x.t for x in somersault.transitions if {x.mode[w] for w in lifting.wheels} == {"open"})
    assert told[front][0] == (0.0, "zero")
    assert all(changes[0] == (flight, "zero") for edge, changes in told.items() if edge != front)
    assert {changes[-1][1] for changes in told.values()} == {"negative"} and tip.per_edge[-1].max() < 0.0


def test_what_became_of_a_car_does_not_depend_on_the_times_that_were_asked_for(somersault: kane.Trajectory) -> None:
    few = car().simulate([0.0, 4.0])
    assert lifting_of(few).sentences == lifting_of(somersault).sentences


def test_the_measure_of_a_car_that_has_tipped_over_is_never_positive_again(somersault: kane.Trajectory) -> None:
    """About the edge on which alone it stands nothing holds it, at whatever angle: its measure is zero there."""
    tip, ground = somersault.tipover(), somersault.ground()
    front = tip.edges.index(("front_right", "front_left"))
    on_front = (ground.normal[:, :2].min(axis=1) > 0) & (ground.normal[:, 2:].max(axis=1) == 0)
    assert on_front.sum() > 10 and not np.abs(tip.per_edge[on_front, front]).any()
    assert tip.alpha.max() <= 0.0 and tip.spans == ((0.0, 4.0),)


def test_a_release_names_all_wheels_that_lift_at_that_moment(somersault: kane.Trajectory) -> None:
    (release,) = [x for x in somersault.transitions if x.cause == "release"]
    assert release.constraints == ("front_left", "front_right")


def test_a_wheel_in_the_middle_of_a_side_lies_on_its_edge() -> None:
    """Six wheels; pushed over its right side, the robot stands on three of them, and tips about the edge between the
    outer two."""
    m = kane.Model("six wheels", gravity=(0, 0, -9.81))
    m.body("base", mass=30, center=(0, 0, 0.2), inertia={"xx": 1.0, "yy": 1.5, "zz": 2.0})
    places = {
        f"{end}_{side}": (x, y, 0)
        for side, y in (("l", 0.2), ("r", -0.2))
        for end, x in zip("fmb", (0.4, 0, -0.4), strict=True)
    }
    wheels = {name: {"at": at, "radius": 0.1, "mass": 0.5} for name, at in places.items()}
    m.vehicle("base", wheels, friction=2.0, root="free", contact="unilateral")
    m.load("push", kane.Force("base", (0, "-select(t < 0.1, 0, 260)", 0), at=(0, 0, 0.3), frame="ground"))
    run = m.simulate(0.5)
    lifting = lifting_of(run)
    assert {c.what for c in lifting.changes if c.to == "open"} >= {f"contact of {e}_l" for e in "fmb"}
    assert lifting.over is not None and lifting.over.what == "edge b_r-f_r"
    assert float(lifting.over) == pytest.approx(0.1, abs=1e-9)
