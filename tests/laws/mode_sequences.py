"""Random small mechanisms whose constraints come and go, as hypothesis draws them: which bodies and which constraints
is drawn one by one, so that a failure shrinks to few of them; sizes and starts follow from a seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

import kane

Rng = np.random.Generator
BODIES = ("pendulum", "slider", "planar", "free", "loop", "disc")
PARTS = ("floor", "floor", "stop", "friction", "ratchet", "switched", "latch", "rope", "gate")


@dataclass(frozen=True, slots=True)
class ModeSketch:
    """A mechanism: kinds of its bodies and of what comes and goes, and the seed of all numbers."""

    bodies: tuple[str, ...]
    parts: tuple[str, ...]
    seed: int


def sketches() -> st.SearchStrategy[ModeSketch]:
    """One to three bodies, or a loop or a rolling disc, with one to four constraints that come and go."""
    bodies = st.lists(st.sampled_from(BODIES), min_size=1, max_size=3).map(tuple)
    parts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map(tuple)
    return st.builds(ModeSketch, bodies, parts, st.integers(0, 2**32 - 1))


def build_sketch(sketch: ModeSketch) -> tuple[kane.Model, np.ndarray[Any, Any]]:
    """The model of a sketch, and speeds to start with: none where permanent constraints would have to allow them."""
    rng = np.random.default_rng(sketch.seed)
    m = kane.Model("sketch", gravity=(1.0, 0.5, -9.81))
    made: list[str] = []
    for k, kind in enumerate(sketch.bodies):
        made += MAKE_BODY[kind](m, rng, f"b{k}", made)
    for k, kind in enumerate(sketch.parts):
        ADD_PART[kind](m, rng, f"c{k}", made)
    u = np.zeros(len(m.speeds)) if m.constraints else rng.normal(size=len(m.speeds))
    return m, u


def _body(m: kane.Model, rng: Rng, name: str, middle: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> None:
    mass, size = rng.uniform(0.5, 3.0), rng.uniform(0.1, 0.4)
    inertia: dict[str, Any] = dict.fromkeys(("xx", "yy", "zz"), 0.4 * mass * size**2)
    m.body(name, mass=mass, inertia=inertia, center=middle)


def _pendulum(m: kane.Model, rng: Rng, name: str, made: list[str]) -> list[str]:
    _body(m, rng, name, (0.0, 0.0, -0.3))
    parent = made[-1] if made and rng.random() < 0.5 else "ground"
    m.joint(f"j {name}", "revolute", parent, name, axis="y", at=tuple(rng.uniform(-0.3, 0.3, 3).tolist()))
    return [name]


def _slider(m: kane.Model, rng: Rng, name: str, made: list[str]) -> list[str]:
    _body(m, rng, name)
    parent = made[-1] if made and rng.random() < 0.5 else "ground"
    m.joint(f"j {name}", "prismatic", parent, name, axis=str(rng.choice(["x", "z"])))
    return [name]


def _planar(m: kane.Model, rng: Rng, name: str, made: list[str]) -> list[str]:
    _body(m, rng, name, tuple(rng.uniform(-0.1, 0.1, 3).tolist()))
    m.joint(f"j {name}", "planar", "ground", name, normal="y")
    return [name]


def _free(m: kane.Model, rng: Rng, name: str, made: list[str]) -> list[str]:
    _body(m, rng, name, tuple(rng.uniform(-0.1, 0.1, 3).tolist()))
    m.joint(f"j {name}", "free", "ground", name, velocity=str(rng.choice(["body", "parent"])))
    return [name]


def _loop(m: kane.Model, rng: Rng, name: str, made: list[str]) -> list[str]:
    """Two pendulums whose ends a rod ties."""
    for side, at in (("l", 0.0), ("r", 0.5)):
        _body(m, rng, name + side, (0.0, 0.0, -0.2))
        m.joint(f"j {name}{side}", "revolute", "ground", name + side, axis="y", at=(at, 0, 0))
    ends: dict[str, Any] = {"first_at": (0, 0, -0.4), "second_at": (0, 0, -0.3)}
    m.constrain(f"tie {name}", kane.Distance(name + "l", name + "r", length=math.hypot(0.5, 0.1), **ends))
    return [name + "l", name + "r"]


def _disc(m: kane.Model, rng: Rng, name: str, made: list[str]) -> list[str]:
    """A ball that rolls down: the plane is level, gravity is not across it."""
    radius = rng.uniform(0.1, 0.4)
    _body(m, rng, name)
    m.joint(f"j {name}", "free", "ground", name, initial=[1, 0, 0, 0, 0, 0, radius])
    m.constrain(f"road {name}", kane.RollingSphere(name, radius=radius))
    return [name]


MAKE_BODY: dict[str, Callable[[kane.Model, Rng, str, list[str]], list[str]]] = dict(
    zip(BODIES, (_pendulum, _slider, _planar, _free, _loop, _disc), strict=True)
)


def _plain(names: tuple[str, ...], rng: Rng) -> str:
    """One of the names that are not those of a quaternion."""
    return str(
        rng.choice([n for n in names if "_q" not in n[1:] and not n.endswith(("_w", "_x", "_y", "_z"))] or names)
    )


def _contact(m: kane.Model, rng: Rng, name: str, made: list[str], **conditions: Any) -> None:
    slope, size = rng.uniform(-0.3, 0.3), rng.uniform(0.05, 0.3)
    shape = {"sphere": size} if rng.random() < 0.5 else {"point": tuple((size * rng.normal(size=3)).tolist())}
    friction = float(rng.choice([0.0, rng.uniform(0.1, 1.2)]))
    law = {"restitution": float(rng.choice([0.0, rng.uniform(0.1, 0.9)])), "friction": friction}
    plane: dict[str, Any] = {"normal": (math.sin(slope), 0, math.cos(slope)), "at": (0, 0, -1.5)}
    m.contact(name, str(rng.choice(made)), "ground", shape=shape, **plane, **law, **conditions)


def _gate(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    _contact(m, rng, name, made, until=f"t - {rng.uniform(0.3, 1.4)}")


def _stop(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    ends: dict[str, Any] = {"lower": -rng.uniform(0.3, 1), "upper": rng.uniform(0.3, 1)}
    m.constrain(name, kane.HardStop(_plain(m.coordinates, rng), restitution=rng.uniform(0, 0.9), **ends))


def _friction(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    m.constrain(name, kane.Friction(_plain(m.speeds, rng), bound=rng.uniform(0.2, 8.0), static=rng.choice([1.0, 1.3])))


def _ratchet(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    m.constrain(name, kane.Ratchet(_plain(m.speeds, rng)))


def _switched(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    on = rng.uniform(0.1, 0.7)
    record = kane.MotionEquations(_plain(m.speeds, rng))
    m.constrain(name, record, when=f"t - {on}", until=f"t - {on + rng.uniform(0.1, 0.5)}")


def _latch(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    record = kane.Latch(f"{_plain(m.coordinates, rng)} - {rng.uniform(0.1, 0.5)}")
    m.constrain(name, record, until=f"abs({name}) - {rng.uniform(1.0, 40.0)}")


def _rope(m: kane.Model, rng: Rng, name: str, made: list[str]) -> None:
    at = tuple(rng.uniform(-0.2, 0.2, 3).tolist())
    m.constrain(name, kane.Rope("ground", str(rng.choice(made)), second_at=at, length=rng.uniform(1.0, 2.0)))


ADD_PART: dict[str, Callable[[kane.Model, Rng, str, list[str]], None]] = {
    "floor": _contact,
    "stop": _stop,
    "friction": _friction,
    "ratchet": _ratchet,
    "switched": _switched,
    "latch": _latch,
    "rope": _rope,
    "gate": _gate,
}
