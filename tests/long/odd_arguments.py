"""Odd arguments to public functions: an answer, or an error of ours; never another exception."""

from __future__ import annotations

import contextlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import kane
from kane.errors import KaneError
from kane.realtime import (
    Coupler,
    GamepadLink,
    Human,
    Mailbox,
    Replay,
    SimulatedDevice,
    Touch,
    UdpLink,
    explicit_mass,
    stiffness_limit,
)
from long.tries import draws


class Unwilling:
    """An object whose every use raises."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array")

    def __float__(self) -> float:
        raise TypeError("no number")

    def __repr__(self) -> str:
        return "<unwilling>"


ODD: tuple[Any, ...] = (
    None,
    True,
    "",
    "q",
    "nan",
    "é" * 300,
    "\0",
    "a\nb",
    b"q",
    0,
    -1,
    1.5,
    10**400,
    float("nan"),
    float("inf"),
    -float("inf"),
    5e-324,
    1e308,
    1j,
    [],
    [1.0],
    [[1.0]],
    [1.0, "x"],
    [None],
    [[1.0], [1.0, 2.0]],
    (),
    {},
    {"q": 1.0},
    {"q": "x"},
    {1: 2},
    {"nobody": 0.0},
    set(),
    object(),
    Unwilling(),
    len,
    lambda *_: "x",
    np.zeros(0),
    np.zeros((2, 3, 4)),
    np.array(["a"]),
    np.array([1j]),
    np.array([np.nan]),
    np.array(1.0),
    np.zeros(1, dtype=object),
    np.datetime64("2020-01-01"),
    range(3),
    Path("x"),
    slice(None),
    type,
)


def _built() -> kane.Model:
    """A model of one's own, described anew for each try, since it is changed."""
    model = kane.Model("odd", gravity=[0, 0, -9.81])
    model.parameter("m", 1.0, free=True)
    model.body("a", mass="m", center=[0.1, 0, 0], inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1})
    model.joint("j", "revolute", "ground", "a", axis="y", coordinates=["q"], speeds=["u"])
    return model


Call = Callable[[kane.Model, Any, Any], Any]
ASKED: dict[str, Call] = {
    "inverse_dynamics": lambda m, x, y: m.inverse_dynamics(x, y, [0.0]),
    "inverse_dynamics, t": lambda m, x, y: m.inverse_dynamics([0.1], [0.0], y, t=x),
    "forward_dynamics": lambda m, x, y: m.forward_dynamics([0.1], x, y),
    "forward_dynamics, parameters": lambda m, x, y: m.forward_dynamics([0.1], [0.0], [0.0], parameters=x),
    "mass_matrix": lambda m, x, y: m.mass_matrix(x, t=0.0),
    "energy": lambda m, x, y: m.energy(x, [0.0]),
    "momentum": lambda m, x, y: m.momentum([0.1], [0.0], about=x),
    "inertia": lambda m, x, y: m.inertia([0.1], about=x),
    "poses": lambda m, x, y: m.poses(x),
    "simulate, t": lambda m, x, y: m.simulate(x) if not _long(x) else None,
    "simulate, q": lambda m, x, y: m.simulate(0.01, q=x, u=y),
    "simulate, tau": lambda m, x, y: m.simulate(0.01, tau=x),
    "simulate, method": lambda m, x, y: m.simulate(0.01, method=x),
    "simulate, tolerances": lambda m, x, y: m.simulate(0.01, rtol=x, atol=y),
    "simulate, step": lambda m, x, y: m.simulate(0.01, method="rk4", step=x) if not _tiny(x) else None,
    "simulate, events": lambda m, x, y: m.simulate(0.01, events=x),
    "simulate, an event": lambda m, x, y: m.simulate(0.01, events={"e": x}),
    "simulate, control": lambda m, x, y: m.simulate(0.01, control=x, control_period=y),
    "simulate, drift": lambda m, x, y: m.simulate(0.01, drift=x, embed=y),
    "simulate, unknown": lambda m, x, y: m.simulate(0.01, unknown=x),
    "linearize": lambda m, x, y: m.linearize(x, y),
    "at": lambda m, x, y: m.at(x, y),
    "equations": lambda m, x, y: m.equations(free=x),
    "program": lambda m, x, y: m.equations().program(x),
    "to_c": lambda m, x, y: m.equations().to_c(x),
    "check": lambda m, x, y: m.check(samples=x, seed=y) if not isinstance(x, int) or x < 10 else None,
    "load": lambda m, x, y: kane.load(x),
    "save": lambda m, x, y: m.save(x),
}
DESCRIBED: dict[str, Call] = {
    "Model": lambda m, x, y: kane.Model(x, gravity=y),
    "parameter": lambda m, x, y: m.parameter(x, y),
    "body": lambda m, x, y: m.body(x, mass=y),
    "body, center": lambda m, x, y: m.body("b", mass=1, center=x, inertia=y),
    "joint": lambda m, x, y: m.joint(x, y, "ground", "a"),
    "joint, bodies": lambda m, x, y: m.joint("k", "revolute", x, y, axis="z"),
    "joint, axis": lambda m, x, y: m.joint("k", "revolute", "a", "a", axis=x, at=y),
    "set_parameters": lambda m, x, y: m.set_parameters(m=x),
    "set_initial": lambda m, x, y: m.set_initial(x),
    "set_speeds": lambda m, x, y: m.set_speeds(x),
    "keep_free": lambda m, x, y: m.keep_free(x),
    "load a record": lambda m, x, y: m.load(x, y),
    "Force": lambda m, x, y: m.load("f", kane.Force(x, y)),
    "Spring": lambda m, x, y: m.load("f", kane.Spring("a", "ground", stiffness=x, first_at=y)),
    "constrain": lambda m, x, y: m.constrain(x, y),
    "Loop": lambda m, x, y: m.constrain("c", kane.Loop("spherical", "a", "ground", first_at=x, second_at=y)),
    "Distance": lambda m, x, y: m.constrain("c", kane.Distance("a", "ground", length=x)),
}
EXPORTED: dict[str, Call] = {
    "page": lambda m, x, y: m.page(x),
    "page, start": lambda m, x, y: m.page("a.html", q=x, u=y) if not _usual(x, y) else None,
    "page, step": lambda m, x, y: m.page("a.html", step=x, parameters=y) if not _usual(x, y) else None,
    "page, control": lambda m, x, y: m.page("a.html", control=x, tau=y) if not _usual(x, y) else None,
    "page of a motion": lambda m, x, y: _motion().page(x),
    "plot of a motion": lambda m, x, y: _motion().plot(x) if x is not None else None,
    "closed_form": lambda m, x, y: m.closed_form(speeds=x),
    "closed_form, inputs": lambda m, x, y: m.closed_form(inputs=x),
    "closed_form, state": lambda m, x, y: m.closed_form()(x, y),
    "closed_form, z": lambda m, x, y: m.closed_form().reduce([0.1], x, t=y),
    "closed_form, names": lambda m, x, y: m.closed_form().program(x),
    "closed_form, to_c": lambda m, x, y: m.closed_form().to_c("M", name=x),
    "closed_form, to_latex": lambda m, x, y: m.closed_form().to_latex("M", inline=x, odd=y),
    "safety_filter": lambda m, x, y: _vehicle().safety_filter(x),
    "safety_filter, state": lambda m, x, y: _vehicle().safety_filter()(_vehicle().initial_state[0], x, y),
    "safety_filter, to_c": lambda m, x, y: _vehicle().safety_filter().to_c(x),
}
TOUCHED: dict[str, Call] = {
    "Touch": lambda m, x, y: Touch(x, y, ("q",)),
    "Touch, device": lambda m, x, y: _touch(m, device=x),
    "Touch, coupler": lambda m, x, y: _touch(m, coupler=x),
    "Touch, coupler of a mailbox": lambda m, x, y: _touch(m, device=Mailbox(3), coupler=x),
    "Touch, rate": lambda m, x, y: _touch(m, rate=x, steps=y),
    "Touch, start": lambda m, x, y: _touch(m, q=x, u=y),
    "Touch, stored": lambda m, x, y: _touch(m, stored=x, active=True),
    "Touch, run": lambda m, x, y: _touch(m).run(x) if not _long(x) else None,
    "Touch, hold": lambda m, x, y: _touch(m, device=Mailbox(3), coupler=None).hold(x, y, 10.0),
    "Touch, hold by": lambda m, x, y: _touch(m, device=Mailbox(3), coupler=None).hold("a", [0, 0, 0], x, y),
    "Coupler": lambda m, x, y: _touch(m, coupler=Coupler(x, y)),
    "Human": lambda m, x, y: _touch(m, device=SimulatedDevice(human=Human(x, y))),
    "SimulatedDevice": lambda m, x, y: _touch(m, device=SimulatedDevice(mass=x, delay=y)),
    "SimulatedDevice, start": lambda m, x, y: _touch(m, device=SimulatedDevice(start=x, force=y)),
    "Mailbox": lambda m, x, y: Mailbox(x, damping=y),
    "Mailbox, put": lambda m, x, y: Mailbox(1).put(x),
    "Replay": lambda m, x, y: Replay(x, y),
    "UdpLink": lambda m, x, y: UdpLink(x, 0, y).__enter__().__exit__(),
    "UdpLink, port": lambda m, x, y: UdpLink(Mailbox(1), x, y).__enter__().__exit__(),
    "GamepadLink": lambda m, x, y: GamepadLink(x, y),
    "GamepadLink, axes": lambda m, x, y: GamepadLink(Mailbox(1), x, y),
    "GamepadLink, path": lambda m, x, y: GamepadLink(Mailbox(1), (0,), 0.1, x),
    "stiffness_limit": lambda m, x, y: stiffness_limit(x, y),
    "explicit_mass": lambda m, x, y: explicit_mass(x, 0.0, y),
}
ENTRIES = {**ASKED, **DESCRIBED, **EXPORTED, **TOUCHED}


def _long(t: Any) -> bool:
    """Whether a duration is allowed and would take hours."""
    return isinstance(t, int | float) and t > 10


def _tiny(step: Any) -> bool:
    """Whether a step is allowed and would take years."""
    return isinstance(step, float) and 0.0 < step < 1e-6


def _usual(*values: Any) -> bool:
    """Whether a page would be written: it takes seconds."""
    return all(value is None for value in values)


def _touch(model: kane.Model, **options: Any) -> Touch:
    usual: dict[str, Any] = {"device": SimulatedDevice(mass=0.1, damping=2.0), "coupler": ("q",), "real_time": False}
    return Touch(model, **{**usual, **options})


@cache
def _motion() -> kane.Trajectory:
    return asked_model().simulate(0.01)


@cache
def _vehicle() -> kane.Model:
    return kane.load("tanner-mobile-manipulator")


@cache
def asked_model() -> kane.Model:
    return _built()


@contextlib.contextmanager
def elsewhere() -> Iterator[Path]:
    """A folder of its own for files that a try writes."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def search(number: int) -> str:
    """One call with one or two odd arguments."""
    rng = draws("arguments", number)
    name = list(ENTRIES)[number % len(ENTRIES)]
    x, y = (ODD[int(k)] for k in rng.integers(len(ODD), size=2))
    model = _built() if name in DESCRIBED else asked_model()
    with elsewhere(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            ENTRIES[name](model, x, y)
        except KaneError:
            return "refused"
        except Exception as error:
            error.add_note(f"{name} of {repr(x)[:80]} and {repr(y)[:80]}")
            raise
    return "taken"
