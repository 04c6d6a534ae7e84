"""Robots identified from measured efforts: base parameters, physical parameters, and the model written back.

Efforts come from Pinocchio, with friction and noise added here. Seven axes of which two are parallel and the first
points downward: angles of 90° and 180° that are written with few digits tilt them, which efforts hardly feel.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from scipy import optimize

import kane
from kane.analysis.identification import parameters_of, pseudo_inertia

Array = np.ndarray[Any, np.dtype[np.float64]]

ROLLS = (math.pi, -math.pi / 2, math.pi, math.pi / 2, -math.pi / 2, math.pi / 2, -math.pi / 2)
YAWS = (0.0, math.pi / 2, 0.0, 0.0, math.pi / 2, 0.0, -math.pi / 2)
VISCOUS, DRY = 0.4, 0.3  # N m s, N m
NOISE = 0.05  # N m
KEPT = ("Ixx", "Ixy", "Ixz", "Iyz", "Izz", "hx", "hy")  # of each link but the first
SPREAD = 4.5  # standard deviations that no error of some tens exceeds, but once in three thousand times


def robot_text(digits: int, heavier: float = 1.0) -> str:
    """The arm as a URDF; with `heavier` its links have masses and inertias that are wrong, each by another factor."""
    rng, parts, parent = np.random.default_rng(3), ['<robot name="arm"><link name="base"/>'], "base"
    for i, (roll, yaw) in enumerate(zip(ROLLS, YAWS, strict=True), 1):
        wrong = heavier ** (-1) ** i
        m, c, p = 6.0 / i, rng.uniform(-0.1, 0.1, 3), rng.uniform(-0.3, 0.3, 3)
        e = np.sort(rng.uniform(0.6, 1.4, 3)) * 0.02 * m * wrong
        parts.append(
            f'<link name="l{i}"><inertial><origin xyz="{c[0]:.4f} {c[1]:.4f} {c[2]:.4f}"/><mass value="{m * wrong}"/>'
            f'<inertia ixx="{e[0]:.6f}" iyy="{e[1]:.6f}" izz="{e[2]:.6f}" ixy="{0.1 * e[0]:.6f}" ixz="0" iyz="0"/>'
            "</inertial></link>"
            f'<joint name="j{i}" type="revolute"><parent link="{parent}"/><child link="l{i}"/>'
            f'<origin xyz="{p[0]:.3f} {p[1]:.3f} {p[2]:.3f}" rpy="{roll:.{digits}g} 0 {yaw:.{digits}g}"/>'
            '<axis xyz="0 0 1"/><limit lower="-2" upper="2" effort="50" velocity="2"/></joint>'
        )
        parent = f"l{i}"
    return "".join([*parts, "</robot>"])


def robot(folder: Path, digits: int = 17, heavier: float = 1.0) -> kane.Model:
    path = folder / f"arm-{digits}-{heavier}.urdf"
    path.write_text(robot_text(digits, heavier), encoding="utf-8")
    return kane.load(path)


def measured_efforts(q: Array, u: Array, udot: Array) -> Array:
    """Efforts of the arm with exact angles and the friction of a URDF, by Pinocchio."""
    peer = pin.buildModelFromXML(robot_text(17))
    data = peer.createData()
    efforts = np.array([pin.rnea(peer, data, *state) for state in zip(q, u, udot, strict=True)])
    return efforts + VISCOUS * u + DRY * u / np.sqrt(u * u + 1e-6)


def test_names_of_base_parameters_leave_out_what_few_digits_of_angles_bring_in(tmp_path: Path) -> None:
    """With eight digits the names are those of exact angles; the combinations have all terms."""
    base, exact = (robot(tmp_path, digits).base_parameters() for digits in (8, 17))
    assert base.names == exact.names
    assert np.count_nonzero(base.combination) > np.count_nonzero(exact.combination)


@pytest.mark.parametrize("digits", [4, 5, 7, 16])
def test_base_parameters_are_as_many_and_as_well_conditioned_whatever_the_digits_of_angles(
    digits: int, tmp_path: Path
) -> None:
    """1 + 7 · 6 for seven axes in general; what tilts of 4e-4 rad and less add is no more parameter."""
    base, exact = (robot(tmp_path, d).base_parameters() for d in (digits, 17))
    assert len(base) == len(exact) == 43
    assert base.independent == exact.independent
    assert exact.condition / 10 < base.condition < 10 * exact.condition
    assert base.condition < 10.0


def test_parameters_are_regrouped_towards_the_base_as_is_customary(tmp_path: Path) -> None:
    """Of the first link Izz; of each other all but Iyy, hz and m, which are moved to the link before [GK90]."""
    base = robot(tmp_path).base_parameters()
    expected = {"Izz.l1"} | {f"{p}.l{i}" for i in range(2, 8) for p in KEPT}
    assert {name.split()[0] for name in base.names} == expected


def test_friction_adds_two_parameters_for_each_joint(tmp_path: Path) -> None:
    model = robot(tmp_path)
    base = model.base_parameters(friction=True)
    assert len(base) == 43 + 14 and base.names[-2:] == ("viscous.j7", "Coulomb.j7")
    u = np.linspace(-1, 1, 7)
    Y = model.regressor(np.zeros(7), u, np.zeros(7), friction=True)
    assert Y[:, 80::2] == pytest.approx(np.diag(u))
    assert Y[:, 81::2] == pytest.approx(np.diag(u / np.sqrt(u * u + 1e-6)))


def test_base_parameters_of_an_arm_with_friction_give_its_efforts(tmp_path: Path) -> None:
    """Damping and friction of the file, other in each joint, beside Pinocchio's efforts without them."""
    text, damping, friction = robot_text(17), np.linspace(0.1, 0.7, 7), np.linspace(0.9, 0.3, 7)
    for i, (d, f) in enumerate(zip(damping, friction, strict=True), 1):
        at = text.index("</joint>", text.index(f'<joint name="j{i}"'))
        text = f'{text[:at]}<dynamics damping="{d:.17g}" friction="{f:.17g}"/>{text[at:]}'
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    model = kane.load(path)
    base = model.base_parameters(friction=True)
    found = dict(zip(base.names, base.values, strict=True))
    assert [found[f"viscous.j{i}"] for i in range(1, 8)] == pytest.approx(damping)
    assert [found[f"Coulomb.j{i}"] for i in range(1, 8)] == pytest.approx(friction)
    q, u, udot = np.random.default_rng(4).normal(size=(3, 20, 7))
    efforts = measured_efforts(q, u, udot) + (damping - VISCOUS) * u + (friction - DRY) * u / np.sqrt(u * u + 1e-6)
    Y = model.regressor(q, u, udot, friction=True)[..., list(base.independent)]
    assert Y @ base.values == pytest.approx(efforts, abs=1e-8 * np.abs(efforts).max())


@pytest.mark.parametrize("digits", [pytest.param(17, marks=pytest.mark.long), 4])
def test_an_arm_is_identified_from_noisy_efforts_and_written_back(digits: int, tmp_path: Path) -> None:
    """From a description whose masses are wrong by 1.4 either way."""
    wrong, rng = robot(tmp_path, digits, heavier=1.4), np.random.default_rng(5)
    q, u, udot = rng.uniform(-2, 2, (3, 400, 7))
    tau = measured_efforts(q, u, udot) + NOISE * rng.normal(size=(400, 7))
    found = kane.identify(wrong, q, u, udot, tau)
    tilt = 10 * abs(float(f"{math.pi:.{digits}g}") - math.pi)

    truth = np.concatenate([robot(tmp_path, digits).base_parameters().values, 7 * [VISCOUS, DRY]])
    assert np.all(np.abs(found.values - truth) < SPREAD * found.deviation + tilt * np.abs(truth).max())
    assert found.noise == pytest.approx(np.full(7, NOISE), rel=0.2, abs=tilt)
    assert found.condition < 100.0

    for name in found.model.bodies:  # of rigid bodies
        body = np.array([found.parameters[f"{p}.{name}"] for p in ORDER])
        if name != "base":
            assert np.linalg.eigvalsh(pseudo_inertia(body)).min() > 0.0
    assert min(value for name, value in found.parameters.items() if name.startswith(("viscous", "Coulomb"))) >= 0.0

    path = tmp_path / "identified.urdf"
    found.model.to_urdf(path)
    again, others = kane.load(path), rng.uniform(-2, 2, (3, 50, 7))
    told = [remark.what.split(",")[0] for remark in again.mechanism.remarks]
    assert told == (["right angles are rounded"] if digits < 16 else [])  # as in what was given
    expected = measured_efforts(*others)
    error = again.inverse_dynamics(*others) - expected
    assert np.sqrt((error**2).mean()) < NOISE + tilt
    assert np.abs(wrong.inverse_dynamics(*others) - expected).max() > 50 * NOISE  # before


ORDER = ("m", "hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")


def test_few_noisy_efforts_still_give_rigid_bodies(tmp_path: Path) -> None:
    """Least squares alone gives a negative moment of inertia; what efforts do not tell stays near what was given."""
    model, rng = robot(tmp_path), np.random.default_rng(6)
    q, u, udot = rng.uniform(-0.5, 0.5, (3, 12, 7))
    tau = measured_efforts(q, u, udot) + 20 * NOISE * rng.normal(size=(12, 7))
    found = kane.identify(model, q, u, udot, tau)
    assert found.values[[name.startswith("Izz.") for name in found.base.names]].min() < 0.0
    for i in range(1, 8):
        body = np.array([found.parameters[f"{p}.l{i}"] for p in ORDER])
        assert np.linalg.eigvalsh(pseudo_inertia(body)).min() > 0.0
        assert 0.2 < body[0] / (6.0 / i) < 5.0


def test_joints_without_friction_are_not_found_to_drive(tmp_path: Path) -> None:
    """Noise alone would give some of 14 coefficients a negative sign; the others are then the best that are left."""
    model, rng = robot(tmp_path), np.random.default_rng(8)
    q, u, udot = rng.uniform(-2, 2, (3, 60, 7))
    peer = pin.buildModelFromXML(robot_text(17))
    exact = np.array([pin.rnea(peer, peer.createData(), *state) for state in zip(q, u, udot, strict=True)])
    tau = exact + NOISE * rng.normal(size=(60, 7))
    found = kane.identify(model, q, u, udot, tau, noise=NOISE)
    rubs = np.array([name.startswith(("viscous", "Coulomb")) for name in found.base.names])
    assert rubs.sum() == 14 and found.values[rubs].min() == 0.0
    Y = model.regressor(q, u, udot, friction=True)[..., list(found.base.independent)].reshape(-1, len(rubs))
    free = np.linalg.lstsq(Y, tau.reshape(-1), rcond=None)[0]
    assert free[rubs].min() < 0.0
    least = optimize.lsq_linear(Y, tau.reshape(-1), (np.where(rubs, 0.0, -np.inf), np.inf), method="bvls", tol=1e-14)
    assert found.values == pytest.approx(least.x, abs=1e-6 * np.abs(least.x).max())  # of another algorithm
    assert np.all(np.abs(found.values[rubs]) < SPREAD * found.deviation[rubs])


def test_parameters_and_pseudo_inertia_are_one_thing() -> None:
    """J = ∫ [x 1]ᵀ[x 1] dm: of point masses it is the sum of their squares."""
    rng = np.random.default_rng(2)
    masses, places = rng.uniform(0.1, 1, 6), rng.normal(size=(6, 3))
    pairs = list(zip(masses, places, strict=True))
    J = np.sum([m * np.outer([*x, 1], [*x, 1]) for m, x in pairs], axis=0)
    I = np.sum([m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in pairs], axis=0)
    expected = [masses.sum(), *(masses @ places), *np.diag(I), I[0, 1], I[0, 2], I[1, 2]]
    assert parameters_of(np.array(J)) == pytest.approx(expected)
    assert pseudo_inertia(np.array(expected)) == pytest.approx(np.array(J))


def test_efforts_of_other_instants_are_refused(tmp_path: Path) -> None:
    q = np.zeros((5, 7))
    with pytest.raises(kane.InputError, match=r"tau has shape \(4, 7\), u \(5, 7\)"):
        kane.identify(robot(tmp_path), q, q, q, np.zeros((4, 7)))
    with pytest.raises(kane.InputError, match="35 efforts for 57 base parameters"):
        kane.identify(robot(tmp_path), q, q, q, np.zeros((5, 7)))
