"""Nouns in notebooks: each shows itself as HTML, and what a model is called stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np

import kane

HOSTILE = "<script>alert(1)</script>"


class Tags(HTMLParser):
    """Tags of a page, and its text; what is in attributes is not looked at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data


def rod(name: str) -> kane.Model:
    m = kane.Model(name, gravity=(0, 0, -9.81), about=name)
    m.body(name, mass=1, center=(0, 0, -1), inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("hinge", "revolute", "ground", name, axis="y", coordinates=["q"], speeds=["u"])
    return m


def test_texts_of_a_model_stay_texts_in_every_noun() -> None:
    m = rod(HOSTILE)
    run = m.simulate(np.linspace(0, 0.5, 11))
    equations = m.equations()
    for shown in (m, run, equations, equations.program("inverse_dynamics"), run.check(), m.check()):
        found = Tags(shown._repr_html_())
        assert "script" not in found.tags
        assert set(found.tags) <= {
            *("p", "div", "table", "thead", "tbody", "tr", "th", "td", "iframe", "pre", "details", "summary", "span"),
            "style",
            *("math", "mi", "mo", "mn", "msub", "msup", "mrow", "mfrac", "msqrt", "mover", "mspace", "mtext"),
        }
    assert HOSTILE in Tags(m._repr_html_()).words and HOSTILE in Tags(run.check()._repr_html_()).words


def test_equations_are_set_as_mathematics_where_they_can_be_read() -> None:
    small, large = kane.load("pendulum").equations(), kane.load("stanford-arm").equations()
    assert "math" in Tags(small._repr_html_()).tags and "math" not in Tags(large._repr_html_()).tags
    latex = small._repr_latex_()
    assert latex is not None and latex.startswith("$$") and r"\sin" in latex
    assert large._repr_latex_() is None
    assert str(large.count("forward_dynamics")["mul"]) in Tags(large._repr_html_()).words


def test_equations_are_collected_as_in_an_explanation() -> None:
    """Those of two particles on massless rods, by hand: M22 = m2 L2² and so on; F_r + F_r* has the same terms."""
    e = kane.load("double-pendulum").equations()
    shown = e._repr_latex_()
    assert shown is not None
    first, second = shown.split("\n")[2:4]
    assert first.startswith(
        r"\tau_{\mathrm{u1}} &= \left(m_{1} \, {L_{1}}^{2} + m_{2} \, {L_{1}}^{2} + m_{2} \, {L_{2}}^{2} + 2 \, m_{2}"
    )
    assert r"+ \left(m_{1} + m_{2}\right) \, g \, L_{1} \, \sin\left(q_{1}\right)" in first
    assert (
        r"+ m_{2} \, {L_{2}}^{2} \, \dot{u}_{2} + m_{2} \, L_{1} \, L_{2} \, \sin\left(q_{2}\right) \, {u_{1}}^{2}"
        in second
    )
    assert second.endswith(r"+ m_{2} \, g \, L_{2} \, \sin\left(q_{1} + q_{2}\right)")
    told = kane.load("double-pendulum").explain(beside=None).equations
    printed = [line.split(" = ") for line in str(e).splitlines() if " = " in line]
    for equation, (_, effort) in zip(told, printed, strict=True):
        factors = [re.findall(r"[^\s()+-]+", side) for side in (equation.rpartition(" + ")[0], effort)]
        assert factors[0] == factors[1], "the same terms in the same order, with the other sign"
    words = Tags(e._repr_html_()).words
    assert "Equations of motion of double-pendulum: 2 speeds" in words and "nodes" not in words + repr(e)


def test_wide_equations_scroll_by_themselves() -> None:
    shown = kane.load("double-pendulum").equations()._repr_html_()
    assert shown.count("<math") == shown.count('<div class="kane-wide" style="overflow-x: auto"><math') > 0


def test_a_program_shows_its_count_and_its_lines() -> None:
    program = kane.load("pendulum").equations().program("inverse_dynamics")
    found = Tags(program._repr_html_()).words
    assert str(program).strip() in found and f"{program.count()['mul']} mul" in found


def test_checks_say_which_passed() -> None:
    report = kane.load("pendulum").check()
    found = Tags(report._repr_html_()).words
    assert "all checks passed" in found and all(row.name in found for row in report.rows)


def test_a_model_that_is_not_described_yet_and_one_without_an_end_show_themselves() -> None:
    assert "iframe" not in Tags(kane.Model("empty")._repr_html_()).tags
    loose = kane.Model("loose")
    loose.body("B", mass=1)
    assert "picture" in Tags(loose._repr_html_()).words


def test_a_motion_without_gravity_and_backward_is_shown() -> None:
    m = kane.load("free-body")
    assert "iframe" in Tags(m.simulate((1.0, 0.0))._repr_html_()).tags
