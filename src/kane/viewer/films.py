"""Motions as films: GIF by Pillow, which comes with matplotlib, MP4 by ffmpeg where it is installed.

Frames are the drawings of `drawings.py`, seen from one side and in one scale from beginning to end. What travels far is
followed, over a grid that rests in N.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection

from ..errors import InputError
from ..model import Mechanism
from ..writing import check_writable, replacing
from .drawings import Scene, axes_of_ground, place
from .figures import Picture
from .meshes import Fineness
from .shapes import Array, center_view, up_direction
from .style import GRID, STYLE

SUFFIXES = (".gif", ".mp4")
MOST_FRAMES = 1500
"""Frames of a film: a minute of 25 in a second."""

TRIANGLES = Fineness(each=6000, in_all=40_000)
"""Of the meshes of a frame: some 30 ms."""

_DOTS = 100  # per inch
_ROOM = 0.06  # around the bodies, as a part of the picture
_TRAVELS = 3.0  # lengths of itself that a mechanism moves on by to be followed
_AROUND = 0.35  # around what is followed, as a part of its size, so that the ground is seen
_LINES = 12  # of the grid to each side


@dataclass(frozen=True, slots=True)
class Film:
    """Poses (k, bodies, 12) at times `t` (s) of equal distance, played with so many frames in a second."""

    mechanism: Mechanism
    t: Array
    poses: Array
    frames_per_second: float


def write_film(film: Film, path: Path | str) -> Path:
    """Write a motion as .gif or .mp4; the ending says which."""
    target = Path(path)
    program = find_program(target)
    check_writable(target)
    if program is None:
        _write_gif(film, target)
    else:
        _write_mp4(film, target, program)
    return target


def find_program(path: Path) -> str | None:
    """The program that writes a film, None where none is needed; refuses a film that cannot be written here."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"'{path}': a film ends in {' or '.join(SUFFIXES)}")
    if suffix == ".gif":
        return None
    program = shutil.which("ffmpeg")
    if program is None:
        raise InputError(
            f"'{path}': MP4 is written by the program ffmpeg, which is not installed\n"
            "    fix: install it, or end the name in .gif"
        )
    return program


def frames(film: Film) -> Iterator[Array]:
    """The pictures (height, width, 3) of bytes, one after another."""
    seen = center_view(film.mechanism, film.poses)
    scene = Scene.of(film.mechanism, seen[0], TRIANGLES)
    grid = _Grid.under(scene, film.mechanism, seen)
    if grid is not None:
        seen = seen.copy()
        seen[..., 9:] -= grid.middle[:, None]
    low, high = _bounds(scene, seen)
    if grid is not None:
        low, high = low - _AROUND * (high - low), high + _AROUND * (high - low)
    wide, tall = high - low
    size = 4.8 * np.array([wide, tall]) / max(wide, tall)
    inches = np.maximum(size, 2.0)
    with rc_context(STYLE):
        figure = Picture(figsize=(float(inches[0]), float(inches[1])), dpi=_DOTS, facecolor="white")
        canvas = FigureCanvasAgg(figure)
        ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        ax.set_axis_off()
        axes_of_ground(ax, scene.view, [np.array([low, high])])
        ax.set_aspect("equal")
        room = _ROOM * max(wide, tall)
        ax.set_xlim(low[0] - 4 * room, high[0] + room)  # at the lower left are the axes of N
        ax.set_ylim(low[1] - 4 * room, high[1] + room)
        ax.set_autoscale_on(False)
        fineness = _DOTS * float(inches[0]) / float(high[0] - low[0] + 5 * room)
        clock = ax.text(0.98, 0.02, "", transform=ax.transAxes, ha="right", fontsize=9)
        for k, (now, poses) in enumerate(zip(film.t, seen, strict=True)):
            drawn = place(ax, scene, poses, (low - room, high + room), fineness)
            floor = None if grid is None else grid.lines(k)
            if floor is not None:
                ax.add_collection(floor, autolim=False)
            clock.set_text(f"t = {now:.2f} s")
            canvas.draw()
            picture = np.asarray(canvas.buffer_rgba())[:, :, :3].copy()
            drawn.remove()
            if floor is not None:
                floor.remove()
            yield picture[: picture.shape[0] // 2 * 2, : picture.shape[1] // 2 * 2]  # as codecs want it


@dataclass(frozen=True, slots=True)
class _Grid:
    """Lines at rest in N, across the vertical, under a mechanism that is followed: `middle` (k, 3) is what stays in the
    middle of the picture, `height` (m) that of the lines over it, `mesh` (m) their distance."""

    view: Array
    up: Array
    middle: Array
    height: float
    mesh: float

    @classmethod
    def under(cls, scene: Scene, mechanism: Mechanism, poses: Array) -> _Grid | None:
        """The grid, where the mechanism moves on by so many of its lengths that it would be too small to be seen."""
        if not len(scene.body):
            return None
        boxes = np.array([scene.box(poses[k]) for k in _some(poses)])
        length = float((boxes[:, 1] - boxes[:, 0]).max())
        if float((boxes[:, 1].max(axis=0) - boxes[:, 0].min(axis=0)).max()) < _TRAVELS * length:
            return None
        up = np.array(up_direction(mechanism))
        middle = poses[..., 9:].mean(axis=-2)
        middle = middle - (middle @ up)[:, None] * up + float(np.mean(middle @ up)) * up
        lowest = float((scene.project_corners(poses[0]) @ (scene.view @ up)).min())
        return cls(scene.view, up, middle, lowest - float(middle[0] @ up), 0.5 * length)

    def lines(self, k: int) -> LineCollection:
        """The lines as they are seen in a frame."""
        first = np.cross(self.up, self.view[2])
        first = np.eye(3)[int(np.argmax(np.abs(first)))]
        first = first - self.up * (first @ self.up)
        first /= np.linalg.norm(first)
        second = np.cross(self.up, first)
        reach = _LINES * self.mesh
        found = []
        for along, across in ((first, second), (second, first)):
            start = -float(self.middle[k] @ across) % self.mesh
            for n in range(-_LINES, _LINES):
                foot = self.height * self.up + (start + n * self.mesh) * across
                found.append(np.array([foot - reach * along, foot + reach * along]) @ self.view[:2].T)
        return LineCollection(found, colors=GRID, linewidths=0.6, alpha=0.5, zorder=0)


def _some(poses: Array) -> Any:
    """The numbers of some of the frames, the first and the last among them."""
    return np.unique(np.linspace(0, len(poses) - 1, min(len(poses), 60)).astype(int))


def _bounds(scene: Scene, poses: Array) -> tuple[Array, Array]:
    """Corners (2,) of what is ever seen, from some of the frames."""
    every = np.array([scene.box(poses[k]) for k in _some(poses)])
    low, high = every[:, 0].min(axis=0), every[:, 1].max(axis=0)
    room = np.maximum(high - low, 0.25 * float(np.max(high - low)) + 1e-12)
    middle = (low + high) / 2
    return middle - room / 2, middle + room / 2


def _write_gif(film: Film, path: Path) -> None:
    from PIL import Image  # comes with matplotlib

    pictures = [Image.fromarray(np.asarray(p)).convert("P", palette=Image.Palette.ADAPTIVE) for p in frames(film)]
    hundredths = max(2, round(100 / film.frames_per_second))  # what the format counts in; below 2 players slow down
    options: dict[str, Any] = {"save_all": True, "append_images": pictures[1:], "duration": 10 * hundredths, "loop": 0}
    with replacing(path) as stream:
        pictures[0].save(stream, format="GIF", **options)


def _write_mp4(film: Film, path: Path, program: str) -> None:
    pictures = frames(film)
    first = next(pictures)
    size = f"{first.shape[1]}x{first.shape[0]}"
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{film.frames_per_second:g}", "-i", "-"]
    out = ["-pix_fmt", "yuv420p", "-movflags", "frag_keyframe+empty_moov", "-f", "mp4", "-"]
    command = [program, "-loglevel", "error", *raw, *out]
    data = b"".join([first.tobytes(), *(p.tobytes() for p in pictures)])
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    if done.returncode:
        raise InputError(f"'{path}': ffmpeg refused the film: {done.stderr.decode(errors='replace').strip()}")
    with replacing(path) as stream:
        stream.write(done.stdout)


__all__ = ["MOST_FRAMES", "SUFFIXES", "Film", "find_program", "frames", "write_film"]
