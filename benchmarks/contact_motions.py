"""Motions with contacts: balls into a box, a box on a slope, a cube thrown flat, a cart that locks, random impacts.

MuJoCo runs beside, with a step and a stiffness of contacts (solref, solimp) at which its penetration compares: as it
comes, and as stiff as its documentation allows for the step, two steps of time constant.
"""

# MuJoCo is a compiled module without type information.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import time
from typing import Any

import mujoco
import numpy as np

import kane
from benchmarks.constraints import random_system
from benchmarks.measure import Row, exactly, seconds, spread
from kane.errors import ModelError
from kane.simulate.contacts import resolve_impact

G = 9.81
BALLS, RADIUS, MASS, HALF_BOX = 20, 0.05, 0.5, 0.15
DURATION, STEP = 5.0, 0.005  # s
FRICTION = 0.3
PEER_STEPS = (1e-3, 1e-4)  # s
WALLS = {"floor": ("z", 0, 0), "left": ("x", -1, 0), "right": ("-x", 1, 0), "front": ("y", 0, -1), "back": ("-y", 0, 1)}
TOGGLES, LOCKED = 200, 0.01  # locks and releases of the caster; s between them
REPEATS = 7
IMPACTS, PER_SYSTEM = 10_000, 100
LAWS = ("poisson", "newton", "sequential", "plastic")


# -- balls into a box ----------------------------------------------------------------------------------------------


def ball_model() -> kane.Model:
    """Balls that may touch each other, a floor and four walls."""
    m = kane.Model(gravity=(0, 0, -G))
    shape = {"sphere": RADIUS}
    for i in range(BALLS):
        m.body(f"ball{i}", mass=MASS, inertia=dict.fromkeys(("xx", "yy", "zz"), 0.4 * MASS * RADIUS**2))
        m.joint(f"free{i}", "free", "ground", f"ball{i}", velocity="parent")
    for i in range(BALLS):
        for wall, (normal, x, y) in WALLS.items():
            at = (x * HALF_BOX, y * HALF_BOX, 0)
            m.contact(f"{wall}{i}", f"ball{i}", "ground", shape=shape, normal=normal, at=at, friction=FRICTION)
        for j in range(i):
            m.contact(f"pair{j}_{i}", f"ball{i}", f"ball{j}", shape=shape, surface=shape, friction=FRICTION)
    return m


def ball_starts() -> np.ndarray:
    """Centres (BALLS, 3) in layers of four, out of line."""
    rng = np.random.default_rng(1)
    layer, corner = np.divmod(np.arange(BALLS), 4)
    rough = np.stack([0.06 * (-1.0) ** (corner % 2), 0.06 * (-1.0) ** (corner // 2), 0.08 + 0.13 * layer], axis=1)
    return rough + rng.uniform(-0.01, 0.01, (BALLS, 3))


def deepest(x: np.ndarray) -> float:
    """Largest penetration (m) of balls with centres x (k, BALLS, 3)."""
    i, j = np.triu_indices(BALLS, 1)
    pairs = 2 * RADIUS - np.linalg.norm(x[:, i] - x[:, j], axis=-1)
    walls = np.abs(x[:, :, :2]) + RADIUS - HALF_BOX
    return max(0.0, float(pairs.max()), float(walls.max()), float((RADIUS - x[:, :, 2]).max()))


def ball_energy(x: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Total energy (J) of balls (k, BALLS, 3) each: places, velocities, angular velocities."""
    inertia = 0.4 * MASS * RADIUS**2
    each = 0.5 * MASS * (v**2).sum(-1) + 0.5 * inertia * (w**2).sum(-1) + MASS * G * x[:, :, 2]
    return each.sum(-1)


def rise(total: np.ndarray) -> float:
    """How far an energy rises above what it was before."""
    return float(np.max(total - np.minimum.accumulate(total)))


def peer_balls(step: float) -> tuple[float, float, float]:
    """(penetration in m, rise of energy in J, wall time in s) of MuJoCo with its stiffest contacts at this step."""
    size, inertia = f"{RADIUS}", 0.4 * MASS * RADIUS**2
    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} '
        f'{inertia}"/><geom type="sphere" size="{size}"/></body>'
        for x, y, z in ball_starts()
    )
    planes = (
        '<geom type="plane" size="1 1 1"/>'
        f'<geom type="plane" size="1 1 1" pos="{-HALF_BOX} 0 0" zaxis="1 0 0"/>'
        f'<geom type="plane" size="1 1 1" pos="{HALF_BOX} 0 0" zaxis="-1 0 0"/>'
        f'<geom type="plane" size="1 1 1" pos="0 {-HALF_BOX} 0" zaxis="0 1 0"/>'
        f'<geom type="plane" size="1 1 1" pos="0 {HALF_BOX} 0" zaxis="0 -1 0"/>'
    )
    model = mujoco.MjModel.from_xml_string(
        peer_options(step, FRICTION) + f"<worldbody>{planes}{bodies}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    steps = round(DURATION / step)
    x, v, w = (np.empty((steps, BALLS, 3)) for _ in range(3))
    wall = 0.0
    for k in range(steps):
        began = time.perf_counter()
        mujoco.mj_step(model, data)
        wall += time.perf_counter() - began
        x[k] = data.qpos.reshape(BALLS, 7)[:, :3]
        v[k], w[k] = data.qvel.reshape(BALLS, 6)[:, :3], data.qvel.reshape(BALLS, 6)[:, 3:]
    return deepest(x), rise(ball_energy(x, v, w)), wall


def peer_options(step: float, friction: float, slope: float = 0.0) -> str:
    """The head of a model of MuJoCo: elliptic cones, contacts as stiff as the step allows."""
    gravity = f"{G * np.sin(slope)} 0 {-G * np.cos(slope)}"
    return (
        f'<mujoco><option timestep="{step}" gravity="{gravity}" cone="elliptic" impratio="100"/><default><geom '
        f'condim="3" friction="{friction} 0 0" solref="{2 * step} 1" solimp="0.99 0.9999 1e-6 0.5 2"/></default>'
    )


def balls_into_a_box() -> list[Row]:
    """Penetration, rise of energy and time of 20 balls that fall into a box."""
    m, x = ball_model(), ball_starts()
    q = np.zeros((BALLS, 7))
    q[:, 0], q[:, 4:] = 1.0, x
    given = {"q": q.ravel(), "contacts": "stepping", "step": STEP}
    m.simulate(2 * STEP, **given)  # formulated and compiled
    runs: list[kane.Trajectory] = []
    wall = seconds(lambda: runs.append(m.simulate(DURATION, **given)))
    run = runs[0]
    places = run.q.reshape(-1, BALLS, 7)[:, :, 4:]
    u = run.u.reshape(-1, BALLS, 6)
    gained = rise(ball_energy(places, u[:, :, 3:], u[:, :, :3]))
    title = f"{BALLS} balls into a box, {DURATION:g} s in steps of {STEP:g} s"
    rows = [
        Row(f"{title}: reached", exactly(float(run.t[-1])), "s", DURATION),
        Row(f"{title}: penetration", exactly(deepest(places) / RADIUS), "radii", 1e-5, "at most"),
        Row(f"{title}: rise of the energy", exactly(gained), "J", 1e-6, "at most"),
        Row(f"{title}: time", exactly(wall), "s", 2.0, "at most"),
    ]
    for step in PEER_STEPS:
        depth, gained, wall = peer_balls(step)
        title = f"{BALLS} balls into a box, {DURATION:g} s, by MuJoCo in steps of {step:g} s"
        rows += [
            Row(f"{title}: penetration", exactly(depth / RADIUS), "radii"),
            Row(f"{title}: rise of the energy", exactly(gained), "J"),
            Row(f"{title}: time", exactly(wall), "s"),
        ]
    return rows


# -- a box on a slope, a cube thrown flat --------------------------------------------------------------------------


def cuboid(sides: tuple[float, float, float], friction: float, slope: float = 0.0) -> kane.Model:
    """A homogeneous box of 1 kg on four corners; the plane slopes along x (rad)."""
    x, y, z = sides
    m = kane.Model(gravity=(G * np.sin(slope), 0, -G * np.cos(slope)))
    squares = {"xx": y * y + z * z, "yy": x * x + z * z, "zz": x * x + y * y}
    m.body("box", mass=1.0, inertia={k: v / 12 for k, v in squares.items()})
    m.joint("free", "free", "ground", "box")
    m.contact("floor", "box", "ground", shape={"box": sides}, normal="z", at=(0, 0, -z / 2), friction=friction)
    return m


def peer_cuboid(
    sides: tuple[float, float, float], friction: float, slope: float, velocity: float, duration: float, step: float
) -> np.ndarray:
    """Places (k, 3) of the same box in MuJoCo, with contacts as they come but for cones and friction."""
    half = " ".join(str(side / 2) for side in sides)
    text = (
        f'<mujoco><option timestep="{step}" gravity="{G * np.sin(slope)} 0 {-G * np.cos(slope)}" cone="elliptic"/>'
        f'<default><geom friction="{friction} 0 0"/></default><worldbody><geom type="plane" size="9 9 1"/>'
        f'<body pos="0 0 {sides[2] / 2}"><freejoint/><geom type="box" size="{half}" mass="1"/></body>'
        "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[0] = velocity
    found = np.empty((round(duration / step), 3))
    for k in range(len(found)):
        mujoco.mj_step(model, data)
        found[k] = data.qpos[:3]
    return found


def box_on_a_slope() -> list[Row]:
    """Creep of a box that friction holds, over the last second of two."""
    sides, friction, slope = (0.3, 0.2, 0.1), 0.6, np.deg2rad(25)
    m, rows = cuboid(sides, friction, slope), []
    for name, given in (("events", {}), ("stepping", {"contacts": "stepping", "step": 1e-3})):
        run = m.simulate(np.linspace(0, 2, 201), **given)
        moved, title = run.q[-1] - run.q[100], f"box on a slope of 25°, friction {friction:g}, by {name}"
        rows += [
            Row(f"{title}: creep", exactly(float(np.abs(moved[4]))), "m/s", 1e-13, "at most"),
            Row(f"{title}: sideways", exactly(float(np.abs(run.q[-1, 5]))), "m", 1e-9, "at most"),
        ]
    x = peer_cuboid(sides, friction, float(slope), 0.0, 2.0, 1e-3)
    rows.append(Row("box on a slope, by MuJoCo as it comes, 1 ms: creep", exactly(float(x[-1, 0] - x[999, 0])), "m/s"))
    return rows


def thrown_cube() -> list[Row]:
    """How high a cube rises that is thrown flat over the floor at 3 m/s."""
    sides, friction, v = (0.1, 0.1, 0.1), 0.3, 3.0
    m, rows = cuboid(sides, friction), []
    for name, given in (("events", {}), ("stepping", {"contacts": "stepping", "step": 1e-3})):
        run = m.simulate(1.5, u=[0, 0, 0, v, 0, 0], **given)
        lift = float(max(0.0, run.q[:, 6].max()))
        rows.append(Row(f"cube thrown flat at {v:g} m/s, by {name}: lift", exactly(lift), "m", 1e-12, "at most"))
    x = peer_cuboid(sides, friction, 0.0, v, 1.5, 1e-3)
    lift = float(x[:, 2].max() - sides[2] / 2)
    rows.append(Row(f"cube thrown flat at {v:g} m/s, by MuJoCo as it comes, 1 ms: lift", exactly(lift), "m"))
    return rows


# -- what a step and a transition take -----------------------------------------------------------------------------


def cart_that_locks(toggles: int) -> kane.Model:
    """The shopping cart whose caster is locked and freed by time, so often."""
    m = kane.load("shopping-cart")
    period = 2 * LOCKED
    when = f"sin(2*pi*t/{period})" if toggles else "-1"
    m.constrain("lock", kane.MotionEquations("uturn"), when=when, until=f"-({when})")
    return m


def cart_steps() -> list[Row]:
    """Times of one step in the loop and of one transition with a new choice of speeds, for a cart that locks."""
    rows, end = [], TOGGLES * LOCKED
    free = cart_that_locks(0)
    for embed in ("run-time", "formulation"):
        given: dict[str, Any] = {"method": "rk4", "step": 1e-4, "embed": embed}
        free.simulate((0.001, 0.01), **given)
        each: list[float] = []
        for _ in range(REPEATS):
            long, short = (
                seconds(lambda end=end, given=given: free.simulate((0.001, end), **given)) for end in (10.001, 1.001)
            )
            each.append(1e6 * (long - short) / 90_000)
        title = f"cart that may lock, embedded at {embed}: one step of rk4"
        rows.append(Row(title, spread(each), "µs", 1.0, "at most"))
    busy, calm = cart_that_locks(TOGGLES), cart_that_locks(0)
    times: list[float] = []
    for m in (busy, calm):
        m.simulate((0.001, 0.05))
    count = len(busy.simulate((0.001, end)).transitions) - 1
    for _ in range(REPEATS):
        with_changes = seconds(lambda: busy.simulate((0.001, end)))
        without = seconds(lambda: calm.simulate((0.001, end), max_step=LOCKED))
        times.append(1e6 * (with_changes - without) / count)
    title = f"cart that locks and frees {count} times: one transition, with the steps that it cuts"
    rows.append(Row(title, spread(times), "µs", 50.0, "at most"))
    return rows


# -- random impacts ------------------------------------------------------------------------------------------------


def random_impacts() -> list[Row]:
    """Energy that frictional impacts of random trees, loops and rolling systems gain, relative to what there was."""
    worst, count, told, seed = -np.inf, 0, 0, 0
    while count < IMPACTS:
        rng = np.random.default_rng(seed)
        seed += 1
        found = system_with_contacts(rng, ("tree", "looped", "nonholonomic")[seed % 3])
        if found is None:
            continue
        for _ in range(PER_SYSTEM):
            gain, law = one_impact(rng, *found)
            worst, count, told = max(worst, gain), count + 1, told + bool(law)
    title = f"{count} random frictional impacts of trees, loops and rolling systems"
    return [
        Row(f"{title}: largest gain of energy", exactly(max(0.0, worst)), "of the energy", 1e-12, "at most"),
        Row(f"{title}: law told", exactly(told), f"of {count}", count),
    ]


def system_with_contacts(rng: np.random.Generator, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(M, permanent rows, rows of contacts: three each) of a random system at a random state; None where it is none."""
    m, q = random_system(rng, "looped" if kind == "tree" else kind)
    if not len(m.speeds):
        return None
    bodies = [name for name in m.mechanism.bodies if name != "ground"]
    for k in range(int(rng.integers(1, 4))):
        normal = rng.normal(size=3)
        point = {"point": tuple(rng.normal(size=3).tolist())}
        given = {"normal": tuple((normal / np.linalg.norm(normal)).tolist()), "friction": 0.5}
        m.contact(f"touch{k}", str(rng.choice(bodies)), "ground", shape=point, **given)
    try:
        q, u = m.project(q, np.zeros(len(m.speeds)))
        rows = kane.Model.of(m.mechanism.all_rows_held()).constraint_rows(q, u)
    except ModelError:
        return None
    held = len(m.row_names)
    permanent = rows.A[:held] if kind != "tree" else rows.A[:0]
    return m.mass_matrix(q), permanent, rows.A[held:]


def one_impact(rng: np.random.Generator, M: np.ndarray, A: np.ndarray, J: np.ndarray) -> tuple[float, str]:
    """(energy gained, relative; the law) of an impact with random speeds, friction, restitution and law."""
    k = len(J) // 3
    L = np.linalg.cholesky(M)
    y, rows = np.linalg.solve(L, J.T), np.linalg.solve(L, A.T)
    z = rng.normal(size=len(M))
    if len(A):
        left, sizes, _ = np.linalg.svd(rows, full_matrices=False)
        basis = left[:, sizes > 1e-9 * sizes.max()]
        y, z = y - basis @ (basis.T @ y), z - basis @ (basis.T @ z)
    W, v = y.T @ y, y.T @ z
    mu, e = rng.uniform(0, 1.5, k), rng.uniform(0, 1, k)
    after = resolve_impact(W, v, mu, e, rows=[3] * k, law=str(rng.choice(LAWS)))
    left = z + y @ after.P
    before = float(z @ z)
    return (float(left @ left - before) / before if before else 0.0), after.law
