"""What a page shows: plane motions are recognised, free flyers have no floor, texts are data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.page.document import as_script_data
from kane.page.scene import plane_normal

UP = np.array([0.0, 0.0, 1.0])


def data_of(path: Path) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="kane-data">(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def jacobian(w: list[list[float]], v: list[list[float]]) -> np.ndarray:
    """Of one body with as many speeds as columns are given."""
    return np.concatenate([np.array(w, dtype=float).T, np.array(v, dtype=float).T])[None, None]


def test_turning_about_one_axis_and_moving_across_it_is_a_plane_motion() -> None:
    found = plane_normal(jacobian([[0, 2, 0], [0, -1, 0]], [[1, 0, 0], [0.3, 0, 0.4]]), UP)
    assert found is not None and abs(found @ [0, 1, 0]) == pytest.approx(1.0)
    assert np.cross(UP, found)[0] > 0, "x points to the right"


def test_two_axes_or_a_motion_along_the_axis_are_in_space() -> None:
    assert plane_normal(jacobian([[0, 1, 0], [0, 0, 1]], [[0, 0, 0], [0, 0, 0]]), UP) is None
    assert plane_normal(jacobian([[0, 1, 0]], [[0, 1, 0]]), UP) is None
    assert plane_normal(jacobian([[0, 0, 0]] * 3, np.eye(3).tolist()), UP) is None


def test_what_moves_up_and_down_is_seen_from_the_front() -> None:
    found = plane_normal(jacobian([[0, 0, 0]], [[0, 0, 1]]), UP)
    assert found is not None and found @ UP == 0.0


@pytest.mark.parametrize(
    ("name", "plane", "floor"),
    [
        ("pendulum", True, True),
        ("four-bar", True, True),
        ("stanford-arm", False, True),
        ("free-body", False, False),
        ("satellite-with-panels", False, False),
        ("rolling-disc", False, True),
    ],
)
def test_built_in_models_are_seen_as_they_are(name: str, plane: bool, floor: bool, tmp_path: Path) -> None:
    m = kane.load(name)
    scene = data_of(m.page(tmp_path / "page.html"))["scene"]
    assert (scene["normal"] is not None) == plane
    assert (scene["floor"] is not None) == floor
    assert len(scene["bodies"]) == len(m.bodies)
    assert all(low < high for low, high in zip(scene["low"], scene["high"], strict=True))


def test_the_floor_is_where_the_disc_rolls(tmp_path: Path) -> None:
    scene = data_of(kane.load("rolling-disc").page(tmp_path / "page.html"))["scene"]
    assert abs(scene["floor"]) < 0.02 * max(h - l for l, h in zip(scene["low"], scene["high"], strict=True))


def test_what_is_stepped_over_to_be_framed_is_framed_as_by_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models of very many contacts are framed by time stepping; here one ball is, which falls from 1 m."""
    m = kane.load("bouncing-ball")
    by_events = data_of(m.page(tmp_path / "events.html"))["scene"]
    monkeypatch.setattr("kane.api.pages.MANY", 1)
    stepped = data_of(m.page(tmp_path / "stepped.html"))["scene"]
    for corner in ("low", "high"):
        assert stepped[corner] == pytest.approx(by_events[corner], abs=0.05)


def test_no_text_ends_the_data_of_a_page() -> None:
    text = "</script><!--<script>&\u2028\u2029"
    written = as_script_data({"name": text})
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == {"name": text}


def test_the_same_model_gives_the_same_page(tmp_path: Path) -> None:
    first, second = (kane.load("pendulum").page(tmp_path / f"{k}.html").read_bytes() for k in range(2))
    assert first == second


def test_a_missing_component_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kane.page.document.COMPONENT", "nothing.js")
    with pytest.raises(kane.KaneError, match="make setup"):
        kane.load("pendulum").page(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
