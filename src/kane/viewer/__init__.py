"""Pictures of mechanisms and motions: plots, drawings, what bodies look like, forces as arrows."""

from .arrows import Arrows, vehicle_arrows

__all__ = ["Arrows", "vehicle_arrows"]
