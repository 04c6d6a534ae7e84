"""Operation counts that the documentation states are those that the code gives today."""

from __future__ import annotations

import re
from functools import cache

import pytest

import kane
from kane.analysis.arms import general_arm
from kane.formulation import formulate
from kane.model import Mechanism
from style.source import ROOT

LINK = {"a": 0.3, "alpha": 0.7, "d": 0.2, "theta": 0.3, "m": 2.0, "x": 0.1, "y": 0.2, "z": 0.15}
INERTIA = {"xx": 1.1, "yy": 1.2, "zz": 1.3, "xy": 0.01, "xz": 0.02, "yz": 0.03}
AXES = (3, 6)  # two counts fix a straight line


def page(name: str) -> str:
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


@cache
def counts(model: str, what: str, free: bool = False) -> dict[str, int]:
    return dict(kane.load(model).equations(free="all" if free else ()).count(what))


def test_the_readme_states_the_counts_of_today() -> None:
    arm, bicycle = counts("stanford-arm", "inverse_dynamics"), counts("whipple-bicycle", "forward_dynamics")
    assert f"The six-axis Stanford arm takes {arm['mul']} multiplications and {arm['add']} additions" in page(
        "README.md"
    )
    total = sum(n for name, n in bicycle.items() if name != "neg")
    assert f"rolling constraints embedded, takes {total} operations" in page("README.md")


def test_the_table_of_the_stanford_arm_is_that_of_today() -> None:
    text = page("docs/papers/kane-levinson-1983.md")
    for title, free in (("numbers folded", False), ("every parameter free", True)):
        found = counts("stanford-arm", "inverse_dynamics", free)
        assert f"| `kane`, {title} | {found['mul']} | {found['add']} |" in text


def test_the_table_of_rolling_bodies_is_that_of_today() -> None:
    text = (ROOT / "docs" / "rolling.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)`[^|]*\|.*\| (\d+) \+ (\d+) \|$", text, re.MULTILINE)
    assert len(rows) == 6
    for model, mul, add in rows:
        found = counts(model, "forward_dynamics")
        assert (int(mul), int(add)) == (found["mul"], found["add"]), model


def table_arm(n: int, convention: str, offset: bool) -> Mechanism:
    """A revolute arm from a table of free parameters."""
    arm = Mechanism("arm", gravity=(0.0, 0.0, "-g"))
    arm.parameter("g", 9.81)
    rows = {}
    for i in range(1, n + 1):
        for name, value in {**LINK, **INERTIA}.items():
            arm.parameter(f"{name}{i}", value)
        rows[f"joint{i}"] = {
            "a": f"a{i}",
            "alpha": f"alpha{i}",
            "b" if convention == "hd" else "d": f"d{i}",
            "theta": f"theta{i}" if offset else 0.0,
            "mass": f"m{i}",
            "center": (f"x{i}", f"y{i}", f"z{i}"),
            "inertia": {k: f"{k}{i}" for k in INERTIA},
        }
    arm.dh(convention, rows)
    return arm


def mul_add(arm: Mechanism) -> tuple[int, int]:
    count = formulate(arm, "all").count("inverse_dynamics")
    return count["mul"], count["add"] + count["neg"]


@pytest.mark.parametrize(
    ("convention", "offset"),
    [
        ("modified", False),
        *(pytest.param(c, o, marks=pytest.mark.long) for c, o in [("hd", False), ("modified", True), ("hd", True)]),
        pytest.param("standard", False, marks=pytest.mark.long),
        ("standard", True),
    ],
)
def test_the_table_of_conventions_is_that_of_today(convention: str, offset: bool) -> None:
    row = rf"\| [^|]*`{convention}`[^|]*\| {'free' if offset else '0'} \| (.*?) \| (\d+) \+ (\d+) \|"
    found = re.search(row, page("docs/dh.md"))
    assert found is not None
    formulas, *six = found.groups()
    few, many = (mul_add(table_arm(n, convention, offset)) for n in AXES)
    assert tuple(map(int, six)) == many
    told = [tuple(map(int, pair)) for pair in re.findall(r"(\d+)n − (\d+)", formulas)]
    for (slope, constant), low, high in zip(told, few, many, strict=True):
        assert (slope * AXES[0] - constant, slope * AXES[1] - constant) == (low, high)


def test_a_table_costs_what_the_general_arm_costs() -> None:
    assert mul_add(table_arm(3, "hd", False)) == mul_add(general_arm(3))
