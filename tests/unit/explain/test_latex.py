"""LaTeX of explanations: what is cut stays the same, fits on the page, and compiles where there is a compiler."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import kane
from kane.explain.latex import WIDE, lines_of, split_terms, width
from kane.explain.notation import latex_text

COMPILER = shutil.which("pdflatex")
WORST = 15.0  # pt beyond the margin: widths are estimated, and a margin is 130 pt wide


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    names = ("spinning-top", "rolling-disc", "chaplygin-sleigh")
    return {name: kane.load(name).explain(beside=None).to_latex(document=True) for name in names}


def test_cutting_a_sum_loses_nothing_and_cuts_no_group() -> None:
    text = r"a \, \left(b - c\right) - \frac{d + e}{f} + g_{1}"
    assert split_terms(text) == [r"a \, \left(b - c\right)", r" - \frac{d + e}{f}", " + g_{1}"]
    long = " + ".join(rf"m_{{{k}}} \, \sin q_{{{k}}} \, \dot{{u}}_{{{k}}}" for k in range(30))
    lines = lines_of(f"F = {long}")
    assert len(lines) > 3 and all(width(line) <= WIDE for line in lines)
    assert re.sub(r"\\qquad|\s", "", "".join(lines)) == re.sub(r"\s", "", f"F = {long}")


def test_a_product_that_is_too_long_is_cut_inside_its_parentheses() -> None:
    inner = " + ".join(f"a_{{{k}}} b_{{{k}}} c_{{{k}}}" for k in range(20))
    lines = lines_of(rf"\left({inner}\right) \, u")
    assert len(lines) > 1 and all(width(line) <= WIDE for line in lines)
    assert not any(r"\left" in line or r"\right" in line for line in lines)


def test_words_have_no_letter_that_latex_lacks() -> None:
    assert latex_text("ω_1(rod) · T*(rod)") == (
        r"$\boldsymbol{\omega}_{1}^{\text{rod}}$ $\cdot$ $\mathbf{T}^{\text{rod}*}$"
    )
    assert latex_text("arm_2 & φ") == r"arm\_2 \& $\phi$"


def test_a_document_has_latin_letters_only(told: dict[str, str]) -> None:
    for text in told.values():
        assert text.isascii()


@pytest.mark.skipif(COMPILER is None, reason="there is no pdflatex")
@pytest.mark.parametrize("name", ["spinning-top", "rolling-disc", "chaplygin-sleigh"])
def test_a_document_compiles_within_its_margins(name: str, told: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "x.tex").write_text(told[name], encoding="utf-8")
    found = subprocess.run(
        [str(COMPILER), "-interaction=nonstopmode", "x.tex"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stdout[-2000:]
    assert all(float(over) < WORST for over in re.findall(r"Overfull \\hbox \(([\d.]+)pt", found.stdout))
