"""A run that is stopped goes on from what was kept of it, to the bits of a run that nobody stopped.

In-process, an interrupt comes between any two chunks of the loop; processes that are killed are in
`unit/cli/test_killed_runs.py`.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.errors import InputError, WritingError
from kane.simulate import Control, integrate
from kane.simulate import checkpoints as kept
from kane.simulate.checkpoints import Checkpoints
from unit.simulate.systems import kepler, van_der_pol

CHUNK = 2  # steps between two moments at which a run may be interrupted


def balls() -> kane.Model:
    """Three balls that fall on each other."""
    m = kane.Model("balls", gravity=(0, 0, -9.81))
    for k in range(3):
        m.body(f"ball{k}", mass=0.5, inertia=dict.fromkeys(("xx", "yy", "zz"), 5e-4))
        start = [1, 0, 0, 0, 0.01 * k, 0, 0.1 + 0.12 * k]
        m.joint(f"free{k}", "free", "ground", f"ball{k}", velocity="parent", initial=start)
        m.contact(f"floor{k}", f"ball{k}", "ground", shape={"sphere": 0.05}, friction=0.3)
        for j in range(k):
            shapes: Any = {"shape": {"sphere": 0.05}, "surface": {"sphere": 0.05}}
            m.contact(f"pair{j}{k}", f"ball{k}", f"ball{j}", friction=0.3, **shapes)
    return m


def chain() -> kane.Model:
    """So many links that they are computed by recursion."""
    m, parent = kane.Model("chain", gravity=(0, 0, -9.81)), "ground"
    for k in range(40):
        m.body(f"link{k}", mass=1.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.1}, center=(0, 0, -0.1))
        at = (0, 0, -0.2 if k else 0)
        m.joint(f"pin{k}", "revolute", parent, f"link{k}", axis="x", at=at, coordinates=[f"q{k}"], initial=[0.1])
        parent = f"link{k}"
    return m


def rubbing() -> kane.Model:
    """A double pendulum with friction in its joints that is stiff where they come to rest."""
    m = kane.load("double-pendulum")
    for joint, u in zip(m.joints, ("u1", "u2"), strict=True):
        m.load(f"{joint} friction", kane.Effort(joint, f"-20*{u}/sqrt({u}**2 + 1e-6)"))
    return m


def latched() -> kane.Model:
    """Two joints, one of which is held for a while where it happens to be, while a block sticks to a belt and slips."""
    m = kane.load("double-pendulum")
    m.constrain("lock", kane.ConfigurationEquations("q2 = 0"), when="t - 0.3", duration=0.9)
    m.body("block", mass=1.0)
    m.joint("slide", "prismatic", "ground", "block", axis="x", coordinates=["x"], speeds=["v"])
    m.load("spring", kane.Effort("slide", "-25*x"))
    m.constrain("belt", kane.Friction("x' - 0.2", bound=2.0, static=1.5))
    return m


def puck() -> kane.Model:
    """Three feet that slip over a table in any direction, the body turning."""
    m = kane.Model("puck", gravity=(0, 0, -9.81))
    m.body("puck", mass=0.5, inertia=dict.fromkeys(("xx", "yy", "zz"), 1e-3))
    m.joint("free", "free", "ground", "puck", velocity="parent")
    for k in range(3):
        place = (0.1 * np.cos(2.1 * k), 0.1 * np.sin(2.1 * k), 0.0)
        m.contact(f"foot{k}", "puck", "ground", shape={"point": place}, friction=0.3)
    u = dict(zip(m.speeds, (0.0, 0.0, 3.0, 1.2, 0.9, 0.0), strict=True))
    m.set_initial(u)
    return m


MOTIONS: dict[str, tuple[Callable[[], kane.Model], Any, dict[str, Any]]] = {
    "free": (lambda: kane.load("double-pendulum"), np.linspace(0, 5, 40), {"events": {"up": "q1 - 0.1"}}),
    "becomes stiff": (rubbing, 3.0, {}),
    "every step": (lambda: kane.load("double-pendulum"), 5.0, {"method": "rk45"}),
    "fixed steps": (lambda: kane.load("pendulum"), 1.0, {"method": "rk4", "step": 1e-3}),
    "stiff": (lambda: kane.load("double-pendulum"), 2.0, {"method": "radau"}),
    "control": (lambda: kane.load("stanford-arm"), 1.0, {"control": "feedback"}),
    "steps in time": (lambda: kane.load("pendulum"), 3.0, {"control": {"u": "sign(t - 1) - 2*sign(t - 2)"}}),
    "loop": (lambda: kane.load("four-bar"), np.linspace(0, 3, 31), {}),
    "stiff loop": (lambda: kane.load("four-bar"), 0.5, {"method": "radau"}),
    "recursion": (chain, 3.0, {}),
    "impacts": (lambda: kane.load("bouncing-ball"), np.linspace(0, 2, 50), {}),
    "rocking": (lambda: kane.load("rocking-block"), 3.0, {}),
    "linkage with a stop": (lambda: kane.load("four-bar-stop"), 2.0, {}),
    "stiff impacts": (lambda: kane.load("four-bar-stop"), 1.5, {"method": "radau", "rtol": 1e-9}),
    "cart": (lambda: kane.load("shopping-cart"), np.linspace(0, 4, 41), {}),
    "switched": (latched, np.linspace(0, 2, 41), {}),
    "slips": (puck, 0.8, {"rtol": 1e-9}),
    "time stepping": (balls, 0.6, {"contacts": "stepping", "step": 2e-3}),
}


def assert_same_bits(first: kane.Trajectory, second: kane.Trajectory) -> None:
    for name in ("t", "q", "u", "tau", "work"):
        assert getattr(first, name).tobytes() == getattr(second, name).tobytes(), name
    assert str(first.outcome) == str(second.outcome)
    assert first.statistics == second.statistics
    if first.step_impulses is not None and second.step_impulses is not None:
        assert first.step_impulses.value.tobytes() == second.step_impulses.value.tobytes()
        assert first.step_impulses.end.tobytes() == second.step_impulses.end.tobytes()
    assert len(first.transitions) == len(second.transitions)
    for a, b in zip(first.transitions, second.transitions, strict=True):
        assert (str(a), dict(a.mode), a.possible) == (str(b), dict(b.mode), b.possible)
        assert a.t == b.t and a.u_after.tobytes() == b.u_after.tobytes()
        assert {n: x.tobytes() for n, x in a.impulse.items()} == {n: x.tobytes() for n, x in b.impulse.items()}
    for a, b in zip(first.events, second.events, strict=True):
        assert a.t.tobytes() == b.t.tobytes() and a.y.tobytes() == b.y.tobytes()


def run_in_pieces(name: str, path: Path) -> tuple[kane.Trajectory, list[float]]:
    """A motion that is interrupted again and again, and goes on each time, and the times (s) at which it was."""
    make, t, options = MOTIONS[name]
    rng, times, attempts = np.random.default_rng(5), list[float](), 40
    while True:
        left = int(rng.integers(1, max(2, attempts // (4 * CHUNK))))

        def stop(fraction: float) -> None:
            nonlocal left
            left -= 1
            if left == 0 and fraction < 1.0:
                raise KeyboardInterrupt

        # a new model each time, as in a new process
        run = make().simulate(t, **options, keep=path, chunk=CHUNK, progress=stop)
        if run.outcome.reason != "interrupt":
            return run, times
        assert path.exists()
        times.append(run.outcome.t)
        attempts = 2 * (run.statistics.steps + run.statistics.rejected)


@pytest.mark.parametrize(
    "name",  # the implicit method, loops and impacts are interrupted one by one too
    [pytest.param(n, marks=pytest.mark.long) if n in ("stiff loop", "stiff impacts") else n for n in MOTIONS],
)
def test_a_run_that_is_interrupted_again_and_again_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    make, t, options = MOTIONS[name]
    run, times = run_in_pieces(name, tmp_path / "run.resume")
    assert len(times) >= 2 and times == sorted(set(times)), "nothing was interrupted, or a run began anew"
    assert not list(tmp_path.iterdir())
    assert_same_bits(run, make().simulate(t, **options))


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("loop.h", "free"),
        ("loop.error", "free"),
        ("loop.y", "loop"),
        ("loop.k", "every step"),
        ("loop.grid", "fixed steps"),
        ("loop.h_before", "stiff"),
        ("loop.jacobian_matrix", "stiff"),
        ("loop.limited", "slips"),
        ("ahead", "steps in time"),
        ("program0.state", "rocking"),
        ("program0.offset", "switched"),
        ("program0.imposed", "switched"),
        ("program0.direction", "slips"),
        ("program0.speeds", "impacts"),
        ("program0.step_hit_impulse", "time stepping"),
    ],
)
def test_a_run_that_forgets_something_ends_otherwise(
    entry: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutation check of the test above: without what is kept of one thing, bits are others or nothing goes on."""
    read = Checkpoints.begin

    def forget(self: Checkpoints) -> dict[str, Any] | None:
        found = read(self)
        if found is not None:
            empty = found[entry][:0] if entry == "ahead" else np.zeros_like(found[entry])
            return found | {entry: empty}
        return None

    make, t, options = MOTIONS[name]
    whole = make().simulate(t, **options)
    monkeypatch.setattr(Checkpoints, "begin", forget)
    with pytest.raises((AssertionError, InputError)):
        assert_same_bits(run_in_pieces(name, tmp_path / "run.resume")[0], whole)


def interrupted_run(path: Path, **options: Any) -> kane.Trajectory:
    """A run that is stopped after its first chunk."""

    def stop(fraction: float) -> None:
        raise KeyboardInterrupt

    return kane.load("double-pendulum").simulate(20.0, keep=path, chunk=50, progress=stop, **options)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"rtol": 1e-7}, "rtol: 1e-08 there, 1e-07 here"),
        ({"method": "rk45"}, "method: 'auto' there, 'rk45' here"),
        ({"t": 21.0}, "times: 0 to 20 s"),
        ({"q": {"q1": 0.3}}, "start: "),
        ({"control": {"u1": "-u1"}}, "model: 'double-pendulum'"),
        ({"events": {"up": "q1"}}, "model: 'double-pendulum'"),
    ],
)
def test_what_was_kept_of_another_run_is_refused_by_name(change: dict[str, Any], named: str, tmp_path: Path) -> None:
    path = tmp_path / "run.resume"
    interrupted_run(path)
    before = path.read_bytes()
    options: dict[str, Any] = {"t": 20.0} | change
    with pytest.raises(InputError, match="is kept of another run") as caught:
        kane.load("double-pendulum").simulate(options.pop("t"), keep=path, **options)
    assert named in str(caught.value)
    assert path.read_bytes() == before


def test_what_was_kept_of_another_model_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "run.resume"
    interrupted_run(path)
    with pytest.raises(InputError, match=r"model: 'double-pendulum' \(\w+\) there, 'pendulum' \(\w+\) here"):
        kane.load("pendulum").simulate(20.0, keep=path)
    other = kane.load("double-pendulum")
    other.set_parameters(**{next(iter(other.parameters)): 0.77})
    with pytest.raises(InputError, match="is kept of another run"):
        other.simulate(20.0, keep=path)


@pytest.mark.parametrize("damage", ["cut", "empty", "words", "byte"])
def test_a_file_that_is_damaged_is_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "run.resume"
    interrupted_run(path)
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        {
            "cut": content[:middle],
            "empty": b"",
            "words": b"t,q1,q2\n",
            "byte": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        }[damage]
    )
    with pytest.raises(InputError, match="fix: begin anew"):
        kane.load("double-pendulum").simulate(20.0, keep=path)


def test_a_control_in_python_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nobody knows what the function remembers"):
        kane.load("pendulum").simulate(1.0, control=lambda t, q, u: -u, keep=tmp_path / "run.resume")


def test_a_place_that_takes_no_file_is_refused_before_the_run(tmp_path: Path) -> None:
    with pytest.raises(WritingError, match="there is no folder"):
        kane.load("pendulum").simulate(1.0, keep=tmp_path / "nowhere" / "run.resume")


def test_a_full_disk_stops_no_run_and_keeps_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, whole = tmp_path / "run.resume", kane.load("double-pendulum").simulate(20.0)
    interrupted_run(path)
    before = path.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez", full)
        with pytest.warns(RuntimeWarning, match=r"No space left(.|\n)*the run goes on; kept up to t = "):
            run = interrupted_run(path)
    assert run.outcome.reason == "interrupt" and path.read_bytes() == before
    assert_same_bits(kane.load("double-pendulum").simulate(20.0, keep=path), whole)


def test_a_signal_waits_for_a_moment_that_can_be_kept(tmp_path: Path) -> None:
    """Ctrl-C in a thread's shoes: a timer sends the signal while the loop is anywhere."""
    path, model = tmp_path / "run.resume", kane.load("double-pendulum")
    model.simulate(1.0)  # compiled
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    run = model.simulate(1e5, keep=path, max_steps=10**9)
    timer.join()
    assert run.outcome.reason == "interrupt" and run.outcome.t > 0.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with np.load(path) as file:
        assert float(file["loop.t"]) == run.outcome.t


def test_samples_of_a_control_and_looks_at_progress_are_kept(tmp_path: Path) -> None:
    """Of a function of the state alone, by the integrator itself."""
    law = Control(lambda t, y: [0.1 * np.sin(y[0])], 0.05)

    def motion(stop_at: int | None = None, **more: Any) -> Any:
        def stop(fraction: float) -> None:
            nonlocal stop_at
            stop_at = None if stop_at is None else stop_at - 1
            if stop_at == 0:
                raise KeyboardInterrupt

        return integrate(van_der_pol(), [2.0, 0.0], (0.0, 4.0), parameters=[1.0], control=law, progress=stop, **more)

    whole = motion()
    checkpoints = Checkpoints(tmp_path / "run.resume", {})
    first = motion(21, chunk=1, checkpoints=checkpoints)
    assert first.outcome.reason == "interrupt"
    second = motion(chunk=2, checkpoints=Checkpoints(tmp_path / "run.resume", {}))
    assert whole.y.tobytes() == second.y.tobytes() and whole.t.tobytes() == second.t.tobytes()
    assert whole.held is not None and second.held is not None
    assert whole.held.p.tobytes() == second.held.p.tobytes() and whole.statistics == second.statistics


def test_keeping_takes_a_small_part_of_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that takes long to write is written so much less often."""
    now = 0.0
    monkeypatch.setattr(kept.time, "perf_counter", lambda: now)
    written: list[float] = []

    def write(solution: Any) -> None:
        nonlocal now
        written.append(now)
        now += 0.5

    checkpoints = Checkpoints(tmp_path / "run.resume", {}, show=write)
    checkpoints.begin()
    while now < 100.0:
        now += 0.1
        checkpoints.look(lambda: {"loop.t": np.array(0.0)}, lambda: None)
    gaps = np.diff(written)
    assert len(written) >= 8 and np.all(gaps >= 0.5 / kept.SHARE)


def test_a_run_that_is_not_stopped_leaves_nothing(tmp_path: Path) -> None:
    whole = integrate(kepler(), [0.4, 0.0, 0.0, 2.0], (0.0, 5.0))
    other = integrate(kepler(), [0.4, 0.0, 0.0, 2.0], (0.0, 5.0), checkpoints=Checkpoints(tmp_path / "run.resume", {}))
    assert whole.y.tobytes() == other.y.tobytes() and not list(tmp_path.iterdir())
