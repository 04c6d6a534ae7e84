"""Every file of up to a megabyte is judged with little work and a short answer: counted, not timed."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from kane.errors import ModelError
from kane.model import (
    ConfigurationEquations,
    Constraint,
    Distance,
    Mechanism,
    MotionEquations,
    read_mechanism,
    read_urdf,
)
from kane.model.expression import closest
from kane.model.files.nodes import MAX_FAULTS
from kane.model.symbols import suggestion
from unit.model.large_files import GEOMETRY, LARGE

SIZE = 60_000  # characters: what grows faster than the file shows here already
CALLS = 60  # per character of a file; a body or a joint takes some hundred calls and some twenty characters
COMPARISONS = 101 * MAX_FAULTS  # of names, letter by letter: those of one suggestion, at most once for each fault
MESSAGE = 100_000  # characters


def counted_calls(task: Callable[[], object]) -> int:
    """How many functions are called, of Python and of C."""
    calls = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        task()
    finally:
        sys.setprofile(before)
    return calls


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that were compared with another, one entry for each comparison."""
    seen: list[str] = []
    original = difflib.SequenceMatcher.set_seq1

    def noting(self: Any, a: str) -> None:
        seen.append(a)
        original(self, a)

    monkeypatch.setattr(difflib.SequenceMatcher, "set_seq1", noting)
    return seen


@pytest.mark.parametrize("name", LARGE)
def test_a_large_file_is_judged_with_work_in_proportion(name: str, comparisons: list[str]) -> None:
    text = LARGE[name](SIZE)
    answer = ""

    def judge() -> None:
        nonlocal answer
        try:
            read_mechanism(text, "large.yaml")
        except ModelError as error:
            answer = str(error)
            assert len(error.problems) <= MAX_FAULTS + 1

    assert counted_calls(judge) <= CALLS * len(text)
    assert len(comparisons) <= COMPARISONS
    assert len(answer) <= MESSAGE


def test_the_work_per_character_does_not_grow_with_the_file() -> None:
    """Twice the file, twice the calls; a tenth more for tables that grow."""

    def calls(name: str, size: int) -> int:
        text = {**LARGE, **GEOMETRY}[name](size)

        def judge() -> None:
            try:
                read_mechanism(text, "large.yaml")
            except ModelError:
                return

        return counted_calls(judge)

    for name in ("chain of joints", "chosen speeds", "equations", "parameters in a chain", "wheels"):
        calls(name, 2_000)  # what is imported and made once
        assert calls(name, 40_000) <= 2.2 * calls(name, 20_000), name


class Walked(dict[Any, Any]):
    """A table that counts the entries that are walked through; looking one up costs nothing."""

    steps = 0

    def __iter__(self) -> Any:
        self.steps += len(self)
        return super().__iter__()

    def keys(self) -> Any:
        self.steps += len(self)
        return super().keys()

    def values(self) -> Any:
        self.steps += len(self)
        return super().values()

    def items(self) -> Any:
        self.steps += len(self)
        return super().items()


def test_a_constraint_is_declared_without_walking_through_all_coordinates() -> None:
    """Calls alone do not show it: one call copies a table of any size."""
    count = 50
    m = Mechanism("large")
    for k in range(count):
        m.coordinate(f"q{k}")
    tables = ("motion_variables", "coordinate_rates", "speed_records", "coordinate_records", "_names")
    for name in tables:
        setattr(m, name, Walked(getattr(m, name)))
    for k in range(count):
        m.constrain(f"c{k}", ConfigurationEquations(f"q{k}**2 - q{(k + 1) % count}"))
        m.constrain(f"d{k}", MotionEquations(f"q{k}' = 2*u_q{(k + 1) % count}"))
    assert {name: getattr(m, name).steps for name in tables} == dict.fromkeys(tables, 0)


def test_reading_ends_after_many_faults_and_says_so() -> None:
    with pytest.raises(ModelError) as caught:
        read_mechanism(LARGE["unknown bodies"](SIZE), "large.yaml")
    *problems, last = caught.value.problems
    assert len(problems) == MAX_FAULTS
    assert last.what == "the file is read no further" and last.where.startswith("large.yaml:")


def test_a_robot_of_many_faults_is_read_no_further() -> None:
    links = "".join(f'<link name="l{i}"><inertial><mass value="x"/></inertial></link>' for i in range(1000))
    joints = "".join(
        f'<joint name="j{i}" type="hinge"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(999)
    )
    with pytest.raises(ModelError) as caught:
        read_urdf(f'<robot name="r">{links}{joints}</robot>', "large.urdf")
    assert len(caught.value.problems) == MAX_FAULTS + 1 and len(str(caught.value)) < MESSAGE


def test_a_name_among_many_is_still_suggested(comparisons: list[str]) -> None:
    names = [f"link{i:05d}" for i in range(30_000)]
    assert closest("Link00017", names) is not None
    assert closest("elbow", [*names, "elbows"]) == "elbows"
    assert len(comparisons) <= 2 * 100
    assert suggestion("none like it", names).endswith("and 29970 more")


ROD = Distance("ground", "b", length="3 + p", first_at=(1, 0, 0))


class Watched(dict[str, Any]):
    """A table that notes how often somebody goes through all of it."""

    walks = 0

    def __iter__(self) -> Any:
        self.walks += 1
        return super().__iter__()


@pytest.mark.parametrize(
    "constraint",
    [
        ConfigurationEquations("q1**2 = q2"),
        MotionEquations("q1' = 2*q2'"),
        Distance("ground", "b", length="3 + p", first_at=(1, 0, 0)),
    ],
)
def test_a_constraint_goes_through_no_table_of_the_whole_model(constraint: Constraint) -> None:
    """Going through names in C is no call, but with as many constraints as names it is quadratic work all the same."""
    m = Mechanism("many names")
    m.parameter("p", 1.0)
    m.coordinate("q1")
    m.coordinate("q2")
    m.joint("j", "spherical", "ground", m.body("b", mass=1))
    m.motion_variables, m.parameters = Watched(m.motion_variables), Watched(m.parameters)
    m.constrain("c", constraint)
    assert (m.motion_variables.walks, m.parameters.walks) == (0, 0)
