"""What a mechanism answers with: compiled programs, recursions over its bodies, constraints embedded.

`Answers` is a mechanism with everything that was formulated and compiled for it. A question is answered by a program of
the equations, by recursion over the bodies of a large tree, or, for accelerations under constraints, by the program in
which they are embedded, with embedding at run time where its pivots fail.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol, Self, TypeVar, cast

import numpy as np

from ..backends import Kernel, compile, load_or_make
from ..constraints.thresholds import ROUNDING, SINGULAR
from ..errors import InputError, ModelError, Problem, SingularError
from ..formulation import (
    Equations,
    coordinate_rates_program,
    is_steady,
    layout_of,
    multiplier_symbols,
    places_program,
    terms_program,
    unit_program,
    watch_program,
)
from ..graph import Expr, Program, hoist, substitute
from ..large import LargeAnswers, by_recursion, refuse_if_too_large
from ..model import Mechanism
from ..model.attitude import quaternion_places
from ..model.parameters import start_with
from ..simulate import ChangingElement, ChangingSet, Embedding, Names
from . import given
from .cache import Cache
from .records import Array

_WRITTEN_OUT = 24  # rows that are embedded at formulation at most; more are embedded at run time only

_BOUND = ("equations", "held", "kinetostatics")  # things that refer to the description they were made of
Value = TypeVar("Value")
Formulate = Callable[[Mechanism, Iterable[str] | str], Equations]


class Answer(Protocol):
    """Something that answers a question at states: t, the other groups of inputs, and the free parameters."""

    @property
    def sole_kernel(self) -> Kernel | None:
        """The kernel that alone gives the answer; None where more is needed."""
        ...

    def __call__(self, t: Any, arrays: tuple[Any, ...], values: Array) -> Any: ...


class ProgramAnswer:
    """One compiled program of a model. Work on free parameters alone is done once for the same values."""

    def __init__(self, program: Program):
        self.program = program
        self._takes_time = any(g.name == "t" for g in program.inputs)
        self._takes_parameters = any(g.name == "parameters" for g in program.inputs)
        self._hoisted: tuple[Array, Array] | None = None  # values of parameters, and the work on them
        self._prelude: Kernel | None = None
        if self._takes_parameters:
            prelude, body = hoist(program, "parameters")
            self._prelude = compile(prelude) if prelude.outputs[0].slots else None
            self._kernel = compile(body)
        else:
            self._kernel = compile(program)
        simple = not self._takes_time and not self._takes_parameters
        self.sole_kernel: Kernel | None = self._kernel if simple else None

    def __call__(self, t: Any, arrays: tuple[Any, ...], values: Array) -> Any:
        groups = (t, *arrays) if self._takes_time else arrays
        if not self._takes_parameters:
            return self._kernel(*groups)
        if self._prelude is None:
            return self._kernel(*groups, values)
        if values.ndim > 1:  # other parameters for every sample
            return self._kernel(*groups, values, np.asarray(self._prelude(values)))
        known = self._hoisted
        if known is None or known[0] is not values:
            known = self._hoisted = (values, np.asarray(self._prelude(values)))
        return self._kernel(*groups, values, known[1])


class RecursiveAnswer:
    """One answer of a large tree, by recursion over its bodies; with other parameters than its own, written out."""

    def __init__(self, answers: Answers, name: str):
        self._answers, self._name = answers, name
        self._recursion, self._values = answers.by_bodies(), answers.values
        self.sole_kernel = self._recursion.sole_kernel(name)

    def __call__(self, t: Any, arrays: tuple[Any, ...], values: Array) -> Any:
        if values is self._values:
            return self._recursion.answer(self._name, t, arrays, values)
        refuse_if_too_large(self._answers.mechanism, f"{self._name} with parameters=…; set_parameters(…)")
        equations = self._answers.equations
        written_out = self._answers.compile_once(("written out", self._name), lambda: equations().program(self._name))
        return written_out(t, arrays, values)


class ConstrainedAnswer:
    """Accelerations of a constrained model: by the program in which the constraints are embedded, and where one of its
    pivots has become too small, its rows are at a pole, or nothing is written out, by embedding at run time."""

    sole_kernel = None

    def __init__(self, answers: Answers):
        self._answers = answers
        self._written_out: ProgramAnswer | None = None
        if len(answers.mechanism.row_names) <= _WRITTEN_OUT:
            self._written_out = ProgramAnswer(answers.program("guarded_dynamics"))

    def __call__(self, t: Any, arrays: tuple[Any, ...], values: Array) -> Any:
        if self._written_out is None:
            return self._run(t, arrays, values)
        with np.errstate(all="ignore"):
            try:
                udot, pivots, *denominators = self._written_out(t, arrays, values)
            except SingularError:  # a single state, at which a pivot is zero
                return self._run(t, arrays, values)
            weak = ~np.all(np.abs(pivots) > SINGULAR, axis=-1)
            for divisors in denominators:
                weak |= ~np.all(np.abs(divisors) > ROUNDING, axis=-1)
        if not np.any(weak):
            return udot
        if udot.ndim == 1:
            return self._run(t, arrays, values)
        rows = np.flatnonzero(weak)
        some = tuple(x if np.ndim(x) < 2 else np.asarray(x)[rows] for x in (t, *arrays))
        udot[rows] = self._run(some[0], some[1:], values if values.ndim < 2 else values[rows])
        return udot

    def _run(self, t: Any, arrays: tuple[Any, ...], values: Array) -> Array:
        """The same, embedded at run time."""
        single = all(np.ndim(x) < 2 for x in arrays)
        q, u, tau = (np.atleast_2d(np.asarray(x, dtype=float)) for x in arrays)
        count = max(len(q), len(u), len(tau))
        times = np.broadcast_to(np.asarray(t, dtype=float).reshape(-1), (count,))
        embedding = self._answers.make_once("embedding", lambda: embedding_of(self._answers))
        udot = embedding.accelerations(times, q, u, tau, values).udot
        if single and not np.all(np.isfinite(udot)):
            raise SingularError(
                f"model '{self._answers.mechanism.name}': accelerations are not determined at this state; constraints"
                f" have no value there, or leave a motion without mass\n    fix: use another state; in a batch such"
                f" samples are nan"
            )
        return udot[0] if single else udot


class Answers:
    """A mechanism with what was formulated and compiled for it; everything is made when it is first needed."""

    def __init__(self, mechanism: Mechanism, formulate: Formulate = Equations, cache: Cache | None = None):
        self.mechanism = mechanism
        self.formulate = formulate
        self.cache = Cache() if cache is None else cache
        self.direct: dict[str, Kernel] = {}  # kernels that alone give an answer: the shortest way to it
        self.direct_revision = -1
        self._values: Array | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """It travels as the description and the values of its free parameters."""
        return _remake_answers, (self.mechanism, self.formulate, self._values)

    # programs ----------------------------------------------------------------------------------------------------

    def make_once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` gives, kept until the description changes."""
        return self.cache.find_or_make(self.mechanism.revision, key, make)

    def compile_once(self, key: Hashable, make: Callable[[], Program]) -> ProgramAnswer:
        """A compiled program, kept."""
        return self.make_once(("program", key), lambda: ProgramAnswer(make()))

    def equations(self) -> Equations:
        """The equations of motion, with the parameters that are declared free as inputs."""
        return self.make_once("equations", lambda: self.formulate(self.mechanism, ()))

    def fresh_equations(self) -> Equations:
        """The same in a graph of their own: what is lowered from it does not depend on what was asked before."""
        return self.formulate(self.mechanism, ())

    def program(self, name: str) -> Program:
        """A program of the equations; that of an unchanged model file may be known from an earlier run."""
        return self.load_or_make(name, lambda: self.equations().program(name))

    def load_or_make(self, name: str, make: Callable[[], Program]) -> Program:
        """A program that depends on the description alone: what an unchanged model file gave is known on disk."""
        signature = self.mechanism.signature
        return make() if signature is None else load_or_make((signature, name), make)

    @property
    def values(self) -> Array:
        """Values of the free parameters, in the order of the programs' inputs; the same array for the same values."""
        if self._values is None:
            self._values = self.mechanism.free_values()
        return self._values

    def recursive(self) -> bool:
        """Whether answers come by recursion over the bodies instead of programs written out."""
        return self.make_once("recursive", lambda: by_recursion(self.mechanism))

    def by_bodies(self) -> LargeAnswers:
        """Answers by recursion over the bodies, as large trees are computed."""
        return self.make_once("by bodies", lambda: LargeAnswers(self.mechanism))

    # answers -----------------------------------------------------------------------------------------------------

    def refuse_without_bodies(self, what: str) -> None:
        """Refuse what is told of bodies, where there are none."""
        if not self.mechanism.bodies:
            told = "there are no bodies, so there is nothing that Kane's method could be shown on"
            raise ModelError(Problem(self.mechanism.where(what), told, fix="describe bodies and how they move"))

    def answer(self, name: str) -> Answer:
        """What answers the question called `name`, a program of the equations."""
        return self.make_once(("answer", name), lambda: self._make_answer(name))

    def _make_answer(self, name: str) -> Answer:
        answer: Answer
        if name == "forward_dynamics" and self.mechanism.constraints:
            answer = ConstrainedAnswer(self)
        elif self.recursive():
            answer = RecursiveAnswer(self, name)
        else:
            answer = ProgramAnswer(self.program(name))
        return answer

    def ask(self, name: str, t: Any, parameters: Any, **vectors: Any) -> Any:
        """The answer to a question at states given in any usual form; `vectors` are q, u, udot, tau in its order."""
        return self.evaluate(self.answer(name), t, parameters, vectors)

    def evaluate(self, answer: Answer, t: Any, parameters: Any, vectors: dict[str, Any]) -> Any:
        """What `answer` gives at states given in any usual form."""
        arrays = tuple(given.vector(self.mechanism, what, value) for what, value in vectors.items())
        values = given.parameters(self.mechanism, parameters)
        return answer(given.clock(t), arrays, self.values if values is None else values)

    def shortcut(self, name: str, t: Any, parameters: Any, **vectors: Any) -> Any:
        """As `ask`; afterwards the kernel is in `direct` if it alone gives the answer."""
        answer = self.answer(name)
        if self.direct_revision != self.mechanism.revision:
            self.direct, self.direct_revision = {}, self.mechanism.revision
        if answer.sole_kernel is not None:
            self.direct[name] = answer.sole_kernel
        return self.evaluate(answer, t, parameters, vectors)

    def with_parameters(self, parameters: Any) -> Answers:
        """The same with other values of the free parameters, (p,) or by name; itself for None."""
        if parameters is None:
            return self
        values = given.parameters(self.mechanism, parameters)
        assert values is not None
        if values.ndim != 1:
            raise InputError(f"parameters has shape {values.shape}: this question takes one set of values")
        other = type(self)(start_with(self.mechanism, values.tolist()), self.formulate, self.cache)
        other._values = values
        return other

    # changes -----------------------------------------------------------------------------------------------------

    def of(self, mechanism: Mechanism) -> Self:
        """Those of another description, formulated in the same way."""
        return type(self)(mechanism, self.formulate, self.cache.empty())

    def variant(self, key: Hashable, make: Callable[[Mechanism], Mechanism]) -> Self:
        """Those of a description that follows from this one by `make`, kept with all that is compiled for it; free
        parameters have the values that they have here."""
        kept = self.make_once(("variant", key), lambda: self.of(make(self.mechanism)))
        found = type(self)(kept.mechanism, self.formulate, kept.cache)
        found._values = self.values
        return found

    def all_rows_held(self) -> Self:
        """Those of the description in which all that comes and goes holds; itself where nothing does."""
        return self.variant("all rows held", Mechanism.all_rows_held) if self.mechanism.changing else self

    def twin(self, mechanism: Mechanism) -> Self:
        """Those of a description that is the same but for the values of free parameters."""
        if self.recursive():
            return self.of(mechanism)  # constants of a recursion are numbers
        return type(self)(mechanism, self.formulate, self.cache.without(lambda key: key in _BOUND))


def _remake_answers(mechanism: Mechanism, formulate: Formulate, values: Array | None) -> Answers:
    answers = Answers(mechanism, formulate)
    answers._values = values  # pyright: ignore[reportPrivateUsage]
    return answers


def law_key(law: Any) -> Hashable:
    """What tells a control law from others."""
    return tuple(cast("dict[Any, Any]", law).items()) if isinstance(law, dict) else law


def constraint_kernels(answers: Answers, law: Any = None) -> tuple[Kernel, Kernel | None, Kernel | None]:
    """(terms, places, unit): the programs that constraints are embedded from, with the efforts of a law."""

    def make_kernels() -> tuple[Kernel, Kernel | None, Kernel | None]:
        terms = compile(terms_program(answers.fresh_equations(), law))
        if law is not None:
            return (terms, *constraint_kernels(answers)[1:])
        places, unit = places_program(answers.fresh_equations()), unit_program(answers.fresh_equations())
        return terms, None if places is None else compile(places), None if unit is None else compile(unit)

    return answers.make_once(("constraints", law_key(law)), make_kernels)


def row_groups(mechanism: Mechanism) -> tuple[tuple[str, str], ...]:
    """For each row of the constraints the group of rows with which it compares by length: its constraint's, of its
    unit."""
    return tuple((c.name, row.unit) for c in mechanism.constraints.values() for row in c.rows)


def _run_time_sizes(equations: Equations, groups: Sequence[Hashable]) -> tuple[float, ...]:
    """Sizes of rows without cancellation; infinite in groups whose rows are all idle. Between the steps of a motion
    quaternions are not quite unit, and such rows are then more than rounding errors."""
    needed = {group for group, met in zip(groups, equations.idle_rows, strict=True) if not met}
    sizes = equations.constraints.sizes.tolist()
    return tuple(size if group in needed else np.inf for size, group in zip(sizes, groups, strict=True))


def embedding_of(answers: Answers, law: Any = None, *, baumgarte: tuple[float, float] | None = None) -> Embedding:
    """The constraints embedded at run time; simulations share it, each with a workspace of its own."""
    equations, mechanism = answers.equations(), answers.mechanism
    return Embedding(
        layout_of(equations),
        *constraint_kernels(answers, law),
        baumgarte=baumgarte,
        rank=equations.rank,
        groups=row_groups(mechanism),
        sizes=_run_time_sizes(equations, row_groups(mechanism)),
        driven=equations.constraints.driven,
        names=Names(f"model '{mechanism.name}'", mechanism.row_names, mechanism.speeds),
    )


def changing_set(answers: Answers, law: Any, impact: str) -> ChangingSet:
    """All constraints, those that come and go among them, compiled from the twin in which every row holds."""
    whole = answers.all_rows_held()
    terms, places, unit = constraint_kernels(whole, law)
    laws, conditions = (None if p is None else compile(p) for p in _law_programs(answers.mechanism, whole))
    assert laws is not None
    return ChangingSet(
        layout_of(whole.equations()),
        len(answers.mechanism.row_names),
        _elements(answers.mechanism),
        terms,
        laws,
        places,
        unit,
        conditions,
        _has_fixed_laws(answers.mechanism),
        impact,
    )


def stepping_set(answers: Answers, law: Any, impact: str) -> ChangingSet:
    """The same for time stepping, which asks for no accelerations of rows that come and go. Programs of an unchanged
    model file are known on disk, since there may be many rows."""
    mechanism = answers.mechanism
    whole, permanent = answers.all_rows_held(), len(mechanism.row_names)
    layout = layout_of(whole.equations())

    def compile_part(name: str, make: Callable[[Equations], Program | None], needed: bool = True) -> Kernel | None:
        def make_part() -> Program:
            program = make(whole.fresh_equations())
            assert program is not None
            return program

        if not needed:
            return None
        return compile(make_part() if law is not None else answers.load_or_make(f"stepping {name}", make_part))

    conditions = any(c.law.when is not None or c.law.until is not None for c in mechanism.changing.values())
    terms = compile_part("terms", lambda e: terms_program(e, law, e.partial_constraints(permanent)))
    laws = compile_part("laws", lambda e: watch_program(e, _law_numbers(mechanism)))
    assert terms is not None and laws is not None
    return ChangingSet(
        layout,
        permanent,
        _elements(mechanism),
        terms,
        laws,
        compile_part("places", lambda e: places_program(e, e.partial_constraints(0)), bool(layout.positions)),
        compile_part("unit", unit_program, bool(quaternion_places(mechanism))),
        compile_part("conditions", lambda e: watch_program(e, _conditions(mechanism)), conditions),
        _has_fixed_laws(mechanism),
        impact,
        compile_part("rates", coordinate_rates_program),
        permanent == 0 and is_steady(terms.program),
        law is None and not mechanism.loads,
    )


def _elements(mechanism: Mechanism) -> tuple[ChangingElement, ...]:
    """What comes and goes, as a motion is told of it."""
    return tuple(
        ChangingElement(
            c.name,
            c.type,
            len(c.rows),
            c.law.when is not None,
            c.law.until is not None,
            c.law.duration is not None,
            c.law.held,
        )
        for c in mechanism.changing.values()
    )


def _law_numbers(mechanism: Mechanism) -> list[Expr]:
    """The numbers of the laws of all that comes and goes, `LAWS` of each."""
    zero, numbers = mechanism.graph.const(0.0), list[Expr]()
    for c in mechanism.changing.values():
        numbers += [c.law.restitution, c.law.static, c.law.friction]
        numbers += [zero if c.law.bound is None else c.law.bound]
        numbers += [zero if c.law.duration is None else c.law.duration]
    return numbers or [zero]  # a program has an output


def _has_fixed_laws(mechanism: Mechanism) -> bool:
    """Whether these numbers depend on parameters alone."""
    return mechanism.parameters.keys() >= set(mechanism.inputs_of(_law_numbers(mechanism)))


def _conditions(mechanism: Mechanism) -> list[Expr]:
    """when and until of all that comes and goes, 0 where there is none, with reactions as multipliers of rows."""
    zero = mechanism.graph.const(0.0)
    found = [zero if e is None else e for c in mechanism.changing.values() for e in (c.law.when, c.law.until)]
    multipliers = multiplier_symbols(mechanism.graph, len(mechanism.all_row_names))
    of_rows = dict(zip(mechanism.all_row_names, multipliers, strict=True))
    return substitute(found, {s: of_rows[name] for name, s in mechanism.reaction_symbols.items()})


def _law_programs(mechanism: Mechanism, whole: Answers) -> tuple[Program, Program | None]:
    """The programs of laws and of conditions, None where nothing has one."""
    laws, conditions = watch_program(whole.fresh_equations(), _law_numbers(mechanism)), _conditions(mechanism)
    if all(e.is_zero for e in conditions):
        return laws, None
    return laws, watch_program(whole.fresh_equations(), conditions)


def free_parameters(mechanism: Mechanism, names: Iterable[str] | str) -> None:
    """Declare parameters, or "all", inputs of the programs."""
    for name in list(mechanism.parameters) if names == "all" else given.names_of(names):
        record = mechanism.find("parameter", name, mechanism.parameters, "free parameters")
        mechanism.parameters[name] = replace(record, free=True)
    mechanism.revision += 1


__all__ = [
    "Answer",
    "Answers",
    "ProgramAnswer",
    "changing_set",
    "constraint_kernels",
    "embedding_of",
    "free_parameters",
    "row_groups",
    "stepping_set",
]
