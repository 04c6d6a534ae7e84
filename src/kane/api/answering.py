"""A mechanism that answers: efforts, accelerations, mass matrix, energy, momentum at any state.

What is needed is formulated and compiled when first asked for and kept until the description changes.

Units are SI, angles radians. Arrays q, u, udot and tau are (n,) or (batch, n), ordered as `coordinates` and `speeds`;
tau acts along the speeds: tau · u is power.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..analysis import BaseParameters, CheckReport, base_parameters, check
from ..backends import Kernel, remembered
from ..errors import InputError
from ..formulation import external_program, place_of, place_program, regressor_program
from ..graph import Program
from ..large import LargeAnswers, by_recursion, refuse_if_too_large
from ..model import Mechanism
from .answers import Answer, EmbeddedAnswer, LargeAnswer, PlaceAnswers
from .equations import Equations
from .records import Array, Energy, Momentum, Wrench


class Answering(Mechanism):
    """A mechanism that can be asked about a state; what it needs is formulated and compiled when first asked for."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._answers: dict[str, Answer | LargeAnswer | EmbeddedAnswer] = {}
        self._simulations: dict[Any, Any] = {}  # kept with the answers: both are forgotten together
        self._jacobians: dict[Any, Kernel] = {}
        self._formulated: Equations | None = None
        self._large: LargeAnswers | None = None
        self._answered = -1

    # equations ---------------------------------------------------------------------------------------------------

    def equations(self, free: Iterable[str] | str = ()) -> Equations:
        """The equations of motion; parameters in `free`, or declared free, are kept as inputs."""
        if free:
            return Equations(self, free)
        self._refresh()
        if self._formulated is None:
            self._formulated = Equations(self)
        return self._formulated

    def _refresh(self) -> None:
        """Forget what was computed for an earlier state of the description."""
        if self._answered != self.revision:
            self._answers, self._simulations, self._jacobians = {}, {}, {}
            self._formulated, self._large, self._answered = None, None, self.revision

    def keep_free(self, names: Iterable[str] | str = "all") -> None:
        """Keep parameters as inputs of the programs: they can then be changed without compiling again."""
        for name in list(self.parameters) if names == "all" else list(names):
            record = self.find("parameter", name, self.parameters, "free parameters")
            self.parameters[name] = replace(record, free=True)
        self.revision += 1

    def set_parameters(self, **values: float) -> None:  # type: ignore[override]
        """Give parameters new values. Free ones take effect at once, fixed ones with the next compilation."""
        Mechanism.set_parameters(self, values)
        for answer in self._answers.values():
            answer.parameters_changed(self.free_values())
        if self._large is not None:  # its constants are numbers
            self._large, self._simulations = None, {}

    def free_values(self) -> Array:
        """Values of the free parameters, in the order of the programs' inputs."""
        return np.array([p.value for p in self.parameters.values() if p.free], dtype=float)

    def _answer(self, name: str) -> Answer | LargeAnswer | EmbeddedAnswer:
        self._refresh()
        answer = self._answers.get(name)
        if answer is None:
            if self.recursive():
                answer = self._answers[name] = LargeAnswer(self, name)
            else:
                answer = self._answers[name] = Answer(self.program(name), self.free_values())
        return answer

    def recursive(self) -> bool:
        """Whether answers come by recursion over the bodies instead of programs written out."""
        return by_recursion(self)

    def by_bodies(self) -> LargeAnswers:
        """Answers by recursion over the bodies, as large trees are computed."""
        self._refresh()
        if self._large is None:
            self._large = LargeAnswers(self)
        return self._large

    def program(self, name: str) -> Program:
        """A program of the equations; that of an unchanged model file may be known from an earlier run."""
        if self.signature is None:
            return self.equations().program(name)
        return remembered((self.signature, name), lambda: self.equations().program(name))

    # answers -----------------------------------------------------------------------------------------------------

    def inverse_dynamics(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Efforts tau (N m, N) along the speeds that produce udot in the state q, u."""
        if self._answered == self.revision and parameters is None:
            answer = self._answers.get("inverse_dynamics")
            if answer is not None and answer.direct is not None:
                return answer.direct(q, u, udot)
        return self._answer("inverse_dynamics")(t, (q, u, udot), parameters)

    def forward_dynamics(self, q: Any, u: Any, tau: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Accelerations udot that the efforts tau along the speeds produce in the state q, u."""
        if self._answered == self.revision and parameters is None:
            answer = self._answers.get("forward_dynamics")
            if answer is not None and answer.direct is not None:
                return answer.direct(q, u, tau)
        return self._answer("forward_dynamics")(t, (q, u, tau), parameters)

    def mass_matrix(self, q: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """M(q), (n, n) or (batch, n, n): kinetic energy is ½ uᵀ M u where speeds are linear in the rates alone."""
        return self._answer("mass_matrix")(t, (q,), parameters)

    def bias(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Efforts at udot = 0: M udot + bias = tau."""
        return self._answer("bias")(t, (q, u), parameters)

    def qdot(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Array:
        """Rates of the coordinates in the state q, u: W u + X."""
        return self._answer("kinematics")(t, (q, u), parameters)

    def energy(self, q: Any, u: Any, *, t: Any = 0.0, parameters: Any = None) -> Energy:
        """Kinetic and potential energy (J); potential of gravity and springs, zero height at the origin of N."""
        kinetic, potential = self._answer("energy")(t, (q, u), parameters)
        return Energy(*(float(e) if np.ndim(e) == 0 else e for e in (kinetic, potential)))

    def momentum(self, q: Any, u: Any, *, about: Sequence[float] | str = (0.0, 0.0, 0.0), t: Any = 0.0) -> Momentum:
        """Linear momentum, and angular momentum about a point fixed in N at `about` (m), components in N.

        With about="center" the angular momentum is about the mass centre, without loss of digits far from the origin.
        """
        if isinstance(about, str):
            if about != "center":
                raise InputError(f"momentum about '{about}': give a point (x, y, z) in N, or 'center'")
            return Momentum(*self._answer("central_momentum")(t, (q, u), None))
        linear, angular = self._answer("momentum")(t, (q, u), None)
        return Momentum(linear, angular - np.cross(np.asarray(about, dtype=float), linear))

    def inertia(self, q: Any, *, about: Sequence[float] | None = None, t: Any = 0.0) -> Array:
        """Inertia of the whole system (kg m²), (…, 3, 3), components in N, about its mass centre or the point `about`
        (m, fixed in N)."""
        mass, center, central = self._answer("inertia")(t, (q,), None)
        if about is None:
            return central
        arm = np.asarray(center) - np.asarray(about, dtype=float)
        square = (arm**2).sum(axis=-1)[..., None, None] * np.eye(3)
        return central + np.asarray(mass)[..., None, None] * (square - arm[..., :, None] * arm[..., None, :])

    @property
    def mass(self) -> float:
        """Total mass (kg), at the present values of the parameters."""
        return sum(self.number(body.mass, f"body '{body.name}'") for body in self.bodies.values())

    def mass_center(self, q: Any, *, t: Any = 0.0) -> Array:
        """Position of the system's mass centre in N (m)."""
        moment = self._answer("mass_center")(t, (q,), None)
        return moment[..., 1:] / moment[..., :1]

    def poses(self, q: Any, *, t: Any = 0.0) -> Array:
        """For each body, in order, R_NB by rows (9) and the position of its origin in N (3): (bodies, 12)."""
        return self._answer("poses")(t, (q,), None)

    def external_loads(self, q: Any, u: Any, *, tau: Any = None, t: Any = 0.0) -> Wrench:
        """What acts on the whole from outside: resultant force, and moment about the origin of N, components in N.

        Gravity, loads, and tau along the speeds of free joints. They are the rates of the momenta; what acts between
        bodies cancels. Every joint to the ground has to be free: others react.
        """
        self._refresh()
        if "external_loads" not in self._answers:
            refuse_if_too_large(self, "external loads")
            self._answers["external_loads"] = Answer(external_program(self.equations()), self.free_values())
        held = np.zeros(len(self.speeds)) if tau is None else tau
        return Wrench(*self._answers["external_loads"](t, (q, u, held), None))

    def regressor(self, q: Any, u: Any, udot: Any, *, t: Any = 0.0) -> Array:
        """Y, (…, n, 10 bodies), with tau = Y π: π are m, hx, hy, hz, Ixx, Iyy, Izz, Ixy, Ixz, Iyz of each body in
        order, about its origin and in its frame. Loads other than gravity take no part."""
        self._refresh()
        if "regressor" not in self._answers:
            refuse_if_too_large(self, "regressor")
            self._answers["regressor"] = Answer(regressor_program(self.equations()), self.free_values())
        return self._answers["regressor"](t, (q, u, udot), None)

    def base_parameters(self) -> BaseParameters:
        """The combinations of inertial parameters that efforts depend on."""
        return base_parameters(self)

    def check(self, samples: int = 5, seed: int = 0) -> CheckReport:
        """The model held against the laws of mechanics and an independent second route."""
        refuse_if_too_large(self, "check")
        return check(self, samples=samples, seed=seed)

    def at(self, body: str, point: Sequence[float] = (0.0, 0.0, 0.0)) -> PlaceAnswers:
        """Kinematics of a point of a body (m, in the body's frame): pose, velocity, acceleration, Jacobian."""
        self._refresh()
        return PlaceAnswers(self, body, tuple(float(x) for x in point))

    def place_kernel(self, what: str, body: str, point: tuple[float, ...]) -> Answer | LargeAnswer | EmbeddedAnswer:
        """The compiled program of a quantity of a place, kept with the others."""
        self._refresh()
        key = f"{what} of {body} at {point}"
        if key not in self._answers:
            equations = self.equations()
            program = place_program(equations, what, place_of(equations, body, point))
            self._answers[key] = Answer(program, self.free_values())
        return self._answers[key]

    @property
    def initial_state(self) -> tuple[Array, Array]:
        """(q, u) as the model states them; zero, or rest, where it does not."""
        q = [c.initial for c in self.coordinate_records.values()]
        u = [s.initial for s in self.speed_records.values()]
        return np.array(q, dtype=float), np.array(u, dtype=float)
