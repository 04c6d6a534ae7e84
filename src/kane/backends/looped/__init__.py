"""Recursions over the bodies of a tree as machine code whose size depends on the kinds of joints, not on their number.

In come steps as programs (`Recursion`) and a `Layout`: tables that say where the numbers of each body are. Out comes a
`Kernel` like any other: called on arrays, or by its address.
"""

from __future__ import annotations

from ...graph import Program
from ..kernel import Kernel
from .records import CONSTANTS, Pass, Places, Recursion, TreeLayout

# LLVM takes a tenth of a second to import; models can be read without it.


def compile_looped(recursion: Recursion, layout: TreeLayout, signature: Program) -> Kernel:
    """The kernel of a recursion over the tree of `layout`.

    `signature` has the names and labels of the inputs and the names and shapes of the outputs; it has no rows.
    """
    from . import code

    return code.compile_looped(recursion, layout, signature)


def compile_motion(
    recursion: Recursion, layout: TreeLayout, motion: Program, unit: Program
) -> tuple[Kernel, Kernel | None]:
    """(rates of a state, the state with its quaternions unit or None where it has none), given the signatures of both.

    The layout's `states` first numbers after t among the inputs are the state.
    """
    from . import code

    return code.compile_motion(recursion, layout, motion, unit)


__all__ = ["CONSTANTS", "Pass", "Places", "Recursion", "TreeLayout", "compile_looped", "compile_motion"]
