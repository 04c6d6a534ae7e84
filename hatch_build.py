"""What the package's page shows: the README, its pictures and links with the address of the repository before them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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
