"""The members of an ensemble as a worker computes them: numbers drawn, judged, started, run, watched.

`MemberWork` travels to other processes: it has the description, what is drawn and how it is simulated. A member comes
out with the bits of `simulate` with the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..ensemble import Draws, JointTally, MemberBlock, Tally
from ..ensemble.blocks import portion_size
from ..errors import KaneError, ModelError
from ..formulation import watch_program
from ..graph import Expr
from ..model import attitudes, locks
from ..simulate import ENDS, REASONS, Members, Outcome
from .answers import Answers
from .ensemble_groups import BlockResults, MemberGroup
from .ensemble_watch import Efforts, evaluate_program, extremes, extremes_between, look_times, watch_motions
from .flat_wheels import rolls
from .many_starts import are_lawful, initial_states_of, roll_together, start_together, starts_are_alike
from .records import Array
from .simulation import Setup, set_up
from .starts import wheels_may_slide
from .stops import flat_events, judge_poles, may_pass_poles, name_stop
from .trajectory import present_so_far

TRIED = 8
"""Members that are tried until one can begin, by which the others are judged."""

LOST = ENDS.index("lost")


@dataclass(frozen=True, slots=True)
class MemberWork:
    """What a worker needs: the model, with what is drawn of its parameters free, the plan, the times (s), the options
    of `simulate`, the quantities that are watched, name → expression, whether motions are kept, and whether what is
    watched is looked at on the way to the one time of output, for its extremes. `made` has the simulation that serves
    members of all blocks, as soon as there is one."""

    answers: Answers
    plan: Draws
    times: Array
    options: Mapping[str, Any]
    watch: Mapping[str, Any]
    keep: bool
    looks: bool
    made: list[Setup] = field(default_factory=list[Setup], repr=False, compare=False)

    def run(
        self,
        first: int,
        last: int,
        look: Callable[[int], object] | None = None,
        given: Mapping[int, Array] | None = None,
    ) -> MemberBlock:
        """The members first … last − 1; `given` has columns that `lighten` left out."""
        numbers = self.plan.numbers(first, last)
        for c, values in (given or {}).items():
            numbers[:, c] = values
        refused = self._refuse(numbers, first)
        chosen = np.array([i for i in range(last - first) if i not in refused], dtype=np.int64)
        found = self._new_results(last - first)
        for i, message in refused.items():
            found.refuse(i, message)
        groups = self._groups(numbers, chosen, found, first)
        for group in groups:
            self._run_group(group, found, numbers, look)
        self._name_stops(numbers, found)
        if rolls(self.answers.mechanism):
            self._judge_wheels(numbers, found)
        return self._block(first, found, numbers, groups[0].ready if groups else None)

    def _run_group(
        self, group: MemberGroup, found: BlockResults, numbers: Array, look: Callable[[int], object] | None
    ) -> None:
        """Run the members of a group; where what is watched is looked at on the way some at a time, since of their
        states there nothing but the extremes is kept."""
        if not self.looks:
            found.take(group.places, group.run(self.times, found.keep, look))
            return
        times = look_times(self.times)
        for part in group.split(portion_size(self._size())):
            made, at = part.run(times, True, look), part.places
            found.low[at], found.high[at] = extremes_between(self._watch(part.ready, numbers[at], times, made))
            assert made.outputs is not None
            found.take(at, replace(made, outputs=made.outputs[:, [0, -1]]))

    def _watch(self, ready: Setup | None, numbers: Array, times: Array, members: Members) -> Array:
        """Values (b, k, w) of what is watched along members with these numbers, one of them as it was `ready`."""
        stored = times if members.outputs is not None else None
        efforts = self._efforts(ready, numbers, stored)
        return watch_motions(self.answers, self.watch, times, members, self._parameters(numbers), efforts)

    def _name_stops(self, numbers: Array, found: BlockResults) -> None:
        """Let messages of members that stopped say why as `simulate` does: gimbal lock, rims that lie flat."""
        n = len(self.answers.mechanism.coordinates)
        for i, text in found.messages.items():
            if found.reason[i] < len(REASONS) and np.isfinite(found.y[i]).all():
                outcome = Outcome(ENDS[int(found.reason[i])], float(found.t[i]), text)
                found.messages[i] = name_stop(self._answers_of(numbers[i]), outcome, found.y[i, :n]).text

    def _judge_wheels(self, numbers: Array, found: BlockResults) -> None:
        """Let members of which a wheel passed through lying flat fail, and say so, as `simulate` does: by states at the
        times of output or, where only the end is asked for, by another run of those that came near it."""
        n = len(self.answers.mechanism.coordinates)
        if self._watches_wheels():
            suspects = np.flatnonzero(found.near_flat)
        else:
            assert found.outputs is not None
            some = np.flatnonzero(found.reason < len(REASONS))
            states, values = found.outputs[some, :, :n], self._parameters(numbers[some])
            suspects = some[may_pass_poles(self.answers, self.times, states, values)]
        for i in suspects.tolist():
            t, y = self._states_of(numbers[i], found, i)
            text = found.messages.get(i, f"reached t = {found.t[i]:.10g} s")
            outcome = Outcome(ENDS[int(found.reason[i])], float(found.t[i]), text)
            judged = judge_poles(self._answers_of(numbers[i]), outcome, t, y[:, :n], y[:, n:-1])
            if not judged.success:
                found.reason[i], found.messages[i] = ENDS.index(judged.reason), judged.text

    def _states_of(self, numbers: Array, found: BlockResults, i: int) -> tuple[Array, Array]:
        """Times (k,) and states (k, n) of a member: those of output, or all steps where only the end is asked for."""
        if self._watches_wheels():
            solution = self._setup(numbers).run()
            return solution.t, solution.y
        assert found.outputs is not None
        seen = np.isfinite(found.outputs[i]).all(axis=1)
        return self.times[seen], found.outputs[i, seen]

    def _watches_wheels(self) -> bool:
        """Whether wheels that roll are watched for lying flat, since no states tell."""
        return self.times.size <= 2 and rolls(self.answers.mechanism) > 0

    def _answers_of(self, numbers: Array) -> Answers:
        """The answers of a member with these numbers."""
        values = self._parameters(numbers[None])[0]
        return self.answers.with_parameters(values) if values.size else self.answers

    def _new_results(self, count: int) -> BlockResults:
        wheels = rolls(self.answers.mechanism) if self._watches_wheels() else 0
        events, watched = len(self.options["events"] or ()), len(self.watch)
        return BlockResults(count, self._size(), events, watched, self.times, self._stores(), wheels)

    def _block(self, first: int, found: BlockResults, numbers: Array, ready: Setup | None = None) -> MemberBlock:
        """The block of members that have run, one of them as it was `ready`."""
        watched = found.members(outputs=self.times.size > 2)  # of a duration the end, wherever that was
        values = self._watch(ready, numbers, self.times, watched)
        low, high = extremes(values)
        low, high = np.fmin(low, found.low), np.fmax(high, found.high)
        tallies = tuple(Tally.of(values[:, :, w]) for w in range(values.shape[2]))
        members, end = found.members(outputs=self.keep), values[:, -1].copy()
        occurred = np.count_nonzero(found.crossings, axis=0)
        return MemberBlock(first, members, low, high, end, occurred, tallies, JointTally.of(values), numbers)

    # other processes ---------------------------------------------------------------------------------------------

    def lighten(self) -> MemberWork:
        """The same with nan for the numbers that each member is given: they travel with the blocks."""
        arrays = {c for c, column in enumerate(self.plan.columns) if isinstance(column.value, np.ndarray)}
        columns = tuple(replace(x, value=np.nan) if c in arrays else x for c, x in enumerate(self.plan.columns))
        return replace(self, plan=replace(self.plan, columns=columns), made=[])

    def given_to(self, first: int, last: int) -> dict[int, Array]:
        """The numbers that these members are given, by the place of their column."""
        values: list[Any] = [column.value for column in self.plan.columns]
        return {c: x[first:last].copy() for c, x in enumerate(values) if isinstance(x, np.ndarray)}

    def lose(self, first: int, last: int, why: str) -> MemberBlock:
        """The block of members that nobody could compute; what they drew is not asked for, since that may be why."""
        found = self._new_results(last - first)
        for i in range(last - first):
            found.refuse(i, f"member {first + i}: {why}")
        found.reason[:] = LOST
        return self._block(first, found, np.full((last - first, len(self.plan.columns)), np.nan))

    def parts(self) -> Iterator[tuple[str, Any]]:
        """What users gave that may not pickle, by its name."""
        yield from ((str(column), column.value) for column in self.plan.columns)
        yield from self.options.items()
        yield from ((f"watch / {name}", expression) for name, expression in self.watch.items())
        yield f"model '{self.answers.mechanism.name}'", self.answers

    def _size(self) -> int:
        """Numbers of a state: q, u and the work done."""
        mechanism = self.answers.mechanism
        return len(mechanism.coordinates) + len(mechanism.speeds) + 1

    def _stores(self) -> bool:
        """Whether states at the times of output are needed, if only to be watched."""
        return self.keep or self.times.size > 2

    # numbers -----------------------------------------------------------------------------------------------------

    def state(self, numbers: Array) -> dict[str, Any]:
        """What `simulate` is given for a member with these numbers: q, u and parameters."""
        found: dict[str, dict[str, float]] = {"q": {}, "u": {}, "parameters": {}}
        for column, value in zip(self.plan.columns, numbers.tolist(), strict=True):
            found[column.kind][column.name] = value
        return {kind: values or None for kind, values in found.items()}

    def _parameters(self, numbers: Array) -> Array:
        """Values of all free parameters for members with these numbers, (b, p)."""
        mechanism = self.answers.mechanism
        free = [p.name for p in mechanism.parameters.values() if p.free]
        rows = np.tile(self.answers.values, (len(numbers), 1))
        for c, column in enumerate(self.plan.columns):
            if column.kind == "parameters":
                rows[:, free.index(column.name)] = numbers[:, c]
        return rows

    def _refuse(self, numbers: Array, first: int) -> dict[int, str]:
        """Members whose numbers are no numbers, or make a body that cannot be: place in the block → why."""
        found: dict[int, str] = {}
        bad = ~np.isfinite(numbers)
        for i in np.flatnonzero(bad.any(axis=1)).tolist():
            c = int(np.flatnonzero(bad[i])[0])
            what = f"{self.plan.columns[c]} = {numbers[i, c]:g} is not finite"
            found[i] = f"member {first + i}: {what}\n    fix: give finite numbers"
        if not any(c.kind == "parameters" for c in self.plan.columns):
            return found
        kernel = self.answers.make_once("masses", lambda: _mass_program(self.answers))
        if kernel is None:
            return found
        numeric = np.flatnonzero(~bad.any(axis=1))
        flagged = _doubtful(evaluate_program(kernel, self.answers, self._parameters(numbers[numeric])))
        for i in numeric[flagged].tolist():
            if why := self._explain(numbers[i]):
                found[i] = f"member {first + i}: {why}"
        return found

    def _explain(self, numbers: Array) -> str:
        """What the description says of these values of its parameters, if it refuses them."""
        drawn = {c.name: x for c, x in zip(self.plan.columns, numbers.tolist(), strict=True) if c.kind == "parameters"}
        try:
            self.answers.mechanism.twin().set_parameters(drawn)
        except ModelError as error:
            parameters = (c for c in self.plan.columns if c.kind == "parameters")
            shown = ", ".join(f"{c.name} = {drawn[c.name]:.6g} {_origin(c.value)}" for c in parameters)
            return f"{shown}\n    {error}"
        return ""

    # motions -----------------------------------------------------------------------------------------------------

    def _setup(self, numbers: Array, times: Array | None = None) -> Setup:
        """The simulation of a member, with states at the times of output unless others are given."""
        asked = self.state(numbers)
        parameters = asked.pop("parameters")
        answers = self.answers.with_parameters(parameters)
        given = dict(self.options, options=dict(self.options["options"]))
        with answers.cache.lock:  # what is watched becomes part of the graph of the description
            more = flat_events(answers.mechanism) if self._watches_wheels() else []
        return set_up(answers, self.times if times is None else times, **asked, **given, more_events=more)

    def _groups(self, numbers: Array, chosen: Any, found: BlockResults, first: int) -> Sequence[MemberGroup]:
        """Members that are simulated in one way; those whose start is impossible are refused."""
        if not chosen.size:
            return ()
        together = self._start_plainly(numbers, chosen) or self._start_together(numbers, chosen)
        if together and together[0].places.size == chosen.size:
            return together
        left = np.setdiff1d(chosen, together[0].places) if together else chosen
        return [*together, *self._start_alone(numbers, left, found, first)]

    def _start_plainly(self, numbers: Array, chosen: Any) -> Sequence[MemberGroup]:
        """Members whose start is what is given, in one group; none where that cannot be said."""
        mechanism = self.answers.mechanism
        if mechanism.constraints:
            return ()
        values = self._parameters(numbers[chosen])
        starts = self._states(numbers[chosen], initial_states_of(self.answers, values))
        settled = np.isfinite(starts).all(axis=1)
        judged = self._judged_places()  # what is made unit, or refused, is so for all as for the one that is ready
        alike = not judged and not mechanism.changing
        ready, place = (self.made[0], 0) if alike and self.made else self._first_ready(numbers, chosen, settled)
        if ready is None:
            return ()
        if alike and not self.made:
            self.made.append(ready)
        settled &= np.all(starts[:, judged] == starts[place, judged], axis=1)
        starts[:, judged] = ready.start[judged]
        if wheels_may_slide(mechanism):
            self._roll(starts, values, settled)
        return self._group(ready, chosen, starts, values, settled)

    def _roll(self, starts: Array, values: Array, settled: Any) -> None:
        """Give wheels that may slide the speeds of rolling; those that are not settled are taken out."""
        named, usual = self._held_speeds(starts, settled)
        some, n = np.flatnonzero(settled), len(self.answers.mechanism.coordinates)
        u, rolls = roll_together(
            self.answers, starts[some, :n], starts[some, n:-1], float(self.times[0]), values[some], [*named, *usual]
        )
        starts[some, n:-1], settled[some] = u, rolls

    def _held_speeds(self, starts: Array, settled: Any) -> tuple[list[str], list[str]]:
        """Names of coordinates and speeds that are given, and of others that the description starts with. Members of
        whom that is not the same are taken out of those that are `settled`."""
        named = [column.name for column in self.plan.columns if column.kind in ("q", "u")]
        if not settled.any():
            return named, []
        speeds = self.answers.mechanism.speeds
        moving = (starts[:, -1 - len(speeds) : -1] != 0.0) & [name not in named for name in speeds]
        usual = moving[np.flatnonzero(settled)[0]]
        settled &= np.all(moving == usual, axis=1)
        return named, [name for name, moves in zip(speeds, usual, strict=True) if moves]

    def _first_ready(self, numbers: Array, chosen: Any, settled: Any) -> tuple[Setup | None, int]:
        """The simulation of the first member that has one, of a few that are settled, and its place."""
        for place in np.flatnonzero(settled)[:TRIED].tolist():
            try:
                return self._setup(numbers[chosen[place]]), place
            except ModelError:  # it is told when it is its turn
                continue
        return None, 0

    def _group(self, ready: Setup, chosen: Any, starts: Array, values: Array, settled: Any) -> Sequence[MemberGroup]:
        """The members that are settled and start lawfully under constraints that come and go."""
        problem = ready.problem
        changing = problem.modes[0].changing
        if changing is not None:
            some = np.flatnonzero(settled)
            t, tau = float(self.times[0]), np.asarray(problem.tau)
            settled[some] = are_lawful(changing, starts[some], t, tau, values[some])
        return (MemberGroup(ready, chosen[settled], starts[settled], values[settled]),) if settled.any() else ()

    def _start_alone(self, numbers: Array, chosen: Any, found: BlockResults, first: int) -> Sequence[MemberGroup]:
        """Members whose starts are found one by one."""
        groups: dict[Any, tuple[Setup, list[int], list[Array]]] = {}
        for i in chosen.tolist():
            try:
                ready = self._setup(numbers[i])
            except KaneError as error:
                found.refuse(i, f"member {first + i}: {error}")
                continue
            key = (id(ready.problem.modes[0]), ready.settings.get("first_step"))
            _, members, starts = groups.setdefault(key, (ready, [], []))
            members.append(i)
            starts.append(ready.start)
        return [
            MemberGroup(ready, np.array(members), np.array(starts), self._parameters(numbers[members]))
            for ready, members, starts in groups.values()
        ]

    def _start_together(self, numbers: Array, chosen: Any) -> Sequence[MemberGroup]:
        """Members whose starts on the constraints are regular, in one group; none where that cannot be said."""
        answers, mechanism = self.answers, self.answers.mechanism
        if not starts_are_alike(answers):
            return ()
        values = self._parameters(numbers[chosen])
        starts = self._states(numbers[chosen], initial_states_of(answers, values))
        same = np.isfinite(starts).all(axis=1)
        named, usual = self._held_speeds(starts, same)
        n, t = len(mechanism.coordinates), float(self.times[0])
        q, u, settled = start_together(answers, starts[:, :n], starts[:, n:-1], t, values, named, usual)
        settled &= same
        ready, _ = self._first_ready(numbers, chosen, settled)
        if ready is None:
            return ()
        embedding = ready.problem.modes[0].embedding
        if embedding is not None:
            tau = np.asarray(ready.problem.tau)
            settled &= np.isfinite(embedding.accelerations(np.full(len(q), t), q, u, tau, values).udot).all(axis=1)
        starts = np.concatenate([q, u, np.zeros((len(q), 1))], axis=1)
        return self._group(ready, chosen, starts, values, settled)

    def _states(self, numbers: Array, usual: Array) -> Array:
        """States [q, u, work] of members with these numbers, the others being the `usual` ones (b, n)."""
        mechanism = self.answers.mechanism
        places = {"q": mechanism.coordinates, "u": mechanism.speeds}
        starts = usual.copy()
        for c, column in enumerate(self.plan.columns):
            if column.kind in places:
                at = places[column.kind].index(column.name) + (len(places["q"]) if column.kind == "u" else 0)
                starts[:, at] = numbers[:, c]
        return starts

    def _judged_places(self) -> list[int]:
        """Places of the coordinates that are made unit, or refused at gimbal lock."""
        mechanism = self.answers.mechanism
        q = dict.fromkeys(mechanism.coordinates, 1.0)
        judged = {name for attitude in attitudes(mechanism, q) for name in attitude.names}
        judged |= {lock.coordinate for lock in locks(mechanism, list(q.values()), np.inf)}
        return [i for i, name in enumerate(mechanism.coordinates) if name in judged]

    def _efforts(self, ready: Setup | None, numbers: Array, times: Array | None) -> Efforts:
        """What gives efforts (r, n) along the speeds in states of members, at `times` or at their ends: of the control
        law, or as a function held them."""

        def efforts(places: Any, t: Array, states: Array, parameters: Array) -> Array:
            assert ready is not None  # there is a state of a member
            if ready.control is not None:
                return self._held_efforts(numbers, times, places)
            problem = ready.problem
            q, u, _ = problem.layout.state.split(states).values()
            tau = np.tile(problem.tau, (len(states), 1))
            if problem.law is None:
                return tau
            free = (parameters,) if any(g.name == "parameters" for g in problem.law.program.inputs) else ()
            return tau + problem.law(t[:, None], q, u, *free)

        return efforts

    def _held_efforts(self, numbers: Array, times: Array | None, places: Any) -> Array:
        """Efforts that a function gave, at these samples: members are simulated once more, since they are not kept."""
        member, moment = np.divmod(places, self.times.size if times is None else times.size)
        moment = np.full_like(moment, -1) if times is None else moment
        found = np.empty((len(places), len(self.answers.mechanism.speeds)))
        for i in np.unique(member).tolist():
            ready = self._setup(numbers[i], times)
            here = member == i
            found[here] = present_so_far(self.answers, ready.problem, ready.run()).tau[moment[here]]
        return found


def _origin(value: Any) -> str:
    """Where a number comes from, in words that are the same in every process."""
    if isinstance(value, float | np.ndarray):  # nan in a worker, see `lighten`
        return "as given"
    return f"from {getattr(value, '__qualname__', str(value))}"


def _mass_program(answers: Answers) -> Kernel | None:
    """Masses (kg) and principal moments (kg m²) of all bodies, whose signs tell whether a body can be."""
    exprs: list[Expr] = []
    for body in answers.mechanism.bodies.values():
        exprs += [body.mass, *(body.inertia[i][i] for i in range(3))]
    return compile(watch_program(answers.fresh_equations(), exprs)) if exprs else None


def _doubtful(values: Array) -> Any:
    """Which members have a mass or moment that is negative, or moments that no body has; (b,) of bool."""
    mass, xx, yy, zz = (values[:, k::4] for k in range(4))
    worst = np.minimum.reduce([mass, xx, yy, zz, xx + yy - zz, yy + zz - xx, zz + xx - yy])
    return ~(worst >= 0.0).all(axis=1)


__all__ = ["MemberWork"]
