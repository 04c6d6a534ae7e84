"""The loop that keeps time: how stiff a wall may be, how well the clock is kept, whether friction holds."""

from __future__ import annotations

import numpy as np

import kane
from benchmarks.measure import Row, exactly
from kane.realtime import Coupler, Human, SimulatedDevice, Touch, stiffness_limit

RATE = 1000.0
SECONDS = 60.0
DAMPING = 0.4
"""N s/m, of the device whose limit is looked for."""


def _wall() -> kane.Model:
    m = kane.Model("wall")
    m.body("wall", mass=1e9)
    m.joint("slide", "prismatic", "ground", "wall", axis="x", coordinates=["x"], speeds=["v"])
    return m


def _wrist() -> kane.Model:
    """Three bodies about one point, led at the innermost to outermost axis."""
    m = kane.Model("wrist", gravity=(0, 0, -9.81))
    parent = "ground"
    for name, axis in (("roll", "z"), ("pitch", "y"), ("yaw", "x")):
        m.body(name, mass=0.5, center=(0, 0, 0.05), inertia={"xx": 2e-3, "yy": 2e-3, "zz": 1e-3})
        m.joint(name, "revolute", parent, name, axis=axis, coordinates=[f"q_{name}"])
        parent = name
    return m


def _grows(stiffness: float) -> bool:
    device = SimulatedDevice(mass=0.2, damping=DAMPING, start=(1e-3,))
    loop = Touch(_wall(), device, Coupler(("x",), stiffness), real_time=False, active=True)
    x = np.abs(loop.run(100.0).position[:, 0])
    quarter = len(x) // 4
    return bool(x[-quarter:].max() > x[quarter : 2 * quarter].max())


def stiffest_wall() -> list[Row]:
    """The largest stable stiffness by bisection, beside the bound of passivity."""
    limit = stiffness_limit(DAMPING, RATE)
    low, high = 0.5 * limit, 2.0 * limit
    while high - low > 1e-3 * limit:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _grows(middle) else (middle, high)
    off = 100.0 * abs(low / limit - 1.0)
    return [Row("touch: stiffest wall of a sampled device off the bound 2 b / T", exactly(off), "%", 1.0, "at most")]


def _sessions() -> dict[str, Touch]:
    """A cart that is pushed about, a wrist that is turned, a piano key that is struck again and again."""
    cart, key = kane.load("shopping-cart"), kane.load("piano-key")
    cart.set_parameters(mc=0.5)
    led = Human(("0.3*sin(t)", "0.1*sin(2*t)", "0.4*sin(1.5*t)"), mass=0.5, damping=10.0, stiffness=80.0)
    turned = Human(("0.8*sin(3*t)", "0.5*sin(2*t)", "0.6*sin(5*t)"), mass=1e-3, damping=0.02, stiffness=2.0)
    struck = Human("0.03 - 0.03*sin(12*t)", mass=1e-3, damping=0.05, stiffness=5.0)
    return {
        "shopping-cart": Touch(cart, SimulatedDevice(0.5, 5.0, human=led), ("x", "y", "heading"), u={"u1": 0.0}),
        "wrist": Touch(_wrist(), SimulatedDevice(1e-3, 0.02, human=turned), ("q_roll", "q_pitch", "q_yaw")),
        "piano-key": Touch(key, SimulatedDevice(1e-3, 0.02, human=struck), (key.coordinates[0],)),
    }


def clock() -> list[Row]:
    """A minute of each at a kilohertz: ticks that were late, how long they took, energy that the hand got too much."""
    rows: list[Row] = []
    for name, loop in _sessions().items():
        session = loop.run(SECONDS)
        what = f"touch: {name}, 60 s at 1 kHz, {len(session.transitions)} transitions, {session.timing.scheduling}"
        changed = np.isin(np.round(session.t * RATE), np.round([x.t * RATE for x in session.transitions]))
        micros = 1e6 * session.computing
        given = float(session.potential[0] - session.potential.min())  # what weight and springs gave, at most
        least = session.least_observed + given
        rows += [
            Row(f"{what}: late by more than 1 ms", exactly(session.timing.late), "ticks", 0.0, "at most"),
            Row(f"{what}: computation, p99", exactly(np.percentile(micros, 99)), "µs", 100.0, "at most"),
            Row(f"{what}: least energy of the observer", exactly(least), "J", -1e-6, "at least"),
        ]
        if changed.any():
            worst = float(micros[changed].max())
            rows.append(Row(f"{what}: longest tick with a transition", exactly(worst), "µs"))
    return rows


def creep() -> list[Row]:
    """How fast a caster that sticks by dry friction creeps while the cart is pushed."""
    m = kane.load("shopping-cart")
    m.set_parameters(mc=5.0)
    hand = Human(("0.02*sin(2*t)", "0", "0"), mass=0.5, damping=10.0, stiffness=50.0)
    device = SimulatedDevice(mass=0.5, damping=5.0, human=hand)
    loop = Touch(m, device, ("x", "y", "heading"), q={"turn": 0.3}, u={"u1": 0.0}, real_time=False)
    turn = loop.run(10.0).q[:, m.coordinates.index("turn")]
    return [Row("touch: creep of a caster that sticks", exactly(float(np.ptp(turn)) / 10.0), "rad/s", 0.0, "at most")]
