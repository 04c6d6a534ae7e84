"""HTML of explanations: what stands in it can be read in one way, and lines may end between terms only."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

import kane
from kane.backends.mathml import symbol
from kane.explain.notation import split_terms


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    names = ("cart-pole", "double-pendulum", "rolling-disc")
    return {name: kane.load(name).explain(beside=None).to_html() for name in names}


def test_every_function_has_its_argument_in_parentheses(pages: dict[str, str]) -> None:
    """sin q1 q2 would have two meanings; so it is in LaTeX."""
    for page in pages.values():
        calls = re.findall(r"<mi>(?:sin|cos)</mi>.{0,20}?&#x2061;</mo>(.{10})", page)
        assert calls and set(calls) == {"<mo>(</mo>"}
    latex = kane.load("double-pendulum").explain(beside=None).to_latex()
    assert r"\sin\left(q_{2}\right) \, u_{1}" in latex
    assert not re.search(r"\\(sin|cos)\b(?!\\left)", latex.replace(r"\sin, \cos", ""))


def test_a_dot_stands_over_one_letter_and_a_prime_after_several() -> None:
    assert re.fullmatch(r"<msub><mover><mi>q</mi><mo [^>]*>˙</mo></mover><mtext>1</mtext></msub>", symbol("q1'"))
    assert re.fullmatch(r"<mover><mi>φ</mi><mo [^>]*>˙</mo></mover>", symbol("phi'"))
    for name, shown in (("yaw'", "<mi>yaw</mi>"), ("wheel_2'", "<msub><mi>wheel</mi><mtext>2</mtext></msub>")):
        assert re.fullmatch(rf"<mrow>{re.escape(shown)}<mo [^>]*>′</mo></mrow>", symbol(name))


def test_terms_are_cut_outside_of_groups_and_nothing_is_lost() -> None:
    minus, plus = "<mo>−</mo>", "<mo>+</mo>"
    group = f"<mrow><mo>(</mo><mi>b</mi>{minus}<mi>c</mi><mo>)</mo></mrow>"
    fraction = f'<mfrac><mrow><mi>d</mi>{plus}<mi>e</mi></mrow><mi>f</mi></mfrac><mspace width="0.17em"/>'
    total = f'<mo form="prefix">−</mo><mi>a</mi>{plus}{group}{minus}{fraction}<mi>g</mi>'
    terms = list(split_terms(total))
    assert "".join(terms) == total
    assert terms == [
        '<mo form="prefix">−</mo><mi>a</mi>',
        f"{plus}{group}",
        f"{minus}{fraction}<mi>g</mi>",
    ]
    for term in terms:
        ET.fromstring(f"<math>{term}</math>")
