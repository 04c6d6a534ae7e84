"""Pictures of an ensemble: which kinds there are, and the figure of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..boundary import describe_value
from ..ensemble.tables import units_of
from ..errors import InputError
from . import ensemble_views
from .ensemble_store import contents_of

if TYPE_CHECKING:
    from .ensembles import Ensemble

INDICES = 1024
"""Members for each Sobol index of a picture; a power of two."""


def draw(ensemble: Ensemble, path: str | Path, kind: str, result: str | None) -> None:
    """Draw an ensemble; see `Ensemble.plot`."""
    from ..viewer import plots  # which imports what draws

    if kind == "fan":
        figure = fan(ensemble, list(ensemble.tallies) if result is None else [result], str(ensemble))
    elif kind in KINDS:
        figure = KINDS[kind](ensemble, _result(ensemble) if result is None else result, str(ensemble))
    else:
        raise InputError(f"kind = {describe_value(kind)}: there are {', '.join(('fan', *KINDS))}")
    plots.save(figure, path)


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


def shares(ensemble: Ensemble, result: str, found: Mapping[str, tuple[float, float]], title: str = "") -> Any:
    """Sobol's indices of a result, as they were found."""
    from ..viewer import ensembles as pictures

    return pictures.shares(found, label_of(ensemble, result), title)


KINDS: Mapping[str, Callable[[Ensemble, str, str], Any]] = {
    "histogram": histogram,
    "scatter": scatter,
    "sensitivity": ranking,
    "sobol": indices,
}
"""Pictures of one result, by the word that asks for them."""


__all__ = ["KINDS", "draw", "fan", "histogram", "histograms", "label_of", "ranking", "scatter", "shares"]
