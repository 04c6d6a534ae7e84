"""Checks of models and motions against the laws of mechanics, and tables of operation counts."""

from .arms import ArmTable, arm_table
from .base_parameters import BaseParameters, base_parameters
from .check import check
from .eigenmodes import Eigenmode
from .linearization import Linearization, Operating
from .mobile import MobileTable, mobile_table
from .ops import KnownArms, OperationRow, OperationTable, known_arms, operation_table
from .report import CheckReport, CheckRow
from .speeds import SpeedChoice, SpeedSuggestions, suggest_speeds, with_speeds
from .steady import Steady
from .trajectory import check_stepped, check_trajectory

__all__ = [
    "ArmTable",
    "BaseParameters",
    "CheckReport",
    "CheckRow",
    "Eigenmode",
    "KnownArms",
    "Linearization",
    "MobileTable",
    "Operating",
    "OperationRow",
    "OperationTable",
    "SpeedChoice",
    "SpeedSuggestions",
    "Steady",
    "arm_table",
    "base_parameters",
    "check",
    "check_stepped",
    "check_trajectory",
    "known_arms",
    "mobile_table",
    "operation_table",
    "suggest_speeds",
    "with_speeds",
]
