"""A script as a user writes it: every public name of `kane` and of `Model`, with the types that an editor shows.

`make check` has it read by pyright in strict mode; test_user_script.py runs it, and finds names that it leaves out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import sympy.physics.mechanics as me  # pyright: ignore[reportMissingTypeStubs]

import kane
from kane.model import load_mechanism

ROUND = {"xx": 1.0, "yy": 1.0, "zz": 1.0}  # kg m²


def describe() -> kane.Model:
    """A cart with a pendulum, a wheel and a tank on it, described in every way there is."""
    m = kane.Model("cart", gravity=(0, 0, "-g"), about="everything at once")
    m.parameter("g", 9.81, free=True)
    m.parameter("L", 0.5)
    m.body("cart", mass=4.0, inertia=ROUND)
    m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"], speeds=["v"])
    m.particle("bob", 0.5, center=(0, 0, "-L"))
    m.joint("pin", "revolute", "cart", "bob", axis="y", coordinates=["q"], speeds=["u"])
    m.reaction_wheel("flywheel", "cart", "z", 0.02, speed="w")
    m.mechanism.slosh("tank", "cart", 0.2, 0.3)
    m.mechanism.rotor("motor", "pin", 1e-4, ratio=10)
    turn = m.coordinate("turn")
    arm = m.frame("arm", "cart", axis="z", angle=turn)
    tip = m.point("tip", "cart", arm.vector(0.2, 0, 0))
    m.body("hand", mass=0.1, inertia=ROUND)
    m.mechanism.attach("hand", arm, tip)
    m.control("damp", {"pin": "-0.1*q'"})
    m.limit("q", lower=-1.0, upper=1.0)
    m.mechanism.order_coordinates(["q", "x", *[c for c in m.coordinates if c not in ("q", "x")]])
    m.set_speeds({speed: f"{coordinate}'" for speed, coordinate in zip(m.speeds, m.coordinates, strict=True)})
    m.set_gravity((0, 0, "-g"))
    m.set_initial({"q": "10*deg"})
    m.mechanism.set_duration(2.0)
    return m


def add_loads(m: kane.Model) -> None:
    """Every record of a load."""
    m.load("push", kane.Force("cart", (1, 0, 0)))
    m.load("twist", kane.Torque("hand", (0, 0, "0.1*cos(t)")))
    m.load("jet", kane.Thruster("cart", "x", 0.1))
    m.load("drive", kane.Effort("pin", "-0.1*q"))
    m.load("coil", kane.JointSpring("pin", stiffness=1.0, damping=0.1))
    m.load("band", kane.Spring("ground", "cart", first_at=(-2, 0, 0), stiffness=1.0, rest=1.0))
    m.load("stop", kane.Stop("rail", upper=1.0, stiffness=1e3))
    m.load("planet", kane.PointGravity(1e-3, center="far"))
    m.load("coils", kane.MagneticTorque("hand", (0, 0, 1), field=(1e-3, 0, 0)))


def constraints() -> dict[str, kane.Model]:
    """Every record of a constraint, each on a small model."""

    def axles(second: str) -> kane.Model:
        m = kane.Model("axles")
        for name, kind in (("a", "revolute"), ("b", second)):
            m.joint(name, kind, "ground", m.body(name, mass=1.0, inertia=ROUND), at=(0, 0, 0), axis="z")
        return m

    def ball() -> kane.Model:
        m = kane.Model("ball", gravity=(0, 0, -9.81))
        start = [1, 0, 0, 0, 0, 0, 2.1]
        m.joint("free", "free", "ground", m.body("ball", mass=1.0, inertia=ROUND), initial=start)
        return m

    revolute, prismatic, two = "revolute", "prismatic", "double-pendulum"
    tip = (0, -1, 0)
    cases: list[tuple[kane.Model, Any]] = [
        (axles(revolute), kane.Gear("a", "b", -2)),
        (axles(revolute), kane.Belt("a", "b", first_radius=0.2, second_radius=0.1)),
        (axles(prismatic), kane.Rack("a", "b", radius=0.1)),
        (kane.load(two), kane.ConfigurationEquations("q1 + q2 = pi/2")),
        (kane.load(two), kane.MotionEquations("q2' = 2*q1'")),
        (kane.load(two), kane.Distance("ground", "lower", length=1.0, second_at=tip)),
        (kane.load(two), kane.PointOnCurve("ground", "lower", "y = x**2 - 1.5", second_at=tip)),
        (kane.load(two), kane.PointOnLine("ground", "lower", second_at=tip, axis="y", rows=("x",))),
        (kane.load(two), kane.PointOnPlane("ground", "lower", second_at=tip, normal="y", height=-1)),
        (kane.load(two), kane.PointVelocity("lower", (1, 0, 0), at=tip)),
        (kane.load(two), kane.Loop("revolute", "ground", "lower", first_at=(1, 0, 0), second_at=tip, rows=("x", "y"))),
        (ball(), kane.KnifeEdge("ball")),
        (ball(), kane.Rolling("ball", radius=0.3)),
        (ball(), kane.RollingSphere("ball", radius=0.3)),
        (ball(), kane.RollingEllipsoid("ball", semi_axes=(0.3, 0.2, 0.2))),
        (ball(), kane.RollingOnSphere("ball", radius=0.1, on_radius=2.0)),
    ]
    found: dict[str, kane.Model] = {}
    for m, record in cases:
        m.constrain("tie", record)
        found[type(record).__name__] = m
    return found


def changing() -> kane.Model:
    """Every record of what comes and goes, a contact, and a constraint under conditions."""
    m = kane.load("double-pendulum")
    records = [
        kane.HardStop("q2", lower=-1.0, upper="1 + t", restitution=0.5),
        kane.Backlash("q2 - q1", play=0.1),
        kane.Ratchet("u1 - u2"),
        kane.Latch("q1 - 1"),
        kane.Friction("u1", bound=2.0),
        kane.Brake("elbow", bound=0.5, static=1.2),
        kane.Clutch("shoulder", "elbow", bound=3.0),
        kane.Rope("ground", "lower", length=1.5, second_at=(0, -1, 0)),
    ]
    for record in records:
        m.constrain(type(record).__name__, record)
    (lock,) = m.constrain("lock", kane.ConfigurationEquations("q2 = 0"), when="t - 1", until="abs(lock) - 5")
    (floor,) = m.contact("floor", "lower", "ground", shape={"point": (0, -1, 0)}, at=(0, -3, 0), friction=0.3)
    print(lock.law.held, floor.row_names(), list(m.changing))
    brake = kane.load("pendulum")
    brake.constrain("shoe", kane.Brake("pivot", bound=2.0))
    print(brake.modes())
    return m


def drive() -> None:
    """A vehicle, and what the ground does to it."""
    m = kane.Model("cart", gravity=(0, 0, -9.81))
    m.body("base", mass=20.0, inertia=ROUND)
    wheels = {
        "left": kane.RoadWheel(at=(0, 0.3, 0), radius=0.1, mass=1.0),
        "right": kane.RoadWheel(at=(0, -0.3, 0), radius=0.1, mass=1.0),
        "nose": kane.RoadWheel(at=(0.4, 0, 0), radius=0.1, ball=True),
    }
    m.vehicle("base", wheels, friction=0.6)
    car = kane.Model("car", gravity=(0, 0, -9.81))
    car.body("chassis", mass=900.0, inertia=ROUND)
    layout = kane.Drive("ackermann", wheel_radius=0.3, track_width=1.5, wheelbase=2.6, wheel_mass=15.0)
    car.vehicle(
        "chassis", drive=layout, steering_limit="35*deg", friction=0.9, steering_inertia=0.5, contact="unilateral"
    )
    run = m.simulate(1, control={"left": 1.0})
    ground, tip, mount = run.ground(), run.tipover(), run.interaction("left")
    print(ground.normal, ground.margin, ground.sums, tip.alpha, tip.crossings, mount.force, run.ground_crossings)
    safety: kane.SafetyFilter = m.safety_filter()
    told = safety(*m.initial_state, [0.0] * len(m.speeds))
    print(safety.wheels, told.margin.shape, len(safety.to_c()[1]))
    form: kane.ClosedForm = m.closed_form(inputs=m.speeds[-2:])
    print(form.speeds, form.reduce(m.initial_state[0], [0.0] * len(form.speeds)).M.shape, form.count("S")["mul"])


def ask(m: kane.Model) -> None:
    """What a model answers at states."""
    n = len(m.speeds)
    q, u = m.initial_state
    tau, udot = np.zeros(n), np.zeros(n)
    assert m.inverse_dynamics(q, u, udot).shape == m.forward_dynamics(q, u, tau).shape == (n,)
    assert m.mass_matrix(q).shape == (n, n)
    assert m.bias(q, u).shape == m.qdot(q, u).shape == (n,)
    energy: kane.Energy = m.energy(q, u, parameters={"g": 1.62})
    momentum: kane.Momentum = m.momentum(q, u, about="center")
    print(m.name, energy.kinetic, energy.potential, momentum.linear, momentum.angular, m.mass, m.gravity)
    print(m.inertia(q).shape, m.mass_center(q), m.poses(q).shape, m.at("bob").jacobian(q).shape)
    print(m.regressor(q, u, udot).shape, m.check().passed)
    listed = (
        m.parameters,
        m.bodies,
        m.joints,
        m.loads,
        m.controls,
        m.constraints,
        m.mechanism.frames,
        m.mechanism.points,
    )
    print([list(names) for names in listed], m.row_names, m.mechanism.about)


def analyse() -> None:
    """Motions, constraints, linearizations, equations."""
    m = kane.load("double-pendulum", free=["g"])
    m.keep_free("all")
    m.set_parameters(L1="2*L1")
    run: kane.Trajectory = m.simulate(0.2, q={"q1": "30*deg"}, rtol=1e-9)
    many: kane.Ensemble = m.ensemble(0.2, n=8, seed=1, q={"q1": "normal(0.5, 0.1)"}, events={"down": "q1"})
    print(many, many.success, many.share("down"), many.numbers["q1"], many.member(3).outcome)
    assert run.outcome.success and run.check().passed
    print(m.equilibrium([0.1, 0.1]).q, m.trim([0.1, 0.1], [0, 0], hold=m.speeds).converged)
    print(m.linearize([0, 0], [0, 0]).eigenvalues, m.base_parameters().names)
    states = np.random.default_rng(1).normal(size=(3, 20, 6))
    arm = kane.load("ur5")
    found: kane.Identification = kane.identify(
        arm, states[0], states[1], states[2], arm.inverse_dynamics(states[0], states[1], states[2])
    )
    print(found.values, found.deviation, found.noise, found.parameters, found.model.name)
    equations: kane.Equations = m.equations()
    print(equations.count("forward_dynamics"), len(equations.to_c()[1]))
    bar = kane.load("four-bar")
    q, u = bar.project()
    udot = bar.forward_dynamics(q, u, np.zeros(3))
    print(bar.reactions(q, u)["pin"].force, run.reactions()["elbow"].moment.shape)
    print(bar.freedom().degrees, bar.constraint_rows(q, u).phi, bar.drive_efforts(q, u, udot, bar.speeds[:1]))
    told: kane.Explanation = bar.explain(beside=None)
    choices: kane.SpeedSuggestions = m.suggest_speeds(tries=5, apply=True)
    print(told.equations, [t.source for t in told.active_forces], len(told.to_latex()), choices.best.definitions)
    arm = kane.Model("arm")
    arm.dh("standard", {name: {"a": 0.4, "alpha": 0, "d": 0, "theta": 0} for name in "12"})
    free = kane.load("free-body")
    print(free.external_loads(*free.initial_state).force, kane.Model.of(load_mechanism("pendulum")).coordinates)


def from_script() -> kane.Model:
    """A model of a SymPy script; SymPy has no types."""
    mechanics: Any = me
    (q, u), frame, point = mechanics.dynamicsymbols("q u"), mechanics.ReferenceFrame("N"), mechanics.Point("P")
    point.set_vel(frame, u * frame.x)
    method = mechanics.KanesMethod(frame, [q], [u], [q.diff() - u])
    method.kanes_equations([mechanics.Particle("ball", point, 2)], [(point, -8 * q * frame.x)])
    return kane.from_sympy(method)


def refuse() -> list[str]:
    """Errors by their types."""
    found: list[str] = []
    cart = kane.load("pendulum")
    cart.load("coil", kane.Spring("ground", "bob", first_at=(0, -1, 0), second_at=(0, -1, 0), stiffness=1.0, rest=1.0))
    for question in (
        lambda: kane.load("pendulm"),
        lambda: cart.mass_matrix([0, 0]),
        lambda: cart.forward_dynamics([0], [0], [0]),
        lambda: cart.save("cart.txt"),
    ):
        try:
            question()
        except (kane.ModelError, kane.InputError, kane.SingularError, kane.WritingError) as error:
            assert isinstance(error, kane.KaneError)
            found.append(str(error))
    return found


def main(folder: Path) -> None:
    """Everything, with files in `folder`."""
    print(len(kane.models()), kane.models()["pendulum"])
    m = describe()
    m.point("far", "O", m.mechanism.N.vector(0, 0, 100))
    add_loads(m)
    ask(m)
    m.save(folder / "cart.yaml")
    assert kane.load(folder / "cart.yaml").coordinates == m.coordinates
    print(kane.load("ur5").to_urdf(folder / "ur5.urdf")[:20])
    assert all(model.freedom().degrees >= 0 for model in constraints().values())
    assert not changing().constraints
    drive()
    analyse()
    mesh = folder / "corner.obj"
    mesh.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", encoding="utf-8")
    print(kane.convex_hull(mesh, vertices=8, scale=1e-3).shape)
    print(from_script().speeds)
    print(kane.load("pendulum").page(folder / "pendulum.html").name)
    assert len(refuse()) == 4


if __name__ == "__main__":
    main(Path.cwd())
