"""Pictures of mechanisms and motions: plots, drawings, and an animated 3-D view."""

from .scene import recorded_scene, view

__all__ = ["recorded_scene", "view"]
