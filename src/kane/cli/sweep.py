"""`kane sweep`: many members of one motion, what is learned from them, and how far they are while they run."""

from __future__ import annotations

import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..api import Model
from ..api.ensemble_given import fault_of_distribution
from ..api.ensemble_pictures import MOST_CELLS, watched_of
from ..api.ensemble_progress import LOG_EVERY, Progress
from ..api.ensemble_views import OCCURS, end_quantiles, finite_quantiles
from ..api.ensembles import Ensemble
from ..api.memory_needs import EnsembleSize, require_ensemble_memory
from ..api.run_values import find_coordinate
from ..errors import suggestion
from ..report import write_ensemble
from ..simulate import ENDS
from . import FAILED, FINE, INTERRUPTED, UsageError
from .console import BAR_AFTER, can_draw, heading, print_json, show, table
from .given import control_of, event_of, file_to_write, find_speed, model_of, separate
from .motion import DURATION, PICTURES, step_of
from .streams import say
from .wording import in_shell
from .workers import workers_of

DRAWN = ("normal(", "uniform(", "choice(")
"""How values begin that are drawn."""

SHARES = (0.05, 0.5, 0.95)
"""Of the members, those that do not exceed the quantiles that are told."""

SHOWN = 5
"""Members that failed whose reasons are told."""


def sweep(arguments: Namespace) -> int:
    """Run an ensemble, print what came of it, write what was asked for."""
    model = model_of(arguments)
    picture = file_to_write(arguments, "plot", PICTURES)
    report = file_to_write(arguments, "report", (".html", ".htm"))
    asked = _options(model, arguments)
    grid = _grid(arguments, asked)
    if picture is not None:
        _refuse_picture(arguments, asked)
    if arguments.result and (picture is not None or report is not None):
        _refuse_results(model, arguments, asked)
    asked["t"] = _times(model, arguments, asked)
    with workers_of(arguments) as executor, _Watching(arguments.n) as watching:
        found = model.ensemble(**asked, executor=executor, progress=watching)
    if arguments.json:
        print_json(_summary(found))
    else:
        _print_summary(found)
    if picture is not None and len(found):
        found.plot(picture, arguments.kind, next(iter(arguments.result), None), **grid)
        say(f"wrote {picture}")
    if report is not None and len(found):
        indices = None if found.interrupted else arguments.sobol  # an interrupt is no time for more members
        write_ensemble(found, report, result=arguments.result, indices=indices)
        say(f"wrote {report}")
    return _status(found, arguments)


def _refuse_picture(arguments: Namespace, asked: dict[str, Any]) -> None:
    """Refuse a picture that there will not be, before anything is computed."""
    kind = arguments.kind
    if arguments.keep == "tallies" and kind != "fan":
        raise UsageError(f"--kind {kind}: of tallies there is no result to draw\n    fix: --kind fan, or --keep ends")
    if kind == "fan" and not arguments.samples:
        raise UsageError("--kind fan: --samples 0 keeps the end alone\n    fix: leave --samples out")
    given = [text for group in ("q", "u", "parameters") for text in (asked[group] or {}).values()]
    differ = [text for text in given if text.startswith(DRAWN)]
    if kind == "map" and len(differ) < 2:
        raise UsageError(
            f"--kind map: a map has two things that differ, and here {len(differ)} is drawn\n"
            "    fix: draw a second one, as in --q 'q1=uniform(-1,1)', or --kind scatter"
        )


def _grid(arguments: Namespace, asked: dict[str, Any]) -> dict[str, Any]:
    """What a map is over and its cells, as `Ensemble.plot` takes them; refused before anything is computed where there
    will be no such map."""
    given = [option for option, value in (("--over", arguments.over), ("--cells", arguments.cells)) if value]
    if given and (arguments.plot is None or arguments.kind != "map"):
        raise UsageError(f"{given[0]}: is for maps; add --plot FILE --kind map")
    names = [name.strip() for name in (arguments.over or "").split(",")] if arguments.over else None
    drawn = {
        name for group in ("q", "u", "parameters") for name, x in (asked[group] or {}).items() if x.startswith(DRAWN)
    }
    for name in names or ():
        if name.removeprefix("start_") not in drawn:
            raise UsageError(f"--over {arguments.over}: '{name}' is not drawn; {suggestion(name, sorted(drawn))}")
    if names is not None and len(set(names)) != 2:
        raise UsageError(f"--over {arguments.over}: give two names, as in --over {','.join(sorted(drawn)[:2])}")
    return {"over": names, "cells": _cells(arguments.cells)}


def _cells(text: str | None) -> tuple[int, int] | None:
    """Cells along the axes of a map, from N or NxM."""
    if text is None:
        return None
    parts = [part.strip() for part in text.lower().split("x")]
    if not (len(parts) in (1, 2) and all(p.isascii() and p.isdigit() and 2 <= int(p) <= MOST_CELLS for p in parts)):
        raise UsageError(f"--cells {text}: give a number from 2 to {MOST_CELLS}, or one across and one up, as in 20x30")
    return int(parts[0]), int(parts[-1])


def _refuse_results(model: Model, arguments: Namespace, asked: dict[str, Any]) -> None:
    """Refuse results that there will not be, before anything is computed."""
    states, events = (*model.coordinates, *model.speeds), asked["events"] or {}
    watched = [*(states if arguments.samples else ()), *(asked["watch"] or {})]
    known = [*(f"start_{name}" for kind in ("q", "u") for name in asked[kind] or {}), *(asked["parameters"] or {})]
    if arguments.keep != "tallies":
        known += [
            *(f"first_{name}" for name in events),
            *(f"{x}_{name}" for name in watched for x in ("high", "low", "end")),
        ]
        known += ["end_t", *(f"end_{name}" for name in states), *(f"crossings_{name}" for name in events), *watched]
        known += [*events, *(f"{OCCURS}{name}" for name in events)]
    drawn = arguments.result[0] if arguments.plot is not None and arguments.kind == "fan" else None
    if drawn is not None and watched_of(drawn, watched) not in watched:
        raise UsageError(f"--result {drawn}: is not watched, as a fan needs\n    fix: --watch '{drawn}=EXPRESSION'")
    for name in arguments.result if arguments.report is not None or drawn is None else ():
        if name not in known:
            raise UsageError(f"--result {name}: no such column; {suggestion(name, known)}")


def _options(model: Model, arguments: Namespace) -> dict[str, Any]:
    """What the options of the command line ask for."""
    mechanism = model.mechanism
    end = (mechanism.duration or DURATION) if arguments.time is None else arguments.time
    if not end > 0:
        raise UsageError(f"--time {end:g}: the motion ends after its start at t = 0")
    if arguments.samples < 0 or arguments.samples in (1, 2):
        raise UsageError(f"--samples {arguments.samples}: give three or more, or 0 for the end alone")
    if arguments.n < 1:
        raise UsageError(f"-n {arguments.n}: an ensemble has one member at least")
    if arguments.seed < 0:
        raise UsageError(f"--seed {arguments.seed}: a seed is not negative")
    if arguments.sobol is not None and (arguments.sobol < 2 or arguments.sobol & (arguments.sobol - 1)):
        raise UsageError(f"--sobol {arguments.sobol}: is no power of two; give one, say 1024")
    if arguments.sobol is not None and arguments.report is None:
        raise UsageError("--sobol: its indices are drawn in a report; add --report FILE.html")
    if arguments.resume and arguments.out is None:
        raise UsageError("--resume: goes on with a store; add --out FOLDER.zarr")
    events = _texts(arguments.event, None, "--event", "fell")
    return {
        "t": end,
        "n": arguments.n,
        "seed": arguments.seed,
        "sampling": arguments.sampling,
        "q": _of_joints(model, arguments.q, "--q") or None,
        "u": _of_joints(model, arguments.u, "--u") or None,
        "parameters": _texts(arguments.parameter, model.parameters, "--parameter") or None,
        "events": {name: event_of(text, name) for name, text in events.items()} or None,
        "watch": _texts(arguments.watch, None, "--watch", "height") or None,
        "keep": arguments.keep,
        "control": control_of(model, arguments.control),
        "saturate": arguments.saturate,
        "method": arguments.method,
        "rtol": arguments.rtol,
        "atol": arguments.atol,
        "step": step_of(arguments),
        "store": arguments.out,
        "resume": arguments.resume,
    }


def _times(model: Model, arguments: Namespace, asked: dict[str, Any]) -> Any:
    """The times of output, or the end alone; refuses what nobody can hold before they are made."""
    if not arguments.samples:
        return asked["t"]
    events, stored = len(asked["events"] or ()), arguments.out is not None
    watched = len({*model.coordinates, *model.speeds, *(asked["watch"] or ())})
    size = EnsembleSize(arguments.samples, arguments.n, arguments.n, arguments.keep, events, watched, stored)
    require_ensemble_memory(model.mechanism, size)
    return np.linspace(0.0, asked["t"], arguments.samples)


def _texts(given: Sequence[str], known: Any, option: str, example: str = "q1") -> dict[str, str]:
    """Name → text from options like `q1=uniform(-1,1),q2=0`, each once; names are those of `known`, if there are."""
    found: dict[str, str] = {}
    for part in separate(given, option):
        name, equals, text = (x.strip() for x in part.partition("="))
        example = example if known is None else next(iter(known), example)
        if not name or not equals or not text:
            raise UsageError(f"{option} {part}: expected NAME=VALUE, as in {option} '{example}=...'")
        if known is not None and name not in known:
            raise UsageError(f"{option} {part}: unknown name '{name}'; {suggestion(name, known)}")
        if name in found:
            raise UsageError(f"{option} {part}: '{name}' is given twice")
        if known is not None and (fault := fault_of_distribution(text)):
            raise UsageError(f"{option} {part}: {fault}")
        found[name] = text
    return found


def _of_joints(model: Model, given: Sequence[str], option: str) -> dict[str, str]:
    """Coordinates or speeds → text; a joint that has one of them alone may be named instead."""
    m = model.mechanism
    known, find = (m.coordinate_records, find_coordinate) if option == "--q" else (m.speed_records, find_speed)
    parts = (part.partition("=") for part in separate(given, option))
    return _texts([f"{find(m, name.strip())}{equals}{text}" for name, equals, text in parts], known, option)


def _status(found: Ensemble, arguments: Namespace) -> int:
    """The exit status, and words about an interrupt and about members that failed."""
    failed = np.flatnonzero(~found.success).tolist()
    for i in failed[:SHOWN]:
        say(in_shell(found.messages.get(i, f"member {i}: {found.reasons[i]}"), "sweep"))
    if len(failed) > SHOWN:
        say(f"{len(failed) - SHOWN} more failed" + (": see members.parquet" if arguments.out else ""))
    if arguments.out is not None:
        say(f"{'kept in' if found.interrupted else 'wrote'} {arguments.out}: {len(found)} members")
    if found.interrupted:
        say(f"interrupted: {len(found)} of {arguments.n} members are done")
        if arguments.out is None:
            say("    nothing was stored; with --out FOLDER.zarr an interrupt keeps what is done")
        else:
            words = [word for word in arguments.words if word != "--resume"]
            say(f"    to go on, to the same bytes: kane {shlex.join(words)} --resume")
        return INTERRUPTED
    return FAILED if failed else FINE


def _summary(found: Ensemble) -> dict[str, Any]:
    """What came of an ensemble as plain data."""
    reasons = found.reasons.tolist()
    return {
        "members": len(found),
        "interrupted": found.interrupted,
        "succeeded": int(found.success.sum()),
        "reasons": {reason: reasons.count(reason) for reason in ENDS if reason in reasons},
        "events": {
            name: {
                "share": found.share(name),
                "interval": list(found.share_interval(name)),
                "median_first": _quantiles(found.first.get(name, np.empty(0)))["0.5"],
            }
            for name in found.occurred
        },
        "at_the_end": {
            name: {
                "mean": float(tally.mean[-1]) if tally.count[-1] else np.nan,
                "deviation": float(tally.deviation[-1]),
                "quantiles": _by_share(end_quantiles(found, name, SHARES)),
            }
            for name, tally in found.tallies.items()
        },
        "extremes": {name: _extremes(found.low[name], found.high[name]) for name in found.low},
        "messages": {str(i): in_shell(found.messages[i], "sweep") for i in sorted(found.messages)[:SHOWN]},
    }


def _extremes(low: Any, high: Any) -> dict[str, Any]:
    """The least and the greatest value of any member, and how the extremes of the members are distributed."""
    least, greatest = np.fmin.reduce(low, initial=np.nan), np.fmax.reduce(high, initial=np.nan)  # nan where none is
    return {"least": float(least), "low": _quantiles(low), "high": _quantiles(high), "greatest": float(greatest)}


def _quantiles(values: Any) -> dict[str, float]:
    """Values that SHARES of those that are finite do not exceed, nan where none is."""
    return _by_share(finite_quantiles(values, SHARES))


def _by_share(quantiles: Sequence[float]) -> dict[str, float]:
    return {str(p): x for p, x in zip(SHARES, quantiles, strict=True)}


def _print_summary(found: Ensemble) -> None:
    summary = _summary(found)
    show(str(found))
    if not len(found):
        return
    if summary["events"]:
        heading("events")
        rows = [
            (name, f"{x['share']:.4f}", "{:.4f} … {:.4f}".format(*x["interval"]), _word(x["median_first"]))
            for name, x in summary["events"].items()
        ]
        table(("event", "share", "95 % confidence", "first, median (s)"), rows)
    if summary["at_the_end"]:
        heading("at the end")
        rows = [
            (name, *map(_word, (x["mean"], x["deviation"], *x["quantiles"].values())))
            for name, x in summary["at_the_end"].items()
        ]
        table(("quantity", "mean", "deviation", "5 %", "50 %", "95 %"), rows)
    if summary["extremes"]:
        heading("lowest and highest value of each member")
        rows = []
        for name, x in summary["extremes"].items():
            low, high = x["low"], x["high"]
            rows.append(
                (name, *map(_word, (x["least"], low["0.05"], low["0.5"], high["0.5"], high["0.95"], x["greatest"])))
            )
        table(("quantity", "least", "lowest, 5 %", "50 %", "highest, 50 %", "95 %", "greatest"), rows)


def _word(number: float) -> str:
    """A number of a table, a dash where there is none."""
    return f"{number:.5g}" if np.isfinite(number) else "–"


class _Watching:
    """How far an ensemble is: a bar on a terminal, a line now and then in a log."""

    def __init__(self, count: int):
        self.count = count
        self.began = self.said = time.perf_counter()
        self.bar: Any = None

    def __enter__(self) -> _Watching:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, progress: Progress) -> None:
        now = time.perf_counter()
        if can_draw(sys.stderr):
            if now - self.began > BAR_AFTER:
                self._draw(progress)
        elif now - self.said >= LOG_EVERY:
            self.said = now
            say(str(progress))

    def _draw(self, progress: Progress) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        if self.bar is None:
            columns = (BarColumn(bar_width=24), TextColumn("{task.description}"))
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            self.bar.add_task(str(progress), total=self.count)
            self.bar.start()
        self.bar.update(self.bar.task_ids[0], completed=progress.done, description=str(progress))


__all__ = ["sweep"]
