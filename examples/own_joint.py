"""A joint type of one's own, in one small class: a bead on a parabola, y = ½ k x²."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import kane
from kane.graph import Expr, Graph
from kane.model.joints import JointMotion
from kane.space import rotations


@dataclass(frozen=True)
class Parabola:
    """q: displacement along x (m). u = q̇. The child slides on y = ½ k x² without turning."""

    k: float
    kind = "parabola"
    coordinates = ("",)
    speeds = ("",)
    rest = (0.0,)

    def motion(self, graph: Graph, q: Sequence[Expr], u: Sequence[Expr]) -> JointMotion:
        x, zero = q[0], graph.const(0.0)
        still = (zero, zero, zero)
        position = (x, 0.5 * self.k * x * x, zero)
        velocity = (u[0], self.k * x * u[0], zero)
        return JointMotion(rotations.identity(graph), position, still, velocity, (u[0],))


m = kane.Model("bead", gravity=[0, -9.81, 0])
m.particle("bead", 0.1)
m.joint("wire", Parabola(k=2.0), "ground", "bead", coordinates=["x"], speeds=["v"])
print(m.equations().program("forward_dynamics"))

trajectory = m.simulate((0, 10), q=[0.5], rtol=1e-10, atol=1e-12)
energy = trajectory.energy()
total = energy.kinetic + energy.potential
print(f"{trajectory.outcome}\nenergy {total[0]:.6f} J, constant within {np.ptp(total):.0e} J")
assert np.ptp(total) < 1e-8
