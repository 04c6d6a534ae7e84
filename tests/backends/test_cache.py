"""Compiled code on disk: found again, never trusted blindly, never in the way."""

from __future__ import annotations

import gc
import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest

from backends.programs import long_chain
from kane.backends import cache, compile, library
from kane.backends.llvm import machine
from kane.graph import Program

X = np.linspace(-1, 1, 8)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KANE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were compiled, and not found on disk."""
    seen: list[str] = []
    assemble = machine.assemble

    def counting(text: str, level: int) -> bytes:
        seen.append(text)
        return assemble(text, level)

    monkeypatch.setattr(machine, "assemble", counting)
    return seen


def evaluated(name: str = "cached") -> list[float]:
    """One sample by the scalar and one by the vector code of a kernel compiled anew."""
    kernel = compile(long_chain(60, name))
    return [*kernel(X), *kernel(X[None])[0]]


def test_what_was_compiled_once_is_loaded_from_then_on(folder: Path, compilations: list[str]) -> None:
    first = evaluated()
    assert len(compilations) == 2
    assert len(list(folder.iterdir())) == 2
    assert evaluated() == first
    assert len(compilations) == 2


def test_another_program_is_another_object(folder: Path, compilations: list[str]) -> None:
    evaluated("one")
    evaluated("another")
    assert len(compilations) == 4


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b[:50] + bytes([b[50] ^ 1]) + b[51:], lambda b: b""])
def test_damage_means_compiling_again_and_mending_the_file(folder: Path, compilations: list[str], damage) -> None:
    first = evaluated()
    sound = {file: file.read_bytes() for file in folder.iterdir()}
    for file, content in sound.items():
        file.write_bytes(damage(content))
    assert evaluated() == first
    assert len(compilations) == 4
    assert {file: file.read_bytes() for file in folder.iterdir()} == sound


def test_the_object_of_another_program_is_not_believed(folder: Path, compilations: list[str]) -> None:
    evaluated("other")
    others = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime_ns)
    first = evaluated("own")
    own = sorted(set(folder.iterdir()) - set(others), key=lambda file: file.stat().st_mtime_ns)
    for mine, foreign in zip(own, others, strict=True):
        mine.write_bytes(foreign.read_bytes())
    assert evaluated("own") == first
    assert len(compilations) == 6


def test_sources_are_told_by_content_not_by_size_and_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "backends").mkdir()
    (tmp_path / "graph" / "passes").mkdir(parents=True)
    files = [tmp_path / "graph" / "ops.py", tmp_path / "graph" / "passes" / "fold.py"]
    for file in files:
        file.write_text("a = 1")
        os.utime(file, ns=(0, 0))
    monkeypatch.setattr(library, "_MAKERS", ("graph",))
    monkeypatch.setattr(library, "__file__", str(tmp_path / "backends" / "library.py"))
    hash_of_sources = library._makers.__wrapped__
    seen = {hash_of_sources()}
    for file in files:
        file.write_text("a = 2")
        os.utime(file, ns=(0, 0))
        seen.add(hash_of_sources())
    files[0].rename(tmp_path / "graph" / "rules.py")
    seen.add(hash_of_sources())
    os.utime(files[1])
    seen.add(hash_of_sources())
    assert len(seen) == 4  # a time alone changes nothing


def test_making_a_program_searches_no_older_objects_for_garbage(folder: Path) -> None:
    frozen = []

    def make() -> Program:
        frozen.append(gc.get_freeze_count())
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        library.load_or_make(("whether or not it succeeds",), make)
    assert frozen[0] > 0
    assert gc.get_freeze_count() == 0


def test_objects_that_the_user_has_frozen_stay_frozen(folder: Path) -> None:
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        library.load_or_make(("made while frozen",), lambda: long_chain(4, "made"))
        assert gc.get_freeze_count() > 0.99 * before
    finally:
        gc.unfreeze()


def test_only_the_owner_can_look_into_the_cache(folder: Path) -> None:
    evaluated()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 for file in folder.iterdir())


def test_a_folder_that_others_could_write_to_is_not_believed(folder: Path, compilations: list[str]) -> None:
    first = evaluated()
    folder.chmod(0o777)
    assert evaluated() == evaluated() == first
    assert len(compilations) == 6


def test_a_folder_that_others_could_only_read_is_used_and_closed(folder: Path, compilations: list[str]) -> None:
    folder.mkdir(mode=0o755)
    assert evaluated() == evaluated()
    assert len(compilations) == 2
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_of_someone_else_is_not_used(folder: Path, compilations: list[str], monkeypatch) -> None:
    evaluated()
    stranger = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: stranger)
    evaluated()
    assert len(compilations) == 4


def test_without_a_place_to_write_everything_works(tmp_path: Path, monkeypatch, compilations: list[str]) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    monkeypatch.setenv("KANE_CACHE_DIR", str(occupied / "cache"))
    assert evaluated() == evaluated()
    assert len(compilations) == 4


def test_a_write_that_fails_leaves_nothing_behind(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    evaluated()
    assert list(folder.iterdir()) == []


def test_what_was_not_used_for_longest_makes_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "LIMIT", 1000)
    for second, name in enumerate(("a", "b", "c", "d", "e", "00")):
        cache.save(name, bytes(118))  # 150 with the checksum
        os.utime(folder / name, ns=(0, 10**9 * second))
    assert len(list(folder.iterdir())) == 6  # 900: nothing has to go
    assert cache.load("a") is not None  # the oldest, but used just now
    cache.save("00more", bytes(118))
    assert {file.name for file in folder.iterdir()} == {"00", "a", "00more"}


def test_the_place_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KANE_CACHE_DIR", str(tmp_path / "a"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "b"))
    monkeypatch.setenv("HOME", str(tmp_path / "c"))
    assert cache.directory() == tmp_path / "a"
    monkeypatch.delenv("KANE_CACHE_DIR")
    assert cache.directory() == tmp_path / "b" / "kane"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache.directory() == tmp_path / "c" / ".cache" / "kane"


def test_the_key_depends_on_every_part_and_on_where_it_ends() -> None:
    assert len({cache.key(b"ab", b"c"), cache.key(b"a", b"bc"), cache.key(b"abc"), cache.key(b"abc", b"")}) == 4


@pytest.mark.parametrize(
    ("system", "expected"),
    [("linux", ".cache/kane"), ("darwin", "Library/Caches/kane"), ("win32", "AppData/Local/kane/Cache")],
)
def test_the_cache_is_where_each_system_keeps_those_of_a_user(
    system: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("KANE_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", system)
    assert cache.directory() == tmp_path / expected
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.directory() == tmp_path / "xdg" / "kane"
    monkeypatch.setenv("KANE_CACHE_DIR", str(tmp_path / "own"))
    assert cache.directory() == tmp_path / "own"
