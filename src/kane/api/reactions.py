"""Reactions of joints and constraints at a state: force and moment by name, and what rigid bodies leave open.

Three routes lead to them: auxiliary speeds in one compiled program, Newton and Euler summed inward from multipliers of
all rows, and the kinetostatic equations of all bodies solved together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..constraints.multipliers import (
    Balance,
    Multipliers,
    multipliers_by_released_rows,
    multipliers_by_singular_values,
)
from ..errors import InputError, ModelError, Problem, UnknownNameError
from ..formulation import Equations
from ..formulation.kinetostatics import KinetostaticEquations
from ..formulation.reactions import (
    JointTree,
    bodies_program,
    joint_tree,
    orientation_program,
    reactions_program,
    rows_program,
)
from ..formulation.wrenches import find_changes, largest_wrenches, subtract_rows, sum_inward
from ..graph import Program
from ..large import refuse_if_too_large
from ..model import Mechanism
from ..simulate import multipliers_of
from . import given
from .answers import Answers, row_groups
from .constrained import constraint_rows, refuse_off, row_sizes
from .records import Array
from .starts import start_state

METHODS = ("auxiliary", "multipliers", "complement")
COMPONENTS = ("force x", "force y", "force z", "moment x", "moment y", "moment z")
_BALANCED = 1e-6  # share of the efforts that may be left over where udot was given
_MANY = 64  # states from which on the compiled solve is worth its start
_SHOWN = 1e-13  # share of the largest force below which a number is printed as zero


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a joint or a constraint exerts on the body `on`: force (…, 3) (N) and moment (…, 3) (N m) about `point`, the
    position of that point in N (…, 3) (m). Components are along `frame`; `undetermined` are those that rigid bodies
    alone do not determine.

    A constraint that ties motion variables together, as a gear does, has `efforts` along them, by name (N m, N), which
    go through their joints; its force, moment and point are None. So are those of a reaction that an auxiliary speed
    of a SymPy script brings into evidence: it has a `value` (…), with the sign that the script gives it, in `unit`.

    >>> m = kane.load("pendulum")
    >>> pivot = m.reactions([0], [2.0])["pivot"]
    >>> pivot.on, pivot.force.round(6).tolist()
    ('bob', [0.0, 13.81, 0.0])
    """

    name: str
    on: str
    frame: str
    force: Any
    moment: Any
    point: Any
    undetermined: tuple[str, ...] = ()
    efforts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    value: Any = None
    unit: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Reactions(Mapping[str, Reaction]):
    """Reactions of `joints`, of `constraints`, and those that `auxiliary` speeds bring into evidence, by name;
    `reactions["knee"]` looks in all of them. Where a joint and a constraint have one name, they are "rear (joint)" and
    "rear (constraint)" here.

    `multipliers` (…, m) are λ of the rows of constraints, in the order of `row_names`. `undetermined` names what is not
    determined by rigid-body mechanics, since constraints are redundant: rows of constraints with (), joints and
    constraints with those of their components. The values given are those of rows that all yield alike, or by the
    `stiffness` that was given.

    >>> kane.load("pendulum").reactions([0], [2.0])
    Reactions at one state, components in N
      pivot  on bob: force (0, 13.81, 0) N, moment (0, 0, 0) N m
    """

    joints: Mapping[str, Reaction]
    constraints: Mapping[str, Reaction]
    multipliers: Array
    row_names: tuple[str, ...]
    undetermined: Mapping[str, tuple[str, ...]]
    auxiliary: Mapping[str, Reaction] = field(default_factory=dict[str, Reaction])

    def __getitem__(self, name: str) -> Reaction:
        found = self._by_label()
        if name in found:
            return found[name]
        kinds = [kind for kind, table in self._tables().items() if name in table]
        if kinds:
            ways = " or ".join(f"'{name} ({kind})'" for kind in kinds)
            raise InputError(f"'{name}' is a {' and a '.join(kinds)}\n    fix: ask for {ways}")
        raise UnknownNameError("joint, constraint or auxiliary speed", name, self)

    def __contains__(self, name: object) -> bool:
        return name in self._by_label()

    def _tables(self) -> dict[str, Mapping[str, Reaction]]:
        return {"joint": self.joints, "constraint": self.constraints, "auxiliary speed": self.auxiliary}

    def _by_label(self) -> dict[str, Reaction]:
        """All of them, by names that say what they are of where several have one name."""
        listed = [(kind, name, r) for kind, table in self._tables().items() for name, r in table.items()]
        count = Counter(name for _, name, _ in listed)
        return {f"{name} ({kind})" if count[name] > 1 else name: reaction for kind, name, reaction in listed}

    def multiplier(self, row: str) -> Any:
        """λ of one row of a constraint, (…).

        >>> m = kane.load("four-bar")
        >>> q, u = m.project()
        >>> m.reactions(q, u).multiplier("pin.x").shape
        ()
        """
        if row not in self.row_names:
            raise UnknownNameError("row", row, self.row_names)
        return self.multipliers[..., self.row_names.index(row)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_label())

    def __len__(self) -> int:
        return sum(map(len, self._tables().values()))

    def __repr__(self) -> str:
        listed = [*self.joints.values(), *self.constraints.values(), *self.auxiliary.values()]
        single = self.multipliers.ndim == 1
        frame = listed[0].frame if listed else "N"
        what = f"at one state, components in {frame}" if single else f"at {len(self.multipliers)} states, largest sizes"
        lines = [f"Reactions {what}"]
        width = max(map(len, self), default=0)
        least = _SHOWN * max(
            (float(np.abs(r.force).max(initial=0.0)) for r in listed if r.force is not None), default=0.0
        )
        lines += [f"  {name:{width}}  {_reaction_line(r, single, least)}" for name, r in self.items()]
        if self.undetermined:
            loose = (f"{name} ({', '.join(parts)})" if parts else name for name, parts in self.undetermined.items())
            lines.append(f"not determined by rigid bodies, shared as by equal stiffness: {'; '.join(loose)}")
        return "\n".join(lines)


def _reaction_line(reaction: Reaction, single: bool, least: float) -> str:
    """A reaction in a line: its components, or their largest sizes along a batch; what is less than `least` as 0."""

    def number(x: Any) -> str:
        return f"{float(x) if abs(float(x)) > least else 0.0:.6g}"

    if reaction.value is not None:
        value = reaction.value if single else np.abs(reaction.value).max(initial=0.0)
        return f"on {reaction.on}: {number(value)} {reaction.unit}".rstrip()
    if reaction.force is None:
        sizes = {name: value if single else np.abs(value).max(initial=0.0) for name, value in reaction.efforts.items()}
        return f"efforts: {', '.join(f'{name} {number(value)}' for name, value in sizes.items())}"
    if single:
        force, moment = (f"({', '.join(number(x) for x in v)})" for v in (reaction.force, reaction.moment))
    else:
        vectors = (reaction.force, reaction.moment)
        force, moment = (number(np.linalg.norm(v, axis=-1).max(initial=0.0)) for v in vectors)
    return f"on {reaction.on}: force {force} N, moment {moment} N m"


# states --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StateBatch:
    """States as a batch: times (k, 1), q (k, n_q), u, tau and udot (k, n); `single` where one was asked for."""

    t: Array
    q: Array
    u: Array
    tau: Array
    udot: Array | None
    single: bool


def _states(answers: Answers, q: Any, u: Any, tau: Any, t: Any, udot: Any) -> StateBatch:
    m = answers.mechanism
    asked = {"q": q, "u": u, "tau": given.initial(m, "tau") if tau is None else tau}
    if udot is not None:
        asked["udot"] = udot
    arrays = {name: given.vector(m, name, value) for name, value in asked.items()}
    times = np.asarray(given.clock(t), dtype=float)
    sizes = {len(x) for x in (*arrays.values(), *([times.reshape(-1, 1)] if times.ndim else [])) if x.ndim == 2}
    if len(sizes) > 1:
        raise InputError(f"batches of different size: {sorted(sizes)}")
    count = sizes.pop() if sizes else 1
    wide = {name: np.broadcast_to(x, (count, x.shape[-1])).copy() for name, x in arrays.items()}
    single = times.ndim == 0 and all(x.ndim == 1 for x in arrays.values())
    clock = np.broadcast_to(times.reshape(-1, 1), (count, 1)).copy()
    return StateBatch(clock, wide["q"], wide["u"], wide["tau"], wide.get("udot"), single)


def _stiffness(m: Mechanism, of: Mapping[str, Any] | None) -> Array | None:
    """Stiffness (rows,) of all rows from that of some constraints, or rows, by name; None if none is given."""
    if not of:
        return None
    found = np.ones(len(m.row_names))
    for name, value in of.items():
        known = {**m.constraints, **dict.fromkeys(m.row_names)}
        given.require_known(m, "constraint or row", name, known, "stiffness")
        named = m.constraints.get(name)
        rows = (name,) if named is None else named.row_names()
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < np.inf:
            raise InputError(f"stiffness of '{name}' is {value!r}: give a positive number (N/m, or N m/rad)")
        found[[i for i, row in enumerate(m.row_names) if row in rows]] = value
    return found


# routes --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Found:
    """What a route finds, in N: wrenches of joints on children (k, joints, 6) about `points` (k, joints, 3); λ and its
    null space; unit reactions (k, rows, 6) on second bodies about the constraints' points (k, constraints, 3), and
    along motion variables (k, rows, variables)."""

    wrench: Array
    points: Array
    multipliers: Multipliers
    acts: Array
    constraint_points: Array
    efforts: Array


def reactions(
    answers: Answers,
    q: Any = None,
    u: Any = None,
    tau: Any = None,
    *,
    t: Any = 0.0,
    frame: str = "N",
    on: str = "child",
    method: str = METHODS[0],
    udot: Any = None,
    parameters: Any = None,
    stiffness: Mapping[str, float] | None = None,
    anywhere: bool = False,
) -> Reactions:
    """Force and moment in every joint and of every constraint, by name: `m.reactions(q, u)["knee"].force`.

    A joint's is the whole wrench that its parent exerts on its child through it, efforts and springs in it
    included, about the joint's point in the child; a constraint's acts on its second body. With on="parent" it is
    the opposite, which acts on the parent or the first body. Components are along `frame`, N or the name of a frame
    or body. Accelerations are those that tau (default zero) produces, or `udot`, where they are known. Arrays are
    (n,) or (batch, n). Methods that agree: "auxiliary" speeds, "multipliers", "complement" (kinetostatics). A state
    that is not on the constraints is refused, unless `anywhere`: the equations still have a solution there. Where q or
    u is left out, the model's own is meant, and the state is moved onto the constraints, as a start of `simulate` is.

    Where constraints are redundant, what rigid bodies leave open is as if every row yielded a little: with the same
    stiffness (N/m, N m/rad) or, relative to that, the `stiffness` given for constraints or rows by name.

    >>> m = kane.load("pendulum")
    >>> m.reactions([0], [2.0])["pivot"].force.round(6).tolist()
    [0.0, 13.81, 0.0]
    """
    answers = answers.with_parameters(parameters)
    m = answers.mechanism
    check_choices(m, on, method)
    tree = _tree(answers)
    weights = _stiffness(m, stiffness)
    if q is None or u is None:
        q, u = start_state(answers, q, u, t)
    states = _states(answers, q, u, tau, t, udot)
    if m.constraints and not anywhere:
        refuse_off(m, constraint_rows(answers, states.q, states.u, t=states.t), states.u)
    if method == "complement":
        refuse_without_joints(m)
        found = _by_complement(answers, states, tau is None, weights)
    else:
        found = _by_programs(answers, tree, states, tau is None, method, weights)
    named = _name_reactions(answers, tree, states, found, frame, on)
    return named if m.auxiliary is None else replace(named, auxiliary=_in_evidence(answers, states, frame))


def _tree(answers: Answers) -> JointTree:
    """How bodies hang on joints; on none where the reactions that are asked for are those of auxiliary speeds."""
    m = answers.mechanism
    if m.auxiliary is not None and not m.joints:
        return JointTree((), (), ())
    tree: JointTree = answers.make_once("held", lambda: joint_tree(m))
    refuse_without_joints(m)
    return tree


def _auxiliary_program(equations: Equations) -> Program:
    return equations.program("auxiliary_reactions")


def _in_evidence(answers: Answers, states: StateBatch, frame: str) -> dict[str, Reaction]:
    """Reactions that auxiliary speeds bring into evidence, by their own names."""
    auxiliary = answers.mechanism.auxiliary
    assert auxiliary is not None
    udot = _accelerations(answers, states)
    ask = _kernel(answers, "auxiliary_reactions", _auxiliary_program)
    found: Any = ask(states.t, states.q, states.u, udot, states.tau)
    values: tuple[Any, ...] = found if len(auxiliary.reactions) > 1 else (found,)
    first = 0 if states.single else slice(None)
    return {
        r.name: Reaction(r.name, r.on, frame, None, None, None, value=value[first], unit=r.unit)
        for r, value in zip(auxiliary.reactions, values, strict=True)
    }


def _by_programs(
    answers: Answers, tree: JointTree, states: StateBatch, implied: bool, method: str, weights: Array | None
) -> Found:
    """By auxiliary speeds, or by multipliers and bodies summed inward."""
    m = answers.mechanism
    udot, rows = _accelerations(answers, states), len(m.row_names)
    solve = multipliers_by_released_rows if method == "auxiliary" else multipliers_by_singular_values
    count = len(states.q)
    none = np.zeros((count, 0, len(m.speeds)))
    found = Multipliers(np.zeros((count, 0)), np.zeros((count, 0, 0)))
    A, mass, acts, at, along = (
        _kernel(answers, "reaction_rows", rows_program)(states.t, states.q)
        if rows
        else (none, None, np.zeros((count, 0, 6)), np.zeros((count, 0, 3)), none)
    )
    if rows or (states.udot is not None and not implied):
        g = _efforts(answers, states, udot)
        if mass is not None:
            compiled = None
            if method == "auxiliary" and weights is None:
                compiled = _compiled_multipliers(answers, A, g, mass)
            found = solve(Balance(A, g, mass, weights, row_sizes(answers))) if compiled is None else compiled
        _refuse_unbalanced(answers, g, A, found.values, states.udot is not None)
    wrench, points = _joint_wrenches(answers, tree, states, udot, found.values, method)
    return Found(wrench, points, found, acts, at, along)


def _joint_wrenches(
    answers: Answers, tree: JointTree, states: StateBatch, udot: Array, multipliers: Array, method: str
) -> tuple[Array, Array]:
    """(wrenches of joints on their children, points they are about), in N, from accelerations and multipliers."""
    if not tree.parents:
        return np.zeros((len(states.q), 0, 6)), np.zeros((len(states.q), 0, 3))
    if method == "auxiliary":
        inputs = (states.q, states.u, udot, *([multipliers] if multipliers.shape[1] else []))
        wrench, points = _kernel(answers, "reactions", reactions_program)(states.t, *inputs)
        return wrench, points
    needs, points, arms, *more = _kernel(answers, "bodies", bodies_program)(states.t, states.q, states.u, udot)
    left = subtract_rows(tree, needs, more[0] if more else None, multipliers)
    return sum_inward(tree, left, arms), points


def reactions_from_multipliers(
    answers: Answers,
    states: StateBatch,
    loose: Callable[[Array, Array], Array],
    multipliers: Array,
    *,
    frame: str,
    on: str,
    method: str,
) -> Reactions:
    """Reactions where accelerations and the multipliers of all rows are known, some of which need not hold.

    `loose` gives, from the rows A (k, rows, n) and the diagonal of M (k, n), directions (k, rows, …) in which the
    multipliers are not determined.
    """
    assert states.udot is not None
    check_choices(answers.mechanism, on, method)
    if method == "complement":
        raise InputError(
            "method = 'complement' solves for the reactions of all rows, and here some do not hold\n"
            "    fix: choose 'auxiliary' or 'multipliers'"
        )
    tree: JointTree = answers.make_once("held", lambda: joint_tree(answers.mechanism))
    refuse_without_joints(answers.mechanism)
    A, mass, acts, at, along = _kernel(answers, "reaction_rows", rows_program)(states.t, states.q)
    _refuse_unbalanced(answers, _efforts(answers, states, states.udot), A, multipliers, False)
    wrench, points = _joint_wrenches(answers, tree, states, states.udot, multipliers, method)
    found = Found(wrench, points, Multipliers(multipliers, loose(A, mass)), acts, at, along)
    return _name_reactions(answers, tree, states, found, frame, on)


def check_choices(m: Mechanism, on: str, method: str) -> None:
    """Refuse sides and methods that there are not, and models that are too large."""
    if on not in ("child", "parent"):
        raise InputError(f"on = {on!r}: a reaction acts on the 'child' (second body) or on the 'parent' (first body)")
    if method not in METHODS:
        raise InputError(f"method = {method!r}: there are {', '.join(METHODS)}")
    refuse_if_too_large(m, "reactions")


def refuse_without_joints(m: Mechanism) -> None:
    """Refuse a model whose bodies no joint holds, once it is known that none is attached otherwise."""
    if not m.joints:
        raise InputError(f"model '{m.name}' has no joints")


def _compiled_multipliers(answers: Answers, A: Array, g: Array, mass: Array) -> Multipliers | None:
    """λ of many states by the compiled solve; None for few, which are not worth loading it, and where some rows are
    redundant, so that it is asked which."""
    if len(A) < _MANY:
        return None
    values, rank = multipliers_of(A, g, mass, row_groups(answers.mechanism), row_sizes(answers).tolist())
    if not np.all(rank == A.shape[1]):
        return None
    return Multipliers(values, np.zeros((*values.shape, 0)))


def _by_complement(answers: Answers, states: StateBatch, implied: bool, weights: Array | None) -> Found:
    """By the equations of all bodies, state by state."""
    m = answers.mechanism
    equations: KinetostaticEquations = answers.make_once("kinetostatics", lambda: KinetostaticEquations(m))
    if states.udot is not None:
        A = constraint_rows(answers, states.q, states.u, t=states.t).A if m.row_names else None
        g = _efforts(answers, states, states.udot)
        if A is not None:
            values = multipliers_by_singular_values(Balance(A, g, np.ones(g.shape))).values
            _refuse_unbalanced(answers, g, A, values, True)
        elif not implied:
            _refuse_unbalanced(answers, g, np.zeros((len(g), 0, g.shape[1])), np.zeros((len(g), 0)), True)
    each = [
        equations.solve(
            states.q[k],
            states.u[k],
            states.tau[k],
            float(states.t[k, 0]),
            None if states.udot is None else states.udot[k],
            weights,
        )
        for k in range(len(states.q))
    ]
    widest = max(x.null.shape[1] for x in each)
    null = np.stack([np.pad(x.null, ((0, 0), (0, widest - x.null.shape[1]))) for x in each])
    return Found(
        np.stack([x.wrench for x in each]),
        np.stack([x.point for x in each]),
        Multipliers(np.stack([x.multipliers for x in each]), null),
        np.stack([x.acts for x in each]),
        np.stack([x.constraint_point for x in each]),
        np.stack([x.row_efforts for x in each]),
    )


def _accelerations(answers: Answers, states: StateBatch) -> Array:
    if states.udot is not None:
        return states.udot
    if not answers.mechanism.speeds:
        return states.u
    udot = answers.ask("forward_dynamics", states.t, None, q=states.q, u=states.u, tau=states.tau)
    return np.asarray(udot).reshape(states.u.shape)


def _efforts(answers: Answers, states: StateBatch, udot: Array) -> Array:
    """M u̇ + bias − tau: what reactions have to give."""
    return answers.ask("inverse_dynamics", states.t, None, q=states.q, u=states.u, udot=udot) - states.tau


def _kernel(answers: Answers, name: str, made: Any, *args: Any) -> Callable[..., Any]:
    """A compiled program of reactions, of t and other inputs."""
    answer = answers.compile_once(name, lambda: made(answers.fresh_equations(), *args))

    def ask(t: Any, *arrays: Any) -> Any:
        return answer(t, arrays, answers.values)

    return ask


def _refuse_unbalanced(answers: Answers, g: Array, A: Array, values: Array, given: bool) -> None:
    """Refuse accelerations, `given` or found, that are not those of tau and the constraints: g is not Aᵀ λ."""
    m = answers.mechanism
    off = np.abs(g - np.einsum("bmn,bm->bn", A, values))
    if off.max(initial=0.0) <= _BALANCED:
        return
    size = np.maximum(np.abs(g), np.einsum("bmn,bm->bn", np.abs(A), np.abs(values))).max(initial=0.0)
    if off.max(initial=0.0) <= _BALANCED * max(size, 1.0):
        return
    k, i = np.unravel_index(int(np.argmax(off)), off.shape)
    left = f"along '{m.speeds[i]}' an effort of {off[k, i]:.3g} (N m or N) is left over"
    if given:
        raise InputError(
            f"udot is not what tau and the constraints of model '{m.name}' produce: {left}; "
            "give the tau that belongs to udot, or leave udot out"
        )
    raise ModelError(
        Problem(
            m.where("reactions"),
            f"the accelerations found do not satisfy the equations of motion: {left}",
            "M udot + bias = tau + Aᵀ λ",
            "give the model an initial state at which its constraints are independent",
        )
    )


# by name -------------------------------------------------------------------------------------------------------------


def _name_reactions(
    answers: Answers, tree: JointTree, states: StateBatch, found: Found, frame: str, on: str
) -> Reactions:
    m = answers.mechanism
    R = _orientation(answers, states, frame)
    wrenches = found.wrench if on == "child" else -found.wrench
    lam_on = found.multipliers.values if on == "child" else -found.multipliers.values
    loose_joints, loose_constraints, loose_rows = _find_undetermined(answers, tree, states, found, R)
    first = 0 if states.single else slice(None)
    joints: dict[str, Reaction] = {}
    for i, joint in enumerate(m.joints.values()):
        wrench = _turn_wrenches(R, wrenches[:, i])[first]
        body = joint.child if on == "child" else joint.parent
        joints[joint.name] = Reaction(
            joint.name, body.name, frame, wrench[..., :3], wrench[..., 3:], found.points[:, i][first], loose_joints[i]
        )
    constraints: dict[str, Reaction] = {}
    r = 0
    for c, constraint in enumerate(m.constraints.values()):
        rows = slice(r, r + len(constraint.rows))
        r = rows.stop
        lam = found.multipliers.values[:, rows]
        body = constraint.second if on == "child" else constraint.first
        if body is None:
            along = np.einsum("bm,bmv->bv", lam, found.efforts[:, rows])
            moved: list[bool] = np.abs(found.efforts[:, rows]).max(axis=(0, 1)).astype(bool).tolist()
            efforts = {name: along[:, v][first] for v, name in enumerate(m.motion_variables) if moved[v]}
            constraints[constraint.name] = Reaction(
                constraint.name, "joints", frame, None, None, None, loose_constraints[c], efforts
            )
            continue
        wrench = _turn_wrenches(R, np.einsum("bm,bmi->bi", lam_on[:, rows], found.acts[:, rows]))[first]
        point = found.constraint_points[:, c][first]
        constraints[constraint.name] = Reaction(
            constraint.name, body.name, frame, wrench[..., :3], wrench[..., 3:], point, loose_constraints[c]
        )
    undetermined: dict[str, tuple[str, ...]] = {
        name: () for name, loose in zip(m.row_names, loose_rows, strict=True) if loose
    }
    undetermined |= {x.name: x.undetermined for x in (*joints.values(), *constraints.values()) if x.undetermined}
    return Reactions(joints, constraints, found.multipliers.values[first], m.row_names, undetermined)


def _orientation(answers: Answers, states: StateBatch, frame: str) -> Array | None:
    """R_NF of the frame in which components are wanted, (k, 3, 3); None for N."""
    m = answers.mechanism
    axes = m.find_frame(frame, "reactions / frame")
    if axes is m.N:
        return None
    return _kernel(answers, f"orientation of {frame}", orientation_program, axes)(states.t, states.q)


def _turn_wrenches(R: Array | None, wrench: Array) -> Array:
    """Wrenches (k, 6) in N as components in the frame of R_NF (k, 3, 3), in N if None."""
    if R is None:
        return wrench
    return np.concatenate([np.einsum("bij,bi->bj", R, wrench[:, s]) for s in (slice(3), slice(3, 6))], axis=-1)


def _find_undetermined(
    answers: Answers, tree: JointTree, states: StateBatch, found: Found, R: Array | None
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], list[bool]]:
    """Components of joints, components of constraints, and rows that change along the null space of Aᵀ."""
    m = answers.mechanism
    null = found.multipliers.null
    joints = np.zeros((len(m.joints), 6), dtype=bool)
    constraints = np.zeros((len(m.constraints), 6), dtype=bool)
    rows = np.zeros(len(m.row_names), dtype=bool)
    if not m.joints:
        rows |= (null != 0.0).any(axis=(0, 2))
    elif null.any():
        udot = _accelerations(answers, states)
        needs, _, arms, *more = _kernel(answers, "bodies", bodies_program)(states.t, states.q, states.u, udot)
        acts = more[0] if more else None
        for k in np.flatnonzero(null.any(axis=(0, 1))):
            direction = null[:, :, k]
            rows |= (direction != 0.0).any(axis=0)
            size = largest_wrenches(tree, acts, arms, direction)
            change = sum_inward(tree, subtract_rows(tree, np.zeros_like(needs), acts, direction), arms)
            joints |= find_changes(_turn_all_wrenches(R, change), size)
            on_second, r = np.zeros((len(direction), len(m.constraints), 6)), 0
            for c, constraint in enumerate(m.constraints.values()):
                part = slice(r, r + len(constraint.rows))
                on_second[:, c] = np.einsum("bm,bmi->bi", direction[:, part], found.acts[:, part])
                r = part.stop
            constraints |= find_changes(_turn_all_wrenches(R, on_second), size)
    return _parts(joints), _parts(constraints), rows.tolist()


def _turn_all_wrenches(R: Array | None, wrenches: Array) -> Array:
    if R is None:
        return wrenches
    return np.concatenate([np.einsum("bij,bki->bkj", R, wrenches[..., s]) for s in (slice(3), slice(3, 6))], axis=-1)


def _parts(which: Any) -> list[tuple[str, ...]]:
    """Names of the components that are true, row by row."""
    return [tuple(name for name, loose in zip(COMPONENTS, row, strict=True) if loose) for row in which.tolist()]


__all__ = ["COMPONENTS", "METHODS", "Reaction", "Reactions", "StateBatch", "reactions", "reactions_from_multipliers"]
