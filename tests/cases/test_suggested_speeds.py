"""Speeds that `suggest_speeds` finds by itself: never worse than u = q̇, as good as those of textbooks."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import kane
from cases.test_gillespie import wrist
from kane.analysis.speeds import SpeedChoice
from laws.trees import AXES, build, planned
from seeds import generator
from style.source import ROOT

SAME = 1e-9  # of accelerations by two choices of speeds, relative
KINDS = ("revolute", "prismatic", "gimbal", "spherical", "universal", "revolute", "revolute")


def top(free: bool = True) -> kane.Model:
    """A symmetric top on a fixed point, in three Euler angles."""
    m = kane.Model("top", gravity=(0, 0, "-g"))
    for name, value in {"g": 9.81, "m": 0.7, "h": 0.25, "It": 0.004, "Is": 0.002}.items():
        m.parameter(name, value, free=free)
    m.body("top", mass="m", center=(0, 0, "h"), inertia={"xx": "It", "yy": "It", "zz": "Is"})
    m.joint("tip", "gimbal", "ground", "top", sequence="body 313", coordinates=["q1", "q2", "q3"])
    return m


def tree_of_ten(seed: int) -> kane.Model:
    rng = generator(seed)
    kinds = [KINDS[int(k)] for k in rng.integers(len(KINDS), size=10)]
    return build(planned(rng, kinds, [AXES[int(rng.integers(6))] for _ in kinds], ["none"] * 10, []))


def operations(m: kane.Model, name: str) -> int:
    """Multiplications, divisions and additions of a program, counted here."""
    count = m.equations().count(name)
    return count["mul"] + count["div"] + count["add"]


MODELS = {
    "wrist": lambda: wrist(chosen=False),
    "top": top,
    "satellite": lambda: kane.load("satellite-with-panels"),
    "stanford-arm": lambda: kane.load("stanford-arm"),
    **{f"tree {seed}": (lambda seed=seed: tree_of_ten(seed)) for seed in (3, 11)},
    "shopping-cart": lambda: kane.load("shopping-cart"),
    "rolling-disc": lambda: kane.load("rolling-disc"),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_best_choice_is_never_worse_than_the_rates(name: str) -> None:
    m = MODELS[name]()
    plain = copy.copy(m)
    found = m.suggest_speeds(apply=True)
    assert set(found.rates.definitions.values()) == set(m.mechanism.motion_variables)
    if plain.mechanism.speeds_chosen:
        plain.set_speeds(dict(found.rates.definitions))
    for programs in (("forward_dynamics",), ("forward_dynamics", "kinematics")):
        assert sum(operations(m, p) for p in programs) <= sum(operations(plain, p) for p in programs)
    assert found.best.cost == operations(m, "forward_dynamics") + operations(m, "kinematics")
    assert [c.cost for c in found.choices] == sorted(c.cost for c in found.choices)
    assert not found.obstacle and found.tried >= len(found.choices)


def test_the_figures_of_the_page_are_measured() -> None:
    """The table of docs/explain.md: u = q̇ and what is found, as mul + add of u̇."""
    page = (ROOT / "docs" / "explain.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:4]] for line in page.splitlines() if line.startswith("| ")]
    figures = {label: (plain, best) for label, plain, best in rows if "+" in best}
    assert len(figures) == 5
    for label, said in figures.items():
        key = next(name for name in MODELS if label.startswith(name))
        found = MODELS[key]().suggest_speeds()
        assert said == tuple(f"{c.forward[0]} + {c.forward[1]}" for c in (found.rates, found.best)), label


def test_the_speeds_of_the_wrist_are_found() -> None:
    found = wrist(chosen=False).suggest_speeds()
    assert found.present.forward[:2] == (54, 28)
    assert list(found.best.definitions.values()) == ["w.C.x", "w.C.y", "w.C.z"]
    assert found.best.forward[0] <= 18 and found.best.forward[1] <= 10


def test_the_speeds_of_the_top_are_found() -> None:
    found = top().suggest_speeds()
    assert list(found.best.definitions.values()) == ["w.top.x", "w.top.y", "w.top.z"]
    assert found.best.forward[0] <= 10 and found.best.forward[1] <= 4


@pytest.mark.parametrize("name", ["top", "stanford-arm", "shopping-cart", "satellite"])
def test_applied_speeds_leave_start_and_motion_as_they_are(name: str) -> None:
    """Accelerations of a point of the last body, at the start, by both choices."""
    m = MODELS[name]()
    rng = generator(2)
    q = m.initial_state[0] if m.constraints or name == "satellite" else rng.uniform(0.3, 1.0, len(m.coordinates))
    start = dict(zip(m.coordinates, q.tolist(), strict=True))
    m.set_initial(start | dict(zip(m.speeds, rng.normal(size=len(m.speeds)).tolist(), strict=True)))
    q, u = m.project() if m.constraints else m.initial_state
    m.set_initial(dict(zip(m.speeds, u.tolist(), strict=True)) | dict(zip(m.coordinates, q.tolist(), strict=True)))
    other = copy.copy(m)
    found = other.suggest_speeds(apply=True)
    assert found.best is not found.present or name == "satellite"
    body = list(m.bodies)[-1]
    point = [0.1, 0.2, 0.3]
    seen = []
    for model in (m, other):
        q, u = model.initial_state
        udot = model.forward_dynamics(q, u, np.zeros(len(u)))
        place = model.at(body, point)
        seen.append(np.concatenate([place.velocity(q, u), place.acceleration(q, u, udot)]))
    assert np.abs(seen[0] - seen[1]).max() <= SAME * (1 + np.abs(seen[0]).max())


def test_control_laws_keep_their_meaning() -> None:
    m = kane.load("double-pendulum")
    m.control("damp", {"shoulder": "-0.3*u1", "elbow": "-0.2*u2 - q2"})
    other = copy.copy(m)
    other.suggest_speeds(apply=True)
    t = np.linspace(0, 1, 5)
    one, two = (x.simulate(t, q=[0.4, 0.9], control="damp", rtol=1e-11, atol=1e-13) for x in (m, other))
    assert other.mechanism.speeds_chosen
    assert np.abs(one.q - two.q).max() < 1e-9


def test_what_is_written_in_speeds_is_told() -> None:
    m = kane.load("double-pendulum")
    m.load("drag", kane.Effort("elbow", "-0.1*u2*abs(u2)"))
    found = m.suggest_speeds(apply=True)
    assert "load 'drag' is written in the speeds" in found.obstacle
    assert found.best is found.present and not m.mechanism.speeds_chosen
    assert "load 'drag'" in str(found)


def test_tries_and_progress() -> None:
    told: list[float] = []
    found = kane.load("stanford-arm").suggest_speeds(tries=5, progress=told.append)
    assert found.tried == 5 and told[-1] == 1.0 and told == sorted(told)
    with pytest.raises(kane.InputError, match="tries=0"):
        kane.load("pendulum").suggest_speeds(tries=0)


def test_definitions_can_be_given_back() -> None:
    """Every choice, typed into `set_speeds`, costs what the table says."""
    for choice in kane.load("stanford-arm").suggest_speeds().choices[:6]:
        assert isinstance(choice, SpeedChoice)
        m = kane.load("stanford-arm")
        m.set_speeds(dict(choice.definitions))
        assert operations(m, "forward_dynamics") == sum(choice.forward[:2])
