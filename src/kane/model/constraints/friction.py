"""Dry friction with a bound: in a joint, between two joints, or along any expression linear in the rates.

While there is slip the reaction has the size of the bound and opposes it; where there is none it is what keeps the slip
at zero, as long as the bound allows it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from ...graph import Expr
from ..fields import Index, JointName, Measure, Scalar
from ..loads.actions import EffortAction
from ..records import Joint
from ..symbols import Quantity
from .changing import FRICTION, ChangingRows, make_law
from .equations import motion_row
from .rows import Row
from .stops import one_expr

if TYPE_CHECKING:
    from ..builder import Builder


@dataclass(frozen=True, slots=True)
class Friction:
    """Dry friction along `of`, an expression linear in the rates ("u1 - u2", "x' - 0.3", "w.A.z").

    `bound` (N or N m) limits the reaction while it slips, `static` (≥ 1) times that while it sticks. `bound` may be an
    expression in t, q, u and parameters.

    >>> m = kane.load("pendulum")
    >>> (rub,) = m.constrain("rub", kane.Friction("u", bound=0.2))
    >>> rub.type
    'friction'
    """

    of: Measure
    _: KW_ONLY
    bound: Scalar
    static: Scalar = 1.0
    kind = "friction"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        return _dry(build, motion_row(build, "slip", one_expr(build, self.of)), self.bound, self.static)


@dataclass(frozen=True, slots=True)
class Brake:
    """A brake, or dry friction in a bearing: along the speed of `joint`, the first or that of `index`. `bound` (N m, or
    N) and `static` are as for `Friction`; `when` and `until`, given to `constrain`, apply and release it.

    >>> m = kane.load("pendulum")
    >>> (shoe,) = m.constrain("shoe", kane.Brake("pivot", bound=5), when="t - 1", until="t - 2")
    >>> shoe.law.held
    False
    """

    joint: JointName
    _: KW_ONLY
    bound: Scalar
    static: Scalar = 1.0
    index: Index = 0
    kind = "brake"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        rate = _rate(build, self.joint, self.index)
        slip = Row("slip", (EffortAction(rate, build.graph.const(1.0)),), build.graph.const(0.0), None, "")
        return _dry(build, slip, self.bound, self.static)


@dataclass(frozen=True, slots=True)
class Clutch:
    """A friction clutch between two joints, of one degree of freedom each: its slip is the rate of `second` minus that
    of `first`. `bound` (N m, or N) and `static` are as for `Friction`; `when` and `until`, given to `constrain`, engage
    and release it.

    >>> m = kane.Model()
    >>> J = {"xx": 1, "yy": 1, "zz": 1}
    >>> shafts = [m.joint(n, "revolute", "ground", m.body(n, inertia=J)) for n in ("engine", "load")]
    >>> (plates,) = m.constrain("plates", kane.Clutch("engine", "load", bound=20))
    >>> plates.row_names()
    ('plates',)
    """

    first: JointName
    second: JointName
    _: KW_ONLY
    bound: Scalar
    static: Scalar = 1.0
    kind = "clutch"

    def make_changing(self, build: Builder) -> tuple[ChangingRows, ...]:
        a, b = _rate(build, self.first), _rate(build, self.second)
        if a == b:
            raise build.refuse(f"joint '{self.first}' is named twice", "a clutch has two sides", "name another joint")
        one = build.graph.const(1.0)
        slip = Row("slip", (EffortAction(b, one), EffortAction(a, -one)), build.graph.const(0.0), None, "")
        return _dry(build, slip, self.bound, self.static)


def _rate(build: Builder, joint: Joint | str, index: int | None = None) -> Expr:
    """The motion variable of a joint: that of an index, or its only one."""
    record = build.joint(joint) if index is None else build.joint_with_rate(joint, index)
    if index is None and len(record.rates) != 1:
        what = f"joint '{record.name}' is of type {record.type.kind}, with {len(record.rates)} degrees of freedom"
        raise build.refuse(what, "a clutch joins two joints of one each", "use Friction (type: friction)")
    return record.rates[index or 0]


def _dry(build: Builder, slip: Row, bound: Quantity, static: Quantity) -> tuple[ChangingRows, ...]:
    return (ChangingRows("", FRICTION, (slip,), make_law(build, friction=1.0, static=static, bound=bound)),)
