"""Plots and drawings: labelled with units, drawn without a display, safe inside a page."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kane
from kane.errors import InputError
from kane.viewer import drawings, plots
from kane.viewer.units import coordinate_units, effort_units, speed_units

T = np.linspace(0, 1, 30)


def titles(figure: plots.Figure) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes]


def test_units_follow_the_joints() -> None:
    arm = kane.load("stanford-arm")
    assert coordinate_units(arm.mechanism) == ["rad"] * 5 + ["m"]
    assert speed_units(arm.mechanism) == ["rad/s"] * 5 + ["m/s"]
    assert effort_units(arm.mechanism) == ["N m"] * 5 + ["N"]
    assert effort_units(kane.load("free-body").mechanism) == ["N m"] * 3 + ["N"] * 3


def test_a_chosen_speed_that_is_no_rate_has_no_unit() -> None:
    assert speed_units(kane.load("stanford-arm-kane").mechanism) == ["", "", "", "rad/s", "rad/s", "m/s"]


def test_panels_carry_names_and_units() -> None:
    arm = kane.load("stanford-arm")
    figure = plots.motion(arm.mechanism, T, np.tile(T[:, None], 6))
    assert titles(figure) == [f"q{d}  (rad)" for d in "₁₂₃₄₅"] + ["q₆  (m)"]


def test_the_signs_of_a_paper_turn_the_curves() -> None:
    arm = kane.load("stanford-arm")
    tau = np.tile(T[:, None], 6)
    figure = plots.efforts(arm.mechanism, T, tau, labels="abcdef", signs=[1, -1, -1, -1, -1, -1])
    drawn = [ax.lines[0].get_ydata() for ax in figure.axes]
    assert np.array_equal(drawn[0], T) and np.array_equal(drawn[1], -T)
    assert titles(figure)[0] == "a  (N m)"


def test_a_curve_that_is_constant_to_rounding_is_drawn_flat() -> None:
    noise = 5.0 + 1e-15 * np.sin(50 * T)
    (ax,) = plots.panels(T, [plots.Panel("x", noise)]).axes
    low, high = ax.get_ylim()
    assert high - low > 0.5


def test_an_inline_drawing_is_well_formed_and_takes_the_ink_of_the_page() -> None:
    text = plots.svg(plots.momentum(T, np.tile(T[:, None], 3), np.zeros((30, 3))), 'a "name" & <more>')
    ElementTree.fromstring(text)
    assert "currentColor" in text and plots.INK not in text
    assert set(re.findall(r"https?://[^\"\s]+", text)) <= {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}


def test_the_same_figure_is_the_same_text() -> None:
    arm = kane.load("stanford-arm")
    assert plots.svg(drawings.mechanism(arm)) == plots.svg(drawings.mechanism(arm))


@pytest.mark.parametrize("name", ["pendulum", "double-pendulum", "cart-pole", "spinning-top", "free-body"])
def test_every_model_can_be_drawn(name: str) -> None:
    model = kane.load(name)
    assert "<path" in plots.svg(drawings.mechanism(model))
    shown = plots.svg(drawings.tree(model.mechanism))
    assert all(body in shown for body in model.bodies)


def test_counts_are_written_on_their_bars() -> None:
    figure = plots.counts({"ours": {"mul": 12, "add": 34, "div": 1}, "theirs": {"mul": 56, "add": 78}})
    written = {text.get_text() for text in figure.axes[0].texts}
    assert {"13", "34", "56", "78"} <= written


def test_a_residual_says_how_large_it_is() -> None:
    assert "2.0e-12" in titles(plots.residual(T, 2e-12 * T, "drift"))[0]
    energies = plots.energy(T, T, -T, np.zeros(30))
    assert "0.0e+00" in titles(energies)[1]


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.png"):
        plots.save(plots.residual(T, T, "x"), tmp_path / "x.bmp")


def test_names_are_no_mathematics(tmp_path: Path) -> None:
    model = kane.Model("$\\frac$ \x1b[31m")
    for i, name in enumerate(("$\\frac$", "$x^$", "a $ b $ c_{", "\\undefined")):
        model.body(name, mass=1.0, center=(0.5, 0.0, 0.0))
        model.joint(f"$\\pin{i}$", "revolute", parent="ground", child=name, axis="z", coordinates=[f"q{i}"])
    shown = plots.svg(drawings.tree(model.mechanism))
    assert "$\\frac$" in shown and "a $ b $ c_{" in shown
    wxyz, R = np.tile([1.0, 0, 0, 0], (30, 1)), np.tile(np.eye(3), (30, 1, 1))
    assert "$x^$" in plots.svg(plots.attitude(T, wxyz, R, "$x^$"))
    figure = plots.eigenvalues(np.array([1.0 + 2j]), "eigenvalues of $\\frac$ \x1b[31m")
    for ending in ("svg", "png", "pdf"):
        plots.save(figure, tmp_path / f"a.{ending}")
    ElementTree.parse(tmp_path / "a.svg")  # well-formed, although the name is not text
