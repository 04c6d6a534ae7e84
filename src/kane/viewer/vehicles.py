"""Pictures of a vehicle in motion: from above with its support polygon and load point, wheel forces, tip-over.

Every function takes a trajectory of a model with a vehicle, and the name of one where there are several. Spans in which
the vehicle tips over, or would, are shaded, and of the measure thick on the axis of time, as in the figures of [TK01].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon

from ..errors import visible
from .appearance import LINE
from .figures import Picture
from .plots import GRID, INK, STYLE
from .shapes import PALETTE, Array, faces, pieces, points_in_N, size, tube

SAFE, UNSAFE = PALETTE[0], PALETTE[6]
SNAPSHOTS = 9
"""Poses that the view from above shows, at equal steps of time."""

_FAR = 1.6  # sizes of the support polygon from its middle at which the path of the load point is cut off
_NOTHING = 1e-4  # share of the largest force below which forces are drawn as zero: what integration leaves of them
_CIRCLES = 6  # wheels whose friction circles stand in one row
_DASHES: Any = (0, (3, 3))
_CLOSE = 0.01  # share of the range of some curves within which one lies on another
_ALTERNATING: Any = ((0, (4, 4)), (6, (2, 6)), (2, (2, 6)))
"""Dashes of curves on one, two and three others: each of four then shows in a fourth of every dash and gap."""
_NEAR = 0.2  # share of what friction can give from which forces are drawn beside it: smaller ones would seem to be zero
_SIGNS = {"normal": "up +, down −", "longitudinal": "ahead +, back −", "lateral": "left +, right −"}
"""Components of the forces on wheels, and what their signs mean: to the axes of each wheel."""


@dataclass(frozen=True, slots=True)
class VehicleMotion:
    """What the pictures are made of: the trajectory, forces of the ground, tip-over, poses of all bodies, the index of
    the platform among them, and the colours of wheels by body."""

    run: Any
    ground: Any
    tip: Any
    poses: Array
    platform: int
    colors: dict[str, str]

    @staticmethod
    def of(run: Any, vehicle: str | None = None) -> VehicleMotion:
        """Of a trajectory; `vehicle` names one of several."""
        mechanism = run.model.mechanism
        ground = run.ground(vehicle)
        record = next(v for v in mechanism.vehicles.values() if tuple(w.name for w in v.wheels) == ground.wheels)
        poses = run.model.poses(run.q, t=run.t)
        platform = list(mechanism.bodies).index(record.platform.name)
        colors = {wheel.rolls.name: _wheel_color(k) for k, wheel in enumerate(record.wheels)}
        return VehicleMotion(run, ground, run.tipover(vehicle), poses, platform, colors)

    @property
    def corners(self) -> list[int]:
        """The wheels at the corners of the support polygon, counter-clockwise."""
        return [self.ground.wheels.index(a) for a, _ in self.tip.edges]

    def in_platform(self, points: Array) -> Array:
        """Points (k, …, 3) in N as seen from the platform, along its axes, from above (k, …, 2)."""
        pose = self.poses[:, self.platform]
        R, p = pose[:, :9].reshape(-1, 3, 3), pose[:, 9:]
        extra = (1,) * (points.ndim - 2)
        moved = points - p.reshape(len(p), *extra, 3)
        return np.einsum("kij,k...i->k...j", R, moved)[..., :2]


# figures -------------------------------------------------------------------------------------------------------------


def overview(run: Any, vehicle: str | None = None, *, title: str = "") -> Picture:
    """Motion from above, load point, forces of the ground, kinetic energy and tip-over in one figure."""
    seen = VehicleMotion.of(run, vehicle)
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 8.6), layout="constrained")
        grid = figure.add_gridspec(3, 3, height_ratios=(1.75, 1.0, 1.05))
        _draw_above(figure.add_subplot(grid[0, :2]), seen)
        _draw_load_point(figure.add_subplot(grid[0, 2]), seen)
        for column, what in enumerate(_SIGNS):
            _draw_wheels(figure.add_subplot(grid[1, column]), seen, what)
        _draw_energy(figure.add_subplot(grid[2, 0]), seen)
        _draw_measure(figure.add_subplot(grid[2, 1:]), seen)
        _add_wheel_legend(figure, seen)
        _add_title(figure, title)
    return figure


def from_above(run: Any, vehicle: str | None = None, *, title: str = "") -> Picture:
    """The vehicle from above at equal steps of time, with its support polygon and load point, and these as the platform
    sees them."""
    seen = VehicleMotion.of(run, vehicle)
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 4.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.9, 1.0))
        _draw_above(left, seen)
        _draw_load_point(right, seen)
        _add_title(figure, title)
    return figure


def wheel_forces(run: Any, vehicle: str | None = None, *, title: str = "") -> Picture:
    """Forces of the ground on each wheel over time, and what friction each needs inside its circle."""
    seen = VehicleMotion.of(run, vehicle)
    w = len(seen.ground.wheels)
    rows = -(-w // _CIRCLES)
    across = min(w, _CIRCLES)
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 2.6 + 2.5 * rows), layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(2.4, 2.3 * rows))
        over_time, circles = parts
        for ax, what in zip(over_time.subplots(1, 3), _SIGNS, strict=True):
            _draw_wheels(ax, seen, what)
        axes = circles.subplots(rows, across, squeeze=False).ravel()
        reach = _friction_reach(seen)
        for k, ax in enumerate(axes):
            if k < w:
                _draw_circle(ax, seen, k, reach)
            else:
                ax.set_visible(False)
        _add_wheel_legend(over_time, seen)
        _add_title(figure, title)
    return figure


def tip_over(run: Any, vehicle: str | None = None, *, title: str = "") -> Picture:
    """The tip-over measure over time, of each edge and the least, unsafe spans shaded."""
    seen = VehicleMotion.of(run, vehicle)
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 2.9), layout="constrained")
        _draw_measure(figure.subplots(), seen)
        _add_title(figure, title)
    return figure


def _add_title(figure: Picture, title: str) -> None:
    if title:
        figure.suptitle(visible(title), x=0.01, ha="left", fontweight="bold", fontsize=11, color=INK)


def _wheel_color(k: int) -> str:
    """The colour of a wheel: those of the palette but the one that marks danger."""
    kept = [c for c in PALETTE if c != UNSAFE]
    return kept[k % len(kept)]


def _add_wheel_legend(figure: Any, seen: VehicleMotion) -> None:
    handles = [Line2D([], [], color=_wheel_color(k), label=visible(n)) for k, n in enumerate(seen.ground.wheels)]
    if any(_comes_near_limit(seen, what) for what in _SIGNS):
        handles.append(Line2D([], [], color=INK, linewidth=0.8, linestyle=_DASHES, label="all that friction can give"))
    if seen.tip.spans:
        handles.append(Line2D([], [], color=UNSAFE, linewidth=6, alpha=0.35, label=seen.tip.verdict))
    figure.legend(handles=handles, ncols=len(handles), fontsize=8, loc="outside upper right")


# parts ---------------------------------------------------------------------------------------------------------------


def _draw_above(ax: Any, seen: VehicleMotion) -> None:
    """The vehicle from above, fainter the longer ago."""
    ground, tip = seen.ground, seen.tip
    model = seen.run.model.mechanism
    thick = LINE * size(model)
    parts = [
        (
            tube(p.shape, thick) if p.shape.kind == "line" else faces(p.shape),
            list(model.bodies).index(p.body),
            seen.colors.get(p.body, p.color),
        )
        for p in pieces(model)
    ]
    path = seen.poses[:, seen.platform, 9:11]
    chosen = _snapshots(ground.t)
    ax.plot(path[:, 0], path[:, 1], color=GRID, linewidth=1.0, zorder=1)
    for n, k in enumerate(chosen):
        strength = 0.12 + 0.5 * (n / max(1, len(chosen) - 1)) ** 2
        polygons, colors = _outlines(parts, seen.poses[k])
        drawn = PolyCollection(polygons, facecolors=colors, edgecolors="none", alpha=strength, zorder=2 + n)
        ax.add_collection(drawn)
        corners = ground.contact[k, seen.corners, :2]
        ax.add_patch(Polygon(corners, closed=True, fill=False, edgecolor=INK, linewidth=0.8, alpha=0.9, zorder=20))
        color = SAFE if tip.alpha[k] > 0 else UNSAFE
        ax.plot(*ground.load_point[k, :2], "o", color=color, markersize=4.5, zorder=21, markeredgecolor="white")
    ax.set_aspect("equal", adjustable="datalim")
    ax.autoscale_view()
    ax.margins(0.03)
    step = float(ground.t[chosen[1]] - ground.t[chosen[0]]) if len(chosen) > 1 else 0.0
    ax.set_title(f"from above, every {step:.3g} s")
    ax.set_xlabel("x  (m)")
    ax.set_ylabel("y  (m)")


def _snapshots(t: Array) -> list[int]:
    """Indices of samples at equal steps of time."""
    wanted = np.linspace(t[0], t[-1], min(SNAPSHOTS, len(t)))
    return sorted({int(np.argmin(np.abs(t - x))) for x in wanted})


def _outlines(parts: Sequence[Any], pose: Array) -> tuple[list[Array], list[Any]]:
    """Faces of all pieces that look up, seen from above, the lowest first."""
    found: list[tuple[float, Array, Any]] = []
    for surface, index, color in parts:
        for face in surface:
            corners = points_in_N(pose, index, face)
            a, b = corners[1] - corners[0], corners[2] - corners[1]
            if a[0] * b[1] - a[1] * b[0] > 0:
                found.append((float(corners[:, 2].mean()), corners[:, :2], _rgb(color)))
    found.sort(key=lambda x: x[0])
    return [x[1] for x in found], [x[2] for x in found]


def _rgb(color: str) -> Any:
    try:
        return to_rgb(color)
    except ValueError:
        return to_rgb(PALETTE[7])


def _draw_load_point(ax: Any, seen: VehicleMotion) -> None:
    """The path of the load point beside the support polygon, as the platform sees them: ahead is up."""
    wheels = seen.in_platform(seen.ground.contact)[-1]
    point = seen.in_platform(seen.ground.load_point[:, None])[:, 0]
    turned = np.stack([-point[:, 1], point[:, 0]], axis=1)
    corners = np.stack([-wheels[:, 1], wheels[:, 0]], axis=1)
    ax.add_patch(Polygon(corners[seen.corners], closed=True, facecolor=GRID, alpha=0.25, edgecolor="none"))
    ax.add_patch(Polygon(corners[seen.corners], closed=True, fill=False, edgecolor=INK, linewidth=0.9))
    segments = np.stack([turned[:-1], turned[1:]], axis=1)
    unsafe = (seen.tip.alpha[:-1] <= 0) | (seen.tip.alpha[1:] <= 0)
    colors = [UNSAFE if bad else SAFE for bad in unsafe]
    ax.add_collection(LineCollection(list(segments), colors=colors, linewidths=1.6, capstyle="round"))
    ax.plot(*turned[0], "o", color=INK, markersize=4, zorder=5)
    for k, (x, y) in enumerate(corners):
        ax.plot(x, y, "s", color=_wheel_color(k), markersize=6, zorder=4)
    middle, size = (corners.max(axis=0) + corners.min(axis=0)) / 2, float(np.ptp(corners, axis=0).max())
    far = float(np.nanmax(np.abs(turned - middle), initial=0.0))
    room = min(_FAR, max(0.6, 1.08 * far / size)) * size
    ax.set_xlim(middle[0] - room, middle[0] + room)
    ax.set_ylim(middle[1] - room, middle[1] + room)
    ax.set_aspect("equal")
    ax.set_title("load point, ahead is up  (m)")
    ax.set_xlabel("to the right  (m)")


def _shade(ax: Any, seen: VehicleMotion) -> None:
    """Shade the times at which the vehicle would tip over."""
    for start, end in seen.tip.spans:
        ax.axvspan(start, end, color=UNSAFE, alpha=0.14, linewidth=0)


def _over_time(ax: Any, seen: VehicleMotion, title: str) -> None:
    t = seen.ground.t
    ax.set_title(title)
    ax.set_xlabel("t  (s)")
    if len(t) > 1:
        ax.set_xlim(t[0], t[-1])


def _comes_near_limit(seen: VehicleMotion, what: str) -> bool:
    """Whether a component of the forces along the ground comes near what friction can give."""
    ground = seen.ground
    given = ground.limit * ground.normal.max(initial=0.0)
    return what != "normal" and given > 0 and bool(np.abs(getattr(ground, what)).max(initial=0.0) >= _NEAR * given)


def _draw_wheels(ax: Any, seen: VehicleMotion, what: str) -> None:
    """One curve for each wheel of a component of its force, with its sign; dashed, on both sides, all that friction can
    give along the ground, where forces come near it."""
    ground = seen.ground
    values, limited = getattr(ground, what), _comes_near_limit(seen, what)
    _shade(ax, seen)
    bounds = ground.limit * np.maximum(ground.normal, 0.0)
    for side in (1.0, -1.0) if limited else ():
        for k in range(values.shape[1]):
            ax.plot(ground.t, side * bounds[:, k], color=_wheel_color(k), linewidth=0.8, linestyle=_DASHES)
    _draw_curves(ax, ground.t, values, 1.8)
    if limited or values.min(initial=0.0) < 0:
        ax.axhline(0.0, color=INK, linewidth=0.7)
    largest = max(float(np.abs(getattr(ground, part)).max(initial=0.0)) for part in _SIGNS)
    if not limited and np.abs(values).max(initial=0.0) <= _NOTHING * largest:
        ax.set_ylim(-(largest or 1.0), largest or 1.0)  # of the size of the others
    ax.set_ylabel(_SIGNS[what])
    _over_time(ax, seen, f"{what} forces  (N)")


def _draw_curves(ax: Any, t: Array, values: Array, width: float) -> None:
    """Curves (k, n) in the colours of wheels; where one lies on others it is dashed, so that all of them are seen."""
    close = _CLOSE * (float(np.nanmax(values)) - float(np.nanmin(values)))
    for k in range(values.shape[1]):
        below = np.count_nonzero(np.abs(values[:, :k] - values[:, [k]]) <= close, axis=1)
        for level, dashes in enumerate(("solid", *_ALTERNATING)):
            here = np.minimum(below, len(_ALTERNATING)) == level
            if here.any():
                here[1:] |= here[:-1].copy()  # on to where the next piece begins
                shown = np.where(here, values[:, k], np.nan)
                ax.plot(t, shown, color=_wheel_color(k), linewidth=width, linestyle=dashes, dash_capstyle="butt")


def _draw_energy(ax: Any, seen: VehicleMotion) -> None:
    kinetic = seen.run.energy().kinetic
    ax.plot(seen.ground.t, kinetic, color=INK, linewidth=1.4)
    ax.set_ylim(0.0, 1.25 * float(kinetic.max()) or 1.0)
    _over_time(ax, seen, "kinetic energy  (J)")


def _draw_measure(ax: Any, seen: VehicleMotion) -> None:
    """The measure, thick, below those of all edges; unsafe spans shaded, and thick at the bottom, where no curve is."""
    t, tip = seen.ground.t, seen.tip
    _shade(ax, seen)
    ax.plot(t, tip.alpha, color=INK, linewidth=2.8, label="measure")
    _draw_curves(ax, t, tip.per_edge, 1.0)  # over the measure, which is one of them
    for k, (a, b) in enumerate(tip.edges):
        ax.plot([], [], color=_wheel_color(k), linewidth=1.0, label=f"edge {visible(a)}–{visible(b)}")
    ax.axhline(0.0, color=INK, linewidth=0.7)
    for k, span in enumerate(seen.tip.spans):
        label = None if k else seen.tip.verdict
        bar = {"color": UNSAFE, "linewidth": 6.0, "solid_capstyle": "butt", "transform": ax.get_xaxis_transform()}
        ax.plot(span, [0.0, 0.0], label=label, **bar)
    _over_time(ax, seen, "tip-over measure  (N rad)")
    ax.legend(ncols=1, fontsize=8, loc="upper left", bbox_to_anchor=(1.005, 1.02), borderaxespad=0.0)


def _friction_reach(seen: VehicleMotion) -> float:
    """How far the circles are drawn: the coefficient with room, or what is needed where there is none."""
    ground = seen.ground
    pressed = ground.normal > 0
    needed = np.hypot(ground.longitudinal, ground.lateral)[pressed] / ground.normal[pressed]
    usual = 2.0 * float(np.percentile(needed, 75)) if needed.size else 0.0  # it has a pole where a wheel lifts
    return 1.25 * max(ground.limit, min(usual, 2.0 * ground.limit) if ground.limit > 0 else usual) or 1.0


def _draw_circle(ax: Any, seen: VehicleMotion, k: int, reach: float) -> None:
    """Forces along the ground over the normal force, ahead is up, and the circle that friction allows."""
    ground, color = seen.ground, _wheel_color(k)
    pressed = ground.normal[:, k] > 0
    share = np.full((len(ground.t), 2), np.nan)
    share[pressed, 0] = -ground.lateral[pressed, k] / ground.normal[pressed, k]
    share[pressed, 1] = ground.longitudinal[pressed, k] / ground.normal[pressed, k]
    if ground.limit > 0:
        ax.add_patch(Circle((0, 0), ground.limit, facecolor=GRID, alpha=0.18, edgecolor="none"))
        ax.add_patch(Circle((0, 0), ground.limit, fill=False, edgecolor=INK, linewidth=0.9))
    ax.axhline(0.0, color=INK, linewidth=0.5)
    ax.axvline(0.0, color=INK, linewidth=0.5)
    ax.plot(share[:, 0], share[:, 1], color=color, linewidth=1.4)
    if pressed[0]:
        ax.plot(*share[0], "o", color=color, markersize=4)
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    ax.set_aspect("equal")
    ax.locator_params(nbins=4)
    ax.set_title(visible(ground.wheels[k]))
    ax.set_xlabel("right / normal")
    if k == 0:
        ax.set_ylabel("ahead / normal")


__all__ = ["VehicleMotion", "from_above", "overview", "tip_over", "wheel_forces"]
