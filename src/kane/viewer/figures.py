"""Figures that show themselves in a notebook, whatever backend matplotlib has there."""

from __future__ import annotations

import io
from typing import Any

from matplotlib import figure as _matplotlib

_DPI = 110
"""Dots in an inch of a figure in a notebook."""


class Picture(_matplotlib.Figure):
    """A figure of matplotlib. Notebooks show those of pyplot by themselves; this one needs no pyplot.
    `unreadable` tells meshes that are not drawn in it, since their files cannot be read."""

    unreadable = ""

    def _repr_png_(self) -> bytes:
        page: Any = io.BytesIO()
        self.savefig(page, format="png", dpi=_DPI)
        return page.getvalue()


__all__ = ["Picture"]
