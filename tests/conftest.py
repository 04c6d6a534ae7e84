"""Settings shared by all tests.

Hypothesis has no deadline: a test states a law, not a speed, and the first call of a kernel compiles it. The profile
`ci` draws the same examples on every run; choose one with HYPOTHESIS_PROFILE.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "dev", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True, database=None)
# Figures go to files; a machine without a screen runs the same tests.
os.environ.setdefault("MPLBACKEND", "Agg")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))
