"""Small plots side by side over one time axis: how many, how large, and without those in which nothing happens."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import rc_context

from ..errors import visible
from ..model.limits import SLACK
from .figures import Picture
from .shapes import PALETTE, Array
from .style import INK, STYLE

_CLOSE = 1e-3  # variation, relative to its size, below which a curve is drawn as what it is more than a round value
_STEADY = 1e-12  # variation, relative to its size, below which a curve is drawn as the constant it is


@dataclass(frozen=True, slots=True)
class Panel:
    """One small plot: a label with its unit, a curve over time, (k,), or several, (k, n), with their names; dashed,
    what it should reach or be; `limits` that it reaches are drawn, and the curve beyond them in another colour.
    `solved` are values that equations were solved for, a reaction say, and `cancels` is how large terms are that cancel
    in them, a force times a length in a moment."""

    label: str
    values: Array
    unit: str = ""
    target: float | None = None
    names: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    solved: bool = False
    cancels: float = 0.0


@dataclass(frozen=True, slots=True)
class Grid:
    """How panels stand on a page: so many in a row, each so wide and high (inches), in letters of a size (points)."""

    across: int
    wide: float
    high: float
    letters: float
    gap: float = 0.22  # between panels, as a part of their width: room for numbers

    @classmethod
    def of(cls, count: int) -> Grid:
        """For so many panels: one is as wide as a column of text, fifty fit on a page."""
        if count <= 2:
            return cls(count, 6.2 if count == 1 else 4.7, 3.0 if count == 1 else 2.7, 9.0)
        if count <= 12:
            return cls(2 if count == 4 else 3, 3.15, 2.05, 9.0)
        return cls(4, 2.5, 1.7, 8.0, 0.3) if count <= 28 else cls(5, 2.1, 1.4, 7.0, 0.38)


_LINES = ("solid", (0, (4, 2)), (0, (1, 1.5)))
"""Kinds of lines: the next where all colours are taken."""

MOST_CURVES = len(PALETTE) * len(_LINES)
"""Curves of a panel that can be told apart."""

MOST_PANELS = 60
"""Panels of a page; what else there is, is named below them."""


def panels(t: Array, shown: Sequence[Panel], title: str = "", note: str = "") -> Picture:
    """Small plots side by side over the same time axis; `note` stands below them."""
    if len(shown) > MOST_PANELS:
        rest = f"{len(shown) - MOST_PANELS} more are not drawn"
        note, shown = f"{note}; {rest}" if note else rest, shown[:MOST_PANELS]
    grid = _choose_grid(shown)
    down = -(-len(shown) // grid.across)
    wide = grid.wide * grid.across + 0.3
    said = textwrap.wrap(visible(note), int(_LETTERS * wide), max_lines=3, placeholder=" …")
    named = [panel.names for panel in shown if panel.names]
    alike = len(named) > 1 and len(set(named)) == 1  # one line of names serves all of them
    foot, head = 0.45 + 0.17 * len(said), (0.75 if title else 0.32) + (0.2 if alike else 0.0)
    with rc_context({**STYLE, "font.size": grid.letters, "axes.titlesize": grid.letters + 1}):
        figure = Picture(figsize=(wide, grid.high * down + foot + head - 0.57))
        axes = figure.subplots(down, grid.across, sharex=True, squeeze=False).ravel()
        lines = [0 if alike else _lines_of_names(panel, grid) for panel in shown]
        lifted = _lift_rows([n if panel.label else 0 for n, panel in zip(lines, shown, strict=True)], grid.across)
        labels = [panel.label for panel in shown]
        for i, (ax, panel) in enumerate(zip(axes, shown, strict=False)):
            after = _draw_panel(ax, t, panel, grid)
            label = shorten(panel.label, int(_TITLE * grid.wide / (grid.letters + 1.0)) - len(after), labels)
            ax.set_title(f"{label}{after}".strip(), pad=6.0 + 72.0 * _NAMES * lifted[i] * bool(panel.label))
            if panel.names and not alike:
                _name_curves(ax, ax, grid.letters, (1.0, 1.0), lines[i] + (not panel.label))
            ax.tick_params(labelsize=grid.letters)  # said here: how many there are room for is seen when they are drawn
            ax.tick_params(labelbottom=True)  # numbers in every row: the last one may be far below, or end before
            if i >= len(shown) - grid.across:
                ax.set_xlabel("t  (s)")
        high = _lay_out(
            figure, axes[: len(shown)], grid, [_NAMES * up for up in _lift_rows(lines, grid.across)], (foot, head)
        )
        for ax in axes[len(shown) :]:
            ax.set_visible(False)
        if alike:
            first = next(ax for ax, panel in zip(axes, shown, strict=False) if panel.names)
            _name_curves(figure, first, grid.letters, (1 - _RIGHT / wide, 1 - 0.23 / high))
        if len(t) > 1 and t[-1] != t[0]:
            axes[0].set_xlim(t[0], t[-1])
        if title:
            figure.suptitle(visible(title), x=0.01, ha="left", fontweight="bold", fontsize=11, color=INK)
        figure.text(0.1 / wide, 0.06 / high, "\n".join(said), fontsize=grid.letters - 1, color=INK)
    return figure


def _lay_out(figure: Any, drawn: Any, grid: Grid, raised: Sequence[float], ends: tuple[float, float]) -> float:
    """Give panels their places, with foot and head (inches) below and above them and titles that are raised so much;
    returns the height (inches) of the figure. Margins in inches: as good as a computed layout for panels that are all
    alike, and five times as fast."""
    down, wide, foot = -(-len(drawn) // grid.across), float(figure.get_size_inches()[0]), ends[0]
    head, apart = ends[1] + max(raised[: grid.across]), max(raised[grid.across :], default=0.0)
    body, gap = grid.high * down - 0.57, 0.36 if grid.across < 4 else 0.42
    gap += apart * (down + gap * (down - 1)) / body
    high = body + apart * (down - 1) + foot + head
    figure.set_size_inches(wide, high)
    figure.subplots_adjust(bottom=foot / high, top=1 - head / high, hspace=gap)
    room = [_label_width(ax, grid.letters) for ax in drawn]  # of numbers that the height has room for
    left = max(0.55, *room[:: grid.across])
    inner = max((x for i, x in enumerate(room) if i % grid.across), default=0.0) + _APART
    column = (wide - left - _RIGHT - inner * (grid.across - 1)) / grid.across
    figure.subplots_adjust(
        left=left / wide,
        right=1 - _RIGHT / wide,
        wspace=max(grid.gap, inner / column),
    )
    return high


_STROKES = 0.3  # of the distance between two strokes of a curve, the part that a stroke takes
_SWING = 0.03  # of the height of a panel: what is less is a wavering of the line
_LETTERS = 12.0  # that fit into an inch of a line
_TITLE = 0.85 * 72.0 / 0.6  # letters of a point of size that fit into an inch of a panel: they are 0.6 as wide
_NAMES = 0.17  # inches that a line of names of curves lifts the title
_MANY_LINES = 3  # of names above a panel
_RIGHT = 0.2  # inches right of the last axes: half of a number with five digits, which stands below their end
_APART = 0.12  # inches between a panel and the numbers of the next
_TICK = 0.15  # inches of a tick, between it and its number, and before the number
_HANDLE = 0.28  # inches of the piece of a curve beside its name, and of what parts names


def _label_width(ax: Any, letters: float) -> float:
    """Inches that the numbers of a y axis take, ticks included: letters are 0.62 of their size wide, on the average."""
    low, high = sorted(ax.get_ylim())
    places = [x for x in ax.yaxis.get_majorticklocs() if low <= x <= high]
    longest = max((len(text) for text in ax.yaxis.get_major_formatter().format_ticks(places)), default=0)
    return longest * 0.62 * letters / 72.0 + _TICK


def part_numbers(ax: Any, wide: float, letters: float) -> None:
    """Let an x axis that is so wide (inches) have no more numbers, in letters of a size, than stand apart;
    where not even two do, they are written without what is common to them, which stands at its end."""
    low, high = ax.get_xlim()
    for most in range(9, 0, -1):
        ax.locator_params(axis="x", nbins=most)
        places = ax.xaxis.get_majorticklocs()
        longest = max(map(len, ax.xaxis.get_major_formatter().format_ticks(places)), default=0)
        if longest * 0.62 * letters / 72.0 + _APART <= wide * float(np.diff(places).min(initial=np.inf)) / (high - low):
            return
    ax.locator_params(axis="x", nbins=4)
    ax.ticklabel_format(axis="x", useOffset=True)
    ax.xaxis.labelpad += letters + 2.0  # a line for it


def _choose_grid(shown: Sequence[Panel]) -> Grid:
    """The grid for some panels: that for their number, or two in a row where names of curves would stand in many lines
    above a narrower one."""
    grid = Grid.of(len(shown))
    crowded = any(_lines_of_names(panel, grid) >= _MANY_LINES for panel in shown)
    return Grid.of(2) if crowded and len(shown) > 2 else grid


def _lift_rows(lines: Sequence[int], across: int) -> list[int]:
    """By how many lines titles are lifted: all of a row as much as the most, so that they stand at one height."""
    rows = [max(lines[k : k + across]) for k in range(0, len(lines), across)]
    return [rows[i // across] for i in range(len(lines))]


def _lines_of_names(panel: Panel, grid: Grid) -> int:
    """Lines that names of curves take above the one a title has: none where both fit into one line. Beside a unit alone
    names stand on its line too."""
    letter, small = 0.6 * grid.letters / 72.0, 0.6 * (grid.letters - 1.0) / 72.0
    room, title = grid.wide / (1.0 + grid.gap) - _RIGHT, letter * (len(panel.label) + len(panel.unit) + 4)
    if not panel.names or (panel.label and title + sum(letter * len(name) + _HANDLE for name in panel.names) <= room):
        return 0
    widths, beside = [small * len(name) + _HANDLE for name in panel.names], 0.0 if panel.label else title
    lines = next((n for n in range(1, len(widths)) if _width_in_lines(widths, n) <= room - beside), len(widths))
    return lines if panel.label else lines - 1


def _width_in_lines(widths: Sequence[float], lines: int) -> float:
    """Width of names in so many lines, which are filled column by column."""
    return sum(float(np.max(column)) for column in np.array_split(np.asarray(widths), -(-len(widths) // lines)))


def _draw_panel(ax: Any, t: Array, panel: Panel, grid: Grid) -> str:
    """One panel; returns what its title says after the label: what is taken off the curve, and the unit."""
    level = _level(panel)
    curves = (panel.values if panel.values.ndim == 2 else panel.values[:, None]) - level
    for k in range(curves.shape[1]):
        label = shorten(panel.names[k], int(_LETTERS * 0.8 * grid.wide), panel.names) if panel.names else None
        round, color = divmod(k, len(PALETTE))
        width = _line_width(curves[:, k], _span(curves), grid)
        ax.plot(t, curves[:, k], color=PALETTE[color], linestyle=_LINES[round], linewidth=width, label=label)
    if panel.target is not None:
        ax.axhline(panel.target, color=PALETTE[1], linewidth=1.0, linestyle=(0, (4, 3)))
    _mark_limits(ax, t, panel)
    _steady_limits(ax, panel.values - level, panel.target)
    if grid.across > 3:
        ax.locator_params(axis="y", nbins=4)
    unit = " ".join(part for part in (power_of_ten(ax), panel.unit) if part)
    unit = f"  ({unit})" if unit else ""
    less = f" {'−' if level > 0.0 else '+'} {abs(level):.12g}" if level else ""
    return f"{less}{unit}"


def _span(values: Array) -> float:
    """How far finite values go, from the least to the largest."""
    finite = values[np.isfinite(values)]
    return float(np.ptp(finite)) if finite.size else 0.0


def _line_width(values: Array, high: float, grid: Grid) -> float:
    """Width (points) of a curve in a panel that goes so high: less where it swings so often that its own strokes would
    cover each other. What it swings by less than a stroke is wide is no swing."""
    steps = np.round(values[np.isfinite(values)] / (_SWING * high)) if high > 0.0 else np.zeros(1)
    rises = np.sign(np.diff(steps))
    rises = rises[rises != 0.0]
    turns = max(1, np.count_nonzero(rises[1:] != rises[:-1]))
    return float(np.clip(_STROKES * 72.0 * grid.wide / (1.0 + grid.gap) / turns, 0.4, STYLE["lines.linewidth"]))


def shorten(label: str, room: int, others: Sequence[str] = ()) -> str:
    """A label in so many letters, and another one than of `others` where that can be: what is after the last colon,
    "force" or "moment", stays, otherwise both ends.

    >>> shorten("left front suspension: moment", 20), shorten("u_flight_wx'", 10)
    ('left front…: moment', "u_fli…_wx'")
    """
    found = [
        short
        for way in range(_WAYS)
        if (short := _cut(label, room, way)) not in {_cut(other, room, way) for other in others if other != label}
    ]
    return found[0] if found else _cut(label, room, 0)


_WAYS = 4  # of cutting a label


def _cut(label: str, room: int, way: int) -> str:
    """A label in so many letters, of which its end has what is after the last colon, or else a half; a half; most;
    few."""
    if len(label) <= room:
        return label
    left, tail = room - 1, len(label) - label.rfind(":")
    named = tail if ":" in label and tail + 3 <= room else left // 2
    end = (named, left // 2, 3 * left // 4, left // 4)[way]
    return label[: max(1, left - end)].rstrip() + "…" + label[len(label) - end :]


def _level(panel: Panel) -> float:
    """What is taken off a curve that varies little about a large value, rounded to the digits that do not vary; zero of
    others, and where something else is drawn beside it."""
    finite = panel.values[np.isfinite(panel.values)]
    if not finite.size or panel.target is not None or panel.limits is not None:
        return 0.0
    size, varies = _size(finite), float(np.ptp(finite))
    if not _STEADY * max(size, 1.0) < varies < _CLOSE * size:
        return 0.0
    step = 10.0 ** np.ceil(np.log10(varies))
    return float(f"{step * np.round(np.mean(finite) / step):.12g}")


def power_of_ten(ax: Any) -> str:
    """The power of ten that the numbers of a y axis are to be multiplied by, to be said in the title: none where they
    are short."""
    largest = max(map(abs, ax.get_ylim()))
    power = int(np.floor(np.log10(largest) + 1e-9)) if 0.0 < largest < np.inf else 0
    low, high = STYLE["axes.formatter.limits"]
    if low < power < high:
        ax.ticklabel_format(axis="y", style="plain")
        return ""
    ax.ticklabel_format(axis="y", style="sci", scilimits=(power, power))
    ax.yaxis.get_offset_text().set_visible(False)
    return f"10{str(power).translate(_ABOVE)}"


_ABOVE = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _mark_limits(ax: Any, t: Array, panel: Panel) -> None:
    """Show limits that a curve reaches, and where it is beyond them."""
    if panel.limits is None:
        return
    beyond = np.zeros(len(panel.values), dtype=bool)
    for side, bound in zip((-1.0, 1.0), panel.limits, strict=True):
        if not np.isfinite(bound):
            continue
        excess, slack = side * (panel.values - bound), SLACK * max(1.0, abs(bound))
        beyond |= excess > slack
        if np.any(excess >= -slack):
            ax.axhline(bound, color=PALETTE[1], linewidth=0.8, linestyle=":", label="_limit")
    if beyond.any():
        ax.plot(t, np.where(beyond, panel.values, np.nan), color=PALETTE[1], label="beyond its limits")


def _name_curves(place: Any, ax: Any, letters: float, corner: tuple[float, float], lines: int = 1) -> None:
    """Names of the curves of a panel in lines that end at a corner, above the axes, where no curve is."""
    handles, labels = ax.get_legend_handles_labels()
    close = {
        "handlelength": 1.0,
        "columnspacing": 0.9,
        "handletextpad": 0.4,
        "labelspacing": 0.25,
        "borderaxespad": 0.0,
        "borderpad": 0.1,
    }
    where = {"loc": "lower right", "bbox_to_anchor": corner}
    place.legend(handles, labels, ncols=-(-len(labels) // max(1, lines)), fontsize=letters - 1, **close, **where)


NOTHING = 1e-12
"""A curve that is smaller than that, beside the largest of its kind, is rounding."""


SOLVED_NOTHING = 1e-9
"""The same of reactions, which follow from accelerations that were solved for: rounding is larger there."""


def leave_out_nothing(shown: Sequence[Panel], *, alone: bool = True) -> tuple[list[Panel], list[str]]:
    """(panels, labels of those left out): without those in which nothing happens; all of them may be, unless they are
    `alone` on their page."""
    empty = are_nothing(shown, alone=alone)
    kept = [panel for panel, nothing in zip(shown, empty, strict=True) if not nothing]
    return kept, [panel.label for panel, nothing in zip(shown, empty, strict=True) if nothing]


def are_nothing(shown: Sequence[Panel], *, alone: bool = True) -> list[bool]:
    """Which panels are zero, or rounding beside others of their unit, and should be. Where all of them are, and nothing
    else is drawn, none is said to be: nothing moves, and that is what there is to see."""
    largest: dict[str, float] = {}
    for panel in shown:
        largest[panel.unit] = max(largest.get(panel.unit, 0.0), _size(panel.values))
    empty = [
        _size(panel.values)
        <= (SOLVED_NOTHING if panel.solved else NOTHING) * max(largest[panel.unit], panel.cancels, 1.0)
        and not panel.target
        for panel in shown
    ]
    return [False] * len(empty) if alone and all(empty) else empty


def _size(values: Array) -> float:
    """The largest magnitude among the finite values."""
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))


def page_of_panels(t: Array, shown: Sequence[Panel], title: str = "") -> Picture:
    """Panels without those in which nothing happens, which are named below them."""
    kept, left_out = leave_out_nothing(shown)
    return panels(t, kept, title, name_left_out(left_out))


def name_left_out(labels: Sequence[str]) -> str:
    """The note that names what is not drawn; nothing where all is."""
    names = ", ".join(labels[:12]) + (f" and {len(labels) - 12} more" if len(labels) > 12 else "")
    return f"zero throughout: {names}" if labels else ""


def _steady_limits(ax: Any, values: Array, target: float | None) -> None:
    """Do not blow up the rounding of a curve that is constant to the eye."""
    size = max(_size(values), abs(target or 0.0))
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    if float(np.ptp(finite)) <= _STEADY * max(size, 1.0) or size < 1e-300:
        middle = float(np.mean(finite)) if size >= 1e-300 else 0.0
        room = 0.1 * abs(middle) if abs(middle) > _STEADY else 1.0
        ax.set_ylim(middle - room, middle + room)


__all__ = [
    "MOST_CURVES",
    "NOTHING",
    "Grid",
    "Panel",
    "are_nothing",
    "leave_out_nothing",
    "name_left_out",
    "page_of_panels",
    "panels",
    "part_numbers",
]
