"""`kane linearize`: eigenvalues and eigenmodes of the motion near a state."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ..analysis import Linearization
from ..api import Model
from ..api.run_values import find_coordinate
from ..errors import InputError
from . import FINE, UsageError
from .console import print_json, show
from .given import assignments, control_of, file_to_write, model_of, separate
from .motion import PICTURES
from .streams import say

ROUNDED = 1e-12
"""Size (rad, m, rad/s or m/s) of what rounding leaves of a coordinate or speed that is zero."""


def linearize(arguments: Namespace) -> int:
    """Print the eigenmodes about a state, or the matrices as JSON."""
    model = model_of(arguments)
    picture = file_to_write(arguments, "plot", PICTURES)
    given = _read_values(model, arguments.at)
    q: Any = {name: x for name, x in given.items() if name in model.mechanism.coordinate_records}
    u: Any = {name: x for name, x in given.items() if name in model.mechanism.speed_records}
    control = control_of(model, arguments.control)
    if arguments.equilibrium:
        if u:
            raise UsageError(f"--at {next(iter(u))}: in equilibrium all speeds are zero; name coordinates only")
        guess = {**dict(zip(model.coordinates, model.initial_state[0].tolist(), strict=True)), **q}
        rest = model.equilibrium(np.array(list(guess.values())), control=control)
        q, u = rest.q, rest.u
    names, left_out = (
        [name.strip() for name in (text or "").split(",") if name.strip()]
        for text in (arguments.states, arguments.without)
    )
    linear = model.linearize(q, u, control=control, independent=names, ignore=arguments.ignore).without(left_out)
    if arguments.json:
        print_json({"at": _state_of(model, linear), **as_figures(linear)})
    else:
        show(_say_state(_state_of(model, linear)))
        show(linear)
    if picture is not None:
        from ..viewer import plots

        plots.save(plots.eigenvalues(linear.eigenvalues, f"eigenvalues of {model.name}"), picture)
        say(f"wrote {picture}")
    return FINE


def _read_values(model: Model, texts: list[str]) -> dict[str, float]:
    """Coordinates and speeds by name, from NAME=VALUE or from .json files."""
    known: dict[str, Any] = {**model.mechanism.coordinate_records, **model.mechanism.speed_records}
    found: dict[str, float] = {}
    for text in texts:
        if not text.endswith(".json"):
            found.update(_by_name(model, separate([text], "--at"), known))
            continue
        path = Path(text)
        if not path.is_file():
            raise UsageError(f"--at {text}: there is no such file")
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"--at {text}: is not JSON: {error}") from None
        if not isinstance(values, dict):
            raise InputError(f'--at {text}: expected names and values, as in {{"{next(iter(known))}": 0.1}}')
        found.update(_by_name(model, [f"{name}={value}" for name, value in values.items()], known))
    return found


def _by_name(model: Model, parts: list[str], known: dict[str, Any]) -> dict[str, float]:
    """Values by coordinate or speed; the name of a joint that has one coordinate stands for that."""
    found: dict[str, float] = {}
    for part in parts:
        name, equals, value = (x.strip() for x in part.partition("="))
        text = f"{find_coordinate(model.mechanism, name)}={value}" if equals else part
        found.update(assignments(model, [text], known, "--at"))
    return found


def _state_of(model: Model, linear: Linearization) -> dict[str, dict[str, float]]:
    """The state that was linearized about, by name."""
    named = {"q": (model.coordinates, linear.at.q), "u": (model.speeds, linear.at.u)}
    return {what: dict(zip(names, x.tolist(), strict=True)) for what, (names, x) in named.items()}


def _say_state(state: dict[str, dict[str, float]]) -> str:
    """A state in a line, without what is zero but for rounding."""
    told = [f"{name} {x:.6g}" for part in state.values() for name, x in part.items() if abs(x) > ROUNDED]
    return f"at {', '.join(told)}; all else 0" if told else "at zero"


def as_figures(linear: Linearization) -> dict[str, Any]:
    """A linearization in plain numbers; complex ones are [real, imaginary]."""
    return {
        "states": list(linear.states),
        "inputs": list(linear.inputs),
        "outputs": list(linear.outputs),
        **{name: getattr(linear, name).tolist() for name in "ABCD"},
        "running": list(linear.running),
        "dry_friction": dict(linear.dry_friction),
        "eigenmodes": [
            {
                "eigenvalue": [eigenmode.eigenvalue.real, eigenmode.eigenvalue.imag],
                "frequency": eigenmode.frequency,
                "damping": eigenmode.damping if eigenmode.eigenvalue else None,
                "shape": {name: [x.real, x.imag] for name, x in eigenmode.shape.items()},
            }
            for eigenmode in linear.eigenmodes
        ],
    }
