"""Wheels, thrusters, stops, point-mass gravity and magnetic torques of a model file, read into a Mechanism."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .document import Node
from .values import Entry, Values

WHEEL = ("body", "axis", "inertia", "at", "coordinate", "speed", "shapes")
PART_LOADS: Mapping[str, tuple[str, ...]] = {
    "thruster": ("body", "direction", "at"),
    "stop": ("lower", "upper", "stiffness", "damping", "index"),
    "point_gravity": ("center", "gradient"),
    "magnetic_torque": ("body", "field", "frame", "dipole", "center"),
}


class Parts(Values):
    """Reads the parts of spacecraft."""

    def read_wheel(self, name: str, node: Node, line: int) -> None:
        where = f"wheel '{name}'"
        self.places[f"body '{name}'"] = self.places[f"joint '{name}'"] = (node.source, line)
        given = Entry(self, node, where, line, WHEEL)
        body, axis = given.need("body", self.body), given.need("axis", self.axis)
        inertia = given.need("inertia", self.quantity)
        options = {
            "at": given.take("at", self.triple),
            "coordinate": given.take("coordinate", self.text),
            "speed": given.take("speed", self.text),
            "shapes": given.take("shapes", self.shapes),
        }
        given.finish()
        assert body is not None and axis is not None and inertia is not None
        self.m.wheel(name, body, axis, inertia, **{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

    def part_load(self, kind: str) -> Callable[[str, Entry], None] | None:
        """What reads a load of this kind, or None where it is not one of these."""
        readers = {
            "thruster": self.read_thruster,
            "stop": self.read_stop,
            "point_gravity": self.read_point_gravity,
            "magnetic_torque": self.read_magnetic_torque,
        }
        return readers.get(kind)

    def read_thruster(self, name: str, given: Entry) -> None:
        thrust, body = given.need("thruster", self.quantity), given.need("body", self.body)
        direction, at = given.need("direction", self.axis), given.take("at", self.triple)
        given.finish()
        assert thrust is not None and body is not None and direction is not None
        self.m.thruster(name, body, direction, thrust, at=(0.0, 0.0, 0.0) if at is None else at)

    def read_stop(self, name: str, given: Entry) -> None:
        joint, stiffness = given.need("stop", self.joint), given.need("stiffness", self.quantity)
        lower, upper = given.take("lower", self.quantity), given.take("upper", self.quantity)
        damping, index = given.take("damping", self.quantity), given.take("index", self.index) or 0
        given.finish()
        assert joint is not None and stiffness is not None
        self.m.stop(
            name,
            joint,
            lower=lower,
            upper=upper,
            stiffness=stiffness,
            damping=0.0 if damping is None else damping,
            index=index,
        )

    def read_point_gravity(self, name: str, given: Entry) -> None:
        mu, center = given.need("point_gravity", self.quantity), given.take("center", self.point)
        gradient = given.take("gradient", self.truth)
        given.finish()
        assert mu is not None
        self.m.point_gravity(name, mu, center=center or "O", gradient=gradient is not False)

    def read_magnetic_torque(self, name: str, given: Entry) -> None:
        moment, body = given.need("magnetic_torque", self.triple), given.need("body", self.body)
        field, dipole = given.take("field", self.triple), given.take("dipole", self.triple)
        frame, center = given.take("frame", self.frame), given.take("center", self.point)
        given.finish()
        assert moment is not None and body is not None
        self.m.magnetic_torque(name, body, moment, field=field, dipole=dipole, center=center or "O", frame=frame or "N")
