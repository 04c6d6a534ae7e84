"""Frames, points, vectors and dyadics over the graph, and the vector theorems of kinematics."""

from .frames import Dyadic, Frame, Point, Vector, position
from .kinematics import Kinematics

__all__ = ["Dyadic", "Frame", "Kinematics", "Point", "Vector", "position"]
