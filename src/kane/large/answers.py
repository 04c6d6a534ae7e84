"""Answers of a large tree, by recursion: same calls, same numbers as the written-out form, O(n) whatever is asked.

In comes a mechanism; each question compiles its recursion for the kinds of joints that occur, once, and binds it to the
tree's tables. Efforts of loads that are expressions come from a program of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..backends import Kernel, compile
from ..backends.looped import Layout, Pass, Places, Recursion, compile_looped
from ..formulation.recursion import PASSES, STATE, TOTALS, step
from ..graph import Expr, Inputs, Outputs, Program
from ..model import Mechanism
from ..model.loads import EffortAction, JointSpring
from .terms import Terms, speed_indices, sum_efforts
from .tree import ALL, GROUND, GROUND_SPIN, SLOT, ZERO, Floats, LargeTree

ANSWERS = (
    "inverse_dynamics",
    "bias",
    "forward_dynamics",
    "mass_matrix",
    "kinematics",
    "energy",
    "momentum",
    "mass_center",
    "central_momentum",
    "inertia",
    "poses",
)
"""What can be asked for, by the names of the written-out programs."""

_SIGNS = {"forward_dynamics": 1, "motion": 1, "inverse_dynamics": -1}
"""How efforts of springs enter: added to what is given, or taken off what is asked for."""


class Totals(NamedTuple):
    """Sums over all bodies: kinetic energy and potential energy of gravity (J), mass (kg), mass times the position of
    the mass centre (kg m), linear momentum (kg m/s) and angular momentum about the origin (kg m²/s), in N."""

    kinetic: Floats
    gravity_potential: Floats
    mass: Floats
    moment: Floats
    linear: Floats
    angular: Floats


class BodyMotions(NamedTuple):
    """Of every body, components in N: orientation, position of its joint (m), mass centre from there (m), angular
    velocity (rad/s) and velocity of the mass centre (m/s)."""

    R_NB: Floats
    joint: Floats
    arm: Floats
    w: Floats
    velocity: Floats


class LargeAnswers:
    """What can be asked of a mechanism without obstacles (see `obstacles`), computed by recursion over its bodies.

    Arrays are (n,) or (batch, n), as for the written-out form. Parameters have the values that they had when this was
    made, but for those of expressions, which are given.
    """

    def __init__(self, mechanism: Mechanism):
        mechanism.validate()
        self.mechanism = mechanism
        self.tree = LargeTree(mechanism)
        self._kernels: dict[str, Kernel] = {}

    # kernels ---------------------------------------------------------------------------------------------------------

    def recursion(self, name: str, *, springs: bool = True) -> Recursion:
        """The passes of a recursion for the kinds of joints that this tree has, and the columns that they use."""
        passes = tuple(Pass(tuple(step(k, s) for k in self.tree.kinds), inward) for s, inward in PASSES[name])
        programs = [p for run in passes for p in run.steps if p is not None]
        used = {g.name for p in programs for g in p.inputs} | {o.name for p in programs for o in p.outputs}
        sign = _SIGNS.get(name, 0) if springs and self.tree.springs else 0
        return Recursion(passes, tuple(c for c in self.tree.columns if c in used), sign, name == "motion")

    def layout(
        self, recursion: Recursion, inputs: tuple[Places, ...], outputs: tuple[Places, ...], ground: Floats, **more: Any
    ) -> Layout:
        """The tree's tables for a recursion; `ground` is what the ground leaves for the bodies on it."""
        tree = self.tree
        fixed = ((ZERO, np.zeros(SLOT)), (GROUND, np.resize(ground, SLOT) * (np.arange(SLOT) < len(ground))))
        fixed += ((GROUND_SPIN, np.zeros(3)), (ALL, np.zeros(TOTALS)))
        columns = [tree.kind_of, *(tree.columns[c] for c in recursion.columns)]
        return Layout(
            table=np.stack(columns, axis=1).astype(np.int32),
            data=tree.data,
            work=tree.place_at + (STATE * len(tree.joints) if "place" in recursion.columns else 0),
            inputs=inputs,
            outputs=outputs,
            presets=np.concatenate([np.arange(at, at + len(v)) for at, v in fixed]).astype(np.int32),
            preset_values=np.concatenate([v for _, v in fixed]),
            spring_places=tree.spring_places,
            spring_values=tree.spring_values,
            **more,
        )

    @property
    def base_acceleration(self) -> Floats:
        """α and a of the ground that stand for gravity."""
        return np.concatenate([np.zeros(3), -self.tree.gravity])

    def dynamics(self, name: str, *, alone: bool = False) -> Kernel:
        """Forward or inverse dynamics without loads that are expressions; `alone` without any load or gravity."""
        key = f"{name} alone" if alone else name
        if key not in self._kernels:
            tree, recursion = self.tree, self.recursion(name, springs=not alone)
            ground = np.zeros(6) if alone else self.base_acceleration
            layout = self.layout(recursion, (tree.q_places, tree.u_places, tree.x_places), (tree.x_places,), ground)
            given, asked = ("tau", "udot") if name == "forward_dynamics" else ("udot", "tau")
            form = signature(self.mechanism, name, ("q", "u", given), {asked: (tree.n_u,)})
            self._kernels[key] = compile_looped(recursion, layout, form)
        return self._kernels[key]

    def _kinematics(self, name: str) -> Kernel:
        """Rates of the coordinates, totals over all bodies, or places of the links, from q and u."""
        if name not in self._kernels:
            tree, recursion = self.tree, self.recursion(name)
            places: dict[str, tuple[tuple[int, ...], Places]] = {
                "kinematics": ((tree.n_q,), tree.q_places),
                "state": ((TOTALS,), np.arange(ALL, ALL + TOTALS, dtype=np.int32)),
                "poses": (
                    (len(tree.joints), STATE),
                    np.arange(tree.place_at, tree.place_at + STATE * len(tree.joints), dtype=np.int32),
                ),
            }
            shape, where = places[name]
            ground = np.concatenate([np.eye(3).ravel(), np.zeros(9)])
            layout = self.layout(recursion, (tree.q_places, tree.u_places), (where,), ground)
            form = signature(self.mechanism, name, ("q", "u"), {"answer": shape})
            self._kernels[name] = compile_looped(recursion, layout, form)
        return self._kernels[name]

    # loads -----------------------------------------------------------------------------------------------------------

    @cached_property
    def terms(self) -> Terms:
        return Terms(self.mechanism)

    @cached_property
    def load_efforts(self) -> dict[Expr, Expr]:
        """Motion variable → effort of all loads but springs on joints."""
        others = [load for load in self.mechanism.loads.values() if not isinstance(load.record, JointSpring)]
        actions = [a for load in others for a in load.actions()]
        return sum_efforts((a.variable, a.value) for a in actions if isinstance(a, EffortAction))

    @cached_property
    def _loads(self) -> Kernel | None:
        efforts = self.load_efforts
        if not efforts:
            return None
        return compile(self.terms.program("efforts of loads", ("t", "q", "u"), "efforts", list(efforts.values())))

    def _add_load_efforts(self, t: Any, q: Any, u: Any, x: Any, sign: int, free: Floats) -> Any:
        """`x` with efforts of loads that are expressions added or taken off."""
        if self._loads is None:
            return x
        efforts = self._loads(t, q, u, *([free] if len(free) else []))
        lead = np.broadcast_shapes(x.shape[:-1], efforts.shape[:-1])
        total = np.array(np.broadcast_to(x, (*lead, x.shape[-1])))
        total[..., speed_indices(self.load_efforts, self.mechanism)] += sign * efforts
        return total

    def sole_kernel(self, name: str) -> Kernel | None:
        """The kernel that alone gives an answer, or None: dynamics without loads that are expressions."""
        if name not in ("forward_dynamics", "inverse_dynamics") or self._loads is not None:
            return None
        return self.dynamics(name)

    # answers ---------------------------------------------------------------------------------------------------------

    def answer(self, name: str, t: Any, arrays: tuple[Any, ...], free: Floats) -> Any:
        """What the program `name` of the written-out form gives; `free` are the values of free parameters."""
        assert name in ANSWERS, f"there is no recursion for '{name}'"
        return getattr(self, f"_{name}_answer")(t, *arrays, free)

    def _inverse_dynamics_answer(self, t: Any, q: Any, u: Any, udot: Any, free: Floats) -> Floats:
        return self._add_load_efforts(t, q, u, self.dynamics("inverse_dynamics")(q, u, udot), -1, free)

    def _bias_answer(self, t: Any, q: Any, u: Any, free: Floats) -> Floats:
        return self._inverse_dynamics_answer(t, q, u, np.zeros(self.tree.n_u), free)

    def _forward_dynamics_answer(self, t: Any, q: Any, u: Any, tau: Any, free: Floats) -> Floats:
        kernel = self.dynamics("forward_dynamics")
        if self._loads is not None and np.shape(tau)[-1:] == (self.tree.n_u,):
            tau = self._add_load_efforts(t, q, u, np.asarray(tau, dtype=float), 1, free)
        return kernel(q, u, tau)

    def _mass_matrix_answer(self, t: Any, q: Any, free: Floats) -> Floats:
        """Column by column: the efforts of unit accelerations at rest, without gravity and loads."""
        kernel, n = self.dynamics("inverse_dynamics", alone=True), self.tree.n_u
        rest, units = np.zeros(n), np.eye(n)
        if np.ndim(q) < 2:
            return kernel(q, rest, units)
        return np.stack([kernel(row, rest, units) for row in np.asarray(q)])

    def _kinematics_answer(self, t: Any, q: Any, u: Any, free: Floats) -> Floats:
        return self._kinematics("kinematics")(q, u)

    def totals(self, q: Any, u: Any) -> Totals:
        """Sums over all bodies at q and u."""
        sums = self._kinematics("state")(q, u)
        moment = sums[..., 2:5]
        potential = -(moment * self.tree.gravity).sum(axis=-1)
        return Totals(sums[..., 0], potential, sums[..., 1], moment, sums[..., 5:8], sums[..., 8:11])

    def _energy_answer(self, t: Any, q: Any, u: Any, free: Floats) -> tuple[Floats, Floats]:
        totals = self.totals(q, u)
        potential = totals.gravity_potential + self.tree.spring_energy(np.asarray(q, dtype=float))
        if self._potentials is not None:
            values = self._potentials(t, q, u, *([free] if len(free) else []))
            potential = potential + values.sum(axis=-1)
        return totals.kinetic, potential

    @cached_property
    def _potentials(self) -> Kernel | None:
        others = [load for load in self.mechanism.loads.values() if not isinstance(load.record, JointSpring)]
        stored = [p for p in (load.potential() for load in others) if p is not None]
        return compile(self.terms.program("potentials", ("t", "q", "u"), "potential", stored)) if stored else None

    def _momentum_answer(self, t: Any, q: Any, u: Any, free: Floats) -> tuple[Floats, Floats]:
        totals = self.totals(q, u)
        return totals.linear, totals.angular

    def _mass_center_answer(self, t: Any, q: Any, free: Floats) -> Floats:
        totals = self.totals(q, np.zeros(self.tree.n_u))
        return np.concatenate([totals.mass[..., None], totals.moment], axis=-1)

    def _body_motions(self, q: Any, u: Any) -> BodyMotions:
        """The motion of every body in N, in the order of the tree."""
        tree = self.tree
        links = self._kinematics("poses")(q, u)
        R_NL = links[..., :9].reshape(*links.shape[:-1], 3, 3)
        w, v = (np.einsum("...ij,...j->...i", R_NL, links[..., i : i + 3]) for i in (12, 15))
        arm = np.einsum("...nij,nj->...ni", R_NL, tree.center)
        return BodyMotions(R_NL @ np.swapaxes(tree.R_BL, 1, 2), links[..., 9:12], arm, w, v + np.cross(w, arm))

    def _poses_answer(self, t: Any, q: Any, free: Floats) -> Floats:
        """R_NB and the origins of the bodies, in the order of the model."""
        tree, bodies = self.tree, self._body_motions(q, np.zeros(self.tree.n_u))
        origin = bodies.joint - np.einsum("...nij,nj->...ni", bodies.R_NB, tree.child_at)
        flat = np.concatenate([bodies.R_NB.reshape(*origin.shape[:-1], 9), origin], axis=-1)
        place = {id(joint.child): k for k, joint in enumerate(tree.joints)}
        return flat[..., [place[id(body)] for body in self.mechanism.bodies.values()], :]

    def _inertia_answer(self, t: Any, q: Any, free: Floats) -> tuple[Floats, Floats, Floats]:
        """Mass, mass centre, and inertia summed about it: in orbit, moving it there would leave no digits."""
        tree, bodies = self.tree, self._body_motions(q, np.zeros(self.tree.n_u))
        center = self._mean(bodies.joint + bodies.arm)
        arm = bodies.joint + bodies.arm - center[..., None, :]
        own = bodies.R_NB @ tree.central @ np.swapaxes(bodies.R_NB, -1, -2)
        square = (arm**2).sum(axis=-1)[..., None, None] * np.eye(3) - arm[..., :, None] * arm[..., None, :]
        total = (own + tree.mass[:, None, None] * square).sum(axis=-3)
        return np.broadcast_to(tree.mass.sum(), center.shape[:-1]), center, total

    def _central_momentum_answer(self, t: Any, q: Any, u: Any, free: Floats) -> tuple[Floats, Floats]:
        """Linear momentum, and angular momentum summed about the mass centre."""
        tree, bodies = self.tree, self._body_motions(q, u)
        place = bodies.joint + bodies.arm
        arm = place - self._mean(place)[..., None, :]
        mean = self._mean(bodies.velocity)
        turning = np.einsum("...ji,...j->...i", bodies.R_NB, bodies.w)
        own = np.einsum("...ij,...j->...i", bodies.R_NB, np.einsum("nij,...nj->...ni", tree.central, turning))
        orbital = np.cross(arm, tree.mass[:, None] * (bodies.velocity - mean[..., None, :]))
        return tree.mass.sum() * mean, (own + orbital).sum(axis=-2)

    def _mean(self, values: Floats) -> Floats:
        """The mean over all bodies, by mass."""
        return np.einsum("n,...ni->...i", self.tree.mass, values) / self.tree.mass.sum()


def signature(
    mechanism: Mechanism, name: str, groups: tuple[str, ...], outputs: Mapping[str, tuple[int, ...]]
) -> Program:
    """A program without rows that has the inputs and the shapes of the outputs of a recursion."""
    labels = {
        "t": ("t",),
        "q": mechanism.coordinates,
        "u": mechanism.speeds,
        "udot": tuple(f"{s}'" for s in mechanism.speeds),
        "tau": tuple(f"tau_{s}" for s in mechanism.speeds),
        "work": ("work",),
        "parameters": tuple(p.name for p in mechanism.parameters.values() if p.free),
    }
    inputs = tuple(Inputs(g, labels[g]) for g in groups)
    shapes = {out: (shape, int(np.prod(shape, dtype=np.int64))) for out, shape in outputs.items()}
    return Program(name, inputs, (), (), tuple(Outputs(o, s, (0,) * size) for o, (s, size) in shapes.items()))


__all__ = ["ANSWERS", "LargeAnswers", "Totals", "signature"]
