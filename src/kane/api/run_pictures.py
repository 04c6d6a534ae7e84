"""Pictures of a motion: coordinates, speeds, attitudes, efforts, reactions, energy or expressions over time; films."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..boundary import describe_value
from ..errors import InputError, KaneError, suggestion, warn
from ..formulation import reaction_symbols
from ..model import missing_meshes
from ..model.attitude import QUATERNIONS
from ..model.limits import limits_by_column
from .answers import Answers
from .recordings import resample_linearly
from .records import Array
from .run_values import (
    Finer,
    acceleration_names,
    column,
    column_symbols,
    evaluate,
    find_coordinate,
    has_values_between,
    smooth,
    unit_of_text,
    units_of,
)
from .watched import effort_names, force_symbols, watch_expression

if TYPE_CHECKING:
    from ..model import Joint, Mechanism
    from ..viewer.panels import Panel
    from .model import Model
    from .trajectory import Trajectory


def curves(run: Trajectory, what: Any, path: str | Path | None) -> Any:
    """The figure of what is asked for, written to `path` if given."""
    from ..viewer import panels, plots  # matplotlib is an extra and slow to import

    several: list[Any] = list(cast("Iterable[Any]", what)) if isinstance(what, Iterable) else []
    listed = [what] if isinstance(what, str) else several
    if not listed:
        raise InputError(f"plot(what={describe_value(what)}): name what is drawn\n    fix: {_KNOWN}")
    m = run.answers.mechanism
    listed = [_find_parts(m, part) for part in listed]
    every = [one for part in listed for one in _parts_of(part)]
    for part in every:
        if part == "attitude":
            check_drawn(m, part)
    finer = _add_samples(run, every)
    groups = [
        [_share_panel(run, finer, _parts_of(part))] if isinstance(part, tuple) else _panels_of(run, finer, part)
        for part in listed
    ]
    usual = [panel for part, group in zip(listed, groups, strict=True) if _is_group(part) for panel in group]
    alone = all(map(_is_group, listed))
    kept, left_out = panels.leave_out_nothing(usual, alone=alone) if usual else ([], [])
    stays = {id(panel) for panel in kept}
    shown = [
        panel
        for part, group in zip(listed, groups, strict=True)
        for panel in group
        if not _is_group(part) or id(panel) in stays
    ]
    if not shown:
        others = _known_words(part for part in GROUPS if part not in listed)
        raise InputError(
            f"plot(what={describe_value(what)}): '{run.answers.mechanism.name}' has none\n    fix: {others}"
        )
    times = run.t if finer is None else finer.run.t
    figure = panels.panels(times, shown, note=panels.name_left_out(left_out))
    if path is not None:
        plots.save(figure, path)
    return figure


def _find_parts(m: Mechanism, part: Any) -> Any:
    """What is drawn, joints that have one coordinate by that; what shares a panel as a tuple."""
    if isinstance(part, (list, tuple)):
        return tuple(_find_parts(m, one) for one in cast("Iterable[Any]", part))
    return find_coordinate(m, part) if isinstance(part, str) and not _is_drawn(m, part) else part


def _parts_of(part: Any) -> tuple[Any, ...]:
    """What shares a panel, or what has one by itself as the only one."""
    return cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,)


def _share_panel(run: Trajectory, finer: Finer | None, parts: tuple[Any, ...]) -> Panel:
    """One panel with all curves of some parts, over the one axis that their common unit makes."""
    from ..viewer.panels import MOST_CURVES, Panel

    made = [panel for part in parts for panel in _panels_of(run, finer, part)]
    curves = [(panel, name, values) for panel in made for name, values in _named_curves(panel)]
    if not 0 < len(curves) <= MOST_CURVES:
        raise InputError(
            f"plot: a panel of {len(curves)} curves\n    fix: give a panel from one to {MOST_CURVES}, by their names"
        )
    common = _common_unit({panel.label: panel.unit for panel in made})
    known = all(panel.unit for panel in made)
    names = tuple(name if known or not panel.unit else f"{name} ({panel.unit})" for panel, name, _ in curves)
    solved = any(panel.solved for panel in made)
    return Panel("", np.column_stack([values for _, _, values in curves]), common * known, names=names, solved=solved)


def _common_unit(units: Mapping[str, str]) -> str:
    """The one unit of curves (label → unit), of those that have one that is known."""
    found = {label: unit for label, unit in units.items() if unit}
    if len(set(found.values())) > 1:
        said = ", ".join(f"{label} in {unit}" for label, unit in found.items())
        raise InputError(
            f"plot: curves of one panel have different units: {said}\n    because an axis has one unit\n"
            "    fix: give each unit a panel of its own; panels of a figure share the axis of time"
        )
    return next(iter(found.values()), "")


def check_drawn_together(model: Model, texts: Sequence[str]) -> None:
    """Refuse what a plot cannot show, or not in one panel, as far as it is known before the motion is."""
    answers, m = Answers(model.mechanism), model.mechanism
    for text in texts:
        check_text(m, text)
    named = [find_coordinate(m, text) for text in texts if not _is_group(text)]
    if len(texts) > 1:
        _common_unit({text: unit_of_text(answers, text) for text in named})


def _named_curves(panel: Panel) -> Iterable[tuple[str, Array]]:
    """(name, values (k,)) of each curve of a panel."""
    if panel.values.ndim == 1:
        return [(panel.label, panel.values)]
    return [(f"{panel.label} {name}", values) for name, values in zip(panel.names, panel.values.T, strict=True)]


def _add_samples(run: Trajectory, listed: list[Any]) -> Finer | None:
    """The motion with samples enough for smooth curves, where something is known between samples, and rates are."""
    if not any(_is_curve(run, part) for part in listed):
        return None
    try:
        return smooth(run)
    except KaneError:  # the motion ends where there are no accelerations
        return None


def _is_curve(run: Trajectory, part: Any) -> bool:
    """Whether what is drawn is known between the samples of a motion: its states, what follows from them where nothing
    holds but joints, and expressions and reactions of auxiliary speeds of which it is known too."""
    m = run.answers.mechanism
    if not isinstance(part, str):
        return False
    if part in FOLLOWING or part.startswith(REACTIONS_OF) or part in acceleration_names(m.speeds):
        return not m.constraints and not m.changing
    if part == "efforts" or (part not in m.speeds and part.removeprefix("tau_") in m.speeds):
        return run.law is not None
    if _is_drawn(m, part) and part not in reaction_symbols(m):
        return part in {*STATES, "energy", *m.coordinates, *m.speeds}
    check_drawn(m, part)
    return has_values_between(run, part)


def _panels_of(run: Trajectory, finer: Finer | None, part: Any) -> list[Panel]:
    """Panels of what is drawn: what is known between samples as curves; all else, which impacts, constraints and
    control laws have a part in, joined by straight lines."""

    def make(of: Trajectory) -> list[Panel]:
        if _is_group(part) and part not in GROUPS:
            check_drawn(run.answers.mechanism, part)
            return _reactions(of, part.removeprefix(REACTIONS_OF))
        return GROUPS[part](of) if part in GROUPS else [_named_panel(of, part)]

    if finer is None:
        return make(run)
    if part == "energy":
        return _smooth_energy(run, finer)
    if _is_curve(run, part):
        return make(finer.run)
    return [replace(panel, values=finer.join(panel.values)) for panel in make(run)]


def _smooth_energy(run: Trajectory, finer: Finer) -> list[Panel]:
    """Energies between samples. The total is joined by straight lines, and the potential is what the kinetic leaves of
    it: of the cubics between samples the sum would waver."""
    (energies, work), kinetic = _energy(run), finer.run.energy().kinetic
    total = finer.join(energies.values[:, 2])
    return [
        replace(energies, values=np.column_stack([kinetic, total - kinetic, total])),
        replace(work, values=finer.join(work.values)),
    ]


def _named_panel(run: Trajectory, text: Any) -> Panel:
    """The panel of a column or an expression."""
    from ..viewer.panels import Panel
    from ..viewer.plots import set_names, subscript

    m = run.answers.mechanism
    if not isinstance(text, str):
        raise InputError(f"plot: {describe_value(text)} is no text\n    fix: {_KNOWN}")
    check_drawn(m, text)
    unit = unit_of_text(run.answers, text)
    if text in _columns_of(m) or text.removeprefix("tau_") in m.speeds:
        return Panel(subscript(text), column(run, text), unit, limits=limits_by_column(m).get(text))
    return Panel(set_names(text), evaluate(run, text), unit)


def check_drawn(m: Mechanism, text: str) -> None:
    """Refuse a word that is neither a group nor a column of motions of m nor a name in expressions."""
    if text == "attitude" and not any(_is_attitude(m, joint) for joint in m.joints.values()):
        others = _known_words(part for part in GROUPS if part != text)
        raise InputError(
            f"plot of the attitude: '{m.name}' has none, which is that of bodies on free or spherical joints to N\n"
            f"    fix: {others}"
        )
    if text.startswith(REACTIONS_OF):
        _check_reaction(m, text.removeprefix(REACTIONS_OF))
    if _is_drawn(m, text) or text in m.known_names or find_coordinate(m, text) != text:
        return
    watched = force_symbols(m)
    if text.isidentifier() and text not in watched:
        others = (*acceleration_names(m.coordinates), *effort_names(m.speeds))
        near = suggestion(text, dict.fromkeys([*GROUPS, *_columns_of(m), *others, *watched]))
        raise InputError(f"plot: there is nothing called '{text}'\n    fix: {near}")


def check_text(m: Mechanism, text: str) -> None:
    """The same before there is a motion: refuse an expression, too, that has no meaning."""
    check_drawn(m, text)
    if not (_is_drawn(m, text) or find_coordinate(m, text) != text):
        watch_expression(m, text, "plot", column_symbols(m))


def _is_drawn(m: Mechanism, text: str) -> bool:
    """Whether a word is a group or a column of motions of m."""
    return _is_group(text) or text in _columns_of(m) or text.removeprefix("tau_") in m.speeds


def _is_group(part: Any) -> bool:
    """Whether a word stands for what has several panels."""
    return isinstance(part, str) and (part in GROUPS or part.startswith(REACTIONS_OF))


def _check_reaction(m: Mechanism, name: str) -> None:
    """Refuse what is no joint, constraint or auxiliary speed."""
    known = dict.fromkeys([*m.joints, *m.constraints, *m.changing, *reaction_symbols(m)])
    plain = name.removesuffix(" (joint)").removesuffix(" (constraint)")
    if plain not in known:
        raise InputError(f"plot: there are no reactions of '{name}'\n    fix: {suggestion(name, known)}")
    if name in m.joints and (name in m.constraints or name in m.changing):
        raise InputError(
            f"plot: '{name}' is a joint and a constraint\n"
            f"    fix: draw '{REACTIONS_OF}{name} (joint)' or '{REACTIONS_OF}{name} (constraint)'"
        )


def _columns_of(m: Mechanism) -> tuple[str, ...]:
    """Columns of a motion but those of efforts."""
    columns = ("t", "work", *m.coordinates, *m.speeds, *acceleration_names(m.speeds), *m.all_row_names)
    return columns + tuple(reaction_symbols(m))


def _columns(names: Callable[[Trajectory], tuple[str, ...]], values: Callable[[Trajectory], Array]) -> Any:
    """Makes one panel for each column of a group."""

    def make_panels(run: Trajectory) -> list[Panel]:
        from ..viewer.panels import Panel
        from ..viewer.plots import subscript

        found, m = names(run), run.answers.mechanism
        units, table, limits = units_of(m, found), values(run), limits_by_column(m)
        return [
            Panel(subscript(name), table[:, k], units[name], limits=limits.get(name)) for k, name in enumerate(found)
        ]

    return make_panels


def _efforts(run: Trajectory) -> tuple[str, ...]:
    return tuple(f"tau_{name}" for name in run.answers.mechanism.speeds)


def _reactions(run: Trajectory, only: str | None = None) -> list[Panel]:
    """A force and a moment, efforts, or a value, for each reaction, or for one by its name; components in N."""
    from ..viewer.panels import Panel
    from ..viewer.plots import subscript
    from ..viewer.shapes import size

    found, reactions = list[Panel](), run.reactions()
    length = size(run.answers.mechanism)
    force, moment = _largest(r.force for r in reactions.values()), _largest(r.moment for r in reactions.values())
    for name, reaction in reactions.items() if only is None else [(only, reactions[only])]:
        for what, values, unit, cancels in (
            ("force", reaction.force, "N", moment / length),
            ("moment", reaction.moment, "N m", force * length),
        ):
            if values is not None:
                xyz = ("x", "y", "z")
                found.append(
                    Panel(f"{name}: {what}", np.asarray(values), unit, names=xyz, solved=True, cancels=cancels)
                )
        found += [Panel(f"{name} along {v}", np.asarray(x), solved=True) for v, x in reaction.efforts.items()]
        if reaction.value is not None:
            found.append(
                Panel(
                    subscript(name),
                    np.asarray(reaction.value),
                    units_of(run.answers.mechanism, [name])[name],
                    solved=True,
                )
            )
    return found


def _largest(arrays: Iterable[Any]) -> float:
    """The largest magnitude in arrays, some of which may not be there."""
    return max((float(np.nanmax(np.abs(x), initial=0.0)) for x in arrays if x is not None), default=0.0)


def _is_attitude(m: Mechanism, joint: Joint) -> bool:
    return joint.type.kind in QUATERNIONS and joint.parent is m.ground


def attitudes(run: Trajectory) -> Iterable[tuple[str, Array, Array]]:
    """(body, quaternions wxyz (k, 4), rotations (k, 3, 3)) of each body whose attitude in N is a quaternion."""
    m = run.answers.mechanism
    for joint in m.joints.values():
        if _is_attitude(m, joint):
            wxyz = run.q[:, [m.coordinates.index(c.name) for c in joint.coordinates[:4]]]
            yield joint.child.name, wxyz, run.model.at(joint.child.name).pose(run.q, t=run.t[:, None])[0]


def _attitudes(run: Trajectory) -> list[Panel]:
    from ..viewer.plots import attitude_panels

    return [panel for name, wxyz, R in attitudes(run) for panel in attitude_panels(wxyz, R, name)]


WORK = "work of all but gravity"
"""What `work` of a motion is."""


def _energy(run: Trajectory) -> list[Panel]:
    from ..viewer.panels import Panel

    energy = run.energy()
    table = np.column_stack([energy.kinetic, energy.potential, energy.total])
    return [Panel("energy", table, "J", names=("kinetic", "potential", "total")), Panel(WORK, run.work, "J")]


GROUPS: dict[str, Callable[[Trajectory], list[Panel]]] = {
    "coordinates": _columns(lambda run: run.answers.mechanism.coordinates, lambda run: run.q),
    "speeds": _columns(lambda run: run.answers.mechanism.speeds, lambda run: run.u),
    "accelerations": _columns(
        lambda run: acceleration_names(run.answers.mechanism.speeds), lambda run: run.acceleration()
    ),
    "attitude": _attitudes,
    "efforts": _columns(_efforts, lambda run: run.tau),
    "reactions": _reactions,
    "energy": _energy,
}
"""What can be drawn by one word."""

REACTIONS_OF = "reactions of "
"""Before the name of a joint, a constraint or an auxiliary speed: its reactions alone."""

STATES = ("coordinates", "speeds", "attitude")
"""Those that follow from coordinates and speeds alone: between samples they are curves and no new answers."""

FOLLOWING = ("accelerations", "reactions")
"""Those that follow from states and efforts where nothing holds but joints."""


def _known_words(groups: Iterable[str]) -> str:
    return f"one or more of {', '.join(groups)}, reactions of NAME, columns (q1, tau_u1), or expressions"


_KNOWN = _known_words(GROUPS)


def film(run: Trajectory, path: str | Path, frames_per_second: float, speed: float) -> Path:
    """Write a motion as .gif or .mp4."""
    from ..viewer import films  # matplotlib is an extra and slow to import

    for name, value in (("frames_per_second", frames_per_second), ("speed", speed)):
        if not 0.0 < float(value) < np.inf:
            raise InputError(f"{name} = {value!r}: give a positive number")
    if len(run.t) < 2:
        raise InputError("the motion has one time alone: no film\n    fix: simulate for longer")
    length = abs(float(run.t[-1] - run.t[0])) / float(speed)
    count = max(2, round(length * frames_per_second) + 1)
    if count > films.MOST_FRAMES:
        raise InputError(
            f"{length:g} s of film at {frames_per_second:g} frames in a second are {count} frames, and"
            f" {films.MOST_FRAMES} are the most\n    fix: play it faster, speed={speed * count / films.MOST_FRAMES:.2g}"
        )
    if missing := missing_meshes(run.answers.mechanism):
        warn(missing)
    shown = resample_linearly(run, count)
    poses = run.model.poses(shown.q, t=shown.t[:, None])
    return films.write_film(films.Film(run.answers.mechanism, shown.t, poses, float(frames_per_second)), path)


__all__ = ["GROUPS", "attitudes", "check_drawn_together", "curves", "film"]
