"""COEF u̇ = RHS assembled densely [STON08] gives what the fast routes give, on trees of 2 to 50 bodies."""

from __future__ import annotations

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kane.formulation.dense import dense_equations
from laws.trees import AXES, KINDS, MOUNTS, build, planned
from seeds import FIXED, examples
from unit.large.mechanisms import states

EFFORTS = 1e-11  # relative to the sum of the sizes of all terms of an effort
RESIDUAL = 1e-11  # of M u̇ = tau − bias, relative to the sizes of its terms; u̇ itself is worse by the condition of M
ALONG_JOINTS = ("joint spring", "effort")  # loads that trees of any size take


@settings(max_examples=examples(4), derandomize=FIXED, phases=[Phase.generate])
@given(st.integers(2, 50), st.integers(0, 2**32 - 1))
def test_the_dense_route_agrees_on_trees_of_two_to_fifty_bodies(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = ["revolute", *(KINDS[int(k)] for k in rng.integers(len(KINDS), size=size - 1))]
    axes = [AXES[int(k)] for k in rng.integers(len(AXES), size=size)]
    mounts = [MOUNTS[int(k)] for k in rng.integers(len(MOUNTS), size=size)]
    model = build(planned(rng, kinds, axes, mounts, list(ALONG_JOINTS)))
    q, u, x = (rows[0] for rows in states(model, 1, seed))
    state = dense_equations(model.mechanism).state(q, u)
    scale = state.effort_scale(x)
    assert np.all(np.abs(model.inverse_dynamics(q, u, x) - state.efforts(x)) <= EFFORTS * scale)
    udot = model.forward_dynamics(q, u, x)
    assert np.all(np.abs(state.efforts(udot) - x) <= RESIDUAL * (state.effort_scale(udot) + np.abs(x)))
