"""URDF, the robot description format of ROS: read into a Mechanism, and written where a Mechanism can be expressed."""

from .options import UrdfOptions
from .read import read_urdf
from .write import to_urdf

__all__ = ["UrdfOptions", "read_urdf", "to_urdf"]
