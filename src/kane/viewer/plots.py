"""Plots of motions, efforts, conservation and operation counts, as matplotlib figures that need no display.

Functions return a `Picture`; `save` writes it, `svg` gives it as a piece of HTML whose ink takes the colour of the
page. Times in s, other quantities in SI units as labelled.
"""

from __future__ import annotations

import hashlib
import html
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ..backends.mathml import GREEK
from ..errors import InputError, visible
from ..model import Mechanism
from ..model.limits import limits_by_column
from ..simulate import Transition
from ..writing import replacing
from .figures import Picture
from .panels import Panel, page_of_panels, panels
from .shapes import PALETTE, Array
from .style import GRID, INK, STYLE
from .units import coordinate_units, effort_units

MOST_MODES = 40
"""Constraints that a diagram of modes has rows for."""

_GROWING = 1e-12  # real part of an eigenvalue, relative to its size, above which it grows


def motion(
    model: Mechanism, t: Array, q: Array, *, targets: Mapping[str, float] | None = None, title: str = ""
) -> Picture:
    """Coordinates over time; `targets` (name → value) are drawn dashed."""
    units, wanted, limits = coordinate_units(model), targets or {}, limits_by_column(model)
    shown = [
        Panel(subscript(name), q[:, i], unit, wanted.get(name), limits=limits.get(name))
        for i, (name, unit) in enumerate(zip(model.coordinates, units, strict=True))
    ]
    return page_of_panels(t, shown, title)


def modes(transitions: Sequence[Transition], end: float, title: str = "") -> Picture:
    """What each changing constraint does over time, until `end` (s): a bar where it holds or sticks, another where it
    slips, none where it is open; impulses are marks. Of very many, those that hold longest."""
    names = _busiest(transitions, end)
    left_out = len(transitions[0].mode) - len(names)
    high = 0.27 * len(names) + (1.25 if title else 0.95)
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, high), layout="constrained")
        ax = figure.subplots()
        for row, name in enumerate(names):
            for state, color in (("sticks", PALETTE[0]), ("slips", PALETTE[1])):
                spans = list(_spans(transitions, end, name, state))
                ax.broken_barh(spans, (row - 0.32, 0.64), facecolors=color, edgecolor="none")
            struck = [x.t for x in transitions if name in x.impulse]
            ax.plot(struck, [row] * len(struck), "|", color=INK, markersize=11, markeredgewidth=1.0)
        ax.set_yticks(range(len(names)), [visible(name) for name in names])
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.set_xlim(transitions[0].t, max(end, transitions[0].t + np.finfo(float).tiny))
        ax.set_xlabel("t  (s)" + (f";  {left_out} that hold for less long are left out" if left_out else ""))
        ax.grid(axis="y", visible=False)
        bars = [Patch(color=c, label=w) for w, c in (("holds, sticks", PALETTE[0]), ("slips", PALETTE[1]))]
        mark = Line2D([], [], color=INK, marker="|", linestyle="none", markersize=9, label="impulse")
        figure.legend(handles=[*bars, mark], ncols=3, fontsize=8, loc="outside upper right")
        if title:
            figure.suptitle(visible(title), x=0.01, ha="left", fontweight="bold", fontsize=11, color=INK)
    return figure


def _busiest(transitions: Sequence[Transition], end: float) -> list[str]:
    """Constraints in their order: all of them, or those that hold longest where they are more than a page takes."""
    names = list(transitions[0].mode)
    if len(names) <= MOST_MODES:
        return names
    held = dict.fromkeys(names, 0.0)
    for x, after in zip(transitions, [*(x.t for x in transitions[1:]), end], strict=True):
        for name, state in x.mode.items():
            held[name] += (state != "open") * (after - x.t)
    longest = set(sorted(names, key=lambda name: -held[name])[:MOST_MODES])
    return [name for name in names if name in longest]


def _spans(transitions: Sequence[Transition], end: float, name: str, state: str) -> Iterator[tuple[float, float]]:
    """(start, length) of the times in which a constraint is in a state, neighbours as one."""
    since = None
    for x in transitions:
        there = x.mode[name] == state
        if there and since is None:
            since = x.t
        elif not there and since is not None:
            yield since, x.t - since
            since = None
    if since is not None:
        yield since, end - since


def attitude(t: Array, wxyz: Array, R: Array, label: str) -> Picture:
    """An attitude over time, as by `attitude_panels`."""
    return panels(t, attitude_panels(wxyz, R, label))


def attitude_panels(wxyz: Array, R: Array, label: str) -> list[Panel]:
    """The panels of an attitude: quaternion (k, 4), yaw, pitch and roll of R (k, 3, 3), and the angle of the one turn
    about one axis that takes the axes of N to those of the body, 2 acos |w|, all but the first in degrees. Angles that
    run on beyond a turn have a panel of their own, in turns: beside them a nutation would not be seen."""
    turned = 2.0 * np.arctan2(np.linalg.norm(wxyz[:, 1:], axis=1), np.abs(wxyz[:, 0]))
    return [
        Panel(f"quaternion of {label}", wxyz, names=("w", "x", "y", "z")),
        *_angle_panels(yaw_pitch_roll(R), label),
        Panel(f"turn of {label} from N", np.degrees(turned), "°"),
    ]


def _angle_panels(angles: Array, label: str) -> list[Panel]:
    """Panels of yaw, pitch and roll (k, 3) in degrees: of those that stay within a turn, and of the others."""
    names = np.array(("yaw", "pitch", "roll"))
    far = np.nanmax(angles, axis=0) - np.nanmin(angles, axis=0) > 360.0
    within, beyond = (tuple(names[which].tolist()) for which in (~far, far))
    found = [Panel(label, angles[:, ~far], "°", names=within)]
    return found + ([Panel(label, angles[:, far] / 360.0, "turns", names=beyond)] if beyond else [])


def yaw_pitch_roll(R: Array) -> Array:
    """Yaw, pitch and roll (body 321) of rotations (k, 3, 3), as (k, 3) in degrees.

    Yaw and roll run on beyond ±180°. Where the pitch passes ±90° both jump by 180°: they are nan at the sample after
    that, so that no line is drawn, and begin again within ±180°.
    """
    yaw = np.arctan2(R[:, 1, 0], R[:, 0, 0])
    pitch = np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0))
    roll = np.arctan2(R[:, 2, 1], R[:, 2, 2])
    steps = [np.abs(np.angle(np.exp(1j * np.diff(angle)))) for angle in (yaw, roll)]
    steep = np.maximum(np.abs(pitch[1:]), np.abs(pitch[:-1])) > _STEEP
    jumps = np.flatnonzero((np.minimum(*steps) > 0.5 * np.pi) & steep) + 1
    for angle in (yaw, roll):
        for piece in np.split(np.arange(len(angle)), jumps):
            angle[piece] = np.unwrap(angle[piece])
        angle[jumps] = np.nan
    return np.degrees(np.column_stack([yaw, pitch, roll]))


_STEEP = np.radians(60.0)
"""Pitch beyond which a jump of yaw and roll between two samples is one over the pole."""


def efforts(
    model: Mechanism,
    t: Array,
    tau: Array,
    *,
    labels: Sequence[str] | None = None,
    signs: Sequence[float] | Array | None = None,
    title: str = "",
) -> Picture:
    """Efforts along the speeds over time; `labels` and `signs` show them in the convention of a paper."""
    names = labels or [subscript(f"tau_{s}") for s in model.speeds]
    turned = tau * np.asarray(signs if signs is not None else np.ones(tau.shape[1]))
    limits = limits_by_column(model)  # the same to both sides, whatever the signs
    shown = [
        Panel(name, turned[:, i], unit, limits=limits.get(f"tau_{model.speeds[i]}"))
        for i, (name, unit) in enumerate(zip(names, effort_units(model), strict=True))
    ]
    return page_of_panels(t, shown, title)


def _legend(ax: Any, columns: int, **more: Any) -> None:
    """Names of curves below the axes, where no curve is; what the axis is called moves to its right end."""
    ax.set_xlabel(ax.get_xlabel(), loc="right")
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, -0.14), ncols=columns, fontsize=8, borderaxespad=0.0, **more)


_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def subscript(name: str) -> str:
    """A name as it is written: q1 with its index below, theta1 as the letter with it, tau_u1 as that of the effort."""
    if name.startswith("tau_"):
        inner = re.fullmatch(r"u_?(\w+)", name[4:])
        index = inner.group(1) if inner else name[4:]
        return f"τ{index.translate(_BELOW)}" if index.isdecimal() else f"τ {index}"
    match = re.fullmatch(r"([A-Za-z]+?)_?(\d*)('*)", name)
    if match is None or not (len(match.group(1)) == 1 or match.group(1) in GREEK):
        return name
    return GREEK.get(match.group(1), match.group(1)) + match.group(2).translate(_BELOW) + match.group(3)


def set_names(expression: str) -> str:
    """An expression as it is written, every name in it as by `subscript`.

    >>> set_names("L1*cos(theta) - q2'")
    "L₁*cos(θ) − q₂'"
    """
    named = re.sub(
        r"(?<![\w.])[^\W\d]\w*(?:\.\w+)*'*", lambda name: "π" if name[0] == "pi" else subscript(name[0]), expression
    )
    return named.replace("-", "−")


def energy(t: Array, kinetic: Array, potential: Array, work: Array) -> Picture:
    """Energies and the work put in (J), and how far their balance strays from its start."""
    total = kinetic + potential
    balance = (total - work) - (total[0] - work[0])
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 2.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        for values, label, color in (
            (kinetic, "kinetic", PALETTE[0]),
            (potential - potential[0], "potential − start", PALETTE[1]),
            (work, "work of efforts and loads", PALETTE[2]),
            (total - total[0], "total − start", PALETTE[7]),
        ):
            style = (0, (4, 2)) if label.startswith("total") else "solid"
            left.plot(t, values, color=color, label=label, linestyle=style)
        left.set_title("energy and work  (J)")
        right.plot(t, balance, color=PALETTE[0], linewidth=1.0)
        right.set_title(f"energy − work, minus its start  (J):  |max| {np.max(np.abs(balance)):.1e}")
        _residual_limits(right, balance)
        for ax in (left, right):
            ax.set_xlabel("t  (s)")
            ax.set_xlim(t[0], t[-1])
        _legend(left, 2)
    return figure


def _residual_limits(ax: Any, values: Array) -> None:
    largest = float(np.max(np.abs(values), initial=0.0))
    room = 1.15 * largest if largest > 0 else 1e-15
    ax.set_ylim(-room, room)


def momentum(t: Array, linear: Array, angular: Array) -> Picture:
    """Linear (kg m/s) and angular momentum about the origin of N (kg m²/s), components in N."""
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 2.7), layout="constrained")
        for ax, values, title in zip(
            figure.subplots(1, 2),
            (linear, angular),
            ("linear momentum in N  (kg m/s)", "angular momentum about O in N  (kg m²/s)"),
            strict=True,
        ):
            for i, axis in enumerate("xyz"):
                ax.plot(t, values[:, i], color=PALETTE[i], label=axis)
            ax.set_title(title)
            ax.set_xlabel("t  (s)")
            ax.set_xlim(t[0], t[-1])
            _legend(ax, 3)
    return figure


def momentum_change(t: Array, linear: Array, central: Array) -> Picture:
    """How far linear momentum (kg m/s) and angular momentum about the mass centre (kg m²/s) stray from their start."""
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 2.5), layout="constrained")
        for ax, values, title in zip(
            figure.subplots(1, 2),
            (linear, central),
            ("p − its start  (kg m/s)", "H about the mass centre − its start  (kg m²/s)"),
            strict=True,
        ):
            strayed = values - values[0]
            for i, axis in enumerate("xyz"):
                ax.plot(t, strayed[:, i], color=PALETTE[i], label=axis, linewidth=1.0)
            ax.set_title(f"{title}:  |max| {np.max(np.abs(strayed)):.1e}")
            ax.set_xlabel("t  (s)")
            ax.set_xlim(t[0], t[-1])
            _residual_limits(ax, strayed)
            _legend(ax, 3)
    return figure


def residual(t: Array, values: Array, label: str) -> Picture:
    """A quantity that should stay zero."""
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 2.3), layout="constrained")
        ax = figure.subplots()
        ax.plot(t, values, color=PALETTE[0], linewidth=1.0)
        ax.set_title(f"{label}:  |max| {np.max(np.abs(values)):.1e}")
        ax.set_xlabel("t  (s)")
        ax.set_xlim(t[0], t[-1])
        _residual_limits(ax, values)
    return figure


def counts(rows: Mapping[str, Mapping[str, int]], *, note: str = "") -> Picture:
    """Multiplications and divisions beside additions, one pair of bars per name."""
    names = list(rows)
    times = [row.get("mul", 0) + row.get("div", 0) for row in rows.values()]
    plus = [row.get("add", 0) for row in rows.values()]
    y = np.arange(len(names))[::-1]
    with rc_context(STYLE):
        figure = Picture(figsize=(9.75, 0.46 * len(names) + 0.9), layout="constrained")
        ax = figure.subplots()
        for values, shift, color, label in (
            (times, 0.19, PALETTE[0], "multiplications and divisions"),
            (plus, -0.19, PALETTE[1], "additions"),
        ):
            bars = ax.barh(y + shift, values, height=0.36, color=color, label=label)
            ax.bar_label(bars, padding=3, fontsize=8, color=INK)
        ax.set_yticks(y, names)
        ax.grid(False, axis="y")
        ax.set_xlabel(note)
        _legend(ax, 2)
        ax.margins(x=0.08)
    return figure


def eigenvalues(values: Array, title: str = "") -> Picture:
    """Eigenvalues (1/s) in the complex plane; those that grow are in the second colour."""
    real, imaginary = np.real(values), np.imag(values)
    growing = real > _GROWING * np.abs(values)
    with rc_context(STYLE):
        figure = Picture(figsize=(4.8, 4.2), layout="constrained")
        ax = figure.subplots()
        ax.axvline(0.0, color=INK, linewidth=0.7)
        ax.axhline(0.0, color=INK, linewidth=0.7)
        for which, color, label in ((~growing, PALETTE[0], "decays or stays"), (growing, PALETTE[1], "grows")):
            if which.any():
                ax.plot(real[which], imaginary[which], "o", color=color, label=label)
        ax.set_xlabel("Re λ  (1/s)")
        ax.set_ylabel("Im λ  (rad/s)")
        ax.margins(0.12)
        _legend(ax, 2)
        if title:
            ax.set_title(visible(title))
    return figure


def eigenvalues_over(
    x: Array, values: Array, label: str, *, title: str = "", marks: Mapping[str, float] | None = None
) -> Picture:
    """Real parts and positive imaginary parts (1/s) of eigenvalues (len(x), n) over x, which `label` names; `marks`
    (name → x) are drawn as lines."""
    pair = np.abs(np.imag(values)) > 1e-9 * np.abs(values)
    with rc_context(STYLE):
        figure = Picture(figsize=(7.2, 4.4), layout="constrained")
        ax = figure.subplots()
        ax.axhline(0.0, color=INK, linewidth=0.7)
        across = np.broadcast_to(np.asarray(x)[:, None], values.shape)
        for which, part, color, name in (
            (~pair, np.real(values), PALETTE[0], "Re λ, real"),
            (pair, np.real(values), PALETTE[1], "Re λ, pair"),
            (pair & (np.imag(values) > 0), np.imag(values), PALETTE[7], "Im λ, pair"),
        ):
            ax.plot(across[which], part[which], ".", color=color, markersize=3, label=name)
        for name, place in (marks or {}).items():
            ax.axvline(place, color=GRID, linewidth=1.0, linestyle=(0, (4, 3)))
            ax.annotate(
                name, (place, 1.0), (3, -10), xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=8
            )
        ax.set_xlabel(label)
        ax.set_ylabel("λ  (1/s)")
        ax.set_xlim(float(np.min(x)), float(np.max(x)))
        _legend(ax, 3, markerscale=3)
        if title:
            ax.set_title(visible(title))
    return figure


def save(figure: Picture, path: Path | str) -> None:
    """Write a figure as .png, .svg or .pdf, on white."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".png", ".svg", ".pdf"):
        raise InputError(f"'{path}': a picture ends in .png, .svg or .pdf")
    with rc_context(STYLE), replacing(path) as stream:
        figure.savefig(stream, format=suffix[1:], dpi=160, facecolor="white")


_DOTS = 180
"""In an inch of what a drawing embeds as dots, since it would be too many polygons."""


def svg(figure: Picture, label: str = "") -> str:
    """The figure as an inline SVG element: no fonts, no links, ink in the colour of the page; `label` for readers."""
    stream = io.StringIO()
    with rc_context(STYLE):
        figure.savefig(stream, format="svg", transparent=True, dpi=_DOTS, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace(INK, "currentColor")
    for size in ("width", "height"):  # the page decides
        text = re.sub(rf'(<svg[^>]*?) {size}="[^"]*"', r"\1", text, count=1)
    text = text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(label)}" ', 1)
    return _own_names(text)


def _own_names(text: str) -> str:
    """Ids that no other figure of the page has."""
    tag = "f" + hashlib.sha256(text.encode()).hexdigest()[:8] + "-"
    text = re.sub(r'\bid="', f'id="{tag}', text)
    text = re.sub(r'href="#', f'href="#{tag}', text)
    return re.sub(r"url\(#", f"url(#{tag}", text)


__all__ = [
    "GRID",
    "INK",
    "STYLE",
    "Panel",
    "attitude",
    "attitude_panels",
    "counts",
    "efforts",
    "eigenvalues",
    "eigenvalues_over",
    "energy",
    "modes",
    "momentum",
    "momentum_change",
    "motion",
    "panels",
    "residual",
    "save",
    "subscript",
    "svg",
    "yaw_pitch_roll",
]
