"""Rows of constraints: their power is the rate of their residual, they vanish where nothing slips or opens, and their
reactions are equal and opposite."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from kane.graph import evaluate, time_derivative
from kane.model import (
    Distance,
    Loop,
    Mechanism,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    Rolling,
    RollingEllipsoid,
    RollingOnSphere,
)
from kane.space import rotations
from laws.guided import (
    AT,
    BALLS,
    BETWEEN,
    GUIDES,
    LOOPS,
    OTHER,
    SECOND,
    SPEEDS,
    TIES,
    TILTED,
    WHEELS,
    Array,
    Case,
    Pose,
    kinematics,
    moved,
    pose,
    rate,
    state,
    tree,
    wrench,
)
from seeds import generator

ROUND = 1e-12  # what some hundred operations on numbers of order one leave
STEP = 1e-5  # of central differences: their error is about STEP² times third derivatives of order ten
DIFFERENCE = 1e-7
SOME = 1e-3  # a reaction that is there
STATES = 4

sides = pytest.mark.parametrize("on", ["ground", "B"])


def cases(*groups: list[Case]) -> pytest.MarkDecorator:
    """Each kind of constraint once, by its name."""
    found = list(itertools.chain(*groups))
    return pytest.mark.parametrize("case", found, ids=[c.name for c in found])


@sides
@cases(LOOPS, GUIDES, WHEELS, BALLS, TIES)
def test_the_power_of_a_reaction_is_the_rate_of_the_residual(case: Case, on: str) -> None:
    m = tree()
    placed = [row for row in case.build(m, on).rows if row.residual is not None]
    rng = generator(3)
    for row in placed:
        assert row.residual is not None
        exact = time_derivative([row.residual], {**m.coordinate_rates, m.time: 1.0})[0]
        power = rate(m, row)
        for values in [state(m, rng) for _ in range(STATES)]:
            here, there = evaluate([power, exact], values)
            assert abs(here - there) <= ROUND * (1 + abs(there)), row.label
        values = state(m, rng)
        after, before = (evaluate([row.residual], moved(m, values, s * STEP))[0] for s in (1, -1))
        assert (after - before) / (2 * STEP) == pytest.approx(evaluate([power], values)[0], abs=DIFFERENCE), row.label
    assert placed


@sides
@cases(BETWEEN)
def test_a_row_is_linear_in_the_rates(case: Case, on: str) -> None:
    m = tree()
    rng = generator(5)
    for row in case.build(m, on).rows:
        power = rate(m, row)
        one, two = state(m, rng), state(m, rng)
        at = {k: v for k, v in one.items() if k not in m.motion_variables}
        speeds = [{k: s[k] for k in m.motion_variables} for s in (one, two)]
        mean = {k: 0.5 * (speeds[0][k] + speeds[1][k]) for k in m.motion_variables}
        a, b, c = (evaluate([power], {**at, **s})[0] for s in (*speeds, mean))
        assert c == pytest.approx(0.5 * (a + b), abs=ROUND)


@sides
@cases(WHEELS, BALLS)
def test_cheaper_rows_are_an_orthogonal_combination_of_the_labelled_ones(case: Case, on: str) -> None:
    m = tree()
    made = case.build(m, on)
    values = state(m, generator(31))
    still = {**values, **dict.fromkeys(m.motion_variables, 0.0)}
    rows, span = ([rate(m, row) for row in some] for some in (made.rows, made.span))
    A, S = (np.array([evaluate(some, {**still, s: 1.0}) for s in m.motion_variables]).T for some in (rows, span))
    assert made.second is not None
    body = made.second.name
    F, G = (np.array([wrench(m, row, body, values).force for row in some]) for some in (made.rows, made.span))
    E = F @ G.T  # the labelled directions along the others
    np.testing.assert_allclose(E @ S, A, atol=ROUND)
    np.testing.assert_allclose(E @ E.T, np.eye(3), atol=ROUND)


# reactions -----------------------------------------------------------------------------------------------------------


def acts_at_two_points(case: Case) -> bool:
    """Whether the forces of a case act at two points, which coincide only where the loop is closed."""
    return case in LOOPS and "first" not in case.name and case.name not in ("prismatic", "cylindrical")


@cases([c for c in BETWEEN if not acts_at_two_points(c)])
def test_reactions_are_equal_and_opposite_in_every_state(case: Case) -> None:
    m = tree()
    made = case.build(m, "B")
    rng = generator(7)
    assert made.first is not None and made.second is not None
    for row, _ in itertools.product(made.rows, range(2)):
        values = state(m, rng)
        one, two = (wrench(m, row, body.name, values) for body in (made.first, made.second))
        np.testing.assert_allclose(one.force, -two.force, atol=ROUND)
        np.testing.assert_allclose(one.moment, -two.moment, atol=ROUND)
        assert np.linalg.norm(one.force) + np.linalg.norm(one.moment) > SOME


@pytest.mark.parametrize("kind", ["weld", "revolute", "universal", "spherical"])
def test_reactions_of_a_closed_loop_are_equal_and_opposite(kind: str) -> None:
    m = tree()
    rng = generator(11)
    values = state(m, rng)
    on, off = pose(m, "B", values), pose(m, "W", values)
    second_at = off.R.T @ (on(np.array(AT)) - off.p)
    made = m.constrain("c", Loop(kind, "B", "W", first_at=AT, second_at=second_at.tolist()))
    for row in made.rows:
        one, two = (wrench(m, row, body, values) for body in ("B", "W"))
        np.testing.assert_allclose(one.force, -two.force, atol=ROUND)
        np.testing.assert_allclose(one.moment, -two.moment, atol=ROUND)
        if row.unit == "N":
            assert row.residual is not None and abs(evaluate([row.residual], values)[0]) < ROUND


@cases(WHEELS, BALLS, SPEEDS)
def test_reactions_of_a_contact_are_unit_forces_through_it(case: Case) -> None:
    m = tree()
    made = case.build(m, "ground")
    values = state(m, generator(13))
    assert made.point is not None and made.second is not None
    place = np.array(evaluate(kinematics(m).position(made.point), values))
    forces = []
    for row in made.rows:
        acting = wrench(m, row, made.second.name, values)
        np.testing.assert_allclose(acting.moment, np.cross(place, acting.force), atol=ROUND)
        forces.append(acting.force)
    np.testing.assert_allclose(np.array(forces) @ np.array(forces).T, np.eye(len(forces)), atol=ROUND)


# what the rows are, by geometry that knows nothing of them -----------------------------------------------------------


def slip(m: Mechanism, body: str, on: str, place: Array, values: dict[str, float]) -> Array:
    """Velocity in N of the material point of `body` at `place` relative to that of `on`, by differences of poses."""

    def velocity(name: str) -> Array:
        now = pose(m, name, values)
        local = now.R.T @ (place - now.p)
        after, before = (pose(m, name, moved(m, values, s * STEP))(local) for s in (1, -1))
        return (after - before) / (2 * STEP)

    return velocity(body) - (np.zeros(3) if on == "ground" else velocity(on))


def lowest(points: Array, normal: Array) -> Array:
    """The point that is deepest along −normal."""
    return points[np.argmin(points @ normal)]


def rim(center: Array, axis: Array, radius: float, crown: float) -> Array:
    """Points of a torus, dense near nothing in particular."""
    across = np.linalg.svd(axis[None])[2][1:]
    a = np.linspace(0, 2 * np.pi, 1201)
    circle = np.cos(a)[:, None] * across[0] + np.sin(a)[:, None] * across[1]
    b = np.linspace(0, 2 * np.pi, 241) if crown else np.zeros(1)
    tube = np.cos(b)[:, None, None] * circle + np.sin(b)[:, None, None] * axis
    return (center + (radius - crown) * circle + crown * tube).reshape(-1, 3)


def ellipsoid(pose_of: Pose, center: Array, R: Array, sizes: Array) -> Array:
    a, b = np.meshgrid(np.linspace(0, np.pi, 601), np.linspace(0, 2 * np.pi, 1201))
    unit = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(-1, 3)
    return pose_of.p + (center + unit * sizes @ R.T) @ pose_of.R.T


GRID = 2e-4  # m: how far the highest of many points on a surface is from its highest point, and more than its height


@sides
@pytest.mark.parametrize("crown", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("normal", [TILTED, (0.0, 0.0, -1.0)])
def test_a_wheel_touches_with_its_lowest_point(crown: float, normal: tuple[float, ...], on: str) -> None:
    m = tree()
    made = m.constrain("c", Rolling("W", radius=0.4, crown=crown, center=(0.0, 0.2, 0.0), on=on, at=AT, normal=normal))
    rng = generator(17)
    for _ in range(STATES):
        values = state(m, rng)
        wheel, base = pose(m, "W", values), pose(m, on, values)
        n = base.R @ np.array(normal)
        points = rim(wheel(np.array([0.0, 0.2, 0.0])), wheel.R[:, 1], 0.4, crown)
        height = n @ (lowest(points, n) - base(np.array(AT)))
        residual = made.rows[2].residual
        assert residual is not None and made.point is not None
        assert evaluate([residual], values)[0] == pytest.approx(height, abs=1e-4)
        place = np.array(evaluate(kinematics(m).position(made.point), values))
        assert np.min(np.linalg.norm(points - place, axis=1)) < 50 * GRID
        heading = np.cross(wheel.R[:, 1], n)
        heading /= np.linalg.norm(heading)
        sliding = slip(m, "W", on, place, values)
        along = [heading @ sliding, np.cross(n, heading) @ sliding, n @ sliding]
        assert evaluate([rate(m, row) for row in made.rows], values) == pytest.approx(along, abs=DIFFERENCE)


@sides
def test_an_ellipsoid_touches_with_its_lowest_point(on: str) -> None:
    m = tree()
    sizes = (0.4, 1.0, 2.0)
    made = m.constrain(
        "c", RollingEllipsoid("A", semi_axes=sizes, center=AT, rotation=SECOND, on=on, at=OTHER, normal=TILTED)
    )
    R = rotations.euler(SECOND["euler"], [m.graph.const(a) for a in SECOND["angles"]])
    turn = np.array(evaluate([e for row in R for e in row], {})).reshape(3, 3)
    rng = generator(19)
    for _ in range(2):
        values = state(m, rng)
        base = pose(m, on, values)
        n = base.R @ np.array(TILTED)
        points = ellipsoid(pose(m, "A", values), np.array(AT), turn, np.array(sizes))
        residual = made.rows[2].residual
        assert residual is not None and made.point is not None
        height = n @ (lowest(points, n) - base(np.array(OTHER)))
        assert evaluate([residual], values)[0] == pytest.approx(height, abs=1e-4)
        place = np.array(evaluate(kinematics(m).position(made.point), values))
        assert np.linalg.norm(lowest(points, n) - place) < 50 * GRID
        sliding = slip(m, "A", on, place, values)
        found = np.array(evaluate([rate(m, row) for row in made.rows], values))
        assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(sliding), abs=DIFFERENCE)
        assert found[2] == pytest.approx(n @ sliding, abs=DIFFERENCE)


@sides
@pytest.mark.parametrize("inside", [False, True])
def test_a_ball_on_a_ball_touches_between_their_centres(inside: bool, on: str) -> None:
    m = tree()
    made = m.constrain("c", RollingOnSphere("A", radius=0.4, on_radius=1.5, center=AT, on=on, at=OTHER, inside=inside))
    rng = generator(23)
    for _ in range(STATES):
        values = state(m, rng)
        middle, other = pose(m, "A", values)(np.array(AT)), pose(m, on, values)(np.array(OTHER))
        length = np.linalg.norm(middle - other)
        n = (middle - other) / length
        gap = 1.5 - 0.4 - length if inside else length - 1.9
        residual = made.rows[2].residual
        assert residual is not None
        assert evaluate([residual], values)[0] == pytest.approx(gap, abs=ROUND)
        sliding = slip(m, "A", on, middle + (0.4 if inside else -0.4) * n, values)
        found = np.array(evaluate([rate(m, row) for row in made.rows], values))
        assert np.linalg.norm(found) == pytest.approx(np.linalg.norm(sliding), abs=DIFFERENCE)
        assert found[2] == pytest.approx((-n if inside else n) @ sliding, abs=DIFFERENCE)


def test_a_disc_that_rolls_has_a_point_at_rest_on_the_ground() -> None:
    """The rows vanish for the rates that a disc has which rolls: h' = 0, x' = R spin' cos yaw, y' = R spin' sin yaw at
    zero lean rate, and the contact is then at rest."""
    m = Mechanism("disc")
    for name in ("yoke", "fork", "disc"):
        m.body(name, mass=1.0)
    m.joint("place", "planar", "ground", "yoke", coordinates=["x", "y", "yaw"])
    m.joint("lean", "revolute", "yoke", "fork", axis="x", at=(0, 0, 0.5), coordinates=["lean"])
    m.joint("spin", "revolute", "fork", "disc", axis="y", coordinates=["spin"])
    made = m.constrain("c", Rolling("disc", radius=0.5))
    values = {"t": 0.0, "x": 0.3, "y": 0.1, "yaw": 0.7, "lean": 0.0, "spin": 2.0}
    rates = {"x'": 1.5 * np.cos(0.7), "y'": 1.5 * np.sin(0.7), "yaw'": 0.4, "lean'": 0.0, "spin'": 3.0}
    assert evaluate([rate(m, row) for row in made.rows], {**values, **rates}) == pytest.approx([0, 0, 0], abs=ROUND)
    faster = {**rates, "spin'": 4.0}
    assert evaluate([rate(m, row) for row in made.rows], {**values, **faster}) == pytest.approx([-0.5, 0, 0], abs=ROUND)
    spin = m.coordinate_records["spin"].symbol
    assert all(time_derivative([e], {spin: 1.0})[0].is_zero for row in made.rows for e in row.exprs())


@sides
def test_residuals_of_guides_are_what_is_measured_between_points(on: str) -> None:
    m = tree()
    ends: dict[str, Any] = {"first_at": AT, "second_at": OTHER}
    m.constrain("rod", Distance(on, "W", length=1.3, **ends))
    m.constrain("plane", PointOnPlane(on, "W", normal=TILTED, height=0.2, **ends))
    m.constrain("line", PointOnLine(on, "W", axis="y", **ends))
    m.constrain("curve", PointOnCurve(on, "W", ["y = x**2", "x*z - 1"], second_at=OTHER))
    m.constrain("pin", Loop("spherical", on, "W", **ends))
    m.constrain("slot", Loop("cylindrical", on, "W", axis="x", **ends))
    values = state(m, generator(37))
    base, body = pose(m, on, values), pose(m, "W", values)
    gap = body(np.array(OTHER)) - base(np.array(AT))
    local = base.R.T @ gap  # from the first place, in the first body's axes
    x, y, z = base.R.T @ (body(np.array(OTHER)) - base.p)
    expected = {
        "rod": [(gap @ gap - 1.3**2) / 2.6],
        "plane": [np.array(TILTED) @ local - 0.2],
        "line": [local[2], local[0]],
        "curve": [y - x**2, x * z - 1],
        "pin": gap,
        "slot": local[1:],
    }
    for name, measured in expected.items():
        residuals = [row.residual for row in m.constraints[name].rows if row.residual is not None and row.unit != "N m"]
        assert evaluate(residuals, values) == pytest.approx(list(measured), abs=ROUND), name


def test_the_reaction_of_a_rod_is_a_unit_force_along_it() -> None:
    m = tree()
    values = state(m, generator(41))
    gap = pose(m, "W", values)(np.array(OTHER)) - pose(m, "B", values)(np.array(AT))
    length = float(np.linalg.norm(gap))
    made = m.constrain("rod", Distance("B", "W", first_at=AT, second_at=OTHER, length=length))
    np.testing.assert_allclose(wrench(m, made.rows[0], "W", values).force, gap / length, atol=ROUND)


@sides
@pytest.mark.parametrize(
    ("kind", "free"),
    [
        ("weld", ""),
        ("revolute", "r"),
        ("prismatic", "s"),
        ("cylindrical", "rs"),
        ("spherical", "xyz"),
        ("universal", "u"),
    ],
)
def test_a_joint_that_closes_a_loop_takes_all_motion_but_its_own(kind: str, free: str, on: str) -> None:
    """At closure the rows vanish for exactly the relative motions of the joint: rank and kernel of (ω, v) → rows."""
    m = tree()
    values = state(m, generator(29))
    base, body = pose(m, on, values), pose(m, "A", values)
    turn = body.R.T @ base.R
    spec = {"matrix": turn.tolist()}
    at = body.R.T @ (base(np.array(OTHER)) - body.p)
    made = m.constrain("c", Loop(kind, on, "A", first_at=OTHER, second_at=at.tolist(), second_rotation=spec, axis="y"))
    names = [name for joint in ("free A", "free B") for name in map(repr, m.joints[joint].rates)]
    rows = [rate(m, row) for row in made.rows]
    still = {**values, **dict.fromkeys(m.motion_variables, 0.0)}
    A = np.array([evaluate(rows, {**still, name: 1.0}) for name in names]).T
    allowed = {"weld": 0, "revolute": 1, "prismatic": 1, "cylindrical": 2, "spherical": 3, "universal": 2}[kind]
    assert len(made.rows) == 6 - allowed == np.linalg.matrix_rank(A, tol=1e-9)
    residuals = [row.residual for row in made.rows if row.residual is not None]
    assert evaluate(residuals, values) == pytest.approx([0.0] * len(made.rows), abs=ROUND)
    along = base.R[:, 1]  # the joint's axis y, in N
    motions = []  # (ω, velocity of A's point at the joint) in N that the joint allows
    if "r" in free:
        motions.append((along, np.zeros(3)))
    if "s" in free:
        motions.append((np.zeros(3), along))
    if free == "xyz":
        motions += [(e, np.zeros(3)) for e in np.eye(3)]
    if free == "u":
        motions += [(base.R[:, 0], np.zeros(3)), (along, np.zeros(3))]
    for w, v in motions:
        own = [*(body.R.T @ w), *(body.R.T @ (v - np.cross(w, body.R @ at)))]
        speeds = dict(zip(map(repr, m.joints["free A"].rates), own, strict=True))
        assert evaluate(rows, {**still, **speeds}) == pytest.approx([0.0] * len(rows), abs=ROUND)
