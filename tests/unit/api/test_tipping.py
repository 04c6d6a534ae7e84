"""Tip-over along a motion: the times between which a vehicle tips."""

from __future__ import annotations

import numpy as np
import pytest

import kane
from kane.api.tipping import balanced_on, spans_without
from kane.api.vehicles import Crossing, Interaction


@pytest.mark.parametrize(
    ("values", "spans"),
    [
        ([1.0, 2.0, 1.0], ()),
        ([-1.0, -1.0, -2.0], ((0.0, 2.0),)),
        ([-1.0, 1.0, -1.0], ((0.0, 0.5), (1.5, 2.0))),
        ([1.0, -1.0, 1.0], ((0.5, 1.5),)),
        ([1.0, 0.0, 0.0], ((1.0, 2.0),)),
        ([1.0, 0.0, 1.0], ()),
    ],
)
def test_spans_of_a_sampled_function(values: list[float], spans: tuple[tuple[float, float], ...]) -> None:
    assert spans_without(np.arange(3.0), np.array(values)) == spans


@pytest.mark.parametrize("times", [[0.0, 0.8], np.linspace(0, 0.8, 5), np.linspace(0, 0.8, 17)])
def test_a_vehicle_that_brakes_tips_until_its_brakes_let_go_at_whatever_times_it_is_asked(times: list[float]) -> None:
    """The torque of the brakes jumps at 0.3 s, between samples or at one: the motion tips until then and no longer."""
    m = kane.Model("tall", gravity=(0, 0, -9.81))
    m.body("base", mass=25, center=(0, 0, 0.5), inertia={"xx": 0.7, "yy": 0.9, "zz": 1.3})
    layout = {"type": "skid_steer", "wheel_radius": 0.12, "track_width": 0.4, "wheelbase": 0.5, "wheel_mass": 1.5}
    m.vehicle("base", drive=layout, friction=0.9, root="free")
    brakes = {f"{end}_{side}": "-select(t < 0.3, 9, 0)" for end in ("front", "rear") for side in ("left", "right")}
    ((start, end),) = m.simulate(times, u={"u_root_vx": 3.0}, control=brakes).tipover().spans
    assert start == 0.0 and end == pytest.approx(0.3, abs=1e-9)


def test_an_edge_is_balanced_on_from_the_change_of_a_contact_between_samples() -> None:
    measure = np.array([[1.0], [0.0], [0.0], [2.0]])
    changes = [Crossing(0.4, "contact of front", "open"), Crossing(2.5, "contact of front", "closed")]
    begins, ends = balanced_on([("left", "right")], np.arange(4.0), measure, changes)
    assert (float(begins), begins.what, begins.to) == (0.4, "edge left-right", "zero")
    assert (float(ends), ends.to) == (2.5, "positive")


def test_edges_of_a_vehicle_that_lifts_tell_where_they_start_and_every_change_of_sign() -> None:
    measure = np.array([[0.0, 1.0], [0.0, 0.0], [0.0, -1.0], [-2.0, -1.0], [3.0, -1.0]])
    changes = [Crossing(at, "contact of front", "open") for at in (0.4, 1.5, 2.5, 3.5)]
    found = balanced_on([("left", "right"), ("right", "front")], np.arange(5.0), measure, changes)
    first, second = ([(float(c), c.to) for c in found if c.what == f"edge {e}"] for e in ("left-right", "right-front"))
    assert first == [(0.0, "zero"), (2.5, "negative"), (3.5, "positive")]
    assert second == [(0.4, "zero"), (1.5, "negative")]
    assert list(found) == sorted(found) and len(found) == 5


def test_a_printed_interaction_tells_extremes_with_their_times_and_units_at_however_many_times() -> None:
    """A force that turns with time beside a weight of 10 N: its size is constant, its parts are extreme at quarters."""
    t = np.linspace(0.0, 2.0, 401)  # one turn
    turning = np.column_stack([3 * np.cos(np.pi * t), 3 * np.sin(np.pi * t), 0 * t - 4])
    told = repr(Interaction(t, "mount", "platform", turning, 0.1 * turning))
    assert "What joint mount exerts on platform at 401 times" in told and len(told.splitlines()) < 12
    said = {" ".join(line.split()) for line in told.splitlines()}
    assert "force x -3 N at t = 1 s … 3 N at t = 0 s" in said
    assert "force y -3 N at t = 1.5 s … 3 N at t = 0.5 s" in said
    assert "torque y -0.3 N m at t = 1.5 s … 0.3 N m at t = 0.5 s" in said
    assert any(line.startswith("|force| 5 N at") for line in said) and ".force" in told
