"""Friction of URDF joints, −f r/√(r² + v²) with v = 1 mm/s or mrad/s: stiff wherever a joint comes to rest.

A slider on an inclined axis has closed forms: held, it creeps with F r/√(r² + v²) = m g sin α; free, it approaches the
acceleration of dry friction. An arm of six axes falls freely with the default options.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane

G, MASS, ANGLE, V = 9.81, 2.0, 0.3, 1e-3
WEIGHT = MASS * G * math.sin(ANGLE)  # along the axis, N
HELD = 0.01  # weight along the axis, as a share of the friction that holds it
CREEP = V * HELD / math.sqrt(1.0 - HELD**2)  # m/s
STEPS = 5000  # at most, with the default options; dop853 alone takes hundreds of thousands

ROBOT = '<robot name="r"><link name="base"/>{}</robot>'


def slider(folder: Path, friction: float) -> kane.Model:
    """A mass on an axis that is inclined by ANGLE, downward."""
    path = folder / "slider.urdf"
    axis = f"{math.cos(ANGLE)!r} 0 {-math.sin(ANGLE)!r}"
    path.write_text(
        ROBOT.format(
            f'<link name="a"><inertial><mass value="{MASS}"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
            f'<joint name="j" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="{axis}"/>'
            f'<limit lower="-9" upper="9" effort="9" velocity="9"/><dynamics friction="{friction}"/></joint>'
        )
    )
    return kane.load(path)


def arm(folder: Path, friction: str = "0.6") -> kane.Model:
    """Six axes as an industrial arm has them, with friction in each."""
    rows = [
        ("0 0 0.3", "0 0 1", 6.0, 0.05),
        ("0 0.1 0.2", "0 1 0", 5.0, 0.06),
        ("0 -0.05 0.4", "0 1 0", 3.0, 0.03),
        ("0 0 0.35", "0 0 1", 1.5, 0.006),
        ("0 0.08 0.1", "0 1 0", 1.0, 0.003),
        ("0 0 0.1", "0 0 1", 0.3, 0.0004),
    ]
    parts, parent = list[str](), "base"
    for i, (place, axis, mass, inertia) in enumerate(rows, 1):
        parts.append(
            f'<link name="l{i}"><inertial><origin xyz="0.01 0.02 0.1"/><mass value="{mass}"/>'
            f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{0.7 * inertia}"/></inertial></link>'
            f'<joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/><origin xyz="{place}"/>'
            f'<axis xyz="{axis}"/><limit lower="-3" upper="3" effort="50" velocity="3"/>'
            f'<dynamics damping="0.05" friction="{friction}"/></joint>'
        )
        parent = f"l{i}"
    path = folder / "arm.urdf"
    path.write_text(ROBOT.format("".join(parts)))
    return kane.load(path)


def test_a_slider_that_friction_holds_creeps_as_its_law_says(tmp_path: Path) -> None:
    run = slider(tmp_path, WEIGHT / HELD).simulate(2.0)
    assert run.u[-1, 0] == pytest.approx(CREEP, abs=1e-9)
    # the start from rest takes m v / f seconds or so, and is left out of the distance
    assert run.q[-1, 0] == pytest.approx(2.0 * CREEP, abs=1e-9)
    assert run.statistics.steps < STEPS
    assert "most of all in u_j): 'radau' took over" in str(run.outcome)


def test_a_slider_that_slips_falls_as_with_dry_friction(tmp_path: Path) -> None:
    friction = 0.5 * WEIGHT
    run = slider(tmp_path, friction).simulate(2.0)
    acceleration = (WEIGHT - friction) / MASS
    assert run.u[-1, 0] == pytest.approx(2.0 * acceleration, rel=1e-3)  # v is 1 mm/s of 2.9 m/s
    assert run.statistics.steps < STEPS


@pytest.mark.parametrize("q2", [0.0, 0.8, 2.0])
def test_an_arm_with_friction_falls_in_few_steps(tmp_path: Path, q2: float) -> None:
    model = arm(tmp_path)
    start: dict[str, Any] = {"q": {"q_j2": q2, "q_j3": 0.5, "q_j5": 0.4}}
    run = model.simulate(2.0, **start)
    assert run.outcome.success and run.statistics.steps <= STEPS
    assert run.check().passed
    exact = model.simulate(2.0, method="radau", rtol=1e-11, **start)
    assert np.abs(run.q[-1] - exact.q[-1]).max() < 1e-5
    assert np.abs(run.q[-1] - run.q[0]).max() > 0.1  # it does fall


def test_the_explicit_method_gives_the_same_fall(tmp_path: Path) -> None:
    model, t = arm(tmp_path), 0.05
    run, explicit = (model.simulate(t, q={"q_j2": 0.8}, method=method) for method in ("auto", "dop853"))
    assert np.abs(run.q[-1] - explicit.q[-1]).max() < 1e-8
    assert np.abs(run.u[-1] - explicit.u[-1]).max() < 1e-6
    assert run.statistics.steps < explicit.statistics.steps / 5
    assert "fix: method='auto' or 'radau'" in str(explicit.outcome)


def test_stiff_members_have_the_bits_of_motions_alone(tmp_path: Path) -> None:
    """Half of the members are stiff: those that friction holds at some time."""
    m = kane.Model("slider", gravity=(0, 0, -G))
    m.parameter("f", 1.0)
    m.particle("mass", MASS)
    m.joint("slide", "prismatic", "ground", "mass", axis=(math.cos(ANGLE), 0, -math.sin(ANGLE)))
    m.load("friction", kane.Effort("slide", f"-f*u_slide/sqrt(u_slide**2 + {V}**2)"))
    found = m.ensemble(np.linspace(0.0, 1.0, 5), n=12, seed=3, parameters={"f": f"uniform(0, {2 * WEIGHT})"})
    assert found.success.all(), found.messages
    stiff = 0
    for i in range(len(found)):
        alone = found.member(i)
        stiff += "took over" in str(alone.outcome)
        assert found.q is not None and np.array_equal(found.q[i], alone.q)
        assert found.end_u is not None and np.array_equal(found.end_u[i], alone.u[-1])
    assert 2 <= stiff <= 10


def test_events_and_stops_are_met_while_friction_is_stiff(tmp_path: Path) -> None:
    """A slider creeps onto a stop and stays there; the time is that of its creep."""
    m = slider(tmp_path, WEIGHT / HELD)
    m.constrain("end", kane.HardStop("q_j", upper=CREEP))
    run = m.simulate(2.0, rtol=1e-9)
    assert run.transitions[1].t == pytest.approx(1.0, abs=1e-4)
    assert "end" in str(run.transitions[1]) and "took over" in str(run.outcome)
    assert run.q[-1, 0] == pytest.approx(CREEP, abs=1e-9)
    assert run.statistics.steps < STEPS


def test_a_linearization_at_rest_tells_the_damping_that_smoothed_friction_is_there(tmp_path: Path) -> None:
    """The slope of F r/√(r² + v²) is F/v at rest, so that the slider has the eigenvalue -F/(v m); at 1 m/s it is
    F v², a millionth of F, and nothing is said."""
    friction = 0.4
    m = slider(tmp_path, friction)
    rest, moving = m.linearize([0.0], [0.0]), m.linearize([0.0], [1.0])
    assert dict(rest.dry_friction) == {"j": pytest.approx(friction / V)}
    assert rest.eigenvalues.real.min() == pytest.approx(-friction / (V * MASS))
    assert "smoothed dry friction of j acts as damping of 400 N m s/rad or N s/m" in repr(rest)
    assert moving.dry_friction == () and "dry friction" not in repr(moving)
    smooth = kane.load(tmp_path / "slider.urdf", friction="none").linearize([0.0], [0.0])
    assert smooth.dry_friction == () and not smooth.eigenvalues.any()


def test_linearizations_about_many_states_tell_at_which_friction_is_damping(tmp_path: Path) -> None:
    """Rates of 0, 1, 0, 0 and -1 m/s: F/v at rest, nothing in motion, and every one as it is alone."""
    m, friction = slider(tmp_path, 0.4), 0.4
    speeds = [0.0, 1.0, 0.0, 0.0, -1.0]
    lins = m.linearize([0.0], np.array(speeds)[:, None])
    assert [dict(x) for x in lins.dry_friction] == [{} if u else {"j": pytest.approx(friction / V)} for u in speeds]
    assert repr(lins).endswith("dry friction of j is seen as damping at states 0, 2–3>")
    for lin, u in zip(lins, speeds, strict=True):
        assert repr(lin) == repr(m.linearize([0.0], [u]))
    assert "damping at all of them>" in repr(m.linearize([0.0], np.zeros((3, 1))))
    assert "friction" not in repr(m.linearize([0.0], np.ones((3, 1))))


def test_the_damping_of_smoothed_friction_follows_the_parameters_of_the_linearization() -> None:
    m = kane.Model("slider")
    m.parameter("f", 1.0, free=True)
    m.particle("mass", MASS)
    m.joint("slide", "prismatic", "ground", "mass", axis="x")
    m.load("friction", kane.Effort("slide", f"-f*u_slide/sqrt(u_slide**2 + {V}**2)"))
    found = m.linearize([0.0], [0.0], parameters={"f": 3.0})
    assert dict(found.dry_friction) == {"slide": pytest.approx(3.0 / V)}
    several = m.linearize([0.0], [0.0], parameters={"f": [2.0, 0.0, 5.0]})
    assert [dict(x) for x in several.dry_friction] == [{"slide": pytest.approx(f / V)} if f else {} for f in (2, 0, 5)]
