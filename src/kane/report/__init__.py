"""Reports: motions along given paths, and one self-contained HTML file about a model."""

from .motions import Motion, along, cycloid, through
from .page import Section
from .write import Written, write

__all__ = ["Motion", "Section", "Written", "along", "cycloid", "through", "write"]
