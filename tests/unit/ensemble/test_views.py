"""Tables, datasets, rankings and pictures of an ensemble show what its members did."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.backends.backend_agg import FigureCanvasAgg

import kane
from kane.api.ensemble_pictures import cell_means, count_cells, label_of, make_cells, two_to_map
from kane.api.ensemble_sobol import share_text
from kane.api.ensemble_views import column
from kane.errors import InputError
from kane.viewer import ensembles

END, COUNT = 2.0, 256


def sliding(t: Any = END, **options: Any) -> Any:
    """Masses that slide freely from q with u: at the end they are at q + u END."""
    m = kane.Model("slider")
    m.parameter("m", 1.0)
    m.body("block", mass="m")
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    asked: dict[str, Any] = {"q": {"x": "uniform(-1, 1)"}, "u": {"v": "uniform(-1, 1)"}, **options}
    return m.ensemble(t, n=COUNT, seed=5, parameters={"m": "uniform(-0.1, 1)"}, events={"zero": "x"}, **asked)


def test_a_dataset_has_members_times_and_units() -> None:
    t = np.linspace(0.0, END, 5)
    found = sliding(t, watch={"double": "2*x"})
    data = found.to_xarray()
    assert data["x"].dims == ("member", "time") and data["x"].attrs == {"units": "m"}
    assert data["end_v"].attrs == {"units": "m/s"} and data["first_zero"].attrs == {"units": "s"}
    expected = data["start_x"].values[:, None] + np.outer(data["start_v"].values, t)
    good = found.success
    assert np.allclose(data["x"].values[good], expected[good], atol=1e-9)
    assert np.isnan(data["x"].values[~good]).all() and 0 < np.count_nonzero(~good) < COUNT / 4
    assert np.allclose(data["mean_double"], 2 * expected[good].mean(axis=0), atol=1e-9)
    both = [np.cov(expected[good, j], 2 * expected[good, j])[0, 1] for j in range(len(t))]
    assert np.allclose(data["covariance"].sel(watched="x", **{"with": "double"}), both, atol=1e-9)
    width = 4 * 3.0 / 500  # of a bin, of a range of 12 m at most
    middle = np.quantile(2 * expected[good], 0.5, axis=0)
    assert np.allclose(data["quantile_double"].sel(quantile=0.5), middle, atol=width)


def test_rank_correlation_finds_what_matters() -> None:
    ranks = sliding().sensitivity("end_x")
    assert next(iter(ranks)) == "v" and list(ranks)[-1] == "m"  # the distance is u END, twice as wide as q
    assert np.abs(ranks["m"]).max() < 4 / np.sqrt(COUNT)  # four standard deviations of nothing


def test_what_matters_whichever_side_it_is_on_is_found() -> None:
    """The energy of a block is that of its speed, whichever way it goes."""
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    found = m.ensemble(1.0, n=COUNT, seed=1, q={"x": "uniform(-1, 1)"}, u={"v": "normal(0, 1)"}, watch={"e": "v**2"})
    ranks = found.sensitivity("high_e")
    assert next(iter(ranks)) == "v" and abs(ranks["v"][0]) < 4 / np.sqrt(COUNT) < 0.95 < ranks["v"][1]
    assert two_to_map(found, "high_e") == ("v", "x")


def test_what_no_member_has_matters_for_nothing() -> None:
    m = kane.load("double-pendulum")
    found = m.ensemble(0.1, n=50, q={"q1": "uniform(0, 1)"}, events={"never": "q2 - 50"})
    assert np.isnan(found.sensitivity("first_never")["q1"]).all()
    assert found.plot(kind="sensitivity", result="end_q1").axes


def test_indices_of_a_sum_are_shares_of_its_variance() -> None:
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    found = m.ensemble(END, n=8, q={"x": "uniform(-1, 1)"}, u={"v": "uniform(-1, 1)"})
    indices = found.sobol("end_x", n=1024)
    shares = {"x": 1 / (1 + END**2), "v": END**2 / (1 + END**2)}
    for name, index in indices.items():
        assert index.first == pytest.approx(shares[name], abs=0.02)  # 1024 points of Sobol's sequence
        assert index.total == pytest.approx(shares[name], abs=0.02)
        assert index.members == 4 * 1024


def resting(*names: str) -> Any:
    """Blocks on guides along one line, which stay where they are."""
    m = kane.Model("blocks")
    for name in names:
        m.body(name, mass=1)
        m.joint(f"guide {name}", "prismatic", "ground", name, axis="x", coordinates=[name], speeds=[f"v{name}"])
    return m


def test_intervals_of_indices_hold_those_of_ishigami_and_halve_with_four_times_the_members() -> None:
    """f = sin x + a sin² y + b z⁴ sin x of three angles, uniform from -π to π, has the variances a²/8 by y,
    (1 + b π⁴/5)²/2 by x and 8 b² π⁸/225 by x and z together (Ishigami and Homma, 1990)."""
    a, b, seeds = 7.0, 0.1, 8
    alone = np.array([0.5 * (1 + b * np.pi**4 / 5) ** 2, a**2 / 8, 0.0])
    both = 8 * b**2 * np.pi**8 / 225
    exact = np.array([alone, alone + np.array([both, 0.0, both])]) / (alone.sum() + both)
    given = dict.fromkeys("xyz", "uniform(-pi, pi)")
    m, watch = resting(*"xyz"), {"f": f"sin(x) + {a}*sin(y)**2 + {b}*z**4*sin(x)"}
    held, widths = 0, {256: 0.0, 1024: 0.0}
    for seed in range(seeds):
        found = m.ensemble(0.1, n=4, seed=seed, q=given, watch=watch)
        for n in widths:
            made = found.sobol("end_f", n).values()
            known = np.array([[x.first_interval for x in made], [x.total_interval for x in made]])
            held += np.count_nonzero((known[..., 0] <= exact) & (exact <= known[..., 1]))
            widths[n] += float(np.ptp(known, axis=2).sum())
            assert all(x.first_interval[0] < x.first < x.first_interval[1] for x in made)
    assert held >= 0.93 * 2 * 6 * seeds  # 95 % by chance; points of Sobol's sequence are more even than chance
    assert widths[256] / widths[1024] == pytest.approx(2.0, abs=0.2)


def test_pictures_and_figures_of_indices_say_how_well_they_are_known() -> None:
    found = resting("x", "y").ensemble(0.1, n=4, q=dict.fromkeys("xy", "uniform(0, 1)"), watch={"f": "x + 2*y"})
    index = found.sobol("end_f")["y"]
    low, high = index.first_interval
    assert low < 4 / 5 < high and str(index).startswith(f"{index.first:.3f} ({low:.3f} to {high:.3f}) alone, ")
    assert str(index).endswith("by 4096 members")
    ax = found.plot(kind="sobol", result="end_f").axes[0]
    assert ax.get_xlabel().endswith("by 4096 members") and [x.get_text() for x in ax.get_yticklabels()] == [
        "y at the start",
        "x at the start",
    ]
    assert any(text.get_text() == f"{index.first:.2f}  ({low:.2f} to {high:.2f})" for text in ax.texts)


def test_what_differs_has_one_name_in_rankings_indices_and_maps() -> None:
    found = resting("x", "y").ensemble(0.1, n=16, q=dict.fromkeys("xy", "uniform(0, 1)"), watch={"f": "x + 2*y"})
    assert set(found.sensitivity("end_f")) == set(found.sobol("end_f", 8)) == set(found.numbers) == {"x", "y"}
    drawn = [found.plot(kind="map", result="end_f", over=over).axes[0] for over in (("x", "y"), ("start_x", "y"))]
    assert {ax.get_xlabel() for ax in drawn} == {"x at the start  (m)"}


def test_one_number_alone_explains_all_of_a_variance() -> None:
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    (index,) = m.ensemble(END, n=8, q={"x": "uniform(-1, 1)"}).sobol("end_x", n=1024).values()
    assert index.first == pytest.approx(1.0, abs=0.02) and index.total == pytest.approx(1.0, abs=0.02)  # as above


@pytest.mark.parametrize("kind", ["scatter", "histogram", "sensitivity"])
def test_pictures_are_drawn(kind: str, tmp_path: Path) -> None:
    sliding().plot(tmp_path / f"{kind}.png", kind)
    assert (tmp_path / f"{kind}.png").read_bytes().startswith(b"\x89PNG")


def test_a_fan_is_drawn_of_what_is_watched_over_time(tmp_path: Path) -> None:
    sliding(np.linspace(0.0, END, 9)).plot(tmp_path / "fan.svg", "fan")
    assert "half of the members" in (tmp_path / "fan.svg").read_text()
    with pytest.raises(InputError, match="give times as an array"):
        sliding().plot(tmp_path / "no.png", "fan")


def test_a_fan_leaves_out_what_is_rounding_and_names_it() -> None:
    """Blocks in a plane that are pushed along x stay on it."""
    m = kane.Model("puck")
    m.body("puck", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("table", "planar", "ground", "puck", coordinates=["x", "y", "q"], speeds=["v", "w", "u"])
    found = m.ensemble(np.linspace(0.0, END, 5), n=8, u={"v": "uniform(1, 2)", "w": 1e-32})
    figure = found.plot(kind="fan")
    assert [ax.get_title("left") for ax in figure.axes if ax.get_visible()] == ["x  (m)", "v  (m/s)"]
    assert figure.legends[0].get_title().get_text() == "zero throughout: y, q, w, u"
    assert found.plot(kind="fan", result="w").axes[0].get_title("left").startswith("w")  # asked for by its name


def test_members_without_a_result_are_strokes_below_the_axis_and_counted() -> None:
    """Of 40 000 blocks one in a thousand comes to zero: all of these are drawn, and no other is mistaken for one."""
    x, v = np.tile(np.linspace(0.5, 1.0, 1000), 40), np.full(40_000, np.nan)
    v[::1000] = 2.0
    good = np.arange(40_000) != 7
    figure = ensembles.scatter([(ensembles.Label("x"), x)], v, good, ensembles.Label("first_zero", "s"))
    ax, (legend,) = figure.axes[0], figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["members: 40 (0.1 %)", "without first 'zero': 39959 (99.9 %)", "failed: 1 (0.0025 %)"]
    dots, strokes = cast("list[Any]", ax.collections)[:2]
    assert len(dots.get_offsets()) == 40 and len(strokes.get_segments()) <= ensembles.MOST_DOTS
    tops = ax.get_xaxis_transform().transform([segment[1] for segment in strokes.get_segments()])[:, 1]
    (lowest,) = {round(y, 6) for y in ax.transData.transform(dots.get_offsets())[:, 1]}
    assert tops.max() < lowest and strokes.get_linewidths()[0] < 1.0
    assert min(ax.get_yticks()) >= 2.0 - 0.05  # the strip has no numbers


def test_a_fan_too_narrow_to_be_seen_is_drawn_about_its_median_too() -> None:
    """Pendulums that start within 0.005 rad, and within 1 rad, which need no second plot."""
    m, t = kane.load("pendulum"), np.linspace(0, 1, 21)
    narrow = m.ensemble(t, n=40, q={"q": np.linspace(1.0, 1.005, 40)}).plot(kind="fan", result="q")
    assert [ax.get_title("left") for ax in narrow.axes] == ["q  (rad)", "q − its median  (10⁻³ rad)"]
    low, high = (np.asarray(narrow.axes[1].lines[k].get_ydata()) for k in (1, 2))
    assert high[0] - low[0] == pytest.approx(0.005, rel=1e-9)
    assert np.abs(np.asarray(narrow.axes[1].lines[0].get_ydata())).max() == 0.0
    wide = m.ensemble(t, n=40, q={"q": np.linspace(0.5, 1.5, 40)}).plot(kind="fan", result="q")
    assert [ax.get_title("left") for ax in wide.axes] == ["q  (rad)"]


def test_a_fan_by_itself_is_three_to_two_and_several_share_a_row() -> None:
    found = sliding(np.linspace(0.0, END, 9))
    wide, high = found.plot(kind="fan", result="x").get_size_inches()
    assert wide / high == pytest.approx(1.5, abs=0.05)
    assert found.plot(kind="fan").get_size_inches()[1] < 0.5 * high  # x and v beside one another


def test_a_histogram_leaves_out_how_members_ended_where_all_did_so_alike() -> None:
    m = kane.load("pendulum")
    alike = m.ensemble(0.1, n=20, q={"q": "uniform(-1, 1)"}).plot(kind="histogram", result="end_q")
    assert len(alike.axes) == 1 and "20 reached the end" in alike.get_suptitle()
    several = sliding().plot(kind="histogram", result="end_x")  # some have no mass that can be
    assert [ax.get_title(loc="left") for ax in several.axes][1:] == ["how members ended"]


def test_what_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    found = sliding()
    with pytest.raises(InputError, match="there are fan, histogram, map, scatter, sensitivity, sobol"):
        found.plot(tmp_path / "no.png", "pie")
    with pytest.raises(InputError, match=r"result = 'heigth': no such column\n    fix: known: start_x"):
        found.plot(tmp_path / "no.png", "histogram", "heigth")
    with pytest.raises(InputError, match=r"result = 'edn_x': no such column\n    fix: did you mean 'end_x'\?"):
        found.sensitivity("edn_x")
    with pytest.raises(InputError, match=r"sobol: \d+ of \d+ members have no first_zero"):
        found.sobol("first_zero", n=8)
    assert not list(tmp_path.iterdir())


def test_cells_of_a_map_are_the_places_of_a_grid() -> None:
    x, y = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, 7), np.linspace(2, 4, 5)))
    shuffled = np.random.default_rng(1).permutation(len(x))
    values = (3 * x - 2 * y)[shuffled]
    values[0] = np.nan
    across, up = make_cells(x[shuffled]), make_cells(y[shuffled])
    columns, rows, means = across.middles, up.middles, cell_means(across, up, values)
    expected = 3 * columns[None, :] - 2 * rows[:, None]
    assert means.shape == (5, 7) and np.isnan(means).sum() == 1
    assert np.nanmax(np.abs(means - expected)) < 1e-12


def test_cells_of_a_map_have_the_means_of_what_is_drawn() -> None:
    """A linear function of uniform numbers: the mean of a cell is its value at the mean place of its members."""
    x, y = np.random.default_rng(2).uniform(size=(2, 4000))
    across, up = make_cells(x), make_cells(y)
    columns, rows, means = across.middles, up.middles, cell_means(across, up, x + 10 * y)
    width = columns[1] - columns[0]
    assert np.abs(means - (columns[None, :] + 10 * rows[:, None])).max() < 0.5 * 11 * width
    assert np.isfinite(means).all() and len(rows) == len(columns) < 80


def test_a_map_is_over_what_matters_most(tmp_path: Path) -> None:
    """A speed that follows another one is no second direction."""
    m = kane.load("pendulum")
    q, u = m.coordinates[0], m.speeds[0]
    drawn = m.ensemble(0.1, n=64, q={q: "uniform(-1, 1)"}, u={u: "uniform(-1, 1)"}, seed=1)
    drawn.plot(tmp_path / "map.png", "map", f"end_{q}")
    assert (tmp_path / "map.png").stat().st_size > 1000
    x = np.linspace(-1, 1, 8)
    for same in (m.ensemble(0.1, q={q: x}), m.ensemble(0.1, q={q: x}, u={u: 2 * x})):
        with pytest.raises(InputError, match="a map has two things that differ"):
            same.plot(tmp_path / "none.png", "map", f"end_{q}")


@pytest.mark.parametrize(("value", "word"), [(3.0, "E: 3 everywhere"), (0.0, "E: 0 everywhere")])
def test_a_map_of_a_constant_makes_no_landscape_of_its_rounding(value: float, word: str) -> None:
    x = np.linspace(0.0, 1.0, 6)
    rounding = 1e-15 * np.random.default_rng(1).normal(size=(6, 6))
    figure = ensembles.map_over(x, x, value + rounding, ("a", "b", "E"))
    (ax,) = figure.axes  # and no bar of colours
    assert ax.get_title("left").startswith(word)
    mesh: Any = ax.collections[0]
    assert len({tuple(c) for c in np.round(mesh.to_rgba(mesh.get_array()).reshape(-1, 4), 9)}) == 1
    assert len(ensembles.map_over(x, x, value + 1e9 * rounding, ("a", "b", "E")).axes) == 2


def test_a_map_says_which_cells_have_no_member_no_result_or_few() -> None:
    """Cells (2, 3): two without members, one whose three members have no result, one with two of five results."""
    counts = ensembles.CellCounts(np.array([[0, 3, 9], [5, 0, 9]]), np.array([[0, 0, 9], [2, 0, 8]]))
    means = np.where(counts.results > 0, 1.0, np.nan)
    figure = ensembles.map_over(np.arange(3.0), np.arange(2.0), means, ("x", "y", "z"), counts=counts)
    (legend,) = figure.legends
    said = [text.get_text() for text in legend.get_texts()]
    assert said == ["no member: 2 cells", "members without it: 1 cell", "fewer than 4 members: 1 cell"]
    (dots,) = figure.axes[0].get_lines()
    assert np.asarray(dots.get_xydata()).tolist() == [[0.0, 1.0]]
    ones = ensembles.CellCounts(np.ones((2, 3)), np.ones((2, 3)))
    plain = ensembles.map_over(np.arange(3.0), np.arange(2.0), np.ones((2, 3)), ("x", "y", "z"), counts=ones)
    assert [text.get_text() for text in plain.legends[0].get_texts()] == ["one member in a cell"]


@pytest.mark.parametrize("kind", ["map", "scatter", "sensitivity", "histogram"])
def test_a_result_that_no_member_has_is_said_and_not_drawn(kind: str) -> None:
    asked: dict[str, Any] = {"q": {"q": "uniform(-1, 1)"}, "u": {"u": "uniform(-1, 1)"}, "events": {"over": "q - 9"}}
    figure = kane.load("pendulum").ensemble(0.1, n=20, **asked).plot(kind=kind)
    ax = figure.axes[0]
    assert any("no member has it" in text.get_text() for text in ax.texts)
    assert not ax.get_xticks().size and not ax.get_yticks().size and not ax.patches and not ax.collections


def test_a_result_that_all_members_have_alike_is_said_and_not_ranked() -> None:
    """A block that slides from x between 0 and 1 with 1 m/s never comes to -1, and always to 3 within 3 s."""
    events = {"back": "x + 1", "on": "x - 3"}
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    found = m.ensemble(3.0, n=20, q={"x": "uniform(0, 1)"}, u={"v": 1.0}, events=events)
    said = {"back": "'back' occurs in no member", "on": "'on' occurs in every member", "end_v": "1 in all members"}
    for result, sentence in said.items():
        assert np.isnan(found.sensitivity(result)["x"]).all()
        ax = found.plot(kind="sensitivity", result=result).axes[0]
        assert [text.get_text().startswith(sentence) for text in ax.texts] == [True] and not ax.patches


def test_numbers_that_round_to_zero_have_no_minus() -> None:
    name = ensembles.Label("x")
    drawn = ensembles.ranking({name: (-0.001, 0.5)}, name, 50)
    assert [text.get_text() for text in drawn.axes[0].texts] == ["+0.00", "+0.50"]
    assert share_text(-0.0001, (-0.0002, 0.5)) == "0.000 (0.000 to 0.500)"


def test_a_map_of_what_is_drawn_between_round_numbers_has_ticks_at_its_ends() -> None:
    x, y = np.random.default_rng(1).uniform((-1.0, 2.0), (1.0, 7.0), size=(500, 2)).T
    across, up = make_cells(x), make_cells(y)
    ax = ensembles.map_over(across.middles, up.middles, cell_means(across, up, x), ("x", "y", "z")).axes[0]
    assert ax.get_xlim() == (-1.0, 1.0) and ax.get_ylim() == (2.0, 7.0)
    assert {-1.0, 1.0} <= set(ax.get_xticks()) and {2.0, 7.0} <= set(ax.get_yticks())
    far = ensembles.map_over(np.array([0.1, 0.5]), np.array([0.1, 0.5]), np.eye(2), ("x", "y", "z")).axes[0]
    assert far.get_xlim() == pytest.approx((-0.1, 0.7))  # two cells, each 0.4 wide, are not moved


def test_every_key_of_a_map_has_a_symbol() -> None:
    ones = ensembles.CellCounts(np.ones((2, 3)), np.ones((2, 3)))
    figure = ensembles.map_over(np.arange(3.0), np.arange(2.0), np.eye(2, 3), ("x", "y", "z"), counts=ones)
    (legend,) = figure.legends
    assert [patch.get_facecolor() for patch in legend.get_patches()] == [colormaps["viridis"](0.5)]


def test_cells_count_every_member_once() -> None:
    generator = np.random.default_rng(3)
    x, y = generator.normal(size=(2, 500))
    across, up = make_cells(x), make_cells(y)
    assert count_cells(across, up, np.ones(500, dtype=bool)).sum() == 500
    assert count_cells(across, up, x > 0).sum() == np.count_nonzero(x > 0)


def test_an_ensemble_shows_its_numbers_in_a_notebook_and_its_figure_without_a_file() -> None:
    found = sliding()
    assert repr(found).startswith(f"<Ensemble of 'slider', {COUNT} members over 2 s: ")
    shown, x = found._repr_html_(), found.end_q[found.success, 0]
    assert f'<td class="w">end_x</td><td>m</td><td>{x.mean():.6g}</td><td>{x.std():.6g}</td>' in shown
    assert found.plot(kind="histogram", result="end_x")._repr_png_().startswith(b"\x89PNG")


SWINGS, NEAR = 20.0, 0.02
"""Seconds in which a pendulum of 1 m whose energy is more than NEAR of that of the top away from it goes over or turns
back: it needs ln(4 / NEAR) / √(g / L), 2 s, for the way to the top."""


def pendulums(**given: Any) -> tuple[Any, np.ndarray]:
    """Pendulums with all starts, of which those go over the top that have the energy for it; and that energy, in those
    at the top."""
    m = kane.load("pendulum")
    found = m.ensemble(SWINGS, events={"over": "q**2 - pi**2"}, **given)
    g, L = (m.parameters[name].value for name in ("g", "L"))
    q, u = found.numbers["q"], found.numbers["u"]
    return found, (0.5 * L * u**2 / g + 1.0 - np.cos(q)) / 2.0


def test_a_map_of_an_event_has_the_share_of_each_cell_in_which_it_occurs() -> None:
    asked: Any = {"n": 3000, "seed": 4, "q": {"q": "uniform(-2, 2)"}, "u": {"u": "uniform(0, 8)"}}
    found, energy = pendulums(**asked)
    figure = found.plot(kind="map", result="over")
    mesh: Any = figure.axes[0].collections[0]
    assert mesh.get_clim() == (0.0, 1.0) and figure.axes[1].get_ylabel() == "share in which 'over' occurs"
    shares = np.ma.filled(mesh.get_array(), np.nan)
    assert "u" in found.sensitivity("over") and np.max(list(found.sensitivity("over").values())) > 0.5
    across, up = make_cells(found.numbers["u"]), make_cells(found.numbers["q"])  # as uneven as in the picture
    x, y, least = across.middles, up.middles, cell_means(across, up, energy)
    assert shares.shape == least.shape == (len(y), len(x))
    (i, j) = (np.abs(found.numbers[name][:, None] - at).argmin(axis=1) for name, at in (("u", x), ("q", y)))
    for row, across in np.ndindex(*shares.shape):
        here = energy[(i == across) & (j == row)]
        if here.size and (np.abs(here - 1.0) > NEAR).all():
            assert shares[row, across] == pytest.approx(np.mean(here > 1.0), abs=1e-12)
    assert np.unique(shares[np.isfinite(shares)]).size > 2  # cells that the boundary goes through


def test_whether_an_event_occurs_is_known_of_all_members_that_did_not_fail() -> None:
    """Blocks that cross zero: x and v have other signs, and |v| END > |x|; of the square of starts 3/8 do."""
    found = sliding()
    occurs = column(found, "zero")
    np.testing.assert_array_equal(np.isnan(occurs), ~found.success)
    x, v = found.numbers["x"], found.numbers["v"]
    good = found.success
    np.testing.assert_array_equal(occurs[good] == 1.0, (x * v < 0)[good] & (np.abs(v) * END > np.abs(x))[good])
    assert np.nanmean(occurs) == pytest.approx(3 / 8, abs=4 * np.sqrt(15 / 64 / good.sum()))
    assert np.array_equal(occurs, column(found, "occurs_zero"), equal_nan=True)


def test_indices_of_an_event_are_shares_of_the_variance_of_its_occurring() -> None:
    """A block from x in (0, 1) with v in (-1, 0) comes to zero within 2 s if |v| > x / 2: it occurs with p = 3/4. Given
    x it does with 1 - x / 2, of variance 1/48, given v with min(1, 2 |v|), of variance 5/48; all is p (1 - p)."""
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    drawn: Any = {"q": {"x": "uniform(0, 1)"}, "u": {"v": "uniform(-1, 0)"}}
    indices = m.ensemble(END, n=8, events={"zero": "x"}, **drawn).sobol("zero", n=1024)
    first = {"x": (1 / 48) / (3 / 16), "v": (5 / 48) / (3 / 16)}
    for name, index in indices.items():
        other = "v" if name == "x" else "x"
        assert index.first == pytest.approx(first[name], abs=0.06)  # of a function that jumps, by 1024 points
        assert index.total == pytest.approx(1.0 - first[other], abs=0.06)


@pytest.mark.parametrize("kind", ["histogram", "scatter", "map", "sensitivity"])
def test_pictures_of_an_event_say_yes_and_no(kind: str, tmp_path: Path) -> None:
    figure = sliding().plot(tmp_path / "event.svg", kind, "zero")
    drawn = (tmp_path / "event.svg").read_text()
    assert "zero" in drawn and ("yes" in drawn) == (kind in ("histogram", "scatter"))
    if kind == "histogram":
        heights = [bar.get_height() for bar in figure.axes[0].patches]
        found = column(sliding(), "zero")
        assert heights == [np.count_nonzero(found == 0.0), np.count_nonzero(found == 1.0)]


def test_a_map_is_over_what_is_named_in_as_many_cells() -> None:
    """Pendulums go over the top by their energy: shares of cells of equal width, counted by NumPy's histogram."""
    asked: Any = {"n": 2000, "seed": 5, "q": {"q": "uniform(-2, 2)"}, "u": {"u": "uniform(0, 8)"}}
    found, energy = pendulums(**asked)
    figure = found.plot(kind="map", result="over", over=("q", "start_u"), cells=(4, 6))
    ax = figure.axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("q at the start  (rad)", "u at the start  (rad/s)")
    shares = np.ma.filled(ax.collections[0].get_array(), np.nan)
    u, q = found.numbers["u"], found.numbers["q"]
    whole, *edges = np.histogram2d(u, q, bins=(6, 4))
    near = np.histogram2d(u, q, bins=edges, weights=(np.abs(energy - 1.0) < NEAR).astype(float))[0]
    over = np.histogram2d(u, q, bins=edges, weights=(energy > 1.0).astype(float))[0]
    assert shares.shape == (6, 4) and np.all(np.abs(shares * whole - over) <= near + 1e-9)
    assert np.unique(shares).size > 4


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"over": ("xx", "v")},
            r"over = 'xx': nothing of that name differs between members\n    fix: did you mean 'x'",
        ),
        ({"over": "x"}, "give two names"),
        ({"over": ("x", "x")}, "give two names"),
        ({"cells": 1}, "from 2 to 1000"),
        ({"cells": (3, 4, 5)}, "one for each axis"),
        ({"cells": 2.5}, "give a whole number"),
        ({"kind": "scatter", "cells": 5}, "cells is for maps, and kind is 'scatter'"),
    ],
)
def test_a_map_that_cannot_be_is_named(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        sliding().plot(**({"kind": "map", "result": "zero"} | asked))


def test_how_members_ended_is_said_by_the_event_that_stopped_them() -> None:
    """A block from 0 stops at x = 1 or -1, by the sign of its speed, or not at all: v in (-2, 2) m/s for 1 s."""
    m = kane.Model("slider")
    m.body("block", mass=1)
    m.joint("guide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    events: Any = {
        "right": {"expression": "x - 1", "terminal": True},
        "left": {"expression": "x + 1", "terminal": True},
    }
    found = m.ensemble(1.0, n=200, seed=2, u={"v": "uniform(-2, 2)"}, events=events | {"half": "x - 0.5"})
    v = found.numbers["v"]
    right, left = np.count_nonzero(v > 1), np.count_nonzero(v < -1)
    listed = f"{200 - right - left} reached the end, {right} stopped by 'right', {left} stopped by 'left'"
    assert str(found) == f"200 members over 1 s: {listed}"
    drawn = found.plot(kind="histogram", result="end_x").axes[1]
    assert [bar.get_width() for bar in drawn.patches] == [200 - right - left, right, left]
    assert [tick.get_text() for tick in drawn.get_yticklabels()][1] == "stopped by 'right'"


@pytest.mark.parametrize("middle", [0.0, 43.824, -0.99998213, 12345.678])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["histogram", "scatter"])
def test_numbers_along_histograms_and_scatters_stand_apart(kind: str, middle: float, count: int) -> None:
    values = middle + 1e-6 * 8.0 ** (np.arange(count) % 5)[:, None] * np.linspace(-1.0, 1.0, 40)
    shown = [(ensembles.Label("first_hinge", "s"), row) for row in values]
    if kind == "scatter":
        figure = ensembles.scatter(shown, np.linspace(0.0, 1.0, 40), np.ones(40, dtype=bool), shown[0][0])
    else:
        figure = ensembles.histograms(shown) if count > 1 else ensembles.histogram(values[0], [], shown[0][0])
    FigureCanvasAgg(figure).draw()
    for ax in figure.axes[:count]:
        low, high = ax.get_xlim()
        seen = [x for x in ax.get_xticklabels() if x.get_text() and low <= x.get_position()[0] <= high]
        boxes = [x.get_window_extent() for x in seen]
        assert len(boxes) >= 2
        assert all(right.x0 - left.x1 > 2.0 for left, right in pairwise(boxes))


def test_an_axis_of_rank_correlations_ends_where_they_do() -> None:
    ax = sliding().plot(kind="sensitivity", result="end_x").axes[0]
    assert ax.get_xlim()[1] == 1.0 and ax.get_xlim()[0] in (-1.0, 0.0)


def test_the_interval_of_a_share_is_where_the_score_test_accepts() -> None:
    """Wilson's interval has the shares p with |k/n - p| = z sqrt(p (1 - p) / n) at its ends."""
    found = sliding()
    share, n = found.share("zero"), len(found)
    for confidence, z in ((0.95, 1.959963984540054), (0.99, 2.5758293035489004)):
        for end in found.share_interval("zero", confidence):
            assert abs(share - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), rel=1e-9)
    with pytest.raises(InputError, match="did you mean 'zero'"):
        found.share_interval("zer")
    with pytest.raises(InputError, match="between 0 and 1"):
        found.share_interval("zero", 95)


def test_what_is_watched_has_the_unit_of_its_terms() -> None:
    watch = {
        "size": "abs(q1)",
        "sum": "q1 + q2 - pi",
        "effort": "max(tau_u1, 0)",
        "degrees": "q1*180/pi",
        "sine": "sin(q1)",
    }
    found = kane.load("double-pendulum").ensemble(np.linspace(0, 0.1, 3), n=4, q={"q1": "uniform(0, 1)"}, watch=watch)
    titles = {str(label_of(found, f"high_{name}")).partition("(")[2] for name in ("size", "sum")}
    assert titles == {"rad)"} and str(label_of(found, "low_effort")).endswith("(N m)")
    assert all("(" not in str(label_of(found, f"high_{name}")) for name in ("degrees", "sine"))


def test_a_histogram_of_what_is_the_same_in_all_members_says_its_value() -> None:
    """Bars would have a width that nothing has; rounding is no distribution either."""
    for values in (np.full(60, 0.3118), np.linspace(0.3118, 0.3118 + 1e-14, 60)):
        figure = ensembles.histogram(values, [], ensembles.Label("high_tq", "N m"))
        (ax,) = figure.axes
        assert [text.get_text() for text in ax.texts] == ["0.3118 in all of them, to rounding"] and not ax.patches
