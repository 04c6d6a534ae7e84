"""Odd arguments to public functions: an answer, or an error of ours; never another exception."""

from __future__ import annotations

import contextlib
import inspect
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


def described() -> kane.Model:
    """A model with something of everything that others can name."""
    model = kane.Model("m", gravity=[0, 0, -9.81])
    model.parameter("L", 1.0)
    model.parameter("k", 2.0, free=True)
    for name in "ab":
        model.body(name, mass=1.0, center=[0.1, 0, 0], inertia={"xx": 1, "yy": 1, "zz": 1})
    model.joint("j", "revolute", "ground", "a", axis="x")
    model.joint("p", "prismatic", "a", "b", axis="z")
    return model


def loose() -> kane.Model:
    """The same with a body that is not attached yet."""
    model = described()
    model.body("c", mass=1.0)
    return model


Q = [0.1, 0.2]
ZERO = [0.0, 0.0]
VALID: dict[str, tuple[Any, ...]] = {
    "parameter": ("x", 1.0),
    "body": ("new",),
    "particle": ("new", 1.0),
    "joint": ("jj", "revolute", "ground", "c"),
    "dh": ("standard", {}),
    "reaction_wheel": ("w", "a", "x", 0.1),
    "slosh": ("s", "a", 1.0, 0.5),
    "rotor": ("r", "j", 0.1),
    "coordinate": ("z",),
    "frame": ("F", "a"),
    "point": ("P", "a", None),
    "attach": ("c", "N", "O"),
    "load": ("l", kane.Effort("j", 1.0)),
    "constrain": ("cc", kane.Distance("a", "ground", length=1.0)),
    "control": ("law", {}),
    "limit": ("q_j",),
    "set_speeds": ({},),
    "order_coordinates": ([],),
    "set_gravity": ([0, 0, 1],),
    "set_initial": ({},),
    "set_parameters": ({},),
    "vehicle": ("a", {"w": {"at": (0, 0, 0), "radius": 0.1}}),
    "inverse_dynamics": (Q, ZERO, ZERO),
    "forward_dynamics": (Q, ZERO, ZERO),
    "regressor": (Q, ZERO, ZERO),
    "reactions": (Q, ZERO, ZERO),
    "drive_efforts": (Q, ZERO, ZERO, ["u_j"]),
    **dict.fromkeys(("bias", "qdot", "energy", "momentum", "external_loads", "constraint_rows", "project"), (Q, ZERO)),
    **dict.fromkeys(("mass_matrix", "inertia", "mass_center", "poses", "freedom"), (Q,)),
    "at": ("a",),
    "simulate": ((0, 0.01),),
}
"""Arguments that every public method of a model takes."""

DESCRIBING = (
    "parameter", "body", "particle", "joint", "dh", "vehicle", "reaction_wheel", "slosh", "rotor", "coordinate",
    "frame", "point", "attach", "load", "constrain", "control", "limit", "set_speeds", "order_coordinates",
    "set_gravity", "set_initial", "keep_free", "set_parameters",
)  # fmt: skip
OPTIONS = {
    "simulate": ("odd", "max_step", "first_step", "max_steps", "chunk"),
    "joint": ("odd", "axis", "pitch", "sequence", "normal", "velocity"),
    "frame": ("odd", "axis", "angle", "euler", "quaternion"),
    "particle": ("odd", "center"),
    "set_parameters": ("odd", "L", "k"),
}


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
    "Touch, control": lambda m, x, y: _touch(m, control=x),
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
OWNERS: dict[str, Callable[[], Any]] = {
    "Model": lambda: loose(),
    "Trajectory": lambda: _motion(),
    "Ensemble": lambda: _ensemble(),
    "Equations": lambda: asked_model().equations(),
    "Explanation": lambda: _explanation(),
    "ClosedForm": lambda: _closed_form(),
    "SafetyFilter": lambda: _vehicle().safety_filter(),
}
"""Public class of `kane` → one of it."""

NEEDED: dict[str, dict[str, Any]] = {
    "Trajectory.animate": {"path": "a.gif"},
    "Trajectory.evaluate": {"expression": "q"},
    "Trajectory.interaction": {"mount": "j"},
    "Trajectory.load": {"path": "a.npz"},
    "Trajectory.page": {"path": "a.html"},
    "Trajectory.resample": {"times": 3},
    "Trajectory.save": {"path": "a.npz"},
    "Ensemble.member": {"index": 0},
    "Ensemble.plot": {"path": "a.png"},
    "Ensemble.share": {"event": "e"},
    "Ensemble.share_interval": {"event": "e"},
    "Ensemble.sensitivity": {"result": "q"},
    "Ensemble.sobol": {"result": "q", "n": 2},
    "Equations.control": {"name": "law"},
    "Equations.partial_velocities": {"body": "a"},
    "Equations.path": {"body": "a"},
    "ClosedForm.reduce": {"q": [0.1], "z": [0.0]},
    "convex_hull": {"mesh": "a.stl"},
    "from_sympy": {"method": None},
    "identify": {"model": None, "q": [[0.1]] * 3, "u": [[0.2]] * 3, "udot": [[0.3]] * 3, "tau": [[0.4]] * 3},
    "load": {"source": "pendulum"},
    "Model.contact": {"name": "c1", "first": "a", "second": "ground"},
    "Model.ensemble": {"t": 0.01, "n": 2},
    "Model.page": {"path": "a.html"},
    "Model.save": {"path": "a.yaml"},
    "Model.check": {"samples": 1},
    "Model.suggest_speeds": {"tries": 1},
}
"""Arguments that a public function needs; those of methods of a model are in `VALID`."""

ELSEWHERE = {
    "Model.of": "takes what the package makes",
    "Trajectory.view": "opens a window and waits",
    "Ensemble.again": "takes what the package makes",
    **dict.fromkeys(
        (
            "Equations.control_efforts",
            "Equations.ground",
            "Equations.groups",
            "Equations.lower_outputs",
            "Equations.lower_with_time",
            "Equations.partial_constraints",
        ),
        "takes expressions and names of the package's own, for programs that it makes of them",
    ),
}
"""Public names that are not given odd arguments → why not."""


def _entries() -> Iterator[tuple[str, Call]]:
    """One entry for each argument of each public function and method: it is odd, the others are usual."""
    named: dict[str, Callable[[], Any]] = {
        n: (lambda n=n: getattr(kane, n)) for n in ("convex_hull", "from_sympy", "identify", "load")
    }
    for owner, of in OWNERS.items():
        methods = inspect.getmembers(getattr(kane, owner), callable)
        for method in [n for n, _ in methods if not n.startswith("_") and f"{owner}.{n}" not in ELSEWHERE]:
            named[f"{owner}.{method}"] = lambda of=of, method=method: getattr(of(), method)
    for name, function in named.items():
        owner, _, method = name.rpartition(".")
        signature = inspect.signature(getattr(getattr(kane, owner) if owner else kane, method))
        parameters = [p for p in signature.parameters.values() if p.name != "self"]
        usual = NEEDED.get(name) or dict(zip((p.name for p in parameters), VALID.get(method, ()), strict=False))
        for p in parameters:
            if p.kind is p.VAR_POSITIONAL:
                yield f"{name}, {p.name}", lambda m, x, y, f=function: f()(x, y)
                continue
            for key in OPTIONS.get(method, ("odd",)) if p.kind is p.VAR_KEYWORD else (p.name,):
                yield f"{name}, {key}", _entry(function, usual, key)


def _entry(function: Callable[[], Any], usual: dict[str, Any], key: str) -> Call:
    def call(model: kane.Model, x: Any, y: Any) -> Any:
        if _endless(key, x):
            return None
        given = {**usual, key: x}
        if "model" in usual and key != "model":
            given["model"] = model
        return function()(**given)

    return call


def _endless(key: str, value: Any) -> bool:
    """Whether this would be allowed and take hours."""
    return (
        (key == "t" and _long(value)) or ("step" in key and _tiny(value)) or (key == "control_period" and _tiny(value))
    )


PUBLIC = dict(_entries())
ENTRIES = {**ASKED, **DESCRIBED, **EXPORTED, **TOUCHED, **PUBLIC}


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
def _ensemble() -> kane.Ensemble:
    model = asked_model()
    return model.ensemble(0.01, n=3, q={"q": [0.1, 0.2, 0.3]}, watch={"q": "q"}, events={"e": "q"})


@cache
def _explanation() -> kane.Explanation:
    return asked_model().explain(beside=None)


@cache
def _closed_form() -> kane.ClosedForm:
    return asked_model().closed_form()


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
