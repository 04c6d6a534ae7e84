"""A page simulates what a native run does: the same loops, translated once more, from the same memory."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import kane
import node
from kane.simulate.compiled import portable

SECONDS, STEP = 2.0, 1e-3

ROUNDING = 1e-12
"""Of states of the size of 1 to 30 after 2000 steps, where something of it is computed by functions of the host."""

LONG, LONG_ROUNDING = 10.0, 1e-9
"""A long time (s), after which chaotic motions have nothing in common unless every bit was the same."""

BLOWN_UP = 100.0
"""Times the energy at the start, to which speeds that are ten times as large lead: a page goes back to less."""

SAME_BITS = [
    "pendulum",
    "double-pendulum",
    "ur5",
    "iiwa",
    "parallelogram",
    "five-bar",
    "stewart-platform",
    "stick-slip",
]
"""Models whose motions are computed with the four operations, roots, sines and cosines alone; some of them chaotic."""

STEPPED_OVER, STEPPED = ("spheres-in-box",), 5e-3
"""Models whose contacts are so many that a page steps over them, in steps of that length (s)."""

FREE = ["pendulum", "cart-pole", "double-pendulum", "stanford-arm", "free-body", "spinning-top", "ur5"]
CONSTRAINED = ["rolling-disc", "four-bar", "stewart-platform", "whipple-bicycle", "bricard"]
CHANGING = ["bouncing-ball", "stick-slip", "shopping-cart", "piano-key", "woodpecker"]


@pytest.mark.parametrize("name", [*FREE, *CONSTRAINED, *CHANGING])
def test_a_page_moves_as_a_native_run_does(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    path = m.page(tmp_path / "page.html", step=STEP)
    (found,) = node.live_states([(path, SECONDS)])
    run = m.simulate(SECONDS, method="rk4", step=STEP)
    assert run.outcome.success and found["stopped"] == ""
    assert found["t"] == SECONDS
    assert np.abs(run.q[-1] - found["q"]).max() <= ROUNDING * max(1.0, np.abs(run.q[-1]).max())
    assert np.abs(run.u[-1] - found["u"]).max() <= ROUNDING * max(1.0, np.abs(run.u[-1]).max())
    assert np.abs(m.poses(run.q[-1], t=SECONDS).ravel() - found["poses"]).max() <= 10 * ROUNDING
    energy = m.energy(run.q[-1], run.u[-1])
    assert found["energy"]["kinetic"] == pytest.approx(energy.kinetic, rel=1e-9, abs=1e-9)


def test_a_fall_that_blows_up_ends_in_the_last_state_before(tmp_path: Path) -> None:
    """A bicycle whose wheels come to lie flat, where rolling has no value: a page stays as it was shortly before."""
    m = kane.load("whipple-bicycle")
    path = m.page(tmp_path / "page.html", u={"ux": 1.5, "uroll": 0.5}, step=STEP)
    (found,) = node.live_states([(path, LONG)])
    assert "cannot follow the motion" in found["stopped"] and "fix: shorter steps" in found["stopped"]
    assert 1.0 < found["t"] < LONG and f"{found['t']:.6g}"[:4] in found["stopped"]
    assert np.all(np.isfinite(found["q"] + found["u"] + found["poses"]))
    start = m.energy(*m.project(None, {"ux": 1.5, "uroll": 0.5}))
    assert found["energy"]["kinetic"] < BLOWN_UP * start.total


@pytest.mark.parametrize("name", SAME_BITS)
def test_every_bit_of_a_page_is_that_of_a_native_run(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    path = m.page(tmp_path / "page.html", step=STEP)
    run = m.simulate(SECONDS, method="rk4", step=STEP)
    for fused in ("instruction", "function"):
        (found,) = node.live_states([(path, SECONDS)], fused)
        assert found["q"] == run.q[-1].tolist() and found["u"] == run.u[-1].tolist(), fused


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in kane.models() if name not in STEPPED_OVER])
def test_every_built_in_model_moves_in_a_page_as_natively(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    (found,) = node.live_states([(m.page(tmp_path / "page.html", step=STEP), LONG)])
    run = m.simulate(LONG, method="rk4", step=STEP)
    assert found["t"] == run.t[-1]
    for native, page in ((run.q[-1], found["q"]), (run.u[-1], found["u"])):
        assert np.abs(native - page).max() <= LONG_ROUNDING * max(1.0, np.abs(native).max())
    assert [x["cause"] for x in found["transitions"]] == [x.cause for x in run.transitions]


def same_by_steps(m: kane.Model, path: Path, seconds: float, step: float) -> None:
    """Every bit of a page that steps over contacts is that of the native run, and so are transitions."""
    (found,) = node.live_states([(path, seconds)])
    run = m.simulate(seconds, contacts="stepping", step=step)
    assert run.outcome.success and found["stopped"] == "" and found["t"] == seconds
    assert found["q"] == run.q[-1].tolist() and found["u"] == run.u[-1].tolist()
    told = [(x["t"], x["cause"]) for x in found["transitions"]]
    assert told == [(x.t, x.cause) for x in run.transitions] and len(told) > 1
    assert found["states"] == list(run.transitions[-1].mode.values())


@pytest.mark.parametrize("name", ["bouncing-ball", "four-bar-stop"])
def test_a_page_steps_over_contacts_as_a_native_run_does(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    same_by_steps(m, m.page(tmp_path / "page.html", contacts="stepping", step=2e-3), SECONDS, 2e-3)


def test_sums_over_many_contacts_have_one_order_everywhere(tmp_path: Path) -> None:
    """Nine contacts of balls in a corner are solved by sweeps, whose long sums are of several terms at a time."""
    m, ball = kane.Model("corner", gravity=(0, 0, -9.81)), {"sphere": 0.05}
    for k in range(3):
        m.body(f"ball{k}", mass=0.5 + 0.1 * k, inertia=dict.fromkeys(("xx", "yy", "zz"), 5e-4))
        place = (0.06, 0.07 + 0.01 * k, 0.06 + 0.11 * k)
        m.joint(f"free{k}", "free", "ground", f"ball{k}", velocity="parent", initial=[1, 0, 0, 0, *place])
        for axis in "xyz":
            m.contact(f"{axis}{k}", f"ball{k}", "ground", shape=ball, surface={"plane": axis}, friction=0.3)
    for k in range(2):
        m.contact(f"pair{k}", f"ball{k + 1}", f"ball{k}", shape=ball, surface=ball, friction=0.3)
    m.load("push", kane.Force("ball0", (-20, -20, 0)))
    same_by_steps(m, m.page(tmp_path / "page.html", contacts="stepping"), 1.0, STEPPED)


@pytest.mark.long
@pytest.mark.parametrize("name", STEPPED_OVER)
def test_many_contacts_have_a_page_that_moves_as_natively(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    path = m.page(tmp_path / "page.html")
    assert path.stat().st_size < 1e6
    same_by_steps(m, path, 3.0, STEPPED)


def test_a_motion_that_needs_more_memory_than_there_is_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kane.simulate.live.LARGEST", 10 * 2**20)
    with pytest.raises(kane.InputError, match=r"0\.\d GB of memory.*\n.*recorded motion"):
        kane.load("box-on-incline").page(tmp_path / "page.html")


@pytest.mark.parametrize("name", CHANGING)
def test_transitions_in_a_page_are_those_of_a_native_run(name: str, tmp_path: Path) -> None:
    m = kane.load(name)
    (found,) = node.live_states([(m.page(tmp_path / "page.html", step=STEP), SECONDS)])
    run = m.simulate(SECONDS, method="rk4", step=STEP)
    assert [x["cause"] for x in found["transitions"]] == [x.cause for x in run.transitions]
    times = np.array([[x["t"], y.t] for x, y in zip(found["transitions"], run.transitions, strict=True)])
    assert np.abs(times[:, 0] - times[:, 1]).max() <= 1e-9  # s; where a function crosses zero at a small angle
    assert found["states"] == list(run.transitions[-1].mode.values())


def test_free_parameters_are_those_of_the_model(tmp_path: Path) -> None:
    m = kane.load("pendulum", free=["L"])
    (found,) = node.live_states([(m.page(tmp_path / "page.html", parameters={"L": 0.7}), 1.0)])
    run = m.simulate(1.0, method="rk4", step=STEP, parameters={"L": 0.7})
    assert abs(found["q"][0] - run.q[-1, 0]) <= ROUNDING
    assert abs(run.q[-1, 0] - m.simulate(1.0, method="rk4", step=STEP).q[-1, 0]) > 0.01


def test_control_laws_go_along(tmp_path: Path) -> None:
    m = kane.load("stanford-arm")
    (found,) = node.live_states([(m.page(tmp_path / "page.html", control="feedback"), SECONDS)])
    run = m.simulate(SECONDS, method="rk4", step=STEP, control="feedback")
    assert np.abs(run.q[-1] - found["q"]).max() <= ROUNDING


def test_a_python_function_cannot_go_along(tmp_path: Path) -> None:
    with pytest.raises(kane.InputError, match="Python function"):
        kane.load("pendulum").page(tmp_path / "page.html", control=lambda t, q, u: [0.0])
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_page_is_refused(tmp_path: Path) -> None:
    with pytest.raises(kane.KaneError, match="html"):
        kane.load("pendulum").page(tmp_path / "page.pdf")


def test_loops_that_come_with_the_package_need_no_translation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = portable.loop_module("watch", 4096)
    code = portable.translate_loop("watch")
    (tmp_path / portable.SHIPPED).mkdir()
    (tmp_path / portable.SHIPPED / "watch.wasm.gz").write_bytes(gzip.compress(code))
    key = tmp_path / portable.SHIPPED / portable.KEY
    monkeypatch.setattr(portable.resources, "files", lambda _: tmp_path)
    monkeypatch.setattr(portable.cache, "load", lambda *_: None)
    translated: list[str] = []
    monkeypatch.setattr(portable, "translate_loop", lambda name: translated.append(name) or code)
    monkeypatch.setattr(portable.cache, "save", lambda *_: None)
    key.write_text(portable.shipped_key())
    assert portable.loop_module("watch", 4096).code == made.code and translated == []
    key.write_text("of other sources")
    assert portable.loop_module("watch", 4096).code == made.code and translated == ["watch"]
    key.write_text(portable.shipped_key())
    (tmp_path / portable.SHIPPED / "watch.wasm.gz").write_bytes(b"damaged")
    portable.loop_module("watch", 4096)
    assert translated == ["watch", "watch"]
