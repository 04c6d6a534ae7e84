"""A kind of constraint of one's own, in one small class: a rope through an eye, from Python and in a model file."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kane
from kane.model import Builder, RowSet
from kane.model.fields import BodyName, Components, Scalar
from kane.space import position


@dataclass(frozen=True, slots=True)
class Tether:
    """A rope of `length` (m) between the origins of two bodies, through an eye at `eye` (m) of N; λ is its tension."""

    first: BodyName
    second: BodyName
    length: Scalar
    eye: Components = (0.0, 0.0, 0.0)
    kind = "tether"

    def make_rows(self, build: Builder) -> RowSet:
        first, second = build.two_bodies(self.first, self.second)
        eye = build.place(build.ground, self.eye, "eye")
        slack, pulls = build.positive(self.length, "length"), []
        for body in (first, second):
            end = build.place(body, (0.0, 0.0, 0.0))
            line = position(eye.point, end.point)
            slack = slack - line.magnitude()
            pulls += end.push(line * (1.0 / line.magnitude()))
        return RowSet((build.row("tension", pulls, residual=slack),), first, second, end.point)


BODIES = """
kane: 1
gravity: [0, 0, -g]
parameters: {g: 9.81, m: 0.2, M: 0.5, L: 1.0}
bodies: {puck: {mass: m, inertia: {yy: 1e-4, zz: 1e-4}}, weight: {mass: M}}
joints:
  table: {type: planar, parent: ground, child: puck, coordinates: [x, y, h], speeds: [vx, vy, w], initial: [0.4, 0, 0]}
  line: {type: prismatic, parent: ground, child: weight, axis: -z, coordinate: s, speed: v, initial: 0.6}
"""
ROPE = "constraints: {rope: {type: tether, first: puck, second: weight, length: L}}"
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "puck.yaml"
    path.write_text(BODIES + ROPE, encoding="utf-8")
    m = kane.load(path, kinds=(Tether,))
    path.write_text(BODIES, encoding="utf-8")
    same = kane.load(path)
same.constrain("rope", Tether("puck", "weight", "L"))
assert same.mechanism.description() == m.mechanism.description()
print(m.check())
circling = np.sqrt(0.5 * 9.81 * 0.4 / 0.2)  # m/s: m v² / r = M g
run = m.simulate((0, 5), u={"vy": circling}, rtol=1e-10)
r, tension = np.hypot(run.q[:, 0], run.q[:, 1]), m.reactions(run.q, run.u).multipliers[:, 0]
print(f"{run.outcome}\nthe puck stays {r.mean():.6f} m from the eye; the rope pulls with {tension.mean():.6f} N = M g")
assert m.check().passed and np.ptp(r) < 1e-8 and np.abs(tension - 0.5 * 9.81).max() < 1e-8
