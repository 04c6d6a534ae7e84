"""Parameters that are given new values pass the checks of a declaration, and a fault changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kane.errors import ModelError
from kane.model import (
    Distance,
    Gear,
    JointSpring,
    Loop,
    Mechanism,
    Rolling,
    Spring,
    Stop,
    Thruster,
    read_mechanism,
    write_mechanism,
)

Declare = Callable[[Mechanism], object]


def bare() -> Mechanism:
    m = Mechanism("arm")
    m.parameter("p", 1.0)
    m.parameter("z", 0.0)
    m.parameter("k", 2.0, free=True)
    m.body("A", mass=1.0)
    m.body("B", mass=1.0)
    m.joint("a", "revolute", "ground", "A", axis="y")
    m.joint("b", "revolute", "A", "B", axis="y", at=(1, 0, 0))
    return m


def add_body(m: Mechanism, **options: object) -> None:
    m.body("C", **options)  # type: ignore[arg-type]
    m.joint("c", "revolute", "B", "C")


REFUSED: list[tuple[str, Declare, dict[str, float | str], str]] = [
    ("mass", lambda m: add_body(m, mass="p"), {"p": -1}, r"body 'C' / mass: mass -1 kg"),
    ("no number", lambda m: add_body(m, mass="1/p"), {"p": 0}, r"body 'C' / mass: mass inf kg"),
    (
        "triangle",
        lambda m: add_body(m, mass=1, inertia={"xx": 1, "yy": 1, "zz": "p"}),
        {"p": 3},
        r"body 'C' / inertia: central principal moments 1, 1, 3",
    ),
    ("center", lambda m: add_body(m, mass=1, center=("1/p", 0, 0)), {"p": 0}, r"body 'C' / center: "),
    ("place", lambda m: (m.body("C"), m.joint("c", "weld", "B", "C", at=("1/p", 0, 0))), {"p": 0}, "joint 'c': "),
    (
        "axis",
        lambda m: (m.body("C"), m.joint("c", "revolute", "B", "C", axis=("p", "z", 0))),
        {"z": 1},
        r"joint 'c' / axis: axis \[1.0, 1.0, 0.0\] has length",
    ),
    ("gravity", lambda m: m.set_gravity((0, 0, "-1/p")), {"p": 0}, "gravity: "),
    ("wheel", lambda m: m.reaction_wheel("w", "B", "z", "p"), {"p": 0}, r"wheel 'w' / inertia: inertia 0 kg m²"),
    ("slosh", lambda m: m.slosh("tank", "B", 1.0, "p"), {"p": -1}, r"slosh 'tank': length"),
    ("rotor", lambda m: m.rotor("r", "a", "p"), {"p": -2}, r"rotor 'r': inertia -2 kg m²"),
    ("radius", lambda m: m.constrain("c", Rolling("B", radius="p")), {"p": 0}, r"constraint 'c' / radius: radius 0 m"),
    ("crown", lambda m: m.constrain("c", Rolling("B", radius=1, crown="p")), {"p": 2}, "does not exceed its radius"),
    ("rod", lambda m: m.constrain("c", Distance("ground", "B", length="p")), {"p": -1}, r"constraint 'c': length -1 m"),
    ("ratio", lambda m: m.constrain("c", Gear("a", "b", "p")), {"p": 0}, r"constraint 'c' / ratio: the ratio is 0"),
    (
        "axis of a loop",
        lambda m: m.constrain("c", Loop("revolute", "ground", "B", axis=("z", "p", 0))),
        {"p": 2},
        "an axis is a unit vector",
    ),
    ("stop", lambda m: m.load("s", Stop("a", upper=1, stiffness="p")), {"p": 0}, r"load 's': stiffness p"),
    ("ends", lambda m: m.load("s", Stop("a", lower="p", upper=2, stiffness=1)), {"p": 3}, "load 's': from 3 to 2"),
    ("spring", lambda m: m.load("s", Spring("A", "B", rest="1/p")), {"p": 0}, r"load 's' / rest: "),
    ("joint spring", lambda m: m.load("s", JointSpring("a", stiffness="1/p")), {"p": 0}, r"load 's' / stiffness: "),
    ("thruster", lambda m: m.load("s", Thruster("A", ("p", 0, 0), 1)), {"p": 2}, r"load 's' / direction: "),
    ("speeds", lambda m: m.set_speeds({"u1": "q_a'", "u2": "p*q_b' + q_a'"}), {"p": 0}, "u1, u2 cannot be solved"),
    ("free", lambda m: add_body(m, mass="k"), {"k": -1}, r"body 'C' / mass: mass -1 kg"),
    ("unknown", lambda m: None, {"q": 1}, "unknown parameter 'q'"),
    ("nan", lambda m: None, {"p": float("nan")}, "not a finite number"),
    ("motion", lambda m: None, {"p": "q_a"}, "parameter 'p': it depends on 'q_a'"),
]


@pytest.mark.parametrize(("declare", "values", "why"), [r[1:] for r in REFUSED], ids=[r[0] for r in REFUSED])
def test_what_a_declaration_would_refuse_is_refused_later(
    declare: Declare, values: dict[str, float | str], why: str
) -> None:
    m = bare()
    declare(m)
    before, revision, remarks = dict(m.parameters), m.revision, list(m.remarks)
    with pytest.raises(ModelError, match=why) as refused:
        m.set_parameters(values)
    assert str(refused.value).startswith("model 'arm' / ")
    assert (m.parameters, m.revision, m.remarks) == (before, revision, remarks)


def test_every_fault_is_told_at_once_and_none_of_the_values_is_taken() -> None:
    m = bare()
    add_body(m, mass="p")
    m.constrain("road", Rolling("B", radius="k"))
    with pytest.raises(ModelError) as refused:
        m.set_parameters({"z": 5.0, "p": -1.0, "k": -2.0})
    assert [p.where for p in refused.value.problems] == [
        "model 'arm' / body 'C' / mass",
        "model 'arm' / constraint 'road' / radius",
    ]
    assert [m.parameters[n].value for n in ("p", "z", "k")] == [1.0, 0.0, 2.0]


def test_fixed_parameters_are_told_and_change_the_description() -> None:
    m = bare()
    before = m.revision
    assert m.set_parameters({"k": "2*p"}) == () and m.revision == before and m.parameters["k"].value == 2.0
    assert m.set_parameters({"k": 3.0, "p": 4}) == ("p",) and m.revision > before
    assert (m.parameters["k"].value, m.parameters["p"].value) == (3.0, 4.0)


def test_a_remark_about_an_inertia_follows_the_parameter() -> None:
    m = bare()
    add_body(m, mass=1.0, inertia={"zz": "p", "xx": 1, "yy": 1}, checked=False)
    assert not m.remarks
    m.set_parameters({"p": 3.0})
    m.set_parameters({"p": 4.0})
    assert [str(r).count("1, 1, 4") for r in m.remarks] == [1]
    m.set_parameters({"p": 2.0})
    assert not m.remarks


def test_a_wheel_of_a_file_keeps_its_radius_positive() -> None:
    text = (
        "kane: 1\nparameters: {r: 0.3}\nbodies: {w: {mass: 1}}\njoints: {j: {type: free, parent: ground, child: w}}\n"
    )
    m = read_mechanism(text + "constraints: {road: {type: rolling, body: w, radius: r}}", "wheel.yaml")
    with pytest.raises(ModelError, match=r"constraint 'road' / radius: radius -0\.3 m"):
        m.set_parameters({"r": -0.3})
    m.set_parameters({"r": 0.4})


def test_initial_values_follow_the_parameters_they_are_written_in() -> None:
    m = bare()
    m.body("C", mass=1.0)
    m.joint("slide", "prismatic", "ground", "C", axis="x", coordinates=["s"], speeds=["v"], initial=["p + 1"])
    m.set_initial({"v": "p - k"})
    text = write_mechanism(m)
    for again in (m, read_mechanism(text, "again.yaml")):
        again.set_parameters({"p": 0.5})
        assert again.coordinate_records["s"].initial == 1.5
        assert again.speed_records["v"].initial == 0.5 - again.parameters["k"].value
    m.set_initial({"s": 3.0})
    m.set_parameters({"p": 0.7})
    assert m.coordinate_records["s"].initial == 3.0


def test_an_initial_value_that_is_not_finite_is_refused() -> None:
    m = bare()
    m.coordinate("free", initial="asin(p)")
    with pytest.raises(ModelError, match=r"initial 'free': asin\(p\) is nan"):
        m.set_parameters({"p": 2.0})
    m.set_parameters({"p": 0.5})
