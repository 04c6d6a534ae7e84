"""`Trajectory`: a motion and how it ended, with what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import CheckReport, check_trajectory
from ..analysis.large import check_large_trajectory
from ..backends import Kernel
from ..errors import InputError
from ..model import locks
from ..simulate import Outcome, Solution, Statistics
from .records import Array, Energy, Momentum

if TYPE_CHECKING:
    from .model import Model

_NEAR_LOCK = 1e-3  # |det Γ| below which lock explains why a motion stopped
_SPLINE = 5  # degree of the curves that integrate loads along a motion


def _explained(model: Model, outcome: Outcome, q: Array) -> Outcome:
    """The outcome, with gimbal lock named where that is why the motion stopped."""
    if outcome.success or outcome.reason == "interrupt":
        return outcome
    near = locks(model, q, _NEAR_LOCK)
    if not near:
        return outcome
    text = f"{outcome.text}; {'; '.join(map(str, near))}; a spherical joint has no lock"
    return replace(outcome, text=text)


@dataclass(frozen=True)
class Trajectory:
    """A motion: times t (k,), coordinates q (k, n), speeds u (k, n), efforts tau (k, n), work done by loads (k,), and
    how it ended."""

    model: Model = field(repr=False)
    t: Array
    q: Array
    u: Array
    tau: Array
    work: Array
    outcome: Outcome
    statistics: Statistics
    events: tuple[Any, ...] = ()

    @staticmethod
    def of(model: Model, solution: Solution, law: Kernel | None, held: Array) -> Trajectory:
        n_q, n_u = len(model.coordinates), len(model.speeds)
        q, u = solution.y[:, :n_q], solution.y[:, n_q : n_q + n_u]
        tau = np.tile(held, (len(solution.t), 1))
        if law is not None:
            values = (model.free_values(),) if any(g.name == "parameters" for g in law.program.inputs) else ()
            tau = tau + law(solution.t[:, None], q, u, *values)
        elif solution.held is not None and len(solution.held.t):
            last = np.searchsorted(solution.held.t, solution.t, side="right") - 1
            tau = solution.held.p[np.clip(last, 0, None)]
        work = solution.y[:, n_q + n_u]
        outcome = _explained(model, solution.outcome, q[-1])
        return Trajectory(model, solution.t, q, u, tau, work, outcome, solution.statistics, solution.events)

    def energy(self) -> Energy:
        """Kinetic and potential energy (J) along the motion."""
        return self.model.energy(self.q, self.u, t=self.t[:, None])

    def impulse(self) -> Momentum:
        """Impulse (N s) and angular impulse about the origin (N m s) of the external loads since the start, (k, 3).

        Momentum minus impulse stays constant. Integrated along the times of the trajectory by quintic splines, six of
        them or more, so it is as exact as these are dense: let times fall where loads jump.
        """
        from scipy.interpolate import make_interp_spline  # slow to import

        if len(self.t) < _SPLINE + 1:
            raise InputError(f"{len(self.t)} times: an impulse needs {_SPLINE + 1} or more along the motion")
        loads = self.model.external_loads(self.q, self.u, tau=self.tau, t=self.t[:, None])
        curves = (make_interp_spline(self.t, values, k=_SPLINE).antiderivative() for values in loads)
        return Momentum(*(curve(self.t) - curve(self.t[0]) for curve in curves))

    def acceleration(self) -> Array:
        """udot along the motion, (k, n)."""
        return self.model.forward_dynamics(self.q, self.u, self.tau, t=self.t[:, None])

    def check(self) -> CheckReport:
        """The motion held against the balance of energy and the equations it must satisfy."""
        if self.model.recursive():
            return check_large_trajectory(self, self.model.by_bodies())
        return check_trajectory(self)

    def plot(self, path: str | None = None) -> Any:
        """A figure of the coordinates over time (matplotlib), written to `path` if given."""
        from ..viewer import plots  # matplotlib is an extra and slow to import

        figure = plots.motion(self.model, self.t, self.q)
        if path is not None:
            plots.save(figure, path)
        return figure

    def view(self, *, port: int = 0, open_browser: bool = True) -> None:
        """Play the motion in a browser, from a server on this machine only, until its window or Ctrl-C ends it."""
        from ..viewer import view  # viser is an extra and slow to import

        view(self, port=port, open_browser=open_browser)

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        return f"<Trajectory of '{self.model.name}', {len(self)} times: {self.outcome}>"
