"""Compiled loops on disk: found again, bound to their sources, never believed blindly, never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from numba import types

from kane.simulate.compiled import store

SIMULATION = """
import kane
run = kane.load("pendulum").simulate((0.0, 0.5))
assert run.outcome.success
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where loops are kept during a test."""
    monkeypatch.setenv("KANE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / store.FOLDER


def triple(x: float) -> float:
    return 3.0 * x


def quintuple(x: float) -> float:
    return 5.0 * x


def as_loop(function: Callable[..., Any] = triple) -> tuple[float, bool]:
    """(the function of 2 by a loop made anew, whether its code was found on disk)."""
    compiled = store.loop(function)
    return compiled(2.0), bool(compiled.stats.cache_hits)


def as_program(function: Callable[..., Any] = triple) -> tuple[float, bool]:
    """The same by a program that is called by address."""
    compiled = store.program(types.float64(types.float64))(function)
    return compiled.ctypes(2.0), bool(compiled.cache_hits)


STYLES = pytest.mark.parametrize("made", [as_loop, as_program])


@STYLES
def test_what_was_compiled_once_is_loaded_from_then_on(folder: Path, made: Any) -> None:
    assert made() == (6.0, False)
    assert made() == (6.0, True)
    assert len(list(folder.iterdir())) == 1


@STYLES
def test_another_function_is_another_object(folder: Path, made: Any) -> None:
    assert made() == (6.0, False)
    assert made(quintuple) == (10.0, False)


@STYLES
def test_a_change_of_any_source_means_compiling_again(folder: Path, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made() == (6.0, False)
    monkeypatch.setattr(store, "source_digest", lambda: b"changed")
    assert made() == (6.0, False)


@STYLES
@pytest.mark.parametrize(
    "damage",
    [
        lambda b: b"",
        lambda b: b[: len(b) // 2],
        lambda b: b[:-900] + bytes([b[-900] ^ 1]) + b[-899:],
        lambda b: b"not a loop",
    ],
    ids=["emptied", "truncated", "a bit flipped", "overwritten"],
)
def test_damage_means_compiling_again_and_mending_the_file(folder: Path, made: Any, damage: Any) -> None:
    made()
    (file,) = folder.iterdir()
    sound = file.read_bytes()
    file.write_bytes(damage(sound))
    assert made() == (6.0, False)
    assert made() == (6.0, True)


@STYLES
def test_the_code_of_another_function_is_not_believed(folder: Path, made: Any) -> None:
    made(quintuple)
    (other,) = folder.iterdir()
    made()
    (own,) = set(folder.iterdir()) - {other}
    own.write_bytes(other.read_bytes())
    assert made() == (6.0, False)


@STYLES
def test_sound_bytes_that_numba_cannot_use_mean_compiling_again(folder: Path, made: Any) -> None:
    made()
    (file,) = folder.iterdir()
    store.cache.save(file.name, b"no pickle", store.FOLDER)
    assert made() == (6.0, False)


@STYLES
def test_a_full_disk_is_no_obstacle(folder: Path, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert made() == (6.0, False)
    assert list(folder.iterdir()) == []


@STYLES
def test_sources_that_cannot_be_read_are_no_obstacle(folder: Path, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> bytes:
        raise FileNotFoundError("in an archive")

    monkeypatch.setattr(store, "source_digest", missing)
    assert made() == (6.0, False)
    assert not folder.exists()


def test_a_folder_that_others_could_write_to_is_not_believed(folder: Path) -> None:
    as_loop()
    folder.chmod(0o777)
    assert as_loop() == (6.0, False)


def test_a_simulation_runs_where_nothing_can_be_kept(tmp_path: Path) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    environment |= {"KANE_CACHE_DIR": str(occupied / "cache"), "NUMBA_CACHE_DIR": str(occupied / "numba")}
    done = subprocess.run([sys.executable, "-c", SIMULATION], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


def test_the_sources_of_all_loops_are_in_their_key() -> None:
    """Parts that a loop calls lie in files of this folder, or in the file of the loop itself."""
    from kane.simulate.compiled import embedded, events, explicit, radau, step

    home = Path(store.__file__).parent
    for module in (embedded, events, explicit, radau, step):
        assert Path(str(module.__file__)).parent == home
