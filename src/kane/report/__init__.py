"""Reports: motions along given paths, and one self-contained HTML file about a model."""

from .motions import Motion, along, cycloid, through

__all__ = ["Motion", "along", "cycloid", "through"]
