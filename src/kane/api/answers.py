"""Compiled answers: a program of a model, a recursion over its bodies, quantities of a place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import Kernel, compile
from ..errors import InputError
from ..graph import Program, hoist
from ..large import refuse_if_too_large
from .records import Array

if TYPE_CHECKING:
    from .answering import Answering


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
