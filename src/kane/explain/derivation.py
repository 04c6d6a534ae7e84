"""Kane's method step by step, as records to be read: from a mechanism to partial velocities, F_r, F_r* and equations.

Everything is expressed by the parameters' symbols and along the axes that the model was described with; links are
neither turned nor regrouped as they are for programs, so that each term is what it is called. Expressions are built in
the graph of `Equations` and read by `Reader`; velocities and accelerations are those of the vector theorems, partial
velocities the coefficients of the speeds in them [KL83, Eqs. 23, 44, 78 and 90].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..backends.mathml import text_name
from ..errors import ModelError, SingularError
from ..formulation import Equations
from ..formulation.sweep import rotors
from ..graph import Expr, linear_coefficients, time_derivative
from ..model import Body, Mechanism
from ..model.loads import Action, EffortAction, ForceAction, GivenActions
from ..model.measures import measure_numbers
from ..space import Frame
from ..space.algebra import Matrix, Triple, cross, dot, is_zero, plus, scaled, times
from .algebra import COORDINATE, EFFORT, ONE, PARAMETER, RATE, SPEED, Sum, Symbol, add, symbol_sum
from .dependence import rates_left, reduce_equations, refuse_independent, solve_dependent
from .dropping import find_dropped, is_particle
from .holding import Holding
from .names import indexed_name
from .reading import LONG, Reader, TooLong
from .records import (
    Acceleration,
    ConstraintLine,
    CoordinateRate,
    DependentSpeeds,
    Derivation,
    ForceTerm,
    PartialVelocity,
    SpeedDefinition,
    VectorSum,
    add_vectors,
)
from .roles import parameter_roles
from .steps import along_steps

COUNTED = ("kinematics", "inverse_dynamics", "forward_dynamics")
_EMBEDDED_ROWS = 24  # rows of constraints that are written out at most


def derive(mechanism: Mechanism, *, naming: bool | None = None, independent: Sequence[str] | None = None) -> Derivation:
    """The derivation of a mechanism's equations; with Z's if `naming`, by default where it is too long without. Under
    constraints the speeds in `independent` are, by default those of `formulation.choice`."""
    if naming is not None:
        return _Derivation(mechanism, naming, independent).result()
    try:
        return _Derivation(mechanism, False, independent).result()
    except TooLong:
        return _Derivation(mechanism, True, independent).result()


def symbols_of_inputs(mechanism: Mechanism) -> dict[str, Symbol]:
    """Every input of the equations as a symbol of its kind."""
    roles = parameter_roles(mechanism)
    found = {name: Symbol(name, PARAMETER, role, indexed_name(name, roles)) for name, role in roles.items()}
    found["t"] = Symbol("t", COORDINATE, -1)
    for k, name in enumerate(mechanism.coordinates):
        found[name] = Symbol(name, COORDINATE, k)
    for k, name in enumerate(mechanism.speeds):
        found[name] = Symbol(name, SPEED, k)
        found[f"{name}'"] = Symbol(f"{name}'", RATE, k)
        found[f"tau_{name}"] = Symbol(f"tau_{name}", EFFORT, k)
    return found


@dataclass(frozen=True, slots=True)
class _Moving:
    """A body as it is explained: partial ω and v* along the axes of `axes`, remainders of α and a*, T* and R*.

    `w` and `wr` are along the body's own axes, those of v and a along `axes`.
    """

    body: Body
    own: Frame
    axes: Frame
    mass: Expr
    inertia: Matrix
    w: Triple
    wr: list[Triple]
    vr: list[Triple]
    T: Triple
    R: Triple


class _Derivation:
    """One derivation: expressions of one graph, read by one reader."""

    def __init__(self, mechanism: Mechanism, naming: bool, independent: Sequence[str] | None):
        self.mechanism = mechanism
        self.independent = independent
        self.e = Equations(mechanism, "all")
        self.system = self.e.system
        self.kin = self.system.kinematics((), gravity=False)
        self.kin_t = self.system.kinematics((), accelerate=False, gravity=False)
        symbols = symbols_of_inputs(mechanism)
        self.reader = Reader(self.e.graph, symbols, naming=naming)
        self.rough = Reader(self.e.graph, symbols, naming=False)  # to compare lengths with
        self.speeds = [symbol_sum(symbols[name]) for name in mechanism.speeds]
        bodies = {body.frame for body in mechanism.bodies.values() if body.frame is not None}
        self.named = bodies | set(mechanism.frames.values())
        self.holding = Holding(self.system, self.kin)
        self.partials: list[PartialVelocity] = []
        self.accelerations: list[Acceleration] = []

    def result(self) -> Derivation:
        """All records."""
        m = self.mechanism
        coordinates = self._coordinates()
        moving = [self._move(body) for body in m.bodies.values()]
        active = [*self._gravity(moving), *self._loads(), *self._efforts()]
        inertia = [self._inertia(k) for k in moving] + self._rotors()
        zero = [t for t in (*active, *inertia) if all(v.is_zero for v in t.values)]
        kept = [t for t in active if t not in zero]
        acting = {t.source for t in kept}
        equations = [add(t.values[r] for t in (*kept, *inertia)) for r in range(len(self.speeds))]
        lines, embedding = self._constraints()
        reduced = reduce_equations(equations, embedding, tuple(m.speeds), self.reader)
        written = [*(e for _, e in reduced), *(z.value for z in self.reader.definitions)]
        across = {k.body.name: self._across_gravity(k) for k in moving if f"weight of {k.body.name}" in acting}
        return Derivation(
            model=m.name,
            about=m.about,
            coordinates=coordinates,
            speeds=self._definitions(),
            partials=tuple(self.partials),
            accelerations=tuple(self.accelerations),
            active=tuple(kept),
            inertia=tuple(t for t in inertia if t not in zero),
            dropped=(
                *self.holding.tell(),
                *find_dropped(m, [t.source for t in zero], self._standing(), across),
            ),
            constraints=lines,
            embedding=embedding,
            equations=tuple(self._check_length(e) for e in equations),
            reduced=reduced,
            rates=rates_left(written, embedding, tuple(m.speeds)),
            Z=tuple(self.reader.definitions),
            counts=self._counts(),
        )

    def _check_length(self, equation: Sum) -> Sum:
        if not self.reader.naming and equation.size > LONG:
            raise TooLong
        return equation

    def _counts(self) -> dict[str, dict[str, int]]:
        counted = Equations(self.mechanism)
        return {name: counted.count(name) for name in COUNTED}

    # coordinates and speeds --------------------------------------------------------------------------------------

    def _coordinates(self) -> tuple[CoordinateRate, ...]:
        names = self.mechanism.coordinates
        return tuple(
            CoordinateRate(Symbol(name, COORDINATE, k), self.reader.name(rate, f"{name}'"))
            for k, (name, rate) in enumerate(zip(names, self.system.qdot, strict=True))
        )

    def _definitions(self) -> tuple[SpeedDefinition, ...]:
        """Definitions in the motion variables, those that are speeds by the names of these, read in the graph of the
        description."""
        m = self.mechanism
        symbols, measures = symbols_of_inputs(m), measure_numbers(m, m.bodies.values())
        words = {rate: f"{q!r}'" for q, rate in m.coordinate_rates.items()}
        words |= {expr: ".".join(measured) for expr, measured in measures.items()}
        own = {s.definition: Symbol(name, SPEED, k) for k, (name, s) in enumerate(m.speed_records.items())}
        others, variables = dict(symbols), set(m.motion_variables.values())
        for k, (name, variable) in enumerate(m.motion_variables.items()):
            symbols[name] = others[name] = Symbol(words.get(variable, name), SPEED, k)
            if variable in measures and variable in own:
                others[name] = own[variable]
        reader, apart = (Reader(m.graph, found, naming=False) for found in (symbols, others))
        found = []
        for k, (name, record) in enumerate(m.speed_records.items()):
            measure = measures.get(record.definition, ("", "", ""))
            try:
                value = (reader if record.definition in variables else apart).read(record.definition)
            except TooLong:
                value = symbol_sum(Symbol(name, SPEED, k))
            found.append(SpeedDefinition(Symbol(name, SPEED, k), value, measure))
        return tuple(found)

    # velocities --------------------------------------------------------------------------------------------------

    def _move(self, body: Body) -> _Moving:
        own, origin = body.frame, body.origin
        assert own is not None and origin is not None
        take, kin, kin_t = self.system.take, self.kin, self.kin_t
        center = take.triple(body.center)
        w = kin.w(own)
        v = plus(kin.turn(kin.v(origin), origin.home, own), cross(w, center))
        wr, wt = self._coefficients(w)
        axes = self._best_axes(own, v)
        vr, vt = self._coefficients(kin.turn(v, own, axes))
        self._note_partials(body, own, axes, (w, wr, wt), (v, vr, vt))
        alpha_t = kin_t.alpha(own)
        a = plus(kin_t.turn(kin_t.a(origin), origin.home, own), cross(alpha_t, center))
        a_t = plus(a, cross(w, cross(w, center)))
        angular = self._named_vector(own, alpha_t, f"α({body.name})", "where u' = 0")
        self._name_triple(own, w, f"ω({body.name})")
        linear = self._remainder(body, own, axes, a_t)
        if not (body.mass.is_zero and is_particle(body)):  # else neither is multiplied by anything
            self.accelerations.append(Acceleration(body.name, angular, linear))
        alpha = self._accelerate(wr, alpha_t)
        acceleration = self._accelerate(vr, kin.turn(a_t, own, axes))
        mass, inertia = take.one(body.mass), take.matrix(body.inertia)
        T = scaled(-1.0, plus(times(inertia, alpha), cross(w, times(inertia, w))))
        R = scaled(-1.0 * mass, acceleration)
        self._name_triple(own, T, f"T*({body.name})")
        self._name_triple(axes, R, f"R*({body.name})")
        return _Moving(body, own, axes, mass, inertia, w, wr, vr, T, R)

    def _coefficients(self, xyz: Triple) -> tuple[list[Triple], Triple]:
        """(partial velocities, remainder) of a velocity; zeros that no rule of the graph finds are found by numbers."""
        A, rest = linear_coefficients(list(xyz), self.system.u)
        partials = self.holding.clear_zeros([(A[0][r], A[1][r], A[2][r]) for r in range(len(self.system.u))])
        return partials, (rest[0], rest[1], rest[2])

    def _accelerate(self, partials: Sequence[Triple], rest: Triple) -> Triple:
        """Σ partial · u̇ + remainder."""
        total = rest
        for partial, rate in zip(partials, self.system.udot, strict=True):
            total = plus(total, scaled(rate, partial))
        return total

    def _candidates(self, own: Frame) -> list[Frame]:
        """Axes that a vector may be written along: N, the body's own, those that carry it."""
        path, f = list[Frame](), own.parent
        while f is not None:
            if f in self.named and f is not self.mechanism.N and f is not self.mechanism.ground.frame:
                path.append(f)
            f = f.parent
        return [self.mechanism.N, own, *path]

    def _best_axes(self, own: Frame, v: Triple) -> Frame:
        """Axes along which a velocity is shortest; N before the body's own before others where that is equal, and those
        that carry the body, else its own, where it is long along all."""
        candidates = self._candidates(own)
        found = [(self._length(self.kin.turn(v, own, f)), k, f) for k, f in enumerate(candidates)]
        length, _, shortest = min(found, key=lambda item: item[:2])
        return shortest if length < float("inf") else candidates[min(2, len(candidates) - 1)]

    def _length(self, xyz: Triple) -> float:
        try:
            return sum(self.rough.read(e).size for e in xyz)
        except TooLong:
            return float("inf")

    def _note_partials(
        self,
        body: Body,
        own: Frame,
        axes: Frame,
        angular: tuple[Triple, list[Triple], Triple],
        linear: tuple[Triple, list[Triple], Triple],
    ) -> None:
        (_, wr, wt), (v, vr, vt) = angular, linear
        rows = [self._named_vector(own, x, f"ω{r + 1}({body.name})") for r, x in enumerate(wr)]
        rest = self._named_vector(own, wt, f"ω({body.name})", "where u = 0")
        self._append_partial("ω", body.name, rows, rest)
        rows = [self._linear_entry(body, own, axes, r, x, v) for r, x in enumerate(vr)]
        rest = self._named_vector(axes, vt, f"v({body.name}*)", "where u = 0")
        self._append_partial("v", body.name, rows, rest)

    def _append_partial(self, what: str, body: str, rows: list[VectorSum], rest: VectorSum) -> None:
        total = add_vectors((x, f) for x, f in [*zip(rows, self.speeds, strict=True), (rest, ONE)])
        self.partials.append(PartialVelocity(what, body, tuple(rows), rest, total))

    def _linear_entry(self, body: Body, own: Frame, axes: Frame, r: int, x: Triple, v: Triple) -> VectorSum:
        """A partial velocity: in small systems along the axes in which it is shortest, else along those of v."""
        if self.reader.naming:
            return self._named_vector(axes, x, f"v{r + 1}({body.name}*)")
        found = [self._vector(axes, x)]
        for frame in self._candidates(own):
            turned, _ = self._coefficients(self.kin.turn(v, own, frame))
            found.append(self._vector(frame, turned[r]))
        if (steps := along_steps(self.kin, body, self.system.take, self.named)) is not None:
            parts = (self._vector(step.frame, self._coefficients(step.velocity)[0][r]) for step in steps)
            found.append(add_vectors((part, ONE) for part in parts))
        return min(found, key=lambda vector: vector.size)

    def _remainder(self, body: Body, own: Frame, axes: Frame, a_t: Triple) -> VectorSum:
        if self.reader.naming:
            return self._named_vector(axes, self.kin.turn(a_t, own, axes), f"a({body.name}*)", "where u' = 0")
        found = [self._vector(f, self.kin.turn(a_t, own, f)) for f in self._candidates(own)]
        if (steps := along_steps(self.kin_t, body, self.system.take, self.named)) is not None:
            parts = [self._vector(step.frame, step.acceleration) for step in steps]
            found.append(add_vectors((part, ONE) for part in parts))
        return min(found, key=lambda vector: vector.size)

    def _vector(self, frame: Frame, xyz: Triple) -> VectorSum:
        x, y, z = (self.reader.read(e) for e in xyz)
        return VectorSum.of(frame.name, (x, y, z))

    def _named_vector(self, frame: Frame, xyz: Triple, about: str, where: str = "") -> VectorSum:
        x, y, z = self._name_triple(frame, xyz, about, where)
        return VectorSum.of(frame.name, (x, y, z))

    def _name_triple(self, frame: Frame, xyz: Triple, about: str, where: str = "") -> tuple[Sum, Sum, Sum]:
        end = where and f", {where}"
        x, y, z = (self.reader.name(e, f"{about}·{frame.name}.{'xyz'[k]}{end}") for k, e in enumerate(xyz))
        return x, y, z

    # forces ------------------------------------------------------------------------------------------------------

    def _gravity(self, moving: Iterable[_Moving]) -> list[ForceTerm]:
        g = self.system.gravity
        found = []
        for k in moving:
            if k.mass.is_zero or all(c.is_zero for c in g):
                continue
            weight, across = scaled(k.mass, self._gravity_along(k.axes)), self._across_gravity(k)
            about = f"weight of {k.body.name}"
            values = [Sum(()) if r in across else self._read(dot(weight, v), about) for r, v in enumerate(k.vr)]
            how = tuple(f"v_{r + 1}({k.body.name}*) · m g" for r in range(len(values)))
            found.append(ForceTerm(about, how, tuple(values)))
        return found

    def _gravity_along(self, axes: Frame) -> Triple:
        return self.kin.turn(self.system.gravity, self.mechanism.N, axes)

    def _across_gravity(self, k: _Moving) -> list[int]:
        """Indices r of the partial velocities of a mass centre that are perpendicular to gravity, those of zero left
        out; found by numbers, since no rule shortens every such product to zero."""
        g = self._gravity_along(k.axes)
        return [r for r, v in enumerate(k.vr) if not is_zero(v) and self.holding.are_perpendicular(v, g)]

    def _loads(self) -> list[ForceTerm]:
        found, auxiliary = [], self.mechanism.auxiliary
        unknown = () if auxiliary is None else auxiliary.parts
        for load in self.mechanism.loads.values():
            if load.name in unknown and all(_is_zero(action) for action in load.actions()):
                continue  # an unknown reaction, which has a line under its own name
            contributions = [(action, self._action(action)) for action in load.actions()]
            values, how = list[Sum](), list[str]()
            for r in range(len(self.speeds)):
                parts = [(action, x[r]) for action, x in contributions if not x[r].is_zero]
                total = sum((x for _, x in parts), self.e.graph.const(0.0))
                values.append(self._read(total, f"load {load.name}"))
                how.append(_how([action for action, _ in parts], r + 1))
            kind = "" if isinstance(load.record, GivenActions) else f" ({load.kind})"
            found.append(ForceTerm(f"load {load.name}{kind}", tuple(how), tuple(values)))
        return found

    def _action(self, action: Action) -> list[Expr]:
        """What an action contributes to F_r, for each r."""
        take, kin = self.system.take, self.kin
        if isinstance(action, EffortAction):
            A, _ = linear_coefficients([take.one(action.variable)], self.system.u)
            return [c * take.one(action.value) for c in A[0]]
        if isinstance(action, ForceAction):
            velocity, frame = kin.v(action.point), action.point.home
        else:
            velocity, frame = kin.w(action.frame), action.frame
        vector = kin.turn(take.triple(action.vector.xyz), action.vector.frame, frame)
        return [dot(x, vector) for x in self._coefficients(velocity)[0]]

    def _efforts(self) -> list[ForceTerm]:
        """Efforts along the speeds: each in its own equation."""
        zero = Sum(())
        found = []
        for k, name in enumerate(self.mechanism.speeds):
            values = [zero] * len(self.speeds)
            values[k] = symbol_sum(Symbol(f"tau_{name}", EFFORT, k))
            found.append(ForceTerm(f"effort along {text_name(name)}", ("",) * len(values), tuple(values)))
        return found

    def _inertia(self, k: _Moving) -> ForceTerm:
        name, values, how = k.body.name, list[Sum](), list[str]()
        for r, (w, v) in enumerate(zip(k.wr, k.vr, strict=True), 1):
            values.append(self._read(dot(w, k.T) + dot(v, k.R), f"F*({name})"))
            torque = [] if is_particle(k.body) or is_zero(w) else [f"ω_{r}({name}) · T*({name})"]
            force = [] if k.mass.is_zero or is_zero(v) else [f"v_{r}({name}*) · R*({name})"]
            how.append(" + ".join([*torque, *force]))
        return ForceTerm(f"inertia of {name}", tuple(how), tuple(values))

    def _rotors(self) -> list[ForceTerm]:
        found = []
        for name, (s, inertia) in zip(self.mechanism.rotors, rotors(self.system), strict=True):
            rate = time_derivative([s], self.kin.rates)[0]
            A, _ = linear_coefficients([s], self.system.u)
            values = tuple(self._read(-1.0 * inertia * c * rate, f"rotor {name}") for c in A[0])
            how = tuple(
                f"-J s' times the coefficient of u_{r + 1} in s, the speed of the rotor" for r in range(len(values))
            )
            found.append(ForceTerm(f"inertia of rotor {name}", how, values))
        return found

    def _read(self, expr: Expr, about: str) -> Sum:
        return self.reader.read(expr, about)

    def _standing(self) -> set[str]:
        """Bodies whose mass centre has no partial velocities."""
        return {p.body for p in self.partials if p.what == "v" and all(x.is_zero for x in p.entries)}

    # constraints -------------------------------------------------------------------------------------------------

    def _constraints(self) -> tuple[tuple[ConstraintLine, ...], DependentSpeeds | None]:
        m = self.mechanism
        if not m.constraints:
            refuse_independent(self.independent, "the model has no constraints, all its speeds are independent")
            return (), None
        rows = self.e.constraints
        lines = [
            ConstraintLine(name, self._read(rate, f"row {name}"))
            for name, rate in zip(m.row_names, rows.rate, strict=True)
        ]
        if len(lines) > _EMBEDDED_ROWS:
            chosen = f"of models with more than {_EMBEDDED_ROWS} rows of constraints they are chosen at run time"
            refuse_independent(self.independent, chosen)
            return tuple(lines), None
        try:
            return tuple(lines), solve_dependent(self.e, self.reader, self.independent)
        except (SingularError, ModelError):
            refuse_independent(self.independent, "the constraints are singular where they are judged")
            return tuple(lines), None


def _is_zero(action: Action) -> bool:
    return not isinstance(action, EffortAction) and is_zero(action.vector.xyz)


def _how(actions: Sequence[Action], r: int) -> str:
    """Formulas of what actions of a load contribute to F_r, each kind once."""
    kinds = {"ForceAction": f"v_{r} · F", "TorqueAction": f"ω_{r} · T"}
    told = (
        f"effort times the coefficient of u_{r} in {text_name(str(a.variable))}"
        if isinstance(a, EffortAction)
        else kinds[type(a).__name__]
        for a in actions
    )
    return " + ".join(dict.fromkeys(told))
