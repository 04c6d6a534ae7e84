"""Starts under constraints: what was given stays, a guess closes near itself, what has no value is named."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kane
from kane.model import ConfigurationEquations, read_mechanism

CARDAN = """
kane: 1
name: cardan
bodies: {i: {mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}, o: {mass: 1, inertia: {xx: 0.3, yy: 0.3, zz: 0.3}}}
joints:
  i: {type: revolute, parent: ground, child: i, axis: x, coordinate: qi}
  o: {type: revolute, parent: ground, child: o, axis: x, rotation: {axis: z, angle: 0.5}, coordinate: qo}
constraints:
  cross: {type: universal, first: i, second: o, sequence: body yz}
"""

CART = """
kane: 1
name: cart
bodies:
  cart: {mass: 4, inertia: {xx: 0.2, yy: 0.2, zz: 0.3}}
  left: {mass: 1, inertia: {xx: 0.02, yy: 0.04, zz: 0.02}}
  right: {mass: 1, inertia: {xx: 0.02, yy: 0.04, zz: 0.02}}
joints:
  cart: {type: planar, parent: ground, child: cart, at: [0, 0, 0.3], coordinates: [x, y, h], speeds: [vx, vy, wh],
         velocity: body}
  left: {type: revolute, parent: cart, child: left, axis: y, at: [0, 0.5, 0], coordinate: l, speed: wl}
  right: {type: revolute, parent: cart, child: right, axis: y, at: [0, -0.5, 0], coordinate: r, speed: wr}
constraints:
  left: {type: rolling, body: left, radius: 0.3}
  right: {type: rolling, body: right, radius: 0.3}
initial: {vx: 1, wh: 0.5}
"""

COIN = """
kane: 1
name: coin
gravity: [0, 0, -9.81]
bodies: {coin: {mass: 1, inertia: {xx: 0.1, yy: 0.1, zz: 0.2}}}
joints: {f: {type: free, parent: ground, child: coin}}
constraints: {table: {type: rolling, body: coin, radius: 0.3, axis: z}}
"""


def model(text: str) -> kane.Model:
    return kane.Model.of(read_mechanism(text, "start.yaml"))


def test_a_row_that_has_hardly_a_direction_does_not_send_the_guess_away() -> None:
    m = model(CARDAN)
    q, _ = m.project({"qi": math.pi / 2}, hold=["qi"])
    assert q == pytest.approx([math.pi / 2, math.pi / 2], abs=1e-9)  # both arms have turned by a right angle
    q, _ = m.project({"qi": 0.8}, hold=["qi"])
    ratio = math.tan(q[1]) / math.tan(0.8)
    assert min(abs(ratio - math.cos(0.5)), abs(ratio - 1 / math.cos(0.5))) < 1e-9


def test_a_guess_where_an_equation_is_stationary_finds_a_root_near_by() -> None:
    m = kane.Model("root")
    m.body("b", mass=2, inertia={"xx": 0.1, "yy": 0.2, "zz": 0.3})
    m.joint("b", "revolute", "ground", "b", coordinates=["q"])
    m.constrain("c", ConfigurationEquations("sin(q)*q = 0.5"))
    (q,), _ = m.project({"q": 1e-9})
    assert math.sin(q) * q == pytest.approx(0.5, abs=1e-12)
    assert abs(q) < 1.0


def test_what_the_model_starts_with_stays_and_the_others_follow() -> None:
    m = model(CART)
    run = m.simulate((0.0, 0.1))
    start = dict(zip(m.speeds, run.u[0], strict=True))
    assert [start["vx"], start["wh"]] == pytest.approx([1.0, 0.5], abs=1e-12)
    assert start["wl"] == pytest.approx((1.0 - 0.5 * 0.5) / 0.3, abs=1e-12)
    assert start["wr"] == pytest.approx((1.0 + 0.5 * 0.5) / 0.3, abs=1e-12)


def test_what_the_caller_names_stays_before_what_the_model_says() -> None:
    m = model(CART)
    run = m.simulate((0.0, 0.1), u={"vx": 2.0, "wl": 0.0, "wr": 40 / 3})
    start = dict(zip(m.speeds, run.u[0], strict=True))
    assert start["wh"] == pytest.approx(4.0, abs=1e-12)  # v/r -+ w/(2 r) of the wheels: 0.5 of the model gives way
    assert start["vx"] == pytest.approx(2.0, abs=1e-12)


def test_a_constraint_without_a_value_at_the_start_is_named() -> None:
    m = model(COIN)
    for asked in (m.freedom, m.project, lambda: m.simulate((0.0, 0.1))):
        with pytest.raises(kane.ModelError, match=r"'table\.\w+'.* no finite value at this state"):
            asked()


def test_rows_of_which_only_some_are_redundant_are_told_as_such() -> None:
    """Bricard's five rows leave one of six hinges free, where five independent ones would leave none."""
    found = kane.load("bricard").freedom()
    assert (found.rank, found.surplus, len(found.redundant)) == (4, 1, 5)
    assert "redundant: 1 of P6.x, P6.y" in str(found)
    planar = kane.load("parallelogram").freedom()
    assert (planar.surplus, len(planar.redundant)) == (3, 3)
    assert "redundant: pin.z, pin.rx, pin.ry" in str(planar)


@pytest.mark.parametrize("embed", ["run-time", "formulation"])
def test_a_start_in_the_flat_position_goes_on_along_its_branch(embed: str) -> None:
    m = kane.load("parallelogram")
    run = m.simulate((0.0, 1.0), q=[0.0, 0.0, 0.0], u=[5.0, -5.0, 5.0], embed=embed)
    assert run.outcome.success
    crank, coupler, rocker = run.q.T
    assert crank == pytest.approx(rocker, abs=1e-9)  # opposite sides stay parallel: the coupler never turns
    assert crank == pytest.approx(-coupler, abs=1e-9)
    parts = run.energy()
    energy = parts.kinetic + parts.potential
    assert energy.max() - energy.min() < 1e-8 * abs(energy[0])


WAGON = """
kane: 1
name: wagon
bodies: {wagon: {mass: 4, inertia: {xx: 0.2, yy: 0.2, zz: 0.3}}}
joints:
  wagon: {type: planar, parent: ground, child: wagon, coordinates: [x, y, h], speeds: [v, vy, w], velocity: body}
constraints:
  fl: {type: knife-edge, body: wagon, at: [1, 0.5, 0], direction: y}
  fr: {type: knife-edge, body: wagon, at: [1, -0.5, 0], direction: y}
  rl: {type: knife-edge, body: wagon, at: [-1, 0.5, 0], direction: y}
  rr: {type: knife-edge, body: wagon, at: [-1, -0.5, 0], direction: y}
"""

STEERED = """
kane: 1
name: steered
bodies:
  cart: {mass: 4, inertia: {xx: 0.2, yy: 0.2, zz: 0.3}}
  left: {mass: 1, inertia: {xx: 0.02, yy: 0.04, zz: 0.02}}
  right: {mass: 1, inertia: {xx: 0.02, yy: 0.04, zz: 0.02}}
joints:
  cart: {type: planar, parent: ground, child: cart, coordinates: [x, y, h], speeds: [v, vy, w], velocity: body}
  left: {type: revolute, parent: cart, child: left, axis: z, at: [1, 0.5, 0], coordinate: phi, speed: uphi}
  right: {type: revolute, parent: cart, child: right, axis: z, at: [1, -0.5, 0], coordinate: psi, speed: upsi}
constraints:
  rear: {type: knife-edge, body: cart, direction: y}
  left: {type: knife-edge, body: left, direction: y}
  right: {type: knife-edge, body: right, direction: y}
  rods: {type: gear, first: left, second: right, ratio: 1}
"""


def test_speeds_that_were_named_are_not_dropped() -> None:
    """Four fixed wheels allow v alone; w = 1 would move the front ones across by 1 m/s."""
    m = model(WAGON)
    with pytest.raises(kane.ModelError, match=r"speeds v, w that were given are not possible together.*'fl' by"):
        m.simulate((0, 1), u={"v": 0.5, "w": 1.0})
    run = m.simulate((0, 1), u={"v": 0.5})
    assert run.u[0] == pytest.approx([0.5, 0, 0], abs=1e-12)
    assert run.q[-1] == pytest.approx([0.5, 0, 0], abs=1e-9)


def test_speeds_that_are_held_just_beside_a_singular_start_are_refused() -> None:
    """Wheels side by side that steer in parallel: turned, they roll about no common point, so the cart cannot move."""
    m = model(STEERED)
    with pytest.raises(kane.ModelError, match=r"lose rank at this position, and close to it.*v 1 → "):
        m.simulate((0, 1), u={"v": 1, "uphi": 0.2})
    straight = m.simulate((0, 1), u={"v": 1, "uphi": 0})
    assert straight.outcome.success and straight.q[-1][0] == pytest.approx(1.0, abs=1e-9)
    turning = m.simulate((0, 1), u={"v": 0, "uphi": 0.2})
    assert turning.outcome.success and turning.q[-1][3] == pytest.approx(0.2, abs=1e-9)


def test_a_wheel_that_lies_flat_is_refused_by_its_constraint() -> None:
    m = kane.load("rolling-disc")
    with pytest.raises(kane.ModelError, match=r"'road\.longitudinal' has no finite value"):
        m.simulate((0, 1), q={"lean": math.pi / 2})
    q, u = m.initial_state
    q[m.coordinates.index("lean")] = math.pi / 2
    with pytest.raises(kane.SingularError, match="accelerations are not determined at this state"):
        m.forward_dynamics(q, u, 0 * u)


def test_accelerations_obey_constraints_that_the_initial_guess_cannot_satisfy() -> None:
    """a³ − 3 a + 3 has one zero; from a = 1, where its slope vanishes as well, Newton's method does not find it."""
    m = kane.Model("cubic")
    for name in "ab":
        m.body(name, mass=1.0)
        m.joint(name, "prismatic", "ground", name, axis="x", coordinates=[name], speeds=[f"u{name}"])
    m.constrain("cubic", ConfigurationEquations("a**3 - 3*a + 3 = 0"))
    m.set_initial({"a": 1.0})
    a = float(np.roots([1, 0, -3, 3])[0].real)
    assert m.forward_dynamics([a, 0.3], [0.0, 0.0], [5.0, 2.0]) == pytest.approx([0.0, 2.0], abs=1e-12)


def bicycle_start(m: kane.Model) -> dict[str, float]:
    run = m.simulate(1e-3)
    return dict(zip(m.mechanism.speeds, run.u[0].tolist(), strict=True))


def test_an_initial_speed_wins_over_those_that_were_given_before(tmp_path: Path) -> None:
    """A bicycle that is to ride at 3 m/s, while its wheels turn as at 4.6 m/s: the wheels follow."""
    file = tmp_path / "slow.yaml"
    file.write_text("kane: 1\nextends: whipple-bicycle\ninitial: {ux: 3.0}\n")
    extended, told = kane.load(file), kane.load("whipple-bicycle")
    told.set_initial({"ux": 3.0})
    told.save(tmp_path / "saved.yaml")
    for m in (extended, told, kane.load(tmp_path / "saved.yaml")):
        start, value = bicycle_start(m), m.parameters
        assert start["ux"] == pytest.approx(3.0, abs=1e-12)
        assert start["urear"] == pytest.approx(-3.0 / value["rR"].value, abs=1e-9)
        assert start["uroll"] == pytest.approx(0.5, abs=1e-12)
    told.set_initial({"urear": -6.0 / 0.3})
    assert bicycle_start(told)["ux"] == pytest.approx(6.0, abs=1e-9)


def test_an_ensemble_starts_as_its_motions_alone_where_initial_speeds_do_not_fit() -> None:
    m = kane.load("whipple-bicycle")
    m.set_initial({"ux": 3.0})
    found: Any = m.ensemble(1e-3, n=3, seed=1, parameters={"mB": "normal(85, 3)"})
    assert np.abs(found.end_u[:, 0] - 3.0).max() < 1e-3
    for i in range(3):
        assert np.array_equal(found.member(i).u[-1], found.end_u[i])


SLOW = "kane: 1\nextends: whipple-bicycle\nname: slow\ninitial: {ux: 3, uroll: 0}\n"
RADII = {"urear": 0.3, "ufront": 0.35}  # m, of the wheels of the benchmark bicycle
WHEELBASE, AXIS = 1.02, math.pi / 10  # m; rad, tilt of its steering axis


def slow_bicycle(folder: Path) -> kane.Model:
    (folder / "slow.yaml").write_text(SLOW)
    return kane.load(folder / "slow.yaml")


def start_of(m: kane.Model, **given: Any) -> dict[str, float]:
    return dict(zip(m.speeds, m.simulate((0.0, 1e-6), **given).u[0].tolist(), strict=True))


@pytest.mark.parametrize("u", [None, {}, {"uroll": 0.1}])
@pytest.mark.parametrize("q", [None, {"roll": 0.01}, {"roll": 0.3}])
def test_a_bicycle_starts_at_the_speed_it_was_given_last_and_its_wheels_follow(q: Any, u: Any, tmp_path: Path) -> None:
    """It goes straight however it leans; the wheels of the model that it extends turned faster."""
    start = start_of(slow_bicycle(tmp_path), q=q, u=u)
    assert start["ux"] == pytest.approx(3.0, abs=1e-12)
    assert start["uroll"] == pytest.approx((u or {}).get("uroll", 0.0), abs=1e-12)
    assert [start["uyaw"], start["usteer"], start["upitch"]] == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)
    for wheel, radius in RADII.items():
        assert start[wheel] == pytest.approx(-3.0 / radius, abs=1e-9)


@pytest.mark.parametrize(("given", "speed"), [({}, 4.6), ({"ux": 2.0}, 2.0), ({"urear": -10.0}, 3.0)])
def test_a_bicycle_that_is_steered_turns_instead_of_whirling_its_handlebar(
    given: dict[str, float], speed: float
) -> None:
    """By the angle of its front wheel on the ground, to first order in the angle of steering."""
    start = start_of(kane.load("whipple-bicycle"), q={"steer": 0.1}, u=given)
    assert start["uroll"] == 0.5
    assert start["ux"] == pytest.approx(speed, rel=1e-3)
    assert start["uyaw"] == pytest.approx(speed * 0.1 * math.cos(AXIS) / WHEELBASE, rel=0.02)
    assert abs(start["usteer"]) < 0.1 * start["uyaw"]


def test_members_and_linearizations_start_as_a_motion_does(tmp_path: Path) -> None:
    m = slow_bicycle(tmp_path)
    rolls = [0.0, 0.1, 0.2]
    found: Any = m.ensemble([0.0, 0.01, 0.02], u={"uroll": rolls}, q={"roll": 0.05})
    for i, roll in enumerate(rolls):
        assert found.u[i, 0].tolist() == list(start_of(m, q={"roll": 0.05}, u={"uroll": roll}).values())
    many = m.linearize(u={"uroll": [0.0, 0.0]})
    assert many[1].at.u == pytest.approx(m.linearize(u={"uroll": 0.0}).at.u, abs=1e-12)
    assert m.linearize(u={}).at.u[m.speeds.index("ux")] == pytest.approx(3.0, abs=1e-12)


def test_a_model_that_is_written_starts_as_before(tmp_path: Path) -> None:
    """The order of its initial speeds says which of them win."""
    m = slow_bicycle(tmp_path)
    m.set_initial({"ufront": -8.0, "uroll": 0.2})
    m.save(tmp_path / "written.yaml")
    written = start_of(kane.load(tmp_path / "written.yaml"))
    assert written == pytest.approx(start_of(m), abs=1e-12)
    assert written["ux"] == pytest.approx(8.0 * RADII["ufront"], abs=1e-9)


def turned_speeds(m: kane.Model, yaw: float) -> list[float]:
    """Speeds of the rolling disc where the model starts, the place of contact moving along the heading."""
    start = start_of(m)
    return [0.0, start["wy"], 0.0, start["vx"] * math.cos(yaw), start["vx"] * math.sin(yaw)]


@pytest.mark.parametrize("yaw", [-3.0, -1.5, 0.3, 1.5, math.pi / 2, 1.6, math.pi])
def test_a_disc_that_is_turned_about_the_vertical_rolls_on_at_the_same_spin(yaw: float) -> None:
    """Nothing on a level plane knows directions: the motion is the same, turned."""
    m, times = kane.load("rolling-disc"), np.linspace(0.0, 1.0, 11)
    straight, turned = m.simulate(times), m.simulate(times, q={"yaw": yaw})
    assert turned.u[0] == pytest.approx(turned_speeds(m, yaw), abs=1e-12)
    assert turned.u[-1, :3] == pytest.approx(straight.u[-1, :3], abs=1e-8)
    assert "kinetic energy" not in str(turned.outcome)


def test_members_and_linearizations_of_turned_discs_roll_on_at_the_same_spin() -> None:
    m, yaws = kane.load("rolling-disc"), [0.5, 1.5, 3.0]
    found: Any = m.ensemble([0.0, 0.005, 0.01], q={"yaw": yaws})
    many = m.linearize({"yaw": yaws})
    for i, yaw in enumerate(yaws):
        assert found.u[i, 0] == pytest.approx(turned_speeds(m, yaw), abs=1e-12)
        assert found.u[i, 0].tolist() == m.simulate([0.0, 0.005, 0.01], q={"yaw": yaw}).u[0].tolist()
        assert many[i].at.u == pytest.approx(turned_speeds(m, yaw), abs=1e-12)


def test_a_disc_that_is_to_spin_faster_rolls_faster_instead_of_whirling_about_its_diameter() -> None:
    start = start_of(kane.load("rolling-disc"), u={"wy": 20.0})
    assert start == pytest.approx({"wx": 0.0, "wy": 20.0, "wz": 0.0, "vx": 20.0 * 0.26, "vy": 0.0}, abs=1e-12)


@pytest.mark.parametrize(("heading", "across"), [(0.5, math.tan(0.5)), (1.5, math.tan(1.5)), (math.pi / 2, 0.0)])
def test_a_velocity_along_a_fixed_axis_that_makes_a_turned_sleigh_race_or_rest_is_told(
    heading: float, across: float
) -> None:
    """It goes along its blade: ux of the model stays, uy follows; across the blade there is nothing to keep."""
    m = kane.Model("sleigh")
    m.body("sleigh", mass=2.0, inertia={"xx": 0.1, "yy": 0.1, "zz": 0.2})
    m.joint("ice", "planar", "ground", "sleigh", coordinates=["x", "y", "h"], speeds=["ux", "uy", "w"])
    m.constrain("blade", kane.KnifeEdge("sleigh", direction="y"))
    m.set_initial({"ux": 1.0})
    run = m.simulate(1e-3, q={"h": heading})
    assert run.u[0, 1] == pytest.approx(across, rel=1e-9)
    strange = heading > 1.0
    assert ("kinetic energy that the same speeds have where the model starts" in str(run.outcome)) == strange
    assert ("give speeds that suit the position, u=..." in str(run.outcome)) == strange
    given = m.simulate(1e-3, q={"h": heading}, u=[math.cos(heading), math.sin(heading), 0.0])
    assert "kinetic energy" not in str(given.outcome)
    if strange:
        with pytest.warns(UserWarning, match="give speeds that suit the position"):
            m.linearize({"h": heading})
