"""Descriptions of mechanisms: bodies, joints, loads, parameters, speeds, and the files that hold them."""

from .file import builtin_names, load_mechanism, read_mechanism
from .mechanism import INERTIA, JOINT_TYPES, Mechanism
from .records import Body, Control, Coordinate, Joint, Limit, Parameter, Rotor, Shape, Speed
from .urdf import UrdfOptions, read_urdf, to_urdf
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
    "Rotor",
    "Shape",
    "Speed",
    "UrdfOptions",
    "builtin_names",
    "load_mechanism",
    "read_mechanism",
    "read_urdf",
    "to_urdf",
    "write_mechanism",
]
