"""Descriptions of mechanisms: bodies, joints, loads, parameters, speeds, and the files that hold them."""

from .attitude import Attitude, attitudes
from .constraints import Constraint, Row
from .file import builtin_names, load_mechanism, read_mechanism
from .gimbals import Lock, lock_problem, locks
from .mechanism import INERTIA, JOINT_TYPES, Mechanism
from .paths import PathTable, body_path_table, joint_path_table
from .records import Body, Control, Coordinate, Joint, Limit, Parameter, Rotor, Shape, Speed, Wheel
from .urdf import UrdfOptions, read_urdf, to_urdf
from .write import write_mechanism

__all__ = [
    "INERTIA",
    "JOINT_TYPES",
    "Attitude",
    "Body",
    "Constraint",
    "Control",
    "Coordinate",
    "Joint",
    "Limit",
    "Lock",
    "Mechanism",
    "Parameter",
    "PathTable",
    "Rotor",
    "Row",
    "Shape",
    "Speed",
    "UrdfOptions",
    "Wheel",
    "attitudes",
    "body_path_table",
    "builtin_names",
    "joint_path_table",
    "load_mechanism",
    "lock_problem",
    "locks",
    "read_mechanism",
    "read_urdf",
    "to_urdf",
    "write_mechanism",
]
