"""Loads: what acts on the bodies besides gravity. Each says which forces act at which points and which torques on
which bodies, as expressions of the description, and what potential energy it has.

A kind of load is a small frozen dataclass that follows the protocol `Load`. To add one, write such a class and hand an
instance to `Mechanism.load`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ...graph import Expr
from ...space import Frame, Point, Vector
from ...space.algebra import Triple
from ..records import Body

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class ForceAction:
    """A force at a point: contributes v_r · F to F_r."""

    point: Point
    vector: Vector

    def exprs(self) -> tuple[Expr, ...]:
        return self.vector.xyz


@dataclass(frozen=True, slots=True)
class TorqueAction:
    """A torque on a frame: contributes ω_r · T to F_r."""

    frame: Frame
    vector: Vector

    def exprs(self) -> tuple[Expr, ...]:
        return self.vector.xyz


@dataclass(frozen=True, slots=True)
class EffortAction:
    """A scalar effort along a motion variable: contributes (∂s/∂u_r) f to F_r."""

    variable: Expr
    value: Expr

    def exprs(self) -> tuple[Expr, ...]:
        return (self.value,)


Action = ForceAction | TorqueAction | EffortAction


class Load(Protocol):
    """What a kind of load must say: its word in model files, what it refuses, what acts, and its potential energy.

    Its fields are annotated with the types of `kane.model.fields`. When its methods are called, texts are expressions
    already and parts of the mechanism are names; `build` makes bodies, points and quantities of them.
    """

    @property
    def kind(self) -> str: ...

    def check(self, build: Builder) -> None:
        """Refuse, by raising `build.refuse(…)`, what cannot be; called when the load is declared."""
        ...

    def actions(self, build: Builder) -> tuple[Action, ...]:
        """What acts; called when equations are formulated."""
        ...

    def potential(self, build: Builder) -> Expr | None:
        """Potential energy (J) whose negative gradient the actions are, or None where there is none."""
        ...


@dataclass(frozen=True, slots=True)
class GivenActions:
    """Forces at points, torques on frames and efforts that the user has made; a model file cannot hold them."""

    given: tuple[Action, ...]
    kind = "given"

    def check(self, build: Builder) -> None:
        pass

    def actions(self, build: Builder) -> tuple[Action, ...]:
        return self.given

    def potential(self, build: Builder) -> Expr | None:
        return None


@dataclass(frozen=True, slots=True)
class BuiltLoad:
    """A named load of a mechanism, and the record that says what it does, with texts as expressions."""

    name: str
    record: Load
    build: Builder = field(repr=False, compare=False)

    @property
    def kind(self) -> str:
        return self.record.kind

    def actions(self) -> tuple[Action, ...]:
        """The forces, torques and efforts that act."""
        return self.record.actions(self.build)

    def potential(self) -> Expr | None:
        """Potential energy (J) whose negative gradient the actions are, or None where there is none."""
        return self.record.potential(self.build)


def point_of(body: Body, at: Triple, name: str) -> Point:
    """The point of `body` at `at` in its frame."""
    assert body.origin is not None and body.frame is not None
    return body.origin.locate_new(name, Vector(body.frame, at))
