"""Compiled code on disk, so that a program is compiled once per machine.

One file per object under `$KANE_CACHE_DIR`, else `$XDG_CACHE_HOME/kane`, else where the system keeps caches of a user
(`~/.cache/kane`, on macOS `~/Library/Caches/kane`, on Windows in `%LOCALAPPDATA%`), readable by its owner only. A file
is the SHA-256 of its name and content, and the content: the name is a hash of all that the object was made from, so an
object under the name of another is not believed. Code from disk is run, so a directory that others may write to, or
that belongs to someone else, is not used, and a file whose checksum fails is compiled again. A cache that cannot be
written is no fault: everything works without it. From time to time what has not been used for longest is removed, so
that it does not grow without end.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

_CHECKSUM = 32
LIMIT = 512 * 2**20
"""Bytes that the cache may take; half of that is left when it is cleared out."""


def directory() -> Path:
    """Where compiled code is kept."""
    if chosen := os.environ.get("KANE_CACHE_DIR"):
        return Path(chosen)
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "kane"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "kane"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "kane" / "Cache"
    return Path.home() / ".cache" / "kane"


def key(*parts: bytes) -> str:
    """The name of an object: the hash of all it depends on."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "little") + part)
    return digest.hexdigest()


def load(name: str, folder: str = "") -> bytes | None:
    """The object called `name`; None if it is not there, damaged, or in a place that is not ours alone.

    `folder` is the folder within the cache, where objects of one kind have one of their own.
    """
    try:
        place = directory() / folder
        if not _private(directory()) or not _private(place):
            return None
        content = (place / name).read_bytes()
        os.utime(place / name)
    except (OSError, RuntimeError):
        return None
    checksum, code = content[:_CHECKSUM], content[_CHECKSUM:]
    return code if code and _checksum(name, code) == checksum else None


def save(name: str, code: bytes, folder: str = "") -> None:
    """Keep `code` under `name`: whole or not at all, and silently not at all where the cache cannot be written."""
    temporary: Path | None = None
    try:
        place = directory() / folder
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _private(directory()) or not _private(place):
            return
        handle, path = tempfile.mkstemp(dir=place)
        temporary = Path(path)
        with os.fdopen(handle, "wb") as file:
            file.write(_checksum(name, code) + code)
        temporary.replace(place / name)
        if folder or name.startswith("00"):  # one in 256: looking at all files takes longer than compiling a program
            clear_out(place)
    except (OSError, RuntimeError):
        if temporary is not None:
            with contextlib.suppress(OSError):
                temporary.unlink()


def _checksum(name: str, code: bytes) -> bytes:
    digest = hashlib.sha256(name.encode() + b"\0")
    digest.update(code)
    return digest.digest()


def clear_out(place: Path) -> None:
    """Remove what has not been used for longest, if there is more than `LIMIT` in all."""
    with os.scandir(place) as entries:
        files = sorted((e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in entries if e.is_file())
    total = sum(size for _, size, _ in files)
    if total <= LIMIT:
        return
    for _, size, path in files:
        if total <= LIMIT // 2:
            break
        with contextlib.suppress(OSError):  # another process was faster
            Path(path).unlink()
        total -= size


def _private(place: Path) -> bool:
    """Whether `place` is a directory of this user that no other user could write to; others cannot read it either."""
    state = place.stat()
    if os.name != "posix":
        return True
    if state.st_uid != os.getuid() or state.st_mode & 0o022:
        return False
    if state.st_mode & 0o077:
        place.chmod(0o700)
    return True
