"""Files are written whole or not at all: into a temporary file beside, which then takes the place of the old one.

Whatever interrupts the writing (a full disk, Ctrl-C, the end of the process), the file of that name is either what it
was or what it was to become. Faults of the file system come out as a `WritingError` that says what was kept.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from .errors import WritingError

_REFUSED = (errno.EACCES, errno.EPERM, errno.EBUSY)
"""What the system answers where a folder takes no new file, or a file cannot be replaced, but may still be written."""


def write_text(path: Path | str, text: str) -> None:
    """Write `text` as UTF-8."""
    with replacing(path) as stream:
        stream.write(text.encode("utf-8", "backslashreplace"))  # half a pair of UTF-16 is no letter


@contextmanager
def replacing(path: Path | str) -> Iterator[BinaryIO]:
    """A stream of bytes that becomes the file `path` at the end of the block; after an error the file is as it was.

    Devices and pipes are written as they are. A file in a folder that takes no new ones is written in place.
    """
    target = Path(os.path.realpath(path))  # of a link, the file it leads to
    there = _state(target)
    if there is not None and not stat.S_ISREG(there.st_mode):
        with _sentence(path, "what it had taken before"), target.open("wb") as stream:
            yield stream
        return
    kept = "nothing: there was no such file, and there is none now" if there is None else "the file as it was before"
    with _sentence(path, kept):
        _refuse_protected(target, there)
        temporary = _beside(target, there)
    if temporary is None:
        with _sentence(path, "a part of the new content, since its folder takes no other file"), target.open("wb") as s:
            yield s
        return
    try:
        with _sentence(path, kept):
            with temporary.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            _put_in_place(temporary, target, there)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def check_writable(path: Path | str) -> None:
    """Refuse a path that cannot be written, before anything is computed for it; nothing is left behind."""
    target = Path(os.path.realpath(path))
    there = _state(target)
    if there is not None and stat.S_ISDIR(there.st_mode):
        raise WritingError(f"{path}: is a folder")
    if not target.parent.is_dir():
        raise WritingError(f"{path}: there is no folder '{Path(path).parent}'\n    fix: make it, or choose another")
    with _sentence(path, "everything as it was"):
        _refuse_protected(target, there)
        if there is None or stat.S_ISREG(there.st_mode):
            temporary = _beside(target, there)
            if temporary is not None:
                temporary.unlink()


def _refuse_protected(target: Path, there: os.stat_result | None) -> None:
    """Raise what the system would on writing to a file that may not be changed: replacing it would be possible."""
    if there is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _state(target: Path) -> os.stat_result | None:
    """What is at `target`; None for nothing."""
    try:
        return target.stat()
    except OSError:
        return None


def _beside(target: Path, there: os.stat_result | None) -> Path | None:
    """A new empty file in the folder of `target` with the rights of the old one; None where only the old one can be
    written."""
    temporary = target.with_name(f".kane-{secrets.token_hex(8)}.tmp")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        if there is not None and error.errno in _REFUSED and os.access(target, os.W_OK):
            return None
        raise
    os.close(handle)
    if there is not None:
        with contextlib.suppress(OSError):
            temporary.chmod(stat.S_IMODE(there.st_mode))
        if hasattr(os, "chown") and (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(OSError):
                os.chown(temporary, there.st_uid, there.st_gid)
    return temporary


def _put_in_place(temporary: Path, target: Path, there: os.stat_result | None) -> None:
    """Replace `target` by the complete `temporary`, and let the disk know of it."""
    try:
        temporary.replace(target)
    except OSError as error:
        if there is None or error.errno not in _REFUSED:
            raise
        target.write_bytes(temporary.read_bytes())  # a mounted file, or one of another user in a shared folder
        return
    if os.name == "posix":
        with contextlib.suppress(OSError):
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


@contextmanager
def _sentence(path: Path | str, kept: str) -> Iterator[None]:
    """Turn what the system says into a sentence; a closed pipe stays what it is, since nobody listens any more."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise WritingError(
            f"{path}: cannot be written: {reason}\n    kept: {kept}\n    fix: {_advice(error)}"
        ) from None


def _advice(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "make room on the disk, or choose a place on another one"
    return "choose a place that you may write to"
