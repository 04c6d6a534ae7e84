"""The loop that keeps time: how stiff a wall may be, how well the clock is kept, whether friction holds."""

from __future__ import annotations

import numpy as np

import kane
from benchmarks.bare_clock import BareClock, bare_clock, watching_clocks
from benchmarks.browser_beside import page_beside
from benchmarks.measure import Row, exactly
from kane.realtime import Coupler, Human, Session, SimulatedDevice, Touch, stiffness_limit
from kane.realtime.compiled.ticks import FURTHEST_BEHIND

RATE = 1000.0
SECONDS = 60.0
REPEATED, REPEATS = 10.0, 5
"""s, and runs of the sessions whose ticks are compared."""

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


def _sessions(**options: bool) -> dict[str, Touch]:
    """A cart that is pushed about, a wrist that is turned, a piano key that is struck again and again."""
    cart, key = kane.load("shopping-cart"), kane.load("piano-key")
    cart.set_parameters(mc=0.5)
    led = Human(("0.3*sin(t)", "0.1*sin(2*t)", "0.4*sin(1.5*t)"), mass=0.5, damping=10.0, stiffness=80.0)
    turned = Human(("0.8*sin(3*t)", "0.5*sin(2*t)", "0.6*sin(5*t)"), mass=1e-3, damping=0.02, stiffness=2.0)
    struck = Human("0.03 - 0.03*sin(12*t)", mass=1e-3, damping=0.05, stiffness=5.0)
    return {
        "shopping-cart": Touch(
            cart, SimulatedDevice(0.5, 5.0, human=led), ("x", "y", "heading"), u={"u1": 0.0}, **options
        ),
        "wrist": Touch(_wrist(), SimulatedDevice(1e-3, 0.02, human=turned), ("q_roll", "q_pitch", "q_yaw"), **options),
        "piano-key": Touch(key, SimulatedDevice(1e-3, 0.02, human=struck), (key.coordinates[0],), **options),
    }


def _late_alone(session: Session, machine: BareClock) -> int:
    """Ticks that began more than a period late while a bare clock on the same core was not."""
    period = round(1e9 / RATE)
    late = np.round(1e9 * session.late).astype(np.int64)
    given_up = np.where(late > FURTHEST_BEHIND * period, late // period, 0)
    skipped = np.concatenate([[0], np.cumsum(given_up)[:-1]])
    due = session.timing.origin + period * (np.arange(len(late)) + skipped)
    behind = late > period
    return int(np.sum(~machine.away(due[behind], (due + late)[behind])))


def clock() -> list[Row]:
    """A minute of each at a kilohertz: ticks that were late, beside a bare clock on the same core, how long they took,
    and energy that the hand got too much."""
    rows: list[Row] = []
    for name, loop in _sessions().items():
        with page_beside(loop.model) as beside, bare_clock(SECONDS + 5.0) as machine:
            session = loop.run(SECONDS)
        changes = f"{len(session.transitions) - 1} transitions"
        what = f"touch: {name}, 60 s at 1 kHz, {beside}, {changes}, {session.timing.scheduling}"
        late, micros = session.timing.late, 1e6 * session.computing
        bare = machine.late_ticks(round(1e9 / RATE))
        rows += [
            Row(f"{what}: late by more than 1 ms", exactly(late), "ticks"),
            Row(f"{what}: a bare clock on the same core, late by more than 1 ms", exactly(bare), "ticks"),
            Row(f"{what}: time that the bare clock was kept waiting, in all", exactly(1e3 * machine.time_away), "ms"),
            Row(f"{what}: steal time of the core (/proc/stat)", exactly(1e3 * machine.stolen), "ms"),
            Row(
                f"{what}: late while the bare clock was not",
                exactly(_late_alone(session, machine)),
                "ticks",
                0.0,
                "at most",
            ),
            Row(f"{what}: computation, p99", exactly(np.percentile(micros, 99)), "µs", 100.0, "at most"),
            Row(f"{what}: least energy of the observer", exactly(session.least_observed), "J", -1e-6, "at least"),
        ]
    return rows


def machine_alone() -> list[Row]:
    """What the machine does to clocks that compute nothing: pinned, at the highest priority, watching the clock for the
    last fifth of a tick or for nearly all of it; and how often all cores were away at once."""
    rows: list[Row] = []
    period = round(1e9 / RATE)
    for watched in (0.2, 0.9):
        clocks = watching_clocks(SECONDS, period, round(watched * period))
        for core, clock in enumerate(clocks):
            what = f"touch: a clock alone on core {core}, which watches the last {watched:g} of a tick"
            rows += [
                Row(f"{what}: late by more than 1 ms", exactly(int(np.sum(clock.late > period))), "ticks"),
                Row(f"{what}: kept waiting, in all", exactly(1e3 * clock.time_away), "ms"),
                Row(f"{what}: steal time of the core (/proc/stat)", exactly(1e3 * clock.stolen), "ms"),
            ]
        everywhere = np.min([clock.late for clock in clocks], axis=0)
        what = f"touch: clocks alone, which watch the last {watched:g} of a tick, all late by more than 1 ms"
        rows.append(Row(what, exactly(int(np.sum(everywhere > period))), "ticks"))
    return rows


def look_ahead() -> list[Row]:
    """What ticks with transitions take from reading the device to its force, with and without looking ahead: the least
    of some equal runs, tick by tick, which leaves out what others do on the machine."""
    rows: list[Row] = []
    for name in ("shopping-cart", "piano-key"):
        longest: dict[bool, float] = {}
        for ahead in (False, True):
            runs = [_sessions(look_ahead=ahead)[name].run(REPEATED) for _ in range(REPEATS)]
            session, least = runs[0], np.min([1e6 * run.computing for run in runs], axis=0)
            changed = np.isin(np.round(session.t * RATE), np.round([x.t * RATE for x in session.transitions[1:]]))
            longest[ahead] = float(least[changed].max())
            words = f"touch: {name}, {'looking' if ahead else 'without looking'} ahead"
            rows += [
                Row(f"{words}, longest tick with a transition", exactly(longest[ahead]), "µs"),
                Row(f"{words}, longest tick without one", exactly(float(least[~changed].max())), "µs"),
                Row(f"{words}, median of all ticks", exactly(float(np.median(least))), "µs"),
            ]
            if ahead:
                share = 100.0 * session.timing.foreseen / session.timing.changes
                rows.append(Row(f"touch: {name}, ticks with transitions that were foreseen", exactly(share), "%"))
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
