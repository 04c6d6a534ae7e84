"""`Ensemble`: the same model for many starts, parameters and seeds, and what is learned from all of them."""

# pyright: reportUnnecessaryIsInstance=false
# What callers give is judged, whatever its type was declared to be.

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from ..advice import KEEPS
from ..boundary import check_path, check_text, describe_value
from ..ensemble import Draws, Enough, JointTally, MemberBlock, Store, Tally, blocks_at_a_time, gather_blocks
from ..ensemble.executors import capacity
from ..ensemble.tallies import share_interval
from ..errors import InputError, NamedTable, suggestion, visible
from ..markup import paragraph, table
from ..simulate import ENDS
from ..simulate.notice import after_compilation
from . import ensemble_pictures, ensemble_views
from .answers import Answers, free_parameters
from .ensemble_given import count_members, read_columns, whole_number
from .ensemble_progress import MemberRate, Progress, ProgressLine, teller
from .ensemble_sobol import SobolIndex, sobol
from .ensemble_store import finish_store, open_store
from .ensemble_watch import read_watch
from .ensemble_work import MemberWork
from .limits import warn_of_idle_limits
from .memory_needs import EnsembleSize, require_ensemble_memory
from .records import Array
from .simulation import ControlLaw
from .starts import span
from .watched import read_events

if TYPE_CHECKING:
    from .trajectory import Trajectory

_GOOD = [ENDS.index(reason) for reason in ("end", "event")]


@dataclass(frozen=True, repr=False)
class Ensemble:
    """Members of one motion, n of them, in the order of their indices; n is less than was asked for where `until` or an
    interrupt ended the work early.

    - `t` (k,): the times of output, s;
    - `reasons` (n,): why each ended, as `outcome.reason` of a trajectory does, "refused" or "lost"; `success` (n,);
      `messages`: what is said of those that failed, by index; `ends` (n,): the same as places in `kane.ensemble.ENDS`;
    - `end_t` (n,), `end_q`, `end_u` (n, …): where each ended; None where only tallies are kept;
    - `q`, `u` (n, k, …): states at the times, nan beyond the end of a motion; None unless motions are kept;
    - `first` and `crossings`: by event the time (s) of its first crossing, nan for none, and how many there were, (n,);
    - `occurred`: by event in how many members it occurred, whatever is kept of them;
    - `low`, `high`, `end`: by watched quantity its extremes over the times of output or, where t is a duration, over
      the motion (at 100 equal parts of it), and its value at the last time, nan for a motion that ended before, (n,);
    - `tallies`: by watched quantity mean, deviation, extremes and quantiles over all members, at each time (k,);
    - `joint`: covariances of watched quantities, in the order of `tallies`, at each time; `covariance()` gives some;
    - `keep`: what of each member is kept, as was asked for; `interrupted`: whether Ctrl-C ended the work early.

    >>> found = kane.load("pendulum").ensemble([0, 1, 2], n=50, seed=1, q={"q": "uniform(-1, 1)"})
    >>> found.q.shape, int(found.success.sum()), bool(abs(found.tallies["q"].mean[0]) < 0.3)
    ((50, 3, 1), 50, True)
    """

    t: Array
    ends: NDArray[np.int8]
    messages: Mapping[int, str]
    end_t: Array | None
    end_q: Array | None
    end_u: Array | None
    q: Array | None
    u: Array | None
    first: Mapping[str, Array]
    crossings: Mapping[str, NDArray[np.int64]]
    low: Mapping[str, Array]
    high: Mapping[str, Array]
    end: Mapping[str, Array]
    occurred: Mapping[str, int]
    tallies: Mapping[str, Tally]
    joint: JointTally
    work: MemberWork
    keep: str = "ends"
    interrupted: bool = False

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def reasons(self) -> NDArray[np.str_]:
        """Why each member ended, in words."""
        return np.array(ENDS)[self.ends]

    @property
    def success(self) -> NDArray[np.bool_]:
        """Which members reached the end of their span, or a terminal event."""
        return self.ends <= ENDS.index("event")

    @cached_property
    def numbers(self) -> Mapping[str, Array]:
        """What was given or drawn for each member, by name: coordinates, speeds, parameters; (n,)."""
        rows = self.work.plan.numbers(0, len(self))
        return {column.name: rows[:, c] for c, column in enumerate(self.work.plan.columns)}

    def member(self, index: int) -> Trajectory:
        """The motion of one member, simulated alone: the same bits, and everything that can be asked of a motion."""
        from .model import Model  # which has ensembles

        if isinstance(index, bool) or not isinstance(cast("object", index), int | np.integer):
            raise InputError(f"member({describe_value(index)}): this is no index\n    fix: give a whole number")
        if not len(self):
            raise InputError(f"member({index}): no member is done\n    fix: let some members finish")
        if not -len(self) <= index < len(self):
            raise InputError(f"member({index}): there are {len(self)} members\n    fix: give 0 … {len(self) - 1}")
        index %= len(self)
        work = self.work
        asked = work.state(work.plan.numbers(index, index + 1)[0])
        options = dict(work.options)
        return Model.of(work.answers).simulate(work.times, **asked, **options.pop("options"), **options)

    def share(self, event: str) -> float:
        """The share of members in which an event occurred; nan where no member is done."""
        occurred = self._count_members(event)
        return occurred / len(self) if len(self) else np.nan

    def share_interval(self, event: str, confidence: float = 0.95) -> tuple[float, float]:
        """(low, high) between which the share of all members that could be drawn lies with this confidence, by Wilson;
        (0, 1) where no member is done.

        >>> found = kane.load("pendulum").ensemble(1, n=100, q={"q": "uniform(-1, 1)"}, events={"down": "q"})
        >>> low, high = found.share_interval("down")
        >>> low < found.share("down") <= high
        True
        """
        number = isinstance(confidence, float | np.floating)  # an int is no share between 0 and 1
        if not (number and 0.0 < confidence < 1.0):
            raise InputError(
                f"confidence = {describe_value(confidence)}\n    fix: give a share between 0 and 1, say 0.95"
            )
        return share_interval(self._count_members(event), len(self), confidence)

    def _count_members(self, event: str) -> int:
        """In how many members an event occurred."""
        check_text("event", event)
        if event not in self.occurred:
            raise InputError(f"share: there is no event '{event}'\n    fix: {suggestion(event, self.occurred)}")
        return self.occurred[event]

    def covariance(self, *names: str) -> Array:
        """Covariances (k, m, m) of m watched quantities at each time over the members in which all that is watched is
        known then, in the product of their units; nan for fewer than two. Without names those of all, in the order of
        `tallies`."""
        watched = list(self.tallies)
        for name in names:
            check_text("name", name)
            if name not in self.tallies:
                raise InputError(f"covariance: '{name}' is not watched\n    fix: {suggestion(name, watched)}")
        places = [watched.index(name) for name in names or watched]
        return self.joint.covariance[:, places][:, :, places]

    def to_table(self) -> Any:
        """One row per member as a table of pyarrow: what was given or drawn (`start_q`, parameters by their names), why
        and where it ended, events, extremes of what is watched. It needs the extra `ensemble`."""
        return ensemble_views.to_table(self)

    def to_xarray(self) -> Any:
        """A dataset of xarray, units as attributes: the columns of the table over `member`, motions over `member` and
        `time`, mean, deviation and quantiles of what is watched over `time`. It needs the extra `ensemble`."""
        return ensemble_views.to_xarray(self)

    def sensitivity(self, result: str) -> dict[str, tuple[float, float]]:
        """What matters for a `result`, a column of the table or whether an event of that name occurs: Spearman's rank
        correlations with each thing that differs between members, by its name (q1, m1), and with its distance from the
        median, as of a push whose side does not matter; what has the larger of the two first. nan where
        fewer than three members have both, or all the same: nothing follows from it then."""
        check_text("result", result)
        return ensemble_views.sensitivity(self, result)

    def sobol(self, result: str, n: int = 1024) -> dict[str, SobolIndex]:
        """Sobol's indices of each number that is drawn, by its name: the share of the variance of `result` that it
        explains alone, and with all others [SAL10], each with the interval in which it lies with a confidence of 95 %.
        They take n (d + 2) further members, d numbers being drawn; n is a power of two. Four times as many members
        halve the intervals."""
        check_text("result", result)
        found = sobol(self, (result,), n)[result]
        if isinstance(found, str):
            raise InputError(f"sobol: {found}\n    fix: choose a result that all of them have")
        return found

    def again(self, plan: Draws) -> Ensemble:
        """The ensemble of another plan, all else being the same."""
        work = replace(self.work, plan=plan)
        gathering = _Gathering(work, self.keep, tuple(work.options["events"] or ()), None)
        for block in gather_blocks(work, plan.count, None):
            gathering.take(block)
        return gathering.ensemble()

    def plot(
        self,
        path: str | Path | None = None,
        kind: str = "scatter",
        result: str | None = None,
        *,
        over: Sequence[str] | None = None,
        cells: int | Sequence[int] | None = None,
    ) -> Any:
        """A figure (matplotlib), written to `path` if given: "fan", what is watched over time; "histogram" of a
        `result`, a column of the table; "scatter", the result over all that differs, members without it below it;
        "map", its mean over two things; "sensitivity", its rank correlations; "sobol", its Sobol indices, by further
        members. Where the result is the name of an event, it is whether that occurs: a map draws the share of the
        members of a cell in which it does. A map is `over` two names of what differs, across and up, by default those
        that matter most, with so many `cells` of equal width along both or along each. `kane.report.write_ensemble` has
        all of them in one file.
        """
        if path is not None:
            check_path("path", path)
        check_text("kind", kind)
        if result is not None:
            check_text("result", result)
        return ensemble_pictures.draw(self, path, kind, result, ensemble_pictures.read_grid(kind, over, cells))

    def __str__(self) -> str:
        listed = ", ".join(f"{ending.count} {ending.words}" for ending in ensemble_views.endings(self))
        asked = f" of {self.work.plan.count}" if self.interrupted else ""
        members = f"{len(self)}{asked} member{'s' * (len(self) != 1 or self.interrupted)}"
        over = f"{members} over {self.t[-1] - self.t[0]:g} s" + (f": {listed}" if listed else "")
        return f"interrupted after {over}" if self.interrupted else over

    def __repr__(self) -> str:
        return f"<Ensemble of '{visible(self.work.answers.mechanism.name)}', {self}>"

    def _repr_html_(self) -> str:
        """For notebooks: why members ended, and all columns of the table that hold numbers."""
        said = f"{self.work.answers.mechanism.name}: {self}"
        return paragraph(visible(said)) + table(("", *ensemble_views.MEASURES), ensemble_views.measures(self))


def ensemble(
    answers: Answers,
    t: Any,
    *,
    n: int | None = None,
    seed: int = 0,
    q: Any = None,
    u: Any = None,
    parameters: Mapping[str, Any] | None = None,
    sampling: str = "random",
    watch: Mapping[str, Any] | None = None,
    keep: str | None = None,
    until: Enough | None = None,
    executor: Executor | None = None,
    store: str | Path | None = None,
    resume: bool = False,
    progress: bool | Callable[[Progress], object] | None = None,
    tau: Any = None,
    control: ControlLaw | None = None,
    control_period: float = 0.01,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    step: float | None = None,
    embed: str = "run-time",
    drift: str | tuple[float, float] = "project",
    impact: str | None = None,
    contacts: str = "events",
    saturate: bool = False,
    events: Mapping[str, Any] | None = None,
    **options: Any,
) -> Ensemble:
    """The motions of `n` members over `t` (s), which differ in `q`, `u` and `parameters`: mappings from a name to a
    number, an array (n,), a distribution ("normal(1.0, 0.05)", "uniform(0, pi)", "choice(1, 2, 4)", or from
    `kane.ensemble`), or a function of the member's own generator. q and u may be arrays (n, …) too, or a function of
    the generator that gives all of them, which may depend on one another.

    What a member draws depends on `seed` and its index alone; `sampling` is "random", "latin" or "sobol". Every member
    equals, to the bit, `simulate` with the same numbers; one that fails keeps its reason. `watch` maps a name to an
    expression, of which extremes and tallies over the members are kept; coordinates and speeds are watched anyway where
    t is an array of times. `keep` is "motions" (default for an array of times), "ends" (default else) or "tallies".
    `until` ends the work when a mean or a share is known well enough, and so does Ctrl-C: what is done is kept, and the
    ensemble is `interrupted`. Blocks of members are computed by the threads of this process, or by any `executor` of
    concurrent.futures. They are written to `store`, a folder or an address of fsspec, if one is given: with `resume`
    those that are there already are not computed again. Motions then stay on disk, `q` and `u` being arrays of Zarr.
    `progress` is called with a `Progress` after each block; True shows it in a notebook, on a terminal, or in the log
    `kane.ensemble`. All else is as in `simulate`.

    >>> m = kane.load("pendulum")
    >>> found = m.ensemble(2.0, n=100, seed=1, q={"q": "uniform(-1, 1)"}, parameters={"L": "normal(1, 0.05)"})
    >>> print(found)
    100 members over 2 s: 100 reached the end
    """
    tell = teller(progress)
    times = span(t)
    keep = keep if keep is not None else ("motions" if times.size > 2 else "ends")
    if keep not in KEEPS:
        raise InputError(f"keep = {describe_value(keep)}: there are {', '.join(KEEPS)}")
    columns = read_columns(answers.mechanism, q, u, parameters)
    free = _with_free(answers, [c.name for c in columns if c.kind == "parameters"])
    plan = Draws(tuple(columns), count_members(n, columns), whole_number("seed", seed, 0), sampling)
    watched = read_watch(free.mechanism, watch, times.size > 2)
    read_events(free.mechanism, events)  # refused once, not by each member
    if saturate:
        warn_of_idle_limits(free.mechanism)
    asked: dict[str, Any] = {"tau": tau, "control": control, "control_period": control_period, "method": method}
    asked |= {"rtol": rtol, "atol": atol, "step": step, "embed": embed, "drift": drift, "impact": impact}
    asked |= {"contacts": contacts, "events": events, "saturate": saturate, "options": options}
    looks = bool(watched) and times.size <= 2 and keep != "tallies"
    work = MemberWork(free, plan, times, asked, watched, keep == "motions", looks)
    names = tuple(events or ())
    if until is not None and not isinstance(until, Enough):
        raise InputError(f"until = {describe_value(until)}\n    fix: give kane.ensemble.Enough(name, half_width)")
    if resume and store is None:
        raise InputError("resume: there is no store to go on with\n    fix: name it by store='…'")
    if until is not None and until.name not in (*names, *watched):
        raise InputError(f"until: '{until.name}' is neither an event nor watched\n    fix: name it in events or watch")
    known = plan.count if until is None else 0  # else nobody knows how many members there will be
    size = EnsembleSize(times.size, plan.count, known, keep, len(names), len(watched), store is not None)
    in_work, held = blocks_at_a_time(executor)
    require_ensemble_memory(free.mechanism, replace(size, in_work=in_work, held=held))
    kept = None if store is None else open_store(store, work, keep, resume)
    gathering = _Gathering(work, keep, names, until)
    whole = _gather(gathering, executor, kept, tell)
    if whole and kept is not None:
        kept.trim(gathering.done)
        finish_store(kept, gathering.done)
    return gathering.ensemble(kept, interrupted=not whole)


def _gather(
    gathering: _Gathering, executor: Any, store: Store | None, tell: Callable[[Progress], object] | None
) -> bool:
    """Take in blocks until there are enough; whether an interrupt did not end it first, which keeps what is done."""
    count = gathering.work.plan.count
    there = 0 if store is None else len(store.blocks_there())
    rate = MemberRate(count, 0 if executor is None else there + capacity(executor))
    compiles_here = tell is not None and executor is None
    try:
        with (
            after_compilation(rate.restart) if compiles_here else nullcontext(),
            closing(gather_blocks(gathering.work, count, executor, store)) as blocks,
        ):
            for block in blocks:
                gathering.take(block)
                if tell is not None:
                    tell(rate.progress(gathering.done, gathering.failed))
                if gathering.is_enough():
                    break
    except KeyboardInterrupt:
        return False
    finally:
        if isinstance(tell, ProgressLine):
            tell.close()
    return True


def _with_free(answers: Answers, names: list[str]) -> Answers:
    """Answers in which parameters of these names are inputs of the programs."""
    mechanism = answers.mechanism
    if all(mechanism.parameters[name].free for name in names):
        return answers
    twin = mechanism.twin()
    free_parameters(twin, [*names, *(p.name for p in mechanism.parameters.values() if p.free)])
    return answers.of(twin)


# what comes out -------------------------------------------------------------------------------------------------------


class _Gathering:
    """Blocks put together in their order."""

    def __init__(self, work: MemberWork, keep: str, events: tuple[str, ...], until: Enough | None):
        self.work, self.keep, self.events, self.until = work, keep, events, until
        self.done = 0
        self.blocks: list[MemberBlock] = []
        self.reason: list[Any] = []
        self.messages: dict[int, str] = {}
        self.failed = 0
        self.occurred = np.zeros(len(events), dtype=np.int64)
        self.tallies: tuple[Tally, ...] = ()
        self.joint: JointTally | None = None

    def take(self, block: MemberBlock) -> None:
        """Take in the next block; of what nobody wants nothing is kept."""
        members = block.members
        self.done = block.first + len(members.reason)
        self.reason.append(members.reason.astype(np.int8))
        self.failed += int(np.count_nonzero(~np.isin(members.reason, _GOOD)))
        self.messages |= {block.first + i: text for i, text in members.messages.items()}
        self.occurred += block.occurred
        if self.joint is None:
            self.tallies, self.joint = block.tallies, block.joint
        else:
            for mine, more in zip(self.tallies, block.tallies, strict=True):
                mine.merge(more)
            self.joint.merge(block.joint)
        if self.keep != "tallies":
            self.blocks.append(block)

    def is_enough(self) -> bool:
        """Whether what `until` asks for is known well enough."""
        until = self.until
        if until is None:
            return False
        if until.name in self.events:
            return until.reached_by_share(int(self.occurred[self.events.index(until.name)]), self.done)
        return until.reached_by_mean(self.tallies[list(self.work.watch).index(until.name)])

    def ensemble(self, store: Store | None = None, *, interrupted: bool = False) -> Ensemble:
        """What came of all members that were computed; motions that are in a store stay there."""
        if not self.done:
            self.take(self.work.lose(0, 0, ""))
        assert self.joint is not None
        mechanism, watch = self.work.answers.mechanism, tuple(self.work.watch)
        nq, nu = len(mechanism.coordinates), len(mechanism.speeds)
        ends = np.concatenate(self.reason) if self.reason else np.empty(0, dtype=np.int8)
        rows: dict[str, list[Any]] = {
            "t": [b.members.t for b in self.blocks],
            "y": [b.members.y for b in self.blocks],
            "outputs": [b.members.outputs for b in self.blocks],
            "first": [b.members.first for b in self.blocks],
            "crossings": [b.members.crossings for b in self.blocks],
            "low": [b.low for b in self.blocks],
            "high": [b.high for b in self.blocks],
            "end": [b.end for b in self.blocks],
        }
        kept: dict[str, Any] = {
            name: np.concatenate(parts) if parts and parts[0] is not None else None for name, parts in rows.items()
        }
        y, motions = kept["y"], kept["outputs"]
        q, u = (None, None) if motions is None else (motions[:, :, :nq], motions[:, :, nq : nq + nu])
        if store is not None and self.keep == "motions":
            q, u = store.array("q"), store.array("u")

        def by_name(labels: tuple[str, ...], values: Any) -> dict[str, Any]:
            kind = "event" if labels is self.events else "watched quantity"
            return NamedTable(kind, {} if values is None else {x: values[:, k] for k, x in enumerate(labels)})

        return Ensemble(
            self.work.times,
            ends,
            self.messages,
            kept["t"],
            None if y is None else y[:, :nq],
            None if y is None else y[:, nq : nq + nu],
            q,
            u,
            by_name(self.events, kept["first"]),
            by_name(self.events, kept["crossings"]),
            by_name(watch, kept["low"]),
            by_name(watch, kept["high"]),
            by_name(watch, kept["end"]),
            NamedTable("event", zip(self.events, self.occurred.tolist(), strict=True)),
            NamedTable("watched quantity", zip(watch, self.tallies, strict=True)),
            self.joint,
            self.work,
            self.keep,
            interrupted,
        )


__all__ = ["Ensemble", "Progress", "ensemble"]
