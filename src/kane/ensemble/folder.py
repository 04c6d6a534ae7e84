"""A folder of files that are there whole or not at all: on this machine, or at an address that fsspec knows.

Files are written beside, in `UNFINISHED`, and then put in their place, so that whatever ends a process leaves no half
of one. Stores of objects do so by themselves.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from ..errors import InputError, WritingError

UNFINISHED = "unfinished"
"""Where files are while they are written; gone when the ensemble is complete."""


class Folder(Protocol):
    """Files by their keys, such as `end_t/c/3`."""

    @property
    def path(self) -> str: ...
    def put(self, key: str, data: bytes) -> None: ...
    def writing(self, key: str) -> AbstractContextManager[BinaryIO]: ...
    def read(self, key: str) -> bytes | None: ...
    def names(self, key: str = "") -> list[str]: ...
    def remove(self, key: str) -> None: ...
    def tidy(self) -> None: ...


def open_folder(address: str) -> Folder:
    """The folder at a path of this machine, or at an address of fsspec such as `s3://bucket/name`."""
    if "://" not in address:
        return LocalFolder(str(Path(address).absolute()))
    try:
        import fsspec  # an extra
    except ModuleNotFoundError:
        raise InputError(f"store = '{address}': needs fsspec\n    fix: pip install 'kane[ensemble]'") from None
    try:
        system, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError, OSError) as error:
        raise InputError(f"store = '{address}': {error}\n    fix: give a folder, or an address of fsspec") from None
    if "file" in (system.protocol if isinstance(system.protocol, tuple) else (system.protocol,)):
        return LocalFolder(path)
    return RemoteFolder(address, path)


@dataclass(frozen=True, slots=True)
class LocalFolder:
    """A folder of this machine, by its absolute `path`."""

    path: str

    def put(self, key: str, data: bytes) -> None:
        """Write a file, or replace it."""
        target = Path(self.path, key)
        beside = Path(self.path, UNFINISHED, uuid.uuid4().hex)
        with _sentence(str(target)):
            try:
                _write_and_place(beside, target, data)
            except OSError:
                beside.unlink(missing_ok=True)  # half of it would take room that is needed
                raise

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[BinaryIO]:
        """A stream that becomes a file at the end of the block: for what is too large to be in memory."""
        target = Path(self.path, key)
        beside = Path(self.path, UNFINISHED, uuid.uuid4().hex)
        with _sentence(str(target)):
            try:
                beside.parent.mkdir(parents=True, exist_ok=True)
                with beside.open("wb") as stream:
                    yield stream
                target.parent.mkdir(parents=True, exist_ok=True)
                beside.replace(target)
            finally:
                beside.unlink(missing_ok=True)

    def read(self, key: str) -> bytes | None:
        """What a file holds; None where there is none."""
        try:
            return Path(self.path, key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def names(self, key: str = "") -> list[str]:
        """Names in a folder, sorted; none where there is no such folder."""
        try:
            found = sorted(path.name for path in Path(self.path, key).iterdir())
            return [name for name in found if key or name != UNFINISHED]
        except FileNotFoundError:
            return []
        except NotADirectoryError:
            raise InputError(f"store = '{self.path}' is a file\n    fix: choose another name") from None

    def remove(self, key: str) -> None:
        """Take a file away, if it is there."""
        Path(self.path, key).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Take away what was never finished."""
        shutil.rmtree(Path(self.path, UNFINISHED), ignore_errors=True)


@dataclass(frozen=True, slots=True)
class RemoteFolder:
    """A folder at an `address` of fsspec, whose `path` its file system knows."""

    address: str
    path: str

    def _system(self) -> Any:
        import fsspec

        return fsspec.core.url_to_fs(self.address)[0]  # fsspec keeps it

    def put(self, key: str, data: bytes) -> None:
        """Write a file, or replace it."""
        with _sentence(f"{self.address}/{key}"):
            self._system().pipe_file(f"{self.path}/{key}", data)

    @contextlib.contextmanager
    def writing(self, key: str) -> Iterator[BinaryIO]:
        """A stream to a temporary file of this machine, which is sent at the end of the block."""
        with _sentence(f"{self.address}/{key}"), tempfile.TemporaryDirectory() as folder:
            whole = Path(folder, "whole")
            with whole.open("wb") as stream:
                yield stream
            self._system().put_file(str(whole), f"{self.path}/{key}")

    def read(self, key: str) -> bytes | None:
        """What a file holds; None where there is none."""
        try:
            return self._system().cat_file(f"{self.path}/{key}")
        except FileNotFoundError:
            return None

    def names(self, key: str = "") -> list[str]:
        """Names in a folder, sorted; none where there is no such folder."""
        try:
            found = self._system().ls(f"{self.path}/{key}".rstrip("/"), detail=False)
        except FileNotFoundError:
            return []
        return sorted(name.rstrip("/").rpartition("/")[2] for name in found)

    def remove(self, key: str) -> None:
        """Take a file away, if it is there."""
        with contextlib.suppress(FileNotFoundError):
            self._system().rm_file(f"{self.path}/{key}")

    def tidy(self) -> None:
        """Nothing: an object is there whole or not at all."""


def _write_and_place(beside: Path, target: Path, data: bytes) -> None:
    """Write a file beside, and put it in its place; folders are made where they are missing."""
    try:
        beside.write_bytes(data)
    except FileNotFoundError:
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(data)
    try:
        os.replace(beside, target)  # noqa: PTH105 - a third faster, a thousand times
    except FileNotFoundError:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.replace(beside, target)  # noqa: PTH105


@contextlib.contextmanager
def _sentence(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        room = "make room on the disk" if full else "choose a place that can be written to"
        raise WritingError(
            f"{what}: cannot be written: {error.strerror or error}\n"
            f"    kept: all blocks that are finished\n    fix: {room}; with resume=True the ensemble goes on"
        ) from None


__all__ = ["Folder", "LocalFolder", "RemoteFolder", "open_folder"]
