"""`kane report` and `kane demo`: one HTML file about a model, and the main job on the Stanford arm."""

from __future__ import annotations
