"""What can be asked of equations, and what they say when it cannot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kane import Equations, Model, ModelError, load
from kane.errors import ExpressionError
from kane.formulation import formulate, unit_program
from kane.graph import evaluate
from kane.model import Force, JointSpring

G = 9.81


def weight_on_spring() -> Model:
    model = Model("weight", gravity=[0, 0, -G])
    model.parameter("k", 30.0)
    model.particle("block", 2.0, center=[0, 0, 0.5])
    model.joint("rail", "prismatic", "ground", "block", axis="z", coordinates=["q"], speeds=["u"])
    model.load("spring", JointSpring("rail", stiffness="k", rest=0.1))
    return model


def test_potential_energy_is_gravity_and_springs_and_gravity_can_be_had_alone() -> None:
    equations = weight_on_spring().equations()
    (gravity, all_of_it) = evaluate([equations.gravity_potential, equations.potential_energy], {"q": 0.4})
    assert np.isclose(gravity, 2.0 * G * 0.9)
    assert np.isclose(all_of_it - gravity, 0.5 * 30.0 * 0.3**2)


def test_time_and_parameters_are_inputs_only_where_they_matter() -> None:
    model = weight_on_spring()
    assert [g.name for g in model.equations().program("inverse_dynamics").inputs] == ["q", "u", "udot"]
    assert model.equations(free=["k"]).program("inverse_dynamics").group("parameters").labels == ("k",)
    model.load("push", Force("block", [0, 0, "sin(t)"]))
    assert model.equations().program("inverse_dynamics").inputs[0].name == "t"


def test_an_unknown_output_lists_what_there_is() -> None:
    with pytest.raises(ExpressionError, match=r"no equations called 'inverse': there are inverse_dynamics, bias"):
        weight_on_spring().equations().program("inverse")


@pytest.mark.parametrize("name", [None, ["bias"], {}, np.zeros(2)], ids=repr)
def test_equations_are_asked_for_by_a_name(name: Any) -> None:
    with pytest.raises(ExpressionError, match="there are inverse_dynamics, bias"):
        weight_on_spring().equations().program(name)


def test_an_unknown_free_parameter_is_refused() -> None:
    with pytest.raises(ModelError, match="unknown parameter 'c'"):
        formulate(weight_on_spring().mechanism, free=["c"])


def test_partial_velocities_are_those_on_paper() -> None:
    """A particle at (0, −l, 0) of a body that turns about z: ω_1 = z, v_1 = l x, in the body."""
    model = Model("pendulum")
    model.particle("bob", 1.0, center=[0, -0.7, 0])
    model.joint("pivot", "revolute", "ground", "bob", axis="z", coordinates=["q"])
    w, v = model.equations().partial_velocities("bob")
    at = {"q": 0.3}
    assert np.allclose([evaluate(row, at) for row in w], [[0.0], [0.0], [1.0]])
    assert np.allclose([evaluate(row, at) for row in v], [[0.7], [0.0], [0.0]])


def test_quaternions_are_made_unit_where_there_are_any() -> None:
    assert unit_program(weight_on_spring().equations()) is None
    model = Model("ball")
    model.body("ball", mass=1.0, inertia={"xx": 1, "yy": 1, "zz": 1})
    model.joint("socket", "spherical", "ground", "ball")
    program = unit_program(model.equations())
    assert program is not None and program.outputs[0].shape == (4 + 3 + 1,)


def test_equations_say_what_they_are() -> None:
    equations = weight_on_spring().equations()
    assert isinstance(equations, Equations)
    assert repr(equations).startswith("<Equations of 'weight': 1 speed")


def test_printed_equations_are_those_of_a_pendulum() -> None:
    """τ = m l² u̇ + m g l sin q, whatever the order of its factors; one that is too long is counted only."""
    printed = str(load("pendulum").equations(free="all"))
    line = next(line for line in printed.splitlines() if " = " in line)
    values = {"L": 0.7, "m": 1.3, "g": 9.0, "sin(q)": 0.4, "u'": 2.5}
    found = sum(
        math.prod(values[factor.rstrip("²")] ** (2 if factor.endswith("²") else 1) for factor in term.split())
        for term in line.split(" = ")[1].split(" + ")
    )
    assert found == pytest.approx(1.3 * 0.7**2 * 2.5 + 1.3 * 9.0 * 0.7 * 0.4, rel=1e-12)
    assert "forward dynamics: " in printed
    long = str(load("stanford-arm").equations())
    assert " = " not in long and "118 multiplications, 83 additions" in long
