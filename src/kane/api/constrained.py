"""A constrained mechanism that answers: states on its constraints, what they leave free, accelerations embedded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..backends import Kernel, compile
from ..constraints.branches import speeds_on_branch
from ..constraints.freedom import Freedom, count_freedom
from ..constraints.projection import (
    InconsistentRows,
    RowLabels,
    RowTerms,
    project_position,
    project_speeds,
    require_values,
)
from ..constraints.rank import null_space, row_rank
from ..constraints.thresholds import INVOLVED, REDUNDANT, SATISFIED, SINGULAR, TOLERATED
from ..errors import InputError, ModelError, Problem
from ..formulation import places_program, terms_program, unit_program
from ..simulate import Embedding, Names
from .answering import Answering
from .answers import Answer, EmbeddedAnswer, LargeAnswer
from .reactions import METHODS, Reactions, reactions_of
from .records import Array, ConstraintRows

_NAMED = 6  # rows that an error names
_LISTED = 4  # branches that an error tells


class Astray(ModelError):
    """Speeds that lead nowhere from a singular position: no other guess is meant by them."""


class ConstrainedModel(Answering):
    """A mechanism that can be asked about its constraints; without any, every state satisfies them."""

    def _constraint_kernels(self, law: Any = None) -> tuple[Kernel, Kernel | None, Kernel | None]:
        """(terms, places, unit): the programs that constraints are embedded from, with the efforts of a law."""
        self._refresh()
        key = ("constraints", tuple(law.items()) if isinstance(law, dict) else law)
        if key not in self._simulations:
            equations = self.equations()
            shared = self._constraint_kernels()[1:] if law is not None else None
            places, unit = (places_program(equations), unit_program(equations)) if shared is None else (None, None)
            self._simulations[key] = (
                compile(terms_program(equations, law)),
                *((None if p is None else compile(p) for p in (places, unit)) if shared is None else shared),
            )
        return self._simulations[key]

    def embedding(self, law: Any = None, *, baumgarte: tuple[float, float] | None = None) -> Embedding:
        """The constraints embedded at run time; one for every simulation that goes on at the same time."""
        equations = self.equations()
        return Embedding(
            *self._constraint_kernels(law),
            coordinates=len(self.coordinates),
            speeds=len(self.speeds),
            rows=len(self.row_names),
            baumgarte=baumgarte,
            rank=equations.rank,
            groups=[(c.name, row.unit) for c in self.constraints.values() for row in c.rows],
            positions=equations.constraints.placed,
            driven=equations.constraints.driven,
            names=Names(f"model '{self.name}'", self.row_names, self.speeds),
        )

    def _answer(self, name: str) -> Answer | LargeAnswer | EmbeddedAnswer:
        if name != "forward_dynamics" or not self.constraints:
            return super()._answer(name)
        self._refresh()
        if name not in self._answers:
            self._answers[name] = EmbeddedAnswer(self)
        return self._answers[name]

    def drive_efforts(self, q: Any, u: Any, udot: Any, along: Iterable[str], *, t: Any = 0.0) -> Array:
        """Efforts tau (N m, N), (…, n), that produce udot in the state q, u and act only along the speeds named.

        Under constraints many efforts produce a motion: `inverse_dynamics` gives those that leave the constraints
        nothing to carry, this those of the drives of a parallel robot, the least where there are more than needed. udot
        has to satisfy the constraints.
        """
        tau = self.inverse_dynamics(q, u, udot, t=t)
        driven = [self.speeds.index(name) for name in self._named_speeds(along, "efforts along")]
        flat = np.atleast_2d(tau)
        A = np.zeros((len(flat), 0, len(self.speeds)))
        if self.constraints:
            rows = self.constraint_rows(q, u, t=t)
            self.refuse_off(rows, u)
            rate = np.einsum("...mn,...n->...m", rows.A, np.asarray(udot, dtype=float)) - rows.b
            self._refuse_large("udot", rate, rows.A, udot, rows.b, "m/s² or rad/s²", "take it from forward_dynamics")
            A = np.broadcast_to(rows.A, (len(flat), len(self.row_names), len(self.speeds)))
        found = np.zeros_like(flat)
        for k, (rows, needed) in enumerate(zip(A, flat, strict=True)):
            found[k, driven] = self._along(rows, needed, driven)
        return found.reshape(tau.shape)

    def _along(self, A: Array, needed: Array, driven: list[int]) -> Array:
        """The least efforts along the speeds `driven` that do, with reactions, what the efforts `needed` (n,) do."""
        N = null_space(A, sizes=self.equations().constraints.sizes if len(A) else None)
        efforts: Array = np.linalg.lstsq(N[driven].T, N.T @ needed, rcond=None)[0].astype(float)
        left = N.T @ needed - N[driven].T @ efforts
        if np.abs(left).max(initial=0.0) > SATISFIED * (1.0 + np.abs(needed).max(initial=0.0)):
            names = ", ".join(self.speeds[i] for i in driven) or "nothing"
            raise InputError(
                f"efforts along {names} cannot produce this motion: {np.abs(left).max():.3g} N or N m are missing;"
                f" {N.shape[1]} motions are free, name speeds that drive all of them"
            )
        return efforts

    # states ------------------------------------------------------------------------------------------------------

    def constraint_rows(self, q: Any, u: Any, *, t: Any = 0.0) -> ConstraintRows:
        """The rows at a state: A (…, m, n), the rate A u + c (…, m) that is zero on the constraints, b (…, m) of
        A udot = b, and the residuals phi (…, m) of configurations (m, rad; zero for rows of motion). Rows are named by
        `row_names`."""
        if not self.constraints:
            raise InputError(f"model '{self.name}' has no constraints")
        return ConstraintRows(*self._answer("constraints")(t, (q, u), None))

    def _rows_at(self, q: Array, u: Array, t: float) -> ConstraintRows:
        """The rows at one state; a refusal that names those that have no value there."""
        rows = ConstraintRows(*(values[0] for values in self.constraint_rows(q[None], u[None], t=t)))
        try:
            require_values(RowTerms(rows.A, rows.rate, rows.phi, rows.A), self.row_names)
        except InconsistentRows as error:
            raise ModelError(self._refused(error, "")) from None
        return rows

    def refuse_off(self, rows: ConstraintRows, u: Any) -> None:
        """Refuse a state that the constraints, in numbers there, do not allow."""
        mend = "move the state onto the constraints with project"
        still = np.zeros(len(self.speeds))
        self._refuse_large("q", rows.phi, rows.A, still, still[:1], "m or rad", mend)
        self._refuse_large("u", rows.rate, rows.A, u, still[:1], "m/s or rad/s", mend)

    def _refuse_large(self, what: str, off: Array, A: Array, x: Any, b: Array, unit: str, mend: str) -> None:
        """Refuse `what` by which rows are off (…, m), as far as it is more than a share of A x and b."""
        size = 1.0 + np.einsum("...mn,...n->...m", np.abs(A), np.abs(np.asarray(x, dtype=float))) + np.abs(b)
        share = np.abs(off) / size
        if share.max(initial=0.0) <= TOLERATED:
            return
        *_, row = place = np.unravel_index(int(np.argmax(share)), share.shape)
        name = self.row_names[int(row)]
        where = f", sample {int(place[0])}" if len(place) > 1 and len(off) > 1 else ""
        raise InputError(
            f"{what} does not satisfy the constraints of model '{self.name}': '{name}' is off by {off[place]:.3g} "
            f"({unit}){where}\n    to mend: {mend}"
        )

    def freedom(self, q: Any = None, *, t: float = 0.0, within: float = REDUNDANT) -> Freedom:
        """What the constraints leave of the motion at q (default: the initial one, made consistent). Rows that depend
        on others but for a share `within` count as redundant."""
        if not 0.0 < within < 1.0:
            raise InputError(f"within = {within!r}: give a share between 0 and 1, such as {REDUNDANT:g}")
        if q is None:
            q = self._closed(self.initial_state[0], t, ())
        q = self._vector(q, self.coordinates, "q")
        M = np.atleast_2d(self.mass_matrix(q, t=t))
        A = np.zeros((0, len(self.speeds)))
        if self.constraints:
            A = self._rows_at(q, np.zeros(len(self.speeds)), t).A
        sizes = self.equations().constraints.sizes if self.constraints else None
        return count_freedom(A, np.abs(np.diag(M)), self.row_names, self.speeds, within, sizes)

    def reactions(
        self,
        q: Any,
        u: Any,
        tau: Any = None,
        *,
        t: Any = 0.0,
        frame: str = "N",
        on: str = "child",
        method: str = METHODS[0],
        udot: Any = None,
        stiffness: Mapping[str, float] | None = None,
    ) -> Reactions:
        """Force and moment in every joint and of every constraint, by name: `m.reactions(q, u)["knee"].force`.

        A joint's is the whole wrench that its parent exerts on its child through it, efforts and springs in it
        included, about the joint's point in the child; a constraint's acts on its second body. With on="parent" it is
        the opposite, which acts on the parent or the first body. Components are along `frame`, N or the name of a frame
        or body. Accelerations are those that tau (default zero) produces, or `udot`, where they are known. Arrays are
        (n,) or (batch, n). Methods that agree: "auxiliary" speeds, "multipliers", "complement" (kinetostatics).

        Where constraints are redundant, what rigid bodies leave open is as if every row yielded a little: with the same
        stiffness (N/m, N m/rad) or, relative to that, the `stiffness` given for constraints or rows by name.
        """
        return reactions_of(self, q, u, tau, t=t, frame=frame, on=on, method=method, udot=udot, stiffness=stiffness)

    def project(self, q: Any = None, u: Any = None, *, t: float = 0.0, hold: Iterable[str] = ()) -> tuple[Array, Array]:
        """(q, u) moved onto the constraints by the least change: a guess made consistent.

        q and u are arrays, or mappings name → value, the others starting from the initial state. Coordinates and speeds
        in `hold` stay as they are. Refuses with the residuals by name where constraints cannot be satisfied.
        """
        q0, u0 = self._given(q, u)
        held = names_of(hold)
        for name in held:
            self.find("coordinate or speed", name, {**self.coordinate_records, **self.speed_records}, "hold")
        q0 = self._closed(q0, t, [i for i, c in enumerate(self.coordinates) if c in held])
        return q0, self._moving(q0, u0, t, [i for i, s in enumerate(self.speeds) if s in held])

    def _given(self, q: Any, u: Any) -> tuple[Array, Array]:
        q0, u0 = self.initial_state
        return (
            q0 if q is None else self._vector(q, self.coordinates, "q"),
            u0 if u is None else self._vector(u, self.speeds, "u"),
        )

    def _vector(self, value: Any, names: Sequence[str], what: str) -> Array:
        """An array of the right length, from an array or from a mapping name → value (others as they start)."""
        if isinstance(value, Mapping):
            start = dict(zip((*self.coordinates, *self.speeds), np.concatenate(self.initial_state), strict=True))
            row = dict.fromkeys(names, 0.0) if what == "tau" else {n: start[n] for n in names}
            for name, number in value.items():
                self.find("coordinate" if what == "q" else "speed", name, row, what)
                row[name] = number
            value = list(row.values())
        try:
            array = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what} is not an array of numbers: {value!r}") from None
        if array.shape != (len(names),):
            raise InputError(
                f"{what} has shape {array.shape}; model '{self.name}' needs ({len(names)},): {', '.join(names)}"
            )
        if not np.all(np.isfinite(array)):
            bad = [n for n, x in zip(names, array, strict=True) if not np.isfinite(x)]
            raise InputError(f"{what} is not finite in {', '.join(bad)}: {value!r}; give finite numbers")
        return array

    def _closed(self, q: Array, t: float, held: Sequence[int]) -> Array:
        """q on the configuration constraints, or a refusal that names those that do not close."""
        places, unit = self._constraint_kernels()[1:] if self.constraints else (None, None)
        if places is None:
            return q
        still = (np.zeros(len(self.speeds)), 0.0, np.zeros(len(self.speeds)), *self._free_group(places))
        labels = self._row_labels().some(self.equations().constraints.placed)

        def terms(at: Array) -> RowTerms:
            phi, G, T = (values[0] for values in places(t, at[None], *still))  # in a batch what has no value is nan
            return RowTerms(G, np.zeros(len(phi)), phi, T)

        def whole(at: Array) -> Array:
            return at if unit is None else np.asarray(unit(t, at, *still))[: len(at)]

        try:
            return project_position(terms, whole, q, labels, held)
        except InconsistentRows as error:
            raise ModelError(self._refused(error, "the configuration cannot be closed from here")) from None

    def _moving(self, q: Array, u: Array, t: float, held: Sequence[int]) -> Array:
        """u on the constraints at q and on a branch of the motion, or a refusal that names the constraints against."""
        if not self.constraints:
            return u
        rows = self._rows_at(q, u, t)
        labels = self._row_labels()

        def b(speeds: Array) -> Array:
            return self.constraint_rows(np.broadcast_to(q, (len(speeds), len(q))), speeds, t=t).b

        try:
            u = project_speeds(RowTerms(rows.A, rows.rate, rows.phi, rows.A), u, labels, held)
        except InconsistentRows as error:
            raise ModelError(self._refused(error, "no speeds satisfy these constraints together")) from None
        try:
            return speeds_on_branch(rows.A, b, u, labels, held)
        except InconsistentRows as error:
            what = "constraints lose rank at this position, and the speeds lie on no branch of the motion there"
            raise Astray(self._refused(error, what)) from None

    def _row_labels(self) -> RowLabels:
        """Names, units and sizes of all rows."""
        units = [row.unit for c in self.constraints.values() for row in c.rows]
        return RowLabels(self.row_names, units, self.equations().constraints.sizes)

    def _singular(self, q: Array, u: Array, t: float) -> bool:
        """Whether constraints have lost rank at q."""
        if not self.constraints:
            return False
        A = self.constraint_rows(q, u, t=t).A
        return row_rank(A, SINGULAR, self.equations().constraints.sizes) < self.equations().rank

    def _first_step(self, u: Array) -> float | None:
        """A first step (s) so short that it hardly leaves a position at which constraints have lost rank; None at rest.

        At such a position accelerations have no reason to keep to the branch that the speeds are on, and projection
        would hide it: a longer step takes their error along.
        """
        speed = float(np.abs(u).max(initial=0.0))
        return SINGULAR / speed if speed else None

    def _named_speeds(self, names: Iterable[str], what: str) -> tuple[str, ...]:
        found = names_of(names)
        for name in found:
            self.find("speed", name, self.speed_records, what)
        return found

    def _free_group(self, kernel: Kernel) -> tuple[Array, ...]:
        return (self.free_values(),) if any(g.name == "parameters" for g in kernel.program.inputs) else ()

    def _refused(self, error: InconsistentRows, what: str) -> Problem:
        if error.level == "value":
            names = ", ".join(f"'{name}'" for name, _ in error.residuals)
            has = "has" if len(error.residuals) == 1 else "have"
            mend = "start from another state: a wheel that lies flat, say, touches the ground nowhere and everywhere"
            return Problem(self.where("constraints"), f"{names} {has} no finite value at this state", mend=mend)
        unit = {"position": "m or rad", "velocity": "m/s or rad/s", "acceleration": "m/s² or rad/s²"}[error.level]
        largest = abs(error.residuals[0][1])
        bad = [(n, x) for n, x in error.residuals if not abs(x) <= INVOLVED * largest]
        listed = ", ".join(f"'{name}' by {x:.3g}" for name, x in bad[:_NAMED])
        more = f" and {len(bad) - _NAMED} more" if len(bad) > _NAMED else ""
        mend = "give a start nearer to a possible one, check lengths and places, or leave out a constraint"
        if error.level == "velocity":
            mend = "leave out one of the constraints that contradict each other, or give their rates to agree"
        if error.level == "acceleration":
            mend = f"{self._branches(error.branches)} or start a little beside the position"
        law = "constraints hold at all times, so that their rates vanish too"
        return Problem(self.where("constraints"), f"{what}; off are {listed}{more} ({unit})", law, mend)

    def _branches(self, branches: Sequence[Array]) -> str:
        """The speeds to give in place of those refused."""
        if not branches:
            return "no speeds near these do: make driven constraints agree, start at rest,"
        listed = [", ".join(f"{s} {x:.6g}" for s, x in zip(self.speeds, u, strict=True)) for u in branches[:_LISTED]]
        more = " (there are more)" if len(branches) > _LISTED else ""
        return f"give speeds on one of the branches, such as {'; or '.join(listed)}{more};"


def names_of(names: Iterable[str]) -> tuple[str, ...]:
    """Names, each once; one that stands alone is one name, not its letters."""
    return (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))


def held_names(*given: Any) -> list[str]:
    """The names that a start fixes: those of mappings."""
    return [name for values in given if isinstance(values, Mapping) for name in values]
