"""`kane report`, `kane page` and `kane demo`: HTML files about a model, and the main job on the Stanford arm."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..report import write
from . import FAILED, FINE, INTERRUPTED
from .console import bar, print_json, show, table
from .driving import asked_motion, drive_of, off_target, refuse_unfollowed, say_what_moves, target_sentence
from .given import coordinates_of, file_to_write, model_of, speeds_of
from .motion import run_simulation
from .parser import SAMPLES
from .streams import say
from .wording import in_shell


def report(arguments: Namespace) -> int:
    """Write the report of a model; fails if one of its checks does."""
    model = model_of(arguments)
    if arguments.output is None:  # as the user calls the model: what it calls itself says nothing about where to write
        arguments.output = f"{Path(arguments.model).stem}.html"
    path = file_to_write(arguments, "output", (".html", ".htm"))
    assert path is not None
    motion = asked_motion(model, arguments)
    drive = drive_of(model, arguments, motion, shown=True)
    say_what_moves(drive, arguments)
    trajectory = run_simulation(model, arguments, SAMPLES, drive)
    said = replace(trajectory.outcome, text=in_shell(trajectory.outcome, "report"))
    off = off_target(model, drive, float(trajectory.t[-1]), trajectory.q[-1])
    with bar("writing the report") as progress:
        written = write(
            model,
            path,
            trajectory=replace(trajectory, outcome=said),
            control=drive.law if isinstance(drive.law, str) else arguments.control if drive.law else None,
            motion=motion,
            driven=f"{drive.about}; {target_sentence(model, off)}" if off else drive.about,
            packages=arguments.packages,
            progress=progress,
        )
    show(_path_text(written.path))
    if not written.passed:
        say("kane report: not all checks passed, or the simulation stopped early; the report says which")
    if trajectory.outcome.reason == "interrupt":
        return INTERRUPTED
    return FINE if written.passed else FAILED


def page(arguments: Namespace) -> int:
    """Write a page that simulates a model."""
    model = model_of(arguments)
    if arguments.output is None:
        arguments.output = f"{Path(arguments.model).stem}.html"
    path = file_to_write(arguments, "output", (".html", ".htm"))
    assert path is not None
    if arguments.free:
        model.keep_free("all" if arguments.free == "all" else [name.strip() for name in arguments.free.split(",")])
    drive = drive_of(model, arguments, asked_motion(model, arguments), shown=True)
    refuse_unfollowed(drive, arguments)
    say_what_moves(drive, arguments)
    q = coordinates_of(model, arguments.q) or None
    u = speeds_of(model, arguments.u) or None
    model.page(path, q=q, u=u, control=drive.law, contacts=arguments.contacts, step=arguments.step)
    show(_path_text(path))
    return FINE


def demo(arguments: Namespace) -> int:
    """The main job on the Stanford arm."""
    from ..report.stanford import demonstrate

    path = Path(arguments.output)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--output {path}: the folder cannot be made: {error}") from None
    file_to_write(arguments, "output", (".html", ".htm"))
    with bar("Stanford arm") as progress:
        done = demonstrate(path, progress)
    if arguments.json:
        print_json({**done.figures, "passed": done.passed, "report": _path_text(path)})
    else:
        _print_figures(done.figures, done.passed)
        show(f"\nreport: {_path_text(path)}")
    return FINE if done.passed else FAILED


def _path_text(path: Path) -> str:
    """The path as the user will open it."""
    return str(path)


def _print_figures(figures: dict[str, Any], passed: bool) -> None:
    show("The Stanford arm of Kane & Levinson (1983)")
    rows = [(f"{name.replace('_', ' ')}, operations", _operations(c)) for name, c in figures["operations"].items()]
    rows += [
        ("derived and counted in", f"{figures['derived_in_seconds']:.2f} s"),
        ("largest efforts along Eq. 127", ", ".join(f"{x:.4g}" for x in figures["largest_efforts"].values())),
        ("feedback simulation", figures["simulation"]),
        ("coordinates at the end", ", ".join(f"{x:.4f}" for x in figures["final_coordinates"].values())),
        ("H·n2 without torque at the waist", f"below {figures['angular_momentum_change']:.1e} kg m²/s"),
        ("circle, simulation to inverse dynamics", f"{figures['circle_relative_error']:.1e} relative"),
        ("speeds of the paper, same motion", f"within {figures['speeds_of_the_paper_difference']:.1e} rad"),
        ("checks", "all passed" if passed else "NOT ALL PASSED"),
    ]
    table(("what", "figure"), rows, words=2)


def _operations(count: dict[str, int]) -> str:
    return f"{count['mul']} mul, {count['add']} add, {count['div']} div, {count['trig']} trig"
