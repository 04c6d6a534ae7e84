"""Where the files of shapes may be: inside the folder of the model, or inside folders that the user named."""

from __future__ import annotations

from pathlib import Path


def path_inside(file: str, folder: Path | None) -> str:
    """The path of `file` (a relative path) inside `folder`; empty where it is not a file there or leads outside."""
    if folder is None or not file or "\0" in file or Path(file).is_absolute():
        return ""
    try:
        path, root = (folder / file).resolve(), folder.resolve()
        return str(path) if path.is_relative_to(root) and path.is_file() else ""
    except (OSError, ValueError, RuntimeError):
        return ""
