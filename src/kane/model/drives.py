"""Ready-made sets of wheels by the numbers that the field names: wheelbase, track width, wheel radius.

The platform's origin is the middle of the axle of a differential drive, the middle of the rear axle of a car, and the
middle of all four wheels where they are driven alike; it is as high as the middles of the wheels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

from ..errors import suggestion
from .fields import Scalar, Word
from .road_wheels import RoadWheel

if TYPE_CHECKING:
    from .builder import Builder

DIFF_DRIVE, ACKERMANN, MECANUM, SKID_STEER = "diff_drive", "ackermann", "mecanum", "skid_steer"
DRIVES = (DIFF_DRIVE, ACKERMANN, MECANUM, SKID_STEER)
STEERING = "steering_angle"
"""Name of the steering angle of a car where none is given."""


@dataclass(frozen=True, slots=True)
class Drive:
    """Wheels of a vehicle by its `type`: "diff_drive" (wheels left and right), "ackermann", "mecanum" or "skid_steer"
    (front_left, front_right, rear_left, rear_right).

    `wheel_radius`, `track_width` (between left and right) and `wheelbase` (between front and rear) are in metres,
    `wheel_mass` (kg) is that of each wheel, `wheel_inertia` (kg m²) about its axle, by default that of a disc.

    >>> kane.Drive("diff_drive", wheel_radius=0.12, track_width=0.5).wheel_mass
    0.0
    """

    type: Word
    _: KW_ONLY
    wheel_radius: Scalar
    track_width: Scalar
    wheelbase: Scalar | None = None
    wheel_mass: Scalar = 0.0
    wheel_inertia: Scalar | None = None


def drive_wheels(build: Builder, drive: Drive) -> dict[str, RoadWheel]:
    """The wheels of a drive, by name."""
    if drive.type not in DRIVES:
        raise build.refuse(f"drive '{drive.type}'", fix=suggestion(str(drive.type), DRIVES))
    half = 0.5 * build.positive(drive.track_width, "drive / track_width", called="track width")
    wheel: dict[str, Any] = {"radius": drive.wheel_radius, "mass": drive.wheel_mass, "inertia": drive.wheel_inertia}
    if drive.type == DIFF_DRIVE:
        if drive.wheelbase is not None:
            what, because = "a diff_drive with a wheelbase", "its two wheels are on one axle"
            raise build.refuse(what, because, "leave it out, and give casters as wheels")
        return {name: RoadWheel(at=(0.0, y, 0.0), **wheel) for name, y in (("left", half), ("right", -half))}
    if drive.wheelbase is None:
        raise build.refuse(f"a drive '{drive.type}' without wheelbase", "it has two axles", "add wheelbase: … (m)")
    length = build.positive(drive.wheelbase, "drive / wheelbase")
    rear = 0.0 * length if drive.type == ACKERMANN else -0.5 * length
    corners = [(f"{end}_{side}", x, y) for end, x in (("front", rear + length), ("rear", rear))
               for side, y in (("left", half), ("right", -half))]  # fmt: skip
    return {name: RoadWheel(at=(x, y, 0.0), **wheel, **_kind(drive.type, name)) for name, x, y in corners}


def _kind(drive: str, name: str) -> Mapping[str, Any]:
    """What sets the wheel of a corner apart: steering, rollers, the directions in which it does not slip."""
    if drive == ACKERMANN:
        return {"steering": ACKERMANN} if name.startswith("front") else {}
    if drive == MECANUM:  # rollers point at the middle, seen from above through the wheel
        return {"roller": "-45*deg" if name in ("front_left", "rear_right") else "45*deg"}
    return {"rows": ("longitudinal",)}


__all__ = ["ACKERMANN", "DRIVES", "STEERING", "Drive", "drive_wheels"]
