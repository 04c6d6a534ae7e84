"""Loads: what they do along any motion is what their potential loses; action and reaction cancel."""

from __future__ import annotations

import numpy as np
import pytest

from kane.errors import ModelError
from kane.graph import evaluate, time_derivative
from kane.model import Effort, Force, JointSpring, Mechanism, Spring, Torque
from kane.model.loads import BuiltLoad, EffortAction, ForceAction, TorqueAction
from kane.space import Kinematics, position
from unit.space.numeric import vector

ROUNDING = 1e-12


class Chain:
    """Two bodies on skew hinges in a random state, with a slide between them."""

    def __init__(self) -> None:
        self.m = m = Mechanism("chain")
        m.parameter("k", 40.0)
        m.parameter("c", 3.0)
        m.body("A", mass=1.0)
        m.body("B", mass=2.0)
        m.joint("a", "revolute", "ground", "A", axis=[0.6, 0.0, 0.8], at=[0.1, 0.2, 0.3], coordinates=["q1"])
        m.joint("b", "cylindrical", "A", "B", axis="x", at=[0.5, 0.0, 0.1], coordinates=["q2", "q3"])
        rng = np.random.default_rng(5)
        names = [*m.coordinates, *m.motion_variables]
        self.values = {name: float(rng.uniform(-1, 1)) for name in names} | {"k": 40.0, "c": 3.0, "t": 0.7}
        self.kinematics = Kinematics(m.graph, {**m.coordinate_rates, m.time: 1.0})

    def power(self, load: BuiltLoad) -> float:
        """Σ v · F + Σ ω · T + Σ s f (W)."""
        k, total = self.kinematics, 0.0
        for action in load.actions():
            if isinstance(action, ForceAction):
                v = k.turn(k.v(action.point), action.point.home, action.vector.frame)
                total += float(vector(v, self.values) @ vector(action.vector.xyz, self.values))
            elif isinstance(action, TorqueAction):
                w = k.turn(k.w(action.frame), action.frame, action.vector.frame)
                total += float(vector(w, self.values) @ vector(action.vector.xyz, self.values))
            elif isinstance(action, EffortAction):
                s, f = evaluate([action.variable, action.value], self.values)
                total += s * f
        return total

    def potential_rate(self, load: BuiltLoad) -> float:
        potential = load.potential()
        assert potential is not None
        return evaluate(time_derivative([potential], self.m.coordinate_rates), self.values)[0]

    def wrench(self, load: BuiltLoad) -> np.ndarray:
        """Resultant and moment about O, in N, (6,)."""
        m, total = self.m, np.zeros(6)
        for action in load.actions():
            assert isinstance(action, ForceAction | TorqueAction)
            f = vector(action.vector.express(m.N).xyz, self.values)
            if isinstance(action, ForceAction):
                arm = vector(position(action.point, m.O).express(m.N).xyz, self.values)
                total += np.concatenate([f, np.cross(arm, f)])
            else:
                total[3:] += f
        return total


def test_a_spring_gives_what_its_potential_loses() -> None:
    chain = Chain()
    spring = chain.m.load("s", Spring("A", "B", first_at=[0, 1, 0], second_at=[1, 0, "k/40"], stiffness="k", rest=0.3))
    assert abs(chain.power(spring) + chain.potential_rate(spring)) < ROUNDING


def test_a_damper_takes_energy_away() -> None:
    chain = Chain()
    damper = chain.m.load("s", Spring("ground", "B", first_at=[0, 1, 0], damping="c"))
    stretch_rate = np.sqrt(-chain.power(damper) / 3.0)
    line = position(chain.m.points["B"], chain.m.O) - chain.m.N.vector(0, 1, 0)
    (expected,) = evaluate(time_derivative([line.magnitude()], chain.m.coordinate_rates), chain.values)
    assert abs(stretch_rate - abs(expected)) < ROUNDING


def test_a_spring_at_a_joint_gives_what_its_potential_loses() -> None:
    chain = Chain()
    spring = chain.m.load("s", JointSpring("b", stiffness="k", rest=-0.2, index=1))
    assert abs(chain.power(spring) + chain.potential_rate(spring)) < ROUNDING


def test_a_damper_at_a_joint_takes_away_damping_times_rate_squared() -> None:
    chain = Chain()
    damper = chain.m.load("s", JointSpring("a", damping="c"))
    assert abs(chain.power(damper) + 3.0 * chain.values["q1'"] ** 2) < ROUNDING


def test_force_and_reaction_cancel() -> None:
    chain = Chain()
    force = chain.m.load("f", Force("B", ["q1", "t", 2.0], at=[0.3, -0.1, 0.5], frame="A", reaction="A"))
    np.testing.assert_allclose(chain.wrench(force), np.zeros(6), atol=ROUNDING)


def test_torque_and_reaction_cancel() -> None:
    chain = Chain()
    torque = chain.m.load("t1", Torque("B", ["q1", "t", 2.0], frame="A", reaction="A"))
    np.testing.assert_allclose(chain.wrench(torque), np.zeros(6), atol=ROUNDING)


def test_a_spring_pulls_both_ends_towards_each_other() -> None:
    chain = Chain()
    spring = chain.m.load("s", Spring("A", "B", stiffness="k"))
    np.testing.assert_allclose(chain.wrench(spring), np.zeros(6), atol=ROUNDING)
    first, second = spring.actions()
    assert isinstance(first, ForceAction) and isinstance(second, ForceAction)
    line = vector(position(second.point, first.point).express(chain.m.N).xyz, chain.values)
    assert vector(first.vector.express(chain.m.N).xyz, chain.values) @ line > 0


def test_an_effort_does_work_along_its_motion_variable() -> None:
    chain = Chain()
    effort = chain.m.load("e", Effort("b", "2*q1 + t", index=1))
    assert abs(chain.power(effort) - (2 * chain.values["q1"] + 0.7) * chain.values["q3'"]) < ROUNDING
    assert effort.potential() is None


@pytest.mark.parametrize(
    ("add", "what"),
    [
        (lambda m: m.load("f", Force("C", [1, 0, 0])), r"load 'f': unknown body 'C'"),
        (lambda m: m.load("f", Force("A", [1, 0])), r"load 'f' / vector: \[1, 0\] is not a list of three components"),
        (lambda m: m.load("f", Force("A", [1, 0, "F"])), r"load 'f' / vector: .*unknown symbol 'F'"),
        (lambda m: m.load("f", Force("A", [1, 0, 0], frame="Z")), r"load 'f' / frame: unknown frame or body 'Z'"),
        (lambda m: m.load("f", Force("loose", [1, 0, 0])), r"load 'f': body 'loose' is not attached yet"),
        (lambda m: m.load("e", Effort("a", 1.0, index=1)), r"load 'e': index 1\n.*joint 'a' has 1 speeds"),
        (lambda m: m.load("e", Effort("aa", 1.0)), r"load 'e': unknown joint 'aa'\n.*did you mean 'a'"),
        (lambda m: m.load("s", JointSpring("ball", stiffness=1.0)), r"a spring on the spherical joint 'ball'"),
        (
            lambda m: m.load("s", Spring("A", "B", stiffness="q1")),
            r"'s' / stiffness: .*\n.*may depend on parameters only",
        ),
        (
            lambda m: m.load("s", Spring("A", "B", stiffness=float("nan"))),
            r"'s' / stiffness: nan is not a finite number",
        ),
    ],
)
def test_a_load_that_cannot_be_is_refused(add, what: str) -> None:
    m = Chain().m
    m.body("loose")
    m.body("ballast")
    m.joint("ball", "spherical", "B", "ballast")
    with pytest.raises(ModelError, match=r"^model 'chain' / load") as refused:
        add(m)
    assert refused.match(what)


def test_two_loads_of_one_name_are_refused() -> None:
    m = Chain().m
    m.load("push", Torque("A", [1, 0, 0]))
    with pytest.raises(ModelError, match=r"load 'push': the name 'push' is already in use\n.*unique\n.*rename"):
        m.load("push", Force("A", [1, 0, 0]))
