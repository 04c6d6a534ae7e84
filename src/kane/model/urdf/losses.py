"""Losses of joints as a URDF has them, read from the loads of a mechanism: damping d, an effort -d r along the joint,
and dry friction f, which is -f r/√(r² + v²) or -f sign(r), with the rate r of the joint and v = SMOOTH."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import ExpressionError
from ...graph import evaluate
from ..joints import Prismatic, Revolute
from ..loads import BuiltLoad, Effort, JointSpring
from ..mechanism import Mechanism
from ..records import Joint

SMOOTH = 1e-3
"""Rate (rad/s or m/s) at which smooth friction has reached 71 % of its full value."""

RATES = (0.7, -1.3, 2.9e-3)
"""Rates (rad/s or m/s) at which an effort is compared with the laws of losses."""

_SAME = 1e-12  # relative


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss that an effort along a joint is: `size` in N m s or N s/m of `kind` damping, in N m or N of friction,
    which may be `smooth`."""

    kind: str
    size: float
    smooth: bool = False

    def slope(self, rate: float) -> float:
        """How the effort that overcomes it grows with the rate of the joint, N m s/rad or N s/m: f v²/(r² + v²)^(3/2)
        of smooth friction, none of friction that jumps."""
        if self.kind == "damping":
            return self.size
        return self.size * SMOOTH**2 / math.hypot(rate, SMOOTH) ** 3 if self.smooth else 0.0


def recognize_loss(rates: Sequence[float], efforts: Sequence[float]) -> Loss | None:
    """The loss that gives these efforts at these rates of a joint, each other than zero; None where none does."""
    smooth, sign = [r / math.hypot(r, SMOOTH) for r in rates], [math.copysign(1.0, r) for r in rates]
    for sense, kind in ((rates, "damping"), (smooth, "friction"), (sign, "friction")):
        size = [-x / s for x, s in zip(efforts, sense, strict=True)]
        if size[0] > 0 and all(abs(x - size[0]) <= _SAME * size[0] for x in size):
            return Loss(kind, float(f"{size[0]:.12g}"), sense is smooth)
    return None


def joint_losses(mechanism: Mechanism, free: Sequence[float] | None = None) -> dict[str, list[Loss]]:
    """Joint → losses along it, of joints that turn or slide with a coordinate of their own. Of springs the damping
    counts; other efforts are no losses, and neither is friction that follows the rate of another joint. `free` are
    values of the free parameters, their own by default."""
    known = {p.name: p.value for p in mechanism.parameters.values()}
    if free is not None:
        known |= zip((p.name for p in mechanism.parameters.values() if p.free), free, strict=True)
    found: dict[str, list[Loss]] = {}
    for load in mechanism.loads.values():
        joint, loss = _loss_of(mechanism, load, known)
        if joint is not None and loss is not None:
            found.setdefault(joint.name, []).append(loss)
    return found


def dry_friction_at_rest(
    mechanism: Mechanism, losses: Mapping[str, Sequence[Loss]], qdot: Sequence[float]
) -> tuple[tuple[str, float], ...]:
    """(joint, damping) of joints within the rates that their dry friction is smoothed over, which acts as this damping
    (N m s/rad, N s/m) there; `losses` as `joint_losses` gives them, `qdot` are the rates of the coordinates."""
    rates = dict(zip(mechanism.coordinates, qdot, strict=True))
    found: list[tuple[str, float]] = []
    for name, along in losses.items():
        rate = float(rates[mechanism.joints[name].coordinates[0].name])
        slope = sum(loss.slope(rate) for loss in along if loss.kind == "friction")
        if slope and abs(rate) <= SMOOTH:
            found.append((name, slope))
    return tuple(found)


def _loss_of(mechanism: Mechanism, load: BuiltLoad, known: Mapping[str, float]) -> tuple[Joint | None, Loss | None]:
    """The joint that a load acts along and the loss that it is; None where it is none."""
    record, build = load.record, load.build
    if not isinstance(record, JointSpring | Effort):
        return None, None
    joint = build.joint(record.joint)
    if not isinstance(joint.type, Revolute | Prismatic):
        return None, None
    rate = joint.rates[0]
    damped = isinstance(record, JointSpring)
    value = -build.scalar(record.damping) * rate if damped else build.scalar(record.value)
    names = [repr(rate), *(s.name for s in mechanism.speed_records.values() if s.definition is rate)]
    try:
        efforts = [evaluate([value], {**known, **dict.fromkeys(names, r)})[0] for r in RATES]
    except ExpressionError:  # of a law of other things too
        return None, None
    return joint, recognize_loss(RATES, efforts)


__all__ = ["RATES", "SMOOTH", "Loss", "dry_friction_at_rest", "joint_losses", "recognize_loss"]
