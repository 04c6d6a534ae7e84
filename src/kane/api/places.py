"""Kinematics of a point of a body: pose, velocity, acceleration, Jacobian."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..formulation import place_of, place_program
from .answers import Answers
from .records import Array


@dataclass(frozen=True, slots=True)
class PlaceAnswers:
    """What can be asked of a point of a body. Components in N; ω before v; arrays as for the model."""

    answers: Answers
    body: str
    point: tuple[float, ...]

    def pose(self, q: Any, *, t: Any = 0.0, parameters: Any = None) -> tuple[Array, Array]:
        """(R_NB, p): orientation (…, 3, 3) and position (…, 3) (m)."""
        flat = self._ask("pose", t, parameters, q=q)
        return flat[..., :9].reshape(*flat.shape[:-1], 3, 3), flat[..., 9:]

    def velocity(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """ω (rad/s) and v (m/s), (…, 6)."""
        return self._ask("velocity", t, parameters, q=q, u=u)

    def acceleration(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """α (rad/s²) and a (m/s²), (…, 6)."""
        return self._ask("acceleration", t, parameters, q=q, u=u, udot=udot)

    def jacobian(self, q: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """J (…, 6, n): ω and v per unit of each speed."""
        return self._ask("jacobian", t, parameters, q=q)

    def jacobian_rate(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """dJ/dt (…, 6, n)."""
        return self._ask("jacobian_rate", t, parameters, q=q, u=u)

    def _ask(self, what: str, t: Any, parameters: Any, **vectors: Any) -> Any:
        def make_program() -> Any:
            equations = self.answers.fresh_equations()
            return place_program(equations, what, place_of(equations, self.body, self.point))

        answer = self.answers.compile_once((what, self.body, self.point), make_program)
        return self.answers.evaluate(answer, t, parameters, vectors)


__all__ = ["PlaceAnswers"]
