"""Reports: motions along given paths, and one self-contained HTML file about a model.

`write` and what belongs to it need the packages that draw; they are imported when first named, motions without them.
"""

from typing import TYPE_CHECKING, Any

from .motions import Motion, cycloid, motion_along, motion_through

if TYPE_CHECKING:
    from .page import Section
    from .writer import Written, write

__all__ = ["Motion", "Section", "Written", "cycloid", "motion_along", "motion_through", "write"]


def __getattr__(name: str) -> Any:
    if name == "Section":
        from .page import Section

        return Section
    if name in ("Written", "write"):
        from . import writer

        return getattr(writer, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
