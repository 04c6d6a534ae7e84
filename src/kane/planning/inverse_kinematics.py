"""Inverse kinematics of any arm, numerically: coordinates that bring a point of a body, and its axes, to given poses.

Comes in: a model and a place on one of its bodies; then targets, positions (3) or poses R by rows and p (12). Goes out:
an outcome for each that says in a sentence whether it was reached, with the residual. The search is compiled: damped
Newton steps on the exact Jacobian within the limits of the coordinates, from the nearest of many known poses.
Same targets, same seed: the same answers, bit by bit, whatever the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Protocol

import numpy as np

from ..backends import Kernel, compile, native  # the verb of the pipeline is called compile
from ..constraints.thresholds import NEAR_SINGULAR
from ..errors import InputError, ModelError, Problem
from ..formulation import Equations, place_of, place_program
from ..graph import Program
from ..model import Limit, Mechanism
from .laws import Array

STARTS = 512
"""Known poses among which the nearest to a target is looked up."""

UNLIMITED = 1.0
"""Range of starts of a displacement without limits, to each side of where the model starts (m)."""

GRAIN = 64
"""Targets that a thread takes at a time at least: fewer are not worth waking it."""

START_KINDS = ("unguessed", "guessed", "followed")
"""Where the first attempt at a target starts: at the nearest known pose, at a guess, at the answer before it."""

ROWS = ("rx", "ry", "rz", "x", "y", "z")
"""What may count of a pose: rotations about, and positions along, the axes of N or of the target."""


class Arm(Protocol):
    """What a model must offer: its description, its equations and its start."""

    @property
    def name(self) -> str: ...
    @property
    def coordinates(self) -> tuple[str, ...]: ...
    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def initial_state(self) -> tuple[Array, Array]: ...
    def equations(self) -> Equations: ...


@dataclass(frozen=True, slots=True)
class Reached:
    """The answer for one target: coordinates, residual, and in a sentence how it went."""

    q: Array
    residual: float  # √(angle² + distance²) of what counts, rad and m
    solved: bool
    steps: int
    attempts: int

    def __str__(self) -> str:
        if self.solved:
            return f"reached within {self.residual:.1e} in {self.steps} steps"
        return (
            f"not reached: the nearest of {self.attempts} attempts ended {self.residual:.3g} away (rad and m together);"
            f" the target may be out of reach, or beyond the limits of the coordinates"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Answers for k targets: q (k, n), residual (k,), solved (k,), steps (k,), attempts (k,)."""

    q: Array
    residual: Array
    solved: np.ndarray[Any, np.dtype[np.bool_]]
    steps: np.ndarray[Any, np.dtype[np.int64]]
    attempts: np.ndarray[Any, np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.q)

    def __getitem__(self, k: int) -> Reached:
        return Reached(
            self.q[k], float(self.residual[k]), bool(self.solved[k]), int(self.steps[k]), int(self.attempts[k])
        )

    @property
    def success(self) -> float:
        """The fraction of targets that were reached."""
        return float(np.mean(self.solved)) if len(self) else 1.0

    def __str__(self) -> str:
        missed = np.flatnonzero(~self.solved)
        text = f"{len(self) - len(missed)} of {len(self)} targets reached"
        if len(missed):
            text += f"; not {_list_indices(missed)}, residual up to {self.residual[missed].max():.3g}"
        return text


@dataclass(frozen=True, slots=True, eq=False)
class FollowedPath(Solutions):
    """Answers along a path, each from the one before; where they jump and where the arm is singular."""

    jumps: tuple[int, ...]  # k where q[k] is further from q[k − 1] than was allowed
    singular: tuple[int, ...]
    smallest_singular_value: Array  # (k,) of the rows of J that count

    @property
    def continuous(self) -> bool:
        """Whether every pose was reached without a jump."""
        return bool(np.all(self.solved)) and not self.jumps

    def __str__(self) -> str:
        text = Solutions.__str__(self)
        if self.jumps:
            text += f"; the coordinates jump at {_list_indices(self.jumps)}"
        if self.singular:
            text += f"; nearly singular at {_list_indices(self.singular)}"
        return text if self.jumps or self.singular else f"{text}, without jumps or singularities"


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How hard to look. `tolerance` bounds √(angle² + distance²) of what counts, rad and m together."""

    tolerance: float = 1e-9
    attempts: int = 100
    iterations: int = 60  # of one attempt
    seed: int = 0
    workers: int | None = None  # threads; None: one per core

    def __post_init__(self) -> None:
        if not (self.tolerance > 0.0 and self.attempts > 0 and self.iterations > 0):
            raise InputError(f"tolerance, attempts and iterations are positive: {self}")


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Targets (k, 12), guesses (k, n), and where the answers go: q (k, n), tally (k, 3) of |e|, steps, attempts."""

    targets: Array
    guesses: Array
    start_kind: str
    t: float
    q: Array
    tally: Array

    @staticmethod
    def of(targets: Array, guesses: Array, start_kind: str, t: float) -> _Task:
        return _Task(targets, guesses, start_kind, t, np.empty(guesses.shape), np.zeros((len(targets), 3)))

    def part(self, some: slice) -> _Task:
        """Some of the targets, answers going to the same places."""
        return _Task(self.targets[some], self.guesses[some], self.start_kind, self.t, self.q[some], self.tally[some])


class InverseKinematics:
    """The search for coordinates that bring a place on a body to targets.

    `rows` says what counts of a pose, names of `ROWS`, all by default; with `axes="target"` they are meant along the
    axes of the target, so that ("rx", "ry", "x", "y", "z") leaves free the rotation about the tool's own z axis.
    """

    def __init__(
        self,
        model: Arm,
        body: str,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        *,
        rows: Sequence[str] = ROWS,
        axes: Literal["ground", "target"] = "ground",
        options: SearchOptions | None = None,
    ):
        self.model, self.body, self.options = model, body, options or SearchOptions()
        self.rows = _row_numbers(rows)
        if axes not in ("ground", "target"):
            raise InputError(f"axes are {axes!r}; choose 'ground' or 'target'")
        self._in_target = axes == "target"
        equations = model.equations()
        self.place = place_of(equations, body, tuple(float(x) for x in point))
        self._kernel = compile(place_program(equations, "reach", self.place))
        self._rates: dict[str, Kernel] = {}
        self._equations = equations
        self._column = _columns(equations, self._kernel)
        self._turns = _angles(equations)
        self.lower, self.upper = _ranges(model)
        self._wraps = self._turns & (self.upper - self.lower >= 2.0 * math.pi * (1.0 - 1e-9))
        self._starts = self._draw_starts()
        known = self.pose(self._starts)
        self._sizes = np.sum(known[:, 9:] ** 2, axis=1)
        self._poses = np.ascontiguousarray((known * self._weights()).T)

    # forward ---------------------------------------------------------------------------------------------------------

    def pose(self, q: Any, *, t: float = 0.0) -> Array:
        """R_NB by rows and p in N, (…, 12), of coordinates (…, n)."""
        return self._pose(q, t)[0]

    def jacobian(self, q: Any, *, t: float = 0.0) -> Array:
        """J (…, 6, n): ω and v in N per unit of the rate of each coordinate."""
        J = self._pose(q, t)[1]
        return np.where(self._column >= 0, J[..., np.maximum(self._column, 0)], 0.0)

    def _pose(self, q: Any, t: float) -> Any:
        return self._call_kernel(self._kernel, t, q)

    def _call_kernel(self, kernel: Kernel, t: float, *arrays: Any) -> Any:
        names = [g.name for g in kernel.program.inputs]
        given = (*((t,) if "t" in names else ()), *arrays)
        return kernel(*given, *((self.model.mechanism.free_values(),) if "parameters" in names else ()))

    # inverse ---------------------------------------------------------------------------------------------------------

    def solve(self, targets: Any, start: Any = None, *, t: float = 0.0) -> Solutions:
        """Coordinates for each of k targets by itself: positions (k, 3), or poses (k, 12), (k, 4, 4).

        The first attempt is from `start` (n,) or (k, n) where it is given, the others from the nearest known poses.
        """
        poses = self._targets(targets)
        guesses = self._guesses(start, len(poses))
        task = _Task.of(poses, guesses, "unguessed" if start is None else "guessed", t)
        self._search_in_threads(task)
        near = self._middle() if start is None else guesses
        return Solutions(self._wrap_angles(task.q, near), *self._judge_tally(task.tally))

    def solve_one(self, target: Any, start: Any = None, *, t: float = 0.0) -> Reached:
        """Coordinates for one target: a position (3,), or a pose (12,) or (4, 4)."""
        return self.solve(np.asarray(target, dtype=float)[None], start, t=t)[0]

    def follow(self, targets: Any, start: Any = None, *, largest_step: float = 0.5, t: float = 0.0) -> FollowedPath:
        """Coordinates along a path of k targets, each found from the one before it; the first from `start`.

        Where a target cannot be reached from its neighbour other starts are tried. A change of any coordinate by more
        than `largest_step` (rad or m) from one target to the next is reported as a jump.
        """
        poses = self._targets(targets)
        guess = self._guesses(start, 1)[0]
        if start is None and len(poses):
            guess = self.solve(poses[:1], t=t).q[0]
        task = _Task.of(poses, np.broadcast_to(guess, (len(poses), len(guess))).copy(), "followed", t)
        self._run_search(task)
        q = task.q
        moved = np.abs(np.diff(q, axis=0))
        jumps = tuple((np.flatnonzero(np.any(moved > largest_step, axis=1)) + 1).tolist())
        values = self._smallest_singular_values(q, poses, t)
        singular = tuple(np.flatnonzero(values < NEAR_SINGULAR).tolist())
        return FollowedPath(q, *self._judge_tally(task.tally), jumps, singular, values)

    def rates(self, q: Any, twist: Any, twist_rate: Any, *, t: float = 0.0) -> tuple[Array, Array]:
        """(qdot, qddot), each (k, n), with which the place has the twist and its rate (k, 6) in N at q (k, n).

        qdot = J⁺ twist and qddot = J⁺ (twist_rate − J̇ qdot), J⁺ the inverse or, for redundant arms, the smallest
        answer. All six rows count here.
        """
        q, twist, twist_rate = (np.atleast_2d(np.asarray(a, dtype=float)) for a in (q, twist, twist_rate))
        if "jacobian_rate" not in self._rates:
            program = place_program(self._equations, "jacobian_rate", self.place)
            self._rates["jacobian_rate"] = compile(program)
        inverse = np.linalg.pinv(self.jacobian(q, t=t))
        qdot = np.einsum("kij,kj->ki", inverse, twist)
        speeds = np.zeros((len(q), self._kernel.program.outputs[1].shape[1]))
        speeds[:, self._column[self._column >= 0]] = qdot[:, self._column >= 0]
        remainder = np.einsum("kij,kj->ki", self._call_kernel(self._rates["jacobian_rate"], t, q, speeds), speeds)
        return qdot, np.einsum("kij,kj->ki", inverse, twist_rate - remainder)

    # parts -----------------------------------------------------------------------------------------------------------

    def _targets(self, targets: Any) -> Array:
        array = np.asarray(targets, dtype=float)
        if array.ndim == 3 and array.shape[1:] == (4, 4):
            array = np.concatenate([array[:, :3, :3].reshape(-1, 9), array[:, :3, 3]], axis=1)
        if array.ndim == 2 and array.shape[1] == 3:
            if self.rows.min() < 3 or self._in_target:
                raise InputError(
                    "targets are positions, but orientation counts too\n"
                    "    fix: give poses (k, 12): R by rows, then p; or search with rows=('x', 'y', 'z')"
                )
            array = np.concatenate([np.tile(np.eye(3).ravel(), (len(array), 1)), array], axis=1)
        if array.ndim != 2 or array.shape[1] != 12 or not np.all(np.isfinite(array)):
            raise InputError(
                f"targets have shape {np.shape(targets)}; give finite positions (k, 3), poses (k, 12) or (k, 4, 4)"
            )
        R = array[:, :9].reshape(-1, 3, 3)
        skew = np.abs(R @ np.swapaxes(R, 1, 2) - np.eye(3)).max(axis=(1, 2)) > 1e-6
        bad = np.flatnonzero(skew | (np.linalg.det(R) < 0.0))
        if len(bad):
            raise InputError(f"the orientation of target {bad[0]} is not a rotation: its rows are not orthonormal")
        return np.ascontiguousarray(array)

    def _guesses(self, start: Any, k: int) -> Array:
        n = len(self.lower)
        given = self.model.initial_state[0] if start is None else np.asarray(start, dtype=float)
        if given.shape not in ((n,), (k, n)) or not np.all(np.isfinite(given)):
            raise InputError(f"start has shape {given.shape}; give finite coordinates ({n},) or ({k}, {n})")
        return np.ascontiguousarray(np.broadcast_to(np.clip(given, self.lower, self.upper), (k, n)))

    def _draw_starts(self) -> Array:
        """Coordinates within the limits, drawn with the seed."""
        q0 = self.model.initial_state[0]
        lower = np.where(np.isfinite(self.lower), self.lower, np.where(self._turns, -math.pi, q0 - UNLIMITED))
        upper = np.where(np.isfinite(self.upper), self.upper, np.where(self._turns, math.pi, q0 + UNLIMITED))
        lower = np.where(self._wraps, -math.pi, np.minimum(lower, upper))
        upper = np.where(self._wraps, math.pi, np.maximum(lower, upper))
        return np.random.default_rng(self.options.seed).uniform(lower, upper, (STARTS, len(q0)))

    def _weights(self) -> Array:
        """What the entries of a pose count in the distance between a start and a target."""
        return np.array([1.0 if self.rows.min() < 3 else 0.0] * 9 + [2.0] * 3)

    def _run_search(self, task: _Task) -> None:
        """Run the compiled search over the targets of a task."""
        from . import compiled  # numba takes a while to import

        n, program, options = len(self.lower), self._kernel.program, self.options
        names = [g.name for g in program.inputs]
        before = [task.t] if "t" in names else []
        wraps = self._wraps & (task.start_kind != "followed")  # on a path, whole turns cannot be taken back
        arrays: dict[str, Any] = {
            "lower": np.where(wraps, -np.inf, self.lower),
            "upper": np.where(wraps, np.inf, self.upper),
            "column": self._column,
            "counts": np.isin(np.arange(6), self.rows).astype(float),
            "starts": self._starts,
            "poses": self._poses,
            "sizes": self._sizes,
            "targets": task.targets,
            "guesses": task.guesses,
            "answers": task.q,
            "tally": task.tally,
            "x": np.concatenate(
                [before, np.zeros(n), self.model.mechanism.free_values() if "parameters" in names else []]
            ),
            "out": np.empty(program.output_count),
            **{name: np.empty(n) for name in ("q", "best", "step")},
            **{name: np.empty(6) for name in ("e", "e_new", "y")},
            "J": np.zeros((6, -(-n // 8) * 8)),
            "A": np.empty((6, 6)),
            "distance": np.empty(len(self._starts)),
        }
        numbers = {
            "n": n,
            "width": arrays["J"].shape[1],
            "known": len(self._starts),
            "targets_given": len(task.targets),
            "start_kind": START_KINDS.index(task.start_kind),
            "attempts": options.attempts,
            "iterations": options.iterations,
            "tolerance": options.tolerance,
            "program": self._kernel.address,
            "first": len(before),
            "in_target": int(self._in_target),
            "partial": int(0 < np.count_nonzero(self.rows < 3) < 3),
        }
        memory = np.zeros(1, dtype=compiled.MEMORY)
        for name, value in {**numbers, **{name: a.ctypes.data for name, a in arrays.items()}}.items():
            memory[name] = value
        compiled.search_loop(memory)

    def _search_in_threads(self, task: _Task) -> None:
        """Search in threads, where there are targets enough."""
        count = len(task.targets)
        workers = native.cores() if self.options.workers is None else self.options.workers
        pieces = min(workers, count // GRAIN)
        if pieces < 2:
            self._run_search(task)
            return
        edges = np.linspace(0, count, 4 * pieces + 1).astype(int)
        with ThreadPoolExecutor(pieces) as pool:
            list(pool.map(lambda ends: self._run_search(task.part(slice(*ends))), pairwise(edges)))

    def _judge_tally(self, tally: Array) -> tuple[Any, Any, Any, Any]:
        residual = tally[:, 0]
        return residual, residual <= self.options.tolerance, tally[:, 1].astype(np.int64), tally[:, 2].astype(np.int64)

    def _middle(self) -> Array:
        """The middle of the ranges that are bounded; elsewhere the number within the range that is nearest to 0."""
        bounded = np.isfinite(self.lower) & np.isfinite(self.upper)
        low, high = np.where(bounded, self.lower, 0.0), np.where(bounded, self.upper, 0.0)
        return np.where(bounded, 0.5 * (low + high), np.clip(0.0, self.lower, self.upper))

    def _wrap_angles(self, q: Array, near: Array) -> Array:
        """Angles that may turn fully, by whole turns as near as possible to `near` and into their range."""
        turn = 2.0 * math.pi
        moved = q - turn * np.round((q - near) / turn)
        return np.where(self._wraps, self._wrap_into_range(moved), q)

    def _wrap_into_range(self, q: Array) -> Array:
        turn = 2.0 * math.pi
        low, high = np.where(self._wraps, self.lower, -np.inf), np.where(self._wraps, self.upper, np.inf)
        above, below = np.ceil((q - high) / turn), np.ceil((low - q) / turn)
        return q + turn * (np.maximum(below, 0.0) - np.maximum(above, 0.0))

    def _smallest_singular_values(self, q: Array, poses: Array, t: float) -> Array:
        if not len(q):
            return np.empty(0)
        J = self.jacobian(q, t=t)
        if self._in_target:
            R = poses[:, :9].reshape(-1, 3, 3)
            J = np.concatenate([np.swapaxes(R, 1, 2) @ J[:, :3], np.swapaxes(R, 1, 2) @ J[:, 3:]], axis=1)
        return np.asarray(np.linalg.svd(J[:, self.rows], compute_uv=False)[:, -1], dtype=np.float64)


def _row_numbers(rows: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
    unknown = [r for r in rows if r not in ROWS]
    if unknown or not rows or len(set(rows)) != len(rows):
        raise InputError(f"rows are {tuple(rows)}; choose some of {', '.join(ROWS)}, each once")
    return np.array(sorted(ROWS.index(r) for r in rows), dtype=np.int64)


def _columns(equations: Equations, kernel: Kernel) -> np.ndarray[Any, np.dtype[np.int64]]:
    """For each coordinate the speed that is its rate, −1 where it does not move the place."""
    system = equations.system
    place = {u: k for k, u in enumerate(system.u)}
    strange = [c for c, rate in zip(equations.mechanism.coordinates, system.qdot, strict=True) if rate not in place]
    if strange:
        raise ModelError(
            Problem(
                equations.mechanism.where("inverse kinematics"),
                f"the rates of {', '.join(strange)} are not speeds by themselves",
                "a step of the search changes each coordinate along its own speed",
                "use joints of one degree of freedom with their rates as speeds",
            )
        )
    found = np.array([place[rate] for rate in system.qdot], dtype=np.int64)
    output = kernel.program.outputs[1]
    program = kernel.program
    n = output.shape[1]
    constant = {slot for slot in output.slots if _is_zero(program, slot)}
    idle = [all(output.slots[r * n + c] in constant for r in range(6)) for c in found]
    return np.where(idle, -1, found)


def _is_zero(program: Program, slot: int) -> bool:
    first = program.input_count
    return first <= slot < program.first_row and program.constants[slot - first] == 0.0


def _angles(equations: Equations) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which coordinates are angles of revolute joints: a whole turn changes nothing."""
    angles = {c.name for j in equations.mechanism.joints.values() if j.type.kind == "revolute" for c in j.coordinates}
    return np.array([c in angles for c in equations.mechanism.coordinates])


def _ranges(model: Arm) -> tuple[Array, Array]:
    """Lower and upper limits of the coordinates, infinite where there are none."""
    known = [model.mechanism.limits.get(c, Limit()) for c in model.coordinates]
    return np.array([l.lower for l in known], dtype=float), np.array([l.upper for l in known], dtype=float)


def _list_indices(indices: Any) -> str:
    """Indices as text, ranges drawn together, the first few of many."""
    runs: list[list[int]] = []
    for k in map(int, indices):
        if runs and k == runs[-1][1] + 1:
            runs[-1][1] = k
        else:
            runs.append([k, k])
    shown = [str(a) if a == b else f"{a} to {b}" for a, b in runs[:5]]
    return "pose " + ", ".join(shown) + (f" and {len(runs) - 5} more places" if len(runs) > 5 else "")
