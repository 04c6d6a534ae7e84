"""Compiled answers: a program of a model, a recursion over its bodies, constraints embedded, quantities of a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import Kernel, compile
from ..constraints.thresholds import SINGULAR
from ..errors import InputError, SingularError
from ..graph import Program, hoist
from ..large import refuse_if_too_large
from ..simulate import Embedding
from .records import Array

if TYPE_CHECKING:
    from .answering import Answering
    from .constrained import ConstrainedModel

_WRITTEN_OUT = 24  # rows that are embedded at formulation at most; more are embedded at run time only


class Answer:
    """One compiled program of a model. Work on free parameters alone is done once and kept."""

    def __init__(self, program: Program, values: Array):
        self.program = program
        self.takes_time = any(g.name == "t" for g in program.inputs)
        self.takes_parameters = any(g.name == "parameters" for g in program.inputs)
        self._whole: Kernel | None = None
        self._values = values
        self._hoisted: Array | None = None
        if self.takes_parameters:
            prelude, body = hoist(program, "parameters")
            self._prelude: Kernel | None = compile(prelude) if prelude.outputs[0].slots else None
            self._kernel = compile(body)
        else:
            self._prelude = None
            self._kernel = compile(program)
        simple = not self.takes_time and not self.takes_parameters
        self.direct: Kernel | None = self._kernel if simple else None

    def parameters_changed(self, values: Array) -> None:
        self._values, self._hoisted = values, None

    def __call__(self, t: Any, arrays: tuple[Any, ...], parameters: Any) -> Any:
        groups = (t, *arrays) if self.takes_time else arrays
        if not self.takes_parameters:
            if parameters is not None:
                raise InputError(
                    "no parameter of this model is free: declare some with keep_free(...) or load(free=...)"
                )
            return self._kernel(*groups)
        if parameters is not None:
            if self._whole is None:
                self._whole = compile(self.program)
            return self._whole(*groups, parameters)
        if self._prelude is None:
            return self._kernel(*groups, self._values)
        if self._hoisted is None:
            self._hoisted = np.asarray(self._prelude(self._values))
        return self._kernel(*groups, self._values, self._hoisted)


class LargeAnswer:
    """One answer of a large tree, by recursion over its bodies; with other parameters than its own, written out."""

    def __init__(self, model: Answering, name: str):
        self._model, self._name = model, name
        self._written_out: Answer | None = None
        self.direct = model.by_bodies().direct(name)

    def parameters_changed(self, values: Array) -> None:
        self._written_out = self.direct = None

    def __call__(self, t: Any, arrays: tuple[Any, ...], parameters: Any) -> Any:
        model = self._model
        if parameters is None:
            return model.by_bodies().answer(self._name, t, arrays, model.free_values())
        if self._written_out is None:
            refuse_if_too_large(model, f"{self._name} with parameters=…; set_parameters(…)")
            self._written_out = Answer(model.equations().program(self._name), model.free_values())
        return self._written_out(t, arrays, parameters)


class EmbeddedAnswer:
    """Accelerations of a constrained model: by the program in which the constraints are embedded, and where one of its
    pivots has become too small, or nothing is written out, by embedding at run time."""

    def __init__(self, model: ConstrainedModel):
        self._model = model
        self.direct = None
        self._written_out: Answer | None = None
        self._at_run_time: Embedding | None = None
        if len(model.row_names) <= _WRITTEN_OUT:
            self._written_out = Answer(model.program("guarded_dynamics"), model.free_values())

    def parameters_changed(self, values: Array) -> None:
        if self._written_out is not None:
            self._written_out.parameters_changed(values)

    def __call__(self, t: Any, arrays: tuple[Any, ...], parameters: Any) -> Any:
        if self._written_out is None:
            return self._run(t, arrays, parameters)
        with np.errstate(all="ignore"):
            try:
                udot, pivots = self._written_out(t, arrays, parameters)
            except SingularError:  # a single state, at which a pivot is zero
                return self._run(t, arrays, parameters)
            weak = ~np.all(np.abs(pivots) > SINGULAR, axis=-1)
        if not np.any(weak):
            return udot
        if udot.ndim == 1:
            return self._run(t, arrays, parameters)
        rows = np.flatnonzero(weak)
        some = tuple(x if np.ndim(x) < 2 else np.asarray(x)[rows] for x in (t, *arrays))
        udot[rows] = self._run(some[0], some[1:], parameters if np.ndim(parameters) < 2 else parameters[rows])
        return udot

    def _run(self, t: Any, arrays: tuple[Any, ...], parameters: Any) -> Array:
        """The same, embedded at run time."""
        if self._at_run_time is None:
            self._at_run_time = self._model.embedding()
        single = all(np.ndim(x) < 2 for x in arrays)
        q, u, tau = (np.atleast_2d(np.asarray(x, dtype=float)) for x in arrays)
        count = max(len(q), len(u), len(tau))
        times = np.broadcast_to(np.asarray(t, dtype=float).reshape(-1), (count,))
        values = self._model.free_values() if parameters is None else parameters
        udot = self._at_run_time.accelerations(times, q, u, tau, values)[0]
        if single and not np.all(np.isfinite(udot)):
            raise SingularError(
                f"model '{self._model.name}': no accelerations in this state; constraints have no value there, or leave"
                f" a motion without mass\n    to mend: move off it; in a batch such samples are given back as nan"
            )
        return udot[0] if single else udot


@dataclass(frozen=True, slots=True)
class PlaceAnswers:
    """What can be asked of a point of a body. Components in N; ω before v; arrays as for the model."""

    model: Answering
    body: str
    point: tuple[float, ...]

    def pose(self, q: Any, *, t: Any = 0.0) -> tuple[Array, Array]:
        """(R_NB, p): orientation (…, 3, 3) and position (…, 3) (m)."""
        flat = self._answer("pose", t, (q,))
        return flat[..., :9].reshape(*flat.shape[:-1], 3, 3), flat[..., 9:]

    def velocity(self, q: Any, u: Any, *, t: Any = 0.0) -> Array:
        """ω (rad/s) and v (m/s), (…, 6)."""
        return self._answer("velocity", t, (q, u))

    def acceleration(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0) -> Array:
        """α (rad/s²) and a (m/s²), (…, 6)."""
        return self._answer("acceleration", t, (q, u, udot))

    def jacobian(self, q: Any, *, t: Any = 0.0) -> Array:
        """J (…, 6, n): ω and v per unit of each speed."""
        return self._answer("jacobian", t, (q,))

    def jacobian_rate(self, q: Any, u: Any, *, t: Any = 0.0) -> Array:
        """dJ/dt (…, 6, n)."""
        return self._answer("jacobian_rate", t, (q, u))

    def _answer(self, what: str, t: Any, arrays: tuple[Any, ...]) -> Any:
        return self.model.place_kernel(what, self.body, self.point)(t, arrays, None)
