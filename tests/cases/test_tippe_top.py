"""A tippe top: Jellett's integral [JEL72], and where it turns over [BMR04], by energy at its value."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kane

JELLETT = 1e-11  # relative, over seconds of sliding and rolling


def spun(time: float, **changed: float) -> tuple[kane.Trajectory, SimpleNamespace]:
    model = kane.load("tippe-top")
    model.set_parameters(**changed)
    run = model.simulate(time)
    assert run.outcome.success, run.outcome
    return run, SimpleNamespace(**{name: parameter.value for name, parameter in model.parameters.items()})


def vertical(run: kane.Trajectory) -> np.ndarray:
    """The normal of the table in the axes of the top; its last component is the cosine of the tilt."""
    e0, e1, e2, e3 = run.q[:, :4].T
    return np.array([2 * (e1 * e3 - e0 * e2), 2 * (e2 * e3 + e0 * e1), 1 - 2 * (e1**2 + e2**2)]).T


def jellett(run: kane.Trajectory, p: SimpleNamespace) -> np.ndarray:
    """L · (R n − d e): angular momentum about the mass centre, along the line from the contact to there."""
    line = p.R * vertical(run) - p.d * np.array([0.0, 0.0, 1.0])
    return np.sum(run.u[:, :3] * np.array([p.A, p.A, p.C]) * line, axis=1)


def least_energy(p: SimpleNamespace, integral: float, cosine: Any) -> Any:
    """Of all motions with this integral at this tilt: T = J²/(2 (C (R x − d)² + A R² (1 − x²))), V = m g (R − d x)."""
    inertia = p.C * (p.R * cosine - p.d) ** 2 + p.A * p.R**2 * (1 - cosine**2)
    return integral**2 / (2 * inertia) + p.m * p.g * (p.R - p.d * cosine)


@pytest.mark.parametrize("mu", [0.05, 0.3])
def test_jellett_s_integral_stays_while_it_slides_and_rolls(mu: float) -> None:
    run, p = spun(4.0, mu=mu)
    values = jellett(run, p)
    assert values == pytest.approx(values[0], rel=JELLETT)
    assert run.check().passed
    assert np.ptp(run.energy().kinetic + run.energy().potential) > 1e-3  # friction takes energy, not the integral


def test_it_turns_over_and_spins_on_its_stem() -> None:
    """J = C (R + d) ω then, where it was C (R − d) ω: it spins slower, and in its own axes the other way."""
    run, p = spun(8.0, mu=0.05)
    integral = jellett(run, p)[0]
    assert vertical(run)[0, 2] == pytest.approx(np.cos(p.tilt)) and vertical(run)[-1, 2] < -0.998
    assert run.u[-1, 2] == pytest.approx(-integral / (p.C * (p.R + p.d)), rel=2e-3)
    energy = run.energy()
    assert (energy.kinetic + energy.potential)[-1] == pytest.approx(least_energy(p, integral, -1.0), rel=2e-3)


def downhill(p: SimpleNamespace, integral: float) -> float:
    """The cosine of the tilt at which the least energy has a minimum, downhill from the start."""
    x = np.linspace(-1.0, 1.0, 20001)
    energy = least_energy(p, integral, x)
    k = int(np.abs(x - np.cos(p.tilt)).argmin())
    way = 1 if energy[k + 1] < energy[k] else -1
    while 0 <= k + way < len(x) and energy[k + way] < energy[k]:
        k += way
    return x[k]


@pytest.mark.parametrize("ratio", [0.7, 0.9, 1.1, 1.5, 2.0])
def test_the_tilt_goes_where_energy_is_least(ratio: float) -> None:
    """Upright for A/C < 1 − d/R, inverted for A/C < 1 + d/R, else between; a nutation is left when it rolls."""
    inertia = 0.4 * 0.015 * 0.015**2
    run, p = spun(10.0, A=ratio * inertia, C=inertia)
    expected = downhill(p, jellett(run, p)[0])
    assert (expected == 1.0) == (ratio < 1 - p.d / p.R)
    assert (expected == -1.0) == (1 - p.d / p.R < ratio < 1 + p.d / p.R)
    assert vertical(run)[run.t > 9.0, 2] == pytest.approx(expected, abs=0.08)


def test_a_slow_spin_cannot_raise_the_mass_centre() -> None:
    """It would have more energy inverted if ω² < 4 m g d/(C (1 − (R − d)²/(R + d)²))."""
    _, p = spun(0.01)
    share = ((p.R - p.d) / (p.R + p.d)) ** 2
    least = np.sqrt(4 * p.m * p.g * p.d / (p.C * (1 - share)))
    run, _ = spun(8.0, spin=0.9 * least, mu=0.05, tilt=0.3)
    assert vertical(run)[:, 2].min() > -0.9
    faster, _ = spun(8.0, spin=4 * least, mu=0.05, tilt=0.3)
    assert vertical(faster)[:, 2].min() < -0.99
