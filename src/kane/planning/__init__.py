"""Planned motion: trajectories of joints and frames, inverse kinematics, and control laws that follow a trajectory."""

from .cartesian import Circle, FrameLimits, FrameState, Line, Path, Travel, Turn, pose_of, slerp, travel
from .control import ComputedTorque, GravityCompensation, Hold
from .inverse_kinematics import ROWS, FollowedPath, InverseKinematics, Reached, SearchOptions, Solutions
from .laws import LAWS, Cycloid, Polynomial, TimeLaw, Trapezoid
from .splines import Spline, cubic_spline, quintic_spline
from .trajectories import JointState, Move, PlannedTrajectory, move, rates

__all__ = [
    "LAWS",
    "ROWS",
    "Circle",
    "ComputedTorque",
    "Cycloid",
    "FollowedPath",
    "FrameLimits",
    "FrameState",
    "GravityCompensation",
    "Hold",
    "InverseKinematics",
    "JointState",
    "Line",
    "Move",
    "Path",
    "PlannedTrajectory",
    "Polynomial",
    "Reached",
    "SearchOptions",
    "Solutions",
    "Spline",
    "TimeLaw",
    "Trapezoid",
    "Travel",
    "Turn",
    "cubic_spline",
    "move",
    "pose_of",
    "quintic_spline",
    "rates",
    "slerp",
    "travel",
]
