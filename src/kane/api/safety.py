"""`Model.safety_filter`: forces of the ground, friction margins and tip-over of a vehicle, one evaluation per state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..backends import to_c
from ..boundary import refuse_odd
from ..errors import InputError
from ..formulation import safety_program
from ..graph import Program
from ..large import refuse_if_too_large
from .answers import Answers, ProgramAnswer
from .records import Array
from .vehicles import find_vehicle, ground_answer


class Safety(NamedTuple):
    """What a filter is told at states, (…) being () or (batch,): forces of the ground on each wheel (N), `longitudinal`
    along its heading, `lateral` to its left and `normal`, (…, w); `margin` (…, w), how far it is inside its cone of
    friction (N), negative where it would slip; `alpha` (…), the force-angle measure (N rad), negative where the vehicle
    would tip over, and `per_edge` (…, e), that of each edge.

    >>> filter = kane.load("diff-drive-arm").safety_filter()
    >>> safety = filter(*kane.load("diff-drive-arm").initial_state, [0.0] * 9)
    >>> bool(safety.alpha > 0)
    True
    """

    longitudinal: Array
    lateral: Array
    normal: Array
    margin: Array
    alpha: Any
    per_edge: Array


@dataclass(frozen=True, slots=True)
class SafetyFilter:
    """Everything an on-board safety filter needs, as one function of q, u and tau: forces of the ground on `wheels`,
    their margins of friction, and the tip-over measure over `edges`; numbers, a program, C.

    Constraints are embedded, those that keep a platform on the ground which could lift among them; of wheels that lift
    and slide it tells what holding the ground would take. `answers` are those
    of the model, `vehicle` the name of the vehicle.

    >>> filter = kane.load("tanner-mobile-manipulator").safety_filter()
    >>> filter.wheels
    ('front', 'left', 'right')
    """

    vehicle: str
    wheels: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    answers: Answers = field(repr=False)

    @property
    def program(self) -> Program:
        """The program, from q, u and tau; t and parameters where they matter.

        >>> filter = kane.load("tanner-mobile-manipulator").safety_filter()
        >>> [output.name for output in filter.program.outputs]
        ['longitudinal', 'lateral', 'normal', 'margin', 'alpha', 'per_edge']
        """
        return self._answer().program

    def _answer(self) -> ProgramAnswer:
        return self.answers.compile_once(("safety", self.vehicle), self._formulate)

    def _formulate(self) -> Program:
        return safety_program(self.answers.all_rows_held().fresh_equations(), self.vehicle)

    @refuse_odd
    def to_c(self, name: str = "safety") -> tuple[str, str]:
        """(header, source) in C99 without dependencies; the function is called `name`.

        >>> header, source = kane.load("tanner-mobile-manipulator").safety_filter().to_c()
        >>> "void safety(" in header
        True
        """
        return to_c(self.program, name)

    @refuse_odd
    def __call__(self, q: Any, u: Any, tau: Any, *, t: Any = 0.0, parameters: Any = None) -> Safety:
        """Numbers at states q, u under efforts tau, (n,) or (batch, n) each, also by name; states
        satisfy the constraints (`project`, or those of a motion)."""
        found = self.answers.evaluate(self._answer(), t, parameters, {"q": q, "u": u, "tau": tau})
        return Safety(*found)


def safety_filter(answers: Answers, vehicle: str | None = None) -> SafetyFilter:
    """Forces of the ground, margins of friction and the tip-over measure of a vehicle, the only one or the one of that
    name, as one function of q, u and tau that runs in a fraction of a microsecond in a batch and is exported to C.

    >>> m = kane.load("tanner-mobile-manipulator")
    >>> safety = m.safety_filter()(*m.initial_state, {"us1": 1.0})
    >>> safety.normal.round(1).tolist(), round(float(safety.alpha), 1)
    ([...], ...)
    """
    mechanism = answers.mechanism
    refuse_if_too_large(mechanism, "safety_filter")
    found = find_vehicle(mechanism, vehicle)
    ground = ground_answer(answers, found.name).ground
    if not ground.edges:
        raise InputError(f"vehicle '{found.name}' stands on {', '.join(ground.wheels)}, which span no polygon")
    return SafetyFilter(found.name, ground.wheels, ground.edges, answers)


__all__ = ["Safety", "SafetyFilter", "safety_filter"]
