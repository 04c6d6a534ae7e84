"""What the ground does to the wheels of a vehicle along a motion, whether it tips over, and what its arm does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError, ModelError, suggestion
from ..formulation import TIPOVER, Ground, contacts_program, ground_program, ground_symbols, judged_symbols
from ..graph import Expr, depends_on
from ..model import BuiltVehicle, Mechanism
from ..simulate import Crossings, Event
from .answers import Answers, ProgramAnswer, embedding_of
from .lifting import find_lifting
from .records import Array
from .tipping import Crossing, Judgement, TipOver, balanced_on, crossing_lines

if TYPE_CHECKING:
    from .trajectory import Trajectory

_NOTHING = 1e-9
"""Share of the largest value of a motion that rounding leaves of a force or a measure that is zero."""

_LIGHT = 0.05
"""Share of the largest normal force of a wheel below which it is about to lift: the friction that it needs says nothing
there, and has no bound where the normal force passes through zero."""

_MARK = "ground: "  # begins the names of events that are watched unasked


@dataclass(frozen=True, slots=True, repr=False)
class GroundForces:
    """Forces of the ground on `wheels` (N), each (k, w): `longitudinal` along a wheel's heading, `lateral` to its left,
    `normal` up; `friction` is the coefficient that they need, negative where a wheel would have to pull.

    `undetermined` names what rigid bodies leave open, shared by the stiffness of the tyres, and `sums` has the sums
    that they do not, by the names of their parts. `limit` is the vehicle's coefficient of friction, 0 where it has
    none; `crossings` are the times at which a normal force changes its sign or a wheel begins or ends to need more
    friction than there is ("friction of left"). `violations` are the first times at which each condition on each wheel
    is violated, in their order: these two, and its friction sideways alone ("skid of left"). Of wheels that lift and
    slide `crossings` are the times at which they do, nothing is violated, and `undetermined` is shared so that friction
    is least. `contact` (k, w, 3) are the places (m) where the wheels touch and `force` (k, w, 3) the whole forces (N),
    components in N.
    """

    t: Array
    wheels: tuple[str, ...]
    longitudinal: Array
    lateral: Array
    normal: Array
    friction: Array
    limit: float
    undetermined: tuple[str, ...]
    sums: Mapping[str, Array]
    contact: Array = field(repr=False)
    force: Array = field(repr=False)
    crossings: tuple[Crossing, ...] = ()
    violations: tuple[Crossing, ...] = ()

    @property
    def load_point(self) -> Array:
        """Where the normal forces act together (m), (k, 3), components in N: the zero-moment point. It does not depend
        on how wheels share what rigid bodies leave open, and leaves the support polygon where the vehicle would tip.
        There is none (nan) while no wheel presses on the ground."""
        total = self.normal.sum(axis=1, keepdims=True)
        share = self.normal / np.where(total == 0.0, np.nan, total)
        return np.einsum("kw,kwi->ki", share, self.contact)

    @property
    def skid_margin(self) -> Array:
        """What the friction of each wheel has left sideways (N), (k, w): limit × normal less the size of the lateral
        force; negative where it would skid whatever drives it."""
        return self.limit * self.normal - np.abs(self.lateral)

    @property
    def margin(self) -> Array:
        """How far each wheel is inside its cone of friction (N), (k, w): limit × normal less what acts along the
        ground; negative where it would slip, by the vehicle's `friction`."""
        return self.limit * self.normal - np.hypot(self.longitudinal, self.lateral)

    @property
    def needed_friction(self) -> Array:
        """The largest coefficient of friction that each wheel needs, (w,), over the times at which it carries 5 % of
        its largest normal force or more: of a wheel that is about to lift `friction` has no bound. nan where a wheel
        never presses on the ground."""
        carried = self.normal >= _LIGHT * self.normal.max(axis=0)
        needed = np.where(carried & (self.normal > 0.0), self.friction, -np.inf).max(axis=0)
        return np.where(np.isfinite(needed), needed, np.nan)

    @property
    def remark(self) -> str:
        """Which wheels `needed_friction` leaves times out of, in words; nothing where there are none.

        >>> run = kane.load("tanner-mobile-manipulator").simulate(2)
        >>> run.ground().remark
        'friction needed leaves out when left carries less than 5 % of its largest normal force: it lifts, or nearly so'
        """
        lighter = (self.normal > 0.0) & (self.friction > self.needed_friction)
        names = [name for k, name in enumerate(self.wheels) if lighter[:, k].any()]
        if not names:
            return ""
        left, own, lift = ("carries", "its", "it lifts") if len(names) == 1 else ("carry", "their", "they lift")
        return (
            f"friction needed leaves out when {' and '.join(names)} {left} less than {100 * _LIGHT:g} % of {own} "
            f"largest normal force: {lift}, or nearly so"
        )

    def __repr__(self) -> str:
        lines = [f"Ground forces on {len(self.wheels)} wheels at {len(self.t)} times (N)"]
        width = max(map(len, self.wheels))
        for j, name in enumerate(self.wheels):
            lowest = _first_least(self.normal[:, j])
            needed = self.needed_friction[j]
            shown = "none" if np.isnan(needed) else f"{needed:.4g}"
            lines.append(
                f"  {name:{width}}  normal {self.normal[:, j].min():.6g} … {self.normal[:, j].max():.6g}, least at "
                f"t = {self.t[lowest]:.6g} s; friction needed {shown}"
            )
        if self.remark:
            lines.append(self.remark)
        if self.undetermined:
            lines.append(f"not determined by rigid bodies: {', '.join(self.undetermined)}")
        return "\n".join([*lines, *crossing_lines(self.crossings)])


def _first_least(values: Array) -> int:
    """Where values (k,) are first at their least, but for rounding; wheels that carry alike have the same place."""
    return int(np.argmax(values <= values.min() + _NOTHING * np.abs(values).max()))


@dataclass(frozen=True, slots=True, repr=False)
class Interaction:
    """What a joint's child does to its parent `on`, at times `t` (s): `force` (k, 3) (N) and `torque` (k, 3) (N m)
    about the mounting point, in the parent's axes."""

    t: Array
    joint: str
    on: str
    force: Array
    torque: Array

    def __repr__(self) -> str:
        axes = "N" if self.on == "ground" else self.on
        lines = [f"What joint {self.joint} exerts on {self.on} at {len(self.t)} times, in the axes of {axes}"]
        for what, unit, values in (("force", "N", self.force), ("torque", "N m", self.torque)):
            sizes = np.linalg.norm(values, axis=1)
            parts = [(f"{what} {axis}", column) for axis, column in zip("xyz", values.T, strict=True)]
            for name, column in [(f"|{what}|", sizes), *parts]:
                low, high = int(np.argmin(column)), int(np.argmax(column))
                lines.append(
                    f"  {name:8}  {column[low]:.6g} {unit} at t = {self.t[low]:.6g} s … "
                    f"{column[high]:.6g} {unit} at t = {self.t[high]:.6g} s"
                )
        return "\n".join([*lines, "arrays: .t (k,), .force and .torque (k, 3)"])


@dataclass(frozen=True, slots=True)
class GroundAnswer:
    """The program of a vehicle's ground forces, and what there is to know about them."""

    program: ProgramAnswer
    ground: Ground = field(repr=False)
    names: tuple[str, ...]

    def __call__(self, answers: Answers, t: Array, q: Array, u: Array, tau: Array) -> dict[str, Array]:
        if self.ground.of_multipliers:
            embedding = answers.make_once("embedding", lambda: embedding_of(answers))
            inputs = (q, embedding.multipliers(t, q, u, tau, answers.values))
        else:
            inputs = (q, u, tau)
        return dict(zip(self.names, self.program(t[:, None], inputs, answers.values), strict=True))

    def along(self, run: Trajectory) -> dict[str, Array]:
        """What the ground did along a motion, in the mode of each time where constraints come and go."""
        if not run.answers.mechanism.changing:
            return self(run.answers, run.t, run.q, run.u, run.tau)
        known = {"q": run.q, "u": run.u, "udot": run.acceleration(), "multipliers": run.multipliers}
        inputs = tuple(known[g.name] for g in self.program.program.inputs if g.name in known)
        told = dict(zip(self.names, self.program(run.t[:, None], inputs, run.answers.values), strict=True))
        return _without_rounding(told)


def _without_rounding(found: Mapping[str, Array]) -> dict[str, Array]:
    """Forces and measures of wheels that may lift, zero where they are but for rounding, whose sign says nothing: the
    angle to an edge about which nothing holds the vehicle is 0, or ±π where its mass centre is beyond."""
    told = dict(found)
    scale = max((float(np.abs(told[name]).max()) for name in _WHAT if told[name].size), default=0.0)
    for name in _WHAT:
        told[name] = np.where(np.abs(told[name]) <= _NOTHING * scale, 0.0, told[name])
    if "moment" in told:
        loose = np.abs(told["moment"]) <= _NOTHING * np.abs(told["moment"]).max(initial=0.0)
        for name in ("moment", "angle", "per_edge", "beta"):
            told[name] = np.where(loose, 0.0, told[name])
        told["alpha"] = told["per_edge"].min(axis=1)
    return told


def ground_answer(answers: Answers, vehicle: str) -> GroundAnswer:
    """What answers questions about the ground under a vehicle."""

    def make() -> GroundAnswer:
        changing = bool(answers.mechanism.changing)
        equations = answers.all_rows_held().fresh_equations()
        ground = equations.ground(vehicle, changing)
        program = ground_program(equations, ground)
        return GroundAnswer(ProgramAnswer(program), ground, tuple(out.name for out in program.outputs))

    return answers.make_once(("ground", vehicle), make)


def find_vehicle(mechanism: Mechanism, name: str | None) -> BuiltVehicle:
    """The vehicle of that name, or the only one."""
    known = mechanism.vehicles
    if not known:
        raise InputError(
            f"model '{mechanism.name}' has no vehicle\n"
            "    fix: say which body stands on which wheels: m.vehicle(…), vehicle: in a file"
        )
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name not in known:
        what = f"no vehicle '{name}'" if name is not None else "several vehicles"
        raise InputError(f"{what}: there are {', '.join(known)}\n    fix: {suggestion(str(name), list(known))}")
    return known[name]


# along a motion ------------------------------------------------------------------------------------------------------


def ground_forces(run: Trajectory, vehicle: str | None) -> GroundForces:
    """See `Trajectory.ground`."""
    name, found, answer = _ask(run, vehicle)
    ground, record = answer.ground, run.answers.mechanism.vehicles[name]
    watched = run.ground_crossings.get(name, ())
    crossings = tuple(c for c in watched if not c.what.startswith(("edge", "skid")))
    limit = run.answers.mechanism.number(record.friction, "friction")
    series = {f"{wheel}.{what}": found[what][:, j] for j, wheel in enumerate(ground.wheels) for what in _WHAT}
    return GroundForces(
        run.t,
        ground.wheels,
        found["longitudinal"],
        found["lateral"],
        found["normal"],
        found["friction"],
        limit,
        ground.undetermined,
        {" + ".join(group): sum((series[part] for part in group), np.zeros(len(run.t))) for group in ground.sums},
        *_places_and_forces(run, name, found),
        crossings,
        _first_violations(run, name, ground, limit, found, watched),
    )


_WHAT = ("longitudinal", "lateral", "normal")


def _places_and_forces(run: Trajectory, vehicle: str, found: Mapping[str, Array]) -> tuple[Array, Array]:
    """(contact (k, w, 3), force (k, w, 3)) in N."""
    answers = run.answers
    program = answers.compile_once(("contacts", vehicle), lambda: contacts_program(answers.fresh_equations(), vehicle))
    contact, ahead, left = program(run.t[:, None], (run.q,), answers.values)
    up = np.array([0.0, 0.0, 1.0])  # the ground is level in N; slopes are directions of gravity
    parts = zip(_WHAT, (ahead, left, up), strict=True)
    return contact, sum((found[what][..., None] * e for what, e in parts), np.zeros_like(contact))


def _first_violations(
    run: Trajectory,
    vehicle: str,
    ground: Ground,
    limit: float,
    found: Mapping[str, Array],
    crossings: Sequence[Crossing],
) -> tuple[Crossing, ...]:
    """For every wheel and condition the time from which it is violated."""
    first: list[Crossing] = []
    if run.answers.mechanism.changing:  # wheels that lift and slide do what they can
        return ()
    record = run.answers.mechanism.vehicles[vehicle]
    balls = {wheel.name for wheel in record.wheels if wheel.constraint is None}  # which friction does not hold
    for kind in ("normal", *(("friction", "skid") if limit > 0.0 else ())):
        for wheel in ground.wheels:
            what = f"{kind} of {wheel}"
            if kind != "normal" and wheel in balls:
                continue
            if _at_start(run.answers, vehicle, what, found) < 0.0:
                first.append(Crossing(float(run.t[0]), what, "negative"))
            else:
                first += [c for c in crossings if c.what == what and c.to == "negative"][:1]
    return tuple(sorted(first))


def tip_over(run: Trajectory, vehicle: str | None) -> TipOver:
    """See `Trajectory.tipover`."""
    name, found, answer = _ask(run, vehicle)
    if not answer.ground.edges:
        raise InputError(
            f"vehicle '{name}' stands on {', '.join(answer.ground.wheels)}, which span no polygon: nothing to tip over"
        )
    measures = [found[what] for what in ("alpha", "per_edge", "angle", "moment", "beta")]
    watched, edges = run.ground_crossings.get(name, ()), answer.ground.edges
    record = run.answers.mechanism.vehicles[name]
    if record.unilateral:
        crossed, lifting = balanced_on(edges, run.t, found["per_edge"], watched), find_lifting(run, record)
    else:
        crossed, lifting = tuple(c for c in watched if c.what.startswith("edge")), None
    return TipOver(run.t, edges, *measures, crossings=crossed, lifting=lifting)


def interaction(run: Trajectory, mount: str) -> Interaction:
    """See `Trajectory.interaction`."""
    mechanism = run.answers.mechanism
    if mount not in mechanism.joints:
        raise InputError(f"no joint '{mount}'\n    fix: {suggestion(str(mount), list(mechanism.joints))}")
    parent = mechanism.joints[mount].parent.name
    found = run.reactions(on="parent", frame="N" if parent == "ground" else parent).joints[mount]
    return Interaction(run.t, mount, parent, found.force, found.moment)


def _ask(run: Trajectory, vehicle: str | None) -> tuple[str, dict[str, Array], GroundAnswer]:
    record = find_vehicle(run.answers.mechanism, vehicle)
    answer = ground_answer(run.answers, record.name)
    return record.name, answer.along(run), answer


# watched unasked -----------------------------------------------------------------------------------------------------


def judged_events(answers: Answers) -> list[tuple[Event, Expr]]:
    """Events for what is told of a vehicle unasked: wheels that would have to pull or slip, edges it would tip over."""
    mechanism = answers.mechanism
    if not mechanism.vehicles or mechanism.changing or answers.recursive():
        return []
    found: list[tuple[Event, Expr]] = []
    for judged in judged_symbols(mechanism):
        try:
            ground = ground_answer(answers, judged.vehicle).ground
        except ModelError:
            continue  # that it cannot be judged is said where it is asked for
        wheel = mechanism.vehicles[judged.vehicle].wheels[judged.which]
        if judged.what in ("slip", "skid") and wheel.constraint is None:
            continue  # a ball, which friction does not hold
        name = _words_for(ground, judged.what, judged.which)
        if name is not None:
            found.append((Event(f"{_MARK}{judged.vehicle}: {name}", quiet=True), judged.symbol))
    return found


def _words_for(ground: Ground, what: str, which: int) -> str | None:
    """What a crossing is about, in words; None for what is not judged."""
    if what == "edge":
        return f"edge {'-'.join(ground.edges[which])}" if which < len(ground.edges) else None
    wheel = ground.wheels[which]
    if what == "normal":
        return f"normal of {wheel}"
    return f"{'skid' if what == 'skid' else 'friction'} of {wheel}"


def name_spins(mechanism: Mechanism) -> tuple[str, ...]:
    """The speeds of a model, in words where they are spins of wheels that may lift and slide: such a wheel is light."""
    wheels = {w.rolls.name: w.name for v in mechanism.vehicles.values() if v.unilateral for w in v.wheels}
    spins = {j.rates: wheels[j.child.name] for j in mechanism.joints.values() if j.child.name in wheels}
    why = "which has little inertia while it slips or is off the ground"
    spun = {name: spins.get((speed.definition,)) for name, speed in mechanism.speed_records.items()}
    return tuple(name if wheel is None else f"{name}, the spin of wheel {wheel}, {why}" for name, wheel in spun.items())


def refuse_planar_watch(mechanism: Mechanism, exprs: Sequence[Expr]) -> None:
    """Refuse events on the ground under a platform that is kept level where constraints come and go."""
    if not mechanism.changing:
        return
    for vehicle in (v for v in mechanism.vehicles.values() if not v.lifts):
        own = {*(wheel.name for wheel in vehicle.wheels), vehicle.name, TIPOVER}
        watched = [s for name, s in ground_symbols(mechanism).items() if name.rpartition(".")[2] in own]
        if depends_on(list(exprs), watched):
            raise InputError(
                f"events watch the ground under vehicle '{vehicle.name}', whose joint '{vehicle.root.name}' keeps it "
                "level while other constraints come and go\n    fix: ask run.ground() afterwards, or say root: free"
            )


def split_events(events: Sequence[Crossings]) -> tuple[tuple[Crossings, ...], tuple[Crossings, ...]]:
    """What was asked for, and what was watched unasked."""
    own = tuple(e for e in events if not e.event.quiet)
    return own, tuple(e for e in events if e.event.quiet)


def judge(answers: Answers, watched: Sequence[Crossings], t: Array, q: Array, u: Array, tau: Array) -> Judgement:
    """When what was watched was negative, by vehicle."""
    spans: dict[str, list[Crossing]] = {}
    told: list[str] = []
    starts: dict[str, dict[str, Array]] = {}
    for found in watched:
        vehicle, what = found.event.name.removeprefix(_MARK).split(": ", 1)
        if vehicle not in starts:
            starts[vehicle] = ground_answer(answers, vehicle)(answers, t[:1], q[:1], u[:1], tau[:1])
        negative = _at_start(answers, vehicle, what, starts[vehicle]) < 0.0
        first = float(t[0]) if negative else float(found.t[0]) if len(found.t) else None
        if first is not None:
            told.append(_sentence(what, first))
        crossings = spans.setdefault(vehicle, [])
        for time in found.t.tolist():
            negative = not negative
            crossings.append(Crossing(time, what, "negative" if negative else "positive"))
    return Judgement({name: tuple(sorted(found)) for name, found in spans.items()}, tuple(told))


def _at_start(answers: Answers, vehicle: str, what: str, found: Mapping[str, Array]) -> float:
    ground = ground_answer(answers, vehicle).ground
    kind, _, name = what.partition(" ")
    if kind == "edge":
        return float(found["moment"][0, ["-".join(e) for e in ground.edges].index(name)])
    wheel = ground.wheels.index(name.removeprefix("of "))
    if kind == "normal":
        return float(found["normal"][0, wheel])
    mu = answers.mechanism.number(answers.mechanism.vehicles[vehicle].friction, "friction")
    ahead = 0.0 if kind == "skid" else found["longitudinal"][0, wheel]
    return float(mu * found["normal"][0, wheel] - np.hypot(ahead, found["lateral"][0, wheel]))


def _sentence(what: str, t: float) -> str:
    kind, _, name = what.partition(" ")
    name = name.removeprefix("of ")
    if kind == "edge":
        return f"would tip over {name} from t = {t:.6g} s"
    if kind == "normal":
        return f"wheel {name} would have to pull from t = {t:.6g} s"
    return f"wheel {name} would {'skid' if kind == 'skid' else 'slip'} from t = {t:.6g} s"


__all__ = [
    "Crossing",
    "GroundForces",
    "Interaction",
    "TipOver",
    "ground_forces",
    "interaction",
    "judge",
    "judged_events",
    "name_spins",
    "refuse_planar_watch",
    "split_events",
    "tip_over",
]
