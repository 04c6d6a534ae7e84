"""Contacts of every pair of shapes: gaps against distances found otherwise, rows against velocities of material points.

The oracles are plain NumPy and SciPy on poses: a place is clipped to a box or a segment, rims and ellipsoids are
searched, two segments are a bounded least-squares problem.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize_scalar

from kane.analysis import check
from kane.formulation import formulate
from kane.graph import evaluate
from kane.model import BuiltChanging, Mechanism
from laws.guided import Pose, moved, pose, rate, state
from seeds import generator

Array = NDArray[np.float64]
Spot = tuple[float, Array, Array]
"""Gap, place of contact and normal, in N."""

ROUND = 1e-11  # of lengths about 1
SEARCHED = 1e-6  # what a search by values finds of a flat minimum
STEP, DIFFERENCE = 1e-5, 1e-7  # s, and what central differences leave of rates about 1
CLEAR = 0.02  # m: nearer to an edge of regions a difference may step over it
STATES = 6
AT = np.array([0.1, -0.2, 0.15])
AXIS = np.array([0.0, 0.6, 0.8])
TURN = {"axis": "x", "angle": 0.4}
R_TURN = np.array([[1, 0, 0], [0, np.cos(0.4), -np.sin(0.4)], [0, np.sin(0.4), np.cos(0.4)]])
BOX = np.array([0.8, 1.0, 0.6])
VERTICES = [(0.4, 0.1, 0.0), (-0.3, 0.3, 0.2), (0.0, -0.4, 0.3)]


def pair(shape: dict[str, Any], surface: dict[str, Any]) -> tuple[Mechanism, tuple[BuiltChanging, ...]]:
    """Bodies A and B that float, with a contact between a shape of A and a surface of B."""
    m = Mechanism("pair")
    m.parameter("r", 0.2)
    for name in ("A", "B"):
        m.body(name, mass=1.0, inertia={"xx": 1, "yy": 1, "zz": 1})
        m.joint(name, "free", "ground", name, velocity="body" if name == "A" else "parent")
    return m, m.contact("c", "A", "B", shape=shape, surface=surface, friction=0.3)


# oracles -------------------------------------------------------------------------------------------------------------


def on_segment(p: Array, half: float) -> Array:
    return AT + np.clip(AXIS @ (p - AT), -half, half) * AXIS


def on_cylinder(p: Array, radius: float, half: float) -> Array:
    along = AXIS @ (p - AT)
    arm = p - AT - along * AXIS
    size = np.linalg.norm(arm)
    return AT + np.clip(along, -half, half) * AXIS + arm * min(1.0, radius / size)


def on_box(p: Array) -> Array:
    return AT + R_TURN @ np.clip(R_TURN.T @ (p - AT), -BOX / 2, BOX / 2)


def outside(nearest: Callable[[Array], Array], rounding: float = 0.0) -> Callable[[Array], tuple[float, Array]]:
    """(distance, normal) of a place outside a convex body, thickened by `rounding`."""

    def found(p: Array) -> tuple[float, Array]:
        line = p - nearest(p)
        size = float(np.linalg.norm(line))
        return size - rounding, line / size

    return found


def form(p: Array) -> float:
    return float(p[2] - 0.3 * np.sin(p[0]) - 0.2 * p[1] ** 2 + 1.0)


def near_form(p: Array) -> tuple[float, Array]:
    slope = np.array([(form(p + h) - form(p - h)) / (2 * STEP) for h in STEP * np.eye(3)])
    size = float(np.linalg.norm(slope))
    return form(p) / size, slope / size


def inward(p: Array) -> tuple[float, Array]:
    size = float(np.linalg.norm(p - AT))
    return 3.0 - size, (AT - p) / size


def inside_tube(p: Array) -> tuple[float, Array]:
    arm = p - AT - (AXIS @ (p - AT)) * AXIS
    size = float(np.linalg.norm(arm))
    return 3.0 - size, -arm / size


SURFACES: dict[str, tuple[dict[str, Any], Callable[[Array], tuple[float, Array]]]] = {
    "plane": ({"plane": AXIS, "at": AT}, lambda p: (float(AXIS @ (p - AT)), AXIS)),
    "sphere": ({"sphere": 0.5, "at": AT}, outside(lambda p: AT, 0.5)),
    "hollow": ({"sphere": 3, "at": AT, "inside": True}, inward),
    "cylinder": ({"cylinder": (0.4, 1.0), "at": AT, "axis": AXIS}, outside(lambda p: on_cylinder(p, 0.4, 0.5))),
    "tube": ({"cylinder": (3, 1.0), "at": AT, "axis": AXIS, "inside": True}, inside_tube),
    "capsule": ({"capsule": (0.3, 1.0), "at": AT, "axis": AXIS}, outside(lambda p: on_segment(p, 0.5), 0.3)),
    "box": ({"box": BOX, "at": AT, "rotation": TURN}, outside(on_box)),
    "surface": ({"surface": "z - 0.3*sin(x) - 0.2*y**2 + 1"}, near_form),
}

BALLS: dict[str, tuple[dict[str, Any], list[Array], float]] = {
    "point": ({"point": (0.3, 0.1, -0.2)}, [np.array([0.3, 0.1, -0.2])], 0.0),
    "sphere": ({"sphere": "r", "at": (0.1, 0, 0.2)}, [np.array([0.1, 0.0, 0.2])], 0.2),
    "vertices": ({"vertices": VERTICES}, [np.array(v) for v in VERTICES], 0.0),
    "capsule": ({"capsule": ("r", 0.8), "axis": "x"}, [np.array([-0.4, 0, 0]), np.array([0.4, 0, 0])], 0.2),
    "box": (
        {"box": (0.4, 0.6, 0.8)},
        [np.array([i * 0.2, j * 0.3, k * 0.4]) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)],
        0.0,
    ),
}

CASES = [
    *((ball, "plane") for ball in BALLS),
    *((ball, surface) for ball in ("point", "sphere", "vertices") for surface in SURFACES if surface != "plane"),
    *((ball, hollow) for ball in ("capsule", "box") for hollow in ("hollow", "tube")),
    ("box", "surface"),
]
CASES.remove(("sphere", "surface"))


@dataclass(frozen=True)
class Motion:
    """Poses and velocities of A and B at a state, from its numbers alone."""

    A: Pose
    B: Pose
    velocity: Callable[[str, Array], Array]


def motion(m: Mechanism, values: dict[str, float]) -> Motion:
    poses = {name: pose(m, name, values) for name in ("A", "B")}

    def velocity(name: str, place: Array) -> Array:
        w = np.array([values[f"u_{name}_w{x}'"] for x in "xyz"])
        v = np.array([values[f"u_{name}_v{x}'"] for x in "xyz"])
        R, p = poses[name].R, poses[name].p
        return (R @ v if name == "A" else v) + np.cross(R @ w, place - p)

    return Motion(poses["A"], poses["B"], velocity)


def check_rows(m: Mechanism, part: BuiltChanging, values: dict[str, float], spot: Spot, tolerance: float) -> None:
    """The gap, its rate by differences, and the slip rows against the velocity of material points."""
    gap, place, normal = spot
    n, *slips = part.rows
    assert n.residual is not None and len(slips) == 2
    assert evaluate([n.residual], values)[0] == pytest.approx(gap, abs=tolerance)
    after, before = (evaluate([n.residual], moved(m, values, dt))[0] for dt in (STEP, -STEP))
    rates = evaluate([rate(m, row) for row in part.rows], values)
    assert rates[0] == pytest.approx((after - before) / (2 * STEP), abs=DIFFERENCE * (1 + abs(rates[0])))
    now = motion(m, values)
    relative = now.velocity("A", place) - now.velocity("B", place)
    tangential = relative - (normal @ relative) * normal
    assert np.linalg.norm(rates[1:]) == pytest.approx(np.linalg.norm(tangential), abs=100 * tolerance)


def check_states(
    m: Mechanism, made: tuple[BuiltChanging, ...], spots: Callable[[Motion], list[Spot]], tolerance: float = ROUND
) -> None:
    """All elements at states in which nothing is deep inside, several speeds each."""
    rng, found = generator(5), 0
    while found < STATES:
        values = state(m, rng)
        here = spots(motion(m, values))
        assert len(here) == len(made)
        if min(gap for gap, _, _ in here) < CLEAR:
            continue
        found += 1
        for _ in range(3):
            values.update((name, float(rng.normal())) for name in m.motion_variables)
            for part, spot in zip(made, here, strict=True):
                check_rows(m, part, values, spot, tolerance)


# laws ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ball", "surface"), CASES, ids="-".join)
def test_balls_touch_surfaces_where_these_are_nearest(ball: str, surface: str) -> None:
    shape, middles, radius = BALLS[ball]
    spec, distance = SURFACES[surface]
    m, made = pair(shape, spec)

    def spots(now: Motion) -> list[Spot]:
        found: list[Spot] = []
        for middle in middles:
            center = now.A(middle)
            f, n = distance(now.B.R.T @ (center - now.B.p))
            normal = now.B.R @ n
            found.append((f - radius, center - radius * normal, normal))
        return found

    check_states(m, made, spots, SEARCHED if surface == "surface" else ROUND)


def test_the_ball_is_found_whichever_body_comes_first() -> None:
    m, made = pair(SURFACES["box"][0], BALLS["sphere"][0])
    distance = SURFACES["box"][1]
    assert [(part.first.name, part.second.name) for part in made if part.first and part.second] == [("A", "B")]

    def spots(now: Motion) -> list[Spot]:
        center = now.B(BALLS["sphere"][1][0])
        f, n = distance(now.A.R.T @ (center - now.A.p))
        normal = now.A.R @ n
        return [(f - 0.2, center - 0.2 * normal, normal)]

    check_states(m, made, spots)


@pytest.mark.parametrize("crown", [0.0, 0.1])
def test_a_disc_touches_with_the_lowest_place_of_its_rim(crown: float) -> None:
    m, made = pair({"disc": 0.5, "at": (0.1, 0, 0), "axis": AXIS, "crown": crown}, SURFACES["plane"][0])
    check_states(m, made, lambda now: [_rim(now, np.array([0.1, 0.0, 0.0]), 0.5, crown)], SEARCHED)


def test_a_cylinder_touches_with_its_two_rims() -> None:
    m, made = pair({"cylinder": (0.3, 1.0), "at": AT, "axis": AXIS}, SURFACES["plane"][0])
    check_states(m, made, lambda now: [_rim(now, AT + s * AXIS, 0.3, 0.0) for s in (-0.5, 0.5)], SEARCHED)


def _rim(now: Motion, middle: Array, radius: float, crown: float) -> Spot:
    """The lowest place of a torus over the plane, searched along its circle."""
    e1 = np.array([1.0, 0.0, 0.0])
    e2 = np.cross(AXIS, e1)
    n, base = now.B.R @ AXIS, now.B(AT)

    def place(angle: float) -> Array:
        return now.A(middle + (radius - crown) * (np.cos(angle) * e1 + np.sin(angle) * e2)) - crown * n

    angles = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rough = min(angles, key=lambda a: float(n @ place(a)))
    found: Any = minimize_scalar(
        lambda a: float(n @ place(a)), bounds=(rough - 0.2, rough + 0.2), method="bounded", options={"xatol": 1e-10}
    )
    best = float(found.x)
    return float(n @ (place(best) - base)), place(best), n


def test_an_ellipsoid_touches_where_its_normal_is_that_of_the_plane() -> None:
    sizes = np.array([0.3, 0.5, 0.7])
    m, made = pair({"ellipsoid": sizes, "at": AT, "rotation": TURN}, SURFACES["plane"][0])

    def spots(now: Motion) -> list[Spot]:
        n = now.B.R @ AXIS
        local = R_TURN.T @ now.A.R.T @ n
        on_unit = (
            -sizes * local / np.linalg.norm(sizes * local)
        )  # the lowest point of the unit sphere it is stretched from
        place = now.A(AT + R_TURN @ (sizes * on_unit))
        return [(float(n @ (place - now.B(AT))), place, n)]

    check_states(m, made, spots)


def test_capsules_touch_where_their_segments_are_nearest() -> None:
    m, made = pair({"capsule": ("r", 1.2), "axis": "x", "at": (0.1, 0, 0)}, SURFACES["capsule"][0])

    def spots(now: Motion) -> list[Spot]:
        c, d = now.A(np.array([0.1, 0, 0])), now.A.R @ np.array([1.0, 0, 0])
        C, D = now.B(AT), now.B.R @ AXIS
        s, t = lsq_linear(
            np.column_stack([d, -D]), C - c, bounds=([-0.6, -0.5], [0.6, 0.5]), tol=1e-15, lsq_solver="exact"
        ).x
        line = c + s * d - C - t * D
        size = float(np.linalg.norm(line))
        n = line / size
        return [(size - 0.5, c + s * d - 0.2 * n, n)]

    check_states(m, made, spots, SEARCHED)


def test_boxes_touch_with_the_corners_of_both() -> None:
    m, made = pair(BALLS["box"][0], SURFACES["box"][0])
    signs = [np.array([i, j, k]) for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]

    def spots(now: Motion) -> list[Spot]:
        found: list[Spot] = []
        for corner in BALLS["box"][1]:
            place = now.A(corner)
            f, n = SURFACES["box"][1](now.B.R.T @ (place - now.B.p))
            found.append((f, place, now.B.R @ n))
        half = np.array([0.2, 0.3, 0.4])
        for sign in signs:
            place = now.B(AT + R_TURN @ (sign * BOX / 2))
            local = now.A.R.T @ (place - now.A.p)
            f, n = outside(lambda p: np.clip(p, -half, half))(local)
            found.append((f, place, now.A.R @ n))
        return found

    check_states(m, made, spots)


@pytest.mark.parametrize("surface", ["box", "cylinder"])
def test_a_point_on_a_face_has_the_normal_of_the_face(surface: str) -> None:
    """At distance 0, and a little inside, where no line to the nearest place has a direction."""
    m = Mechanism("resting")
    m.particle("P", 1.0)
    m.joint("free", "free", "ground", "P", velocity="parent")
    spec = {"box": {"box": (2, 2, 2)}, "cylinder": {"cylinder": (1, 2)}}[surface]
    (part,) = m.contact("c", "P", "ground", surface=spec, friction=0.1)
    for x, height in ((0.3, 1.0), (0.3, 1.0 - 1e-3), (0.0, 1.0)):
        values = state(m, generator(2)) | {"q_free_px": x, "q_free_py": 0.0, "q_free_pz": height}
        assert part.rows[0].residual is not None
        assert evaluate([part.rows[0].residual], values)[0] == pytest.approx(height - 1.0, abs=ROUND)
        n, *slips = evaluate([rate(m, row) for row in part.rows], values)
        vx, vy, vz = (values[f"u_free_v{axis}'"] for axis in "xyz")
        assert n == pytest.approx(vz, abs=ROUND) and np.linalg.norm(slips) == pytest.approx(np.hypot(vx, vy), abs=ROUND)


def test_a_surface_that_moves_in_its_body_lifts_what_it_touches() -> None:
    m = Mechanism("wave")
    m.particle("P", 1.0)
    m.joint("free", "free", "ground", "P", velocity="parent")
    (part,) = m.contact("c", "P", "ground", surface={"surface": "z - 0.3*sin(x - 2*t)"})
    rng = generator(8)
    for _ in range(STATES):
        values = state(m, rng)
        assert part.rows[0].residual is not None
        after, before = (evaluate([part.rows[0].residual], moved(m, values, dt))[0] for dt in (STEP, -STEP))
        assert evaluate([rate(m, part.rows[0])], values)[0] == pytest.approx((after - before) / (2 * STEP), abs=1e-7)


def test_a_mechanism_in_a_plane_slips_along_one_row_everywhere() -> None:
    """A disc around another: one slip row that never loses its direction."""
    m = Mechanism("flat", gravity=(0, -9.81, 0))
    for name in ("A", "B"):
        m.body(name, mass=1.0, inertia={"xx": 1, "yy": 1, "zz": 1})
        m.joint(name, "planar", "ground", name)
    made = m.contact("c", "A", "B", shape={"sphere": 0.3}, surface={"sphere": 0.5}, friction=0.2)
    made += m.contact("edge", "A", "B", shape={"sphere": 0.3}, surface={"box": (1, 1, 0.01)}, friction=0.2)
    assert [len(part.rows) for part in made] == [2, 2]
    for part in made:
        for angle in np.linspace(0, 2 * np.pi, 13):
            values = state(m, generator(4)) | {"q_B_1": 0.0, "q_B_2": 0.0, "q_B_angle": 0.0}
            values |= {c: 2 * f(angle) for c, f in zip(("q_A_1", "q_A_2"), (np.cos, np.sin), strict=True)}
            assert part.rows[0].residual is not None
            assert np.isfinite(evaluate([*(rate(m, row) for row in part.rows), part.rows[0].residual], values)).all()


@pytest.mark.parametrize(("ball", "surface"), [("sphere", "box"), ("sphere", "cylinder"), ("point", "surface")])
def test_equations_with_all_rows_held_pass_their_check(ball: str, surface: str) -> None:
    m, _ = pair(BALLS[ball][0], SURFACES[surface][0])
    m.set_initial({"q_A_px": 0.7, "q_A_pz": 2.0})
    assert check(formulate(m.all_rows_held())).passed
