"""`kane vehicle`: what the ground does to a vehicle along a motion, whether it slips or tips over, with pictures."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import Any

import numpy as np

from ..api import Model, Trajectory
from ..api.lifting import Lifting
from ..api.vehicles import find_vehicle
from ..errors import InputError, suggestion
from . import UsageError
from .console import bar, heading, print_json, show, table
from .driving import drive_of
from .given import file_to_write, model_of
from .motion import PICTURES, run_simulation, status_of
from .streams import say
from .wording import in_shell

PAGES = (".html", ".htm")


def vehicle(arguments: Namespace) -> int:
    """Simulate, print forces of the ground, violations and tip-over, draw what was asked for."""
    model = model_of(arguments)
    picture = file_to_write(arguments, "plot", PICTURES)
    page = file_to_write(arguments, "animate", PAGES)
    _refuse_missing_vehicle(model, arguments)
    if arguments.control is None and model.controls:
        arguments.control = next(iter(model.controls))
        say(f"control law '{arguments.control}' (choose another with --control)")
    trajectory = run_simulation(model, arguments, arguments.samples, drive_of(model, arguments))
    told = _figures(trajectory, arguments.vehicle)
    if arguments.json:
        print_json(told)
    else:
        _print_figures(told)
    if picture is not None:
        from ..viewer import plots, vehicles

        with bar("drawing"):
            plots.save(vehicles.overview(trajectory, arguments.vehicle, title=model.name), picture)
        say(f"wrote {picture}")
    if page is not None:
        with bar("recording"):
            trajectory.page(page)
        say(f"wrote {page}")
    return status_of(trajectory)


def _refuse_missing_vehicle(model: Model, arguments: Namespace) -> None:
    """Refuse a model without the vehicle that is asked for, or with several where none is named."""
    known, name = list(model.mechanism.vehicles), arguments.vehicle
    if not known:
        raise InputError(
            f"model '{model.name}' has no vehicle\n"
            "    fix: say which body stands on which wheels, by vehicle: in the model file"
        )
    if name is not None and name not in known:
        raise UsageError(f"--vehicle {name}: no such vehicle; {suggestion(name, known)}")
    if name is None and len(known) > 1:
        raise UsageError(f"several vehicles: {', '.join(known)}\n    fix: say which, as in --vehicle {known[0]}")


def _figures(trajectory: Trajectory, name: str | None) -> dict[str, Any]:
    """What is printed, as plain data."""
    ground, tip = trajectory.ground(name), trajectory.tipover(name)
    vehicle = find_vehicle(trajectory.answers.mechanism, name)
    wheels: dict[str, Any] = {}
    for k, wheel in enumerate(ground.wheels):
        normal, needed = ground.normal[:, k], float(ground.needed_friction[k])
        wheels[wheel] = {
            "normal": [float(normal.min()), float(normal.max())],
            "longitudinal": [float(ground.longitudinal[:, k].min()), float(ground.longitudinal[:, k].max())],
            "lateral": [float(ground.lateral[:, k].min()), float(ground.lateral[:, k].max())],
            "needed_friction": None if np.isnan(needed) else needed,
            "least_margin": float(ground.margin[:, k].min()) if ground.limit > 0 else None,
        }
    worst, lifting = int(np.argmin(tip.alpha)), tip.lifting
    return {
        "sentence": in_shell(trajectory.outcome, "vehicle"),
        "friction": ground.limit,
        "friction_parameters": list(trajectory.answers.mechanism.values_of([vehicle.friction])),
        "wheels": wheels,
        "remark": ground.remark,
        "undetermined": list(ground.undetermined),
        "sums": {parts: [float(x.min()), float(x.max())] for parts, x in ground.sums.items()},
        "lifts": lifting is not None,
        "contacts": [] if lifting is None else list(lifting.of_wheels),
        "violations": [{"t": float(c), "what": c.what} for c in ground.violations],
        "tipover": {
            "verdict": tip.verdict,
            "sentence": tip.headline,
            "least_measure": float(tip.alpha[worst]),
            "t": float(tip.t[worst]),
            "edge": list(tip.edges[int(np.argmin(tip.per_edge[worst]))]),
            "crossings": [{"t": float(c), "what": c.what, "becomes": c.to} for c in tip.crossings],
            "over": _over(lifting),
            "end": asdict(lifting.end) if lifting is not None and lifting.end is not None else None,
        },
    }


def _over(lifting: Lifting | None) -> dict[str, Any] | None:
    """What a vehicle tips over, and from when."""
    if lifting is None or lifting.over is None:
        return None
    return {"t": float(lifting.over), "what": lifting.over.what}


def _print_figures(told: dict[str, Any]) -> None:
    show(told["sentence"])
    judged = told["friction"] > 0
    slip = f"coefficient of friction {told['friction']:g}" if judged or told["lifts"] else "slip is not judged"
    heading(f"forces of the ground (N), {slip}")
    rows = [
        (
            name,
            *(f"{w[what][0]:.4g} … {w[what][1]:.4g}" for what in ("normal", "longitudinal", "lateral")),
            "none" if w["needed_friction"] is None else f"{w['needed_friction']:.4g}",
            *(() if w["least_margin"] is None else (f"{w['least_margin']:.4g}",)),
        )
        for name, w in told["wheels"].items()
    ]
    columns = ("wheel", "normal", "longitudinal", "lateral", "friction needed")
    table((*columns, "least margin") if judged else columns, rows)
    if told["remark"]:
        show(told["remark"])
    if not judged and not told["lifts"]:
        given = "".join(f", by --set {name}=VALUE" for name in told["friction_parameters"])
        why = f"the vehicle's friction is 0; give it a coefficient above that{given}"
        show(f"whether wheels would slip is not judged: {why}")
    if told["undetermined"]:
        show(f"not determined by rigid bodies: {', '.join(told['undetermined'])}")
    for parts, (low, high) in told["sums"].items():
        show(f"determined: {parts} = {low:.6g} … {high:.6g} N")
    _print_wheels(told)
    tip = told["tipover"]
    heading("tip-over")
    show(tip["sentence"])
    for found in tip["crossings"]:
        show(f"{found['what']} becomes {found['becomes']} at t = {found['t']:.9g} s")


def _print_wheels(told: dict[str, Any]) -> None:
    """What wheels could not do or, where they may lift and slide, what they did."""
    if told["lifts"]:
        heading("wheels that lift or slide")
        show("\n".join(told["contacts"]) or "none")
        return
    words = {"normal": "would have to pull", "friction": "would slip", "skid": "would skid"}
    heading("first violations")
    for found in told["violations"]:
        kind, _, wheel = found["what"].partition(" of ")
        show(f"wheel {wheel} {words[kind]} from t = {found['t']:.6g} s")
    if not told["violations"]:
        show("none")
