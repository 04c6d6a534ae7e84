"""`write_ensemble`: what came of the members of an ensemble, in one HTML file that needs no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..api import Ensemble
from ..api import ensemble_pictures as pictures
from ..api.ensemble_sobol import share_text, sobol
from ..api.ensemble_views import (
    differences,
    end_quantiles,
    endings,
    finite_quantiles,
    occurs,
    result_column,
    results,
    sensitivity,
)
from ..errors import InputError
from ..markup import code_block, details, paragraph, table, text
from ..model.speeds import describe_definitions
from ..viewer import plots
from ..writing import check_writable, write_text
from .page import Page, Section, closing_line, figure

SHOWN = 20
"""Members that failed whose messages are shown."""

MOST_RESULTS = 6
"""Results that have pictures of their own where none are named."""

QUANTILES = (0.05, 0.5, 0.95)


def write_ensemble(
    ensemble: Ensemble, path: Path | str, *, result: Sequence[str] = (), indices: int | None = None, title: str = ""
) -> Path:
    """Write the report of an ensemble to `path`, an .html file: what differs between members, how they ended, what is
    watched over time, and what matters for each `result`: columns of the table, or events, of which it is whether they
    occur.

    By default these are the times of events and the extremes of what is watched, or else where coordinates ended. With
    `indices`, a power of two, Sobol's indices are computed by that many members for each number drawn, and twice
    as many more.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"'{path}': a report ends in .html")
    check_writable(target)
    if not len(ensemble):
        raise InputError("an ensemble without members: there is nothing to report\n    fix: let some members finish")
    chosen = [result_column(ensemble, name) for name in result] or results(ensemble)[:MOST_RESULTS]
    shares = sobol(ensemble, chosen, indices) if indices and chosen else {}
    chapters = [_members_chapter(ensemble), _outcomes_chapter(ensemble, chosen)]
    if ensemble.tallies:
        chapters.append(_time_chapter(ensemble))
    if chosen and differences(ensemble):
        chapters.append(_influence_chapter(ensemble, chosen, shares))
    mechanism = ensemble.work.answers.mechanism
    about = f"{ensemble}."
    page = Page(title or f"{mechanism.name}: an ensemble", about, _figures(ensemble), tuple(chapters), closing_line())
    write_text(target, page.html())
    return target


def _figures(ensemble: Ensemble) -> tuple[tuple[str, str], ...]:
    """The figures at the head of the page."""
    plan, good = ensemble.work.plan, int(np.count_nonzero(ensemble.success))
    found = [
        (f"{len(ensemble):,}".replace(",", "\u202f"), "members"),
        (f"{good / len(ensemble):.1%}", "reached the end or a terminal event"),
        *((f"{ensemble.share(name):.2%}", f"have '{name}'") for name in ensemble.occurred),
        (f"{plan.seed}", f"seed, {plan.sampling} sampling"),
    ]
    return tuple(found)


def _share(ensemble: Ensemble, event: str) -> str:
    low, high = ensemble.share_interval(event)
    return f"{ensemble.share(event):.2%} (from {low:.2%} to {high:.2%})"


def _members_chapter(ensemble: Ensemble) -> Section:
    """What differs between members, and what all of them share."""
    work = ensemble.work
    rows = []
    for column in work.plan.columns:
        values = ensemble.numbers[column.name]
        kind = {"q": "coordinate", "u": "speed", "parameters": "parameter"}[column.kind]
        good = values[np.isfinite(values)]
        ends = (f"{x:.6g}" for x in (good.min(), good.mean(), good.max())) if good.size else ("–",) * 3
        rows.append((column.name, kind, _origin(column.value), *ends))
    body = table(("name", "what", "given as", "least", "mean", "greatest"), rows, words=3) if rows else ""
    if not rows:
        body = paragraph("Nothing differs between the members.")
    start, end = (f"{t:g}" for t in ensemble.t[[0, -1]])
    body += paragraph(f"Simulated from t = {start} to {end} s, with {len(ensemble.t)} times of output.")
    options = {**work.options, **work.options["options"]}
    asked = [(name, str(value)) for name, value in options.items() if value is not None and name != "options"]
    watched = {name: str(value) for name, value in work.watch.items()}
    asked += [(f"watched: {name}", x) for name, x in describe_definitions(work.answers.mechanism, watched).items()]
    return Section("Members", body + details("How they were simulated", table(("option", "value"), asked, words=2)))


def _origin(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return "one value for each member"
    return f"{value:g}" if isinstance(value, float) else getattr(value, "__qualname__", str(value))


def _outcomes_chapter(ensemble: Ensemble, chosen: Sequence[str]) -> Section:
    """How members ended, events, histograms of results, and what is said of those that failed."""
    rows = [(ending.words, ending.count, f"{ending.count / len(ensemble):.2%}") for ending in endings(ensemble)]
    body = table(("how they ended", "members", "share"), sorted(rows, key=lambda row: -row[1]))
    if ensemble.occurred:
        rows = [(name, _share(ensemble, name), *_quantiles(ensemble.first.get(name))) for name in ensemble.occurred]
        heads = ("event", "share of members, at 95 % confidence", *(f"first, {p:.0%} (s)" for p in QUANTILES))
        body += table(heads, rows)
    if chosen:
        body += figure(plots.svg(pictures.histograms(ensemble, chosen), "how results are distributed"))
    failed = np.flatnonzero(~ensemble.success).tolist()
    if failed:
        told = "\n".join(ensemble.messages.get(i, f"member {i}: {ensemble.reasons[i]}") for i in failed[:SHOWN])
        more = paragraph(f"… and {len(failed) - SHOWN} more.") if len(failed) > SHOWN else ""
        body += details(f"Members that failed, {len(failed)} in all", code_block(told) + more)
    return Section("Outcomes", body)


def _quantiles(values: Any) -> tuple[str, ...]:
    found = finite_quantiles(np.empty(0) if values is None else values, QUANTILES)
    return tuple(f"{x:.5g}" if np.isfinite(x) else "–" for x in found)


def _time_chapter(ensemble: Ensemble) -> Section:
    """What is watched: over time as fans, and at the end as figures."""
    body = ""
    if len(ensemble.t) > 2:
        drawn = pictures.fan(ensemble, list(ensemble.tallies))
        words = "Members that have ended before a time do not count there."
        body += figure(plots.svg(drawn, "what is watched over time"), words)
    rows = []
    for name, tally in ensemble.tallies.items():
        known = tally.count[-1] > 0
        mean, deviation, low, high = (x[-1] for x in (tally.mean, tally.deviation, tally.low, tally.high))
        shown = (mean, deviation, low, *end_quantiles(ensemble, name, QUANTILES), high)
        rows.append((name, int(tally.count[-1]), *(f"{x:.5g}" if known else "–" for x in shown)))
    shares = (f"{p:.0%}" for p in QUANTILES)
    heads = ("at the end", "members", "mean", "deviation", "least", *shares, "greatest")
    return Section("Over time" if len(ensemble.t) > 2 else "At the end", body + table(heads, rows))


def _influence_chapter(ensemble: Ensemble, chosen: Sequence[str], shares: Mapping[str, Any]) -> Section:
    """Each result over all that differs, as a map over two of these, and what matters most for it."""
    body = ""
    for name in chosen:
        body += f"<h3>{text(pictures.label_of(ensemble, name))}</h3>"
        if not occurs(ensemble, name):
            body += paragraph("No member has one.")
            continue
        body += figure(plots.svg(pictures.scatter(ensemble, name), f"{name} over what differs"))
        beside = _map(ensemble, name), _ranking(ensemble, name), _indices(ensemble, name, shares.get(name))
        drawn = [picture for picture in beside if picture]
        body += "".join(f'<div class="pair even">{"".join(drawn[k : k + 2])}</div>' for k in range(0, len(drawn), 2))
        body += details("As figures", _ranking_table(ensemble, name, shares.get(name)))
    return Section("What matters", body)


def _map(ensemble: Ensemble, name: str) -> str:
    """A result over the two things that matter most for it; nothing where there are no two."""
    if pictures.two_to_map(ensemble, name) is None:
        return ""
    drawn = plots.svg(pictures.over_two(ensemble, name), f"map of {name}")
    return figure(drawn, "Means of the members in each cell, over the two that matter most.", "draw")


def _ranking(ensemble: Ensemble, name: str) -> str:
    """What matters most for a result, by rank."""
    drawn = plots.svg(pictures.ranking(ensemble, name), f"rank correlations of {name}")
    said = "Spearman's rank correlation with each number, and with its distance from the median on either side."
    return figure(drawn, f"{said} Members without a result do not count.", "draw")


def _indices(ensemble: Ensemble, name: str, found: Any) -> str:
    """Sobol's indices of a result, or why there are none."""
    if found is None:
        return ""
    if isinstance(found, str):
        return paragraph(f"No Sobol indices: {found}.")
    return figure(
        plots.svg(pictures.shares(ensemble, name, found), f"Sobol indices of {name}"),
        "Sobol's indices: the share of the variance that a number explains alone, and with all others [SAL10],"
        " by members of their own; lines are intervals at 95 % confidence.",
        "draw",
    )


def _ranking_table(ensemble: Ensemble, name: str, found: Any) -> str:
    ranks = sensitivity(ensemble, name)
    heads = ("what differs", "rank correlation", "with its distance from the median")
    rows = {key: (key, *(f"{x:+z.3f}" if np.isfinite(x) else "–" for x in pair)) for key, pair in ranks.items()}
    if not isinstance(found, Mapping):
        return table(heads, list(rows.values()))
    listed = [
        (*row, share_text(x.first, x.first_interval), share_text(x.total, x.total_interval))
        if (x := found.get(key))
        else (*row, "–", "–")
        for key, row in rows.items()
    ]
    return table((*heads, "share of the variance alone, at 95 % confidence", "with all others"), listed)


__all__ = ["write_ensemble"]
