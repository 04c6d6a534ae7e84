"""Pages that play a motion which has been computed, with velocities and forces of constraints along it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..errors import KaneError, visible
from ..markup import paragraph, table
from ..page import Described, Marks, WrittenPage, notebook_frame, recorded_page
from ..viewer import vehicle_arrows
from ..writing import write_text
from .answers import Answers
from .marks import forces_at, marked_places
from .pages import describe_page, evaluate_marks, page_path, scene_kernel
from .records import Array
from .starts import start_state

if TYPE_CHECKING:
    from .trajectory import Trajectory

FRAMES_PER_SECOND, MOST_FRAMES = 60, 3600
"""Frames of a recorded page; a longer motion gets fewer per second."""


def recording(trajectory: Trajectory, *, panel: bool = True) -> str:
    """The page that plays a motion, with its plots beside it unless they are folded away at first."""
    answers = trajectory.answers
    shown = _frames(trajectory)
    described, marks = _describe(answers, shown), _marks(answers, shown)
    states = shown.t, shown.q, shown.u
    return recorded_page(described, *states, marks=marks, transitions=trajectory.transitions, panel=panel)


def write_recording(trajectory: Trajectory, path: str | Path) -> Path:
    """Write a page that plays a motion."""
    target = page_path(path)
    write_text(target, recording(trajectory))
    return WrittenPage(target)


def still_picture(answers: Answers, q: Array, u: Array) -> str:
    """A page that shows a model in one state."""
    t, q, u = np.zeros(1), q[None], u[None]
    described = describe_page(answers, scene_kernel(answers), t, q, u)
    return recorded_page(described, t, q, u, panel=False)


def show_model(answers: Answers) -> str:
    """A model for notebooks: what it consists of, and its picture in the initial state, to be turned."""
    m = answers.mechanism
    counts = (len(m.bodies), len(m.joints), len(m.coordinates), len(m.speeds), len(m.constraints), len(m.changing))
    columns = ("bodies", "joints", "coordinates", "speeds", "constraints", "that come and go")
    said = f"{visible(m.name)}: {visible(m.about)}" if m.about else visible(m.name)
    return paragraph(said) + table(columns, [counts]) + _picture(answers)


def _picture(answers: Answers) -> str:
    """In the initial state; nothing for what is too large, or not described to its end yet."""
    if not answers.mechanism.bodies or answers.recursive():
        return ""
    try:
        shown = still_picture(answers, *start_state(answers, None, None, np.zeros(1)))
    except KaneError as error:
        return paragraph(f"no picture: {error}")
    return notebook_frame(shown, answers.mechanism.name)


def show_trajectory(trajectory: Trajectory) -> str:
    """A motion for notebooks: how it ended, and a page that plays it."""
    said = paragraph(f"{visible(trajectory.answers.mechanism.name)}: {trajectory.outcome}")
    return said + notebook_frame(recording(trajectory, panel=False), trajectory.answers.mechanism.name)


def _frames(trajectory: Trajectory) -> Trajectory:
    """The motion at the times of the frames of a page."""
    length = abs(float(trajectory.t[-1] - trajectory.t[0]))
    return resample_linearly(trajectory, int(min(MOST_FRAMES, max(2, round(length * FRAMES_PER_SECOND) + 1))))


def resample_linearly(trajectory: Trajectory, count: int) -> Trajectory:
    """The motion at `count` times of equal distance, forward, on straight lines between its samples: for the eye."""
    t = trajectory.t if trajectory.t[-1] >= trajectory.t[0] else trajectory.t[::-1]
    times: Array = np.linspace(float(t[0]), float(t[-1]), count)
    forward = slice(None) if t is trajectory.t else slice(None, None, -1)

    def at(columns: Array) -> Array:
        found = np.empty((count, columns.shape[1]))
        for i in range(columns.shape[1]):
            found[:, i] = np.interp(times, t, columns[forward, i])
        return found

    q, u, tau = at(trajectory.q), at(trajectory.u), at(trajectory.tau)
    return replace(trajectory, t=times, q=q, u=u, tau=tau, work=at(trajectory.work[:, None])[:, 0])


def _describe(answers: Answers, shown: Trajectory) -> Described:
    if answers.recursive():  # too large for programs of all bodies: whether it is plane is not asked
        poses = shown.model.poses(shown.q, t=shown.t[:, None])
        return Described(answers.mechanism, poses, np.zeros((0, poses.shape[1], 6, 0)), {})
    return describe_page(answers, scene_kernel(answers), shown.t, shown.q, shown.u)


def _marks(answers: Answers, shown: Trajectory) -> Marks | None:
    """Velocities, and forces of constraints where they can be told: on the wheels of vehicles those of the ground."""
    if answers.recursive():
        return None
    velocity, point, force = evaluate_marks(answers, shown.t, shown.q, shown.u)
    arrows = vehicle_arrows(shown) if answers.mechanism.vehicles else ()
    of = marked_places(answers.mechanism, [a.vehicle for a in arrows])
    try:
        values = shown.multipliers
    except KaneError:  # where a position is singular, say, they cannot be told
        of, values = [], np.zeros((len(shown.t), 0))
    outlines, first = list[tuple[int, ...]](), len(of)
    for a in arrows:
        outlines += [tuple(first + i for i in a.outline)] if a.outline else []
        first += len(a.feet)
    outlined = [a for a in arrows if a.outline]
    return Marks(
        (*(m.name for m in of), *(name for a in arrows for name in a.feet)),
        velocity,
        np.concatenate([point[:, [m.index for m in of]], *(a.at for a in arrows)], axis=1),
        np.concatenate([forces_at(of, values, force), *(a.vector for a in arrows)], axis=1),
        tuple(outlines),
        tuple(a.vehicle for a in outlined),
        np.stack([a.measure for a in outlined], axis=1) if outlined else np.zeros((len(shown.t), 0)),
    )


__all__ = ["recording", "resample_linearly", "show_model", "show_trajectory", "still_picture", "write_recording"]
