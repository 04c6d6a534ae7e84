"""The records of a description: parameters, coordinates, speeds, bodies, joints, shapes.

Scalars are expressions of the description's graph. Bodies carry mass (kg), mass centre (m, from the body's origin,
in its frame) and central inertia (kg m², in its frame); a particle is a body with zero inertia.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..graph import Expr
from ..space import Frame, Point
from ..space.algebra import Matrix, Triple
from .joints import Coupled, JointMotion, JointType


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named number. `free` keeps it an input of the programs; otherwise it folds into them. Without a value, which is
    then nan, it may stand in a description as long as nothing that is asked for depends on it."""

    name: str
    value: float
    symbol: Expr
    free: bool = False

    @property
    def has_value(self) -> bool:
        return not math.isnan(self.value)


@dataclass(frozen=True, slots=True)
class Coordinate:
    """A generalized coordinate: its symbol, the symbol of its rate, and its initial value, at the present values of the
    parameters where it is given as an expression `start` in them."""

    name: str
    symbol: Expr
    rate: Expr
    initial: float = 0.0
    start: Expr | None = None


@dataclass(frozen=True, slots=True)
class Speed:
    """A generalized speed: its symbol and its definition, linear in the motion variables; `initial` and `start` are as
    for a coordinate. Of initial speeds that constraints do not allow together those stay whose `given` is largest: what
    is given later, and of one mapping the first."""

    name: str
    symbol: Expr
    definition: Expr
    initial: float = 0.0
    start: Expr | None = None
    given: int = 0


@dataclass(frozen=True, slots=True)
class Limit:
    """What a coordinate and its drive can bear: its range, the largest rate, the largest effort (SI; inf for none)."""

    lower: float = -math.inf
    upper: float = math.inf
    velocity: float = math.inf
    effort: float = math.inf


@dataclass(frozen=True, slots=True)
class Rotor:
    """A motor's rotor geared to a joint: `inertia` (kg m², or kg for a sliding drive) reflected to the joint, ratio²
    times that of the rotor itself. It stores kinetic energy ½ inertia s² in the joint's motion variable s; the momentum
    of its spin against the link that carries it is left out."""

    name: str
    joint: Joint
    index: int
    inertia: Expr

    @property
    def variable(self) -> Expr:
        return self.joint.rates[self.index]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a body looks like: box (lengths), cylinder (radius, length along z), sphere (radius), line (to a point),
    mesh (factors along x, y, z; `file` as it was named, `path` where it is, empty where it may not be read).

    It stands at `at` (m) in the body's frame, turned by the unit quaternion `wxyz`. Where a body is declared with it,
    numbers may be expressions of parameters, as they may in a model file; the body has their values.
    """

    kind: str
    size: tuple[float, ...]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    axis: str = "z"
    color: str = ""
    wxyz: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    file: str = ""
    path: str = ""


@dataclass(slots=True, repr=False)
class Body:
    """A rigid body; `frame` and `origin` are set when it is attached to the tree or to the analyst's frames."""

    name: str
    mass: Expr
    center: Triple
    inertia: Matrix
    shapes: tuple[Shape, ...] = ()
    checked: bool = True  # its inertia is one that a rigid body can have
    frame: Frame | None = None
    origin: Point | None = None
    joint: Joint | None = None

    def __repr__(self) -> str:
        return f"<Body '{self.name}', {self.mass!r} kg>"


@dataclass(slots=True, repr=False)
class Joint:
    """A joint between two bodies: type, where it sits in both, its coordinates and motion variables."""

    name: str
    type: JointType
    parent: Body
    child: Body
    at: Triple
    mount: Matrix
    child_at: Triple
    child_mount: Matrix
    coordinates: tuple[Coordinate, ...]
    rates: tuple[Expr, ...]
    motion: JointMotion
    frame: Frame | None = None  # C of the joint, before the child's own mount

    def __repr__(self) -> str:
        return f"<Joint '{self.name}', {self.type.kind}: {self.parent.name} to {self.child.name}>"

    @property
    def moves_as(self) -> str:
        """The kind of its motion: that of its type, or of the joint that a coupled one moves as."""
        return self.type.moves.kind if isinstance(self.type, Coupled) else self.type.kind

    @property
    def moved_by(self) -> tuple[Expr, ...]:
        """The motion variables that its motion is linear in: its own rates or, coupled, that of another joint."""
        return (self.type.rate,) if isinstance(self.type, Coupled) else self.rates

    @property
    def drive(self) -> tuple[Expr, Expr]:
        """(angle or displacement, its rate) of a joint that moves as a revolute or prismatic one."""
        if isinstance(self.type, Coupled):
            return self.type.ratio * self.type.q + self.type.offset, self.type.ratio * self.type.rate
        return self.coordinates[0].symbol, self.rates[0]


@dataclass(frozen=True, slots=True)
class ReactionWheel:
    """A wheel that is all spin: `inertia` (kg m²) about `axis`, a unit vector in the frame of the body that carries it.

    Its body has no mass and this one moment of inertia, so that its angle has no influence; its mass and its inertia
    across the axis belong to the carrier. Its body and its joint have its name.
    """

    name: str
    carrier: Body
    axis: Triple
    inertia: Expr
    body: Body
    joint: Joint


@dataclass(frozen=True, slots=True)
class NamedControl:
    """A named control law: motion variable, or symbol of a chosen speed → effort along it (N m or N)."""

    name: str
    efforts: dict[Expr, Expr]


def frames_to_ground(*bodies: Body | None) -> int:
    """Frames between bodies and the ground, all together, beyond the first ten of each."""
    depths = (body.frame.depth for body in bodies if body is not None and body.frame is not None)
    return sum(max(0, depth - NEAR) for depth in depths)


NEAR = 10
"""Frames from the ground, or speeds of one row, that take little."""
