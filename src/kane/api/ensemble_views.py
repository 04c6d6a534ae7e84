"""What came of an ensemble as others read it: a table, a dataset of xarray, pictures, a ranking of what matters."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..ensemble import Distribution, MemberBlock
from ..ensemble.draws import LEAST
from ..ensemble.store import Contents
from ..ensemble.tables import columns_of, table_of, units_of
from ..errors import InputError
from ..simulate import Members
from .boundary import describe_value
from .ensemble_store import contents_of

if TYPE_CHECKING:
    from .ensembles import Ensemble

Values = Mapping[str, Any]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Shares of the members below the curves of a dataset."""


def _block(ensemble: Ensemble) -> tuple[Contents, MemberBlock]:
    """All members as one block."""
    contents = contents_of(ensemble.work, ensemble.keep)
    n, states = len(ensemble), len(contents.coordinates) + len(contents.speeds)

    def side_by_side(columns: Mapping[str, Any], width: int, kind: Any = np.float64) -> Any:
        return np.column_stack(list(columns.values())) if columns else np.zeros((n, width), dtype=kind)

    y = np.full((n, states + 1), np.nan)
    if ensemble.end_q is not None and ensemble.end_u is not None:
        y[:, :states] = np.column_stack([ensemble.end_q, ensemble.end_u])
    members = Members(
        ensemble.ends.astype(np.int64),
        np.full(n, np.nan) if ensemble.end_t is None else ensemble.end_t,
        y,
        None,
        side_by_side(ensemble.first, len(contents.events)),
        side_by_side(ensemble.crossings, len(contents.events), np.int64),
        np.zeros(n, dtype=np.int64),
        dict(ensemble.messages),
    )
    low, high = (side_by_side(x, len(contents.watch)) for x in (ensemble.low, ensemble.high))
    numbers = side_by_side(ensemble.numbers, 0)
    return contents, MemberBlock(0, members, low, high, (), numbers)


def columns(ensemble: Ensemble) -> dict[str, Any]:
    """Name → values (n,): what was given or drawn, why a member ended and where, events and extremes."""
    return columns_of(*_block(ensemble))


def to_table(ensemble: Ensemble) -> Any:
    """The same as a table of pyarrow."""
    return table_of(*_block(ensemble))


def to_xarray(ensemble: Ensemble) -> Any:
    """A dataset of xarray: columns over `member`, motions over `member` and `time`, tallies over `time`."""
    import xarray as xr  # an extra

    contents, block = _block(ensemble)
    units = units_of(contents)
    found: dict[str, Any] = {}

    def take(name: str, dims: tuple[str, ...], values: Any, unit: str = "") -> None:
        found[name] = (dims, values, {"units": unit} if unit else {})

    for name, values in columns_of(contents, block).items():
        if name != "member":
            take(name, ("member",), np.asarray(values), units.get(name, ""))
    motions: tuple[tuple[Any, Any], ...] = ((ensemble.q, contents.coordinates), (ensemble.u, contents.speeds))
    for states, pairs in motions:
        for k, (name, unit) in enumerate(pairs if states is not None else ()):
            take(name, ("member", "time"), cast("Any", states)[: len(ensemble), :, k], unit)
    for name, unit in contents.watch:
        tally = ensemble.tallies[name]
        take(f"mean_{name}", ("time",), np.where(tally.count > 0, tally.mean, np.nan), unit)
        take(f"deviation_{name}", ("time",), tally.deviation, unit)
        curves = np.array([tally.quantile(p) for p in QUANTILES])
        take(f"quantile_{name}", ("quantile", "time"), curves, unit)
    coordinates = {
        "member": np.arange(len(ensemble)),
        "time": ("time", ensemble.t, {"units": "s"}),
        "quantile": list(QUANTILES),
    }
    plan = ensemble.work.plan
    attributes = {"model": ensemble.work.answers.mechanism.name, "seed": plan.seed, "sampling": plan.sampling}
    attributes |= {
        str(column): str(column.value) for column in plan.columns if not isinstance(column.value, np.ndarray)
    }
    return xr.Dataset(found, coordinates, attributes)


def differences(ensemble: Ensemble) -> dict[str, Any]:
    """Name → values (n,) of all that differs between members, as the columns are called."""
    contents, block = _block(ensemble)
    states = {name for name, _ in (*contents.coordinates, *contents.speeds)}
    names = {f"start_{name}" if name in states else name for name, _ in contents.columns}
    known = columns_of(contents, block)
    return {name: known[name] for name in known if name in names and np.ptp(known[name][np.isfinite(known[name])]) > 0}


def sensitivity(ensemble: Ensemble, result: str) -> dict[str, float]:
    """Spearman's rank correlation between each thing that differs and a result, largest first; members without a result
    do not count."""
    stats = importlib.import_module("scipy.stats")  # SciPy takes a while to import
    y = _column(ensemble, result)
    found: dict[str, float] = {}
    for name, x in differences(ensemble).items():
        good = np.isfinite(x) & np.isfinite(y)
        steady = good.sum() < 3 or np.ptp(y[good]) == 0 or np.ptp(x[good]) == 0
        found[name] = 0.0 if steady else float(stats.spearmanr(x[good], y[good])[0])
    return dict(sorted(found.items(), key=lambda item: -abs(item[1])))


def sobol(ensemble: Ensemble, result: str, n: int) -> dict[str, tuple[float, float]]:
    """Sobol's indices (first order, total) of each number that is drawn, by n (d + 2) members of their own [SAL10]."""
    stats = importlib.import_module("scipy.stats")
    plan, keep = ensemble.work.plan, ensemble.keep
    drawn = [c for c, column in enumerate(plan.columns) if isinstance(column.value, Distribution)]
    other = [c for c in plan.columns if isinstance(c.value, np.ndarray) or callable(c.value)]
    if other or not drawn:
        raise InputError(
            f"sobol: {', '.join(map(str, other)) or 'nothing'} is no distribution\n    fix: draw all that differs"
        )

    def results(x: Any) -> Any:
        columns = list(plan.columns)
        for place, values in zip(drawn, x, strict=True):
            columns[place] = replace(columns[place], value=np.array(values))
        found = ensemble.again(replace(plan, columns=tuple(columns), count=x.shape[1]))
        y = _column(found, result)
        if not np.isfinite(y).all():
            lost = int(np.count_nonzero(~np.isfinite(y)))
            raise InputError(
                f"sobol: {lost} of {len(y)} members have no {result}\n    fix: choose a result that all of them have"
            )
        return y

    if keep == "tallies":
        raise InputError("sobol: only tallies are kept\n    fix: keep='ends'")
    names = [column.name for column in (plan.columns[c] for c in drawn)]
    found = stats.sobol_indices(
        func=results,
        n=n,
        dists=[_Quantiles(plan.columns[c].value) for c in drawn],
        rng=np.random.default_rng(plan.seed),
    )
    pairs = zip(np.atleast_1d(found.first_order).tolist(), np.atleast_1d(found.total_order).tolist(), strict=True)
    return dict(zip(names, pairs, strict=True))


class _Quantiles:
    """A distribution as SciPy asks for it."""

    def __init__(self, distribution: Distribution):
        self.distribution = distribution

    def ppf(self, p: Any) -> Any:
        """The value that is not exceeded with probability p."""
        return self.distribution.quantile(np.maximum(np.asarray(p, dtype=float), LEAST))


def _column(ensemble: Ensemble, name: str) -> Any:
    """A column of numbers by its name."""
    known = {key: x for key, x in columns(ensemble).items() if np.asarray(x).dtype.kind in "fiu" and key != "member"}
    if name not in known:
        raise InputError(f"result = {describe_value(name)}: no such column\n    fix: known: {', '.join(known)}")
    return np.asarray(known[name], dtype=float)


def draw(ensemble: Ensemble, path: str | Path, kind: str, result: str | None) -> None:
    """Draw an ensemble; see `Ensemble.plot`."""
    from ..viewer import ensembles as pictures
    from ..viewer import plots

    kinds = ("fan", "histogram", "scatter", "sensitivity")
    if kind not in kinds:
        raise InputError(f"kind = {describe_value(kind)}: there are {', '.join(kinds)}")
    units = units_of(contents_of(ensemble.work, ensemble.keep))
    title = str(ensemble)
    if kind == "fan":
        figure = _fan(ensemble, result, title)
    else:
        result = _choose_result(ensemble) if result is None else result
        values = _column(ensemble, result)
        label = pictures.Label(result, units.get(result, ""))
        if kind == "histogram":
            figure = pictures.histogram(values, ensemble.reasons, label, title)
        elif kind == "scatter":
            given = [(pictures.Label(name, units.get(name, "")), x) for name, x in differences(ensemble).items()]
            figure = pictures.scatter(given, values, ensemble.success, label, title)
        else:
            figure = pictures.ranking(sensitivity(ensemble, result), label, title)
    plots.save(figure, path)


def _choose_result(ensemble: Ensemble) -> str:
    """The result that is drawn where none is named: when an event first occurred, an extreme, or an end."""
    known = columns(ensemble)
    for stem in ("first_", "high_", "end_"):
        names = [name for name in known if name.startswith(stem) and name != "end_t"]
        if names:
            return names[0] if stem != "high_" else names[-1]
    raise InputError("there is no result to draw: only tallies are kept\n    fix: kind='fan', or keep='ends'")


def _fan(ensemble: Ensemble, result: str | None, title: str) -> Any:
    from ..viewer import ensembles as pictures

    names = list(ensemble.tallies) if result is None else [result]
    unknown = [name for name in names if name not in ensemble.tallies]
    if unknown or len(ensemble.t) < 3:
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


__all__ = ["columns", "differences", "draw", "sensitivity", "sobol", "to_table", "to_xarray"]
