"""Plots and drawings: labelled with units, drawn without a display, safe inside a page."""

from __future__ import annotations

import pickle
import re
import shutil
import sys
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import numpy as np
import pytest
import sympy
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from PIL import Image
from sympy.physics.mechanics import KanesMethod, Particle, Point, ReferenceFrame, dynamicsymbols

import kane
from kane.api.run_values import unit_of_text
from kane.errors import InputError
from kane.explain.algebra import EFFORT, Symbol
from kane.explain.notation import TEXT
from kane.model.speeds import describe_speeds
from kane.viewer import drawings, films, panels, plots
from kane.viewer.unit_powers import read_unit, write_unit
from kane.viewer.units import coordinate_units, effort_units, speed_units

T = np.linspace(0, 1, 30)


def titles(figure: plots.Picture) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes]


def test_units_follow_the_joints() -> None:
    arm = kane.load("stanford-arm")
    assert coordinate_units(arm.mechanism) == ["rad"] * 5 + ["m"]
    assert speed_units(arm.mechanism) == ["rad/s"] * 5 + ["m/s"]
    assert effort_units(arm.mechanism) == ["N m"] * 5 + ["N"]
    assert effort_units(kane.load("free-body").mechanism) == ["N m"] * 3 + ["N"] * 3


def test_a_chosen_speed_has_the_unit_of_the_rates_that_angles_make_it_of() -> None:
    assert speed_units(kane.load("stanford-arm-kane").mechanism) == ["rad/s"] * 5 + ["m/s"]
    m = kane.load("double-pendulum")
    m.set_speeds({"u1": "q1'", "u2": "q1' + q2'"})
    assert speed_units(m.mechanism) == ["rad/s", "rad/s"]
    for other in ("v.lower.x + v.lower.y", "2*q2'", "L1*q2'"):  # lengths, and numbers that may be some
        m.set_speeds({"u1": "q1'", "u2": f"q2' + {other}"})
        assert speed_units(m.mechanism) == ["rad/s", ""]


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


def test_panels_in_which_nothing_happens_are_left_out_and_named() -> None:
    curves = [plots.Panel("x", T, "m"), plots.Panel("y", 1e-16 * T, "m"), plots.Panel("q", 0 * T, "rad")]
    kept, left_out = panels.leave_out_nothing(curves)
    assert [p.label for p in kept] == ["x"]
    assert left_out == ["y", "q"]
    figure = panels.page_of_panels(T, curves)
    assert titles(figure) == ["x  (m)"]
    assert [text.get_text() for text in figure.texts] == ["zero throughout: y, q"]
    missed = plots.Panel("z", 0 * T, "m", target=0.5)  # it should have moved
    assert panels.leave_out_nothing([*curves, missed])[0] == [curves[0], missed]
    still = [plots.Panel("x", 0 * T, "m"), plots.Panel("y", 0 * T, "m")]
    assert panels.leave_out_nothing(still) == (still, [])
    assert panels.leave_out_nothing(still, alone=False) == ([], ["x", "y"])


def test_efforts_that_are_all_zero_are_drawn_only_where_nothing_else_is() -> None:
    run = kane.load("cart-pole").simulate(0.1)
    efforts = [plots.subscript(f"tau_{name}") for name in run.answers.mechanism.speeds]
    alone, beside = run.plot(what="efforts"), run.plot(what=["q", "efforts"])
    assert [title.partition("  ")[0] for title in titles(alone)] == efforts
    assert titles(beside) == ["q  (rad)"]
    assert [text.get_text() for text in beside.texts] == [f"zero throughout: {', '.join(efforts)}"]


def test_an_expression_that_is_asked_for_is_drawn_though_it_is_zero() -> None:
    run = kane.load("free-body").simulate(1)
    figure = run.plot(what=["efforts", "e0", "tau_wx", "sqrt(v.body.x**2 + v.body.y**2)"])
    assert [title[0] for title in titles(figure)] == ["e", "τ", "s"]


def test_a_moment_that_no_joint_can_carry_is_left_out_though_it_is_drawn_alone() -> None:
    """The joint that places a bicycle turns about all axes in it: what is left of moments of 600 N at wheels is
    rounding, of constraints near a fall too."""
    fell = {"fell": {"expression": "abs(roll) - 1", "terminal": True}}
    run = kane.load("whipple-bicycle").simulate(20, u={"ux": 3.0, "uroll": 0.1}, events=fell)
    figure = run.plot(what="reactions of place")
    assert titles(figure) == ["place: force  (N)"]
    assert [text.get_text() for text in figure.texts] == ["zero throughout: place: moment"]
    moment = np.full((30, 3), 2e-9)
    force = plots.Panel("force", 1000.0 + moment, "N", solved=True)
    shown = [force, plots.Panel("small", moment, "N m", solved=True, cancels=1.0)]
    assert panels.leave_out_nothing(shown) == (shown, [])
    shown[1] = replace(shown[1], cancels=1000.0)
    assert panels.leave_out_nothing(shown) == ([force], ["small"])


@pytest.mark.parametrize("count", [1, 2, 3, 4, 12, 13, 28, 50, 200])
def test_any_number_of_curves_makes_a_page(count: int) -> None:
    figure = panels.panels(T, [plots.Panel(f"q{i}", np.sin(T + i), "rad") for i in range(count)])
    wide, high = figure.get_size_inches()
    assert 6.0 <= wide <= 11.0
    assert 2.0 <= high <= 18.0
    assert len([ax for ax in figure.axes if ax.get_visible()]) == min(count, panels.MOST_PANELS)
    assert any("140 more are not drawn" in text.get_text() for text in figure.texts) == (count == 200)


LONG = [
    "{}_flight_of_the_second_stage_w{}'",
    "{1}_{0}_wheel_of_the_second_carriage",
    "wheel_of_the_second_carriage_{}{}w",
    "{}{}: moment",
]


@pytest.mark.parametrize("count", [3, 14, 30])
@pytest.mark.parametrize("name", LONG)
def test_titles_of_panels_whose_names_begin_or_end_differently_differ(name: str, count: int) -> None:
    labels = [name.format(a, b) for a in ("left", "front") for b in "xyz"]
    shown = [plots.Panel(labels[i % len(labels)], 1e-5 * np.sin(T), "rad/s²") for i in range(count)]
    assert len(set(titles(panels.panels(T, shown))) - {""}) == min(count, len(labels))


def test_no_title_reaches_into_the_next_panel() -> None:
    shown = [plots.Panel("wheel_of_the_left_carriage_w" * 3, 1e-5 * np.sin(T + i), "rad/s²") for i in range(30)]
    figure = panels.panels(T, shown)
    FigureCanvasAgg(figure).draw()
    for left, right in pairwise(figure.axes[:5]):
        title = next(text for text in left.findobj(Text) if "…" in text.get_text())
        assert title.get_window_extent().x1 < right.get_window_extent().x0


def test_every_panel_has_numbers_along_its_axis_of_time() -> None:
    t = np.linspace(0.0, 1.0, 11)
    figure = panels.panels(t, [panels.Panel(f"q{k}", np.sin(k + t)) for k in range(7)])
    FigureCanvasAgg(figure).draw()
    for ax in figure.axes[:7]:
        assert any(label.get_text() and label.get_visible() for label in ax.get_xticklabels())
    assert not overlaps(figure)


def overlaps(figure: plots.Picture) -> list[str]:
    """Legends that lie on the axes in which curves are drawn."""
    FigureCanvasAgg(figure).draw()
    found = []
    for ax in figure.axes:
        legends = [*figure.legends, *([ax.get_legend()] if ax.get_legend() else [])]
        inside = ax.get_window_extent()
        for legend in legends:
            box = legend.get_window_extent()
            if (
                min(box.x1, inside.x1) - max(box.x0, inside.x0) > 1
                and min(box.y1, inside.y1) - max(box.y0, inside.y0) > 1
            ):
                found.append(ax.get_title(loc="left"))
    return found


def test_legends_lie_off_the_curves() -> None:
    three, wxyz, R = np.tile(T[:, None], 3), np.tile([1.0, 0, 0, 0], (30, 1)), np.tile(np.eye(3), (30, 1, 1))
    named = plots.Panel("force", three, "N", names=("x", "y", "z"))
    energy = plots.Panel("energy", three, "J", names=("kinetic", "potential", "total"))
    for figure in (
        plots.momentum(T, three, three),
        plots.momentum_change(T, three, three),
        plots.attitude(T, wxyz, R, "bus"),
        plots.energy(T, T, -T, T),
        plots.counts({"ours": {"mul": 12, "add": 34}}),
        plots.eigenvalues_over(T, cast("Any", np.tile(T[:, None], 2) + 1j), "v"),
        panels.panels(T, [named, named]),
        panels.panels(T, [named, energy, named]),
    ):
        assert not overlaps(figure)


def test_titles_numbers_and_names_of_curves_leave_each_other_room() -> None:
    """In columns of any width, with numbers that are long; none of them needs an offset to be added in one's head."""
    three = np.tile(T[:, None], 3)
    named = [plots.Panel("elbow: moment", three, "N m", names=("x", "y", "z"))]
    energy = [plots.Panel("energy", three, "J", names=("kinetic", "potential", "total"))]
    curves = (-0.3 + 0.002 * T, -0.025 + 0.13 * T, -16.7 - 0.25 * T)
    long = [plots.Panel(f"q{i}", curves[i % 3], "rad") for i in range(15)]
    words = tuple(f"{word} of the {number}" for word in ("place", "speed", "moment") for number in ("first", "last"))
    shared = [plots.Panel("", np.tile(curves[1][:, None], 6), unit, names=words) for unit in ("", "rad")]
    pages = (energy, energy + named, [*energy, *long[:3], *named], [*energy, *long, *named])
    for shown in (*pages, shared[:1], shared, [*energy, *long[:4], *shared], [*shared, *long, *named]):
        figure = panels.panels(T, shown)
        FigureCanvasAgg(figure).draw()
        boxes = []
        for ax in figure.axes[: len(shown)]:
            numbers = [label.get_window_extent() for label in ax.get_yticklabels() if label.get_text()]
            named_by = ax.get_legend()
            legend = [] if named_by is None else [named_by.get_window_extent()]
            boxes += [cast("Any", ax)._left_title.get_window_extent(), ax.get_window_extent(), *legend]
            boxes += [box for box in numbers if ax.bbox.y0 <= (box.y0 + box.y1) / 2 <= ax.bbox.y1]
            assert not ax.yaxis.get_offset_text().get_text()
        inside = figure.bbox
        assert all(b.x0 >= inside.x0 and b.y0 >= inside.y0 and b.x1 <= inside.x1 and b.y1 <= inside.y1 for b in boxes)
        for one, other in combinations(boxes, 2):
            across = min(one.x1, other.x1) - max(one.x0, other.x0)
            assert across <= 1 or min(one.y1, other.y1) - max(one.y0, other.y0) <= 1, "a dot at most"


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("q1", "q₁"),
        ("theta1", "θ₁"),
        ("phi", "φ"),
        ("u_2'", "u₂'"),
        ("tau_u3", "τ_u₃"),
        ("tau_omega", "τ_ω"),
        ("tau_ux", "τ_ux"),  # the column; not x, which may be a coordinate that ux is not the rate of
        ("tau_steer", "τ_steer"),
        ("omega_x", "ω_x"),
        ("roll", "roll"),
        ("pitch2", "pitch2"),
    ],
)
def test_names_are_written_as_in_mathematics(name: str, written: str) -> None:
    assert plots.subscript(name) == written


@pytest.mark.parametrize("speed", ["u1", "ux", "usteer", "omega", "omega_x", "w"])
def test_an_effort_is_named_by_its_speed_alone_and_in_expressions_and_explanations(speed: str) -> None:
    written = plots.subscript(f"tau_{speed}")
    assert written == f"τ_{plots.subscript(speed)}"
    assert plots.set_names(f"tau_{speed}*{speed}") == f"{written}*{plots.subscript(speed)}"
    assert TEXT.symbol(Symbol(f"tau_{speed}", EFFORT, 0)) == written.translate(str.maketrans("₁", "1"))


def test_an_expression_is_drawn_with_its_names_as_written_and_the_unit_of_its_terms(swing: kane.Trajectory) -> None:
    drawn = swing.plot(what=["q1 - pi/2", "abs(tau_u1)", "2*q1"])
    assert titles(drawn) == ["q₁ − π/2  (rad)", "abs(τ_u₁)  (N m)", "2*q₁"]
    assert plots.set_names("theta1' + r.arm1.x - 1e3*tau_u1") == "θ₁' + r.arm1.x − 1e3*τ_u₁"


@pytest.mark.parametrize(
    ("expression", "unit"),
    [
        ("u1**2", "rad²/s²"),
        ("tau_u1*u1", "W"),  # a moment along an angular velocity
        ("tau_u1*q1 - work", "J"),
        ("tau_u1/q1", "N m/rad"),  # stiffness
        ("tau_u1*sin(q1)", "N m"),
        ("1/u1", ""),  # a number may stand for anything
        ("q1/u1", "s"),
        ("q1'*u2'", "rad²/s³"),
        ("sqrt(u1**2 + u2**2)", "rad/s"),
        ("sqrt(u1)", ""),
        ("atan2(q1, q2)", "rad"),
        ("cos(q1)", ""),
        ("m1*q1", ""),  # of a parameter nothing is known
        ("0.5*u1**2", ""),
        ("q1*180/pi", ""),
        ("q1 + u1", ""),
        ("r.arm2.x*u1**2", "m/s²"),  # towards the axis
        ("r.arm2.x*u1 - v.arm2.z", "m/s"),
        ("v.arm2.x**2/r.arm2.x", "m/s²"),
        ("tau_u1/r.arm2.x*v.arm2.x", "W"),  # a force along a velocity
    ],
)
def test_products_have_the_unit_of_their_factors_or_none(expression: str, unit: str, swing: kane.Trajectory) -> None:
    body = list(swing.answers.mechanism.bodies)[-1]
    assert unit_of_text(swing.answers, expression.replace("arm2", body)) == unit


def test_a_number_has_no_unit_though_a_body_is_so_far_away() -> None:
    m = kane.Model("shelf")
    m.body("ball", mass=1)
    m.joint("guide", "prismatic", "ground", "ball", axis="x", at=(0, 0, 2), coordinates=["x"], speeds=["v"])
    answers = m.simulate([0.0, 0.1]).answers
    assert unit_of_text(answers, "r.ball.z") == "m" and unit_of_text(answers, "2*v + 0*r.ball.z") == ""


@pytest.mark.parametrize(
    "unit", ["rad", "m", "rad/s", "m/s", "rad/s²", "m/s²", "N", "N m", "J", "N rad", "s", "N/(m s)"]
)
def test_units_are_written_as_they_are_read(unit: str) -> None:
    assert write_unit(read_unit(unit)) == unit


def test_a_reaction_of_an_auxiliary_speed_is_drawn_as_a_curve() -> None:
    """A bob on a string, let go at rest from a: its tension is m g (3 cos q - 2 cos a)."""
    q, u, ua, tension, t = *dynamicsymbols("q u ua"), sympy.Symbol("T"), sympy.Symbol("t")
    g, mass, length, start = 9.81, 2.0, 0.5, 1.0
    N = ReferenceFrame("N")
    A = N.orientnew("A", "Axis", [q, N.z])
    A.set_ang_vel(N, u * N.z)
    O = Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", -length * A.y)
    P.set_vel(N, length * u * A.x + ua * A.y)
    loads = [(P, -mass * g * N.y), (P, tension * A.y)]
    bob = Particle("bob", P, mass)
    method = KanesMethod(N, [q], [u], [q.diff(t) - u], u_auxiliary=[ua], bodies=[bob], forcelist=loads)
    run = kane.from_sympy(method, initial={"q": start}).simulate(np.linspace(0, 1.5, 31))
    for what in ("reactions", "T"):
        (line,) = run.plot(what=what).axes[0].get_lines()
        times, drawn = (np.asarray(x, dtype=float) for x in line.get_data())
        exact = mass * g * (3 * np.cos(run.resample(times)["q"]) - 2 * np.cos(start))
        assert len(times) >= 400 and np.abs(drawn - exact).max() < 5e-3 * np.ptp(exact)  # of cubics over 0.05 s


@pytest.fixture
def swing() -> kane.Trajectory:
    return kane.load("double-pendulum").simulate(np.linspace(0, 0.4, 41), q={"q1": 1.0}, control={"u1": "-u1"})


@pytest.mark.parametrize("model", ["double-pendulum", "bouncing-ball"])
def test_efforts_of_a_law_are_the_curves_that_its_expression_is(model: str) -> None:
    m = kane.load(model)
    q, u = m.coordinates[0], m.speeds[0]
    run = m.simulate(1, control={u: f"-2*{q} - {u}"}, tau={u: 0.5}, q={q: 1.0})
    figure = run.plot(what=[f"tau_{u}", f"0.5 - 2*{q} - {u}"])
    one, other = (np.asarray(ax.lines[0].get_ydata(), dtype=float) for ax in figure.axes)
    assert len(one) > 300 and np.allclose(one, other, rtol=1e-12, atol=1e-12)
    group = run.plot(what="efforts")
    assert np.array_equal(group.axes[0].lines[0].get_ydata(), one)
    assert np.all(np.isin(run[f"tau_{u}"], one)), "through all samples, two at the time of an impact"
    assert pickle.loads(pickle.dumps(run)).plot(what="efforts").axes[0].lines[0].get_ydata().tolist() == one.tolist()


def at_rows(line: Any, run: kane.Trajectory) -> Any:
    """What is drawn at the times of a motion, through which all curves go."""
    rows = np.searchsorted(line.get_xdata(), run.t)
    assert np.array_equal(line.get_xdata()[rows], run.t)
    return line.get_ydata()[rows]


def test_a_run_draws_what_it_is_asked_for(swing: kane.Trajectory, tmp_path: Path) -> None:
    assert titles(swing.plot()) == ["q₁  (rad)", "q₂  (rad)"]
    assert titles(swing.plot(what="speeds")) == ["u₁  (rad/s)", "u₂  (rad/s)"]
    assert titles(swing.plot(what="efforts")) == ["τ_u₁  (N m)"]
    drawn = swing.plot(tmp_path / "x.svg", ["energy", "q1 + q2", "tau_u1", "u2'"])
    work = "work of all but gravity  (J)"
    assert titles(drawn)[:5] == ["energy  (J)", work, "q₁ + q₂  (rad)", "τ_u₁  (N m)", "u₂'  (rad/s²)"]
    assert np.array_equal(at_rows(drawn.axes[2].lines[0], swing), swing["q1"] + swing["q2"])
    assert titles(swing.plot(what=["q2", "energy", "q1"])) == ["q₂  (rad)", "energy  (J)", work, "q₁  (rad)"]
    forces = swing.plot(what="reactions")
    assert titles(forces)[0] == "shoulder: force  (N)"
    drawn = forces.axes[titles(forces).index("elbow: force  (N)")].lines[1]
    assert np.array_equal(at_rows(drawn, swing), swing.reactions()["elbow"].force[:, 1])
    ElementTree.parse(tmp_path / "x.svg")


def test_curves_of_one_list_share_a_panel_and_its_unit(swing: kane.Trajectory) -> None:
    figure = swing.plot(what=[("q1", "q1 + q2"), "u1", ["q1", "-q1"], ["energy"]])
    assert titles(figure) == ["(rad)", "u₁  (rad/s)", "(rad)", "(J)"]
    shared = figure.axes[0]
    assert [line.get_label() for line in shared.lines] == ["q₁", "q₁ + q₂"] == names_of_curves(shared)
    for line, expected in zip(shared.lines, (swing["q1"], swing["q1"] + swing["q2"]), strict=True):
        assert np.array_equal(at_rows(line, swing), expected)
    assert len({line.get_color() for line in shared.lines}) == 2
    assert len(figure.axes[3].lines) == 4 and not overlaps(figure)


def test_a_curve_without_a_known_unit_gives_none_to_those_that_share_its_panel(swing: kane.Trajectory) -> None:
    (ax,) = swing.plot(what=[("q1", "q2*180/pi")]).axes
    assert ax.get_title(loc="left") == "" and names_of_curves(ax) == ["q₁ (rad)", "q₂*180/π"]


def test_curves_of_different_units_share_no_axis(swing: kane.Trajectory) -> None:
    with pytest.raises(InputError, match=r"q₁ in rad, u₁ in rad/s\n    because an axis has one unit"):
        swing.plot(what=[("q1", "u1")])


def names_of_curves(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_figure_shows_itself_in_a_notebook_without_pyplot(swing: kane.Trajectory) -> None:
    assert swing.plot()._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("what", ["sped", "q9", [], 3, [3], ["q1 +"], [[]], [["q9"]], [[3]], [["q1"] * 25]])
def test_what_cannot_be_drawn_is_refused(what: Any, swing: kane.Trajectory) -> None:
    with pytest.raises(kane.KaneError):
        swing.plot(what=what)


def test_a_film_shows_the_motion_frame_by_frame(swing: kane.Trajectory, tmp_path: Path) -> None:
    path = swing.animate(tmp_path / "swing.gif", frames_per_second=10, speed=0.5)
    with cast("Any", Image.open(path)) as film:
        assert film.n_frames == 9  # 0.4 s at half speed
        assert film.info["duration"] == 100
        pictures = []
        for k in range(film.n_frames):
            film.seek(k)
            pictures.append(np.asarray(film.convert("L"), dtype=float))
    assert all(np.abs(a - b).max() > 50 for a, b in pairwise(pictures))
    assert pictures[0].min() < 100 < 250 < pictures[0].max()


def test_a_film_follows_what_travels_and_keeps_its_size() -> None:
    """A wheel of 0.3 m that rolls for 60 m is not a dot, and the lines of the ground pass by."""
    m = kane.load("rolling-disc").mechanism
    k = 4
    poses = np.zeros((k, len(m.bodies), 12))
    poses[..., [0, 4, 8]] = 1.0
    poses[..., 9] = np.linspace(0, 60, k)[:, None] + 0.13 * np.arange(k)[:, None]
    shown = list(films.frames(films.Film(m, np.linspace(0.0, 3.0, k), poses, 1.0)))
    colored = [(np.ptp(picture.astype(int), axis=2) > 40).mean() for picture in shown]
    assert min(colored) > 0.02 and np.ptp(colored) < 0.01
    assert any((shown[0][:-40] != picture[:-40]).any() for picture in shown[1:])


def test_a_film_that_cannot_be_made_is_refused_with_a_remedy(
    swing: kane.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(InputError, match=r"ffmpeg, which is not installed(.|\n)*\.gif"):
        swing.animate(tmp_path / "swing.mp4")
    for name, options in (("x.png", {}), ("x.gif", {"speed": 0}), ("x.gif", {"speed": 1e-3})):
        with pytest.raises(InputError):
            swing.animate(tmp_path / name, **options)
    assert not list(tmp_path.iterdir())


def test_an_mp4_goes_through_ffmpeg_whole(
    swing: kane.Trajectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for ffmpeg that writes what it was called with and how many bytes it was given."""
    tool = tmp_path / "ffmpeg"
    tool.write_text(f"#!{sys.executable}\nimport sys\nprint(*sys.argv[1:], len(sys.stdin.buffer.read()))\n")
    tool.chmod(0o755)
    monkeypatch.setattr(shutil, "which", lambda _: str(tool))
    words = swing.animate(tmp_path / "x.mp4", frames_per_second=5).read_text().split()
    wide, high = (int(x) for x in words[words.index("-s") + 1].split("x"))
    assert wide % 2 == high % 2 == 0
    assert int(words[-1]) == 3 * wide * high * 3  # three frames of three bytes
    tool.write_text(f"#!{sys.executable}\nimport sys\nsys.exit('no codec')\n")
    with pytest.raises(InputError, match="refused the film: no codec"):
        swing.animate(tmp_path / "y.mp4", frames_per_second=5)


def test_speeds_are_described_in_words_of_the_field() -> None:
    assert list(describe_speeds(kane.load("free-body").mechanism).values())[:4] == [
        "w.body.x",
        "w.body.y",
        "w.body.z",
        "v.body.x",
    ]
    m = kane.load("free-body")
    m.body("arm", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    m.joint("ball", "spherical", "body", "arm", speeds=["a", "b", "c"])
    m.set_speeds({**{s: f"{s}'" for s in m.speeds if s != "a"}, "a": "a' + 2*b'"})
    words = describe_speeds(m.mechanism)
    assert words["b"] == "w.arm.y in body"
    assert words["a"] == "(w.arm.x in body + (2 * w.arm.y in body))"
    assert describe_speeds(kane.load("pendulum").mechanism) == {"u": "q'"}


def test_the_velocity_of_a_planar_joint_is_described_by_the_body_it_is_of() -> None:
    """Words are definitions: a twin that takes them has the same rates."""
    m = kane.load("whipple-bicycle")
    words = describe_speeds(m.mechanism)
    assert [words[name] for name in ("ux", "uy", "uyaw")] == ["v.heading.x", "v.heading.y", "yaw'"]
    twin = kane.load("chaplygin-sleigh")
    twin.set_speeds(describe_speeds(twin.mechanism))
    q, u = np.array([0.1, 0.2, 0.7]), np.array([0.3, -0.4, 0.5])
    np.testing.assert_allclose(twin.qdot(q, u), kane.load("chaplygin-sleigh").qdot(q, u), rtol=1e-12)


def test_the_words_mean_what_measure_numbers_mean() -> None:
    """w.body.x in a definition of the user's own is the same quantity."""
    m = kane.load("free-body")
    words = describe_speeds(m.mechanism)
    twin = kane.load("free-body")
    twin.set_speeds(dict(words))
    q, u = m.initial_state
    q = q + 0.1 * np.arange(7)
    q[:4] /= np.linalg.norm(q[:4])
    np.testing.assert_allclose(twin.qdot(q, u + 0.3), m.qdot(q, u + 0.3), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("size", [1.0, 3e-7, 4e8])
def test_titles_stay_inside_the_picture_whatever_the_size_of_the_curves(size: float) -> None:
    figure = plots.panels(T, [plots.Panel(f"x{i}", size * T, "m") for i in range(5)])
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    for ax in figure.axes:
        title = cast("Any", ax)._left_title.get_window_extent()
        assert title.y1 <= figure.bbox.y1 and title.y0 > ax.bbox.y1


def test_an_attitude_is_drawn_as_the_turn_that_was_made() -> None:
    model = kane.Model("craft")
    model.body("bus", mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
    model.joint("flight", "free", "ground", "bus")
    run = model.simulate(np.linspace(0.0, 2.0, 5), u={"u_flight_wz": 1.5})
    quaternion, angles, turned = run.plot(what="attitude").axes
    lines = (*angles.get_lines(), *turned.get_lines())
    sampled = np.isin(np.asarray(lines[0].get_xdata(), dtype=float), run.t)  # between them curves are drawn
    shown = [np.asarray(line.get_ydata(), dtype=float)[sampled] for line in lines]
    degrees = 1e-6  # the motion is integrated to 1e-8
    assert shown[0] == pytest.approx(np.degrees(1.5 * run.t), abs=degrees)
    assert np.abs(shown[1:3]).max() < degrees
    assert shown[3] == pytest.approx(np.degrees(1.5 * run.t), abs=degrees)
    assert [line.get_label() for line in quaternion.get_lines()] == ["w", "x", "y", "z"]
    with pytest.raises(kane.InputError, match="'pendulum' has none"):
        kane.load("pendulum").simulate(0.1).plot(what="attitude")


@pytest.mark.parametrize("count", [2, 13])
def test_labels_lie_apart_from_names_of_curves_and_inside_the_picture(count: int) -> None:
    t = np.linspace(0.0, 6000.0, 9)
    curves = np.column_stack([t, 2 * t, 3 * t])
    shown = [plots.Panel("energy", curves, "J", names=("kinetic", "potential", "total"))]
    figure = plots.panels(t, [*shown, *(plots.Panel(f"u{k}", t, "rad/s") for k in range(count - 1))])
    figure.canvas.draw()
    axes = figure.axes[0]
    legend = axes.get_legend()
    label = next(x for x in axes.findobj(Text) if x.get_text() == "energy  (10⁴ J)")
    assert legend is not None
    assert not label.get_window_extent().overlaps(legend.get_window_extent())
    assert label.get_window_extent().y1 < figure.bbox.y1
    numbers = [x.get_window_extent().x1 for ax in figure.axes if ax.get_visible() for x in ax.get_xticklabels()]
    assert max(numbers) < figure.bbox.x1


def test_powers_of_ten_are_said_with_the_unit() -> None:
    """Numbers of the axis times the power are the values, and nothing stands between the title and the axes."""
    curves = (3e10 * T, 2e-7 * T, 40.0 * T)
    figure = panels.panels(T, [plots.Panel("x", curve, "J") for curve in curves])
    FigureCanvasAgg(figure).draw()
    assert titles(figure) == ["x  (10¹⁰ J)", "x  (10⁻⁷ J)", "x  (J)"]
    for ax, power in zip(figure.axes, (1e10, 1e-7, 1.0), strict=True):
        assert not ax.yaxis.get_offset_text().get_visible() or not ax.yaxis.get_offset_text().get_text()
        for place, label in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True):
            assert float(label.get_text().replace("−", "-")) * power == pytest.approx(
                place, rel=1e-6, abs=1e-12 * power
            )


def test_a_curve_that_varies_little_is_drawn_as_what_it_is_more_than_a_round_value() -> None:
    values = 100.2 + 3e-4 * np.sin(5 * T)
    (ax,) = panels.panels(T, [plots.Panel("x", values, "m")]).axes
    taken = re.fullmatch(r"x − (\S+)  \((?:10\S+ )?m\)", ax.get_title(loc="left"))
    assert taken
    np.testing.assert_allclose(np.asarray(ax.lines[0].get_ydata()) + float(taken[1]), values, rtol=1e-15)
    assert np.abs(ax.lines[0].get_ydata()).max() < 1e-2


@pytest.mark.parametrize("count", [3, 20])
def test_titles_that_are_cut_keep_what_is_drawn(count: int) -> None:
    long = [plots.Panel("left front suspension of the trailer: moment", T, "N m", names=("x",)) for _ in range(count)]
    assert all(": moment  (" in title and "…" in title for title in titles(panels.panels(T, long)))


def test_reactions_that_are_rounding_are_not_drawn() -> None:
    """A free joint exerts nothing: what is left of its force is rounding beside the 4 N of a gimbal."""
    run = kane.load("satellite-with-panels").simulate(np.linspace(0.0, 5.0, 21), control="detumble")
    force = run.reactions()["orbit"].force
    assert force is not None and np.any(force != 0.0) and np.abs(force).max() < 1e-9
    figure = run.plot(what="reactions")
    assert not any(title.startswith("orbit") for title in titles(figure))
    assert any("orbit: force" in text.get_text() for text in figure.texts)


def test_a_group_that_a_model_has_not_is_not_offered_again() -> None:
    with pytest.raises(InputError, match="free or spherical joints") as told:
        kane.load("pendulum").simulate(1.0).plot(what="attitude")
    assert "attitude" not in str(told.value).partition("fix:")[2]


def test_yaw_and_roll_have_no_line_over_the_pole() -> None:
    """A body that turns about y alone: its pitch rises to 90° and falls again, where yaw and roll are other ones."""
    angle = np.linspace(0.01, 4 * np.pi, 400)
    c, s, zero = np.cos(angle), np.sin(angle), 0 * angle
    R = np.stack([np.stack(row, axis=-1) for row in ((c, zero, s), (zero, zero + 1, zero), (-s, zero, c))], axis=1)
    yaw, pitch, roll = plots.yaw_pitch_roll(R).T
    assert np.count_nonzero(np.isnan(yaw)) == np.count_nonzero(np.isnan(roll)) == 4  # twice in each turn
    np.testing.assert_allclose(pitch, np.degrees(np.arcsin(np.sin(angle))), atol=1e-9)
    for curve in (yaw, roll):
        step = np.abs(np.diff(curve))
        assert np.nanmax(step) < 1e-9


def test_angles_beyond_a_turn_are_drawn_in_turns_apart_from_those_within_one() -> None:
    """A body that turns ten times about z, with a roll of 5°: no curve jumps, and the roll is seen."""
    t, yaw, roll = np.linspace(0, 1, 401), 20 * np.pi * np.linspace(0, 1, 401), np.radians(5.0)
    (c, s), (cr, sr), zero = (np.cos(yaw), np.sin(yaw)), (np.cos(roll), np.sin(roll)), 0 * yaw
    rows = ((c, -s * cr, s * sr), (s, c * cr, -c * sr), (zero, zero + sr, zero + cr))
    R = np.stack([np.stack(row, -1) for row in rows], 1)
    wxyz = np.stack([np.cos(yaw / 2), zero, zero, np.sin(yaw / 2)], -1)
    figure = plots.attitude(t, wxyz, R, "bus")
    assert titles(figure)[:3] == ["quaternion of bus", "bus  (°)", "bus  (turns)"]
    within, beyond = figure.axes[1:3]
    assert names_of_curves(within) == ["pitch", "roll"] and names_of_curves(beyond) == ["yaw"]
    np.testing.assert_allclose(np.asarray(within.lines[1].get_ydata()), 5.0, atol=1e-9)
    np.testing.assert_allclose(np.asarray(beyond.lines[0].get_ydata()), 10.0 * t, atol=1e-9)


def test_strokes_of_a_curve_that_swings_often_leave_room_between_them() -> None:
    """Ripples that are less than a stroke is wide, rounding say, are no swings."""
    t = np.linspace(0, 1, 4001)
    slow, fast = (np.sin(2 * np.pi * k * t) for k in (2, 80))
    rippled = plots.Panel("y", np.column_stack([slow, 1e-3 * fast]), names=("a", "b"))
    figure = plots.panels(t, [plots.Panel("x", fast), rippled])
    FigureCanvasAgg(figure).draw()
    swinging, *calm = (line.get_linewidth() for ax in figure.axes for line in ax.lines)
    apart = 72.0 / figure.dpi * figure.axes[0].bbox.width / 160  # points between two strokes
    assert calm == [plots.STYLE["lines.linewidth"]] * 2 and swinging < 0.6 * apart


def test_the_reactions_of_one_joint_are_drawn_by_its_name() -> None:
    """The upper hinge of a pendulum at rest carries the weight; what is rounding there is left out."""
    run = kane.load("double-pendulum").simulate(1.0, q={"q1": 0.0, "q2": 0.0})
    (axes,) = run.plot(what="reactions of shoulder").axes
    assert axes.get_title(loc="left") == "shoulder: force  (N)"
    upward = next(line for line in axes.lines if line.get_label() == "y")
    assert np.asarray(upward.get_ydata()) == pytest.approx(2 * 9.81)
    with pytest.raises(kane.InputError, match=r"no reactions of 'shoulde'.*\n.*did you mean 'shoulder'"):
        run.plot(what="reactions of shoulde")
    bicycle = kane.load("whipple-bicycle").simulate(0.1)
    with pytest.raises(kane.InputError, match="'front' is a joint and a constraint"):
        bicycle.plot(what="reactions of front")
