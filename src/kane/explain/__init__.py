"""Kane's method on a mechanism, step by step, to be read: derivation, and the ways to write it down."""

from .derivation import derive
from .explanation import Explanation
from .latex import write_latex
from .page import write_document, write_html
from .records import Derivation, VectorSum
from .text import write_text

__all__ = [
    "Derivation",
    "Explanation",
    "VectorSum",
    "derive",
    "write_document",
    "write_html",
    "write_latex",
    "write_text",
]
