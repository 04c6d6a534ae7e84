"""What came of an ensemble as others read it: a table, a dataset of xarray, a ranking of what matters."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..boundary import describe_value
from ..ensemble import MemberBlock
from ..ensemble.store import Contents
from ..ensemble.tables import START, columns_of, table_of, units_of
from ..errors import InputError, suggestion
from ..simulate import ENDS, Members
from .ensemble_store import contents_of

if TYPE_CHECKING:
    from .ensembles import Ensemble

Values = Mapping[str, Any]
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Shares of the members below the curves of a dataset."""

OCCURS = "occurs_"
"""How results begin that say whether an event occurs; they are no columns of the table, which has crossings."""


ENDED = {
    "end": "reached the end",
    "step": "stopped where the step became too small",
    "not-finite": "stopped at a value that is not finite",
    "control": "stopped by a control that is not finite",
    "convergence": "stopped without convergence",
    "mode": "stopped without a consistent mode",
    "stall": "stalled",
    "limit": "used up their steps",
    "interrupt": "interrupted",
    "flat": "passed through a wheel that lies flat",
    "refused": "refused",
    "lost": "lost",
}
"""How members ended, in words that follow their number; an event says its name."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How some members ended: in words, how many, and whether that is a success."""

    words: str
    count: int
    success: bool


def endings(ensemble: Ensemble) -> list[Ending]:
    """How members ended, in the order of `ENDS`, those that an event stopped by its name."""
    found: list[Ending] = []
    for reason, count in zip(ENDS, np.bincount(ensemble.ends, minlength=len(ENDS)).tolist(), strict=True):
        if reason == "event":
            found += [Ending(words, x, True) for words, x in _count_stops(ensemble, count).items()]
        else:
            found.append(Ending(ENDED[reason], count, reason == "end"))
    return [ending for ending in found if ending.count]


def _count_stops(ensemble: Ensemble, count: int) -> dict[str, int]:
    """Words → members, of those that an event stopped, `count` in all: it is the terminal one whose first crossing is
    where the motion ended."""
    events = cast("Mapping[str, Any]", ensemble.work.options["events"] or {})
    names = [
        name for name, x in events.items() if isinstance(x, Mapping) and cast("Mapping[str, Any]", x).get("terminal")
    ]
    if len(names) == 1:
        return {f"stopped by '{names[0]}'": count}
    if ensemble.end_t is None:  # only tallies are kept
        return {"stopped by an event": count}
    left, found = ensemble.ends == ENDS.index("event"), dict[str, int]()
    for name in names:
        here = left & (ensemble.first[name] == ensemble.end_t)
        found[f"stopped by '{name}'"], left = int(np.count_nonzero(here)), left & ~here
    return found | {"stopped by an event": int(np.count_nonzero(left))}


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
    watched = (ensemble.low, ensemble.high, ensemble.end)
    low, high, end = (side_by_side(x, len(contents.watch)) for x in watched)
    numbers, occurred = side_by_side(ensemble.numbers, 0), np.array(list(ensemble.occurred.values()), dtype=np.int64)
    return contents, MemberBlock(0, members, low, high, end, occurred, (), ensemble.joint, numbers)


def columns(ensemble: Ensemble) -> dict[str, Any]:
    """Name → values (n,): what was given or drawn, why a member ended and where, events and extremes."""
    return columns_of(*_block(ensemble))


MEASURES = ("unit", "mean", "deviation", "least", "largest")
"""What is said of a column in a notebook."""


def measures(ensemble: Ensemble) -> list[tuple[str, ...]]:
    """Rows of words: a column of numbers, its unit and the MEASURES of those that are finite."""
    contents, block = _block(ensemble)
    units, rows = units_of(contents), list[tuple[str, ...]]()
    for name, values in columns_of(contents, block).items():
        numbers = np.asarray(values)
        numbers = numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers[:0]
        if numbers.size:
            found = (numbers.mean(), numbers.std(), numbers.min(), numbers.max())
            rows.append((name, units.get(name, ""), *(f"{x:.6g}" for x in found)))
    return rows


def to_table(ensemble: Ensemble) -> Any:
    """The same as a table of pyarrow."""
    _require("pyarrow", "to_table")
    return table_of(*_block(ensemble))


def to_xarray(ensemble: Ensemble) -> Any:
    """A dataset of xarray: columns over `member`, motions over `member` and `time`, tallies over `time`."""
    _require("xarray", "to_xarray")
    import xarray as xr

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
    names = [name for name, _ in contents.watch]
    take("covariance", ("time", "watched", "with"), ensemble.joint.covariance)
    coordinates = {
        "watched": names,
        "with": names,
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


def _require(package: str, what: str) -> None:
    """Refuse what an extra is missing for."""
    if importlib.util.find_spec(package) is None:
        raise InputError(f"{what} needs {package}\n    fix: pip install 'kane[ensemble]'")


def differences(ensemble: Ensemble) -> dict[str, Any]:
    """Name → values (n,) of all that differs between members, called as it was given: by the coordinate or speed at the
    start, or the parameter."""
    return {name: x for name, x in ensemble.numbers.items() if len(np.unique(x[np.isfinite(x)])) > 1}


def find_difference(name: str, known: Collection[str]) -> str:
    """The one of what differs that a name means, its own or that of its column in the table, `start_q1`."""
    found = name if name in known else name.removeprefix(START)
    if found not in known:
        fix = suggestion(name, known)
        raise InputError(f"over = {describe_value(name)}: nothing of that name differs between members\n    fix: {fix}")
    return found


def sensitivity(ensemble: Ensemble, result: str) -> dict[str, tuple[float, float]]:
    """Spearman's rank correlation of a result with each thing that differs, and with its distance from the median,
    which sees what pushes to the left and to the right do alike; the larger of the two says which comes first. Members
    without a result do not count; nan where fewer than three have one, or all the same."""
    y = column(ensemble, result)
    with np.errstate(invalid="ignore"):  # of a number that nobody has
        found = {
            name: (rank_correlation(x, y), rank_correlation(np.abs(x - np.median(x)), y))
            for name, x in differences(ensemble).items()
        }
    return dict(sorted(found.items(), key=lambda item: -np.nan_to_num(np.abs(item[1])).max()))


def rank_correlation(x: Any, y: Any) -> float:
    """Spearman's rank correlation of what is finite, nan where one of them does not differ."""
    stats = importlib.import_module("scipy.stats")  # SciPy takes a while to import
    good = np.isfinite(x) & np.isfinite(y)
    steady = good.sum() < 3 or np.ptp(y[good]) == 0 or np.ptp(x[good]) == 0
    return np.nan if steady else float(stats.spearmanr(x[good], y[good])[0])


def results(ensemble: Ensemble) -> list[str]:
    """Columns that a reader asks for first: when events occurred, extremes of what is watched beside the state, else
    where coordinates ended; none where only tallies are kept."""
    if ensemble.keep == "tallies":
        return []
    mechanism = ensemble.work.answers.mechanism
    watched = [name for name in ensemble.high if name not in (*mechanism.coordinates, *mechanism.speeds)]
    found = [f"first_{name}" for name in ensemble.first] + [f"high_{name}" for name in watched]
    return found or [f"end_{name}" for name in mechanism.coordinates]


def result_column(ensemble: Ensemble, name: str) -> str:
    """The column that a result names, which is no parameter: for what is watched that of its largest values, for an
    event that of whether it occurs."""
    if name in {column.name for column in ensemble.work.plan.columns if column.kind == "parameters"}:
        return name
    if name in ensemble.high:
        return f"high_{name}"
    return f"{OCCURS}{name}" if name in ensemble.crossings else name


def occurrences(ensemble: Ensemble) -> dict[str, Any]:
    """Name → values (n,) by event: 1 for members in which it occurs, 0 for the others, nan for those that failed before
    it could."""
    known = ensemble.crossings.items()
    return {f"{OCCURS}{name}": np.where(x > 0, 1.0, np.where(ensemble.success, 0.0, np.nan)) for name, x in known}


def column(ensemble: Ensemble, name: str) -> Any:
    """A column of numbers by its name, or by that of what is watched or of an event, (n,)."""
    name = result_column(ensemble, name)
    known = {key: x for key, x in columns(ensemble).items() if np.asarray(x).dtype.kind in "fiu" and key != "member"}
    known |= {key: x for key, x in occurrences(ensemble).items() if key not in known}
    if name not in known:
        raise InputError(f"result = {describe_value(name)}: no such column\n    fix: {suggestion(name, known)}")
    return np.asarray(known[name], dtype=float)


def end_quantiles(ensemble: Ensemble, name: str, shares: Sequence[float]) -> list[float]:
    """Values of what is watched that these `shares` of the members do not exceed at the end, nan where none has one:
    exact where members keep their ends, else within a bin of the tallies."""
    if name not in ensemble.end:
        return [float(ensemble.tallies[name].quantile(p)[-1]) for p in shares]
    return finite_quantiles(ensemble.end[name], shares)


def finite_quantiles(values: Any, shares: Sequence[float]) -> list[float]:
    """Numbers that these `shares` of the finite `values` (n,) do not exceed, nan where none is finite."""
    good = values[np.isfinite(values)]
    return np.quantile(good, shares).tolist() if good.size else [np.nan] * len(shares)


def occurs(ensemble: Ensemble, name: str) -> bool:
    """Whether some member has a result."""
    return bool(np.isfinite(column(ensemble, name)).any())


__all__ = [
    "column",
    "columns",
    "differences",
    "end_quantiles",
    "endings",
    "find_difference",
    "finite_quantiles",
    "occurrences",
    "occurs",
    "rank_correlation",
    "result_column",
    "results",
    "sensitivity",
    "to_table",
    "to_xarray",
]
