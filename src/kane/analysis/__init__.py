"""Checks of models and motions against the laws of mechanics, and tables of operation counts."""

from .check import check
from .report import CheckReport, CheckRow

__all__ = ["CheckReport", "CheckRow", "check"]
