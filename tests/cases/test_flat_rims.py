"""Discs that fall flat: rolling has a pole there and a contact no value, and every way of asking says so alike."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import kane
from kane.cli import main

STILL = {"wx": 0.0, "wy": 0.0, "wz": 0.0, "vx": 0.0, "vy": 0.0}
SIDES = 12  # vertices around each rim of a coin


@pytest.mark.parametrize("times", [1.0, np.linspace(0.0, 1.0, 21)], ids=["end", "samples"])
def test_a_disc_that_passes_through_lying_flat_fails_as_a_member_too(times: Any) -> None:
    """Two lean and fall flat within 1 s, one stands upright."""
    disc = kane.load("rolling-disc")
    lean = np.array([0.3, 0.0, 0.4])
    found: Any = disc.ensemble(times, n=3, q={"lean": lean}, u=STILL, keep="motions")
    alone = [disc.simulate(times, q={"lean": x}, u=STILL) for x in lean.tolist()]
    assert [run.outcome.reason for run in alone] == ["flat", "end", "flat"] == found.reasons.tolist()
    assert found.success.tolist() == [False, True, False] == [run.outcome.success for run in alone]
    assert "passed through lying flat" in found.messages[0] and "events={'fallen'" in found.messages[0]
    assert all(np.array_equal(found.q[i, -1], run.q[-1]) for i, run in enumerate(alone))


def test_a_member_that_stops_flat_is_told_why_as_a_motion_alone_is() -> None:
    """With some speed along its heading it does not pass its pole."""
    disc = kane.load("rolling-disc")
    found = disc.ensemble(1.0, n=1, q={"lean": 0.3}, u={"wx": 0.0, "wy": 1e-8, "wz": 0.0})
    alone = disc.simulate(1.0, q={"lean": 0.3}, u={"wx": 0.0, "wy": 1e-8, "wz": 0.0})
    assert found.reasons[0] == alone.outcome.reason == "stall"
    assert "wheel 'disc' lies flat" in found.messages[0] and "wheel 'disc' lies flat" in str(alone.outcome)
    assert "'abs(lean) - 80*deg'" in found.messages[0] and "260" not in found.messages[0]


def test_a_disc_that_passes_through_lying_flat_is_status_one(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--q", "lean=0.3", "--u", "wx=0,wy=0,wz=0,vx=0,vy=0"]
    assert main(["simulate", "rolling-disc", "--t", "1", *line]) == 1
    assert "passed through lying flat" in capsys.readouterr().out
    assert main(["sweep", "rolling-disc", "--time", "1", "-n", "2", *line]) == 1
    assert '--event "fallen=abs(lean) - 80*deg!"' in capsys.readouterr().err


def coin(shape: dict[str, Any]) -> kane.Model:
    """A coin 2 cm in radius and 4 mm thick that starts on its edge, its axis 0.2 rad from level."""
    m = kane.Model("coin", gravity=(0, 0, -9.81))
    m.body("coin", mass=0.01, inertia={"xx": 1e-6, "yy": 2e-6, "zz": 1e-6})
    m.joint("free", "free", "ground", "coin", initial=[math.cos(0.1), math.sin(0.1), 0, 0, 0, 0, 0.0202])
    m.contact("table", "coin", "ground", shape=shape, friction=0.3)
    return m


def test_a_coin_that_falls_flat_on_a_contact_is_told_so_and_the_remedy_works() -> None:
    run = coin({"disc": 0.02, "axis": "y"}).simulate(1.0)
    said = str(run.outcome)
    assert not run.outcome.success
    assert (
        "'coin' lies flat, where no point of the rim is the one that touches, and contact 'table' has no value" in said
    )
    assert said.count("fix:") == 1 and "loads" not in said and "max_steps" not in said
    assert re.search(r"\n    fix: let it touch by vertices around its rim .* r\.coin\.z\n", said)
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    rims = [(0.02 * math.cos(a), y, 0.02 * math.sin(a)) for a in angles for y in (-0.002, 0.002)]
    lying = coin({"vertices": rims}).simulate(1.0, contacts="stepping", step=1e-3)
    assert lying.outcome.success
    assert lying["q_free_pz"][-1] == pytest.approx(0.002, abs=1e-6)  # half its thickness above the table


def test_a_bicycle_that_falls_has_one_remedy_whatever_is_sampled() -> None:
    """Samples 10 ms apart tell a passage that the steps of the integrator do not; the remedy is of one kind."""
    run = kane.load("whipple-bicycle").simulate(np.linspace(0.0, 10.0, 1001), u={"ux": 2.0, "uroll": 0.2})
    said = str(run.outcome)
    assert said.count("fix:") == 1 and "'abs(roll) - 80*deg'" in said and "r.rear-wheel" not in said


@pytest.mark.parametrize("ask", ["simulate", "linearize", "many"])
def test_a_bicycle_that_lies_flat_does_not_start(ask: str) -> None:
    """Its height follows from other coordinates, so that its rows have values there; 1e-3 rad above it has a motion."""
    m, u = kane.load("whipple-bicycle"), {"ux": 3.0}
    questions = {
        "simulate": lambda roll: m.simulate(0.0, q={"roll": roll}, u=u),
        "linearize": lambda roll: m.linearize({"roll": roll}, u),
        "many": lambda roll: m.linearize({"roll": [1.5, roll]}, u),
    }
    with pytest.raises(kane.ModelError, match=r"start: wheel 'rear-wheel' lies flat(?s:.*)fix: start with"):
        questions[ask](math.pi / 2)
    questions[ask](math.pi / 2 - 1e-3)


@pytest.mark.parametrize(
    ("name", "angle", "u"), [("rolling-disc", "lean", {}), ("whipple-bicycle", "roll", {"ux": 3.0})]
)
def test_a_wheel_does_not_start_below_the_ground(name: str, angle: str, u: dict[str, float]) -> None:
    """At 80° its centre is above the ground by its radius times cos 80°, at 100° as far below."""
    m = kane.load(name)
    assert m.simulate(0.0, q={angle: math.radians(80)}, u=u).outcome.success
    for ask in (lambda: m.simulate(0.0, q={angle: math.radians(100)}, u=u), lambda: m.linearize({angle: 1.8}, u)):
        with pytest.raises(kane.ModelError, match=r"start: wheel '.*' is below the plane that it rolls on"):
            ask()
