"""Motion near a state: linearization with the constraints embedded, equilibria, steady motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..analysis.linearization import (
    FirstOrder,
    FirstOrderMotion,
    Linearization,
    Operating,
    Positions,
    accelerations,
    close_loop,
    first_order,
    linearize_independent,
    weights,
)
from ..analysis.linearizations import Linearizations
from ..analysis.steady import Search, Steady, solve
from ..constraints.multipliers import least_multipliers
from ..constraints.rank import Elimination
from ..errors import InputError, ModelError, Problem, SingularError
from ..formulation.linear import (
    coordinates_in_equations,
    rates_program,
    turns_program,
)
from ..graph import Program
from ..model import Mechanism
from ..model.attitude import quaternion_places
from ..model.measures import MotionNames
from ..model.urdf.losses import dry_friction_at_rest, joint_losses
from . import given
from .answers import Answers, ProgramAnswer
from .constrained import close_configuration, row_sizes
from .linear_batch import BatchPrograms, Samples, count_samples, gather_samples, linearize_samples
from .records import Array
from .simulation import ControlLaw, feedback_law
from .start_choices import held_names
from .starts import told_start
from .tangents import efforts_of, refuse_efforts_in_time, tangent_of, tangents_of

_MISSED = 1e-9  # relative effort by which a wanted motion may be missed
_PIECEWISE = {"abs", "sign", "min", "max", "less", "less_equal", "equal", "select"}
_PROBES = 2  # states at which coordinates are tried that may cancel


def linearize(
    answers: Answers,
    q: Any = None,
    u: Any = None,
    tau: Any = None,
    *,
    t: Any = 0.0,
    parameters: Any = None,
    udot: Any = None,
    control: ControlLaw | None = None,
    independent: Iterable[str] = (),
    inputs: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
    ignore: Iterable[str] | bool = (),
) -> Any:  # what is given decides: a Linearization, or Linearizations of samples
    """ẋ = A x + B δtau, y = C x + D δtau about a state (default: the initial one), the constraints embedded.

    q, u and tau are arrays or mappings name → value; a state off the constraints is moved onto them, as a start of
    `simulate` is; tau acts along the speeds (default zero). With `udot` in place of tau the efforts along `inputs`
    are found that produce it. States are independent coordinates, then speeds: those named in `independent`, others
    as the constraints leave them best determined; quaternions are perturbed by small rotations joint.x, joint.y,
    joint.z about the axes of the moving frame. `inputs` are speeds that efforts act along (default: all). `outputs`
    are coordinates, speeds, accelerations (a speed with ') or any expressions in them and t (default: all
    coordinates and speeds). `ignore` leaves out states that no other depends on: names, or True: all such coordinates
    that neither grow nor decay by themselves.

    With `control`, the name of a control law of the model, expressions by speed or joint or a law of `kane.planning`,
    the loop is closed: its efforts act on top of tau and follow the state. Where q, u, tau, t or parameters have one
    value per sample, (k, n), the answer is `Linearizations`: A (k, s, s) and so on, over the same states.

    >>> m = kane.load("pendulum")
    >>> m.linearize([0], [0]).eigenvalues.imag.round(4).tolist()
    [-3.1321, 3.1321]
    >>> m.linearize({"q": [0.0, 0.5, 1.0]}, [0], control={"u": "-0.2*u"}).A.shape
    (3, 2, 2)
    """
    m = answers.mechanism
    driven = given.speed_names(m, m.speeds if inputs is None else inputs, "inputs")
    keep = given.names_of(independent)
    shown: list[str] = [*m.coordinates, *m.speeds] if outputs is None else list(given.names_of(outputs))
    law = feedback_law(answers, control)
    count = count_samples(answers, q, u, tau, t, parameters)
    if count:
        if udot is not None:
            raise InputError("udot in place of tau is for one state at a time\n    fix: give tau of all states")
        samples = gather_samples(answers, count, q, u, tau, t, parameters)
        many = _linearize_many(answers, samples, law, keep, driven, shown)
        return many.without(many.ignorable if ignore is True else ignore) if ignore else many
    answers = answers.with_parameters(parameters)
    q0, u0 = told_start(answers, q, u, t)
    loop = None
    if law is not None:
        if udot is not None:
            raise InputError("udot and a control law both say what acts\n    fix: give one of them")
        efforts, *loop = (
            x[0] for x in efforts_of(answers, law)(np.array([float(t)]), q0[None], u0[None], answers.values)
        )
        tau = given.start(m, "tau", tau) + efforts
    at, first = _operating_point(answers, t, q0, u0, tau, udot, driven)
    positions = _positions(answers, at)
    for name in keep:
        given.require_known(m, "coordinate or speed", name, dict.fromkeys((*positions.names, *m.speeds)), "independent")
    motion = linearize_independent(first, positions, at, keep, m.speeds)
    motion = motion if loop is None else close_loop(motion, *loop)
    columns = [m.speeds.index(s) for s in driven]
    C, D = _outputs(answers, shown, at, motion)
    found = Linearization(
        m.name,
        at,
        motion.states,
        driven,
        tuple(shown),
        motion.A,
        motion.B[:, columns],
        C,
        D[:, columns],
        motion.rates,
        (*m.coordinates, *m.speeds),
        np.vstack([motion.Q, motion.U]),
        sum(name in positions.names for name in motion.states),
        _unsteady_names(answers, *(x[None] for x in (at.u, first.value["qdot"], at.udot, motion.A)))[0],
        _dry_friction(answers, first.value["qdot"][None], answers.values)[0],
    )
    return found.without(found.ignorable if ignore is True else ignore or ())


def _linearize_many(
    answers: Answers, s: Samples, law: Any, keep: Sequence[str], driven: tuple[str, ...], shown: Sequence[str]
) -> Linearizations:
    """Linearizations at samples."""
    m = answers.mechanism
    tangents, turns = tangents_of(answers), _turns(answers)

    def tangent(t: Any, *arrays: Array) -> Sequence[Array]:
        values = s.values if s.values.ndim == 1 else np.repeat(s.values, len(arrays[0]) // len(s.t), axis=0)
        return tangents(t, tuple(a for a in arrays if a.shape[-1]), values)

    programs = BatchPrograms(tangent, turns, None if law is None else efforts_of(answers, law))
    for name in keep:
        names = dict.fromkeys((*position_names(m), *m.speeds))
        given.require_known(m, "coordinate or speed", name, names, "independent")
    at, motion, positions = linearize_samples(answers, s, programs, keep)
    C, D = _outputs(answers, shown, at, motion, s.values)
    columns = [m.speeds.index(name) for name in driven]
    shape = np.concatenate([motion.Q, motion.U], axis=1)
    count = sum(name in positions for name in motion.states)
    matrices = (motion.A, motion.B[:, :, columns], C, D[:, :, columns], motion.rates)
    qdot = np.asarray(answers.answer("kinematics")(s.t[:, None], (s.q, s.u), s.values))
    running = _unsteady_names(answers, at.u, qdot, at.udot, motion.A)
    named = (m.name, at, motion.states, driven, tuple(shown))
    rubbing = _dry_friction(answers, qdot, s.values)
    return Linearizations(*named, *matrices, (*m.coordinates, *m.speeds), shape, count, running, rubbing)


def _dry_friction(answers: Answers, qdot: Array, values: Array) -> tuple[tuple[tuple[str, float], ...], ...]:
    """(joint, damping) of joints at rest with smoothed dry friction, for each of the rates (k, n_q) of coordinates and
    values of the free parameters, (p,) or (k, p)."""
    m = answers.mechanism
    several = [joint_losses(m, row.tolist()) for row in np.atleast_2d(values)]
    each = several if values.ndim == 2 else several * len(qdot)
    return tuple(dry_friction_at_rest(m, losses, x) for losses, x in zip(each, qdot.tolist(), strict=True))


def equilibrium(
    answers: Answers,
    q: Any = None,
    tau: Any = None,
    *,
    control: ControlLaw | None = None,
    hold: Iterable[str] = (),
    efforts: Iterable[str] = (),
    t: float = 0.0,
    parameters: Any = None,
    strict: bool = True,
) -> Steady:
    """A state at rest that stays at rest, sought from the guess q; see `trim`.

    With `control`, as `linearize` takes it, the loop is closed: efforts of the law act on top of tau, and rest is where
    these balance the loads. A law that changes with time has no rest and is refused.

    >>> m = kane.load("double-pendulum")
    >>> abs(m.equilibrium([0.1, 0.2]).q).round(6).tolist()
    [0.0, 0.0]
    """
    m = answers.mechanism
    law = feedback_law(answers, control)
    found = _seek_steady(
        answers,
        q,
        np.zeros(len(m.speeds)),
        tau,
        hold=[*given.names_of(hold), *m.speeds],
        efforts=efforts,
        t=t,
        parameters=parameters,
        strict=strict,
        law=law,
    )
    if law is not None:
        refuse_efforts_in_time(answers.with_parameters(parameters), law, found)
    return found


def trim(
    answers: Answers,
    q: Any = None,
    u: Any = None,
    tau: Any = None,
    *,
    unknowns: Iterable[str] | None = None,
    hold: Iterable[str] = (),
    efforts: Iterable[str] = (),
    steady: Iterable[str] | None = None,
    t: float = 0.0,
    parameters: Any = None,
    strict: bool = True,
) -> Steady:
    """A steady motion: the constraints hold, and nothing that matters changes.

    q, u and tau are the guess, arrays or mappings; what a mapping of q or u names stays, and so does what `hold`
    names. `unknowns` are the coordinates and speeds to be found (default: all that do not stay), `efforts` speeds
    along which efforts are found too; other efforts are tau (default zero). `steady` says what does not change:
    coordinates (their first and second rates vanish), speeds, or expressions in both, rates of coordinates among
    them (default: all speeds, and all coordinates that the equations of motion contain). Newton's method finds the
    unknowns; where it finds none it refuses with the residuals by name or, not `strict`, gives where it ended.

    >>> m = kane.load("pendulum")
    >>> round(m.trim({"q": "90*deg"}, [0], efforts=["u"])["tau_u"], 6)
    9.81
    """
    return _seek_steady(
        answers,
        q,
        u,
        tau,
        unknowns=unknowns,
        hold=hold,
        efforts=efforts,
        steady=steady,
        t=t,
        parameters=parameters,
        strict=strict,
    )


def _seek_steady(
    answers: Answers,
    q: Any,
    u: Any,
    tau: Any,
    *,
    hold: Iterable[str],
    efforts: Iterable[str],
    t: float,
    parameters: Any,
    strict: bool,
    unknowns: Iterable[str] | None = None,
    steady: Iterable[str] | None = None,
    law: Any = None,
) -> Steady:
    """See `trim`; with a control law its efforts act on top of tau."""
    answers = answers.with_parameters(parameters)
    m = answers.mechanism
    stays = {*given.names_of(hold), *held_names(q, u)}
    names = {**m.coordinate_records, **m.speed_records}
    for name in (*stays, *given.names_of(unknowns or ())):
        given.require_known(m, "coordinate or speed", name, names, "trim")
    sought = [name for name in names if name not in stays] if unknowns is None else list(given.names_of(unknowns))
    driven = given.speed_names(m, efforts, "efforts")
    q0, u0 = (given.start(m, what, x) for what, x in (("q", q), ("u", u)))
    tau0 = given.start(m, "tau", tau)
    labels, rates = _steady(answers, steady)
    search = Search(
        m.coordinates,
        m.speeds,
        m.row_names if m.constraints else (),
        tuple(i for i, c in enumerate(m.coordinates) if c in sought),
        tuple(i for i, s in enumerate(m.speeds) if s in sought),
        tuple(m.speeds.index(s) for s in driven),
        labels,
        rates,
        tuple(tuple(places) for places in quaternion_places(m).values()),
        _closure(answers, float(t), [i for i, c in enumerate(m.coordinates) if c not in sought]),
    )
    nothing = np.zeros(len(m.speeds)), np.zeros(len(search.rows))
    tangent = tangent_of(answers, law)
    found = solve(tangent, search, Operating(float(t), q0, u0, tau0, *nothing))
    if strict and not found.converged:
        missed = ", ".join(f"{name} {x:.3g}" for name, x in found.worst())
        free = ", ".join([*sought, *(f"tau_{s}" for s in driven)]) or "nothing"
        named = ", ".join(held_names(q, u))
        guess = f"; {named} stayed as given: names in a mapping are held, a list is a guess" if named else ""
        raise ModelError(
            Problem(
                m.where("trim"),
                f"no steady motion found from this start; residuals after {found.steps} steps: {missed}",
                "in a steady motion efforts balance, constraints hold and the rates of steady quantities are zero",
                f"hold fewer values or ask for fewer steady ones (unknowns were {free}{guess}),"
                " or start from a closer guess",
            )
        )
    return found


# parts -------------------------------------------------------------------------------------------------------


def _operating_point(
    answers: Answers, t: float, q: Array, u: Array, tau: Any, udot: Any, driven: Sequence[str]
) -> tuple[Operating, FirstOrder]:
    """The state with its accelerations and multipliers, and the first order of the equations there."""
    m = answers.mechanism
    if tau is not None and udot is not None:
        raise InputError("give the efforts tau or the accelerations udot, and the other follows")
    n = len(m.speeds)
    rows = len(m.row_names) if m.constraints else 0
    tau0 = given.start(m, "tau", tau)
    tangent = tangent_of(answers)
    rest = Operating(float(t), q, u, tau0, np.zeros(n), np.zeros(rows))
    sizes = row_sizes(answers) if rows else None
    still = first_order(tangent, rest, sizes)
    if udot is None:
        rates, reactions = accelerations(still, rest)
    else:
        rates = given.vector(m, "udot", udot, single=True)
        tau0 = _solve_efforts(answers, still, rates, driven)
        reactions = least_multipliers(still.A, still.M @ rates + still.value["F"] - tau0, still.sizes)
    at = Operating(float(t), q, u, tau0, rates, reactions)
    return at, first_order(tangent, at, sizes)


def _solve_efforts(answers: Answers, still: FirstOrder, udot: Array, driven: Sequence[str]) -> Array:
    """The least efforts along `driven` that produce udot, or a refusal."""
    m = answers.mechanism
    off = still.A @ udot + still.value["g"]
    if np.abs(off).max(initial=0.0) > _MISSED * (1.0 + np.abs(still.value["g"]).max(initial=0.0)):
        worst = m.row_names[int(np.argmax(np.abs(off)))]
        raise InputError(f"udot contradicts the constraint '{worst}', by {np.abs(off).max():.3g}")
    freed = Elimination.of(still.A, weights(still.M), sizes=still.sizes)
    assert freed is not None
    columns = [m.speeds.index(s) for s in driven]
    needed = freed.N.T @ (still.M @ udot + still.value["F"])
    least = np.linalg.lstsq(freed.N.T[:, columns], needed, rcond=None)[0]
    missing = np.abs(freed.N.T[:, columns] @ least - needed)
    if missing.max(initial=0.0) > _MISSED * (1.0 + np.abs(needed).max(initial=0.0)):
        worst = m.speeds[freed.choice.independent[int(np.argmax(missing))]]
        raise InputError(
            f"efforts along {', '.join(driven) or 'nothing'} cannot produce this udot: {missing.max():.3g} is "
            f"missing along '{worst}'\n    fix: name more speeds in inputs, or give tau"
        )
    tau = np.zeros(len(udot))
    tau[columns] = least
    return tau


def _closure(answers: Answers, t: float, held: Sequence[int]) -> Callable[[Array], Array]:
    """q moved onto the constraints, some coordinates staying; as it was, once that has failed."""
    possible = True

    def close(q: Array) -> Array:
        nonlocal possible
        try:
            return close_configuration(answers, q, t, held) if possible else q
        except ModelError:
            possible = False
            return q

    return close


def _unsteady_names(answers: Answers, u: Array, qdot: Array, udot: Array, A: Array) -> tuple[tuple[str, ...], ...]:
    """Coordinates and speeds that matter and change, for each of the samples (k, …): what is not steady there."""
    m = answers.mechanism
    felt = np.isin(m.coordinates, answers.make_once(("relevant",), lambda: _relevant_coordinates(answers)))
    size = _MISSED * (1.0 + np.abs(u).max(axis=1, initial=0.0, keepdims=True))
    moving = (np.abs(qdot) > size) & felt
    size = size + _MISSED * np.abs(A).max(axis=(1, 2), initial=0.0)[:, None]  # of a state known to that many digits
    changes = np.concatenate([moving, np.abs(udot) > size], axis=1)
    names = (*m.coordinates, *m.speeds)
    found: list[tuple[str, ...]] = [()] * len(changes)
    for k, i in zip(*(places.tolist() for places in np.nonzero(changes)), strict=True):
        found[k] += (names[i],)
    return tuple(found)


def _outputs(
    answers: Answers, shown: Sequence[str], at: Operating, motion: FirstOrderMotion, values: Array | None = None
) -> tuple[Array, Array]:
    """(C, D over all speeds) of outputs by name or expression, (…, outputs, states) and (…, outputs, n); at samples
    where the states are arrays (k, …), with the values of parameters there."""
    m, lead = answers.mechanism, motion.A.shape[:-2]
    C = np.zeros((*lead, len(shown), len(motion.states)))
    D = np.zeros((*lead, len(shown), len(m.speeds)))
    others: list[int] = []
    for row, name in enumerate(shown):
        if name in m.coordinates:
            C[..., row, :] = motion.Q[..., m.coordinates.index(name), :]
        elif name in m.speeds:
            C[..., row, :] = motion.U[..., m.speeds.index(name), :]
        elif name.endswith("'") and name[:-1] in m.speeds:
            place = m.speeds.index(name[:-1])
            C[..., row, :], D[..., row, :] = motion.Udot[..., place, :], motion.Tau[..., place, :]
        else:
            others.append(row)
    if others:
        rates = _rates(answers, [shown[row] for row in others], "outputs", values)
        s, n = len(motion.states), len(m.speeds)
        along = [x.swapaxes(-1, -2).reshape(-1, x.shape[-2]) for x in (motion.Q, motion.U)]
        each = [np.repeat(np.atleast_2d(x), s, axis=0) for x in (at.q, at.u, at.udot)]
        t = np.repeat(np.broadcast_to(np.ravel(at.t), (len(each[0]) // s,)), s)[:, None]
        _, _, changes, _ = rates(t, *each, *along, np.zeros((len(t), n)))
        C[..., others, :] = np.asarray(changes).reshape(*lead, s, len(others)).swapaxes(-1, -2)
    return C, D


def position_names(mechanism: Mechanism) -> tuple[str, ...]:
    """Names of the perturbations of a configuration."""
    still = np.zeros((len(quaternion_places(mechanism)), 4, 3))
    return Positions.of(mechanism.coordinates, list(quaternion_places(mechanism).items()), still, still).names


def _turns(answers: Answers) -> ProgramAnswer | None:
    """How quaternions follow rotations, compiled; None where there is none."""
    if not quaternion_places(answers.mechanism):
        return None
    return answers.compile_once("turns", lambda: _require_program(turns_program(answers.fresh_equations())))


def _positions(answers: Answers, at: Operating) -> Positions:
    m, turns = answers.mechanism, _turns(answers)
    if turns is None:
        none = np.zeros((0, 4, 3))
        return Positions.of(m.coordinates, [], none, none)
    E, Edot = turns(at.t, (at.q, at.u), answers.values)
    return Positions.of(m.coordinates, list(quaternion_places(m).items()), E, Edot)


def _relevant_coordinates(answers: Answers) -> tuple[str, ...]:
    """Coordinates that the equations of motion contain and that change them in states where nothing is special: the
    angle of a wheel may stand in the equations of a SymPy script, and cancel."""
    m = answers.mechanism
    program, rng = tangents_of(answers).program, np.random.default_rng(0)
    names, felt = coordinates_in_equations(program), set[str]()
    if not _PIECEWISE.isdisjoint(row.op for row in program.rows):
        return names  # a stop is felt in some states only
    for _ in range(_PROBES):
        q, u = (x + rng.uniform(0.1, 0.5, len(x)) for x in (given.initial(m, w) for w in "qu"))
        udot, reactions = rng.normal(size=len(u)), rng.normal(size=len(m.row_names))
        try:
            slopes = first_order(tangent_of(answers), Operating(0.0, q, u, np.zeros(len(u)), udot, reactions)).by_q
        except SingularError:
            return names
        for key in ("F", "g", "rate"):
            size = np.abs(slopes[key]).max(axis=0, initial=0.0)
            felt |= {c for c, x in zip(m.coordinates, size, strict=True) if x > _MISSED * (1.0 + size.max())}
    return tuple(name for name in names if name in felt)


def _rates(
    answers: Answers, expressions: Sequence[str], what: str, values: Array | None = None
) -> Callable[..., Sequence[Array]]:
    with answers.cache.lock:  # texts become part of the graph of the description
        m = answers.mechanism
    exprs = [m.scalar(e, f"{what} / {e}", MotionNames(m)) for e in expressions]
    answer = answers.compile_once(("rates", *expressions), lambda: rates_program(answers.fresh_equations(), exprs))

    def rates(t: Any, *arrays: Any) -> Sequence[Array]:
        known = answers.values if values is None else values
        return answer(t, arrays, known if known.ndim == 1 else np.repeat(known, len(arrays[0]) // len(known), axis=0))

    return rates


def _steady(answers: Answers, wanted: Iterable[str] | None) -> tuple[tuple[str, ...], Callable[..., Sequence[Array]]]:
    """Expressions whose rates vanish in a steady motion, and their rates."""
    m = answers.mechanism
    if wanted is None:
        expressions = [*_relevant_coordinates(answers), *m.speeds]
    else:
        expressions = [e for w in given.names_of(wanted) for e in ((w, f"{w}'") if w in m.coordinate_records else (w,))]
    if not expressions:
        return (), lambda *_: ()
    return tuple(expressions), _rates(answers, expressions, "steady")


def _require_program(program: Program | None) -> Program:
    assert program is not None
    return program


__all__ = ["equilibrium", "linearize", "trim"]
