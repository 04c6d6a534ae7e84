"""`Model.closed_form`: the equations of motion as control design writes them, M u̇ + F = B τ, numbers and programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np

from ..backends import SymPyProgram, to_c, to_latex, to_sympy
from ..boundary import describe_value, refuse_odd
from ..constraints.thresholds import SINGULAR
from ..errors import InputError, SingularError
from ..formulation import CLOSED_FORM, PIVOTS, ClosedFormOf, closed_form_program
from ..formulation.choice import choose_independent
from ..graph import Program
from ..large import refuse_if_too_large
from ..model import Mechanism
from ..model.symbols import Quantity
from . import given
from .answers import Answers
from .records import Array


class ClosedTerms(NamedTuple):
    """Numbers of a closed form, (…) being () or (batch,): `M` (…, n, n), `F` (…, n), `B` (…, n, k) over all speeds,
    `S` (…, n, p), `Sdot_z` (…, n) and `u0` (…, n) with u = S z + u0 and u̇ = S ż + Sdot_z."""

    M: Array
    F: Array
    B: Array
    S: Array
    Sdot_z: Array
    u0: Array


class ReducedTerms(NamedTuple):
    """The same along the independent speeds: `M` (…, p, p), `F` (…, p), `B` (…, p, k) with M ż + F = B τ."""

    M: Array
    F: Array
    B: Array


_REDUCED = ("reduced_M", "reduced_F", "reduced_B")


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """M u̇ + F = B τ with u = S z + u0, and reduced to the independent `speeds` z: Sᵀ M S ż + Sᵀ(M Ṡz + F) = Sᵀ B τ.

    `inputs` are what τ acts along, in the order of the columns of B; `chosen` are both, as they were asked for, of the
    model with these `answers`. `form(q, z)` and `form.reduce(q, z)` give
    numbers; `program`, `count`, `to_c`, `to_latex` and `to_sympy` take names of outputs: M, F, B, S, Sdot_z, u0,
    reduced_M, reduced_F, reduced_B.

    >>> form = kane.load("cart-pole").closed_form(inputs=["rail"])
    >>> form.speeds, form.inputs, form.count("reduced_M")["mul"]
    (('v', 'u'), ('rail',), 1)
    """

    chosen: ClosedFormOf = field(repr=False)
    answers: Answers = field(repr=False)

    @property
    def speeds(self) -> tuple[str, ...]:
        """Names of the independent speeds z.

        >>> kane.load("pendulum").closed_form().speeds
        ('u',)
        """
        return tuple(self.chosen.speeds)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of what the inputs τ act along.

        >>> kane.load("pendulum").closed_form(inputs=["pivot"]).inputs
        ('pivot',)
        """
        return self.chosen.inputs

    @refuse_odd
    def program(self, *names: str) -> Program:
        """The program of the outputs named, by default of all of them, from q and z.

        >>> print(kane.load("pendulum").closed_form().program("reduced_M", "reduced_F"))
        program closed_form
        input q [q]: q
        input z [u]: u
        z1 = sin(q)
        z2 = 9.81 * z1  # a_Nbob - g, u' = 0
        output reduced_M (1, 1): 1.0
        output reduced_F (1): z2
        """
        return self._program(_check_names(names))

    def _program(self, names: tuple[str, ...]) -> Program:
        return closed_form_program(self.answers.fresh_equations(), self.chosen, names)

    @refuse_odd
    def count(self, *names: str) -> dict[str, int]:
        """Operations of one evaluation of the outputs named; work on parameters alone is done once and not counted.

        >>> kane.load("pendulum").closed_form().count("F")["mul"]
        1
        """
        program = self.program(*names)
        total, once = program.count(), program.count("parameters")
        return {k: total[k] - once[k] for k in total}

    @refuse_odd
    def to_c(self, *names: str, name: str = "closed_form") -> tuple[str, str]:
        """(header, source) in C99 of the outputs named; the function is called `name`.

        >>> header, source = kane.load("pendulum").closed_form().to_c("M", "F")
        >>> "void closed_form" in header
        True
        """
        return to_c(self.program(*names), name)

    @refuse_odd
    def to_latex(self, *names: str, **options: Any) -> str:
        """The outputs named as LaTeX: equations of small ones, the Z list of larger ones.

        >>> "align*" in kane.load("pendulum").closed_form().to_latex("F")
        True
        """
        return to_latex(self.program(*names), **options)

    @refuse_odd
    def to_sympy(self, *names: str) -> SymPyProgram:
        """Symbols, replacements and outputs in SymPy.

        >>> kane.load("pendulum").closed_form().to_sympy("F").inline()["F"]
        [9.81*sin(q)]
        """
        return to_sympy(self.program(*names))

    @refuse_odd
    def __call__(self, q: Any, z: Any, *, t: Any = 0.0, parameters: Any = None) -> ClosedTerms:
        """Numbers at states q (nq,) or (batch, nq) and z (p,) or (batch, p), also by name."""
        return ClosedTerms(*self._numbers(CLOSED_FORM[:6], q, z, t, parameters))

    @refuse_odd
    def reduce(self, q: Any, z: Any, *, t: Any = 0.0, parameters: Any = None) -> ReducedTerms:
        """Numbers of what is left along z.

        >>> form = kane.load("pendulum").closed_form()
        >>> form.reduce({"q": "90*deg"}, [0.0]).F.round(6).tolist()
        [9.81]
        """
        return ReducedTerms(*self._numbers(_REDUCED, q, z, t, parameters))

    def _numbers(self, names: tuple[str, ...], q: Any, z: Any, t: Any, parameters: Any) -> list[Array]:
        answers, mechanism = self.answers, self.answers.mechanism
        key = ("closed form", tuple(self.chosen.speeds.items()), self.chosen.inputs, names)
        answer = answers.compile_once(key, lambda: self._program((*names, PIVOTS)))
        places, chosen = given.vector(mechanism, "q", q), _read_speeds(mechanism, self.speeds, z)
        values = given.parameters(mechanism, parameters)
        values = answers.values if values is None else values
        with np.errstate(all="ignore"):
            try:
                *terms, pivots = answer(given.clock(t), (places, *([chosen] if self.speeds else [])), values)
            except SingularError:
                raise self._singular() from None
        weak = ~np.all(np.abs(pivots) > SINGULAR, axis=-1)
        if pivots.ndim == 1 and weak:
            raise self._singular()
        for term in terms:
            term[weak] = np.nan  # in a batch
        return terms

    def _singular(self) -> SingularError:
        return SingularError(
            f"{self.answers.mechanism.where('closed form')}: {', '.join(self.speeds)} do not determine the motion at"
            " this state\n    because all speeds follow from the independent ones, u = S z\n"
            "    fix: choose other speeds z, or another state; in a batch such samples are nan"
        )


def closed_form(
    answers: Answers, speeds: Iterable[str] | Mapping[str, Quantity] | None = None, inputs: Iterable[str] | None = None
) -> ClosedForm:
    """M, F, B, S and Ṡz of M u̇ + F = B τ and of its reduction to independent speeds z, u = S z [TK01, Eqs. 7 and 8]:
    numbers, programs, C, LaTeX and SymPy.

    `speeds` are the independent ones, as many as there are degrees of freedom: names of speeds, or a mapping from new
    names to expressions linear in the speeds ({"v": "v.base.x"}); by default those that the constraints leave. `inputs`
    name what τ acts along, speeds, rates (q1') or joints of one degree of freedom; by default all speeds.

    >>> m = kane.load("tanner-mobile-manipulator")
    >>> z = {"v": "v.platform.x", "uphi": "uphi", "uq1": "uq1", "uq2": "uq2"}
    >>> form = m.closed_form(speeds=z, inputs=["left", "right"])
    >>> terms = form.reduce(m.initial_state[0], [1.0, 0, 0, 0])
    >>> terms.M.shape, terms.B.shape
    ((4, 4), (4, 2))
    """
    mechanism = answers.mechanism
    refuse_if_too_large(mechanism, "closed_form")
    if speeds is None:
        free = choose_independent(answers.equations()).independent if mechanism.constraints else None
        speeds = mechanism.speeds if free is None else [mechanism.speeds[i] for i in free]
    if isinstance(speeds, Mapping):
        definitions = dict(cast("Mapping[str, Quantity]", speeds))
        for name, definition in definitions.items():
            if name in mechanism.names() and definition != name:
                raise InputError(
                    f"{mechanism.where('closed form')}: '{name}' is a name of the model and would be {definition}\n"
                    "    fix: give the new speed a name of its own"
                )
    else:
        definitions = {name: name for name in given.speed_names(mechanism, speeds, "closed form")}
    along = mechanism.speeds if inputs is None else given.names_of(inputs)
    if not along:
        raise InputError(
            f"{mechanism.where('closed form')}: no inputs\n    fix: name what they act along, or leave it out"
        )
    form = ClosedForm(ClosedFormOf(definitions, along), answers)
    form.program("S", "B")  # a choice that cannot be made is refused here
    return form


def _check_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in CLOSED_FORM:
            raise InputError(
                f"no part of a closed form is called {describe_value(name)}: there are {', '.join(CLOSED_FORM)}"
            )
    return names or CLOSED_FORM


def _read_speeds(mechanism: Mechanism, names: tuple[str, ...], z: Any) -> Array:
    """z as (p,) or (batch, p)."""
    if isinstance(z, Mapping):
        by_name = cast("Mapping[str, Any]", z)
        for name in by_name:
            given.require_known(mechanism, "independent speed", name, names, "z")
        z = np.stack(np.broadcast_arrays(*(np.asarray(by_name.get(name, 0.0), dtype=float) for name in names)), axis=-1)
    array = np.asarray(z, dtype=float)
    if array.ndim not in (1, 2) or array.shape[-1] != len(names):
        needed = f"({len(names)},) or (batch, {len(names)})"
        raise InputError(f"z has shape {array.shape}; it needs {needed}: {', '.join(names)}")
    return array


__all__ = ["ClosedForm", "ClosedTerms", "ReducedTerms", "closed_form"]
