"""Gears, belts and racks: two joints of one degree of freedom tied by a ratio."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import ModelError, Problem
from ..graph import Expr, forward
from .constraints import Constraint, Row
from .guiding import Guided
from .loads import Effort
from .records import Joint
from .symbols import Quantity


class Geared(Guided):
    """A tree of bodies whose joints are tied together."""

    def gear(
        self,
        name: str,
        first: Joint | str,
        second: Joint | str,
        ratio: Quantity,
        *,
        offset: Quantity = 0.0,
    ) -> Constraint:
        """A gear pair: q of the second joint = ratio · q of the first + offset (rad or m).

        `ratio` depends on parameters and is negative for external gears about parallel axes; `offset` may depend on t.
        Both joints sit on the same body, the one that carries the axles. The unit reaction is a unit effort along the
        second joint and −ratio along the first.
        """
        where = self._new_constraint(name)
        return self._tied(name, where, first, second, self.scalar(ratio, f"{where} / ratio"), offset, {"type": "gear"})

    def belt(
        self,
        name: str,
        first: Joint | str,
        second: Joint | str,
        *,
        first_radius: Quantity,
        second_radius: Quantity,
        crossed: bool = False,
        offset: Quantity = 0.0,
    ) -> Constraint:
        """A belt or chain over two pulleys of these radii (m): the second turns first_radius / second_radius times as
        far as the first, backwards where the belt is `crossed`."""
        where = self._new_constraint(name)
        a = self._positive(first_radius, "first_radius", where)
        b = self._positive(second_radius, "second_radius", where)
        for joint, key in ((first, "first"), (second, "second")):
            self._moving_as("revolute", joint, "pulley", f"{where} / {key}")
        crossed = self._truth(crossed, "crossed", where)
        given = {"type": "belt", "first_radius": a, "second_radius": b, **({"crossed": True} if crossed else {})}
        return self._tied(name, where, first, second, -(a / b) if crossed else a / b, offset, given)

    def rack(
        self,
        name: str,
        pinion: Joint | str,
        rack: Joint | str,
        *,
        radius: Quantity,
        opposite: bool = False,
        offset: Quantity = 0.0,
    ) -> Constraint:
        """A rack and its pinion of this radius (m): displacement of the prismatic joint `rack` = radius · angle of the
        revolute joint `pinion` + offset, or −radius · angle where they run `opposite`."""
        where = self._new_constraint(name)
        r = self._positive(radius, "radius", where)
        for joint, kind, key in ((pinion, "revolute", "pinion"), (rack, "prismatic", "rack")):
            self._moving_as(kind, joint, key, f"{where} / {key}")
        opposite = self._truth(opposite, "opposite", where)
        given = {"type": "rack", "radius": r, **({"opposite": True} if opposite else {})}
        return self._tied(name, where, pinion, rack, -r if opposite else r, offset, given)

    def _moving_as(self, kind: str, joint: Joint | str, part: str, where: str) -> None:
        """Refuse a joint of one degree of freedom that is not of this kind."""
        record = self._one_motion(joint, where)
        if record.moves_as != kind:
            what, law = f"joint '{record.name}' is of type {record.type.kind}", f"a {part} moves in a {kind} joint"
            mend = "tie them by a rack or a gear" if part == "pulley" else ""
            raise ModelError(Problem(self.where(where), what, law, mend))

    def _tied(
        self,
        name: str,
        where: str,
        first: Joint | str,
        second: Joint | str,
        ratio: Expr,
        offset: Quantity,
        given: Mapping[str, Any],
    ) -> Constraint:
        """q2 − ratio q1 − offset = 0."""
        a, b = self._one_motion(first, where), self._one_motion(second, where)
        if a is b:
            what = f"joint '{a.name}' is named twice"
            raise ModelError(Problem(self.where(where), what, "two joints are tied together", "name another joint"))
        self.constant([ratio], f"{where} / ratio")
        if self.number(ratio, f"{where} / ratio") == 0.0:
            law, mend = "a gear carries motion over", "give a ratio that is not 0, or lock the joint (prescribed)"
            raise ModelError(Problem(self.where(f"{where} / ratio"), "the ratio is 0", law, mend))
        shift = self.scalar(offset, f"{where} / offset")
        self._timely([shift], f"{where} / offset")
        q1, q2 = a.coordinates[0].symbol, b.coordinates[0].symbol
        actions = (Effort(b.rates[0], self.graph.const(1.0)), Effort(a.rates[0], -ratio))
        (rate,) = forward([shift], {self.time: 1.0})
        unit = "N" if b.moves_as == "prismatic" else "N m"
        tie = Row("ratio", actions, -rate, q2 - ratio * q1 - shift, unit)
        kind = str(given["type"])
        ends = {"pinion": a.name, "rack": b.name} if kind == "rack" else {"first": a.name, "second": b.name}
        told = {**given, **ends, **({"ratio": ratio} if kind == "gear" else {}), "offset": shift}
        return self.constraint(Constraint(name, kind, (tie,), given=told))
