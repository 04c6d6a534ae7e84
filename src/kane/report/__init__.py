"""Reports: motions along given paths, and self-contained HTML files about a model or an ensemble.

`write` and what belongs to it need the packages that draw; they are imported when first named, motions without them.
"""

from typing import TYPE_CHECKING, Any

from .motions import Motion, cycloid, motion_along, motion_through

if TYPE_CHECKING:
    from .ensembles import write_ensemble
    from .page import Section
    from .writer import Written, write

__all__ = ["Motion", "Section", "Written", "cycloid", "motion_along", "motion_through", "write", "write_ensemble"]


def __getattr__(name: str) -> Any:
    if name == "Section":
        from .page import Section

        return Section
    if name == "write_ensemble":
        from .ensembles import write_ensemble

        return write_ensemble
    if name in ("Written", "write"):
        from . import writer

        return getattr(writer, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
