"""Pictures of mechanisms and motions: plots, drawings, and an animated 3-D view."""

from .arrows import Arrows, vehicle_arrows
from .scene import recorded_scene, view

__all__ = ["Arrows", "recorded_scene", "vehicle_arrows", "view"]
