"""Checks of models and motions against the laws of mechanics, and tables of operation counts."""

from .check import check
from .ops import OperationRow, OperationTable, operation_table
from .report import CheckReport, CheckRow
from .trajectory import check_trajectory

__all__ = [
    "CheckReport",
    "CheckRow",
    "OperationRow",
    "OperationTable",
    "check",
    "check_trajectory",
    "operation_table",
]
