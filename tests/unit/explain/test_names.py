"""How names are written: letters for bodies of long names, symbols within words, parameters with an index."""

from __future__ import annotations

import re

import pytest

import kane
from kane.explain.names import indexed_name
from unit.explain.reading_back import partial_velocities, section


def disc(**names: str) -> kane.Model:
    """A disc that leans and spins about a fixed middle, its plane a body of its own."""
    plane, spun = names.get("plane", "plane of the disc"), names.get("spun", "D")
    m = kane.Model("disc", gravity=(0, 0, "-g"))
    for name, value in {"g": 9.81, "mC": 2.0, "It": 1.0, "Is": 1.5}.items():
        m.parameter(name, value)
    m.body(plane)
    m.body(spun, mass="mC", inertia={"xx": "It", "yy": "Is", "zz": "It"})
    m.joint("leaning", "revolute", "ground", plane, axis="x", coordinates=["theta"], speeds=["u1"])
    m.joint("spin", "revolute", plane, spun, axis="y", coordinates=["phi"], speeds=["omega"])
    m.load("coil", kane.JointSpring("leaning", stiffness=3))
    return m


def test_a_body_of_several_words_has_a_letter_in_vectors_and_its_name_in_sentences() -> None:
    text = disc().explain(beside=None).to_text()
    assert section(text, "Bodies") == ["P: plane of the disc"]
    assert partial_velocities(text)["ω(P)"] == {"u1": "P.x", "ω": "0"}
    assert "plane of the disc turns about the axis only" in text
    assert not re.search(r"plane of the disc(\.[xyz]|\*?\))", text)


def test_letters_are_those_of_no_other_body_or_speed_and_short_names_stay() -> None:
    told = disc(plane="plane of the disc", spun="P").explain(beside=None).to_text()
    assert section(told, "Bodies") != ["P: plane of the disc"] and "ω(P) = " in told
    short = disc(plane="plane").explain(beside=None).to_text()
    assert "Bodies" not in short and "ω(plane)" in short


def test_speeds_and_rates_within_words_are_set_as_in_equations() -> None:
    told = disc().explain(beside=None)
    latex, page = told.to_latex(), told.to_html()
    assert r"effort along $\omega$" in latex and r"effort along $u_{1}$" in latex
    assert r"the coefficient of $u_{1}$ in" in latex and r"$\dot{\theta}$" in latex and r"u\_1" not in latex
    assert re.search(r"effort along <math><mi[^>]*>ω</mi></math>", page)
    assert re.search(r"coefficient of u<sub>1</sub> in <math><mover", page)
    assert "I·α + ω × I·ω" in page, "an angular velocity, not the speed of this name"
    assert "[effort along ω]" in told.to_text() and not re.search("[\ue000\ue001]", latex + page + told.to_text())


def test_parameters_of_two_letters_have_an_index_in_mathematics_only() -> None:
    told = disc().explain(beside=None)
    assert r"I_{t}" in told.to_latex() and r"\mathrm{It}" not in told.to_latex()
    assert "<msub><mi>I</mi>" in told.to_html() and "It" in told.equations[0] and "I_t" not in told.to_text()


@pytest.mark.parametrize(
    ("name", "others", "indexed"),
    [
        ("mC", (), "m_C"),
        ("IB", (), "I_B"),
        ("It", (), "I_t"),
        ("rF", (), "r_F"),
        ("Xi", (), ""),
        ("kg", (), ""),
        ("ABC", (), ""),
        ("mC", ("m_C",), ""),
    ],
)
def test_an_index_is_a_capital_or_follows_one_and_looks_like_no_other_name(
    name: str, others: tuple[str, ...], indexed: str
) -> None:
    assert indexed_name(name, others) == indexed
