"""Equations under constraints as `explain` prints them: for which independent speeds, and that these alone are enough.

Printed lines are read back. Dependent speeds and their rates are taken from the printed lines, never from the model;
rates of independent speeds are those of the compiled equations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pytest

import kane
from kane.cli import main
from seeds import generator
from unit.explain.reading_back import Value, equations, read, section, sections

AGREE = 1e-9  # relative to the largest term, of some hundred operations
MODELS = (
    "rolling-disc",
    "whipple-bicycle",
    "rattleback",
    "rolling-sphere",
    "four-bar",
    "slider-crank",
    "shopping-cart",
    "chaplygin-sleigh",
    "snakeboard",
)
LETTERS = {"rho": "ρ", "phi": "φ", "theta": "θ"}


class Letters(Mapping[str, Value]):
    """What letters stand for: given, or read from the line that defines them when they are met."""

    def __init__(self, given: Mapping[str, Value], lines: Mapping[str, str]):
        self._known, self._lines = dict(given), lines

    def __getitem__(self, name: str) -> Value:
        if name not in self._known:
            self._known[name] = read(self._lines[name], self)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter((*self._known, *self._lines))

    def __len__(self) -> int:
        return len({*self._known, *self._lines})


def title(told: str) -> str:
    return next(t for t in sections(told) if t.startswith("Equations of motion, for the independent speed"))


@pytest.mark.parametrize("name", MODELS)
def test_printed_equations_hold_with_the_rates_of_independent_speeds_alone(name: str) -> None:
    m = kane.load(name)
    told = m.explain(beside=None).to_text(digits=17)
    rng = generator(31)
    start = m.initial_state[0] + 0.1 * rng.normal(size=len(m.coordinates))
    q, u = m.project(start, rng.normal(size=len(m.speeds)))
    tau = rng.normal(size=len(m.speeds))
    udot = m.forward_dynamics(q, u, tau)
    given: dict[str, Value] = {"t": 0.0, **{p: record.value for p, record in m.parameters.items()}}
    given |= dict(zip(m.coordinates, q.tolist(), strict=True))
    given |= {f"τ_{s}": x for s, x in zip(m.speeds, tau.tolist(), strict=True)}
    for s in m.freedom().independent:
        given |= {s: float(u[m.speeds.index(s)]), f"{s}'": float(udot[m.speeds.index(s)])}
    given |= {letter: given[word] for word, letter in LETTERS.items() if word in given}
    lines = {left: x for left, x in equations(section(told, "Constraints")).items() if left.rstrip("'") in m.speeds}
    lines |= equations(next((z for t, z in sections(told).items() if t.startswith("Z's,")), []))
    known = Letters(given, lines)
    for s, speed, rate in zip(m.speeds, u, udot, strict=True):
        assert known[s] == pytest.approx(speed, abs=AGREE * (1 + np.abs(u).max())), s
        if s in m.freedom().independent or f"{s}'" in lines:
            assert known[f"{s}'"] == pytest.approx(rate, abs=AGREE * (1 + np.abs(udot).max())), s
    written = sections(told)[title(told)]
    assert [line.rpartition("[")[2].strip("]") for line in written] == list(m.freedom().independent)
    for line in written:
        left = line.partition(" = 0    [")[0]
        assert read(left, known) == pytest.approx(0.0, abs=AGREE * (1 + np.abs(udot).max() * np.abs(u).max())), left


@pytest.mark.parametrize("name", MODELS)
def test_info_and_explanation_name_the_same_independent_speeds_and_say_why(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["info", name]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if "of freedom: " in x)
    named = line.partition("of freedom: ")[2].partition(";")[0].split(", ")
    told = kane.load(name).explain(beside=None).to_text()
    words = title(told).partition("for the independent ")[2].removeprefix("speeds ").removeprefix("speed ")
    assert words.replace(" and ", ", ").split(", ") == named
    (why,) = (x for x in section(told, "Constraints") if " independent: " in x)
    assert " follow" in why and "--independent" in why


def test_the_independent_speeds_of_a_rolling_disc_are_the_same_at_every_heading_and_in_its_closed_form() -> None:
    """x' for one of them would not do where the disc heads along y."""
    m = kane.load("rolling-disc")
    for yaw in (0.0, np.pi / 2, np.pi, 2.0):
        assert m.freedom([yaw, 0.3, 1.2, 0.0, 0.0]).independent == ("wx", "wy", "wz")
    assert m.closed_form().speeds == ("wx", "wy", "wz")


def test_where_the_usual_speeds_do_not_serve_others_are_named() -> None:
    """A bead on a circle, in x and y: its velocity is across its radius."""
    m = kane.Model("bead on a circle")
    m.body("cross")
    m.particle("bead", 1.0)
    m.joint("along", "prismatic", "ground", "cross", axis="x", coordinates=["x"], speeds=["vx"])
    m.joint("across", "prismatic", "cross", "bead", axis="y", coordinates=["y"], speeds=["vy"])
    m.set_initial(x=1.0)
    m.constrain("circle", kane.Distance("ground", "bead", length=1.0))
    assert m.freedom().independent == m.freedom([0.8, 0.6]).independent == ("vy",)
    assert m.freedom([0.0, 1.0]).independent == ("vx",)
    (why,) = (x for x in section(m.explain(beside=None).to_text(), "Constraints") if " independent: " in x)
    assert why.startswith("vy is independent: vx follows from it best in the initial position")


def test_what_is_asked_for_is_named_with_where_it_fails() -> None:
    told = kane.load("rolling-disc").explain(beside=None, independent=["wx", "wz", "vx"]).to_text()
    assert title(told).endswith("wx, wz and vx")
    (why,) = (x for x in section(told, "Constraints") if " independent: " in x)
    assert "as asked for" in why and "singular" in why


def test_rows_that_restrict_nothing_are_told() -> None:
    lines = section(kane.load("four-bar").explain(beside=None).to_text(), "Constraints")
    assert any(x.startswith("rows pin.z, pin.rx and pin.ry: say nothing") for x in lines)
