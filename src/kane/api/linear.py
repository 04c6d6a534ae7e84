"""Motion near a state: linearization with the constraints embedded, equilibria, steady motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis.linearization import (
    Embedded,
    FirstOrder,
    Linearization,
    Operating,
    Positions,
    accelerations,
    embedded,
    first_order,
    weights,
)
from ..analysis.steady import Search, Steady, solve
from ..backends import remembered
from ..constraints.multipliers import least_multipliers
from ..constraints.rank import Elimination
from ..errors import InputError, ModelError, Problem, SingularError
from ..formulation.linear import entering, rates_program, tangent_program, turns_program
from ..graph import Program
from ..large import refuse_if_too_large
from ..model.attitude import quaternion_places
from .answers import Answer
from .constrained import ConstrainedModel, names_of
from .records import Array

_MISSED = 1e-9  # relative effort by which a wanted motion may be missed
_PIECEWISE = {"abs", "sign", "min", "max", "less", "less_equal", "equal", "select"}
_PROBES = 2  # states at which coordinates are tried that may cancel


class Linearizing(ConstrainedModel):
    """A mechanism that can be linearized and brought to rest or to a steady motion."""

    if TYPE_CHECKING:

        def _state(self, q: Any, u: Any, t: Any) -> tuple[Array, Array]: ...

    def linearize(
        self,
        q: Any = None,
        u: Any = None,
        tau: Any = None,
        *,
        t: float = 0.0,
        udot: Any = None,
        independent: Iterable[str] = (),
        inputs: Iterable[str] | None = None,
        outputs: Iterable[str] | None = None,
        ignore: Iterable[str] | bool = (),
    ) -> Linearization:
        """ẋ = A x + B δtau, y = C x + D δtau about a state (default: the initial one), the constraints embedded.

        q, u and tau are arrays or mappings name → value; a state off the constraints is moved onto them, as a start of
        `simulate` is; tau acts along the speeds (default zero). With `udot` in place of tau the efforts along `inputs`
        are found that produce it. States are independent coordinates, then speeds: those named in `independent`, others
        as the constraints leave them best determined; quaternions are perturbed by small rotations joint.x, joint.y,
        joint.z about the axes of the moving frame. `inputs` are speeds that efforts act along (default: all). `outputs`
        are coordinates, speeds, accelerations (a speed with ') or any expressions in them and t (default: all
        coordinates and speeds). `ignore` leaves out states that no other feels: names, or True: all such coordinates.
        """
        driven = self._named_speeds(self.speeds if inputs is None else inputs, "inputs")
        keep = names_of(independent)
        q0, u0 = self._state(q, u, t)
        at, first = self._operating(t, q0, u0, tau, udot, driven)
        positions = self._positions(at)
        for name in keep:
            self.find("coordinate or speed", name, dict.fromkeys((*positions.names, *self.speeds)), "independent")
        motion = embedded(first, positions, at, keep, self.speeds)
        columns = [self.speeds.index(s) for s in driven]
        shown: list[str] = [*self.coordinates, *self.speeds] if outputs is None else list(names_of(outputs))
        C, D = self._outputs(shown, at, motion)
        found = Linearization(
            self.name,
            at,
            motion.states,
            driven,
            tuple(shown),
            motion.A,
            motion.B[:, columns],
            C,
            D[:, columns],
            motion.rates,
            (*self.coordinates, *self.speeds),
            np.vstack([motion.Q, motion.U]),
            sum(name in positions.names for name in motion.states),
            self._running(at, first, motion),
        )
        return found.without(found.ignorable if ignore is True else ignore or ())

    def equilibrium(
        self,
        q: Any = None,
        tau: Any = None,
        *,
        hold: Iterable[str] = (),
        efforts: Iterable[str] = (),
        t: float = 0.0,
        strict: bool = True,
    ) -> Steady:
        """A state at rest that stays at rest, sought from the guess q; see `trim`."""
        return self.trim(
            q,
            np.zeros(len(self.speeds)),
            tau,
            hold=[*names_of(hold), *self.speeds],
            efforts=efforts,
            t=t,
            strict=strict,
        )

    def trim(
        self,
        q: Any = None,
        u: Any = None,
        tau: Any = None,
        *,
        unknowns: Iterable[str] | None = None,
        hold: Iterable[str] = (),
        efforts: Iterable[str] = (),
        steady: Iterable[str] | None = None,
        t: float = 0.0,
        strict: bool = True,
    ) -> Steady:
        """A steady motion: the constraints hold, and nothing that matters changes.

        q, u and tau are the guess, arrays or mappings; what a mapping of q or u names stays, and so does what `hold`
        names. `unknowns` are the coordinates and speeds to be found (default: all that do not stay), `efforts` speeds
        along which efforts are found too; other efforts are tau (default zero). `steady` says what does not change:
        coordinates (their first and second rates vanish), speeds, or expressions in both, rates of coordinates among
        them (default: all speeds, and all coordinates that the equations of motion contain). Newton's method finds the
        unknowns; where it finds none it refuses with the residuals by name or, not `strict`, gives where it ended.
        """
        stays = {*names_of(hold), *(name for given in (q, u) if isinstance(given, Mapping) for name in given)}
        names = {**self.coordinate_records, **self.speed_records}
        for name in (*stays, *names_of(unknowns or ())):
            self.find("coordinate or speed", name, names, "trim")
        sought = [name for name in names if name not in stays] if unknowns is None else list(names_of(unknowns))
        driven = self._named_speeds(efforts, "efforts")
        q0, u0 = self._given(q, u)
        tau0 = np.zeros(len(self.speeds)) if tau is None else self._vector(tau, self.speeds, "tau")
        labels, rates = self._steady(steady)
        search = Search(
            self.coordinates,
            self.speeds,
            self.row_names if self.constraints else (),
            tuple(i for i, c in enumerate(self.coordinates) if c in sought),
            tuple(i for i, s in enumerate(self.speeds) if s in sought),
            tuple(self.speeds.index(s) for s in driven),
            labels,
            rates,
            tuple(tuple(places) for places in quaternion_places(self).values()),
            self._closing(float(t), [i for i, c in enumerate(self.coordinates) if c not in sought]),
        )
        nothing = np.zeros(len(self.speeds)), np.zeros(len(search.rows))
        found = solve(self._tangent(), search, Operating(float(t), q0, u0, tau0, *nothing))
        if strict and not found.converged:
            missed = ", ".join(f"{name} {x:.3g}" for name, x in found.worst())
            free = ", ".join([*sought, *(f"tau_{s}" for s in driven)]) or "nothing"
            raise ModelError(
                Problem(
                    self.where("trim"),
                    f"no steady motion found from here; still off after {found.steps} steps: {missed}",
                    "in a steady motion efforts balance, constraints hold and what is steady has no rate",
                    f"hold less or ask less to be steady (found were to be {free}), or start from a nearer guess",
                )
            )
        return found

    # parts -------------------------------------------------------------------------------------------------------

    def _operating(
        self, t: float, q: Array, u: Array, tau: Any, udot: Any, driven: Sequence[str]
    ) -> tuple[Operating, FirstOrder]:
        """The state with its accelerations and multipliers, and the first order of the equations there."""
        if tau is not None and udot is not None:
            raise InputError("give the efforts tau or the accelerations udot, and the other follows")
        n = len(self.speeds)
        rows = len(self.row_names) if self.constraints else 0
        tau0 = np.zeros(n) if tau is None else self._vector(tau, self.speeds, "tau")
        tangent = self._tangent()
        rest = Operating(float(t), q, u, tau0, np.zeros(n), np.zeros(rows))
        sizes = self.equations().constraints.sizes if rows else None
        still = first_order(tangent, rest, sizes)
        if udot is None:
            rates, reactions = accelerations(still, rest)
        else:
            given = dict.fromkeys(self.speeds, 0.0)
            if isinstance(udot, Mapping):
                given.update((name, udot[name]) for name in self._named_speeds(udot, "udot"))
                udot = list(given.values())
            rates = self._vector(udot, self.speeds, "udot")
            tau0 = self._producing(still, rates, driven)
            reactions = least_multipliers(still.A, still.M @ rates + still.value["F"] - tau0, still.sizes)
        at = Operating(float(t), q, u, tau0, rates, reactions)
        return at, first_order(tangent, at, sizes)

    def _producing(self, still: FirstOrder, udot: Array, driven: Sequence[str]) -> Array:
        """The least efforts along `driven` that produce udot, or a refusal."""
        off = still.A @ udot + still.value["g"]
        if np.abs(off).max(initial=0.0) > _MISSED * (1.0 + np.abs(still.value["g"]).max(initial=0.0)):
            worst = self.row_names[int(np.argmax(np.abs(off)))]
            raise InputError(f"udot contradicts the constraint '{worst}', by {np.abs(off).max():.3g}")
        freed = Elimination.of(still.A, weights(still.M), sizes=still.sizes)
        assert freed is not None
        columns = [self.speeds.index(s) for s in driven]
        needed = freed.N.T @ (still.M @ udot + still.value["F"])
        least = np.linalg.lstsq(freed.N.T[:, columns], needed, rcond=None)[0]
        missing = np.abs(freed.N.T[:, columns] @ least - needed)
        if missing.max(initial=0.0) > _MISSED * (1.0 + np.abs(needed).max(initial=0.0)):
            worst = self.speeds[freed.choice.independent[int(np.argmax(missing))]]
            raise InputError(
                f"efforts along {', '.join(driven) or 'nothing'} cannot produce this udot: {missing.max():.3g} is "
                f"missing along '{worst}'\n    to mend: name more speeds in inputs, or give tau"
            )
        tau = np.zeros(len(udot))
        tau[columns] = least
        return tau

    def _closing(self, t: float, held: Sequence[int]) -> Callable[[Array], Array]:
        """q moved onto the constraints, some coordinates staying; as it was, once that has failed."""
        possible = True

        def closing(q: Array) -> Array:
            nonlocal possible
            try:
                return self._closed(q, t, held) if possible else q
            except ModelError:
                possible = False
                return q

        return closing

    def _running(self, at: Operating, first: FirstOrder, motion: Embedded) -> tuple[str, ...]:
        """Coordinates and speeds that matter and change: the names of what is not steady at a state."""
        felt = self._entering()
        size = _MISSED * (1.0 + np.abs(at.u).max(initial=0.0))
        moving = [c for c, x in zip(self.coordinates, first.value["qdot"], strict=True) if c in felt and abs(x) > size]
        size += _MISSED * np.abs(motion.A).max(initial=0.0)  # of a state known to that many digits
        return (*moving, *(s for s, x in zip(self.speeds, at.udot, strict=True) if abs(x) > size))

    def _outputs(self, shown: Sequence[str], at: Operating, motion: Embedded) -> tuple[Array, Array]:
        """(C, D over all speeds) of outputs by name or expression."""
        C, D = np.zeros((len(shown), len(motion.states))), np.zeros((len(shown), len(self.speeds)))
        others: list[int] = []
        for row, name in enumerate(shown):
            if name in self.coordinates:
                C[row] = motion.Q[self.coordinates.index(name)]
            elif name in self.speeds:
                C[row] = motion.U[self.speeds.index(name)]
            elif name.endswith("'") and name[:-1] in self.speeds:
                place = self.speeds.index(name[:-1])
                C[row], D[row] = motion.Udot[place], motion.Tau[place]
            else:
                others.append(row)
        if others:
            rates = self._rates([shown[row] for row in others], "outputs")
            still = np.zeros((len(motion.states), len(self.speeds)))
            _, _, changes, _ = rates(at.t, at.q, at.u, at.udot, motion.Q.T, motion.U.T, still)
            C[others] = changes.T
        return C, D

    def _positions(self, at: Operating) -> Positions:
        found = quaternion_places(self)
        E = Edot = np.zeros((0, 4, 3))
        if found:
            E, Edot = self._kept_linear("turns", lambda: turns_program(self.equations()))(at.t, (at.q, at.u), None)
        return Positions.of(self.coordinates, list(found.items()), E, Edot)

    def _tangents(self) -> Answer:
        """The compiled tangent program."""

        def made() -> Program:
            refuse_if_too_large(self, "linearization")
            if self.signature is None:
                return tangent_program(self.equations())
            return remembered((self.signature, "tangents"), lambda: tangent_program(self.equations()))

        return self._kept_linear("tangents", made)

    def _tangent(self) -> Callable[..., Sequence[Array]]:
        answer = self._tangents()

        def tangent(t: float, *arrays: Array) -> Sequence[Array]:
            return answer(t, tuple(a for a in arrays if a.shape[-1]), None)

        return tangent

    def _entering(self) -> tuple[str, ...]:
        """Coordinates that the equations of motion contain and that change them in states where nothing is special: the
        angle of a wheel may stand in the equations of a SymPy script, and cancel."""
        program, rng = self._tangents().program, np.random.default_rng(0)
        names, felt = entering(program), set[str]()
        if not _PIECEWISE.isdisjoint(row.op for row in program.rows):
            return names  # a stop is felt in some states only
        for _ in range(_PROBES):
            q, u = (x + rng.uniform(0.1, 0.5, len(x)) for x in self.initial_state)
            udot, reactions = rng.normal(size=len(u)), rng.normal(size=len(self.row_names))
            try:
                slopes = first_order(self._tangent(), Operating(0.0, q, u, np.zeros(len(u)), udot, reactions)).by_q
            except SingularError:
                return names
            for key in ("F", "g", "rate"):
                size = np.abs(slopes[key]).max(axis=0, initial=0.0)
                felt |= {c for c, x in zip(self.coordinates, size, strict=True) if x > _MISSED * (1.0 + size.max())}
        return tuple(name for name in names if name in felt)

    def _rates(self, expressions: Sequence[str], what: str) -> Callable[..., Sequence[Array]]:
        exprs = [self.scalar(e, f"{what} / {e}") for e in expressions]
        answer = self._kept_linear(f"rates of {tuple(expressions)}", lambda: rates_program(self.equations(), exprs))
        return lambda t, *arrays: answer(t, arrays, None)

    def _steady(self, wanted: Iterable[str] | None) -> tuple[tuple[str, ...], Callable[..., Sequence[Array]]]:
        """Expressions whose rates vanish in a steady motion, and their rates."""
        if wanted is None:
            expressions = [*self._entering(), *self.speeds]
        else:
            expressions = [
                e for w in names_of(wanted) for e in ((w, f"{w}'") if w in self.coordinate_records else (w,))
            ]
        if not expressions:
            return (), lambda *_: ()
        return tuple(expressions), self._rates(expressions, "steady")

    def _kept_linear(self, key: str, made: Callable[[], Program | None]) -> Any:
        """A compiled program, kept with the other answers."""
        self._refresh()
        if key not in self._answers:
            program = made()
            assert program is not None
            self._answers[key] = Answer(program, self.free_values())
        return self._answers[key]


__all__ = ["Linearizing"]
