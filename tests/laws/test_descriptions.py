"""The laws hold however a mechanism is described: coupled joints, the analyst's frames, moving bases, chosen speeds."""

from __future__ import annotations

import numpy as np
import pytest

from kane import Model
from kane.analysis import check
from kane.model import JointSpring, Spring
from laws.trees import Array, rotation
from seeds import generator

BACKEND = "numpy"
NEARLY = 1e-12  # two routes, where the last digits of an axis are what matters
INERTIA = {"xx": 0.3, "yy": 0.4, "zz": 0.5, "xy": 0.05, "yz": -0.04}


def body(model: Model, name: str, mass: float = 1.5) -> None:
    model.body(name, mass=mass, center=[0.2, -0.1, 0.3], inertia=INERTIA)


def held(model: Model) -> None:
    report = check(model.mechanism, samples=3, backend=BACKEND)
    assert report.passed, str(report)


def turn(seed: int) -> dict[str, list[list[float]]]:
    R: Array = rotation(generator(seed))
    return {"matrix": R.tolist()}


@pytest.mark.parametrize("moves", ["revolute", "prismatic"])
@pytest.mark.parametrize("place", ["on the leader", "beside the leader", "before the leader"])
def test_a_coupled_joint_follows_from_anywhere_in_the_tree(moves: str, place: str) -> None:
    model = Model("coupled", gravity=[1.0, -9.81, 2.0])
    for name in ("a", "b", "c", "d"):
        body(model, name)
    follower = {"moves": moves, "axis": [0.6, 0.0, 0.8], "follows": "lead", "ratio": -1.7, "offset": 0.2}
    model.joint("root", "revolute", "ground", "a", axis="y", at=[0.1, 0.2, 0.3])
    if place == "before the leader":
        model.joint("lead", "revolute", "b", "c", axis="z", at=[0.4, 0.0, 0.1], rotation=turn(1))
        model.joint("follow", "coupled", "a", "b", at=[0.0, 0.5, 0.0], **follower)
    else:
        model.joint("lead", "prismatic", "a", "b", axis="z", at=[0.4, 0.0, 0.1], rotation=turn(1))
        model.joint("follow", "coupled", "b" if place == "on the leader" else "a", "c", at=[0.0, 0.5, 0.0], **follower)
    model.joint("tip", "spherical", "c", "d", at=[0.3, 0.1, 0.0], child_rotation=turn(2))
    assert len(model.speeds) == 5
    held(model)


@pytest.mark.parametrize("joint", ["weld", "revolute", "prismatic", "spherical", "cylindrical", "free"])
def test_a_joint_hangs_on_a_body_that_the_analyst_attached(joint: str) -> None:
    model = Model("mixed", gravity=[0.0, -9.81, 0.0])
    for name in ("q1", "q2", "q3"):
        model.coordinate(name, 0.4)
    A = model.frame("A", "N", euler="body 31", angles=["q1", "q2"])
    P = model.point("P", "O", A.vector(model.mechanism.names()["q3"], 0.1, 0.0))
    model.body("carrier", mass=2.0, center=[0.1, 0.0, 0.2], inertia=INERTIA, frame=A, origin=P)
    body(model, "outer")
    body(model, "last")
    model.joint("joint", joint, "carrier", "outer", at=[0.3, 0.2, 0.1], rotation=turn(3))
    model.joint("end", "revolute", "outer", "last", axis="x", at=[0.0, 0.2, 0.1])
    model.load("spring", Spring("ground", "last", first_at=[1.0, 1.0, 0.0], stiffness=5.0, damping=0.4, rest=0.2))
    held(model)


def test_a_tree_on_a_base_that_moves_by_itself() -> None:
    """The base turns and shakes as a function of time: no coordinate belongs to it."""
    model = Model("shaker", gravity=[0.0, -9.81, 0.0])
    t = model.mechanism.names()["t"]
    B = model.frame("B", "N", axis=[0.0, 0.6, 0.8], angle="0.3*sin(2*t)")
    P = model.point("P", "O", B.vector(0.2 * (3.0 * t).sin(), 0.1, 0.5 * t))
    model.body("table", mass=3.0, inertia=INERTIA, frame=B, origin=P)
    body(model, "arm")
    body(model, "hand")
    model.joint("elbow", "revolute", "table", "arm", axis="z", at=[0.1, 0.3, 0.0])
    model.joint("wrist", "universal", "arm", "hand", at=[0.5, 0.0, 0.0])
    report = check(model.mechanism, samples=3, backend=BACKEND)
    assert report.passed, str(report)
    assert report.row("power balance").value is None


@pytest.mark.parametrize("sequence", ["body 313", "space 123"])
def test_measure_numbers_of_angular_velocity_and_velocity_as_speeds(sequence: str) -> None:
    model = Model("measured", gravity=[0.0, -9.81, 0.0])
    body(model, "a")
    body(model, "b")
    model.joint("float", "free", "ground", "a", at=[0.1, 0.0, 0.2], child_at=[0.3, 0.0, 0.0], child_rotation=turn(4))
    model.joint("neck", "gimbal", "a", "b", sequence=sequence, at=[0.0, 0.4, 0.0], initial=[0.3, 0.8, -0.2])
    speeds = {f"{kind}{name}{axis}": f"{kind}.{name}.{axis}" for kind, name in ("wa", "va", "wb") for axis in "xyz"}
    model.set_speeds(speeds)
    held(model)


def test_a_tree_with_every_parameter_free_holds_the_laws() -> None:
    model = Model("parametric", gravity=[0, "-g", 0])
    for name, value in {"g": 9.81, "m": 2.0, "L": 0.7, "I": 0.3, "p": 0.2, "a": 0.4}.items():
        model.parameter(name, value)
    for name in ("one", "two", "three"):
        model.body(name, mass="m", center=["L/2", 0, "p"], inertia={"xx": "I", "yy": "2*I", "zz": "2*I", "xy": "I/9"})
    tilt = {"axis": "x", "angle": "a"}
    model.joint("first", "revolute", "ground", "one", axis="z", rotation=tilt)
    model.joint("second", "screw", "one", "two", axis="x", pitch="p", at=["L", 0, 0], child_rotation=tilt)
    model.joint("third", "cylindrical", "two", "three", axis="y", at=["L", "p", 0])
    model.load("spring", JointSpring("first", stiffness="g", damping="p"))
    model.keep_free()
    held(model)


@pytest.mark.parametrize("tilt", [0.0, 1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-7, 1e-4])
def test_axes_that_are_nearly_parallel_lose_no_digits(tilt: float) -> None:
    """Axes as people and other programs write them, off by a few of the last digits, are taken as they are."""
    model, rng = Model("nearly"), generator(9)
    model.set_gravity([1.0, -9.81, 3.0])
    parent = "ground"
    for k, kind in enumerate(["revolute", "revolute", "prismatic", "revolute", "revolute"]):
        body(model, f"b{k}")
        axis = (np.array([0.6, 0.0, 0.8]) + tilt * rng.normal(size=3)) * (-1.0) ** k
        place = rng.normal(size=3).tolist()
        model.joint(f"j{k}", kind, parent, f"b{k}", axis=(axis / np.linalg.norm(axis)).tolist(), at=place)
        parent = f"b{k}"
    report = check(model.mechanism, samples=2, backend=BACKEND)
    assert report.passed, str(report)
    assert (report.row("efforts").value or 0.0) < NEARLY
