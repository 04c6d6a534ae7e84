"""Loads of a description: forces, torques, springs and efforts, by the names of bodies, frames and joints."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelError, Problem
from ..graph import Expr
from ..space import Frame
from .joints import speeds_are_rates
from .loads import BodyTorque, JointEffort, JointSpring, Load, PointForce, PointSpring
from .records import Body, Joint
from .symbols import Quantity
from .tree import Tree


class Loaded(Tree):
    """A tree of bodies on which loads act."""

    def __init__(self, name: str, about: str):
        super().__init__(name, about)
        self.loads: dict[str, Load] = {}

    def load(self, load: Load) -> Load:
        """Add a load of any type."""
        self._new_name(load.name, "load", self.loads)
        self.loads[load.name] = load
        return load

    def force(
        self,
        name: str,
        body: Body | str,
        vector: Sequence[Quantity],
        *,
        at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        frame: Frame | Body | str = "N",
        reaction: Body | str | None = None,
    ) -> Load:
        """A force (N), components in `frame`, at the point `at` of `body`; the opposite on `reaction`, if given."""
        where = f"load '{name}'"
        back = None if reaction is None else self._attached(reaction, where)
        return self.load(
            PointForce(
                name,
                self._attached(body, where),
                self.triple(at, f"{where} / at"),
                self.triple(vector, f"{where} / vector"),
                self.frame_named(frame, where),
                back,
            )
        )

    def torque(
        self,
        name: str,
        body: Body | str,
        vector: Sequence[Quantity],
        *,
        frame: Frame | Body | str = "N",
        reaction: Body | str | None = None,
    ) -> Load:
        """A torque (N m), components in `frame`, on `body`; the opposite on `reaction`, if given."""
        where = f"load '{name}'"
        back = None if reaction is None else self._attached(reaction, where)
        vector_ = self.triple(vector, f"{where} / vector")
        return self.load(BodyTorque(name, self._attached(body, where), vector_, self.frame_named(frame, where), back))

    def spring(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        *,
        first_at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        second_at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        stiffness: Quantity = 0.0,
        damping: Quantity = 0.0,
        rest: Quantity = 0.0,
    ) -> Load:
        """A spring (N/m) and damper (N s/m) between points of two bodies, of natural length `rest` (m)."""
        where = f"load '{name}'"
        s, r = self._spring_constants(stiffness, rest, where)
        return self.load(
            PointSpring(
                name,
                self._attached(first, where),
                self.triple(first_at, f"{where} / first_at"),
                self._attached(second, where),
                self.triple(second_at, f"{where} / second_at"),
                s,
                self.scalar(damping, f"{where} / damping"),
                r,
                self.coordinate_rates,
            )
        )

    def joint_spring(
        self,
        name: str,
        joint: Joint | str,
        *,
        stiffness: Quantity = 0.0,
        damping: Quantity = 0.0,
        rest: Quantity = 0.0,
        index: int = 0,
    ) -> Load:
        """A spring and damper along one coordinate of a joint: effort −stiffness (q − rest) − damping q̇."""
        where = f"load '{name}'"
        record = self._joint_with_rates(joint, index, where)
        s, r = self._spring_constants(stiffness, rest, where)
        if not s.is_zero and not speeds_are_rates(record.type):
            raise ModelError(
                Problem(
                    self.where(where),
                    f"a spring on the {record.type.kind} joint '{record.name}'",
                    "its coordinates are not angles whose rates are the speeds",
                    "use damping only, a torque, or a gimbal joint",
                )
            )
        d = self.scalar(damping, f"{where} / damping")
        return self.load(JointSpring(name, record, index, s, d, r))

    def _spring_constants(self, stiffness: Quantity, rest: Quantity, where: str) -> tuple[Expr, Expr]:
        """Both as expressions in parameters only: otherwise the spring has no potential energy."""
        s, r = self.scalar(stiffness, f"{where} / stiffness"), self.scalar(rest, f"{where} / rest")
        self.constant([s], f"{where} / stiffness")
        self.constant([r], f"{where} / rest")
        return s, r

    def effort(self, name: str, joint: Joint | str, value: Quantity, *, index: int = 0) -> Load:
        """An effort (N m or N) along one motion variable of a joint, any expression in q, u, t and parameters."""
        where = f"load '{name}'"
        record = self._joint_with_rates(joint, index, where)
        return self.load(JointEffort(name, record, index, self.scalar(value, f"{where} / value")))

    def _joint_with_rates(self, joint: Joint | str, index: int, where: str) -> Joint:
        record = self.joint_named(joint, where)
        if not 0 <= index < len(record.rates):
            raise ModelError(
                Problem(self.where(where), f"index {index}", f"joint '{record.name}' has {len(record.rates)} speeds")
            )
        return record

    def _attached(self, body: Body | str, where: str) -> Body:
        record = self.body_named(body, where)
        self.frame_named(record, where)
        return record
