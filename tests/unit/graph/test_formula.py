"""The text of an expression: what it prints, read back, is the same; nothing in it is left unnamed."""

from __future__ import annotations

import re

import pytest

import kane
from kane.graph import Graph, evaluate
from kane.graph.formula import LONGEST
from kane.model.expression import parse_expression
from seeds import generator

AT = {"a": 0.7, "b": 1.3, "c": -0.4}

WRITTEN = (
    "a - (b - c)",
    "-(a - b) + c",
    "c - (a - b)",
    "-(a + b) - (c - a)",
    "-a*b - c",
    "a - b*-c",
    "(a + b)**2/(c*a)",
    "a/(b/c)",
    "(a/b)/(c*(a + b))",
    "-a/(-b)",
    "-(a - b)/(c - a)",
    "a**-2 - a**2",
    "(a - b)**3*(-c)",
    "2*a*(3*b)/(4*c)",
    "sqrt(a)/(b*b) - abs(-c*a)",
    "select(a < b, c, -a - 1)*(1 - cos(a - b))",
    "atan2(a - b, -c) + min(a, b*c)",
    "(a < b)*(a - c)",
)


@pytest.mark.parametrize("text", WRITTEN)
def test_the_text_of_an_expression_read_back_has_its_value(text: str) -> None:
    g = Graph()
    names = {name: g.input(name) for name in AT}
    read = parse_expression(text, g, names)
    again = parse_expression(str(read), g, names)
    first, second = evaluate([read, again], AT)
    assert second == pytest.approx(first, rel=1e-14), str(read)


def test_partial_velocities_of_the_stanford_arm_print_as_in_the_paper() -> None:
    """ω_3^B = s3 b1 + Z7 b2 + Z9 b3 with Z7 = −c2 c3/s2 and Z9 = c3 [KL83, Eq. 27]."""
    angular, _ = kane.load("stanford-arm-kane").equations().partial_velocities("B")
    assert [str(row[2]) for row in angular] == ["sin(q3)", "-cos(q2)*cos(q3)/sin(q2)", "cos(q3)"]


def test_every_partial_velocity_prints_in_names_of_the_model_alone() -> None:
    m = kane.load("stanford-arm-kane")
    e, rng = m.equations(), generator(7)
    at = dict(zip(m.coordinates, rng.uniform(0.4, 1.2, len(m.coordinates)).tolist(), strict=True))
    for body in m.bodies:
        for entry in (x for part in e.partial_velocities(body) for row in part for x in row):
            g = Graph()
            again = parse_expression(str(entry), g, {name: g.input(name) for name in at})
            assert evaluate([again], at) == pytest.approx(evaluate([entry], at), rel=1e-11, abs=1e-14)


def test_what_is_too_long_is_cut_and_says_so() -> None:
    g = Graph()
    x = total = g.input("x")
    for _ in range(40):
        total = total.sin() * total.cos() + x
    assert "…" in str(total) and len(str(total)) < LONGEST and not re.search(r"\bz\d", f"{total} {total!r}")
