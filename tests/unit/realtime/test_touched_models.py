"""Models to touch, those of the table in docs/realtime.md: each in the loop for a second, led by a simulated hand."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.realtime import Human, SimulatedDevice, Touch

ROOT = Path(__file__).parents[3]
OBSERVED = -1e-6  # J: how far below zero the energy of the observer may be
LARGE, SMALL = SimulatedDevice(0.3, 3.0), SimulatedDevice(2e-5, 2e-3)  # along a way, about an axis


@dataclass(frozen=True)
class Led:
    """What a hand has hold of, where it wants to be, its stiffness (N/m, N m/rad), and what changes under it."""

    model: str
    axes: tuple[str, ...]
    intention: tuple[str, ...]
    stiffness: float
    device: SimulatedDevice = LARGE
    changes: tuple[str, ...] = ()
    start: Any = None


LED = (
    Led("shopping-cart", ("x", "y", "heading"), ("0.3*sin(4*t)", "0", "0.3*sin(5*t)"), 80.0, start={"u1": 0.0}),
    Led(
        "examples/models/wrist.yaml", ("roll", "pitch", "yaw"), ("sin(5*t)", "2*sin(6*t)", "0"), 3.0, SMALL, ("impact",)
    ),
    Led("piano-key", ("k",), ("0.03 - 0.03*sin(12*t)",), 5.0, SMALL, ("impact", "freed", "imposed", "release")),
    Led("examples/models/wall.yaml", ("x", "y", "z"), ("0.05 - 0.2*t", "0.2*t", "0"), 200.0, changes=("impact",)),
    Led("examples/models/knob.yaml", ("angle",), ("3*t",), 0.3, SMALL, ("slip", "impact")),
    Led("rattleback-on-table", ("z + 0.3*(e1*e3 - e0*e2)",), ("0.02 - 0.005*sin(20*t)**2",), 500.0, start={"wz": 0.0}),
    Led("whipple-bicycle", ("r.frame.y",), ("0.1*sin(5*t)",), 100.0),
    Led(
        "examples/models/puppet.urdf",
        tuple(f"r.right_hand.{axis}" for axis in "xyz"),
        ("0.1*sin(6*t)", "-0.1", "-0.61 + 0.2*t"),
        60.0,
    ),
    Led("double-pendulum", ("q2",), ("sin(6*t)",), 20.0, SimulatedDevice(0.02, 0.2)),
)


@pytest.mark.parametrize("led", LED, ids=lambda led: Path(led.model).stem)
def test_a_model_follows_the_hand_for_a_second(led: Led) -> None:
    path = ROOT / led.model
    m = kane.load(path if path.exists() else led.model)
    if led.model == "shopping-cart":
        m.set_parameters(mc=0.5)  # N m, so that the caster sticks now and then
    damping = 0.2 * np.sqrt(led.stiffness * led.device.masses(1)[0])
    human = Human(led.intention, damping=float(damping), stiffness=led.stiffness)
    device = SimulatedDevice(led.device.mass, led.device.damping, human=human)
    session = Touch(m, device, led.axes, u=led.start, real_time=False).run(1.0)
    assert session.outcome.success and session.timing.ticks == 1000
    assert np.ptp(session.place, axis=0).max() > 1e-3
    assert np.count_nonzero(session.force[:, 0]) > 900
    assert session.least_observed > OBSERVED
    assert {x.cause for x in session.transitions} >= set(led.changes)


@pytest.mark.parametrize("led", [x for x in LED if "/" in x.model], ids=lambda led: Path(led.model).stem)
def test_an_example_has_a_page_of_its_own(led: Led, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    kane.load(ROOT / led.model).page(page)
    assert 100_000 < page.stat().st_size < 1_000_000


def test_the_table_of_the_documentation_names_them_all() -> None:
    page = (ROOT / "docs" / "realtime.md").read_text(encoding="utf-8")
    for led in LED:
        assert f"| `{led.model}` |" in page, led.model
