"""Pictures of an ensemble: which kinds there are, and the figure of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..boundary import describe_value
from ..ensemble.tables import column_of, units_of
from ..errors import InputError
from . import ensemble_views
from .ensemble_store import contents_of
from .records import Array

if TYPE_CHECKING:
    from .ensemble_sobol import SobolIndex
    from .ensembles import Ensemble

INDICES = 1024
"""Members for each Sobol index of a picture; a power of two."""


@dataclass(frozen=True, slots=True)
class MapGrid:
    """What a map is over, across and up, and how many cells it has along each; None for what suits the members."""

    over: tuple[str, str] | None = None
    cells: tuple[int, int] | None = None


WHOLE = MapGrid()
"""The grid that suits the members."""


def read_grid(kind: str, over: Any, cells: Any) -> MapGrid:
    """The grid of a map as it is asked for; other kinds of pictures have none."""
    if kind != "map" and (over is not None or cells is not None):
        given = "over" if over is not None else "cells"
        raise InputError(f"{given} is for maps, and kind is '{kind}'\n    fix: kind='map', or leave {given} out")
    names = None if over is None or isinstance(over, str) else tuple(over)
    if over is not None and (names is None or len(names) != 2 or names[0] == names[1]):
        raise InputError(f"over = {describe_value(over)}\n    fix: give two names, as in over=('m1', 'q1')")
    counts: Any = None if cells is None else (cells, cells) if np.ndim(cells) == 0 else tuple(cells)
    whole = counts is None or all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in counts)
    if counts is not None and not (whole and len(counts) == 2 and all(2 <= x <= MOST_CELLS for x in counts)):
        fix = f"give a whole number from 2 to {MOST_CELLS}, or one for each axis, as in cells=(20, 30)"
        raise InputError(f"cells = {describe_value(cells)}\n    fix: {fix}")
    return MapGrid(names, counts)


def draw(ensemble: Ensemble, path: str | Path | None, kind: str, result: str | None, grid: MapGrid) -> Any:
    """The figure of an ensemble, written if there is a path; see `Ensemble.plot`."""
    from ..viewer import plots  # which imports what draws

    if not len(ensemble):
        raise InputError("an ensemble without members: there is nothing to draw\n    fix: let some members finish")
    if kind == "fan":
        names = list(ensemble.tallies) if result is None else [watched_of(result, ensemble.tallies)]
        figure = fan(ensemble, names, str(ensemble))
    elif kind in KINDS:
        name = _result(ensemble) if result is None else ensemble_views.result_column(ensemble, result)
        shown = kind in WITHOUT or ensemble_views.occurs(ensemble, name)
        make = absence if not shown else partial(over_two, grid=grid) if kind == "map" else KINDS[kind]
        figure = make(ensemble, name, str(ensemble))
    else:
        raise InputError(f"kind = {describe_value(kind)}: there are {', '.join(('fan', *KINDS))}")
    if path is not None:
        plots.save(figure, path)
    return figure


def watched_of(result: str, watched: Collection[str]) -> str:
    """The watched quantity that a result names, by its own name or by one of its columns, as in high_NAME."""
    stem, _, rest = result.partition("_")
    return rest if result not in watched and stem in ("low", "high", "end") and rest in watched else result


def _result(ensemble: Ensemble) -> str:
    found = ensemble_views.results(ensemble)
    if not found:
        raise InputError("there is no result to draw: only tallies are kept\n    fix: kind='fan', or keep='ends'")
    return found[0]


def label_of(ensemble: Ensemble, name: str) -> Any:
    """A column in words, with its unit."""
    from ..viewer.ensembles import Label

    return Label(name, units_of(contents_of(ensemble.work, ensemble.keep)).get(name, ""))


def input_label(ensemble: Ensemble, name: str) -> Any:
    """What was given or drawn under a name, in words, with its unit."""
    return label_of(ensemble, column_of(contents_of(ensemble.work, ensemble.keep), name))


def fan(ensemble: Ensemble, names: Sequence[str], title: str = "") -> Any:
    """Quantities that are watched, over time: bands of the members, median, extremes."""
    from ..viewer import ensembles as pictures

    unknown = [name for name in names if name not in ensemble.tallies]
    if unknown or not names or len(ensemble.t) < 3:
        raise InputError(
            f"a fan of {', '.join(names) or 'nothing'}: watched over time are {', '.join(ensemble.tallies) or 'none'}"
            f" at {len(ensemble.t)} times\n    fix: give times as an array, and watch what is to be drawn"
        )
    units = dict(contents_of(ensemble.work, ensemble.keep).watch)
    fans = [
        pictures.Fan(
            pictures.Label(name, units[name]),
            np.array([ensemble.tallies[name].quantile(p) for p in pictures.SHARES]),
            ensemble.tallies[name].low,
            ensemble.tallies[name].high,
        )
        for name in names
    ]
    return pictures.fans(ensemble.t, fans, title)


def histogram(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """How a result is distributed, and how members ended where they did so in several ways."""
    from ..viewer import ensembles as pictures

    values = ensemble_views.column(ensemble, result)
    return pictures.histogram(values, ensemble_views.endings(ensemble), label_of(ensemble, result), title)


def histograms(ensemble: Ensemble, names: Sequence[str], title: str = "") -> Any:
    """How some results are distributed."""
    from ..viewer import ensembles as pictures

    found = [(label_of(ensemble, name), ensemble_views.column(ensemble, name)) for name in names]
    return pictures.histograms(found, title)


def scatter(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """A result over each thing that differs; members without it, and those that failed, are in a strip at the edge."""
    from ..viewer import ensembles as pictures

    values = ensemble_views.column(ensemble, result)
    given = [(input_label(ensemble, name), x) for name, x in ensemble_views.differences(ensemble).items()]
    return pictures.scatter(given, values, ensemble.success, label_of(ensemble, result), title)


def ranking(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """Rank correlations of a result with each thing that differs; words where none is defined."""
    from ..viewer import ensembles as pictures

    known = int(np.count_nonzero(np.isfinite(ensemble_views.column(ensemble, result))))
    ranks = {input_label(ensemble, name): x for name, x in ensemble_views.sensitivity(ensemble, result).items()}
    if not np.isfinite([*ranks.values()]).any():
        return absence(ensemble, result, title)
    return pictures.ranking(ranks, label_of(ensemble, result), known, title)


def indices(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """Sobol's indices of a result, by members of their own."""
    return shares(ensemble, result, ensemble.sobol(result, INDICES), title)


def absence(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """Words about a result that no member has, such as the time of an event that never occurs, or all members alike."""
    from ..viewer import ensembles as pictures

    return pictures.absence(label_of(ensemble, result), ensemble_views.column(ensemble, result), title)


def shares(ensemble: Ensemble, result: str, found: Mapping[str, SobolIndex], title: str = "") -> Any:
    """Sobol's indices of a result, as they were found."""
    from ..viewer import ensembles as pictures

    indices = {input_label(ensemble, name): index for name, index in found.items()}
    return pictures.shares(indices, label_of(ensemble, result), title)


def over_two(ensemble: Ensemble, result: str, title: str = "", grid: MapGrid = WHOLE) -> Any:
    """A map of a result over two things that differ, those that matter most to it unless they are named: its mean in
    every cell, the share of members where it says whether an event occurs."""
    from ..viewer import ensembles as pictures

    given = ensemble_views.differences(ensemble)
    names = two_to_map(ensemble, result) if grid.over is None else _named_two(grid.over, given)
    if names is None:
        known = ", ".join(given) or "nothing"
        raise InputError(
            f"kind = 'map': a map has two things that differ, and here {known} differs\n"
            "    fix: draw or give a second one, or kind='scatter'"
        )
    across, up = (make_cells(given[name], k, grid.cells) for k, name in enumerate(names))
    values = ensemble_views.column(ensemble, result)
    there = np.isfinite(values)
    counts = pictures.CellCounts(*(count_cells(across, up, which) for which in (np.ones_like(there), there)))
    shown = label_of(ensemble, result)
    labels = str(input_label(ensemble, names[0])), str(input_label(ensemble, names[1])), shown.mean
    bounds = (0.0, 1.0) if shown.is_answer else None
    means = cell_means(across, up, values)
    return pictures.map_over(across.middles, up.middles, means, labels, title, counts, bounds)


def _named_two(names: tuple[str, str], given: Mapping[str, Array]) -> tuple[str, str]:
    """The two things that a map is over, as they are called."""
    across, up = (ensemble_views.find_difference(name, given) for name in names)
    return across, up


def two_to_map(ensemble: Ensemble, result: str) -> tuple[str, str] | None:
    """The two things that differ with the largest rank correlations to a result, none following from the other; None
    where there are no two."""
    given, ranks = ensemble_views.differences(ensemble), list(ensemble_views.sensitivity(ensemble, result))
    for name in ranks[1:]:
        if not abs(ensemble_views.rank_correlation(given[ranks[0]], given[name])) >= SAME:
            return ranks[0], name
    return None


@dataclass(frozen=True, slots=True)
class Cells:
    """Cells along an axis: their middles, and the cell that each member is in, (b,)."""

    middles: Array
    place: Any


def make_cells(values: Array, axis: int = 0, number: tuple[int, int] | None = None) -> Cells:
    """Cells along an axis over the values of members: so many of equal width, or, where none are asked for, the values
    themselves if these are few, as those of a grid, else as many as the members fill."""
    found, at = np.unique(values, return_inverse=True)
    if number is None and len(found) ** 2 <= 4 * len(values):
        return Cells(found, at)
    count = int(np.clip(np.sqrt(len(values) / IN_CELL), 2, FILLED)) if number is None else number[axis]
    edges = np.linspace(float(found[0]), float(found[-1]), count + 1)
    place = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, count - 1)
    return Cells(0.5 * (edges[1:] + edges[:-1]), place)


def cell_means(across: Cells, up: Cells, values: Array) -> Array:
    """Means (rows, columns) of the values (b,) in each cell, nan where there are none."""
    good = np.isfinite(values)
    count, total = count_cells(across, up, good), np.zeros((len(up.middles), len(across.middles)))
    np.add.at(total, (up.place[good], across.place[good]), values[good])
    return np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def count_cells(across: Cells, up: Cells, which: Any) -> Array:
    """How many of the members that `which` (b,) says are in each cell, (rows, columns)."""
    count = np.zeros((len(up.middles), len(across.middles)))
    np.add.at(count, (up.place[which], across.place[which]), 1.0)
    return count


SAME = 0.999
"""Rank correlation from which on one of two things follows from the other."""

IN_CELL, FILLED = 12.0, 80
"""Members in a cell on the average where none are asked for, so that few are empty, and then cells along an axis at
most."""

MOST_CELLS = 1000
"""Cells along an axis that may be asked for: more than a picture has dots."""


KINDS: Mapping[str, Callable[[Ensemble, str, str], Any]] = {
    "histogram": histogram,
    "map": over_two,
    "scatter": scatter,
    "sensitivity": ranking,
    "sobol": indices,
}
"""Pictures of one result, by the word that asks for them."""

WITHOUT = ("histogram", "sobol")
"""Those that say themselves that no member has the result."""


__all__ = [
    "KINDS",
    "MOST_CELLS",
    "Cells",
    "MapGrid",
    "cell_means",
    "count_cells",
    "draw",
    "fan",
    "histogram",
    "histograms",
    "label_of",
    "make_cells",
    "over_two",
    "ranking",
    "read_grid",
    "scatter",
    "shares",
    "two_to_map",
    "watched_of",
]
