"""Settings shared by all tests.

Hypothesis has no deadline: a test states a law, not a speed, and the first call of a kernel compiles it. The profile
`ci` draws the same examples on every run; choose one with HYPOTHESIS_PROFILE. Compiled objects go to a folder that
lives as long as the run: what an earlier state of the code generator left in the user's cache is never tested.
"""

from __future__ import annotations

import os
import shutil
import tempfile

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "dev", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True, database=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))

# Figures go to files; a machine without a screen runs the same tests.
os.environ.setdefault("MPLBACKEND", "Agg")


def pytest_configure(config: pytest.Config) -> None:
    """Give the run, all its worker processes included, a cache of its own."""
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist: it inherits the folder
        return
    folder = tempfile.mkdtemp(prefix="kane-test-cache-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    os.environ["KANE_CACHE_DIR"] = folder
