"""Settings shared by all tests.

Hypothesis has no deadline: a test states a law, not a speed, and the first call of a kernel compiles it. The profile
`ci` draws the same examples on every run, `nightly` draws many new ones and prints how to repeat them; choose one with
HYPOTHESIS_PROFILE. Compiled objects go to a folder that lives as long as the run: what an earlier state of the code
generator left in the user's cache is never tested. Loops, which take long to compile and are told by all their sources,
outlive it in pytest's own cache.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from long.tries import LONG_SECONDS, TESTS_SHARE
from seeds import NIGHTLY, PROFILE, examples, root
from variants import leave_to_long_runs

settings.register_profile(
    "dev", deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True, database=None)
settings.register_profile("nightly", parent=settings.get_profile("dev"), max_examples=examples(50), print_blob=True)
settings.load_profile(PROFILE)

# Figures go to files; a machine without a screen runs the same tests.
os.environ.setdefault("MPLBACKEND", "Agg")

# Tests leave many objects behind, which the collector would look through a tenth of the time.
gc.set_threshold(20_000, 20, 20)

# A job in the background of a script is born deaf to Ctrl-C, and so are its children; tests that interrupt would hang.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


DEADLINE = "KANE_TESTS_DEADLINE"
"""Environment: the time (s since 1970) after which a nightly run begins no further test."""


def pytest_configure(config: pytest.Config) -> None:
    """Give the run, all its worker processes included, a cache of its own and one seed."""
    if hasattr(config, "workerinput"):  # a worker of pytest-xdist: it inherits the folder
        return
    folder = tempfile.mkdtemp(prefix="kane-test-cache-")
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    if getattr(config, "cache", None) is not None:
        (Path(folder) / "loops").symlink_to(config.cache.mkdir("loops"), target_is_directory=True)
    os.environ["KANE_CACHE_DIR"] = folder
    os.environ[DEADLINE] = str(time.time() + TESTS_SHARE * LONG_SECONDS)
    number = root()
    if number is not None:
        os.environ["KANE_SEED"] = str(number)


@pytest.hookimpl(tryfirst=True)  # before marks choose what runs
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave variants to long runs."""
    leave_to_long_runs(items)


def pytest_runtest_setup() -> None:
    """A nightly run ends in time: what it did not come to is reported as skipped."""
    if NIGHTLY and time.time() > float(os.environ[DEADLINE]):
        pytest.skip("the time of this run is over (KANE_LONG_SECONDS)")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how the random systems of this run are drawn again."""
    if os.environ.get("KANE_SEED"):
        terminalreporter.write_line(f"random systems of this run: KANE_SEED={os.environ['KANE_SEED']}")
