"""Pictures of many motions: fans over time, histograms of outcomes, scatter of what differs against a result, rankings,
maps over two things that differ. Members that failed are crosses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any, Protocol

import numpy as np
from matplotlib import rc_context

from ..errors import visible
from .figures import Picture
from .panels import NOTHING, Panel, are_nothing, name_left_out, part_numbers, power_of_ten
from .plots import INK, STYLE, subscript
from .shapes import PALETTE, Array

SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Quantiles of a fan: two bands and the curve in the middle."""

BANDS = (0.18, 0.45)
"""How opaque the bands of a fan are that hold nine tenths and half of the members, the second over the first."""

MEDIAN = 0.9
"""Width (points) of the line of a median: one of another colour than the bands, which does not cover a narrow one."""

MOST_DOTS = 20_000
"""Members of a scatter that are drawn; more make one blot."""

FEW = 4
"""Members of a cell below which its mean is marked as one of few: it is off by half their deviation and more."""

MOST_BARS = 40
"""Bars of a ranking, the largest."""

TITLE = 9.5
"""Letters of a title in an inch of a figure."""

NOTE = 14
"""Letters of what is said below plots in an inch of a figure."""

MARGIN = 0.7
"""Inches beside the axes of a plot."""

WORDS = 22
"""Letters of a line beside a bar that says how members ended."""

COLOURS = "viridis"
"""Colours of a map, by their name in matplotlib."""

FAILED = PALETTE[1]
PARTS = 12
"""Parts along an axis, with as many members in each, in which the share is drawn that says yes."""

_STEMS = ("start", "end", "first", "crossings", "occurs", "low", "high")


@dataclass(frozen=True, slots=True)
class Label:
    """What is along an axis, and its unit."""

    name: str
    unit: str = ""

    def __str__(self) -> str:
        stem, _, rest = self.name.partition("_")
        words = {"first": f"first '{rest}'", "crossings": f"times of '{rest}'", "low": f"least {subscript(rest)}"}
        words |= {"high": f"greatest {subscript(rest)}", "start": f"{subscript(rest)} at the start"}
        words |= {"end": f"{subscript(rest)} at the end", "occurs": f"whether '{rest}' occurs"}
        name = words[stem] if rest and stem in _STEMS else subscript(self.name)
        return visible(f"{name}  ({self.unit})" if self.unit else name)

    @property
    def is_answer(self) -> bool:
        """Whether its values are 0 for no and 1 for yes."""
        return self.name.startswith("occurs_")

    @property
    def mean(self) -> str:
        """What the mean of some members is."""
        return visible(f"share in which '{self.name.partition('_')[2]}' occurs") if self.is_answer else str(self)


@dataclass(frozen=True, slots=True)
class Fan:
    """A quantity over time for all members: quantiles (5, k) at SHARES, and its extremes (k,)."""

    label: Label
    quantiles: Array
    low: Array
    high: Array


SMALL, ALONE = (3.15, 2.3), (9.45, 6.0)
"""Width and height (inches) of one of several plots, and of one that is a picture by itself."""


def _figure(count: int, title: str, each: tuple[float, float] = SMALL) -> tuple[Picture, Any]:
    """A figure of so many small plots, three to a row, and its axes."""
    across = max(1, min(3, count))
    down = -(-count // across)
    wide = max(each[0] * across + 0.3, 9.75)  # as wide as all figures of a page, so that letters have one size
    figure = Picture(figsize=(wide, each[1] * down + (0.5 if title else 0.2)), layout="constrained")
    axes = figure.subplots(down, across, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_visible(False)
    _write_title(figure, title)
    return figure, axes


def _write_title(figure: Picture, title: str) -> None:
    """Write a title over a figure, in as many lines as its width asks for; for more than one the figure grows."""
    if not title:
        return
    width, height = figure.get_size_inches()
    lines = wrap(visible(title), int(TITLE * width))
    figure.set_size_inches(width, height + 0.2 * (len(lines) - 1))
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontweight="bold", fontsize=11, color=INK)


def fans(t: Array, watched: Sequence[Fan], title: str = "") -> Picture:
    """Bands that hold half and nine tenths of the members, the median, and the extremes; what is zero throughout, but
    for rounding, is named below them. Bands too narrow to be seen are drawn once more, about the median."""
    still = are_nothing([Panel(fan.label.name, np.array([fan.low, fan.high]), fan.label.unit) for fan in watched])
    moving = [fan for fan, nothing in zip(watched, still, strict=True) if not nothing]
    shown = [one for fan in moving for one in ((str(Label(fan.label.name)), fan), *_about_median(fan))]
    note = name_left_out([str(Label(fan.label.name)) for fan, nothing in zip(watched, still, strict=True) if nothing])
    with rc_context(STYLE):
        figure, axes = _figure(len(shown), title, SMALL if len(shown) > 1 else ALONE)
        for ax, (name, fan) in zip(axes, shown, strict=False):
            for k, alpha in enumerate(BANDS):
                ax.fill_between(t, fan.quantiles[k], fan.quantiles[4 - k], color=PALETTE[0], alpha=alpha, linewidth=0)
            ax.plot(t, fan.quantiles[2], color=INK, linewidth=MEDIAN)
            for edge in (fan.low, fan.high):
                edge = np.where(np.isfinite(edge), edge, np.nan)
                ax.plot(t, edge, color=INK, linewidth=0.6, linestyle=(0, (3, 3)))
            unit = " ".join(part for part in (power_of_ten(ax), fan.label.unit) if part)
            ax.set_title(visible(f"{name}  ({unit})" if unit else name))
            ax.set_xlim(t[0], t[-1])
            ax.set_xlabel("t  (s)")
        both = 1.0 - (1.0 - BANDS[0]) * (1.0 - BANDS[1])
        handles = [
            axes[0].fill_between([], [], [], color=PALETTE[0], alpha=both, linewidth=0, label="half of the members"),
            axes[0].fill_between([], [], [], color=PALETTE[0], alpha=BANDS[0], linewidth=0, label="nine tenths"),
            *axes[0].plot([], [], color=INK, linewidth=MEDIAN, label="median"),
            *axes[0].plot([], [], color=INK, linewidth=0.6, linestyle=(0, (3, 3)), label="extremes"),
        ]
        said = "\n".join(wrap(visible(note), int(NOTE * figure.get_size_inches()[0]))) or None
        figure.legend(handles=handles, ncols=4, fontsize=8, loc="outside lower center", title=said, title_fontsize=8)
    return figure


NARROW = 0.03
"""Width of a band, as a part of the height of its plot, below which it looks like a line."""


def _about_median(fan: Fan) -> list[tuple[str, Fan]]:
    """The name and the fan of what members have beyond their median, where bands are too narrow to be seen; none where
    they differ by rounding alone."""
    middle, bands = fan.quantiles[2], fan.quantiles[4] - fan.quantiles[0]
    finite = np.concatenate([edge[np.isfinite(edge)] for edge in (fan.low, fan.high)])
    if not finite.size or not np.isfinite(bands).any():
        return []
    widest, high = float(np.nanmax(bands)), float(np.ptp(finite))
    if not NOTHING * max(1.0, float(np.abs(finite).max())) < widest < NARROW * high:
        return []
    about = Fan(fan.label, fan.quantiles - middle, fan.low - middle, fan.high - middle)
    return [(f"{Label(fan.label.name)} − its median", about)]


class Counted(Protocol):
    """How some members ended: in words, how many, and whether that is a success."""

    @property
    def words(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def success(self) -> bool: ...


def histogram(values: Array, endings: Sequence[Counted], label: Label, title: str = "") -> Picture:
    """How a result is distributed and, where members ended in several ways, how many in each."""
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 3.2), layout="constrained")
        several = len(endings) > 1
        left, *right = figure.subplots(1, 1 + several, width_ratios=(2.2, 1)[: 1 + several], squeeze=False)[0]
        _draw_histogram(left, label, values, 9.75 * (2.2 / 3.2 if several else 1.0) - MARGIN)
        left.set_ylabel("members")
        for ax in right:
            _draw_endings(ax, endings)
        _write_title(figure, title)
    return figure


def _draw_endings(ax: Any, endings: Sequence[Counted]) -> None:
    """Draw how many members ended in which way, the first on top."""
    colors = [PALETTE[0] if ending.success else FAILED for ending in endings]
    words = ["\n".join(wrap(visible(ending.words), WORDS)) for ending in endings]
    bars = ax.barh(words, [ending.count for ending in endings], color=colors, height=0.6)
    ax.bar_label(bars, padding=3, fontsize=8, color=INK)
    ax.invert_yaxis()
    ax.set_title("how members ended")
    ax.grid(False, axis="y")
    ax.margins(x=0.16)


def histograms(results: Sequence[tuple[Label, Array]], title: str = "") -> Picture:
    """How some results are distributed."""
    with rc_context(STYLE):
        figure, axes = _figure(len(results), title, (3.15, 2.5))
        for ax, (label, values) in zip(axes, results, strict=False):
            _draw_histogram(ax, label, values, 9.75 / max(1, min(3, len(results))) - MARGIN)
        axes[0].set_ylabel("members")
    return figure


def _draw_histogram(ax: Any, label: Label, values: Array, wide: float) -> None:
    """Draw how a result is distributed, in axes that are so wide (inches)."""
    good = values[np.isfinite(values)]
    steady = _constant_value(good) if good.size > 1 and not label.is_answer else None
    if good.size and label.is_answer:
        counts = [int(np.count_nonzero(good == answer)) for answer in (0.0, 1.0)]
        bars = ax.bar([0.0, 1.0], counts, color=PALETTE[0], width=0.6)
        ax.bar_label(bars, [f"{count}, {count / good.size:.1%}" for count in counts], padding=2, fontsize=8, color=INK)
        ax.set_xticks([0.0, 1.0], ["no", "yes"])
        ax.margins(y=0.12)
    elif steady is not None:
        _write_inside(ax, f"{steady:.6g} in all of them, to rounding")
    elif good.size:
        bins = int(np.clip(np.sqrt(good.size), 10, 80))
        ax.hist(good, bins=bins, color=PALETTE[0], edgecolor="white", linewidth=0.4)
        part_numbers(ax, wide, STYLE["font.size"])
    else:
        _write_inside(ax, "no member has it")
    ax.set_axisbelow(True)
    if good.size and steady is None:
        ax.yaxis.get_major_locator().set_params(integer=True)  # of members
    ax.set_xlabel(str(label))
    missing = values.size - good.size
    ax.set_title(f"{good.size} members" + (f", {missing} without" if missing else ""))


def _write_inside(ax: Any, sentence: str) -> None:
    """Words in place of what cannot be drawn, and no numbers along the axes."""
    ax.set(xticks=[], yticks=[])
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", color=INK, fontsize=9)


def absence(label: Label, result: Array, title: str = "") -> Picture:
    """In place of a picture of a result that no member has, or that depends on nothing: words that say why."""
    with rc_context(STYLE):
        figure, (ax,) = _figure(1, title)
        _write_inside(ax, _explain_absence(label, result[np.isfinite(result)]))
    return figure


def _explain_absence(label: Label, known: Array) -> str:
    """Why a result depends on nothing, by its values in the members that have it."""
    what = Label(label.name)
    if not known.size:
        return f"no member has it: {what}"
    if np.ptp(known) > 0.0:
        return f"too few members have it beside numbers that differ: {what}"
    if label.is_answer:
        return visible(f"'{label.name.partition('_')[2]}' occurs in {'every' if known[0] else 'no'} member")
    return f"{known[0]:.4g} in all members that have it: {what}"


def scatter(given: Sequence[tuple[Label, Array]], result: Array, good: Any, label: Label, title: str = "") -> Picture:
    """A result over each thing that differs. Members without it are thin strokes in a strip of their own at the lower
    edge, those that failed are crosses in it; the legend says how many they are, and their share."""
    there = good & np.isfinite(result)
    without = f"without {Label(label.name)}"
    beside = {word: which for word, which in ((without, good & ~there), ("failed", ~good)) if which.any()}
    strip = STRIP * len(beside)
    with rc_context(STYLE):
        figure, axes = _figure(max(1, len(given)), title, (3.3, 2.7))
        shown = _some(there)
        y = result[shown]
        low, high = (float(y.min()), float(y.max())) if y.size else (0.0, 1.0)
        size = float(np.clip(6000 / max(1, y.size), 1.0, 14.0))
        for ax, (name, x) in zip(axes, given, strict=False):
            ax.scatter(x[shown], y, s=size, color=PALETTE[0], alpha=0.6, linewidth=0, rasterized=True)
            for row, (word, which) in enumerate(beside.items()):
                _draw_beside(ax, x[_some(which)], row, word)
            ax.set_xlabel(str(name))
            part_numbers(ax, figure.get_figwidth() / min(3, len(given)) - MARGIN, STYLE["font.size"])
            _keep_clear(ax, low, high, strip)
            if label.is_answer:
                ax.plot(*_shares_along(x[shown], y), color=PALETTE[1], linewidth=1.2)
                ax.set_yticks([0.0, 0.5, 1.0], ["no", "half", "yes"])
        axes[0].set_ylabel(str(label))
        handles = [axes[0].scatter([], [], s=14, color=PALETTE[0], label=_count_text("members", there))]
        if label.is_answer:
            handles += axes[0].plot([], [], color=PALETTE[1], linewidth=1.2, label="share of them")
        for word, which in beside.items():
            marker, color = _look_of(word)
            handles += axes[0].plot([], [], marker, color=color, markersize=6, label=_count_text(word, which))
        figure.legend(handles=handles, ncols=4, fontsize=8, loc="outside lower center")
    return figure


STRIP = 0.08
"""Height of the strip of members without a result, and of that of those that failed, as a part of the axes."""


def _look_of(word: str) -> tuple[str, str]:
    """(marker, colour) of members that have no place along the axis of a result: that failed, or do not have it."""
    return ("x", FAILED) if word == "failed" else ("|", INK)


def _some(which: Any) -> Any:
    """Indices of the members that `which` (n,) says, MOST_DOTS of them at most."""
    places = np.flatnonzero(which)
    return places[np.unique(np.linspace(0, len(places) - 1, min(len(places), MOST_DOTS)).astype(int))]


def _count_text(word: str, which: Any) -> str:
    """How many members these are, and which share of all; what is one in a thousand is not said to be none."""
    count, share = int(np.count_nonzero(which)), float(np.mean(which))
    return f"{word}: {count}" + (f" ({100 * share:.3g} %)" if count < len(which) else "")


def _draw_beside(ax: Any, x: Array, row: int, word: str) -> None:
    """Members that have no place along the axis of a result, in a row of the strip at the lower edge: many strokes
    are faint, so that they show where members are many and where few."""
    marker, color = _look_of(word)
    faint = float(np.clip(400 / max(1, len(x)), 0.1, 0.7))
    across = ax.get_xaxis_transform()
    if marker == "|":
        ends = STRIP * (row + 0.15), STRIP * (row + 0.75)
        ax.vlines(x, *ends, transform=across, color=color, linewidth=0.5, alpha=faint, rasterized=True)
    else:
        at = np.full(x.shape, STRIP * (row + 0.45))
        look: dict[str, Any] = {"color": color, "markersize": 3.5, "markeredgewidth": 0.7, "clip_on": False}
        ax.plot(x, at, marker, transform=across, alpha=max(faint, 0.4), rasterized=True, **look)


def _keep_clear(ax: Any, low: float, high: float, strip: float) -> None:
    """Let an axis go from low to high above a strip at its lower edge, in which it has no numbers."""
    room = 0.05 * ((high - low) or 1.0)
    bottom, top = low - room, high + room
    ax.set_ylim(bottom - (top - bottom) * strip / (1.0 - strip), top)
    if strip:
        ax.set_yticks([tick for tick in ax.get_yticks() if bottom <= tick <= top])
        ax.axhspan(ax.get_ylim()[0], bottom, color=INK, alpha=0.07, linewidth=0)


def _shares_along(x: Array, answers: Array) -> tuple[Array, Array]:
    """(middles of PARTS with as many members in each, the share of these that says yes)."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, min(PARTS, len(order))) if part.size]
    return np.array([x[part].mean() for part in parts]), np.array([answers[part].mean() for part in parts])


def ranking(ranks: Mapping[Label, tuple[float, float]], label: Label, known: int, title: str = "") -> Picture:
    """What matters for a result, which `known` members have: bars of its rank correlation with each thing that differs,
    and with its distance from the median; within the grey band they may be chance (2/√n)."""
    names = list(ranks)[:MOST_BARS]
    at = np.arange(len(names))[::-1]
    low = min((x for name in names for x in ranks[name] if np.isfinite(x)), default=0.0)
    with rc_context(STYLE):
        figure = Picture(figsize=(6.4, 0.46 * max(1, len(names)) + 1.6), layout="constrained")
        ax = figure.subplots()
        chance = min(1.0, 2.0 / max(1, known) ** 0.5)
        ax.axvspan(-chance if low < 0 else 0.0, chance, color=INK, alpha=0.08, linewidth=0, label="may be chance")
        for k, (word, color) in enumerate((("as it grows", PALETTE[0]), ("away from its median", PALETTE[2]))):
            values = np.array([ranks[name][k] for name in names])
            ax.barh(at + 0.19 * (1 - 2 * k), np.nan_to_num(values), color=color, height=0.36, label=word)
            for y, value in zip(at + 0.19 * (1 - 2 * k), values.tolist(), strict=True):
                text = f"{value:+z.2f}" if np.isfinite(value) else "–"
                ax.text(1.02, y, text, transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=INK)
        ax.set_yticks(at, [str(Label(name.name)) for name in names])
        ax.axvline(0.0, color=INK, linewidth=0.7)
        ax.set_axisbelow(True)
        ax.set_xlim(-1.0 if low < 0 else 0.0, 1.0)
        ax.set_xticks([tick for tick in (-1.0, -0.5, 0.0, 0.5, 1.0) if tick >= ax.get_xlim()[0]])
        ax.grid(False, axis="y")
        ax.set_xlabel(f"rank correlation with {Label(label.name)}")
        figure.legend(ncols=3, fontsize=8, loc="outside lower center")
        _write_title(figure, title)
    return figure


class Explained(Protocol):
    """Shares of a variance that a number explains alone (first order) and with all others (total), between which two
    each is known to lie, and by how many members."""

    @property
    def first(self) -> float: ...
    @property
    def total(self) -> float: ...
    @property
    def first_interval(self) -> tuple[float, float]: ...
    @property
    def total_interval(self) -> tuple[float, float]: ...
    @property
    def members(self) -> int: ...


def shares(indices: Mapping[Label, Explained], label: Label, title: str = "") -> Picture:
    """How much of the variance of a result each number explains: alone, and with all others, with what is known of it
    as a line; the largest first."""
    names = sorted(indices, key=lambda name: -indices[name].total)[:MOST_BARS]
    at = np.arange(len(names))[::-1]
    low = high = 0.0
    with rc_context(STYLE):
        figure = Picture(figsize=(6.4, 0.46 * max(1, len(names)) + 1.7), layout="constrained")
        ax = figure.subplots()
        for k, (word, color) in enumerate((("alone", PALETTE[0]), ("with all others", PALETTE[2]))):
            values = np.array([(indices[x].first, indices[x].total)[k] for x in names])
            ends = np.array([(indices[x].first_interval, indices[x].total_interval)[k] for x in names])
            y = at + 0.19 * (1 - 2 * k)
            ax.barh(y, values, color=color, height=0.36, label=word)
            ax.hlines(y, ends[:, 0], ends[:, 1], color=INK, linewidth=1.1)
            for place, value, (least, most) in zip(y, values, ends, strict=True):
                text = f"{value:z.2f}  ({least:z.2f} to {most:z.2f})"
                ax.text(1.02, place, text, transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=INK)
            low, high = min(low, *values, *ends[:, 0]), max(high, *values, *ends[:, 1])
        ax.set_yticks(at, [str(Label(name.name)) for name in names])
        ax.set_axisbelow(True)
        ax.set_xlim(low - 0.02 if low < 0 else 0.0, max(1.0, high + 0.02))  # estimates, of small shares below zero too
        ax.grid(False, axis="y")
        ax.set_xticks([0.0, 0.25, 0.5, 0.75, 1.0])
        by = f", by {indices[names[0]].members} members" if names else ""
        ax.set_xlabel(f"share of the variance of {Label(label.name)}{by}")
        ax.plot([], [], color=INK, linewidth=1.1, label="95 % confidence")
        figure.legend(ncols=3, fontsize=8, loc="outside lower center")
        _write_title(figure, title)
    return figure


@dataclass(frozen=True, slots=True)
class CellCounts:
    """How many members each cell of a map has, (rows, columns), and how many of them have the result."""

    members: Array
    results: Array


def map_over(
    x: Array,
    y: Array,
    values: Any,
    labels: tuple[str, str, str],
    title: str = "",
    counts: CellCounts | None = None,
    bounds: tuple[float, float] | None = None,
    **lines: Any,
) -> Picture:
    """Values (len(y), len(x)) as colours over two things that differ, nan left white; `lines` (name → (x, y)) are drawn
    over them. The labels are those of x, y and the colours, which go from the least to the largest value, or over
    `bounds`. With `counts` it is said what white cells are, cells whose members have no result are grey, and those with
    few results have a dot."""
    with rc_context(STYLE):
        figure = Picture(figsize=(6.6, 5.2), layout="constrained")
        ax = figure.subplots()
        steady = _constant_value(values)
        shown = values if steady is None else np.where(np.isfinite(values), steady, np.nan)
        low, high = (None, None) if bounds is None else bounds
        drawn = ax.pcolormesh(x, y, shown, cmap=COLOURS, vmin=low, vmax=high, shading="nearest", rasterized=True)
        keys = [] if counts is None else _mark_cells(ax, x, y, counts)
        for (name, (across, up)), color in zip(lines.items(), (PALETTE[1], INK, PALETTE[2]), strict=False):
            ax.plot(
                across, up, color=color, linewidth=1.6, linestyle=(0, (5, 2)), label=visible(name.replace("_", " "))
            )
        if lines or keys:
            handles = [*ax.get_lines()[: len(lines)], *keys]
            figure.legend(handles=handles, ncols=3, fontsize=8, loc="outside lower center")
        for axis, set_limits, at in ((ax.xaxis, ax.set_xlim, x), (ax.yaxis, ax.set_ylim, y)):
            half = 0.5 * float(np.ptp(at)) / max(1, len(at) - 1)
            set_limits(*_reach_ticks(axis, float(np.min(at)) - half, float(np.max(at)) + half))
        ax.grid(False)
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
        if steady is None:
            figure.colorbar(drawn, ax=ax, label=labels[2], shrink=0.85)
        else:
            ax.set_title(f"{labels[2]}: {steady:.6g} everywhere, to rounding")
        _write_title(figure, title)
    return figure


NEARLY = 0.02
"""How far from a round number an axis may end, as a part of its length, and is drawn to it: numbers that are drawn
between -1 and 1 end just short of them."""


def _reach_ticks(axis: Any, low: float, high: float) -> tuple[float, float]:
    """Ends of an axis from low to high, moved out to round numbers that are nearly reached, which then have a tick."""
    ticks, room = axis.get_major_locator().tick_values(low, high), NEARLY * (high - low)
    below = [float(tick) for tick in ticks if low - room <= tick <= low]
    above = [float(tick) for tick in ticks if high <= tick <= high + room]
    return max(below, default=low), min(above, default=high)


def _constant_value(values: Any) -> float | None:
    """The value that all have but for rounding, None where they differ: colours would make a landscape of rounding."""
    finite = np.asarray(values)[np.isfinite(values)]
    size = float(np.abs(finite).max(initial=0.0))
    if not finite.size or float(np.ptp(finite)) > NOTHING * max(size, 1.0):
        return None
    return float(np.mean(finite)) if size > NOTHING else 0.0


def _mark_cells(ax: Any, x: Array, y: Array, counts: CellCounts) -> list[Any]:
    """Mark cells without results, or with few; returns keys that say what is marked, and in how many cells."""
    from matplotlib import colormaps
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    empty, silent = counts.members == 0, (counts.members > 0) & (counts.results == 0)
    few = (counts.results > 0) & (counts.results < FEW)
    keys: list[Any] = []
    if empty.any():
        keys.append(Patch(facecolor="white", edgecolor=INK, label=f"no member: {_cells_text(empty)}"))
    if silent.any():
        grey = np.ma.masked_where(~silent, np.full(silent.shape, 0.5))
        ax.pcolormesh(x, y, grey, cmap="gray", vmin=0.0, vmax=0.67, shading="nearest", rasterized=True)
        keys.append(Patch(facecolor="#bfbfbf", label=f"members without it: {_cells_text(silent)}"))
    if counts.members.max(initial=0.0) == 1:
        keys.append(Patch(facecolor=colormaps[COLOURS](0.5), label="one member in a cell"))
    elif few.any():
        rows, columns = np.nonzero(few)
        look: dict[str, Any] = {"linestyle": "", "marker": "o", "color": INK, "markerfacecolor": "white"}
        ax.plot(x[columns], y[rows], markersize=3.0, markeredgewidth=0.6, **look)
        dot = Line2D([], [], markersize=4.0, markeredgewidth=0.6, **look)
        dot.set_label(f"fewer than {FEW} members: {_cells_text(few)}")
        keys.append(dot)
    return keys


def _cells_text(which: Any) -> str:
    count = int(np.count_nonzero(which))
    return f"{count} cell{'s' * (count != 1)}"


__all__ = [
    "SHARES",
    "CellCounts",
    "Fan",
    "Label",
    "absence",
    "fans",
    "histogram",
    "histograms",
    "map_over",
    "ranking",
    "scatter",
    "shares",
]
