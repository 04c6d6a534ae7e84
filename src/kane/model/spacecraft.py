"""Parts of a spacecraft: wheels, thrusters, slosh, stops of joints, point-mass gravity, magnetic torque.

Wheels are massless bodies with one moment of inertia, J e eᵀ, on a revolute joint about e: what is left of a symmetric
wheel once its mass and its inertia across e are counted with the body that carries it. Thrusters and slosh pendulums
are forces, bodies and joints under convenient names.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ModelError, Problem
from ..graph import Expr, reachable
from ..space import Frame, Point, position
from ..space.algebra import Matrix, Triple, scaled
from .environment import DipoleField, MagneticTorque, PointGravity
from .joints import speeds_are_rates
from .loading import Loaded
from .loads import JointStop, Load
from .records import Body, Joint, Shape, Wheel
from .symbols import Quantity

ORIGIN = (0.0, 0.0, 0.0)


class Spacecraft(Loaded):
    """A tree of bodies with the parts that spacecraft have."""

    def __init__(self, name: str, about: str):
        super().__init__(name, about)
        self.wheels: dict[str, Wheel] = {}

    # wheels and slosh ------------------------------------------------------------------------------------------------

    def wheel(
        self,
        name: str,
        body: Body | str,
        axis: str | Sequence[Quantity],
        inertia: Quantity,
        *,
        at: Sequence[Quantity] = ORIGIN,
        coordinate: str | None = None,
        speed: str | None = None,
        shapes: Sequence[Shape] = (),
    ) -> Wheel:
        """A wheel on `body` that spins about `axis` (unit vector in the body's frame) with `inertia` (kg m²) about it.

        Its speed is relative to the body, and the effort along that speed is the motor's torque on the wheel, minus
        which acts on the body. Mass and inertia across the axis are the body's own. `at` is where it is drawn, with
        its z axis along `axis`. On a gimbal (a body on a revolute joint) it is a control-moment gyro.
        """
        where = f"wheel '{name}'"
        self._new_name(name, "wheel", self.wheels)
        carrier = self.body_named(body, where)
        self._check_carrier(carrier, where)
        e = self.axis(axis, f"{where} / axis")
        J = self._spin_inertia(inertia, f"{where} / inertia")
        self.constant(e, where)
        self._new_name(name, "body", self.bodies)
        zero = self.graph.const(0.0)
        none = (zero, zero, zero)
        spun = Body(name, zero, none, (none, none, (zero, zero, J)), tuple(shapes), checked=False)
        self.bodies[name] = spun
        try:
            joint = self.joint(
                name,
                "revolute",
                carrier,
                spun,
                at=at,
                rotation={"matrix": self._with_z_along(e, where)},
                axis="z",
                coordinates=None if coordinate is None else [coordinate],
                speeds=None if speed is None else [speed],
            )
        except ModelError:
            del self.bodies[name]
            raise
        self.wheels[name] = Wheel(name, carrier, e, J, spun, joint)
        return self.wheels[name]

    def _spin_inertia(self, inertia: Quantity, where: str) -> Expr:
        J = self.scalar(inertia, where)
        self.constant([J], where)
        moment = self.number(J, where)
        if moment <= 0:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"inertia {moment:g} kg m²",
                    "a wheel stores angular momentum by its inertia",
                    "give an inertia > 0 about its axis",
                )
            )
        return J

    def _check_carrier(self, carrier: Body, where: str) -> None:
        if any(wheel.body is carrier for wheel in self.wheels.values()):
            raise ModelError(
                Problem(
                    self.where(where),
                    f"it is mounted on wheel '{carrier.name}'",
                    "a wheel is carried by a body that has mass and inertia of its own",
                    "make the carrier a body with a revolute joint",
                )
            )

    def _with_z_along(self, e: Triple, where: str) -> Matrix:
        """A rotation matrix whose third column is the unit vector e, exact where e is a coordinate axis.

        Two columns orthogonal to e without a square root; they are singular only where e_z is −1 (or 1 where e_z < 0 at
        the parameters' defaults), so that e may depend on parameters.
        """
        x, y, z = e
        s = -1.0 if self.number(z, where) < 0 else 1.0
        a = -1.0 / (s + z)
        b = x * y * a
        one = self.graph.const(1.0)
        return ((one + s * x * x * a, b, x), (s * b, s + y * y * a, y), (-s * x, -y, z))

    def slosh(
        self,
        name: str,
        body: Body | str,
        mass: Quantity,
        length: Quantity,
        *,
        at: Sequence[Quantity] = ORIGIN,
        axis: str | Sequence[Quantity] = "z",
        damping: Quantity = 0.0,
        shapes: Sequence[Shape] = (),
    ) -> Joint:
        """Liquid in a tank as a pendulum: a particle of `mass` (kg) on a rod of `length` (m), hinged at `at` of `body`.

        `axis` (unit vector in the body's frame) is the direction of the thrust: at rest the particle hangs at −length
        along it. Two angles (rad) of a universal joint, each with `damping` (N m s/rad). Under an acceleration a it
        swings with √(a / length) rad/s.
        """
        where = f"slosh '{name}'"
        carrier = self.body_named(body, where)
        e = self.axis(axis, f"{where} / axis")
        arm = self.scalar(length, f"{where} / length")
        if not self.number(arm, f"{where} / length") > 0:
            raise ModelError(Problem(self.where(where), f"length {arm!r}", "a pendulum has a length", "give it > 0"))
        zero = self.graph.const(0.0)
        self.body(name, mass=mass, center=(zero, zero, -arm), shapes=shapes)
        joint = self.joint(name, "universal", carrier, name, at=at, rotation={"matrix": self._with_z_along(e, where)})
        d = self.scalar(damping, f"{where} / damping")
        if not d.is_zero:
            for index in range(2):
                self.joint_spring(f"{name} damping {index + 1}", joint, damping=d, index=index)
        return joint

    # loads -----------------------------------------------------------------------------------------------------------

    def thruster(
        self,
        name: str,
        body: Body | str,
        direction: str | Sequence[Quantity],
        thrust: Quantity,
        *,
        at: Sequence[Quantity] = ORIGIN,
    ) -> Load:
        """A thruster at the point `at` (m) of `body` that pushes it along `direction`, a unit vector in its frame.

        `thrust` (N) is any expression in t, q, u and parameters: "select(t < 2, 5, 0)" is a pulse of two seconds. Mass
        stays what it is. A `force` of the model.
        """
        where = f"load '{name}'"
        carrier = self._attached(body, where)
        e = self.axis(direction, f"{where} / direction")
        return self.force(name, carrier, scaled(self.scalar(thrust, f"{where} / thrust"), e), at=at, frame=carrier)

    def stop(
        self,
        name: str,
        joint: Joint | str,
        *,
        lower: Quantity | None = None,
        upper: Quantity | None = None,
        stiffness: Quantity,
        damping: Quantity = 0.0,
        index: int = 0,
    ) -> Load:
        """Stops at the ends of the range of one coordinate of a joint, see `JointStop`; give one end or both."""
        where = f"load '{name}'"
        record = self._joint_with_rates(joint, index, where)
        if not speeds_are_rates(record.type):
            raise ModelError(
                Problem(
                    self.where(where),
                    f"a stop on the {record.type.kind} joint '{record.name}'",
                    "a stop bounds a coordinate whose rate is a motion variable",
                    "use a gimbal joint",
                )
            )
        ends = [None if x is None else self.scalar(x, f"{where} / end") for x in (lower, upper)]
        k, c = self.scalar(stiffness, f"{where} / stiffness"), self.scalar(damping, f"{where} / damping")
        given = [e for e in ends if e is not None]
        self.constant([*given, k, c], where)
        numbers = [self.number(e, where) for e in given]
        problem = None
        if not given:
            problem = "neither lower nor upper is given", "a stop is at an end of a range"
        elif numbers[0] > numbers[-1]:
            problem = f"from {numbers[0]:g} to {numbers[-1]:g}", "the lower end does not exceed the upper one"
        elif not self.number(k, where) > 0 or self.number(c, where) < 0:
            problem = f"stiffness {k!r}, damping {c!r}", "a stop pushes back: stiffness > 0, damping ≥ 0"
        if problem is not None:
            raise ModelError(Problem(self.where(where), *problem))
        return self.load(JointStop(name, record, index, ends[0], ends[1], k, c))

    def point_gravity(self, name: str, mu: Quantity, *, center: Point | str = "O", gradient: bool = True) -> Load:
        """Attraction of every body by a point mass, `mu` = G M (m³/s²), at the point `center`; see `PointGravity`.

        With `gradient` each body also feels the torque and the small force of the field's gradient over its inertia.
        The attracting point is fixed in N or moves as a function of t: it feels no reaction.
        """
        where = f"load '{name}'"
        k = self.scalar(mu, f"{where} / mu")
        self.constant([k], f"{where} / mu")
        point = self._unmoved(center, f"{where} / center")
        return self.load(PointGravity(name, k, point, gradient, self.bodies, self.wheels))

    def magnetic_torque(
        self,
        name: str,
        body: Body | str,
        moment: Sequence[Quantity],
        *,
        field: Sequence[Quantity] | None = None,
        dipole: Sequence[Quantity] | None = None,
        center: Point | str = "O",
        frame: Frame | Body | str = "N",
    ) -> Load:
        """The torque m × B on a body of dipole `moment` m (A m², components in its frame, any expressions).

        `field` B (T) has components in `frame`, any expressions; or `dipole` (T m³, in N) at `center` makes the field,
        see `DipoleField`.
        """
        where = f"load '{name}'"
        if (field is None) == (dipole is None):
            what = "both field and dipole are given" if field is not None else "neither field nor dipole is given"
            raise ModelError(Problem(self.where(where), what, mend="give the field, or the dipole that makes it"))
        source: Triple | DipoleField
        if field is not None:
            source = self.triple(field, f"{where} / field")
        else:
            source = DipoleField(
                self.triple(dipole or (), f"{where} / dipole"), self._unmoved(center, f"{where} / center")
            )
        m = self.triple(moment, f"{where} / moment")
        return self.load(MagneticTorque(name, self._attached(body, where), m, source, self.frame_named(frame, where)))

    def _unmoved(self, center: Point | str, where: str) -> Point:
        """The point of that name, whose place depends on t and parameters only."""
        point = self.point_named(center, where)
        place: Sequence[Expr] = position(point, self.O).express(self.N).xyz
        known = {self.time.id, *(p.symbol.id for p in self.parameters.values())}
        for node in reachable(self.graph, (e.id for e in place)):
            if self.graph.ops[node] == "input" and node not in known:
                raise ModelError(
                    Problem(
                        self.where(where),
                        f"the place of '{point.name}' depends on '{self.graph.args[node][0]}'",
                        "what attracts from a point feels no reaction, so its place is a function of t alone",
                        "name a point fixed in N, or write forces with their reactions",
                    )
                )
        return point
