"""`write`: a model, what it does and whether it is right, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..analysis import CheckReport, operation_table
from ..api import Model, Trajectory
from ..errors import InputError
from ..writing import check_writable, write_text
from .chapters import (
    checks_chapter,
    conservation_chapter,
    equations_chapter,
    given_motion_chapter,
    model_chapter,
    simulation_chapter,
)
from .motions import Motion
from .page import Page, Section, closing_line
from .vehicles import vehicle_chapters

SAMPLES = 501
"""Times along the simulation of a report."""

_OPERATIONS = "multiplications and divisions + additions"


@dataclass(frozen=True, slots=True)
class Written:
    """What a report says: where it is, its simulation, and the checks of model and motion."""

    path: Path
    trajectory: Trajectory
    checks: CheckReport
    laws: CheckReport

    @property
    def passed(self) -> bool:
        """Whether every check passed and the simulation reached its end."""
        return self.checks.passed and self.laws.passed and self.trajectory.outcome.success


def write(
    model: Model,
    path: Path | str,
    *,
    trajectory: Trajectory | None = None,
    control: str | None = None,
    motion: Motion | None = None,
    driven: str = "",
    extra: Sequence[Section] = (),
    scene: bool = True,
    title: str = "",
    packages: Sequence[Path | str] = (),
    progress: Callable[[float], object] | None = None,
) -> Written:
    """Write the report of a model to `path`, an .html file.

    `trajectory` is the motion that is shown, by default ten seconds from the initial state under `control`, the name of
    a control law of the model; `driven` says what else moves it. `motion` is a given motion whose efforts are computed.
    `extra` chapters come before the checks. `scene` includes the 3-D view, about a megabyte. Meshes of a robot that
    were not found are told; `packages` are folders in which they were looked for. `progress` is called with the
    fraction done.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"'{path}': a report ends in .html")
    check_writable(target)
    step = _steps(progress, 6)
    if trajectory is None:
        trajectory = model.simulate(np.linspace(0.0, 10.0, SAMPLES), control=control)
    step()
    checks, laws = model.check(), trajectory.check()
    step()
    equations, comparison = model.equations(), operation_table(model.mechanism)
    step()
    start = trajectory.q[0], trajectory.u[0]
    chapters = [model_chapter(model, packages, start), equations_chapter(model, equations, comparison)]
    step()
    if motion is not None:
        chapters.append(given_motion_chapter(model, motion))
    chapters.append(simulation_chapter(trajectory, _targets(model, control), scene=scene, law=driven or _law(control)))
    step()
    chapters += vehicle_chapters(trajectory)
    chapters += [conservation_chapter(trajectory, laws), *extra, checks_chapter(checks)]
    count = equations.count("inverse_dynamics")
    forward = equations.count("forward_dynamics")
    figures = (
        (f"{len(model.bodies)} / {model.freedom().degrees}", "bodies / degrees of freedom"),
        (f"{count['mul'] + count['div']} + {count['add']}", f"{_OPERATIONS} of inverse dynamics"),
        (f"{forward['mul'] + forward['div']} + {forward['add']}", f"{_OPERATIONS} of forward dynamics"),
        (_verdict(checks), "checks passed for the equations"),
        (_verdict(laws), "checks passed along the simulation"),
    )
    page = Page(title or model.name, model.mechanism.about, figures, tuple(chapters), closing_line())
    write_text(target, page.html())
    step()
    return Written(target, trajectory, checks, laws)


def _steps(progress: Callable[[float], object] | None, count: int) -> Callable[[], None]:
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / count)

    return step


def _law(control: str | None) -> str:
    return f"control law '{control}'" if control else ""


def _targets(model: Model, control: str | None) -> dict[str, float]:
    """Parameters named like a coordinate followed by s (q1s) are where a control law brings it."""
    if control is None:
        return {}
    return {c: model.parameters[f"{c}s"].value for c in model.coordinates if f"{c}s" in model.parameters}


def _verdict(report: CheckReport) -> str:
    asked = [r for r in report.rows if r.value is not None]
    return f"{sum(r.passed for r in asked)} of {len(asked)}"
