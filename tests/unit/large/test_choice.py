"""Which form a model is computed in, and that nobody notices which it is."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import kane.api.answers
from kane import Model
from kane.errors import InputError, ModelError, SingularError
from kane.large import by_recursion
from kane.model import Effort, Force, JointSpring
from unit.large.mechanisms import Array, states, tree

AGREEMENT = 1e-10  # relative, two float64 codes
CLOSE = 1e-7  # of two simulations with rtol 1e-9 over a second of gentle motion


def swinging() -> Model:
    """A tree with a floating root, a quaternion further out, springs, an effort and a free parameter."""
    model = Model("swinging", gravity=[0.0, 0.0, -9.81])
    model.parameter("m", 2.0, free=True)
    kinds = ("free", "spherical", "revolute", "cylindrical", "gimbal", "planar")
    for k, kind in enumerate(kinds):
        inertia = {"xx": 0.02, "yy": 0.03, "zz": 0.04}
        model.body(f"b{k}", mass="m" if k == 2 else 1.0, center=[0.1, 0.0, 0.05], inertia=inertia)
        model.joint(f"j{k}", kind, f"b{(k - 1) // 2}" if k else "ground", f"b{k}", at=[0.3, 0.1 * k, 0.0])
    model.load("spring", JointSpring("j2", stiffness=4.0, damping=0.1, rest=0.2))
    model.load("drive", Effort("j3", "0.5*sin(3*t) - 0.1*u_j3_slide", index=1))
    return model


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> tuple[Model, Model]:
    """The same model written out and by recursion."""
    first, second = swinging(), swinging()
    monkeypatch.setattr(kane.api.answers, "by_recursion", lambda mechanism: mechanism is second.mechanism)
    return first, second


def held(ours: object, theirs: object) -> None:
    a, b = np.asarray(ours), np.asarray(theirs)
    assert a.shape == b.shape
    assert np.abs(a - b).max() <= AGREEMENT * max(1.0, np.abs(b).max())


def test_small_models_and_shallow_trees_are_written_out_and_large_ones_are_not() -> None:
    assert not by_recursion(tree(10).mechanism)
    assert not by_recursion(tree(90, 6).mechanism)
    assert by_recursion(tree(60).mechanism)
    assert by_recursion(tree(300, 6).mechanism)


def test_a_large_model_that_recursion_cannot_do_is_refused_with_the_reason() -> None:
    model = tree(200)
    model.load("push", Force("b199", [1.0, 0.0, 0.0]))
    with pytest.raises(ModelError, match=r"200 bodies are too many(.|\n)*load 'push': is a Force"):
        model.forward_dynamics(*(rows[0] for rows in states(model, 1, 0)))


def test_a_model_of_middling_size_that_recursion_cannot_do_is_written_out() -> None:
    model = tree(40)
    model.load("push", Force("b1", [1.0, 0.0, 0.0]))
    assert not by_recursion(model.mechanism)


@pytest.mark.parametrize("batch", [None, 1, 6])
def test_every_question_has_the_same_answer(both: tuple[Model, Model], batch: int | None) -> None:
    first, second = both
    q, u, x = states(first, batch or 1, 5)
    if batch is None:
        q, u, x = q[0], u[0], x[0]

    def ask(model: Model) -> list[Array]:
        energy, momentum = model.energy(q, u), model.momentum(q, u, about=[1.0, 2.0, 3.0])
        answers = [model.inverse_dynamics(q, u, x, t=0.4), model.forward_dynamics(q, u, x, t=0.4)]
        answers += [model.mass_matrix(q), model.bias(q, u, t=0.4), model.qdot(q, u), model.mass_center(q)]
        answers += [model.inertia(q), *model.momentum(q, u, about="center")]
        return [*answers, model.poses(q), energy.kinetic, energy.potential, momentum.linear, momentum.angular]

    for ours, theirs in zip(ask(second), ask(first), strict=True):
        held(ours, theirs)


def test_parameters_may_change(both: tuple[Model, Model]) -> None:
    first, second = both
    q, u, x = (rows[0] for rows in states(first, 1, 6))
    before = second.forward_dynamics(q, u, x)
    for model in both:
        model.forward_dynamics(q, u, x)
        model.set_parameters(m=5.0)
    after = second.forward_dynamics(q, u, x)
    held(after, first.forward_dynamics(q, u, x))
    assert np.abs(after - before).max() > 1e-3
    held(second.forward_dynamics(q, u, x, parameters=[2.0]), before)


@pytest.mark.parametrize("method", ["dop853", "radau"])
def test_a_motion_is_the_same_with_control_events_and_quaternions(both: tuple[Model, Model], method: str) -> None:
    control = {"j2": "-0.3*u_j2 + 0.2*cos(t)"}
    events = {"passes": "q_j2 - 0.1", "effort": "tau_u_j2 - 0.18", "written": "-0.3*u_j2 + 0.2*cos(t) - 0.18"}
    first, second = (
        model.simulate((0.0, 0.5), control=control, events=events, rtol=1e-9, method=method) for model in both
    )
    assert np.abs(first.q[-1] - second.q[-1]).max() <= CLOSE
    assert abs(first.work[-1] - second.work[-1]) <= CLOSE
    assert np.abs(first.tau[-1] - second.tau[-1]).max() <= CLOSE
    assert len(first.events[0].t) == len(second.events[0].t)
    for run in (first, second):
        assert len(run.events[1].t) and np.abs(run.events[1].t - run.events[2].t).max() <= CLOSE
    norms = np.linalg.norm(second.q[:, :4], axis=1)
    assert np.abs(norms - 1.0).max() <= 1e-14


def test_a_motion_of_a_large_tree_is_held_against_the_laws() -> None:
    """A floating chain without gravity: energy and all six components of momentum stay."""
    model = Model("chain in space")
    for k in range(60):
        model.body(f"b{k}", mass=1.0, center=[0.1, 0.0, 0.0], inertia={"xx": 0.01, "yy": 0.02, "zz": 0.02})
        model.joint(f"j{k}", "revolute" if k else "free", f"b{k - 1}" if k else "ground", f"b{k}", at=[0.2, 0.0, 0.0])
    _, u = model.initial_state
    report = model.simulate((0.0, 0.2), u=0.3 * np.cos(np.arange(len(u))), rtol=1e-10).check()
    assert report.passed, str(report)
    assert all(report.row(f"{what}·n{axis}").value is not None for what in "pH" for axis in "xyz")


def test_what_has_no_recursion_is_refused_for_a_large_tree() -> None:
    model = tree(200)
    with pytest.raises(ModelError, match="check: is not computed by recursion"):
        model.check()


def test_threads_share_a_model() -> None:
    """The workspace belongs to one caller at a time."""
    model = tree(60)
    samples = states(model, 8, 7)
    wanted = [model.forward_dynamics(*(rows[k] for rows in samples)) for k in range(8)]
    wrong: list[int] = []

    def ask(k: int) -> None:
        for _ in range(200):
            if not np.array_equal(model.forward_dynamics(*(rows[k] for rows in samples)), wanted[k]):
                wrong.append(k)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_sample_has_the_same_bits_alone_and_in_a_batch_on_many_threads() -> None:
    model = tree(80)
    q, u, x = states(model, 700, 8)  # enough for more than one thread
    together = model.forward_dynamics(q, u, x)
    assert all(np.array_equal(together[k], model.forward_dynamics(q[k], u[k], x[k])) for k in (0, 3, 399, 699))


def test_input_is_judged_as_ever() -> None:
    model = tree(60)
    q, u, x = (rows[0] for rows in states(model, 1, 9))
    with pytest.raises(InputError, match="shape"):
        model.forward_dynamics(q[:-1], u, x)
    u[17] = np.nan
    with pytest.raises(InputError, match="u_j17"):
        model.inverse_dynamics(q, u, x)


def test_a_state_without_a_finite_answer_is_refused_alone() -> None:
    model = tree(40)
    model.body("gimballed", mass=1.0)
    model.joint("lock", "gimbal", "b39", "gimballed", sequence="body 121")
    q, u, x = (rows[0] for rows in states(model, 1, 2))
    q[-3:] = 0.0
    with pytest.raises(SingularError):
        model.forward_dynamics(q, u, x)
