"""What the ground does to the wheels of a vehicle, and how near the vehicle is to tipping over, as expressions.

Forces along rows of constraints are their multipliers, from the equations of the dependent speeds. Where the platform's
joint keeps it level, six auxiliary speeds of that joint bring its wrench into evidence, which the wheels carry as
normal forces [TK01]. What rigid bodies leave open is shared by the stiffness of the tyres, least Σ F²/k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints.rank import choose_speeds
from ..constraints.thresholds import REDUNDANT, ROUNDING
from ..errors import ModelError, Problem
from ..graph import Expr, Graph, Inputs, Program, Values, linear_coefficients, lower, substitute
from ..model import Body, BuiltVehicle, BuiltWheel, Mechanism
from ..model.symbols import Quantity
from ..space import Kinematics, Point, position, rotations
from ..space.algebra import Triple, cross, dot, minus, plus, product, scaled, times, transpose
from .elimination import solve_columns
from .embedding import evaluate_matrix
from .reactions import multiplier_symbols, released_wrench
from .tipover import Measures, hull_edges
from .transfer import Transfer

if TYPE_CHECKING:
    from .equations import Equations

Rows = list[list[Expr]]
_OTHER_STATES = 3  # at which an expression is looked at before it is taken for a number
_AWAY = 0.7  # rad, m: how far these are
_NO_FORCE = 1e-300  # N, N²: what a wheel in the air is divided by, so that nothing over nothing is nothing
WATCHED = ("longitudinal", "lateral", "normal", "friction")
"""What events may name of a wheel, as `normal.left`."""
TIPOVER = "tipover"
"""What events may name of a vehicle: its measure, the least over the edges."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Expressions at a state: forces of the ground on each wheel (N) along its heading, to its left and along the
    normal, and the coefficient of friction that they need; for each edge of the support polygon the angle (rad), the
    moment (N m) that keeps the vehicle on the ground, and two measures, angle × force (N rad) and angle × distance ×
    force (N m rad). `edges` are pairs of wheels, counter-clockwise from above; `undetermined` names what rigid bodies
    leave open, `sums` the groups of it whose sum they do not."""

    wheels: tuple[str, ...]
    longitudinal: list[Expr]
    lateral: list[Expr]
    normal: list[Expr]
    friction: list[Expr]
    edges: tuple[tuple[str, str], ...]
    angle: list[Expr]
    moment: list[Expr]
    alpha: list[Expr]
    beta: list[Expr]
    undetermined: tuple[str, ...]
    sums: tuple[tuple[str, ...], ...]
    of_multipliers: bool = False


def ground_program(equations: Equations, ground: Ground) -> Program:
    """Forces, friction and measures from q, u and tau; `of_multipliers`, from q and the multipliers of all rows of
    constraints, which the run-time solve gives; where constraints come and go, from q, u, udot and the multipliers, in
    whatever mode these are."""
    w, e = len(ground.wheels), len(ground.edges)
    outputs = {
        "longitudinal": ((w,), ground.longitudinal),
        "lateral": ((w,), ground.lateral),
        "normal": ((w,), ground.normal),
        "friction": ((w,), ground.friction),
    }
    if e:
        edges = {"angle": ground.angle, "moment": ground.moment, "per_edge": ground.alpha, "beta": ground.beta}
        outputs |= {"alpha": ((), [least_of(ground.alpha)]), **{name: ((e,), exprs) for name, exprs in edges.items()}}
    if ground.of_multipliers:
        symbols = multiplier_symbols(equations.graph, len(equations.mechanism.row_names))
        inputs = [*equations.groups(["t", "q", "u", "udot"]), Inputs("multipliers", tuple(map(repr, symbols)))]
        inputs += equations.groups(["parameters"]) if equations.free else []
        return lower("ground", inputs, outputs, optional=("t", "u", "udot"))
    return equations.lower_with_time("ground", ("q", "u", "tau"), outputs)


def contacts_program(equations: Equations, vehicle: str) -> Program:
    """Where a vehicle's wheels touch the ground, `contact_frames`, each (w, 3), from q."""
    parts = contact_frames(equations, vehicle)
    outputs = {name: ((len(triples), 3), [x for triple in triples for x in triple]) for name, triples in parts.items()}
    return equations.lower_with_time("contacts", ("q",), outputs)


def contact_frames(equations: Equations, vehicle: str) -> dict[str, list[Triple]]:
    """Where a vehicle's wheels touch the ground, components in N: `contact` (m) of each wheel and the unit vectors
    `ahead`, along its heading, and `left`."""
    record, N = equations.mechanism.vehicles[vehicle], equations.mechanism.N
    forces = _Forces(equations, record)
    kin, origin = forces.kin, record.platform.origin
    assert origin is not None
    center = plus(kin.position(origin), kin.turn(equations.system.take.triple(record.platform.center), forces.frame, N))

    def in_N(v: Triple) -> Triple:
        return kin.turn(v, forces.frame, N)

    return {
        "contact": [plus(center, in_N(p)) for p in forces.contacts],
        "ahead": [in_N(e) for e in forces.headings],
        "left": [in_N(cross(forces.up, e)) for e in forces.headings],
    }


SAFETY = ("longitudinal", "lateral", "normal", "margin", "alpha", "per_edge")
"""What a filter of safety is told: forces on each wheel, how far it is inside its cone, the measure and its edges."""


def safety_program(equations: Equations, vehicle: str) -> Program:
    """All of `SAFETY` from q, u and tau, constraints embedded: one evaluation for an on-board filter of safety.

    The graph of `equations` is used up by it: give one of its own.
    """
    ground = find_ground(equations, vehicle, embed=True)
    mu = equations.system.take.one(equations.mechanism.vehicles[vehicle].friction)
    w, e = len(ground.wheels), len(ground.edges)
    outputs = {
        "longitudinal": ((w,), ground.longitudinal),
        "lateral": ((w,), ground.lateral),
        "normal": ((w,), ground.normal),
        "margin": ((w,), [margin_of(ground, mu, k) for k in range(w)]),
    }
    if e:
        outputs |= {"alpha": ((), [least_of(ground.alpha)]), "per_edge": ((e,), ground.alpha)}
    return equations.lower_with_time("safety", ("q", "u", "tau"), outputs)


def margin_of(ground: Ground, mu: Expr, k: int) -> Expr:
    """How far a wheel is inside its cone of friction (N)."""
    x, y = ground.longitudinal[k], ground.lateral[k]
    return mu * ground.normal[k] - (x * x + y * y).sqrt()


def least_of(exprs: Sequence[Expr]) -> Expr:
    """The least of some expressions."""
    found = exprs[0]
    for expr in exprs[1:]:
        found = found.min(expr)
    return found


# forces --------------------------------------------------------------------------------------------------------------


def find_ground(equations: Equations, name: str, in_mode: bool = False, *, embed: bool = False) -> Ground:
    """What the ground does to a vehicle, the efforts tau acting; of one that could lift in terms of the multipliers of
    all rows, unless these are to be embedded too; `in_mode`, from accelerations and multipliers that are given, those
    of whatever constraints hold at the time.

    Constraints are embedded in speeds along the platform's own axes, whatever the model's are: along those of the
    ground the forward speed has a component that vanishes at some heading, and a pivot with it.
    """
    vehicle = equations.mechanism.vehicles[name]
    if in_mode or (vehicle.lifts and not embed):
        return _ground_of(equations, vehicle, _given_multipliers(equations))
    chosen = _platform_speeds(equations.mechanism, vehicle) if equations.system.map.identity else None
    if chosen is None:
        return _ground_of(equations, vehicle)
    mechanism = equations.mechanism.twin()
    mechanism.set_speeds(chosen)
    twin = type(equations)(mechanism, equations.free)
    found = _ground_of(twin, vehicle)
    u = equations.system.take([speed.definition for speed in mechanism.speed_records.values()])
    C = linear_coefficients(u, equations.system.u)[0]  # orthogonal: efforts turn as speeds do
    zero = equations.graph.const(0.0)
    tau = [sum((c * t for c, t in zip(row, equations.tau, strict=True)), zero) for row in C]
    bring = Transfer(
        twin.graph,
        equations.graph,
        dict(zip(twin.system.u, u, strict=True)) | dict(zip(twin.tau, tau, strict=True)),
    )
    named = ((f.name, getattr(found, f.name)) for f in fields(Ground))
    brought: dict[str, Any] = {name: bring(value) for name, value in named if isinstance(value, list)}
    return replace(found, **brought)


def _platform_speeds(mechanism: Mechanism, vehicle: BuiltVehicle) -> dict[str, Quantity] | None:
    """The model's speeds with the platform's velocity along its own axes; None where it is so already, or where parts
    of the model are written in its speeds."""
    kind = vehicle.root.type
    if getattr(kind, "velocity", "body") == "body" or not vehicle.platform.name.isidentifier():
        return None
    rates = vehicle.root.rates[:2] if kind.kind == "planar" else vehicle.root.rates[-3:]
    along = dict(zip(map(repr, rates), "xyz", strict=False))
    chosen: dict[str, Quantity] = {}
    for name, speed in mechanism.speed_records.items():
        axis = along.get(repr(speed.definition))
        text = f"v.{vehicle.platform.name}.{axis}"
        chosen[name if axis is None else f"ground_{name}"] = speed.definition if axis is None else text
    try:
        mechanism.twin().set_speeds(chosen)
    except ModelError:
        return None
    return chosen


def _ground_of(equations: Equations, vehicle: BuiltVehicle, given: _Shared | None = None) -> Ground:
    mechanism = equations.mechanism
    at = equations.regular_state.best
    udot = equations.forward_dynamics if given is None else list(equations.system.udot)
    shared = _multipliers(equations, udot, _stiffness(equations, vehicle)) if given is None else given
    place = {name: k for k, name in enumerate(mechanism.row_names)}
    forces = _Forces(equations, vehicle)
    along = [forces.along(wheel, shared.values, place) for wheel in vehicle.wheels]
    named = {name: place[row] for wheel in vehicle.wheels for name, row in _rows_of(mechanism, wheel).items()}
    loose = [name for name, k in named.items() if shared.loose[k]]
    normal, open_normals = _normals(equations, forces, udot, shared.values, place, at)
    loose += [f"{wheel.name}.normal" for wheel in vehicle.wheels] if open_normals else []
    longitudinal, lateral = [x for x, _ in along], [y for _, y in along]
    pressed = [n.max(_NO_FORCE) for n in normal] if vehicle.unilateral else normal
    friction = [(x * x + y * y).sqrt() / n for x, y, n in zip(longitudinal, lateral, pressed, strict=True)]
    acting = [forces.force(j, *parts) for j, parts in enumerate(zip(longitudinal, lateral, normal, strict=True))]
    edges = hull_edges([at(p) for p in forces.contacts], at(forces.up))
    measures = Measures(forces.contacts, acting, edges, _NO_FORCE if vehicle.unilateral else None)
    return Ground(
        tuple(wheel.name for wheel in vehicle.wheels),
        longitudinal,
        lateral,
        normal,
        friction,
        tuple((vehicle.wheels[i].name, vehicle.wheels[j].name) for i, j in measures.edges),
        *measures.all(),
        tuple(loose),
        _sums(named, shared, [w.name for w in vehicle.wheels] if open_normals else []),
        given is not None,
    )


def _stiffness(equations: Equations, vehicle: BuiltVehicle) -> dict[str, Expr]:
    take = equations.system.take
    return {
        wheel.name: take.one(equations.mechanism.scalar(wheel.record.stiffness, "stiffness"))
        for wheel in vehicle.wheels
    }


def _rows_of(mechanism: Mechanism, wheel: BuiltWheel) -> dict[str, str]:
    """What is named in answers → the row of a constraint whose multiplier it is."""
    rows: dict[str, str] = {}
    if wheel.constraint is not None:
        names = mechanism.constraints[wheel.constraint].row_names()
        for label in ("longitudinal", "lateral", "roller", "normal"):
            if f"{wheel.constraint}.{label}" in names:
                rows[f"{wheel.name}.{label}"] = f"{wheel.constraint}.{label}"
        if not rows:
            label = "roller" if wheel.record.roller is not None else wheel.record.rows[0]
            rows[f"{wheel.name}.{label}"] = names[0]
    if wheel.height is not None and wheel.height != wheel.constraint:
        rows[f"{wheel.name}.normal"] = mechanism.constraints[wheel.height].row_names()[0]
    return rows


@dataclass(frozen=True, slots=True)
class _Shared:
    """Multipliers of all rows, which of them are open, and directions (rows,) in which they are, as numbers in all
    states at which constraints were judged: in a turn more may be open than straight ahead."""

    values: list[Expr]
    loose: list[bool]
    directions: list[list[float]]


def _multipliers(equations: Equations, udot: Sequence[Expr], weights: dict[str, Expr]) -> _Shared:
    """λ of all rows with M u̇ + bias − tau = Aᵀ λ; of those that are not determined the ones with least Σ λ²/k."""
    graph, rows, at = equations.graph, equations.constraints, equations.regular_state.best
    system, zero, one = equations.system, graph.const(0.0), graph.const(1.0)
    if not rows.names:
        return _Shared([], [], [])
    A = evaluate_matrix(rows.A, at)
    mass = evaluate_matrix([[equations.mass_matrix[i][i] for i in range(len(system.u))]], at)[0]
    choice = choose_speeds(A, mass, sizes=rows.sizes)
    efforts = substitute(
        [equations.inverse_dynamics[d] for d in choice.dependent], dict(zip(system.udot, udot, strict=True))
    )
    left = [e - equations.tau[d] for e, d in zip(efforts, choice.dependent, strict=True)]
    idle = equations.idle_rows
    extra = [r for r in range(len(rows)) if r not in choice.rows and not idle[r]]
    T = [[rows.A[r][d] for r in choice.rows] for d in choice.dependent]
    right = [[left[i], *(rows.A[r][d] for r in extra)] for i, d in enumerate(choice.dependent)]
    X, _ = solve_columns(T, right, at)
    values = [zero] * len(rows)
    for k, r in enumerate(choice.rows):
        values[r] = X[k][0]
    null: Rows = []
    for j, r in enumerate(extra):
        direction = [zero] * len(rows)
        direction[r] = one
        for k, b in enumerate(choice.rows):
            direction[b] = -_number_or(equations, X[k][1 + j])
        null.append(direction)
    directions = [
        [float(x) for x in seen(direction)] for seen in (at, *equations.regular_state.seen) for direction in null
    ]
    if null:
        compliance = [
            one / weights[w] if (w := name.split(".")[0].removesuffix(" height")) in weights else one
            for name in rows.names
        ]
        values = _least_norm(values, null, compliance, at)
    loose = [any(abs(d[r]) > ROUNDING for d in directions) for r in range(len(rows))]
    return _Shared(values, loose, directions)


def _given_multipliers(equations: Equations) -> _Shared:
    """The multipliers as symbols, and what is open by the rank of A where constraints are judged."""
    rows = equations.constraints
    regular = equations.regular_state
    null = np.concatenate([_null_of(evaluate_matrix(rows.A, at)) for at in (regular.best, *regular.seen)])
    loose = [bool(np.abs(null[:, r]).max(initial=0.0) > REDUNDANT) for r in range(len(rows))]
    symbols = multiplier_symbols(equations.graph, len(rows))
    return _Shared(symbols, loose, [list(map(float, direction)) for direction in null])


def _null_of(A: np.ndarray) -> np.ndarray:
    """Directions of multipliers that act on nothing, (k, rows)."""
    U, sizes, _ = np.linalg.svd(A)
    return _sparse(U[:, int(np.count_nonzero(sizes > REDUNDANT * sizes[0])) :].T)


def _sparse(directions: np.ndarray) -> np.ndarray:
    """The same space by directions with as many zeros as elimination finds, its pivots being ones."""
    rows = directions.copy()
    free = list(range(rows.shape[1]))
    for k in range(len(rows)):
        c = max(free, key=lambda j: abs(rows[k, j]))
        free.remove(c)
        rows[k] /= rows[k, c]
        for other in range(len(rows)):
            if other != k:
                rows[other] -= rows[other, c] * rows[k]
    rows[np.abs(rows) < REDUNDANT] = 0.0
    return rows


def _number_or(equations: Equations, expr: Expr) -> Expr:
    """A number where the expression is one in every state looked at, the expression else."""
    if expr.number is not None:
        return expr
    values = [found((expr,))[0] for found in _other_states(equations)]
    mean = float(np.mean(values))
    whole = round(mean)
    nearest = float(whole) if abs(mean - whole) < ROUNDING else mean
    if np.all(np.abs(np.array(values) - nearest) <= ROUNDING * (1.0 + abs(mean))):
        return equations.graph.const(nearest)
    return expr


def _other_states(equations: Equations) -> list[Values]:
    start = equations.system.initial_state()
    rng = np.random.default_rng(0)
    names = equations.mechanism.coordinates
    return [
        Values({**start, **{c: start[c] + x for c, x in zip(names, rng.normal(0.0, _AWAY, len(names)), strict=True)}})
        for _ in range(_OTHER_STATES)
    ]


def _least_norm(values: list[Expr], null: Rows, compliance: Sequence[Expr], at: Values) -> list[Expr]:
    """values + Σ y_k null_k with least Σ compliance value²."""
    gram = [[_product(a, b, compliance) for b in null] for a in null]
    right = [[-_product(a, values, compliance)] for a in null]
    y, _ = solve_columns(gram, right, at)
    for k, direction in enumerate(null):
        values = [v if d.is_zero else v + d * y[k][0] for v, d in zip(values, direction, strict=True)]
    return values


def _product(a: Sequence[Expr], b: Sequence[Expr], weights: Sequence[Expr]) -> Expr:
    total = a[0].graph.const(0.0)
    for x, y, w in zip(a, b, weights, strict=True):
        if not (x.is_zero or y.is_zero):
            total = total + x * y * w
    return total


class _Forces:
    """Directions and places of a vehicle's wheels, in the axes of its platform."""

    def __init__(self, equations: Equations, vehicle: BuiltVehicle):
        self.equations, self.vehicle = equations, vehicle
        self.graph: Graph = equations.graph
        kin: Kinematics = equations.velocities
        frame, mechanism = vehicle.platform.frame, equations.mechanism
        assert frame is not None and vehicle.platform.origin is not None
        zero, one = self.graph.const(0.0), self.graph.const(1.0)
        self.frame, self.kin = frame, kin
        self.up = kin.turn((zero, zero, one), mechanism.N, frame)
        center = equations.system.take.triple(_center(equations.mechanism, vehicle.platform))
        self.contacts: list[Triple] = []  # from the platform's mass centre
        self.headings: list[Triple] = []
        for wheel in vehicle.wheels:
            carrier = wheel.carrier.frame
            assert carrier is not None
            radius = equations.system.take.one(wheel.radius)
            middle = minus(self._arm(wheel.center, vehicle.platform.origin), center)
            axle = kin.turn(equations.system.take.triple(wheel.axle), carrier, frame)
            ahead = cross(axle, self.up)
            if vehicle.lifts:
                ahead = scaled(one / dot(ahead, ahead).sqrt(), ahead)
            down = scaled(-1.0, self.up)
            if vehicle.unilateral and not wheel.record.ball:
                down = cross(axle, ahead)  # of a disc that leans
            self.contacts.append(plus(middle, scaled(radius, down)))
            self.headings.append(ahead)

    def _arm(self, point: Point, about: Point) -> Triple:
        arm = position(point, about)
        return self.kin.turn(self.equations.system.take.triple(arm.xyz), arm.frame, self.frame)

    def along(self, wheel: BuiltWheel, values: Sequence[Expr], place: dict[str, int]) -> tuple[Expr, Expr]:
        """Forces along the heading of a wheel and to its left."""
        zero = self.graph.const(0.0)
        rows = {name.rsplit(".", 1)[1]: place[row] for name, row in _rows_of(self.equations.mechanism, wheel).items()}
        if "roller" in rows:
            angle = self.equations.system.take.one(
                self.equations.mechanism.scalar(0.0 if wheel.record.roller is None else wheel.record.roller, "roller")
            )
            force = values[rows["roller"]]
            return force * angle.cos(), force * angle.sin()
        return tuple(values[rows[label]] if label in rows else zero for label in ("longitudinal", "lateral"))  # type: ignore[return-value]

    def force(self, j: int, ahead: Expr, left: Expr, up: Expr) -> Triple:
        """The whole force on a wheel, in platform axes."""
        side = cross(self.up, self.headings[j])
        return plus(plus(scaled(ahead, self.headings[j]), scaled(left, side)), scaled(up, self.up))


def _center(mechanism: Mechanism, platform: Body) -> Triple:
    """The mass centre of a platform, in its frame (m); of one without mass, such as the footprint of a robot, that of
    what is welded to it."""
    if not platform.mass.is_zero:
        return platform.center
    zero = platform.mass
    total, moment = zero, (zero, zero, zero)
    open_ends = [(platform, platform.center, rotations.identity(mechanism.graph))]
    while open_ends:
        body, origin, R = open_ends.pop()
        for joint in (j for j in mechanism.joints.values() if j.parent is body and j.type.kind == "weld"):
            child = joint.child
            turn = product(product(R, joint.mount), transpose(joint.child_mount))
            at = minus(plus(origin, times(R, joint.at)), times(turn, joint.child_at))
            total, moment = total + child.mass, plus(moment, scaled(child.mass, plus(at, times(turn, child.center))))
            open_ends.append((child, at, turn))
    return platform.center if total.is_zero else scaled(1.0 / total, moment)


def _normals(
    equations: Equations,
    forces: _Forces,
    udot: Sequence[Expr],
    multipliers: Sequence[Expr],
    place: dict[str, int],
    at: Values,
) -> tuple[list[Expr], bool]:
    """Normal forces, and whether rigid bodies leave them open."""
    mechanism, vehicle = equations.mechanism, forces.vehicle
    if vehicle.lifts:
        rows = [_rows_of(mechanism, wheel)[f"{wheel.name}.normal"] for wheel in vehicle.wheels]
        return [multipliers[place[row]] for row in rows], False
    wrench = released_wrench(equations, vehicle.root.name, vehicle.platform, multipliers)
    F, M = (substitute(list(part), dict(zip(equations.system.udot, udot, strict=True))) for part in wrench)
    origin = equations.system.take.triple(_center(mechanism, vehicle.platform))
    contacts = [plus(p, origin) for p in forces.contacts]
    one = equations.graph.const(1.0)
    G = [[one for _ in contacts], [p[1] for p in contacts], [-p[0] for p in contacts]]
    right = [[F[2]], [M[0]], [M[1]]]
    spread = np.linalg.svd(evaluate_matrix(G, at), compute_uv=False)
    if len(contacts) < 3 or spread[2] < ROUNDING * spread[0]:
        raise ModelError(
            Problem(
                mechanism.where(f"vehicle '{vehicle.name}'"),
                f"stands on {', '.join(w.name for w in vehicle.wheels)}, which are no triangle",
                "a platform that is kept level by its joint rolls and pitches about nothing",
                "add a wheel or a ball, or let it lift: root: free",
            )
        )
    if len(contacts) == 3:
        N, _ = solve_columns(G, right, at)
        return [x[0] for x in N], False
    take = equations.system.take
    k = [take.one(mechanism.scalar(w.record.stiffness, "stiffness")) for w in vehicle.wheels]
    gram = [[_product(a, b, k) for b in G] for a in G]
    y, _ = solve_columns(gram, right, at)
    return [k[j] * (y[0][0] * G[0][j] + y[1][0] * G[1][j] + y[2][0] * G[2][j]) for j in range(len(contacts))], True


def _sums(named: dict[str, int], shared: _Shared, normals: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of open forces along the same label whose sum is not open."""
    found: list[tuple[str, ...]] = []
    for label in ("longitudinal", "lateral", "normal"):
        rows = {name: k for name, k in named.items() if name.endswith(f".{label}") and shared.loose[k]}
        groups: list[set[str]] = []
        for direction in shared.directions:
            group = {name for name, k in rows.items() if abs(direction[k]) > REDUNDANT}
            joined = [g for g in groups if g & group]
            groups = [g for g in groups if not g & group] + ([group.union(*joined)] if group else [])
        for group in groups:
            if all(abs(sum(d[rows[name]] for name in group)) <= REDUNDANT for d in shared.directions):
                found.append(tuple(name for name in named if name in group))
    return (*found, *([tuple(f"{name}.normal" for name in normals)] if normals else []))


__all__ = [
    "SAFETY",
    "TIPOVER",
    "WATCHED",
    "Ground",
    "contact_frames",
    "contacts_program",
    "find_ground",
    "ground_program",
    "least_of",
    "margin_of",
    "safety_program",
]
