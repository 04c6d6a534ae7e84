"""Shapes of bodies in Python: what a model file takes is taken, and what cannot be drawn is refused with the body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kane
from kane.errors import ModelError
from kane.model import Shape, read_mechanism

FILE = """\
kane: 1
parameters: {r: 0.02}
bodies:
  coin:
    mass: 0.01
    shapes:
      - {cylinder: [r, 0.0015], axis: y, at: [0, r/2, 0], color: gold}
      - {sphere: 2*r}
      - {line: [0, 0, 1], quaternion: [0, 1, 0, 0]}
joints:
  slide: {type: prismatic, parent: ground, child: coin, axis: z}
"""
SAME: list[Any] = [
    {"cylinder": ["r", 0.0015], "axis": "y", "at": [0, "r/2", 0], "color": "gold"},
    Shape("sphere", ("2*r",)),  # pyright: ignore[reportArgumentType]
    {"line": (0, 0, 1), "quaternion": [0, 1, 0, 0]},
]


def model(shapes: Any) -> kane.Model:
    m = kane.Model("coin", gravity=(0, 0, -9.81))
    m.parameter("r", 0.02)
    m.body("coin", mass=0.01, shapes=shapes)
    m.joint("slide", "prismatic", "ground", "coin", axis="z")
    return m


def test_shapes_in_python_are_those_of_a_model_file(tmp_path: Path) -> None:
    m = model(SAME)
    assert m.bodies["coin"].shapes == read_mechanism(FILE, "coin.yaml").bodies["coin"].shapes
    m.page(tmp_path / "coin.html")
    assert '"cylinder"' in (tmp_path / "coin.html").read_text(encoding="utf-8")


def test_a_reaction_wheel_takes_the_same_shapes() -> None:
    m = kane.Model()
    m.body("hub", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("base", "free", "ground", "hub")
    m.reaction_wheel("spin", "hub", "z", 0.02, shapes=[{"sphere": 0.1}])
    assert m.bodies["spin"].shapes == (Shape("sphere", (0.1,)),)


@pytest.mark.parametrize(
    ("shapes", "what"),
    [
        ({"sphere": 0.1}, r"is not a list of shapes\n    fix: give a list"),
        (["sphere"], r"'sphere' is not a shape\n    fix: give one of box, cylinder"),
        ([{"spher": 0.1}], r"unknown 'spher'\n    fix: did you mean 'sphere'\?"),
        ([{"sphere": 0.1, "box": [1, 1, 1]}], r"is not one shape\n    fix: give one of"),
        ([{"box": [1, 2]}], r"shapes / box: \[1, 2\] is not 3 numbers\n    fix: write \["),
        ([{"sphere": "-r"}], r"lengths \[-0\.02\]\n    because lengths of a shape are positive\n    fix"),
        ([{"sphere": "t"}], r"it depends on 't'\n    because this quantity may depend on parameters only"),
        ([{"sphere": 0.1, "at": [0, 0]}], r"sphere / at: \[0, 0\] is not 3 numbers\n    fix"),
        ([{"sphere": 0.1, "axis": "w"}], r"axis 'w'\n    because an axis of a shape is x, y or z"),
        ([{"sphere": 0.1, "color": "Red!"}], r"'Red!' is not a color\n    fix: write #rrggbb"),
        ([{"sphere": 0.1, "quaternion": [1, 1, 0, 0]}], r"a rotation is a unit quaternion\n    fix"),
        ([{"sphere": 0.1, "scale": [1, 1, 1]}], r"scale of a sphere\n    because factors are those of a mesh"),
        ([{"mesh": "nowhere.stl"}], r"mesh 'nowhere\.stl' is not there\n    fix: give the path"),
        ([Shape("spere", (0.1,))], r"no shape is called 'spere'\n    fix: give one of"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_the_body(shapes: Any, what: str) -> None:
    with pytest.raises(ModelError, match=what) as error:
        model(shapes)
    assert str(error.value).startswith("model 'coin' / body 'coin' / shapes")
