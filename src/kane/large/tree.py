"""A mechanism in numbers, laid out for recursions over its bodies: constants, places, tables. O(n) in time and memory.

Every body is seen from a link frame L: its joint's own axes, turned so that the axis of a revolute, prismatic, screw or
cylindrical joint, or the normal of a planar one, is z; its origin is at the joint. Bodies are in depth-first order,
parents first. What a body leaves for its children, or they for it, lives in a slot; a slot is used again as soon as
nothing needs it any more, so a chain needs two slots and a balanced tree as many as it is deep.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..backends.looped import Places
from ..constraints.diagnosis import MOVES_NO_MASS
from ..errors import ModelError, Problem
from ..formulation.joint_kinds import JointKind, joint_kind
from ..formulation.links import joints_outward
from ..formulation.recursion import ARTICULATED, MASS, STATE, TOTALS, here_size, kept_size
from ..graph import Expr, evaluate
from ..model import Mechanism
from ..model.joints import Coupled, Cylindrical, JointType, Planar, Prismatic, Revolute, Screw
from ..model.loads import (
    BuiltLoad,
    Effort,
    EffortAction,
    Force,
    JointSpring,
    MagneticTorque,
    PointGravity,
    Spring,
    Stop,
    Thruster,
    Torque,
)
from ..space import rotations

Floats = NDArray[np.float64]

SLOT = ARTICULATED
"""Numbers in a slot: the most that any pass leaves."""

ZERO, GROUND, GROUND_SPIN = 0, SLOT, 2 * SLOT
ALL = GROUND_SPIN + 3
POWER = ALL + TOTALS
NOWHERE = POWER + 1
FIRST = NOWHERE + 1
"""Places of what is not of one body: zeros, the ground's slot and its ω, totals, power, a place for what is never read,
and where the bodies' own numbers start."""


def obstacles(mechanism: Mechanism) -> list[Problem]:
    """What keeps a mechanism from being computed by recursion over its bodies, in the user's order."""
    found: list[Problem] = []

    def refuse(where: str, what: str, fix: str) -> None:
        found.append(Problem(mechanism.where(where), what, "recursions run over bodies and their own joints", fix))

    for body in mechanism.bodies.values():
        if body.joint is None:
            refuse(f"body '{body.name}'", "is attached to a frame and a point", "attach it by a joint")
    for joint in mechanism.joints.values():
        if isinstance(joint.type, Coupled):
            refuse(f"joint '{joint.name}'", f"follows joint '{joint.type.follows}'", "give it a coordinate of its own")
        elif joint_kind(joint.type) is None:
            refuse(f"joint '{joint.name}'", f"is of type {joint.type.kind}", "use a joint type of kane.model")
    own = {c.symbol.id for joint in mechanism.joints.values() for c in joint.coordinates}
    for c in mechanism.coordinate_records.values():
        if c.symbol.id not in own:
            refuse(f"coordinate '{c.name}'", "belongs to no joint", "move bodies by joints")
    moved = {rate.id for joint in mechanism.joints.values() for rate in joint.rates}
    for s in mechanism.speed_records.values():
        if s.definition.id not in moved:
            refuse(f"speed '{s.name}'", "is not the motion variable of a joint", "leave the speeds to the joints")
    for constraint in mechanism.constraints.values():
        refuse(f"constraint '{constraint.name}'", f"is a {constraint.kind} constraint", "leave it out")
    for name, part in mechanism.changing.items():
        refuse(f"constraint '{name}'", f"is a {part.kind} that comes and goes", "leave it out")
    for load in mechanism.loads.values():
        if not _along_joints(load, moved):
            refuse(
                f"load '{load.name}'", f"is a {type(load.record).__name__}", "use joint springs, dampers and efforts"
            )
    return found


def _along_joints(load: BuiltLoad, moved: set[int]) -> bool:
    """Whether a load is made of efforts along motion variables of joints."""
    if isinstance(load.record, (JointSpring, Effort, Stop)):
        return True
    if isinstance(load.record, (Force, Spring, Torque, Thruster, PointGravity, MagneticTorque)):
        return False  # without asking for the actions, which are long expressions far out on a tree
    return all(isinstance(a, EffortAction) and a.variable.id in moved for a in load.actions())


class LargeTree:
    """Constants, places and tables of a mechanism without obstacles, at the present values of its parameters."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self.joints = joints_outward(mechanism)
        place = {id(joint.child): k for k, joint in enumerate(self.joints)}
        self.parent = np.array([place.get(id(joint.parent), -1) for joint in self.joints], dtype=np.int64)
        geared = {id(rotor.joint) for rotor in mechanism.rotors.values()}
        self.kinds: list[JointKind] = []
        index: dict[JointKind, int] = {}
        kind_of = []
        for joint in self.joints:
            kind = joint_kind(joint.type, id(joint) in geared)
            assert kind is not None, f"joint '{joint.name}' is an obstacle"
            if kind not in index:
                index[kind] = len(self.kinds)
                self.kinds.append(kind)
            kind_of.append(index[kind])
        self.kind_of = np.array(kind_of, dtype=np.int64)
        self._set_places()
        self._set_constants()
        self._check_mass()

    # places ----------------------------------------------------------------------------------------------------------

    def _set_places(self) -> None:
        """Where in `work` each body finds its numbers, and where those of q, u and x go."""
        sizes = {
            "q": [len(k.type.coordinates) for k in self.kinds],
            "u": [len(k.type.speeds) for k in self.kinds],
            "kept": [here_size(k) + kept_size(k) for k in self.kinds],
        }
        counts = {name: np.array(size)[self.kind_of] for name, size in sizes.items()}
        ends = {name: np.cumsum(count) for name, count in counts.items()}
        starts = {name: ends[name] - count for name, count in counts.items()}
        slot, slots = self._slots()
        n_q, n_u, n_kept = (int(ends[name][-1]) for name in ("q", "u", "kept"))
        kept_at = FIRST + SLOT * slots
        self.q_at = kept_at + n_kept
        self.u_at = self.q_at + n_q
        self.x_at = self.u_at + n_u
        self.place_at = self.x_at + n_u
        here = kept_at + starts["kept"]
        inner = self.parent
        inner_slot = np.where(inner < 0, GROUND, FIRST + SLOT * slot[inner])
        latest = np.full(len(inner) + 1, -1)  # the last child of each body, and of the ground
        np.maximum.at(latest, inner, np.arange(len(inner)))
        own_slot = FIRST + SLOT * slot
        data_counts = np.array([MASS.stop + k.extra_constants for k in self.kinds])[self.kind_of]
        data_ends = np.cumsum(data_counts)
        self.columns = {
            "body": data_ends - data_counts,
            "q": self.q_at + starts["q"],
            "u": self.u_at + starts["u"],
            "x": self.x_at + starts["u"],
            "here": here,
            "inner": np.where(inner < 0, GROUND_SPIN, here[inner]),
            "kept": here + np.array([here_size(k) for k in self.kinds])[self.kind_of],
            "slot": own_slot,
            "inner_slot": inner_slot,
            "outer": np.where(latest[:-1] < 0, ZERO, own_slot),
            "sum": np.where(latest[inner] == np.arange(len(inner)), ZERO, inner_slot),
            "totals": np.full(len(inner), ALL),
            "place": self.place_at + STATE * np.arange(len(inner)),
        }
        self.q_start, self.u_start = starts["q"], starts["u"]
        self.n_q, self.n_u, self.n_data = n_q, n_u, int(data_ends[-1])

    def _slots(self) -> tuple[NDArray[np.int64], int]:
        """(slot of each body, how many there are)."""
        waiting = np.bincount(self.parent[self.parent >= 0], minlength=len(self.parent)).tolist()
        slot, free, count = [0] * len(waiting), [], 0
        for k, p in enumerate(self.parent.tolist()):
            if not free:
                free.append(count)
                count += 1
            slot[k] = free.pop()
            if not waiting[k]:
                free.append(slot[k])
            if p >= 0:
                waiting[p] -= 1
                if not waiting[p]:
                    free.append(slot[p])
        return np.array(slot, dtype=np.int64), count

    @cached_property
    def q_places(self) -> Places:
        """Where in `work` each coordinate goes, in the order of the model."""
        at: dict[int, int] = {}
        for joint, start in zip(self.joints, self.q_start.tolist(), strict=True):
            at.update((c.symbol.id, self.q_at + start + i) for i, c in enumerate(joint.coordinates))
        return np.array([at[c.symbol.id] for c in self.mechanism.coordinate_records.values()], dtype=np.int32)

    @cached_property
    def u_places(self) -> Places:
        """Where in `work` each speed goes, in the order of the model."""
        at = self.variable_places
        return np.array([at[s.definition.id] for s in self.mechanism.speed_records.values()], dtype=np.int32)

    @cached_property
    def variable_places(self) -> dict[int, int]:
        """Node of a motion variable → where in `work` it goes."""
        at: dict[int, int] = {}
        for joint, start in zip(self.joints, self.u_start.tolist(), strict=True):
            at.update((rate.id, self.u_at + start + i) for i, rate in enumerate(joint.rates))
        return at

    @cached_property
    def x_places(self) -> Places:
        """Where in `work` the effort or the acceleration along each speed goes, in the order of the model."""
        return self.u_places + np.int32(self.x_at - self.u_at)

    # constants -------------------------------------------------------------------------------------------------------

    def numbers(self, exprs: Sequence[Expr]) -> Floats:
        """Values of expressions in parameters, at their present values."""
        varying = {e.id: e for e in exprs if e.number is None}
        values = {p.name: p.value for p in self.mechanism.parameters.values()}
        known = dict(zip(varying, evaluate(list(varying.values()), values), strict=True))
        return np.array([known.get(e.id, e.number) for e in exprs], dtype=float)

    def _set_constants(self) -> None:
        """`data`, the constants of all bodies; R_BL and the joint's place in the body, for whoever asks for bodies."""
        n = len(self.joints)
        flat: list[Expr] = []
        for j in self.joints:
            b = j.child
            flat += (*j.mount[0], *j.mount[1], *j.mount[2], *j.child_mount[0], *j.child_mount[1], *j.child_mount[2])
            flat += (*j.at, *j.child_at, b.mass, *b.center, *b.inertia[0], *b.inertia[1], *b.inertia[2])
        given = self.numbers(flat).reshape(n, 37)
        mount, child_mount = given[:, 0:9].reshape(n, 3, 3), given[:, 9:18].reshape(n, 3, 3)
        at, child_at, mass, center = given[:, 18:21], given[:, 21:24], given[:, 24], given[:, 25:28]
        central = given[:, 28:37].reshape(n, 3, 3)
        turned = self._axes()
        R_BL = child_mount @ turned
        p, root = self.parent, self.parent < 0
        inward = np.where(root[:, None, None], np.eye(3), np.swapaxes(R_BL[p], 1, 2))
        inner_at = np.where(root[:, None], 0.0, child_at[p])
        R_rest = inward @ mount @ turned
        offset = np.einsum("nij,nj->ni", inward, at - inner_at)
        c = np.einsum("nji,nj->ni", R_BL, center - child_at)
        I = np.einsum("nji,njk,nkl->nil", R_BL, central, R_BL)
        I += mass[:, None, None] * (
            np.einsum("ni,ni->n", c, c)[:, None, None] * np.eye(3) - c[:, :, None] * c[:, None, :]
        )
        upper = np.stack([I[:, i, j] for i in range(3) for j in range(i, 3)], axis=1)
        record = np.concatenate([R_rest.reshape(n, 9), offset, mass[:, None], mass[:, None] * c, upper], axis=1)
        self.data = np.zeros(self.n_data)
        starts = self.columns["body"]
        self.data[starts[:, None] + np.arange(MASS.stop)] = record
        self._add_constants(starts + MASS.stop)
        self.R_BL, self.child_at, self.mass, self.central = R_BL, child_at, mass, central
        self.center = c
        self.gravity = self.numbers(self.mechanism.gravity)

    def _add_constants(self, after: NDArray[np.int64]) -> None:
        """What kinds add to the constants of a body: pitches, inertias of rotors."""
        screws = [k for k, joint in enumerate(self.joints) if isinstance(joint.type, Screw)]
        pitches = [joint.type.pitch for joint in self.joints if isinstance(joint.type, Screw)]
        if screws:
            self.data[after[screws]] = self.numbers(pitches)
            after = after.copy()
            after[screws] += 1
        rotors = list(self.mechanism.rotors.values())
        place = {id(joint): k for k, joint in enumerate(self.joints)}
        for rotor, inertia in zip(rotors, self.numbers([r.inertia for r in rotors]), strict=True):
            self.data[after[place[id(rotor.joint)]] + rotor.index] += inertia

    def _axes(self) -> Floats:
        """For each joint the rotation that turns z into its axis; one where components along fixed axes are speeds."""
        n = len(self.joints)
        turned = np.tile(np.eye(3), (n, 1, 1))
        along = [k for k, j in enumerate(self.joints) if isinstance(j.type, (Revolute, Prismatic, Screw, Cylindrical))]
        if along:
            e = self.numbers([x for k in along for x in _axis(self.joints[k].type)]).reshape(-1, 3)
            away = np.eye(3)[np.argmin(np.abs(e), axis=1)]
            first = np.cross(away, e)
            first /= np.linalg.norm(first, axis=1, keepdims=True)
            turned[along] = np.stack([first, np.cross(e, first), e], axis=2)
        for k, joint in enumerate(self.joints):
            if isinstance(joint.type, Planar):
                normal = rotations.AXES[joint.type.normal]
                turned[k] = np.eye(3)[:, [(normal + 1) % 3, (normal + 2) % 3, normal]]
        return turned

    def _check_mass(self) -> None:
        """Refuse, by name, a joint that moves bodies without mass only."""
        moved = self.mass + np.abs(self.central).sum(axis=(1, 2))
        for k in range(len(moved) - 1, -1, -1):
            if self.parent[k] >= 0:
                moved[self.parent[k]] += moved[k]
        geared = np.array([k.rotor for k in self.kinds])[self.kind_of]
        for k in np.flatnonzero((moved == 0.0) & ~geared):
            joint = self.joints[k]
            if joint.rates:
                names = [s.name for s in self.mechanism.speed_records.values() if s.definition == joint.rates[0]]
                raise ModelError(
                    Problem(
                        self.mechanism.where(f"speed '{names[0]}'"),
                        *MOVES_NO_MASS,
                    )
                )

    # springs ---------------------------------------------------------------------------------------------------------

    @cached_property
    def springs(self) -> list[JointSpring]:
        """Springs and dampers on joints, in the user's order."""
        return [load.record for load in self.mechanism.loads.values() if isinstance(load.record, JointSpring)]

    @cached_property
    def spring_values(self) -> Floats:
        """Stiffness, rest and damping of each spring, (m, 3)."""
        scalar = self.mechanism.scalar
        values = [scalar(e, "joint spring") for s in self.springs for e in (s.stiffness, s.rest, s.damping)]
        return self.numbers(values).reshape(-1, 3)

    @cached_property
    def spring_places(self) -> Places:
        """Where each spring finds effort, coordinate and speed, (m, 3)."""
        place = {id(joint): k for k, joint in enumerate(self.joints)}
        rows = []
        for s in self.springs:
            k = place[id(self.mechanism.find_joint(s.joint, "joint spring"))]
            u = int(self.u_start[k]) + s.index
            rows.append((self.x_at + u, self.q_at + int(self.q_start[k]) + s.index, self.u_at + u))
        return np.array(rows, dtype=np.int32).reshape(-1, 3)

    def spring_energy(self, q: Floats) -> Floats:
        """Potential energy (J) of the springs on joints at q, (…, n_q)."""
        order = np.empty(self.place_at, dtype=np.int64)
        order[self.q_places] = np.arange(self.n_q)
        stretch = q[..., order[self.spring_places[:, 1]]] - self.spring_values[:, 1]
        return 0.5 * (self.spring_values[:, 0] * stretch**2).sum(axis=-1)


def _axis(type: JointType) -> tuple[Expr, Expr, Expr]:
    assert isinstance(type, (Revolute, Prismatic, Screw, Cylindrical))
    return type.axis


__all__ = ["ALL", "GROUND", "GROUND_SPIN", "NOWHERE", "POWER", "SLOT", "ZERO", "LargeTree", "obstacles"]
