"""Random sequences of modes: small mechanisms with contacts, stops, friction, ratchets and switched constraints.

Nothing drives them but gravity, and nothing that holds moves, so that by the laws of mechanics the energy never rises.
What holds after a transition is read from its mode and judged by rows of the description in which all constraints
hold, that is without the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import kane
from kane.errors import ModelError
from long.block import Disagreement
from long.tries import draws

Array = NDArray[np.float64]
HELD = 1e-9  # m, rad and their rates, after every transition
RISE = 1e-8  # of the energy, relative to its size
STEPS = 200_000  # attempted steps of one motion: far more than any needs that does not hang
DURATION = 1.5  # s
MANY = 5
GOOD = ("end", "mode")
"""Outcomes that are promised: the end, or that no mode is consistent, with the reason."""


def random_model(rng: np.random.Generator) -> kane.Model:
    """One to three bodies in a tree, with one to five constraints that come and go."""
    m = kane.Model(gravity=(0, 0, -9.81))
    parent = "ground"
    for k in range(int(rng.integers(1, 4))):
        name = f"b{k}"
        size = rng.uniform(0.1, 0.4)
        mass = rng.uniform(0.5, 3.0)
        inertia: dict[str, Any] = dict.fromkeys(("xx", "yy", "zz"), 0.4 * mass * size**2)
        m.body(name, mass=mass, inertia=inertia, center=tuple(rng.uniform(-0.1, 0.1, 3).tolist()))
        add_joint(m, rng, name, parent)
        if rng.random() < 0.4:
            add_shape(m, rng, name, size)
        parent = name if rng.random() < 0.5 else "ground"
    for k in range(int(rng.integers(1, 4))):
        ADD[int(rng.integers(len(ADD)))](m, rng, f"c{k}")
    return m


def add_joint(m: kane.Model, rng: np.random.Generator, name: str, parent: str) -> None:
    kind = str(rng.choice(["revolute", "prismatic", *(["planar", "free"] if parent == "ground" else [])]))
    at = tuple(rng.uniform(-0.3, 0.3, 3).tolist())
    options: dict[str, dict[str, Any]] = {
        "revolute": {"axis": "y", "at": at},
        "prismatic": {"axis": str(rng.choice(["x", "z"])), "at": at},
        "planar": {"normal": "y"},
        "free": {},
    }
    m.joint(f"j {name}", kind, parent, name, **options[kind])


def add_shape(m: kane.Model, rng: np.random.Generator, name: str, size: float) -> None:
    """A contact of a point or a ball with a floor that may slope."""
    slope = rng.uniform(-0.4, 0.4)
    shape = {"sphere": size} if rng.random() < 0.5 else {"point": tuple((size * rng.normal(size=3)).tolist())}
    friction = float(rng.choice([0.0, rng.uniform(0.1, 1.2)]))
    given: dict[str, Any] = {"restitution": float(rng.choice([0.0, rng.uniform(0.1, 0.9)])), "friction": friction}
    if friction and rng.random() < 0.3:
        given["static"] = 1.3 * friction
    plane: dict[str, Any] = {"normal": (np.sin(slope), 0, np.cos(slope)), "at": (0, 0, -2)}
    m.contact(f"on {name}", name, "ground", shape=shape, **plane, **given)


def add_stop(m: kane.Model, rng: np.random.Generator, name: str) -> None:
    lower, restitution = -rng.uniform(0.2, 1), rng.uniform(0, 0.9)
    m.constrain(name, kane.HardStop(some(m.coordinates, rng), lower=lower, restitution=restitution))


def add_friction(m: kane.Model, rng: np.random.Generator, name: str) -> None:
    m.constrain(name, kane.Friction(some(m.speeds, rng), bound=rng.uniform(0.2, 8.0)))


def add_ratchet(m: kane.Model, rng: np.random.Generator, name: str) -> None:
    m.constrain(name, kane.Ratchet(some(m.speeds, rng)))


def add_switched(m: kane.Model, rng: np.random.Generator, name: str) -> None:
    on = rng.uniform(0.1, 0.7)
    record = kane.MotionEquations(some(m.speeds, rng))
    m.constrain(name, record, when=f"t - {on}", until=f"t - {on + rng.uniform(0.1, 0.5)}")


ADD = (add_stop, add_friction, add_ratchet, add_switched)


def some(names: tuple[str, ...], rng: np.random.Generator) -> str:
    """One of the names that are not those of a quaternion."""
    plain = [name for name in names if "_q" not in name[1:]] or list(names)
    return str(rng.choice(plain))


def search(number: int) -> str:
    """One random mechanism from a random start; its outcome in a few words."""
    rng = draws("sequences", number)
    try:
        m = random_model(rng)
    except ModelError:  # a contact along which nothing can move
        return "refused"
    u = rng.normal(size=len(m.speeds))
    run = m.simulate(DURATION, u=u, max_steps=STEPS)
    if run.outcome.reason not in GOOD:
        raise Disagreement(f"{run.outcome}")
    judge_modes(m, run)
    judge_energy(m, run)
    count = len(run.transitions) - 1
    return f"{run.outcome.reason}, {count if count < MANY else f'{MANY} and more'} transitions"


def judge_modes(m: kane.Model, run: kane.Trajectory) -> None:
    """What a mode holds is held where it begins."""
    whole = kane.Model.of(m.mechanism.all_rows_held())
    for transition in run.transitions:
        row = int(np.searchsorted(run.t, transition.t, side="right")) - 1
        if not transition.mode or abs(run.t[row] - transition.t) > 1e-12:
            continue
        if [x.t for x in run.transitions].count(transition.t) > 1:
            continue  # the state is that after the last transition of several at one time
        rows = whole.constraint_rows(run.q[row], run.u[row], t=transition.t)
        at = len(m.row_names)
        for name, c in m.mechanism.changing.items():
            state = transition.mode[name]
            held = held_rows(c, state)
            off = np.abs(rows.rate[at : at + len(c.rows)][held])
            gap = np.abs(rows.phi[at : at + 1]) if c.type == "contact" and state != "open" else np.zeros(1)
            if off.size and max(float(off.max()), float(gap.max())) > HELD:
                raise Disagreement(f"after {transition}: '{name}' {state}, rates {off}, gap {gap}")
            at += len(c.rows)


def held_rows(c: Any, state: str) -> list[int]:
    """Rows whose rates are zero in a state of a changing constraint."""
    if state == "open" or (c.type == "friction" and state == "slips"):
        return []
    if c.type == "contact" and (state == "slips" or c.law.static.is_zero):
        return [0]
    return list(range(len(c.rows)))


def judge_energy(m: kane.Model, run: kane.Trajectory) -> None:
    """The energy never rises."""
    kinetic, potential = m.energy(run.q, run.u)
    total = np.asarray(kinetic) + np.asarray(potential)
    size = max(1.0, float(np.abs(np.asarray(kinetic)).max()), float(np.ptp(potential)))
    gained = float(np.max(total - np.minimum.accumulate(total)))
    if gained > RISE * size:
        at = run.t[int(np.argmax(total - np.minimum.accumulate(total)))]
        raise Disagreement(f"the energy rises by {gained:.3g} of {size:.3g} J up to t = {at:.6g} s")
