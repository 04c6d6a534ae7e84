"""Pictures of an ensemble: which kinds there are, and the figure of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..boundary import describe_value
from ..ensemble.tables import units_of
from ..errors import InputError
from . import ensemble_views
from .ensemble_store import contents_of
from .records import Array

if TYPE_CHECKING:
    from .ensembles import Ensemble

INDICES = 1024
"""Members for each Sobol index of a picture; a power of two."""


def draw(ensemble: Ensemble, path: str | Path | None, kind: str, result: str | None) -> Any:
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
        figure = (KINDS[kind] if shown else absence)(ensemble, name, str(ensemble))
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
    """How a result is distributed, and why members ended."""
    from ..viewer import ensembles as pictures

    values = ensemble_views.column(ensemble, result)
    return pictures.histogram(values, ensemble.reasons, label_of(ensemble, result), title)


def histograms(ensemble: Ensemble, names: Sequence[str], title: str = "") -> Any:
    """How some results are distributed."""
    from ..viewer import ensembles as pictures

    found = [(label_of(ensemble, name), ensemble_views.column(ensemble, name)) for name in names]
    return pictures.histograms(found, title)


def scatter(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """A result over each thing that differs, failures marked."""
    from ..viewer import ensembles as pictures

    values = ensemble_views.column(ensemble, result)
    given = [(label_of(ensemble, name), x) for name, x in ensemble_views.differences(ensemble).items()]
    return pictures.scatter(given, values, ensemble.success, label_of(ensemble, result), title)


def ranking(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """Rank correlations of a result with each thing that differs."""
    from ..viewer import ensembles as pictures

    return pictures.ranking(ensemble_views.sensitivity(ensemble, result), label_of(ensemble, result), title)


def indices(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """Sobol's indices of a result, by members of their own."""
    return shares(ensemble, result, ensemble.sobol(result, INDICES), title)


def absence(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """Words about a result that no member has, such as the time of an event that never occurs."""
    from ..viewer import ensembles as pictures

    return pictures.absence(label_of(ensemble, result), title)


def shares(ensemble: Ensemble, result: str, found: Mapping[str, tuple[float, float]], title: str = "") -> Any:
    """Sobol's indices of a result, as they were found."""
    from ..viewer import ensembles as pictures

    return pictures.shares(found, label_of(ensemble, result), title)


def over_two(ensemble: Ensemble, result: str, title: str = "") -> Any:
    """A map of a result over the two things that differ and matter most to it: its mean in every cell, the share of
    members where it says whether an event occurs."""
    from ..viewer import ensembles as pictures

    names, given = two_to_map(ensemble, result), ensemble_views.differences(ensemble)
    if names is None:
        known = ", ".join(given) or "nothing"
        raise InputError(
            f"kind = 'map': a map has two things that differ, and here {known} differs\n"
            "    fix: draw or give a second one, or kind='scatter'"
        )
    places = given[names[0]], given[names[1]]
    values = ensemble_views.column(ensemble, result)
    x, y, means = cell_means(*places, values)
    there = np.isfinite(values)
    counts = pictures.CellCounts(*(count_cells(*places, which) for which in (np.ones_like(there), there)))
    across, up = (str(label_of(ensemble, name)) for name in names)
    shown = label_of(ensemble, result)
    bounds = (0.0, 1.0) if shown.is_answer else None
    return pictures.map_over(x, y, means, (across, up, shown.mean), title, counts, bounds)


def two_to_map(ensemble: Ensemble, result: str) -> tuple[str, str] | None:
    """The two things that differ with the largest rank correlations to a result, none following from the other; None
    where there are no two."""
    given, ranks = ensemble_views.differences(ensemble), list(ensemble_views.sensitivity(ensemble, result))
    for name in ranks[1:]:
        if abs(ensemble_views.rank_correlation(given[ranks[0]], given[name])) < SAME:
            return ranks[0], name
    return None


def cell_means(x: Array, y: Array, values: Array) -> tuple[Array, Array, Array]:
    """(x of columns, y of rows, means (rows, columns)) of values at places, nan where there are none: cells are the
    places themselves where these are a grid."""
    (columns, i), (rows, j) = (_cells(places, len(values)) for places in (x, y))
    good = np.isfinite(values)
    count, total = count_cells(x, y, good), np.zeros((len(rows), len(columns)))
    np.add.at(total, (j[good], i[good]), values[good])
    return columns, rows, np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)


def count_cells(x: Array, y: Array, which: Any) -> Array:
    """How many of the places that `which` (b,) says are in each cell, (rows, columns)."""
    (columns, i), (rows, j) = (_cells(places, len(which)) for places in (x, y))
    count = np.zeros((len(rows), len(columns)))
    np.add.at(count, (j[which], i[which]), 1.0)
    return count


def _cells(places: Array, members: int) -> tuple[Array, Any]:
    """(middles of cells, the cell of each place): the places where there are few, else cells of equal width."""
    found, at = np.unique(places, return_inverse=True)
    if len(found) ** 2 <= 4 * members:
        return found, at
    number = int(np.clip(np.sqrt(members / IN_CELL), 2, MOST_CELLS))
    low, high = float(found[0]), float(found[-1])
    edges = np.linspace(low, high, number + 1)
    return 0.5 * (edges[1:] + edges[:-1]), np.clip(np.searchsorted(edges, places, side="right") - 1, 0, number - 1)


SAME = 0.999
"""Rank correlation from which on one of two things follows from the other."""

IN_CELL, MOST_CELLS = 12.0, 80
"""Members in a cell on the average where these are drawn, so that few are empty, and cells along an axis at most."""


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
    "cell_means",
    "draw",
    "fan",
    "histogram",
    "histograms",
    "label_of",
    "over_two",
    "ranking",
    "scatter",
    "shares",
    "two_to_map",
    "watched_of",
]
