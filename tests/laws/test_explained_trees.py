"""What `explain` prints about random trees, read back: partial velocities are Jacobians, F_r + F_r* is zero."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kane
from kane.backends import compile
from laws.trees import Plan, build, plans
from seeds import FIXED, examples
from unit.explain.reading_back import equations, partial_velocities, read, section, with_Z

AGREE = 1e-9  # relative to the size of what is compared; three bodies, every joint, printed with 17 digits
LOADS = ("force", "torque", "pair of forces", "effort")


def letters(model: kane.Model, q: np.ndarray, u: np.ndarray) -> dict[str, float | np.ndarray]:
    """What the letters of a printed explanation stand for at a state, t = 0.4 s."""
    known: dict[str, float | np.ndarray] = {name: p.value for name, p in model.parameters.items()}
    known |= dict(zip(model.coordinates, q.tolist(), strict=True)) | dict(zip(model.speeds, u.tolist(), strict=True))
    for body, pose in zip(model.bodies, model.poses(q), strict=True):
        R = np.reshape(pose[:9], (3, 3))
        known |= {f"{body}.{x}": R[:, k] for k, x in enumerate("xyz")}
    return known | {f"N.{x}": np.eye(3)[k] for k, x in enumerate("xyz")} | {"t": 0.4}


def state(model: kane.Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A random state; quaternions are unit."""
    rng = np.random.default_rng(seed)
    q, u, udot = rng.uniform(0.3, 1.0, len(model.coordinates)), *rng.normal(size=(2, len(model.speeds)))
    for joint in model.joints.values():
        if joint.type.kind in ("spherical", "free"):
            k = model.coordinates.index(joint.coordinates[0].name)
            q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, u, udot


@settings(max_examples=examples(4), deadline=None, derandomize=FIXED)
@given(plans(loads=LOADS, size=3), st.integers(0, 2**31))
def test_printed_partial_velocities_are_the_compiled_jacobians(plan: Plan, seed: int) -> None:
    model = build(plan)
    text = model.explain(beside=None).to_text(digits=17)
    q, u, _ = state(model, seed)
    known = with_Z(text, letters(model, q, u) | {f"{s}'": np.nan for s in model.speeds} | _efforts(model, np.nan))
    table = partial_velocities(text)
    velocities = equations(section(text, "Angular velocities"))
    for body, plan_of in zip(model.bodies, plan.bodies, strict=True):
        J = model.at(body, plan_of.center.tolist()).jacobian(q)
        for label, rows in ((f"ω({body})", J[:3]), (f"v({body}*)", J[3:])):
            found = np.array([np.zeros(3) + read(table[label][s], known) for s in model.speeds]).T
            assert np.abs(found - rows).max() <= AGREE * (1 + np.abs(rows).max()), label
            whole = np.zeros(3) + read(velocities[label], known)
            assert np.abs(whole - rows @ u).max() <= AGREE * (1 + np.abs(rows).max() * np.abs(u).max()), label


@settings(max_examples=examples(4), deadline=None, derandomize=FIXED)
@given(plans(loads=LOADS, size=3), st.integers(0, 2**31))
def test_printed_equations_vanish_at_consistent_accelerations(plan: Plan, seed: int) -> None:
    model = build(plan)
    text = model.explain(beside=None).to_text(digits=17)
    q, u, udot = state(model, seed)
    tau = model.inverse_dynamics(q, u, udot, t=0.4)
    rates = {f"{s}'": x for s, x in zip(model.speeds, udot.tolist(), strict=True)}
    known = with_Z(text, letters(model, q, u) | rates | _efforts(model, tau))
    active = list(equations(section(text, "Generalized active")).values())
    inertia = list(equations(section(text, "Generalized inertia")).values())
    for line, F, F_star in zip(section(text, "Equations"), active, inertia, strict=True):
        size = 1 + abs(read(F, known))
        assert abs(read(line.partition(" = 0    [")[0], known)) <= AGREE * size
        assert abs(read(F, known) + read(F_star, known)) <= AGREE * size


@settings(max_examples=examples(4), deadline=None, derandomize=FIXED)
@given(plans(size=4), st.integers(0, 2**31))
def test_active_and_inertia_forces_are_opposite_and_programs(plan: Plan, seed: int) -> None:
    model = build(plan, np.random.default_rng(seed))
    q, u, udot = state(model, seed)
    tau = model.inverse_dynamics(q, u, udot, t=0.4)
    found = []
    e = model.equations()
    values = [[model.parameters[name].value for name in e.free]] if e.free else []
    for name, last in (("generalized_active_forces", tau), ("generalized_inertia_forces", udot)):
        program = e.program(name)
        time = [[0.4]] if program.inputs[0].name == "t" else []
        found.append(np.atleast_1d(compile(program, "interpret")(*time, q, u, last, *values)))
    assert np.abs(found[0] + found[1]).max() <= AGREE * (1 + np.abs(found[0]).max())


def test_nothing_that_is_zero_gets_a_Z_or_is_cited() -> None:
    """Panda's first joint is vertical, so no v_1 has a component along N.z; no Z of a partial velocity is zero in three
    states, and F_r* names T* and R* of a body where its ω_r and v_r, the columns of the Jacobian, are not zero."""
    model = kane.load("panda")
    explained = model.explain(beside=None)
    text = explained.to_text(digits=17)
    states = [state(model, seed) for seed in (1, 2, 3)]
    values = [
        with_Z(text, letters(model, q, u) | {f"{s}'": 1.0 for s in model.speeds} | _efforts(model, 1.0))
        for q, u, _ in states
    ]
    partial = [z.symbol.name for z in explained.Z if z.meaning[:2] in {f"{x}{r}" for x in "vω" for r in range(1, 8)}]
    assert len(partial) > 50
    sizes = {z: max(abs(known[z]) for known in values) for z in partial}
    assert min(sizes.values()) > AGREE, sizes
    centers = {name: [c.number or 0.0 for c in body.center] for name, body in model.mechanism.bodies.items()}
    for term in explained.inertia_forces:
        body = term.source.removeprefix("inertia of ")
        J = np.max(np.abs([model.at(body, centers[body]).jacobian(q) for q, *_ in states]), axis=0)
        for r, how in enumerate(term.how):
            assert (f"ω_{r + 1}({body}) · T*" in how) == bool(np.any(J[:3, r] > AGREE)), (body, how)
            assert (f"v_{r + 1}({body}*) · R*" in how) == bool(np.any(J[3:, r] > AGREE)), (body, how)


def _efforts(model: kane.Model, tau: np.ndarray | float) -> dict[str, float]:
    return {f"τ_{s}": x for s, x in zip(model.speeds, np.broadcast_to(tau, len(model.speeds)).tolist(), strict=True)}
