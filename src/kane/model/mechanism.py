"""The description of a mechanism: what the user says, nothing computed from it.

On top of the tree of bodies come gravity, the choice of generalized speeds, loads, constraints and controls. Problems
are refused where they are made; what can only be judged at the end (is everything attached?) by `validate`.
"""

from __future__ import annotations

import copy
import hashlib
import math
from collections import ChainMap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, TypeVar, cast, overload

import numpy as np

from ..errors import ModelError, NamedTable, Problem, suggestion, visible
from ..graph import Expr, Values
from ..space import Kinematics
from ..space.algebra import Triple
from .attitude import attitudes
from .auxiliary import AuxiliarySpeeds
from .builder import Builder
from .changing import build_changing, hold_rows, row_names_of
from .constraints import BodyContact, BuiltChanging, BuiltConstraint, Changing, Conditions, Constraint
from .constraints.touching import up_axis
from .dh import dh_arm
from .drawn_shapes import DrawnShape
from .drives import ACKERMANN, STEERING, Drive, drive_wheels
from .fields import ORIGIN, fields_of, resolve_fields
from .files.describe import describe
from .loads import BuiltLoad, Load
from .measures import MeasureNumbers
from .parameters import change_parameters, check_rotor
from .reaction_wheels import ReactionWheelOptions, SloshOptions, add_reaction_wheel, add_slosh
from .records import Body, Joint, Limit, NamedControl, ReactionWheel, Rotor, Speed, frames_to_ground
from .rewriting import rewrite_in_rates
from .right_angles import RIGHT_ANGLE
from .size import MOST_COORDINATES, MOST_ROWS, MOST_STEPS
from .speeds import check_definitions, start_alike
from .symbols import KnownRotation, Quantity
from .tree import INERTIA, JOINT_TYPES, Tree
from .vehicles import BILATERAL, BuiltVehicle, RoadWheel, VehicleOptions, add_vehicle, mounted_on_wheels

_LISTED = 30  # names that an error shows
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Mechanism(Tree):
    """Bodies, joints, loads, constraints, parameters, speeds and controls of one mechanism.

    Gravity (m/s²) has components in N.
    """

    def __init__(self, name: str = "model", *, gravity: Sequence[Quantity] = (0.0, 0.0, 0.0), about: str = ""):
        super().__init__(name, about)
        self.loads: dict[str, BuiltLoad] = NamedTable("load")
        self.constraints: dict[str, BuiltConstraint] = NamedTable("constraint")
        self.changing: dict[str, BuiltChanging] = NamedTable("changing constraint")  # by the names of its elements
        self._rows, self._steps = 0, 0  # rows so far, and frames between them and the ground
        self._elements_of: dict[str, tuple[BuiltChanging, ...]] = {}  # the same, by the names that they were given
        self.reaction_wheels: dict[str, ReactionWheel] = {}
        self.axis_mounts: dict[tuple[int, int, int], KnownRotation] = {}  # nodes of wheels' axes → their mounts
        self.vehicles: dict[str, BuiltVehicle] = NamedTable("vehicle")
        self.pendulums: dict[str, Expr] = {}  # slosh → length (m)
        self.controls: dict[str, NamedControl] = NamedTable("control")
        self.rotors: dict[str, Rotor] = {}
        self.limits: dict[str, Limit] = {}  # coordinate → what it and its drive can bear
        self._gravity = self.components(gravity, "gravity")
        self._gravity_taken: Triple | None = None
        self._signed: tuple[int, str] | None = None
        self._builtin: tuple[str, tuple[tuple[str, ...], ...]] = ("", ())
        self.judged_with: tuple[int, Kinematics, list[Values]] | None = None  # what contacts are judged with
        self.is_full = False  # no more rows of constraints and contacts can be added
        self.source: object = None  # what the description was made from, where that says more than the description
        self.auxiliary: AuxiliarySpeeds | None = None  # what brings reactions into evidence, by their own names

    def twin(self) -> Mechanism:
        """A description with the same parts, to be changed: what is added to it is not added to this one."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (dict, list)):
                setattr(twin, name, value.copy())
        twin.loads = {
            name: replace(load, build=Builder(twin, name, load.build.where)) for name, load in self.loads.items()
        }
        return twin

    def sign(self, text: str) -> None:
        """Remember that the description, as it is now, is all in `text`."""
        self._signed = (self.revision, hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest())

    @property
    def signature(self) -> str | None:
        """The hash of the text that this description was read from; None once it has been changed since."""
        return self._signed[1] if self._signed is not None and self._signed[0] == self.revision else None

    def mark_builtin(self, name: str) -> None:
        """Remember that the description, as it is now, is the built-in model of that name."""
        self._builtin = (name, self._structure())

    @property
    def builtin(self) -> str:
        """The built-in model that this is, whatever its parameters; "" for any other, and once parts were added.

        What a model calls itself is not what it is: only this says that the figures of a paper are about it.
        """
        name, structure = self._builtin
        return name if name and structure == self._structure() else ""

    def _structure(self) -> tuple[tuple[str, ...], ...]:
        speeds = (f"{s.name} = {s.definition!r}" for s in self.speed_records.values())
        held = (*self.constraints, *self.changing)
        return tuple(self.bodies), tuple(self.joints), tuple(self.loads), held, tuple(speeds)

    @property
    def gravity(self) -> Triple:
        """Acceleration of gravity (m/s²), components in N."""
        if self._gravity_taken is None:
            self._gravity_taken = self.fixed_triple(self._gravity, "gravity")
        return self._gravity_taken

    def set_gravity(self, gravity: Sequence[Quantity]) -> None:
        """Set the acceleration of gravity (m/s²), components in N; numbers or expressions in parameters.

        >>> m = kane.load("pendulum")
        >>> m.set_gravity((0, -1.62, 0))
        >>> m.gravity
        (0.0, -1.62, 0.0)
        """
        self.revision += 1
        self._gravity, self._gravity_taken = gravity, self.fixed_triple(gravity, "gravity")

    def dh(
        self,
        convention: str,
        rows: Mapping[str, Mapping[str, Any]],
        *,
        parent: Body | str = "ground",
        at: Sequence[Quantity] = (0.0, 0.0, 0.0),
        rotation: Mapping[str, Any] | None = None,
        right_angle: float = RIGHT_ANGLE,
    ) -> list[Joint]:
        """Attach a serial arm by its table of Hartenberg-Denavit parameters; `convention` is standard, modified or hd.

        `rows` maps joint → {a, alpha, d or b, theta, type, body, …}; see `kane.model.dh`. Angles
        within `right_angle` (rad) of a multiple of 90° are taken as that.

        >>> m = kane.Model("arm")
        >>> link = {"alpha": 0, "d": 0, "theta": 0, "a": 0.4}
        >>> joints = m.dh("standard", {"1": link, "2": link})
        >>> m.coordinates
        ('q_1', 'q_2')
        """
        return dh_arm(self, convention, rows, parent=parent, at=at, rotation=rotation, right_angle=right_angle)

    # loads and constraints -------------------------------------------------------------------------------------------

    def load(self, name: str, record: Load) -> BuiltLoad:
        """Add a load: `load("push", Force("cart", (10, 0, 0)))`; records are in `kane.model.loads`, or your own.

        >>> m = kane.load("cart-pole")
        >>> built = m.load("wind", kane.Force("cart", (2, 0, 0)))
        >>> m.forward_dynamics([0, 0], [0, 0], [0, 0]).round(3).tolist()
        [1.951, -2.927]
        """
        self.new_name(name, "load", self.loads)
        build = Builder(self, name, f"load '{name}'")
        stored = resolve_fields(record, build)
        stored.check(build)
        self.loads[name] = BuiltLoad(name, stored, build)
        return self.loads[name]

    @overload
    def constrain(  # pyright: ignore[reportOverlappingOverload]  # without conditions a constraint is what it was
        self, name: str, record: Constraint
    ) -> BuiltConstraint: ...

    @overload
    def constrain(
        self,
        name: str,
        record: Constraint | Changing | None = None,
        *,
        when: Quantity | None = None,
        until: Quantity | None = None,
        duration: Quantity | None = None,
        held: bool | None = None,
        unilateral: bool = False,
        restitution: Quantity = 0.0,
    ) -> tuple[BuiltChanging, ...]: ...

    def constrain(
        self,
        name: str,
        record: Constraint | Changing | None = None,
        *,
        when: Quantity | None = None,
        until: Quantity | None = None,
        duration: Quantity | None = None,
        held: bool | None = None,
        unilateral: bool = False,
        restitution: Quantity = 0.0,
    ) -> BuiltConstraint | tuple[BuiltChanging, ...]:
        """Add a constraint: `constrain("road", Rolling("disc", radius=0.3))`; records are in `kane.model.constraints`,
        or your own. What is returned has its rows, bodies and record.

        It holds always, unless conditions are given: then it is imposed where the expression `when` rises through zero,
        and released where `until` does, or `duration` (s) after it was imposed. The expressions are in t, q, u,
        parameters and names of rows ("hook"), which stand for their reactions. Whether it holds at the start says
        `held`; by default it does where there is no `when`. With `unilateral` a constraint of one row is a contact: its
        residual is a gap, which is never negative, and closes with `restitution`. Stops, latches, brakes, clutches,
        ratchets and backlash come and go by themselves. Of all these the elements are returned, as a tuple.

        Without a record, what comes and goes under this name is given new conditions in place of those it has.

        >>> m = kane.load("double-pendulum")
        >>> built = m.constrain("lock", kane.ConfigurationEquations("q2 = 0"))
        >>> m.row_names
        ('lock',)
        >>> (rest,) = m.constrain("rest", kane.ConfigurationEquations("q1 = 0"), until="t - 2")
        >>> rest.type, rest.law.held, m.row_names
        ('switched', True, ('lock',))
        >>> (rest,) = m.constrain("rest", until="t - 3")
        """
        if record is None:
            return self._change_conditions(name, when, until, duration, held)
        conditions = Conditions(when, until, duration, held, unilateral, restitution)
        if not hasattr(record, "make_rows") or conditions != Conditions():
            return self._change(name, record, conditions, "constraint")
        self._new_constraint(name, "constraint")
        build = Builder(self, name, f"constraint '{name}'")
        stored = resolve_fields(cast("Constraint", record), build)
        made = stored.make_rows(build)
        built = BuiltConstraint(name, stored.kind, made.rows, made.first, made.second, made.point, made.span, stored)
        self._check_rows([built], build)
        self.constraints[name] = built
        return built

    def contact(
        self,
        name: str,
        first: Body | str,
        second: Body | str,
        *,
        restitution: Quantity = 0.0,
        friction: Quantity = 0.0,
        static: Quantity | None = None,
        shape: Mapping[str, Any] | None = None,
        surface: Mapping[str, Any] | None = None,
        normal: str | Sequence[Quantity] | None = None,
        at: Sequence[Quantity] | None = None,
        when: Quantity | None = None,
        until: Quantity | None = None,
        duration: Quantity | None = None,
        held: bool | None = None,
    ) -> tuple[BuiltChanging, ...]:
        """Let two bodies touch: `contact("floor", "ball", "ground", restitution=0.8, friction=0.3)`.

        They touch with the shapes that they are drawn with; `shape` of the first and `surface` of the second say it
        otherwise: {"sphere": 0.1}, {"box": (1, 1, 2), "at": (0, 0, 1)}, … with sizes and places in parameters, in the
        body's frame; docs/contact.md lists them. The ground is a plane: through `at` (m), across `normal`, by default
        the axis of N against gravity, or z; with `normal` any second body is. `restitution` is 0 … 1; `friction` is
        the coefficient while it slips, `static` (by default the same) while it sticks. There is an element for every
        place that can touch, a corner of a box say: one has the name of the contact, several are numbered (floor.1, …).
        Under conditions, as those of `constrain`, bodies pass through each other while it is not in force.

        >>> m = kane.Model(gravity=(0, 0, -9.81))
        >>> joint = m.joint("free", "free", "ground", m.body("ball", mass=1, inertia={"xx": 1, "yy": 1, "zz": 1}))
        >>> (floor,) = m.contact("floor", "ball", "ground", shape={"sphere": 0.1}, restitution=0.8, friction=0.3)
        >>> floor.row_names()
        ('floor.normal', 'floor.x', 'floor.y')
        """
        if first is self.ground or first == "ground":
            first, second, shape, surface = second, first, surface, shape
        if normal is None and surface is None and (second is self.ground or second == "ground"):
            normal = up_axis(self)
        given = {"restitution": restitution, "friction": friction, "static": static}
        placed = {"shape": shape, "surface": surface, "normal": normal, "at": at}
        conditions = Conditions(when, until, duration, held)
        return self._change(name, BodyContact(first, second, **given, **placed), conditions, "contact")

    def _change(
        self, name: str, record: Constraint | Changing, conditions: Conditions, kind: str
    ) -> tuple[BuiltChanging, ...]:
        """Add what comes and goes; `kind` is what errors call it."""
        self._new_constraint(name, kind)
        built = build_changing(self, name, record, conditions, f"{kind} '{name}'")
        self._check_rows(built, Builder(self, name, f"{kind} '{name}'"))
        self.changing |= {part.name: part for part in built}
        self._elements_of[name] = built
        return built

    def _change_conditions(
        self,
        name: str,
        when: Quantity | None,
        until: Quantity | None,
        duration: Quantity | None,
        held: bool | None,
    ) -> tuple[BuiltChanging, ...]:
        """Give a constraint that comes and goes new conditions, in place of those it has."""
        if not (given := self._elements_of.get(name)):
            known = suggestion(name, self._elements_of)
            raise ModelError(
                Problem(self.where(f"constraint '{name}'"), "there is none of this name that comes and goes", fix=known)
            )
        conditions = replace(given[0].conditions, when=when, until=until, duration=duration, held=held)
        built = build_changing(self, name, given[0].record, conditions, f"constraint '{name}'")
        self.revision += 1
        self.changing |= {part.name: part for part in built}
        self._elements_of[name] = built
        return built

    def _new_constraint(self, name: str, kind: str) -> None:
        self.new_name(name, kind, ChainMap(self.constraints, self.changing, self._elements_of))
        self.check_room(f"{kind} '{name}'", 1)

    def _check_rows(self, parts: Sequence[BuiltConstraint | BuiltChanging], build: Builder) -> None:
        """Refuse a constraint without rows, and rows whose names are taken; count the rows of all others."""
        for part in parts:
            if not part.rows:
                raise build.refuse("it has no rows", "a constraint restricts the motion")
            labels = [row.label for row in part.rows]
            if len(set(labels)) < len(labels):
                twice = next(label for k, label in enumerate(labels) if label in labels[:k])
                raise build.refuse(f"two rows are labelled '{twice}'", "labels are unique", "rename one")
            if taken := next((name for name in part.row_names() if self.has_row(name)), None):
                because = "names of rows, constraint.label, are unique"
                raise build.refuse(f"there is a row '{taken}' already", because, "rename one of the two")
        rows = sum(len(part.rows) for part in parts)
        steps = sum(frames_to_ground(part.first, part.second) + sum(row.steps for row in part.rows) for part in parts)
        self.check_room(build.where, rows, steps)
        self._rows, self._steps = self._rows + rows, self._steps + steps

    def has_constraint(self, name: str) -> bool:
        """Whether a constraint or a contact was given under this name."""
        return name in self.constraints or name in self._elements_of

    def check_room(self, where: str, rows: int, steps: int = 0) -> None:
        """Refuse more rows than can be written out; `steps` are the frames between them and the ground."""
        self.is_full = self._rows + rows > MOST_ROWS or self._steps + steps > MOST_STEPS
        if self._rows + rows > MOST_ROWS:
            what = f"there would be {self._rows + rows} rows of constraints and contacts"
            because = f"equations with more than {MOST_ROWS} cannot be written out"
            raise ModelError(Problem(self.where(where), what, because, "leave out constraints, or divide the model"))
        if self._steps + steps > MOST_STEPS:
            count = self._steps + steps
            what = f"constraints and contacts would act through {count} frames, from the ground to bodies far out"
            because = f"equations with more than {MOST_STEPS} cannot be written out"
            raise ModelError(Problem(self.where(where), what, because, "constrain fewer bodies far out on a chain"))

    def has_row(self, name: str) -> bool:
        """Whether a row is called so: by its constraint, or by a constraint and a label with a dot in between."""
        dots = [k for k, c in enumerate(name) if c == "."]
        owners = [name, *(name[:k] for k in dots)]
        tables = (self.constraints, self.changing)
        return any(name in table[owner].row_names() for table in tables for owner in owners if owner in table)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of all scalar constraints that hold always, in the order of the rows of A."""
        return row_names_of(list(self.constraints.values()))

    @property
    def all_row_names(self) -> tuple[str, ...]:
        """The same, then the names of rows that come and go: those of `all_rows_held`."""
        return (*self.row_names, *row_names_of(list(self.changing.values())))

    @property
    def reaction_symbols(self) -> dict[str, Expr]:
        """The symbol that stands for the reaction of each of these rows in conditions; a row with the name of something
        else has none."""
        return {name: self.graph.input(name) for name in self.all_row_names if name not in self._names}

    def all_rows_held(self) -> Mechanism:
        """A twin in which what comes and goes holds: its constraints are the permanent ones, then all others in their
        order, under the same names."""
        return hold_rows(self, self.changing)

    def hold_only(self, names: Collection[str]) -> Mechanism:
        """A twin in which only these elements of what comes and goes are there, and hold always."""
        return hold_rows(self, names)

    # wheels and slosh ------------------------------------------------------------------------------------------------

    def reaction_wheel(
        self,
        name: str,
        body: Body | str,
        axis: str | Sequence[Quantity],
        inertia: Quantity,
        *,
        at: Sequence[Quantity] = ORIGIN,
        coordinate: str | None = None,
        speed: str | None = None,
        shapes: Sequence[DrawnShape] = (),
    ) -> ReactionWheel:
        """A wheel on `body` that spins about `axis` (unit vector in the body's frame) with `inertia` (kg m²) about it.

        Its speed is relative to the body, and the effort along that speed is the motor's torque on the wheel, minus
        which acts on the body. Mass and inertia across the axis are the body's own. `at` is where it is drawn, with
        its z axis along `axis`. On a gimbal (a body on a revolute joint) it is a control-moment gyro.

        >>> m = kane.Model()
        >>> hub = m.body("hub", mass=10, inertia={"xx": 1, "yy": 1, "zz": 1})
        >>> base = m.joint("base", "free", "ground", "hub")
        >>> wheel = m.reaction_wheel("spin", "hub", "z", 0.02, speed="w")
        >>> m.speeds[-1]
        'w'
        """
        options = ReactionWheelOptions(at=at, coordinate=coordinate, speed=speed, shapes=shapes)
        return add_reaction_wheel(self, name, body, axis, inertia, options)

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
        shapes: Sequence[DrawnShape] = (),
    ) -> Joint:
        """Liquid in a tank as a pendulum: a particle of `mass` (kg) on a rod of `length` (m), hinged at `at` of `body`.

        `axis` (unit vector in the body's frame) is the direction of the thrust: at rest the particle hangs at −length
        along it. Two angles (rad) of a universal joint, each with `damping` (N m s/rad). Under an acceleration a it
        swings with √(a / length) rad/s.

        >>> m = kane.Model(gravity=(0, 0, -9.81))
        >>> tank = m.body("tank", mass=10, inertia={"xx": 1, "yy": 1, "zz": 1})
        >>> base = m.joint("base", "prismatic", "ground", "tank", axis="z")
        >>> joint = m.mechanism.slosh("fuel", "tank", 2.0, 0.3)
        >>> m.joints["fuel"].type.kind
        'universal'
        """
        options = SloshOptions(at=at, axis=axis, damping=damping, shapes=shapes)
        return add_slosh(self, name, body, mass, length, options)

    def vehicle(
        self,
        platform: Body | str,
        wheels: Mapping[str, RoadWheel | Mapping[str, Any]] | None = None,
        *,
        name: str = "vehicle",
        drive: Drive | Mapping[str, Any] | None = None,
        root: str | None = None,
        velocity: str = "body",
        coordinates: Sequence[str] | None = None,
        speeds: Sequence[str] | None = None,
        steering: str | None = None,
        steering_limit: Quantity | None = None,
        steering_inertia: Quantity = 0.0,
        pivot: Sequence[Quantity] | None = None,
        friction: Quantity = 0.0,
        contact: str = BILATERAL,
        restitution: Quantity = 0.0,
    ) -> BuiltVehicle:
        """Stand a body on wheels (`RoadWheel`, by name) that roll on the ground, the plane z = 0 of N. A `drive`
        (`Drive`) has wheels by wheelbase, track width and wheel radius; `wheels` are then those besides.

        Where the platform has no joint yet it gets one: `root` "planar" keeps it level, "free" leaves its height and
        tilt to the wheels; `coordinates` and `speeds` name its variables, and its `velocity` has components along its
        own axes ("body") or those of the ground ("parent"). x is forward, y to the left, z up. `steering` names the
        steering angle (rad) that the laws of wheels go by, to `steering_limit` on either side; an effort along its
        speed turns them all. `steering_inertia` (kg m²) is that of column and linkage. `pivot` (m, in the platform) is
        where the front frame of an articulated vehicle is joined. `friction` is the coefficient (≥ 0) by which slip is
        judged: 0 for no judgement.

        With `contact` "bilateral" wheels keep to the ground and do not slip. With "unilateral" they lift and land, with
        `restitution`, and slide where `friction` does not suffice; the root is then free.

        >>> m = kane.Model("cart", gravity=(0, 0, -9.81))
        >>> base = m.body("base", mass=20, inertia={"xx": 1, "yy": 1, "zz": 2})
        >>> wheel = {"radius": 0.1, "mass": 1}
        >>> sides = {"left": {**wheel, "at": (0, 0.3, 0)}, "right": {**wheel, "at": (0, -0.3, 0)}}
        >>> built = m.vehicle("base", {**sides, "nose": {"at": (0.4, 0, 0), "radius": 0.1, "ball": True}})
        >>> m.freedom().degrees, m.row_names
        (2, ('left.longitudinal', 'left.lateral', 'right.longitudinal', 'right.lateral'))
        """
        records = {
            key: w if isinstance(w, RoadWheel) else _record_of(self, RoadWheel, f"wheel '{key}'", w)
            for key, w in (wheels or {}).items()
        }
        if drive is not None:
            where = f"vehicle '{name}'"
            given = drive if isinstance(drive, Drive) else _record_of(self, Drive, f"{where} / drive", drive)
            records = drive_wheels(Builder(self, name, where), given) | records
            steering = STEERING if steering is None and given.type == ACKERMANN else steering
        options = VehicleOptions(
            root,
            velocity,
            coordinates,
            speeds,
            steering,
            steering_limit,
            steering_inertia,
            pivot,
            friction,
            contact,
            restitution,
        )
        return add_vehicle(self, name, platform, records, options)

    # parameters ------------------------------------------------------------------------------------------------------

    def set_parameters(self, values: Mapping[str, Quantity]) -> tuple[str, ...]:
        """Give parameters new values: numbers, or expressions in the present ones. Returns those of them that are not
        free, for which programs have to be made anew (`revision` grows).

        Everything that was judged when it was declared is judged again with them: masses, inertias, radii, axes,
        stiffnesses. Where anything is refused, nothing changes.
        """
        self.judged_with = None
        try:
            fixed = change_parameters(self, values)
        finally:
            self.judged_with = None
        if fixed:
            self.revision += 1
        return fixed

    # speeds ----------------------------------------------------------------------------------------------------------

    def set_speeds(self, definitions: Mapping[str, Quantity]) -> None:
        """Choose the generalized speeds: name → definition, linear in the rates of the coordinates.

        A definition is an expression in rates (q1'), in measure numbers of angular velocities (w.D.x is ω^D · d_x) and
        of velocities of origins (v.D.x) and mass centres (v.D.center.x); Kane's u1 = ω^D · d1 is {"u1": "w.D.x"}.
        Loads, constraints and control laws that name the speeds so far keep their meaning: they are written anew, in
        rates. The initial motion stays.

        >>> m = kane.load("double-pendulum")
        >>> m.set_speeds({"w1": "q1'", "w2": "q1' + q2'"})
        >>> m.qdot([0, 0], [1.0, 3.0]).tolist()
        [1.0, 2.0]
        """
        if len(definitions) != len(self.motion_variables):
            raise ModelError(
                Problem(
                    self.where("speeds"),
                    f"{len(definitions)} speeds for {len(self.motion_variables)} degrees of freedom",
                    "there are as many generalized speeds as motion variables",
                    f"define {len(self.motion_variables)} speeds",
                )
            )
        if len(definitions) > MOST_COORDINATES:
            because = f"equations with more than {MOST_COORDINATES} cannot be written out"
            fix = "leave the speeds to the joints: then motion is computed by recursion over the bodies"
            raise ModelError(Problem(self.where("speeds"), f"{len(definitions)} speeds are chosen", because, fix))
        names = {name: symbol for name, symbol in self._names.items() if name not in self.speed_records}
        measures = MeasureNumbers(self, dict(names))
        chosen: dict[str, Speed] = NamedTable("speed")
        for name, definition in definitions.items():
            self.new_name(name, "speed", names, symbol=True)
            expr = self.scalar(definition, f"speed '{name}'", measures)
            if measures.steps > MOST_STEPS:
                what = f"the speeds up to this one measure motions through {measures.steps} frames"
                because = f"equations with more than {MOST_STEPS} cannot be written out"
                fix = "define speeds by rates of coordinates (q1'), or leave them to the joints"
                raise ModelError(Problem(self.where(f"speed '{name}'"), what, because, fix))
            chosen[name] = Speed(name, self.graph.input(name), expr)
            names[name] = chosen[name].symbol
        check_definitions(self, list(chosen.values()))
        written = rewrite_in_rates(self, chosen)
        chosen = start_alike(self, chosen)
        self.loads, self.constraints = written.loads, written.constraints
        self.changing, self.controls = written.changing, written.controls
        self._elements_of = {
            name: tuple(written.changing[part.name] for part in parts) for name, parts in self._elements_of.items()
        }
        self.speed_records, self._names = chosen, names
        self._speeds_chosen = True
        self.revision += 1

    def order_coordinates(self, names: Sequence[str]) -> None:
        """Fix the order of q, and of u unless speeds are chosen: rates as their coordinates, others as their joints.

        >>> m = kane.load("double-pendulum")
        >>> m.mechanism.order_coordinates(["q2", "q1"])
        >>> m.coordinates, m.speeds
        (('q2', 'q1'), ('u2', 'u1'))
        """
        self.revision += 1
        known = list(self.coordinate_records)
        if sorted(names) != sorted(known):
            raise ModelError(
                Problem(
                    self.where("coordinates"),
                    f"the order names {_first_of(names)}",
                    f"the coordinates are {_first_of(known)}",
                    "name each coordinate once",
                )
            )
        self.coordinate_records = NamedTable("coordinate", {n: self.coordinate_records[n] for n in names})
        if not self._speeds_chosen:
            place = self.variable_order()
            ordered = sorted(self.speed_records.values(), key=lambda s: place[repr(s.definition)])
            self.speed_records = NamedTable("speed", {s.name: s for s in ordered})

    def variable_order(self) -> dict[str, int]:
        """Motion variable → place of the coordinate whose rate it is, or of the first coordinate of its joint; behind
        all others where it goes with none."""
        place = {repr(c.rate): i for i, c in enumerate(self.coordinate_records.values())}
        for joint in self.joints.values():
            first = min((place[repr(c.rate)] for c in joint.coordinates), default=0)
            for rate in joint.rates:
                place.setdefault(repr(rate), first)
        for rate in self.motion_variables:
            place.setdefault(rate, len(place))
        return place

    # drives and limits -----------------------------------------------------------------------------------------------

    def rotor(
        self, name: str, joint: Joint | str, inertia: Quantity, *, ratio: Quantity = 1.0, index: int = 0
    ) -> Rotor:
        """A motor's rotor of `inertia` (kg m²) that turns `ratio` times as fast as a joint: at the joint it acts as
        ratio² inertia. Numbers or expressions in parameters.

        >>> m = kane.load("pendulum")
        >>> rotor = m.rotor("motor", "pivot", 1e-4, ratio=100)
        >>> m.mass_matrix([0]).tolist()
        [[2.0]]
        """
        where = f"rotor '{name}'"
        self.new_name(name, "rotor", self.rotors)
        record = Builder(self, name, where).joint_with_rate(joint, index)
        own, gear = self.scalar(inertia, f"{where} / inertia"), self.scalar(ratio, f"{where} / ratio")
        self.constant([gear], f"{where} / ratio")
        check_rotor(self, own, where)
        self.rotors[name] = Rotor(name, record, index, gear * gear * own)
        return self.rotors[name]

    def limit(
        self,
        coordinate: str,
        *,
        lower: float | None = None,
        upper: float | None = None,
        velocity: float | None = None,
        effort: float | None = None,
    ) -> Limit:
        """State the range of a coordinate (rad or m) and the largest rate and effort along it (SI, not negative; inf
        for none). What is left out stays as it was.

        A motion is judged by them, planning respects them, and `simulate(..., saturate=True)` holds efforts within
        theirs; a range holds nothing back by itself: a `HardStop` does.

        >>> m = kane.load("pendulum")
        >>> m.limit("q", lower=-1.5, upper=1.5, effort=20).upper
        1.5
        >>> m.limit("q", upper=1)
        Limit(lower=-1.5, upper=1.0, velocity=inf, effort=20.0)
        """
        where = f"limit of '{coordinate}'"
        self.find("coordinate", coordinate, self.coordinate_records, where)
        asked = {"lower": lower, "upper": upper, "velocity": velocity, "effort": effort}
        given = {key: self._limit(x, f"{where} / {key}") for key, x in asked.items() if x is not None}
        limit = replace(self.limits.get(coordinate, Limit()), **given)
        if limit.lower > limit.upper:
            what, because = f"from {limit.lower:g} to {limit.upper:g}", "the lower limit does not exceed the upper one"
            fix = "swap the two" if {"lower", "upper"} <= set(given) else "give both, lower=... and upper=..."
            raise ModelError(Problem(self.where(where), what, because, fix))
        if limit.velocity < 0 or limit.effort < 0:
            what = f"velocity {limit.velocity:g}, effort {limit.effort:g}"
            raise ModelError(Problem(self.where(where), what, "the largest rate and effort are magnitudes"))
        self.limits[coordinate] = limit
        return limit

    def _limit(self, value: float, where: str) -> float:
        """A limit, infinite where there is none."""
        if isinstance(value, Real) and math.isinf(value):
            return float(value)
        return self.finite(value, where)

    # controls --------------------------------------------------------------------------------------------------------

    def control(self, name: str, efforts: Mapping[str, Quantity]) -> NamedControl:
        """A named control law: efforts (N m or N), expressions in q, u, t, parameters and measure numbers (w.BODY.x).

        Each acts along a speed, a rate (q1') or, by name, a joint of one degree of freedom. Joints and rates keep their
        meaning whatever speeds are chosen.

        >>> m = kane.load("pendulum")
        >>> law = m.control("damp", {"pivot": "-0.3*u"})
        >>> m.simulate(1, control="damp").outcome.success
        True
        """
        self.new_name(name, "control", self.controls)
        law = self.read_law(efforts, f"control '{name}'", MeasureNumbers(self, self.known_names))
        self.controls[name] = NamedControl(name, law)
        return self.controls[name]

    def read_law(self, efforts: Mapping[str, Quantity], where: str, names: Mapping[str, Expr]) -> dict[Expr, Expr]:
        """What efforts act along → the effort, of expressions by name over `names`."""
        law: dict[Expr, Expr] = {}
        for target, value in efforts.items():
            variable = self.effort_variable(target, f"{where} / {target}")
            if variable in law:
                what, fix = f"two efforts along {variable!r}", "leave out one, or add them up"
                raise ModelError(Problem(self.where(f"{where} / {target}"), what, fix=fix))
            law[variable] = self.scalar(value, f"{where} / {target}", names)
        return law

    def effort_variable(self, target: str, where: str) -> Expr:
        """What an effort acts along: a speed, the rate of a coordinate, or the motion of a one-degree joint."""
        if target in self.speed_records:
            speed = self.speed_records[target]
            return speed.symbol if self._speeds_chosen else speed.definition
        if target in self.motion_variables:
            return self.motion_variables[target]
        if target not in self.joints:
            known = {**self.speed_records, **self.motion_variables, **self.joints}
            self.find("speed, rate or joint", target, known, where)
        joint = self.joints[target]
        if len(joint.rates) != 1:
            raise ModelError(
                Problem(
                    self.where(where),
                    f"joint '{target}' has {len(joint.rates)} degrees of freedom",
                    "an effort acts along one motion variable",
                    f"name the rates: {', '.join(map(repr, joint.rates)) or 'there are none'}",
                )
            )
        return joint.rates[0]

    def free_values(self) -> Floats:
        """Values of the free parameters, in the order of the programs' inputs."""
        return np.array([p.value for p in self.parameters.values() if p.free], dtype=float)

    # judgement -------------------------------------------------------------------------------------------------------

    def description(self) -> dict[str, Any]:
        """This mechanism as plain data in the words of model files; equal for equal descriptions."""
        return describe(self)

    def validate(self) -> None:
        """Raise ModelError with everything that is wrong with the description as a whole."""
        problems = []
        for body in self.bodies.values():
            if body.frame is None:
                loose = body.joint.parent.name if body.joint else None
                what = f"hangs on '{loose}', which is not attached to the ground" if loose else "is attached to nothing"
                problems.append(
                    Problem(
                        self.where(f"body '{body.name}'"),
                        what,
                        "every body is connected to the ground by joints, without cycles",
                        "add a joint to the ground (type: free for a body that floats)",
                    )
                )
        values = {c.name: c.initial for c in self.coordinate_records.values()}
        problems += [a.problem(self) for a in attitudes(self, values) if a.refused]
        problems += mounted_on_wheels(self)
        if not self.speed_records and not problems:
            problems.append(
                Problem(self.where("joints"), "nothing can move", "equations of motion need a speed", "add a joint")
            )
        if problems:
            raise ModelError(problems)

    def __repr__(self) -> str:
        rows = len(self.row_names)
        tied = f", {len(self.constraints)} constraints with {rows} rows" if rows else ""
        tied += f", {len(self.changing)} that come and go" if self.changing else ""
        return (
            f"<Model '{visible(self.name)}': {len(self.bodies)} bodies, {len(self.joints)} joints, "
            f"{len(self.coordinates)} coordinates, {len(self.speeds)} speeds{tied}>"
        )


_Described = TypeVar("_Described")


def _record_of(m: Mechanism, kind: type[_Described], where: str, options: Mapping[str, Any]) -> _Described:
    """A record of a vehicle from its options by name."""
    known = {info.name: info for info in fields_of(kind)}
    for key in options:
        if key not in known:
            raise ModelError(Problem(m.where(where), f"unknown key '{key}'", fix=suggestion(key, [*known])))
    if missing := next((name for name, info in known.items() if info.required and name not in options), None):
        raise ModelError(Problem(m.where(where), f"'{missing}' is missing", fix=f"add {missing}: …"))
    return kind(**options)


def _first_of(names: Sequence[str]) -> str:
    """A list of names, cut to what an error shows."""
    rest = len(names) - _LISTED
    return f"{list(names[:_LISTED])}{f' and {rest} more' if rest > 0 else ''}"


__all__ = ["INERTIA", "JOINT_TYPES", "Mechanism", "Quantity", "suggestion"]
