"""`kane inverse` and `kane simulate`: efforts from a motion, a motion from efforts."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ..api import Array, Model, Trajectory
from ..api.kept_runs import Keep
from ..api.limits import GivenMotion, limit_sentences
from ..api.memory_needs import require_motion_memory
from ..api.run_files import SUFFIXES
from ..api.run_pictures import check_drawn_together
from ..api.watched import effort_names
from ..errors import InputError, KaneError
from ..report.motions import Motion
from ..simulate import Transition
from . import FAILED, FINE, INTERRUPTED, UsageError
from .console import bar, heading, print_json, show, table
from .driving import Driving, asked_motion, drive_of, off_target, refuse_unfollowed, target_sentence
from .files import read_motion, transitions_path, write_columns, write_motion, write_transitions
from .given import check_target, coordinates_of, events_of, file_to_write, model_of, separate, speeds_of
from .partial import PartialRun
from .streams import say
from .wording import in_shell

PICTURES = (".png", ".svg", ".pdf")
FIXED = "rk4"  # the method whose steps have one length
DURATION = 10.0  # s of a motion about which nothing is said


def inverse(arguments: Namespace) -> int:
    """Compute the efforts of a given motion."""
    model = model_of(arguments)
    output = file_to_write(arguments, "output", (".csv",))
    picture = file_to_write(arguments, "plot", PICTURES)
    motion = _given_motion(model, arguments)
    tau = model.inverse_dynamics(motion.q, motion.u, motion.udot, t=motion.t[:, None])
    if arguments.json:
        print_json({"t": motion.t.tolist(), **dict(zip(effort_names(model.speeds), tau.T.tolist(), strict=True))})
    if output is not None or not arguments.json:
        write_columns(output, ["t", *effort_names(model.speeds)], np.column_stack([motion.t, tau]))
    if output is not None:
        say(f"wrote {output}: {len(tau)} times, {tau.shape[1]} efforts")
    if picture is not None:
        from ..viewer import plots

        plots.save(plots.efforts(model.mechanism, motion.t, tau), picture)
        say(f"wrote {picture}")
    answers = model._answers  # pyright: ignore[reportPrivateUsage]
    for sentence in limit_sentences(
        GivenMotion(answers, motion.t, motion.q, motion.u, motion.udot, np.nan_to_num(tau))
    ):
        say(f"kane inverse: {sentence}")
    return FINE if _report_singular_times(motion.t, tau) else FAILED


def _report_singular_times(t: Array, tau: Array) -> bool:
    """Whether all efforts are finite numbers; if not, where they are not is said."""
    lost = np.flatnonzero(~np.isfinite(tau).all(axis=1))
    if lost.size:
        say(
            f"kane inverse: {lost.size} of {len(t)} times have no finite efforts, the first t = {t[lost[0]]:g} s\n"
            "    because a division, or a function beyond its range, has no finite value there: a singular position\n"
            "    of the coordinates or speeds that were chosen, or numbers that are too large\n"
            "    fix: choose a motion, or coordinates and speeds, that stay away from there; the other rows are right"
        )
    return not lost.size


def _given_motion(model: Model, arguments: Namespace) -> Motion:
    if (arguments.trajectory is None) == (not arguments.to):
        raise UsageError(
            "say which motion: --trajectory FILE.csv, or --to "
            f"{model.coordinates[0]}=VALUE,... for a cycloid from the initial state (one of the two)"
        )
    motion = asked_motion(model, arguments)
    if motion is not None:
        return motion
    path = Path(arguments.trajectory)
    if not path.is_file():
        raise UsageError(f"--trajectory {path}: there is no such file")
    return read_motion(model, path)


def run_simulation(
    model: Model, arguments: Namespace, samples: int, drive: Driving, keep: Keep | None = None
) -> Trajectory:
    """The motion that the options of a command line describe, driven as `drive` says, with a progress bar if it takes
    long; kept while it is under way where `keep` says so."""
    usual = drive.end or model.mechanism.duration or DURATION
    end = usual if arguments.t is None else arguments.t
    if not end > 0:
        raise UsageError(f"--t {end:g}: the motion ends after its start at t = 0")
    if samples < 0 or samples == 1:
        raise UsageError(f"--samples {samples}: give two or more, or 0 for each step of the integrator")
    require_motion_memory(model.mechanism, samples)  # before the times are made
    times = np.linspace(0.0, end, max(samples, 3)) if samples else (0.0, end)
    step = step_of(arguments)
    with bar("simulating") as progress:
        return model.simulate(
            times,
            q=coordinates_of(model, arguments.q) or None,
            u=speeds_of(model, arguments.u) or None,
            control=drive.law,
            saturate=arguments.saturate,
            method=arguments.method,
            rtol=arguments.rtol,
            atol=arguments.atol,
            step=step,
            max_step=arguments.max_step,
            max_steps=arguments.max_steps,
            embed=arguments.embed,
            contacts=arguments.contacts,
            events=events_of(arguments),
            progress=progress,
            keep=keep,
        )


def step_of(arguments: Namespace) -> float | None:
    """The step (s) that the command line gives: there is one where steps have one length, and only there."""
    step, method, stepping = arguments.step, arguments.method, getattr(arguments, "contacts", "") == "stepping"
    if step is None and method == FIXED:
        raise UsageError(f"--method {FIXED} has a fixed step: add --step SECONDS")
    if step is None and stepping:
        raise UsageError("--contacts stepping has steps of one length: add --step SECONDS, say 0.005")
    if step is not None and method != FIXED and not stepping:
        bound = ", or bound it by --max-step SECONDS" if hasattr(arguments, "max_step") else ""
        raise UsageError(
            f"--step {step:g}: method {method} chooses its own step\n"
            f"    fix: leave out --step {step:g}{bound}, or add --method {FIXED}"
        )
    return step


def simulate(arguments: Namespace) -> int:
    """Simulate, print how it ended, write what was asked for."""
    model = model_of(arguments)
    output = file_to_write(arguments, "output", SUFFIXES)
    if output is not None and model.changing:
        check_target(arguments, "output", transitions_path(output))
    picture, film = file_to_write(arguments, "plot", PICTURES), _film_to_write(arguments)
    if arguments.of and picture is None:
        raise UsageError(f"--of {','.join(arguments.of)}: says what a plot shows\n    fix: add --plot FILE.png")
    if picture is not None:
        _refuse_undrawn(model, _read_panels(model, arguments.of))
    drive = drive_of(model, arguments, asked_motion(model, arguments))
    refuse_unfollowed(drive, arguments)
    if drive.about:
        say(drive.about)
    part = None if output is None else PartialRun.open(output, anew=arguments.anew)
    with nullcontext() if part is None else part.mind_interrupts():
        trajectory = run_simulation(model, arguments, arguments.samples, drive, None if part is None else part.keep)
        if arguments.json:
            always = {"saturation": _saturation(trajectory)} if arguments.saturate else {}
            print_json(_summary(trajectory, drive) | always)
        else:
            _print_summary(trajectory, drive)
        if output is not None:
            _write(output, trajectory, part)
    if picture is not None:
        drawn = [texts if len(texts) > 1 else texts[0] for texts in _read_panels(model, arguments.of)]
        trajectory.plot(picture, drawn or "coordinates")
        say(f"wrote {picture}")
    if film is not None:
        trajectory.animate(film)
        say(f"wrote {film}")
    if arguments.view:
        trajectory.view()
    return status_of(trajectory)


def _film_to_write(arguments: Namespace) -> Path | None:
    """The film that is asked for, of a kind that can be written here."""
    film = file_to_write(arguments, "animate", (".gif", ".mp4"))
    if film is not None:
        from ..viewer import films  # matplotlib is slow to import

        try:
            films.find_program(film)
        except InputError as error:
            raise UsageError(f"--animate {error}") from None
    return film


def _read_panels(model: Model, texts: Sequence[str]) -> list[list[str]]:
    """What a plot shows, panel by panel; what has `and` between it shares one, unless a name is written so."""
    names = {f"reactions of {name}" for name in (*model.mechanism.joints, *model.constraints, *model.changing)}
    return [[part] if part in names else re.split(r"\s+and\s+", part) for part in separate(texts, "--of")]


def _refuse_undrawn(model: Model, drawn: Sequence[Sequence[str]]) -> None:
    """Refuse names of nothing that a plot could show, and what cannot share a panel."""
    for texts in drawn:
        try:
            check_drawn_together(model, texts)
        except KaneError as error:
            raise UsageError(f"--of {' and '.join(texts)}: {str(error).removeprefix('plot: ')}") from None


def _write(output: Path, trajectory: Trajectory, part: PartialRun | None) -> None:
    """Write a motion, and beside it what came and went; of an interrupted run that is kept there is a part already."""
    if part is not None and trajectory.outcome.reason == "interrupt":
        part.announce_interrupt(trajectory)
        return
    write_motion(output, trajectory)
    say(f"wrote {output}: {len(trajectory)} times")
    if trajectory.transitions:
        beside = transitions_path(output)
        write_transitions(beside, trajectory)
        say(f"wrote {beside}: {len(trajectory.transitions)} transitions")
    if part is not None:
        part.remove()


def status_of(trajectory: Trajectory) -> int:
    """The exit status of a simulation; what was kept of an interrupted one is interrupted all the same."""
    if trajectory.outcome.reason == "interrupt":
        return INTERRUPTED
    return FINE if trajectory.outcome.success else FAILED


def _summary(trajectory: Trajectory, drive: Driving) -> dict[str, Any]:
    model = trajectory.model
    off = off_target(model, drive, float(trajectory.t[-1]), trajectory.q[-1])
    balance = trajectory.balance()
    return {
        "outcome": trajectory.outcome.reason,
        "sentence": in_shell(trajectory.outcome, "simulate"),
        "success": trajectory.outcome.success,
        "t": float(trajectory.t[-1]),
        "q": dict(zip(model.coordinates, trajectory.q[-1].tolist(), strict=True)),
        "u": dict(zip(model.speeds, trajectory.u[-1].tolist(), strict=True)),
        "steps": trajectory.statistics.steps,
        "evaluations": trajectory.statistics.evaluations,
        "seconds": trajectory.statistics.seconds,
        "energy_balance_error": balance.error,
        "driven": balance.driven,
        **({"off_target": off} if off else {}),
        **({"saturation": _saturation(trajectory)} if trajectory.saturation else {}),
        **(_on_constraints(trajectory) if model.constraints else {}),
        **({"events": {x.event.name: x.t.tolist() for x in trajectory.events}} if trajectory.events else {}),
        **({"transitions": [_transition(x) for x in trajectory.transitions]} if trajectory.transitions else {}),
    }


def _saturation(trajectory: Trajectory) -> dict[str, Any]:
    """Efforts that were at their limits, by coordinate, as plain data."""
    return {
        x.coordinate: {"limit": x.limit, "seconds": x.seconds, "share": x.share, "first": x.first, "spans": x.spans}
        for x in trajectory.saturation
    }


def _transition(x: Transition) -> dict[str, Any]:
    """A transition as plain data."""
    return {
        "t": x.t,
        "cause": x.cause,
        "constraints": list(x.constraints),
        "mode": dict(x.mode),
        "impulse": {name: values.tolist() for name, values in x.impulse.items()},
        "energy_change": x.energy_change,
        "possible": x.possible,
    }


def _on_constraints(trajectory: Trajectory) -> dict[str, Any]:
    """Largest residuals of the constraints, and the singular positions that were passed."""
    return {
        "largest_residual": float(np.abs(trajectory.residuals.position).max(initial=0.0)),
        "largest_residual_rate": float(np.abs(trajectory.residuals.velocity).max(initial=0.0)),
        "singularities": [{"t": s.t, "degrees_of_freedom": s.degrees} for s in trajectory.singularities],
    }


def _print_summary(trajectory: Trajectory, drive: Driving) -> None:
    model, summary = trajectory.model, _summary(trajectory, drive)
    found = summary.get("events", {}).items()
    show(summary["sentence"])
    if "off_target" in summary:
        show(target_sentence(model, summary["off_target"]))
    error = f"{summary['energy_balance_error']:.1e} J"
    if summary["driven"]:
        show(f"energy less work of the loads and efforts: changes by {error}, since prescribed motions do work too")
    else:
        show(f"energy less work of the loads and efforts: constant within {error}")
    if model.constraints:
        show(
            f"constraints: residuals up to {summary['largest_residual']:.1e} (m, rad),"
            f" {summary['largest_residual_rate']:.1e} of rates"
        )
    if trajectory.transitions:
        heading(f"transitions ({len(trajectory.transitions) - 1})")
        show(trajectory.transitions)
    if trajectory.events:
        heading("events")
        rows = [(name, len(t), f"{t[0]:.9g}" if t else "", f"{t[-1]:.9g}" if t else "") for name, t in found]
        table(("event", "times", "first (s)", "last (s)"), rows)
    heading(f"state at t = {summary['t']:g} s")
    table(("coordinate", "q"), [(n, f"{x:.9g}") for n, x in summary["q"].items()])
    table(("speed", "u"), [(n, f"{x:.9g}") for n, x in zip(model.speeds, summary["u"].values(), strict=True)])
