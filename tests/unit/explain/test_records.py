"""What an explanation gives out: records that print as the equations do, loads told in the names of the model."""

from __future__ import annotations

import kane


def test_entries_print_as_equations_do() -> None:
    told = kane.load("pendulum").explain()
    assert str(told.partial_velocities[1].entries[0]) == "L bob.x"
    assert str(told.active_forces[0].values[0]) == "-g L m sin(q)"


def test_a_joint_spring_is_told_in_the_names_of_the_model() -> None:
    m = kane.Model("swing_rod", gravity=(0, -9.81, 0))
    m.body("my_rod", mass=1, center=(0, -1, 0), inertia={"xx": 1, "yy": 1, "zz": 1})
    m.joint("floor_joint", "revolute", "ground", "my_rod", axis="z", coordinates=["q_rod"], speeds=["u1"])
    m.load("coil", kane.JointSpring("floor_joint", stiffness=3))
    text = m.explain().to_text()
    assert "effort times the coefficient of u_1 in q_rod'" in text
    assert "v_1(my_rod*)" in text
