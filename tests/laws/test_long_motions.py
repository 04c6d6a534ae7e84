"""What a conservative motion keeps, it keeps for as long as it lasts: an hour of motion at a tight tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import kane

HOUR = 3600.0
RTOL, ATOL = 1e-11, 1e-13
DRIFT = 2e-6  # errors of steps add up at worst: the double pendulum takes 2e5 of them, each off by RTOL


@pytest.mark.long
@pytest.mark.parametrize("name", ["double-pendulum", "spinning-top", "rolling-disc", "rattleback", "four-bar"])
def test_energy_is_kept_for_an_hour(name: str) -> None:
    model = kane.load(name)
    motion = model.simulate(np.linspace(0.0, HOUR, 3601), rtol=RTOL, atol=ATOL)
    kinetic, potential = (np.ravel(part) for part in model.energy(motion.q, motion.u))
    assert motion.t[-1] == HOUR, str(motion.outcome)
    assert np.ptp(kinetic + potential) <= DRIFT * np.ptp(np.concatenate([kinetic, potential, [0.0]]))
