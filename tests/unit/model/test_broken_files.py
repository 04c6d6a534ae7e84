"""Broken, random and hostile model files: a ModelError with a line, or a model; never anything else."""

from __future__ import annotations

import re
from importlib import resources

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kane.errors import ModelError
from kane.model import builtin_names, read_mechanism, write_mechanism
from unit.model.test_files import ARM, EVERYTHING

LONGEST = 20_000  # characters: hundreds of contacts take seconds to read, and break no differently
BUILT_IN = [
    (resources.files("kane.model") / "builtin" / f"{name}.yaml").read_text(encoding="utf-8") for name in builtin_names()
]
TEXTS = [EVERYTHING, ARM, *(text for text in BUILT_IN if len(text) <= LONGEST)]
VOCABULARY = """nan .inf -1 1e400 ~ [] {} [[ } & &a * *a !!int ? - : --- ... %YAML | > # ' " 0 ground N O t q1 u1 A B
    j1 x -x [0,0,0] [1,0] free weld spherical type axis parent child mass 1/0 log(0) a.b.c w.A.x q1' select(1,2) {a:1}
    __import__('os') true null body 321 matrix quaternion"""
KEYS = """kane name gravity parameters coordinates extra_coordinates bodies joints frames points speeds loads controls
    initial extends type parent child axis at mass center inertia force spring effort joint velocity rotation A B N O"""
LUMPS = ["\n", "\t", " ", "\n  ", "\x00", "\ufeff", "é", "9" * 400, "(" * 300, "a" * 500]
WORDS = [*VOCABULARY.split(), *LUMPS]


def judge(text: str) -> None:
    """A text is a model that writes and loads back, or is refused with the line of every problem."""
    try:
        m = read_mechanism(text, "broken.yaml")
    except ModelError as error:
        assert error.problems
        for problem in error.problems:
            assert re.match(r"[\w-]+\.yaml:\d+", problem.where), problem
            assert problem.what
        return
    assert read_mechanism(write_mechanism(m), "again.yaml").description() == m.description()


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A good file with a few words cut out, put in, exchanged or repeated, or with lines moved."""
    text = draw(st.sampled_from(TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, max(len(text) - 1, 0)))
        length = draw(st.integers(0, 12))
        lines = text.split("\n")
        line = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 5)):
            case 0:
                text = text[:place] + text[place + length :]
            case 1:
                text = text[:place] + draw(st.sampled_from(WORDS)) + text[place + length :]
            case 2:
                words = list(re.finditer(r"[\w.']+", text))
                if words:
                    old, new = draw(st.sampled_from(words)), draw(st.sampled_from(words))
                    text = text[: old.start()] + new[0] + text[old.end() :]
            case 3:
                words = list(re.finditer(r"[\w.']+", text))
                if words:
                    old = draw(st.sampled_from(words))
                    text = text[: old.start()] + draw(st.sampled_from(WORDS)) + text[old.end() :]
            case 4:
                lines.insert(draw(st.integers(0, len(lines))), lines.pop(line))
                text = "\n".join(lines)
            case _:
                lines.insert(draw(st.integers(0, len(lines))), lines[line])
                text = "\n".join(lines)
    return text


@settings(max_examples=200)
@given(damaged())
def test_a_damaged_file_is_a_model_or_is_refused_with_lines(text: str) -> None:
    judge(text)


keys = st.sampled_from(KEYS.split())
values = st.recursive(
    st.sampled_from(WORDS) | st.text(max_size=5) | st.floats().map(str),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda x: f"[{', '.join(x)}]")
        | st.dictionaries(keys, inner, max_size=4).map(
            lambda d: "{" + ", ".join(f"{k}: {v}" for k, v in d.items()) + "}"
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(st.dictionaries(keys, values, max_size=6))
def test_random_sections_are_a_model_or_are_refused_with_lines(sections: dict[str, str]) -> None:
    judge("kane: 1\n" + "\n".join(f"{key}: {value}" for key, value in sections.items()))


@given(st.text())
@example("a: &x [*x]")
@example("<<: {kane: 1}")
@example("!<tag:x> kane")
@example("%YAML 9.9\n---\nkane: 1")
@example("\ud800")
@example("kane: 1\nname: |\n  a\n  b\nbodies: {A: {mass: '1\n\n+ 1'}}")
def test_random_text_is_a_model_or_is_refused_with_lines(text: str) -> None:
    judge(text)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_with_lines(data: bytes) -> None:
    judge(data.decode("latin-1"))


HEAVY = """kane: 1
parameters: {r: 1e200}
bodies:
  a: {mass: 1}
  b: {mass: 1, inertia: {xx: r**2, yy: r**2, zz: r**2}}
"""
FAR = "kane: 1\nbodies:\n  a: {mass: 1}\n  b: {mass: 1, center: [0, 0, 1e308], inertia: {xx: 1}, about: origin}\n"


@pytest.mark.parametrize(("text", "line", "where"), [(HEAVY, 5, "b' / inertia"), (FAR, 4, "")])
def test_numbers_that_overflow_are_refused_at_their_line(text: str, line: int, where: str) -> None:
    with pytest.raises(ModelError) as caught:
        read_mechanism(text, "heavy.yaml")
    (problem,) = caught.value.problems
    assert problem.where.startswith(f"heavy.yaml:{line}") and where in problem.where
    assert "finite" in problem.because


def test_laughs_that_would_fill_the_memory_are_refused_at_the_first() -> None:
    laughs = "a: &a [ha, ha, ha, ha, ha, ha, ha, ha]\n"
    for new, old in zip("bcdefghi", "abcdefgh", strict=True):
        laughs += f"{new}: &{new} [{', '.join([f'*{old}'] * 8)}]\n"
    judge(laughs)


def test_what_a_lost_joint_would_have_declared_is_not_reported_again() -> None:
    text = (
        "kane: 1\nname: craft\nbodies: {bus: {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\n"
        "joints: {flight: {type: free, parent: ground, child: bus, initial: [1, 0, 0, 0]}}\n"
        "initial: {u_flight_wz: 0.1, q_flight_px: 2}\n"
    )
    with pytest.raises(ModelError) as caught:
        read_mechanism(text, "craft.yaml")
    assert [p.what for p in caught.value.problems] == ["4 initial values given"]


def test_a_tab_is_called_a_tab() -> None:
    with pytest.raises(ModelError, match=r"craft.yaml:3: not valid YAML, column 1: a tab\n    fix: indent by spaces"):
        read_mechanism("kane: 1\nbodies:\n\tbus: {mass: 1}\n", "craft.yaml")
