"""Motions with contacts: a box on a slope, a cube thrown flat, a cart that locks, random impacts.

MuJoCo runs beside the first two as it comes. A step of the cart is one of rk4: four evaluations of the rates and, since
constraints may change in it, four of the functions that tell the end of the mode, or fourteen where that is near. With
dry friction in the axis of the caster these depend on the rate at which it turns; without any only on time. Times of
steps and transitions are those of the processor.
"""

# MuJoCo is a compiled module without type information.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

import kane
from benchmarks.constraints import random_system
from benchmarks.measure import Row, exactly, processor_seconds, spread
from kane.errors import ModelError
from kane.simulate.contacts import resolve_impact

G = 9.81
TOGGLES, LOCKED = 200, 0.01  # locks and releases of the caster; s between them
FRICTION = 1e-6  # N m, of the caster about its axis
ONSET = 0.01  # N/s per kg, of a push that overcomes friction slowly
REPEATS = 15
IMPACTS, PER_SYSTEM = 10_000, 100
LAWS = ("poisson", "newton", "sequential", "plastic")


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


def cart_that_never_locks() -> kane.Model:
    """The same cart with nothing that comes and goes, at the same start."""
    m = kane.Model("cart")
    m.body("basket", mass=30, center=(0.4, 0, 0), inertia={"zz": 3, "yy": 3})
    m.body("caster", mass=0.8, center=(-0.08, 0, 0))
    m.joint("place", "planar", "ground", "basket", velocity="body", speeds=["u1", "v", "u2"])
    m.joint("axis", "revolute", "basket", "caster", axis="z", at=(0.8, 0, 0), initial=[2.5])
    m.constrain("axle", kane.KnifeEdge("basket", direction="y"))
    m.constrain("wheel", kane.KnifeEdge("caster", at=(-0.08, 0, 0), direction="y"))
    return m


def cart_with_friction() -> kane.Model:
    """The shopping cart whose caster turns against dry friction, slowly enough to go on turning."""
    m = kane.load("shopping-cart")
    m.set_parameters(mc=FRICTION)
    return m


def step_time(m: kane.Model, **given: Any) -> Row:
    """Time of one step of rk4 in the loop: that of a long motion less that of a short one, by the steps between."""
    ends, step, each = (1.001, 10.001), 1e-4, list[float]()
    options: dict[str, Any] = {"method": "rk4", "step": step, "u": {"u1": 1.0}, **given}
    runs = [m.simulate((0.001, end), **options) for end in ends]
    for _ in range(REPEATS):
        short, long = (processor_seconds(lambda end=end: m.simulate((0.001, end), **options)) for end in ends)
        each.append(1e6 * (long - short) / (runs[1].statistics.steps - runs[0].statistics.steps))
    cost = runs[1].statistics
    watched = f"{cost.evaluations / cost.steps:.0f} + {cost.event_evaluations / cost.steps:.0f} evaluations"
    return Row(f"one step of rk4, {watched}", spread(each), "µs", 1.0, "at most")


def cart_steps() -> list[Row]:
    """Times of one step in the loop and of one transition with a new choice of speeds, for a cart that locks."""
    rows = [
        replace(row, name=f"{title}: {row.name}")
        for title, row in (
            (
                "cart that never locks, written out",
                step_time(cart_that_never_locks(), embed="formulation", drift="none"),
            ),
            (
                "shopping-cart, modes written out",
                step_time(kane.load("shopping-cart"), embed="formulation", drift="none"),
            ),
            (
                f"shopping-cart, {FRICTION} N m of friction, modes written out",
                step_time(cart_with_friction(), embed="formulation", drift="none"),
            ),
            ("shopping-cart, embedded at run time", step_time(kane.load("shopping-cart"), embed="run-time")),
        )
    ]
    end, busy, calm = TOGGLES * LOCKED, cart_that_locks(TOGGLES), cart_that_locks(0)
    ways: dict[str, dict[str, Any]] = {
        "modes written out": {"embed": "formulation", "drift": "none"},
        "embedded at run time": {"embed": "run-time"},
    }
    for title, given in ways.items():
        times: list[float] = []
        calm.simulate((0.001, 0.05), **given)
        count = len(busy.simulate((0.001, end), **given).transitions) - 1
        for _ in range(REPEATS):
            with_changes = processor_seconds(lambda given=given: busy.simulate((0.001, end), **given))
            without = processor_seconds(lambda given=given: calm.simulate((0.001, end), max_step=LOCKED, **given))
            times.append(1e6 * (with_changes - without) / count)
        name = f"cart that locks and frees {count} times, {title}: one transition, with the steps that it cuts"
        rows.append(Row(name, spread(times), "µs", 50.0, "at most"))
    return rows


def event_searches() -> list[Row]:
    """Evaluations of what ends modes, per step, where some of it is noise: balls that hang side by side after an
    impact; and steps that a slip takes which begins slowly."""
    run = kane.load("newtons-cradle").simulate(2.0, method="rk4", step=1e-3).statistics
    title = "newtons-cradle, 2 s of rk4 at 1 ms: evaluations of what ends modes, per step"
    each = run.event_evaluations / run.steps
    box = kane.load("box-on-incline")
    box.set_parameters(phi=0.0)
    box.load("push", kane.Force("box", (f"(0.4*{G} + {ONSET}*(t - 1))*m", 0, 0), frame="ground"))
    slow = box.simulate(10.0).statistics
    return [
        Row(title, exactly(each), "", 100.0, "at most"),
        Row(f"box whose push grows by {ONSET} N/s per kg, 9 s of slip: steps", exactly(slow.steps), ""),
    ]


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
