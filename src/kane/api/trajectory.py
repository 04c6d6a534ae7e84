"""`Trajectory`: a motion and how it ended, with what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..analysis import CheckReport, check_trajectory
from ..analysis.large import check_large_trajectory
from ..analysis.singular import Singularity, lowest
from ..backends import Kernel
from ..constraints.thresholds import NEAR_SINGULAR
from ..errors import InputError
from ..model import locks
from ..simulate import Embedding, Outcome, Solution, Statistics
from .reactions import Reactions
from .records import Array, Energy, Momentum, Residuals

if TYPE_CHECKING:
    from .model import Model

_SPLINE = 5  # degree of the curves that integrate loads along a motion


def _explained(model: Model, outcome: Outcome, q: Array) -> Outcome:
    """The outcome, with gimbal lock named where that is why the motion stopped."""
    if outcome.success or outcome.reason == "interrupt":
        return outcome
    near = locks(model, q, NEAR_SINGULAR)
    if not near:
        return outcome
    text = f"{outcome.text}; {'; '.join(map(str, near))}; a spherical joint has no lock"
    return replace(outcome, text=text)


def _passed(model: Model, embedding: Embedding, t: Array, q: Array, u: Array) -> tuple[Singularity, ...]:
    """Singular positions of the constraints along a motion."""
    if len(t) < 2 or not (np.all(np.isfinite(q)) and np.all(np.isfinite(u))):
        return ()
    still = np.zeros(u.shape[1])

    def measure(times: Array, places: Array) -> Array:
        none = np.zeros((len(times), len(still)))
        return embedding.accelerations(times, places, none, none, model.free_values())[2]

    found = lowest(measure, t, q, np.atleast_2d(model.qdot(q, u, t=t[:, None])))
    return tuple(
        Singularity(at, size, model.freedom(place, t=at, within=NEAR_SINGULAR).degrees) for at, place, size in found
    )


def _announced(passed: tuple[Singularity, ...]) -> str:
    shown = ", ".join(f"{s.t:.6g}" for s in passed[:3]) + (", …" if len(passed) > 3 else "")
    plural = "" if len(passed) == 1 else "s"
    return f"passes {len(passed)} singular position{plural} of the constraints (t = {shown} s)"


@dataclass(frozen=True)
class Trajectory:
    """A motion: times t (k,), coordinates q (k, n), speeds u (k, n), efforts tau (k, n), work done by loads (k,), how
    it ended, and the singular positions of constraints that it passed."""

    model: Model = field(repr=False)
    t: Array
    q: Array
    u: Array
    tau: Array
    work: Array
    outcome: Outcome
    statistics: Statistics
    events: tuple[Any, ...] = ()
    singularities: tuple[Singularity, ...] = ()

    @staticmethod
    def of(
        model: Model, solution: Solution, law: Kernel | None, held: Array, embedding: Embedding | None = None
    ) -> Trajectory:
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
        passed = () if embedding is None else _passed(model, embedding, solution.t, q, u)
        if passed:
            outcome = replace(outcome, text=f"{outcome.text}; {_announced(passed)}")
        return Trajectory(model, solution.t, q, u, tau, work, outcome, solution.statistics, solution.events, passed)

    @cached_property
    def residuals(self) -> Residuals:
        """How far off its constraints the motion is, row by row: of configurations (m, rad) and of rates."""
        if not self.model.constraints:
            return Residuals((), np.zeros((len(self), 0)), np.zeros((len(self), 0)))
        rows = self.model.constraint_rows(self.q, self.u, t=self.t[:, None])
        return Residuals(self.model.row_names, rows.phi, rows.rate)

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

    def reactions(self, **options: Any) -> Reactions:
        """Forces and moments in joints and of constraints along the motion, (k, 3) each; options of Model.reactions."""
        return self.model.reactions(self.q, self.u, self.tau, t=self.t[:, None], **options)

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
