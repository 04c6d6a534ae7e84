"""Texts written to files whole or not at all: into a temporary file beside the target, which then replaces it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path

from ...errors import InputError


def replace_text(path: str | Path, text: str, suffixes: tuple[str, ...] = ()) -> None:
    """Write `text` (UTF-8) to the file `path`, whose ending is one of `suffixes` if any are given.

    What was there before stays until all is written: neither an interrupt nor a full disk leaves half a file. A link
    stays a link, and the permissions of an existing file are kept.
    """
    target = Path(path)
    if suffixes and target.suffix not in suffixes:
        raise InputError(f"'{path}' cannot be written: it ends in '{target.suffix}'\n    fix: {' or '.join(suffixes)}")
    if "\0" in str(path):
        raise InputError(f"{str(path)!r} cannot be written: no file has such a name")
    target = Path(os.path.realpath(target))
    beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with beside.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except OSError as error:
        kept = "; what was there is unchanged" if target.is_file() else ""
        raise InputError(f"'{path}' cannot be written: {error.strerror or error}{kept}") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


__all__ = ["replace_text"]
