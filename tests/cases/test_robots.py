"""Every URDF robot of the package example-robot-data has the dynamics that Pinocchio gives it.

Efforts and mass matrix at a random state, and accelerations where the mass matrix is regular. Pinocchio's coordinates
of a continuous joint are (cos, sin), of a floating base position and quaternion (xyzw), its twist has v before ω. Where
the mass matrix is close to singular both sides lose digits, and the judge is the same robot with forty of them.
"""

# Pinocchio is a compiled module without type information, in a folder that its package adds at run time.
# pyright: reportMissingImports=false

from __future__ import annotations

import math
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import pytest

import kane
from cases import exact_tree
from kane.backends import compile
from kane.errors import ModelError
from kane.model import read_mechanism, to_urdf, write_mechanism
from kane.model.joints import Coupled
from seeds import in_long_runs

Array = np.ndarray[Any, np.dtype[np.float64]]

ROBOTS = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
FILES = sorted(ROBOTS.glob("*/*/*.urdf"))
EMPTY = "ur_description/urdf/ur3.urdf"  # a <robot> without links: macros that expanded to nothing
UNKNOWN_LEADERS = "alex_description/urdf/alex_psyonic_hands.urdf"  # its <mimic> name joints that do not exist
MASSLESS = {  # a movable link without mass: no effort determines its acceleration
    "romeo_description/urdf/romeo.urdf",
    "romeo_description/urdf/romeo_laas_small.urdf",
}
VARIANTS = {  # of robots that are large and stay in every run: simpler shapes, one arm less, some joints fixed
    "talos_data/robots/talos_full_v2_box.urdf",
    "talos_data/robots/talos_reduced_box.urdf",
    "talos_data/robots/talos_reduced_corrected.urdf",
    "tiago_description/robots/tiago.urdf",
    "icub_description/robots/icub_reduced.urdf",
}
FLYING = {"hector_description", "iris_description", "borinot_description", "hextilt_description"}
WALKING = {"a1_description", "bolt_description", "go2_description", "solo_description", "talos_data"}
POINT_MASS = "icub_description/robots/icub.urdf"  # its head has no inertia: M is singular with it on the neck's axis
AGREEMENT = 1e-9  # relative; both sides round differently
ROUNDING = 4 * float(np.finfo(float).eps)  # per unit of the condition of M: what its entries, rounded, do to M⁻¹


def name_of(path: Path) -> str:
    return path.relative_to(ROBOTS).as_posix()


class Pair(NamedTuple):
    """A robot in both programs, at one state. In Pinocchio all joints are free: `W` takes our speeds to its twist, with
    the ratios of coupled joints."""

    model: kane.Model
    peer: Any
    data: Any
    q: Array
    u: Array
    udot: Array
    configuration: Array
    W: Array

    def efforts(self, udot: Array) -> Array:
        """Pinocchio's efforts along our speeds."""
        efforts = pin.rnea(self.peer, self.data, self.configuration, self.W @ self.u, self.W @ udot)
        return np.asarray(self.W.T @ efforts, dtype=np.float64)

    def mass_matrix(self) -> Array:
        """Pinocchio's mass matrix over our speeds."""
        upper = np.triu(pin.crba(self.peer, self.data, self.configuration))
        return self.W.T @ (upper + np.triu(upper, 1).T) @ self.W

    def accelerations(self, efforts: Array) -> Array:
        """u̇ from Pinocchio's mass matrix and bias."""
        bias = self.efforts(np.zeros_like(self.u))
        return np.asarray(np.linalg.solve(self.mass_matrix(), efforts - bias), dtype=np.float64)


def robot_pair(path: Path, seed: int = 1, **options: Any) -> Pair:
    """The robot at a random state, without losses."""
    base = "floating" if path.relative_to(ROBOTS).parts[0] in FLYING | WALKING else "fixed"
    root = (pin.JointModelFreeFlyer(),) if base == "floating" else ()
    peer = pin.buildModelFromUrdf(str(path), *root)
    mimic = name_of(path) != UNKNOWN_LEADERS
    options = {"base": base, "mimic": mimic, "damping": False, "friction": "none", "right_angle": 0.0, **options}
    return at_random_state(kane.load(path, **options), peer, np.random.default_rng(seed))


def at_random_state(model: kane.Model, peer: Any, rng: np.random.Generator) -> Pair:
    n = len(model.speeds)
    q, configuration, W = np.zeros(len(model.coordinates)), pin.neutral(peer), np.zeros((peer.nv, n))
    for joint in model.joints.values():
        if joint.type.kind == "weld":
            continue
        twin = peer.joints[peer.getJointId(joint.name)]
        own = [model.coordinates.index(c.name) for c in joint.coordinates]
        speeds = [model.speeds.index(model.mechanism.default_speeds[repr(rate)]) for rate in joint.moved_by]
        ratio = 1.0
        if joint.type.kind == "free":
            wxyz, p = rng.normal(size=4), rng.uniform(-1, 1, 3)
            w, x, y, z = wxyz / np.linalg.norm(wxyz)
            q[own], theirs, speeds = [w, x, y, z, *p], [*p, x, y, z, w], [*speeds[3:], *speeds[:3]]
        else:
            if isinstance(joint.type, Coupled):  # after the joint that it follows
                leader = model.coordinates.index(model.joints[joint.type.follows].coordinates[0].name)
                ratio = model.mechanism.number(joint.type.ratio, "ratio")
                angle = ratio * q[leader] + model.mechanism.number(joint.type.offset, "offset")
            else:
                q[own] = angle = rng.uniform(-2, 2)
            theirs = [angle] if twin.nq == 1 else [np.cos(angle), np.sin(angle)]
        configuration[twin.idx_q : twin.idx_q + twin.nq] = theirs
        W[range(twin.idx_v, twin.idx_v + twin.nv), speeds] = ratio
    assert np.all(np.count_nonzero(W, axis=1) == 1)
    u, udot = rng.uniform(-1, 1, (2, n))
    return Pair(model, peer, peer.createData(), q, u, udot, configuration, W)


def computed(model: kane.Model, what: str, *arrays: Array) -> Array:
    return np.asarray(compile(model.equations().program(what), backend="interpret")(*arrays))


def difference(ours: Array, theirs: Array) -> float:
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max()) if np.any(theirs) else float(np.abs(ours).max())


@pytest.mark.parametrize("name", in_long_runs([name_of(p) for p in FILES if name_of(p) != EMPTY], VARIANTS))
def test_a_robot_has_the_dynamics_that_pinocchio_gives_it(name: str) -> None:
    pair = robot_pair(ROBOTS / name)
    model, M = pair.model, pair.mass_matrix()
    efforts = computed(model, "inverse_dynamics", pair.q, pair.u, pair.udot)
    assert difference(efforts, pair.efforts(pair.udot)) < AGREEMENT
    assert difference(computed(model, "mass_matrix", pair.q), M) < AGREEMENT
    if name in MASSLESS:
        with pytest.raises(ModelError, match="moves no mass and no inertia"):
            model.equations().program("forward_dynamics")
    else:
        accelerations = computed(model, "forward_dynamics", pair.q, pair.u, efforts)
        assert difference(accelerations, pair.accelerations(efforts)) < AGREEMENT


class Judged(NamedTuple):
    """Relative errors of accelerations against those with forty digits, and the condition of the mass matrix."""

    ours: float
    theirs: float
    condition: float


def judged(name: str, seed: int) -> Judged:
    pair = robot_pair(ROBOTS / name, seed)
    model, efforts = pair.model, pair.efforts(pair.udot)
    moved_by = {c.name: joint.name for joint in model.joints.values() for c in joint.coordinates}
    truth = exact_tree.accelerations(
        ROBOTS / name,
        [moved_by[c] for c in model.coordinates],
        pair.q,
        pair.u,
        efforts,
        list(model.gravity),
    )
    ours = computed(model, "forward_dynamics", pair.q, pair.u, efforts)
    condition = float(np.linalg.cond(pair.mass_matrix()))
    return Judged(difference(ours, truth), difference(pair.accelerations(efforts), truth), condition)


@pytest.mark.parametrize("seed", [1, 5, 12])
def test_a_robot_with_a_point_mass_for_a_head_accelerates_as_worked_out_with_forty_digits(seed: int) -> None:
    assert judged(POINT_MASS, seed).ours < AGREEMENT


@pytest.mark.parametrize("seed", [11, 29])
def test_near_a_singular_mass_matrix_the_error_is_that_of_rounding_it_and_pinocchio_has_it_too(
    seed: int,
) -> None:
    found = judged(POINT_MASS, seed)
    assert found.condition > 1e8
    assert found.ours < ROUNDING * found.condition
    assert AGREEMENT < found.theirs < ROUNDING * found.condition


@pytest.mark.parametrize(
    "name", ["kinova_description/robots/kinova.urdf", "hyq_description/robots/hyq_no_sensors.urdf"]
)
def test_right_angles_written_with_eleven_digits_change_nothing_but_the_number_of_operations(name: str) -> None:
    pair, exact = robot_pair(ROBOTS / name, right_angle=1e-9), robot_pair(ROBOTS / name)
    efforts = computed(pair.model, "inverse_dynamics", pair.q, pair.u, pair.udot)
    assert difference(efforts, pair.efforts(pair.udot)) < AGREEMENT
    counts = [p.model.equations().program("inverse_dynamics").count() for p in (pair, exact)]
    assert counts[0]["mul"] <= counts[1]["mul"]


def test_a_robot_without_links_is_refused() -> None:
    with pytest.raises(ModelError, match="the robot has no link"):
        kane.load(ROBOTS / EMPTY)


def test_mimics_of_unknown_joints_are_refused_unless_they_are_left_free() -> None:
    with pytest.raises(ModelError, match=r"mimics the unknown joint 'index_q1'\n.*mimic=False"):
        kane.load(ROBOTS / UNKNOWN_LEADERS)
    assert len(kane.load(ROBOTS / UNKNOWN_LEADERS, mimic=False).speeds) == 39


def test_what_cannot_move_on_a_fixed_base_says_how_to_load_it() -> None:
    path = ROBOTS / "hector_description/robots/quadrotor_base.urdf"
    with pytest.raises(ModelError, match="base='floating'"):
        kane.load(path)
    assert len(kane.load(path, base="floating").speeds) == 6


@pytest.mark.parametrize(
    "name", ["romeo_description/urdf/romeo.urdf", "allegro_hand_description/urdf/allegro_left_hand.urdf"]
)
def test_a_robot_written_as_a_model_file_is_the_same_description(name: str) -> None:
    model = kane.load(ROBOTS / name)
    assert read_mechanism(write_mechanism(model.mechanism), "robot.yaml").description() == model.mechanism.description()


def test_the_built_in_ur5_is_that_of_its_maker() -> None:
    ours, theirs = kane.load("ur5"), kane.load(ROBOTS / "ur_description/urdf/ur5_robot.urdf")
    state = np.random.default_rng(4).uniform(-1, 1, (3, 6))
    efforts = computed(theirs, "inverse_dynamics", *state)
    assert difference(computed(ours, "inverse_dynamics", *state), efforts) < AGREEMENT
    for mine, other in zip(ours.mechanism.limits.values(), theirs.mechanism.limits.values(), strict=True):
        assert mine.upper == pytest.approx(other.upper) and (mine.velocity, mine.effort) == (
            other.velocity,
            other.effort,
        )


def test_the_built_in_panda_is_that_of_its_maker_without_the_hand() -> None:
    ours, theirs = kane.load("panda"), kane.load(ROBOTS / "panda_description/urdf/panda.urdf")
    q = np.random.default_rng(4).uniform(-1, 1, 8)
    places = computed(ours, "poses", q[:7]), computed(theirs, "poses", q)
    names = list(ours.bodies), list(theirs.bodies)
    for i in range(1, 8):
        pair = names[0].index(f"link{i}"), names[1].index(f"panda_link{i}")
        np.testing.assert_allclose(places[0][pair[0]], places[1][pair[1]], atol=AGREEMENT)
        mine, other = ours.bodies[f"link{i}"], theirs.bodies[f"panda_link{i}"]
        for a, b in zip(
            (mine.mass, *mine.center, *sum(mine.inertia, ())),
            (other.mass, *other.center, *sum(other.inertia, ())),
            strict=True,
        ):
            assert a.number == b.number


def inertial_parameters(model: kane.Model) -> Array:
    """m, m c and the inertia about the origin, xx yy zz xy xz yz, of each body."""
    found = []
    for body in model.bodies.values():
        m, c = float(body.mass.number or 0.0), np.array([e.number for e in body.center], dtype=float)
        I = np.array([[e.number for e in row] for row in body.inertia], dtype=float)
        I = I + m * (c @ c * np.eye(3) - np.outer(c, c))
        found += [m, *(m * c), *np.diag(I), I[0, 1], I[0, 2], I[1, 2]]
    return np.array(found)


def panda_with_angles_of(digits: int, folder: Path) -> kane.Model:
    """The built-in arm, from a URDF in which right angles are written with so many digits."""

    def rounded(match: re.Match[str]) -> str:
        value = float(match[0])
        return f"{value:.{digits}g}" if abs(abs(value) - math.pi / 2) < 1e-3 else match[0]

    path = folder / "panda.urdf"
    path.write_text(re.sub(r"-?\d+\.\d+", rounded, to_urdf(kane.load("panda").mechanism)), encoding="utf-8")
    return kane.load(path)


@pytest.mark.parametrize("digits", [4, 7])
def test_an_arm_with_rounded_angles_is_identified_to_their_error_of_the_largest_effort(
    digits: int, tmp_path: Path
) -> None:
    true = panda_with_angles_of(17, tmp_path)
    q, u, udot = np.random.default_rng(0).uniform(-2, 2, (3, 400, 7))
    found = kane.identify(
        panda_with_angles_of(digits, tmp_path), q, u, udot, true.inverse_dynamics(q, u, udot), friction=False
    )
    others = np.random.default_rng(1).uniform(-2, 2, (3, 400, 7))
    expected, off = true.inverse_dynamics(*others), abs(float(f"{math.pi / 2:.{digits}g}") - math.pi / 2)
    errors = np.abs(found.model.inverse_dynamics(*others) - expected)
    assert 0.1 * off < errors.max() / np.abs(expected).max() < off


@pytest.mark.parametrize("digits", in_long_runs([17, 8, 7, 5, 4], {8, 5}))
def test_the_base_parameters_of_an_arm_are_as_many_whatever_the_digits_of_its_right_angles(
    digits: int, tmp_path: Path
) -> None:
    """43 for seven axes, neighbours perpendicular and the first vertical; efforts follow from them alone."""
    model = panda_with_angles_of(digits, tmp_path)
    base = model.base_parameters()
    assert len(base) == 43
    rng = np.random.default_rng(7)
    Y = np.vstack([model.regressor(*rng.uniform(-2, 2, (3, 7))) for _ in range(40)])
    kept = Y[:, list(base.independent)]
    assert np.linalg.cond(kept / np.linalg.norm(kept, axis=0)) < 1000.0
    everything = Y @ inertial_parameters(model)
    assert np.abs(kept @ base.values - everything).max() < 1e-7 * np.abs(everything).max()  # coefficients have 9 digits


NOISE = 0.1  # N m, standard deviation of measured efforts of up to 100 N m
SPREAD = 4.5  # standard deviations: one of 43 errors beyond it has a probability of 3e-4


@pytest.mark.parametrize("digits", in_long_runs([17, 8, 7, 5, 4], {8, 5}))
def test_an_arm_is_identified_from_efforts_of_pinocchio_as_well_as_its_angles_are_written(
    digits: int, tmp_path: Path
) -> None:
    """Efforts are those of the arm with exact angles. A model whose right angles are off by e (rad) finds its 43 base
    parameters (kg, kg m, kg m²; up to 10) and the efforts of other motions with errors of that order, and with noise
    in the efforts as well as least squares can: errors have the covariance σ² (YᵀY)⁻¹."""
    model, rng = panda_with_angles_of(digits, tmp_path), np.random.default_rng(11)
    off = abs(float(f"{math.pi / 2:.{digits}g}") - math.pi / 2)
    peer = pin.buildModelFromXML(to_urdf(kane.load("panda").mechanism))
    data, base = peer.createData(), model.base_parameters()
    motions, others = rng.uniform(-2, 2, (200, 3, 7)), rng.uniform(-2, 2, (50, 3, 7))
    Y, Y_others = (np.vstack([model.regressor(*s) for s in m])[:, list(base.independent)] for m in (motions, others))
    efforts, expected = (np.concatenate([pin.rnea(peer, data, *s) for s in m]) for m in (motions, others))

    found = np.linalg.lstsq(Y, efforts, rcond=None)[0]
    turned = off * np.abs(base.values).max()  # what a turn by e makes of the largest parameter
    assert np.abs(found - base.values).max() < 1e-11 + turned
    assert np.abs(Y_others @ found - expected).max() < (1e-12 + 3 * off) * np.abs(expected).max()

    noisy = np.linalg.lstsq(Y, efforts + NOISE * rng.normal(size=efforts.size), rcond=None)[0]
    deviation = NOISE * np.sqrt(np.diag(np.linalg.inv(Y.T @ Y)))
    assert np.all(np.abs(noisy - base.values) < SPREAD * deviation + turned)
