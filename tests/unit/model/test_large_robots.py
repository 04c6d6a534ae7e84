"""Every URDF of up to a megabyte is judged with little work and a short answer: counted, not timed."""

from __future__ import annotations

import gc

import pytest

from kane.errors import ModelError
from kane.model import read_urdf
from kane.model.files.nodes import MAX_FAULTS
from kane.model.joints import Coupled
from kane.model.size import MOST_SPEEDS
from unit.model.counting import counted_calls
from unit.model.large_robots import BAD, GOOD, ROBOTS

SIZE = 12_000  # characters
CALLS = 30  # per character of a file
MESSAGE = 100_000  # characters


def judge(text: str) -> str:
    """The answer to a file that is no robot; nothing to one that is."""
    try:
        read_urdf(text, "large.urdf")
    except ModelError as error:
        assert len(error.problems) <= MAX_FAULTS + 1
        return str(error)
    return ""


@pytest.mark.parametrize("name", ROBOTS)
def test_a_large_robot_is_judged_with_work_in_proportion(name: str) -> None:
    text, answers = ROBOTS[name](SIZE), list[str]()
    assert counted_calls(lambda: answers.append(judge(text))) <= CALLS * len(text)
    assert bool(answers[0]) == (name in BAD and name != "too many floating joints")  # which it is not yet
    assert len(answers[0]) <= MESSAGE


@pytest.mark.parametrize("name", GOOD)
def test_the_work_per_character_does_not_grow_with_the_robot(name: str) -> None:
    """Twice the file, twice the calls; a tenth more for tables that grow."""
    small, large = GOOD[name](20_000), GOOD[name](40_000)
    judge(small)  # what is imported and made once
    once, twice = (counted_calls(lambda text=text: judge(text)) for text in (small, large))
    assert twice / len(large) <= 1.1 * once / len(small)


def test_a_robot_of_too_many_speeds_is_refused_before_the_work() -> None:
    text = ROBOTS["too many floating joints"](600_000)
    answers: list[str] = []
    assert counted_calls(lambda: answers.append(judge(text))) <= 2 * len(text)  # reading the elements
    assert f"a robot has {MOST_SPEEDS} at most" in answers[0]


def test_joints_whose_names_are_alike_have_symbols_of_their_own() -> None:
    names = ("a-b", "a.b", "a b", "a_b_", "a_b_2", "a+b", "a*b")
    links = "".join(f'<link name="l{k}"/>' for k in range(len(names)))
    joints = "".join(
        f'<joint name="{name}" type="revolute"><parent link="base"/><child link="l{k}"/></joint>'
        for k, name in enumerate(names)
    )
    m = read_urdf(f'<robot name="r"><link name="base"/>{links}{joints}</robot>', "alike.urdf")
    assert m.coordinates[:3] == ("q_a_b", "q_a_b_", "q_a_b_2")
    assert len(set(m.coordinates)) == len(names)


def test_followers_follow_the_joint_that_leads_all_of_them() -> None:
    """Each by twice the one before: 2, 4, 8, …, in whatever order they are written."""
    links = "".join(f'<link name="l{k}"/>' for k in range(5))
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="base"/><child link="l{k}"/>'
        + (f'<mimic joint="j{k - 1}" multiplier="2"/>' if k else "")
        + "</joint>"
        for k in (3, 1, 4, 0, 2)
    )
    m = read_urdf(f'<robot name="r"><link name="base"/>{links}{joints}</robot>', "followers.urdf")
    assert m.coordinates == ("q_j0",)
    kinds = [m.joints[f"j{k}"].type for k in range(1, 5)]
    assert [kind.ratio.number for kind in kinds if isinstance(kind, Coupled)] == [2.0, 4.0, 8.0, 16.0]


def test_reading_a_robot_leaves_the_collector_as_it_was() -> None:
    assert gc.isenabled()
    judge(GOOD["chain"](2_000))
    assert gc.isenabled()
    judge(BAD["unknown types"](2_000))
    assert gc.isenabled()


def test_a_robot_of_many_faults_is_read_no_further() -> None:
    links = "".join(f'<link name="l{i}"><inertial><mass value="x"/></inertial></link>' for i in range(1000))
    joints = "".join(
        f'<joint name="j{i}" type="hinge"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(999)
    )
    with pytest.raises(ModelError) as caught:
        read_urdf(f'<robot name="r">{links}{joints}</robot>', "large.urdf")
    assert len(caught.value.problems) == MAX_FAULTS + 1 and len(str(caught.value)) < MESSAGE
