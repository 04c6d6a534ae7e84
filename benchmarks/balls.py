"""Twenty balls that fall into a box: penetration, energy and time of steps of 5 ms, beside MuJoCo and Drake.

Both peers find a contact once bodies overlap, so that their penetration is that of one step at the speed of an impact,
about v h, and falls in proportion to the step while the time grows with it. Neither comes to 1e-5 of a radius, 0.5 µm,
with steps that anyone takes: at 2.5 m/s it would need 0.2 µs. So they run with steps that they are used with, as stiff
as these allow, and a row says what 1e-5 of a radius would take at that rate. MuJoCo: elliptic cones, solref of two
steps, which its documentation has as the least. Drake, where it is installed: its solver for lagged friction (the SAP
formulation), contacts of points, a stiffness that makes it nearly rigid. Its time includes a call from Python for each
step.
"""

# MuJoCo and Drake are compiled modules without type information.
# pyright: reportAttributeAccessIssue=false, reportMissingImports=false

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

import kane
from benchmarks.measure import Row, exactly, seconds

G = 9.81
BALLS, RADIUS, MASS, HALF_BOX = 20, 0.05, 0.5, 0.15
DURATION, STEP = 5.0, 0.005  # s
FRICTION = 0.3
DEEPEST = 1e-5  # radii
MUJOCO_STEPS, DRAKE_STEP = (1e-3, 1e-4), 1e-3  # s
STIFFNESS = 1e9  # N/m, of Drake's contacts
WALLS = {"floor": ("z", 0, 0), "left": ("x", -1, 0), "right": ("-x", 1, 0), "front": ("y", 0, -1), "back": ("-y", 0, 1)}
AXES = {"z": (0, 0, 1), "x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "-y": (0, -1, 0)}


@dataclass(frozen=True, slots=True)
class Fall:
    """Places, velocities and angular velocities (k, BALLS, 3) after every step, and what the steps took (s)."""

    x: np.ndarray
    v: np.ndarray
    w: np.ndarray
    wall: float

    @classmethod
    def of(cls, steps: int) -> Fall:
        """Room for so many steps."""
        x, v, w = (np.empty((steps, BALLS, 3)) for _ in range(3))
        return cls(x, v, w, 0.0)


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


def mujoco_fall(step: float) -> Fall:
    """What MuJoCo makes of it with its stiffest contacts at this step."""
    inertia = 0.4 * MASS * RADIUS**2
    bodies = "".join(
        f'<body pos="{x} {y} {z}"><freejoint/><inertial pos="0 0 0" mass="{MASS}" diaginertia="{inertia} {inertia} '
        f'{inertia}"/><geom type="sphere" size="{RADIUS}"/></body>'
        for x, y, z in ball_starts()
    )
    planes = "".join(
        f'<geom type="plane" size="1 1 1" pos="{x * HALF_BOX} {y * HALF_BOX} 0" zaxis="{" ".join(map(str, AXES[n]))}"/>'
        for n, x, y in WALLS.values()
    )
    text = (
        f'<mujoco><option timestep="{step}" gravity="0 0 {-G}" cone="elliptic" impratio="100"/><default><geom '
        f'condim="3" friction="{FRICTION} 0 0" solref="{2 * step} 1" solimp="0.99 0.9999 1e-6 0.5 2"/></default>'
        f"<worldbody>{planes}{bodies}</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    fall, wall = Fall.of(round(DURATION / step)), 0.0
    for k in range(len(fall.x)):
        began = time.perf_counter()
        mujoco.mj_step(model, data)
        wall += time.perf_counter() - began
        fall.x[k] = data.qpos.reshape(BALLS, 7)[:, :3]
        fall.v[k], fall.w[k] = data.qvel.reshape(BALLS, 6)[:, :3], data.qvel.reshape(BALLS, 6)[:, 3:]
    return Fall(fall.x, fall.v, fall.w, wall)


def drake_fall(step: float) -> Fall:
    """What Drake makes of it with nearly rigid contacts at this step."""
    from pydrake import geometry, math  # an extra, slow to import
    from pydrake.multibody import plant as plant_of
    from pydrake.multibody import tree
    from pydrake.systems import analysis, framework

    builder = framework.DiagramBuilder()
    plant, _ = plant_of.AddMultibodyPlantSceneGraph(builder, step)
    plant.set_discrete_contact_approximation(plant_of.DiscreteContactApproximation.kLagged)
    plant.set_contact_model(plant_of.ContactModel.kPoint)
    surface = geometry.ProximityProperties()
    friction = plant_of.CoulombFriction(FRICTION, FRICTION)
    geometry.AddContactMaterial(point_stiffness=STIFFNESS, friction=friction, properties=surface)
    for wall, (normal, x, y) in WALLS.items():
        along: Any = np.array(AXES[normal], dtype=float)  # Drake's types of arrays are their numbers'
        at: Any = np.array([x * HALF_BOX, y * HALF_BOX, 0.0])
        pose = geometry.HalfSpace.MakePose(along, at)
        plant.RegisterCollisionGeometry(plant.world_body(), pose, geometry.HalfSpace(), wall, surface)
    balls: list[Any] = []
    for i in range(BALLS):
        ball = plant.AddRigidBody(f"ball{i}", tree.SpatialInertia.SolidSphereWithMass(MASS, RADIUS))
        plant.RegisterCollisionGeometry(ball, math.RigidTransform(), geometry.Sphere(RADIUS), f"shape{i}", surface)
        balls.append(ball)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -G])
    plant.Finalize()
    diagram = builder.Build()
    context = diagram.CreateDefaultContext()
    own = plant.GetMyMutableContextFromRoot(context)
    for ball, at in zip(balls, ball_starts(), strict=True):
        plant.SetFreeBodyPose(own, ball, math.RigidTransform(at))
    simulator = analysis.Simulator(diagram, context)
    simulator.Initialize()
    fall, spent = Fall.of(round(DURATION / step)), 0.0
    for k in range(len(fall.x)):
        began = time.perf_counter()
        simulator.AdvanceTo((k + 1) * step)
        spent += time.perf_counter() - began
        fall.x[k] = plant.GetPositions(own).reshape(BALLS, 7)[:, 4:]
        u = plant.GetVelocities(own).reshape(BALLS, 6)
        fall.v[k], fall.w[k] = u[:, 3:], u[:, :3]
    return Fall(fall.x, fall.v, fall.w, spent)


def our_fall() -> tuple[Fall, kane.Trajectory]:
    """Ours, and the run."""
    m, q = ball_model(), np.zeros((BALLS, 7))
    q[:, 0], q[:, 4:] = 1.0, ball_starts()
    given = {"q": q.ravel(), "contacts": "stepping", "step": STEP}
    m.simulate(2 * STEP, **given)  # formulated and compiled
    runs: list[kane.Trajectory] = []
    wall = seconds(lambda: runs.append(m.simulate(DURATION, **given)))
    u = runs[0].u.reshape(-1, BALLS, 6)
    return Fall(runs[0].q.reshape(-1, BALLS, 7)[:, :, 4:], u[:, :, 3:], u[:, :, :3], wall), runs[0]


def peer_rows(peer: str, step: float, fall: Fall, ours: Fall) -> list[Row]:
    """What a peer did with a step, and what our bound of penetration would take it."""
    title = f"{BALLS} balls into a box, {DURATION:g} s, by {peer} in steps of {step:g} s"
    depth = deepest(fall.x) / RADIUS
    needed = fall.wall * depth / DEEPEST
    return [
        Row(f"{title}: penetration", exactly(depth), "radii"),
        Row(f"{title}: rise of the energy", exactly(rise(ball_energy(fall.x, fall.v, fall.w))), "J"),
        Row(f"{title}: time", exactly(fall.wall), "s"),
        Row(f"{title}: our time beside it", exactly(fall.wall / ours.wall), "times faster"),
        Row(f"{title}, in proportion for {DEEPEST:g} radii", exactly(needed / ours.wall), "times faster"),
    ]


def rough_steps(run: kane.Trajectory) -> int:
    """Steps whose contact problem is solved roughly, as the outcome tells."""
    told = re.search(r"contact problems of (\d+) steps", str(run.outcome))
    return int(told.group(1)) if told else 0


def many_contacts() -> list[Row]:
    """From the name of the model of 290 contacts to its motion over 1 s: with nothing known on disk but the loops that
    every simulation shares, and with its programs there too. Processor time of a process of its own."""
    script = (
        "import time, kane; m = kane.load('spheres-in-box'); m.simulate(1.0, contacts='stepping', step=0.005); "
        "print(time.process_time())"
    )
    warm_up = (
        "import kane; m = kane.Model(gravity=(0, 0, -9.81)); m.body('b', mass=1); "
        "m.joint('j', 'prismatic', 'ground', 'b', axis='z'); "
        "m.contact('c', 'b', 'ground', shape={'point': (0, 0, 0)}, normal='z'); "
        "m.simulate(0.1, contacts='stepping', step=0.01)"
    )
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "KANE_CACHE_DIR": folder}

        def run(text: str) -> str:
            return subprocess.check_output([sys.executable, "-c", text], env=environment, text=True)

        Path(folder).chmod(0o700)
        run(warm_up)
        cold, warm = float(run(script)), min(float(run(script)) for _ in range(3))
    title = "spheres-in-box, 290 contacts, 1 s in 200 steps, from the name to the motion"
    return [
        Row(f"{title}: first time", exactly(cold), "s", 20.0, "at most"),
        Row(f"{title}: again", exactly(warm), "s", 3.0, "at most"),
    ]


def balls_into_a_box() -> list[Row]:
    """Penetration, rise of energy, residual and time of 20 balls that fall into a box."""
    ours, run = our_fall()
    residual = run.statistics.contact_residual
    assert residual is not None
    title = f"{BALLS} balls into a box, {DURATION:g} s in steps of {STEP:g} s"
    rows = [
        Row(f"{title}: reached", exactly(float(run.t[-1])), "s", DURATION),
        Row(f"{title}: penetration", exactly(deepest(ours.x) / RADIUS), "radii", DEEPEST, "at most"),
        Row(f"{title}: rise of the energy", exactly(rise(ball_energy(ours.x, ours.v, ours.w))), "J", 1e-6, "at most"),
        Row(f"{title}: largest residual of a contact problem", exactly(residual), "of its velocities"),
        Row(f"{title}: steps left with more than 1e-8", exactly(rough_steps(run)), f"of {run.statistics.steps}"),
        Row(f"{title}: time", exactly(ours.wall), "s", 2.0, "at most"),
    ]
    for step in MUJOCO_STEPS:
        rows += peer_rows("MuJoCo", step, mujoco_fall(step), ours)
    if importlib.util.find_spec("pydrake") is not None:
        rows += peer_rows("Drake", DRAKE_STEP, drake_fall(DRAKE_STEP), ours)
    return rows
