"""Random trees under random constraints: embedding at run time, embedding at formulation and multipliers are one law.

Rows of motion are random combinations of the speeds and directions in which points may not move; loops are closed in a
random configuration, by every kind of joint, so that they are known to close. Multipliers are solved for in plain
numbers from M, bias and rows: M u̇ + bias = tau + Aᵀ λ, A u̇ = b.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kane import Model
from kane.api.answers import Answers, embedding_of
from kane.backends import compile
from kane.errors import ModelError
from kane.model import Distance, Loop, MotionEquations, PointOnLine, PointVelocity
from kane.model.attitude import unit_quaternions
from laws.trees import Plan, build, plans, rotation
from seeds import FIXED, examples

Array = NDArray[Any]

AGREE = 1e-9  # relative, of accelerations
CLOSED = 1e-11  # m or rad, and m/s or rad/s, times the size of the speeds
ENOUGH = 1e-6  # singular values of rows between this and REDUNDANT leave it open what depends on what
REDUNDANT = 1e-10
SAME = 1e-7  # of two motions over a short time at rtol 1e-10
SPEEDS = 7  # at most: elimination at formulation is written out, and compiled for every example
SEEDS = st.integers(0, 2**32 - 1)
LOOPS = ("weld", "revolute", "prismatic", "cylindrical", "universal", "spherical", "distance", "point on a line")


@dataclass(frozen=True)
class State:
    """A state on the constraints of a model, and efforts."""

    t: float
    q: Array
    u: Array
    tau: Array


def small(plan: Plan, speeds: np.random.Generator | None = None) -> Model:
    """The model of a plan, if it has few speeds; with `speeds`, with others than the usual."""
    model = build(plan, speeds)
    assume(len(model.speeds) <= SPEEDS)
    return model


def configuration(model: Model, rng: np.random.Generator) -> Array:
    """A random configuration with unit quaternions, which becomes the initial one."""
    q = unit_quaternions(model.mechanism, model.initial_state[0] + rng.uniform(-0.6, 0.6, len(model.coordinates)))
    model.set_initial(dict(zip(model.coordinates, q.tolist(), strict=True)))
    return q


def add_motion_rows(model: Model, rng: np.random.Generator, count: int, name: str = "row") -> None:
    """Equations in all speeds with coefficients that change with the configuration, and a drift."""
    for k in range(count):
        terms = [f"({rng.normal():.6f} + 0.2*sin({rng.choice(model.coordinates)}))*{u}" for u in model.speeds]
        model.constrain(f"{name}{k}", MotionEquations(f"{' + '.join(terms)} = 0.3*cos(t + {k})"))


def add_edges(model: Model, rng: np.random.Generator, count: int) -> None:
    """Points of bodies that cannot move in some direction, fixed in N, in the body or in another one."""
    bodies = list(model.bodies)
    for k in range(count):
        direction = rng.normal(size=3)
        options: dict[str, Any] = {"at": rng.normal(size=3).tolist(), "frame": str(rng.choice(["N", *bodies]))}
        model.constrain(
            f"edge{k}",
            PointVelocity(str(rng.choice(bodies)), (direction / np.linalg.norm(direction)).tolist(), **options),
        )


def close_loop(model: Model, q: Array, rng: np.random.Generator, kind: str, name: str) -> None:
    """A loop that is closed at q, t = 0, between two bodies, or the ground and one."""
    first, second = rng.choice(["ground", *model.bodies], 2, replace=False)
    first, second = (str(second), str(first)) if second == "ground" else (str(first), str(second))
    R, p = (np.eye(3), np.zeros(3)) if first == "ground" else model.at(first).pose(q)
    S, r = model.at(second).pose(q)
    P, turn = rng.normal(size=3), rotation(rng)
    first_at, second_at = (R.T @ (P - p)).tolist(), (S.T @ (P - r)).tolist()
    if kind == "distance":
        away = rng.normal(size=3)
        ends: dict[str, Any] = {"first_at": (R.T @ (P + away - p)).tolist(), "second_at": second_at}
        model.constrain(name, Distance(first, second, length=float(np.linalg.norm(away)), **ends))
    elif kind == "point on a line":
        model.constrain(
            name, PointOnLine(first, second, axis=(R.T @ turn[:, 0]).tolist(), first_at=first_at, second_at=second_at)
        )
    else:
        turns: dict[str, Any] = {
            "first_rotation": {"matrix": (R.T @ turn).tolist()},
            "second_rotation": {"matrix": (S.T @ turn).tolist()},
        }
        model.constrain(name, Loop(kind, first, second, first_at=first_at, second_at=second_at, **turns))


def clear(model: Model, q: Array) -> bool:
    """Whether the rows and the mass matrix say clearly what depends on what."""
    M = np.atleast_2d(model.mass_matrix(q))
    A = model.constraint_rows(q, np.zeros(len(model.speeds))).A / np.sqrt(np.diag(M))
    values = np.linalg.svd(A, compute_uv=False)
    share = values / (values[0] or 1.0)
    return np.linalg.cond(M) < 1e8 and not np.any((share > REDUNDANT) & (share < ENOUGH))


def moving(model: Model, q: Array, rng: np.random.Generator) -> State:
    """A state that satisfies the constraints, at t = 0."""
    u, tau = rng.normal(size=(2, len(model.speeds)))
    try:
        q, u = model.project(q, u)
    except ModelError:  # a drift along what cannot move
        assume(False)
    return State(0.0, q, u, tau)


def by_formulation(model: Model, s: State) -> Array:
    program = model.equations().program("forward_dynamics")
    groups = {"t": s.t, "q": s.q, "u": s.u, "tau": s.tau, "parameters": model.mechanism.free_values()}
    return np.asarray(compile(program)(*(groups[g.name] for g in program.inputs)))


def at_run_time(model: Model, s: State) -> Array:
    embedding = embedding_of(Answers(model.mechanism))
    return embedding.accelerations([s.t], s.q, s.u, s.tau, model.mechanism.free_values()).udot[0]


def by_multipliers(model: Model, s: State) -> Array:
    """u̇ from the symmetric system in u̇ and λ, speeds and rows measured so that all compare."""
    M, rows = np.atleast_2d(model.mass_matrix(s.q, t=s.t)), model.constraint_rows(s.q, s.u, t=s.t)
    f = s.tau - model.bias(s.q, s.u, t=s.t)
    n, size = len(f), 1 / np.sqrt(np.diag(M))
    A = rows.A * size
    lengths = np.linalg.norm(A, axis=1)
    lengths[lengths < REDUNDANT] = 1.0
    A = A / lengths[:, None]
    whole = np.block([[M * np.outer(size, size), A.T], [A, np.zeros((len(A), len(A)))]])
    x = np.linalg.lstsq(whole, np.concatenate([f * size, rows.b / lengths]), rcond=1e-12)[0]
    return x[:n] * size


def assert_one_law(model: Model, s: State) -> None:
    expected = by_multipliers(model, s)
    size = np.abs(expected).max() + 1.0
    assert np.abs(at_run_time(model, s) - expected).max() <= AGREE * size
    assert np.abs(by_formulation(model, s) - expected).max() <= AGREE * size
    assert np.abs(model.forward_dynamics(s.q, s.u, s.tau, t=s.t) - expected).max() <= AGREE * size


@settings(max_examples=examples(5), derandomize=FIXED)
@given(plans(size=3), SEEDS, st.booleans())
def test_three_ways_agree_under_motion_constraints(plan: Plan, seed: int, other_speeds: bool) -> None:
    rng = np.random.default_rng(seed)
    model = small(plan, rng if other_speeds else None)
    q = configuration(model, rng)
    rows = int(rng.integers(1, len(model.speeds) + 1))
    add_motion_rows(model, rng, rows // 2)
    add_edges(model, rng, rows - rows // 2)
    assume(clear(model, q))
    assert_one_law(model, moving(model, q, rng))


@settings(max_examples=examples(5), derandomize=FIXED)
@given(plans(size=3), SEEDS, st.lists(st.sampled_from(LOOPS), min_size=1, max_size=2))
def test_three_ways_agree_in_closed_loops(plan: Plan, seed: int, loops: list[str]) -> None:
    rng = np.random.default_rng(seed)
    model = small(plan)
    q = configuration(model, rng)
    for k, kind in enumerate(loops):
        close_loop(model, q, rng, kind, f"loop{k}")
    assert np.abs(model.constraint_rows(q, np.zeros(len(model.speeds))).phi).max() <= CLOSED
    assume(clear(model, q))
    assert_one_law(model, moving(model, q, rng))


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=3), SEEDS)
def test_redundant_rows_are_named_and_change_nothing(plan: Plan, seed: int) -> None:
    """A row said twice, and one that is the sum of two others, beside rows that are needed."""
    rng = np.random.default_rng(seed)
    model, again = small(plan), small(plan)
    n = len(model.speeds)
    assume(n >= 3)
    q = configuration(model, rng)
    again.set_initial(dict(zip(model.coordinates, q.tolist(), strict=True)))
    weights = rng.normal(size=(3, n)).round(6)
    equations = [" + ".join(f"({w})*{u}" for w, u in zip(row, model.speeds, strict=True)) for row in weights]
    for m in (model, again):
        m.constrain("needed", MotionEquations(equations[0]))
        m.constrain("pair", MotionEquations(equations[1:]))
    again.constrain("sum", MotionEquations(f"{equations[1]} + {equations[2]}"))
    assert model.freedom().rank == again.freedom().rank == 3
    assert model.freedom().degrees == again.freedom().degrees == n - 3
    assert model.freedom().redundant == ()
    assert again.freedom().redundant == ("pair.1", "pair.2", "sum")
    assert len(again.freedom().dependent) == 3
    s = moving(model, q, rng)
    assume(clear(model, q))
    assert_one_law(again, s)
    assert np.abs(at_run_time(model, s) - at_run_time(again, s)).max() <= AGREE * (1 + np.abs(s.tau).max() * n)


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=3, loads=()), SEEDS, st.sampled_from(LOOPS))
def test_projection_lands_on_the_constraints(plan: Plan, seed: int, kind: str) -> None:
    """From a guess nearby; what is there already stays, and so does what is held."""
    rng = np.random.default_rng(seed)
    model = small(plan)
    q = configuration(model, rng)
    close_loop(model, q, rng, kind, "loop")
    add_edges(model, rng, 1)
    assume(clear(model, q))
    guess = unit_quaternions(model.mechanism, q + rng.uniform(-0.02, 0.02, len(q)))
    u = rng.normal(size=len(model.speeds))
    there, moving_there = model.project(guess, u)
    rows = model.constraint_rows(there, moving_there)
    assert np.abs(rows.phi).max() <= CLOSED * (1 + np.abs(there).max())
    assert np.abs(rows.rate).max() <= CLOSED * (1 + np.abs(rows.A).max() * np.abs(u).max())
    once_more = model.project(there, moving_there)
    assert np.abs(once_more[0] - there).max() <= CLOSED * (1 + np.abs(there).max())
    assert np.abs(once_more[1] - moving_there).max() <= 100 * CLOSED
    free = model.freedom(there).independent
    if free:
        kept = model.project(there, u, hold=[free[0]])[1]
        k = model.speeds.index(free[0])
        assert abs(kept[k] - u[k]) <= CLOSED * (1 + abs(u[k]))


@settings(max_examples=examples(5), derandomize=FIXED)
@given(plans(size=3), SEEDS, st.sampled_from(LOOPS), st.booleans())
def test_multipliers_of_the_solve_are_those_of_the_reactions(plan: Plan, seed: int, kind: str, twice: bool) -> None:
    """By three other routes where they are determined; where a loop is closed twice, of least norm."""
    rng = np.random.default_rng(seed)
    model = small(plan)
    q = configuration(model, rng)
    state = rng.bit_generator.state
    close_loop(model, q, rng, kind, "loop")
    if twice:
        rng.bit_generator.state = state
        close_loop(model, q, rng, kind, "again")
    add_motion_rows(model, rng, 1)
    assume(clear(model, q))
    s = moving(model, q, rng)
    embedding, state = embedding_of(Answers(model.mechanism)), ([s.t], s.q, s.u, s.tau, model.mechanism.free_values())
    found = embedding.accelerations(*state)
    values, rows = embedding.multipliers(*state)[0], model.constraint_rows(s.q, s.u, t=s.t)
    g = model.inverse_dynamics(s.q, s.u, found.udot[0], t=s.t) - s.tau
    size = 1.0 + np.abs(g).max() + np.abs(values).max()
    assert np.abs(rows.A.T @ values - g).max() <= AGREE * size
    assert np.abs(values - np.linalg.pinv(rows.A.T, rcond=1e-9) @ g).max() <= 100 * AGREE * size
    for method in ("auxiliary", "multipliers", "complement"):
        others = model.reactions(s.q, s.u, s.tau, t=s.t, method=method).multipliers
        assert np.abs(values - others).max(initial=0.0) <= 100 * AGREE * size
    many = model.reactions(*(np.tile(x, (80, 1)) for x in (s.q, s.u, s.tau)), t=s.t).multipliers
    assert np.abs(many - values).max(initial=0.0) <= 100 * AGREE * size


@settings(max_examples=examples(4), derandomize=FIXED)
@given(plans(size=3), SEEDS, st.sampled_from(LOOPS))
def test_both_embeddings_give_one_motion(plan: Plan, seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    model = small(plan)
    q = configuration(model, rng)
    close_loop(model, q, rng, kind, "loop")
    add_motion_rows(model, rng, 1)
    assume(clear(model, q) and model.freedom(q).degrees > 0)
    s = moving(model, q, rng)
    runs = [
        model.simulate([0.0, 0.05, 0.1], q=s.q, u=s.u, tau=s.tau, embed=embed, rtol=1e-10, atol=1e-12)
        for embed in ("run-time", "formulation")
    ]
    assert all(run.outcome.success for run in runs)
    size = 1 + np.abs(runs[0].u).max()
    assert np.abs(runs[0].q - runs[1].q).max() <= SAME * size
    assert np.abs(runs[0].u - runs[1].u).max() <= SAME * size


# what cannot be ---------------------------------------------------------------------------------------------------


def four_bar(rocker: float = 0.4) -> Model:
    model = Model("linkage")
    for name, parent, at in (("crank", "ground", 0.0), ("coupler", "crank", 0.2), ("rocker", "ground", 0.5)):
        model.body(name, mass=1, inertia={"yy": 0.01, "zz": 0.01})
        model.joint(name, "revolute", parent, name, at=(at, 0, 0), coordinates=[name], speeds=[f"u_{name}"])
    model.set_initial({"crank": 1.0, "coupler": -0.6, "rocker": 1.5})
    model.constrain(
        "pin", Loop("revolute", "coupler", "rocker", first_at=(0.5, 0, 0), second_at=(rocker, 0, 0), rows=("x", "y"))
    )
    return model


@pytest.mark.parametrize("ask", ["project", "simulate"])
def test_a_loop_that_cannot_close_is_refused_with_the_gap(ask: str) -> None:
    """Bars of 0.2 and 0.5 m reach 0.7 m from the crank's pivot; a rocker of 1.5 m leaves 0.3 m open at best."""
    model = four_bar(rocker=1.5)
    with pytest.raises(ModelError) as raised:
        model.project() if ask == "project" else model.simulate((0.0, 1.0))
    text = str(raised.value)
    assert "model 'linkage'" in text and "'pin.x' by" in text and "cannot be closed" in text
    gaps = [float(x) for x in re.findall(r"'pin\.[xy]' by (\S+?)[, ]", text)]
    assert 0.299 < np.linalg.norm(gaps) < 0.4


def test_constraints_that_contradict_each_other_are_named_with_what_is_left() -> None:
    """x' = 1 and x' = 3 m/s: the least squares are 1 m/s off both."""
    model = Model("cart")
    model.body("cart", mass=1)
    model.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"])
    model.constrain("slow", MotionEquations("x' = 1"))
    model.constrain("fast", MotionEquations("x' = 3"))
    for ask in (lambda: model.project(), lambda: model.simulate((0.0, 1.0))):
        with pytest.raises(ModelError) as raised:
            ask()
        text = str(raised.value)
        assert "'slow' by 1" in text and "'fast' by -1" in text and "together" in text


def test_a_constraint_that_is_not_linear_in_the_speeds_is_refused_with_its_part() -> None:
    model = four_bar()
    with pytest.raises(ModelError) as raised:
        model.constrain("circle", MotionEquations("crank'**2 + rocker'**2 = 1"))
    text = str(raised.value)
    assert "constraint 'circle'" in text and "linear" in text and "crank'" in text


def test_more_constraints_than_speeds_leave_no_motion_and_say_so() -> None:
    """Rows that agree leave nothing to move; u̇ = 0 is the answer, not nan."""
    model = four_bar()
    model.constrain("stop", MotionEquations(["crank' = 0", "coupler' = 0", "rocker' = 0"]))
    freedom = model.freedom()
    assert freedom.degrees == 0 and freedom.independent == () and "no" in str(freedom)
    assert set(freedom.redundant) == {"pin.x", "pin.y", "stop.1", "stop.2", "stop.3"}
    q, u = model.project()
    assert np.abs(u).max() == 0.0
    assert np.abs(model.forward_dynamics(q, u, np.ones(3))).max() <= CLOSED
    for embed in ("run-time", "formulation"):
        run = model.simulate((0.0, 1.0), tau=[1.0, 0.0, 0.0], embed=embed)
        assert run.outcome.success and np.abs(run.q - q).max() <= CLOSED


def test_more_constraints_than_speeds_that_disagree_are_refused() -> None:
    model = four_bar()
    model.constrain("drives", MotionEquations(["crank' = 1", "rocker' = 5"]))
    with pytest.raises(ModelError) as raised:
        model.project()
    assert "'drives.1'" in str(raised.value) and "'drives.2'" in str(raised.value)
