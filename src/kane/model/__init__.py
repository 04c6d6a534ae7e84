"""Descriptions of mechanisms: bodies, joints, loads, parameters, speeds, and the files that hold them."""

from .file import builtin_names, load_mechanism, read_mechanism
from .mechanism import INERTIA, JOINT_TYPES, Mechanism
from .records import Body, Control, Coordinate, Joint, Limit, Parameter, Shape, Speed
from .write import write_mechanism

__all__ = [
    "INERTIA",
    "JOINT_TYPES",
    "Body",
    "Control",
    "Coordinate",
    "Joint",
    "Limit",
    "Mechanism",
    "Parameter",
    "Shape",
    "Speed",
    "builtin_names",
    "load_mechanism",
    "read_mechanism",
    "write_mechanism",
]
