"""How pictures look: ink, grid and letters, one table for all of them."""

from __future__ import annotations

from typing import Any

INK = "#334155"
"""Text and axes; becomes the colour of the page's own text in `svg`."""

GRID = "#94a3b8"
STYLE: Any = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.useoffset": False,  # -16.67 and -16.72 are read at once, -0.67 and -0.72 beside -1.6e1 are not
    "grid.color": GRID,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    "lines.solid_capstyle": "round",
    "text.parse_math": False,  # a body may be called `$\\frac$`
    "svg.fonttype": "none",
    "svg.hashsalt": "kane",
}
