"""A disk thrown with back spin: it slides with constant accelerations until v = r w, then it rolls."""

from __future__ import annotations

import numpy as np
import pytest

import kane

CLOSE = 1e-11  # of time (s), place and speeds


@pytest.mark.parametrize(
    ("v0", "spin", "share"), [(2.0, 30.0, 0.5), (2.0, 10.0, 0.5), (2.0, 30.0, 1.0), (1.0, -10.0, 0.5)]
)
def test_the_disk_slides_and_then_rolls(v0: float, spin: float, share: float) -> None:
    """With J = β m r² the slip v + r·spin falls by μ g (1 + 1/β), and v ends at (v0 − β r·spin)/(1 + β)."""
    model = kane.load("back-spin-disk")
    m, r, g, mu = (model.parameters[name].value for name in ("m", "r", "g", "mu"))
    model.set_parameters(v0=v0, spin=spin, J=share * m * r**2)
    run = model.simulate(3.0)
    assert run.outcome.success and run.check().passed
    start, stick = run.transitions
    slip = v0 + r * spin
    time = abs(slip) / (mu * g * (1 + 1 / share))
    ends = (v0 - share * r * spin) / (1 + share)
    assert start.mode == {"floor": "slips"} and stick.mode == {"floor": "sticks"}
    assert stick.t == pytest.approx(time, abs=CLOSE)
    assert stick.u_after == pytest.approx([ends, 0.0, ends / r], abs=CLOSE)
    place = v0 * time - np.sign(slip) * mu * g * time**2 / 2
    assert run.q[-1, 0] == pytest.approx(place + ends * (3.0 - time), abs=CLOSE)
    assert (ends < 0.0) == (spin > v0 / (share * r))  # it comes back


def test_friction_takes_the_energy_of_the_slip() -> None:
    """½ m_s s² with 1/m_s = 1/m + r²/J, whatever mu."""
    model = kane.load("back-spin-disk")
    p = {name: parameter.value for name, parameter in model.parameters.items()}
    reduced = 1 / (1 / p["m"] + p["r"] ** 2 / p["J"])
    for mu in (0.2, 0.4):
        model.set_parameters(mu=mu)
        energy = model.simulate(3.0).energy()
        total = energy.kinetic + energy.potential
        assert total[0] - total[-1] == pytest.approx(reduced * (p["v0"] + p["r"] * p["spin"]) ** 2 / 2, rel=1e-11)
