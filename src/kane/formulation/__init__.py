"""From a description to equations: Kane's method as a reverse sweep, composite bodies, the solve inside the program."""

from .auxiliary import reaction_symbols
from .closed_form import CLOSED_FORM, PIVOTS, ClosedFormOf, closed_form_program
from .equations import Equations, formulate
from .ground import SAFETY, TIPOVER, Ground, contacts_program, ground_program, safety_program
from .ground_symbols import Judged, ground_symbols, judged_symbols
from .joint_symbols import joint_symbols
from .marks import marks_program
from .modes import ModeRows, SlidingFriction, mode_programs
from .motion import (
    CompiledControl,
    ControlLaw,
    SoftRow,
    acceleration_symbols,
    control_program,
    coordinate_rates_program,
    coupled_terms_program,
    coupler_program,
    evaluation_program,
    is_steady,
    jacobian_program,
    layout_of,
    mobility_program,
    motion_program,
    places_program,
    power_program,
    scene_program,
    terms_program,
    unit_program,
    watch_program,
)
from .places import Place, place_of, place_program
from .properties import external_program
from .reactions import multiplier_symbols
from .regressor import regressor_program
from .tipover import hull_edges
from .wheel_marks import PULLS, WheelMarks, pull_at_platforms, wheel_marks

__all__ = [
    "CLOSED_FORM",
    "PIVOTS",
    "PULLS",
    "SAFETY",
    "TIPOVER",
    "ClosedFormOf",
    "CompiledControl",
    "ControlLaw",
    "Equations",
    "Ground",
    "Judged",
    "ModeRows",
    "Place",
    "SlidingFriction",
    "SoftRow",
    "WheelMarks",
    "acceleration_symbols",
    "closed_form_program",
    "contacts_program",
    "control_program",
    "coordinate_rates_program",
    "coupled_terms_program",
    "coupler_program",
    "evaluation_program",
    "external_program",
    "formulate",
    "ground_program",
    "ground_symbols",
    "hull_edges",
    "is_steady",
    "jacobian_program",
    "joint_symbols",
    "judged_symbols",
    "layout_of",
    "marks_program",
    "mobility_program",
    "mode_programs",
    "motion_program",
    "multiplier_symbols",
    "place_of",
    "place_program",
    "places_program",
    "power_program",
    "pull_at_platforms",
    "reaction_symbols",
    "regressor_program",
    "safety_program",
    "scene_program",
    "terms_program",
    "unit_program",
    "watch_program",
    "wheel_marks",
]
