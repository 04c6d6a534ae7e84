"""The chapter of a report about a vehicle: motion from above, forces of the ground, slip and skid, tip-over."""

from __future__ import annotations

from ..api import Trajectory
from ..api.lifting import SAID, Lifting, wheel_of
from ..api.vehicles import GroundForces, TipOver
from ..errors import KaneError
from ..markup import paragraph, table
from ..viewer import plots, vehicles
from .page import Section, figure

_WORDS = {"normal": "would have to pull", "friction": "would slip", "skid": "would skid"}
_LISTED = 40  # changes of contacts, the first ones


def vehicle_chapters(trajectory: Trajectory) -> list[Section]:
    """One chapter for each vehicle of the model that stands on a polygon of wheels."""
    names = list(trajectory.model.mechanism.vehicles)
    found: list[Section] = []
    for name in names:
        try:
            trajectory.tipover(name)
        except KaneError:  # on two wheels, or where the ground cannot be told
            continue
        found.append(Section("Vehicle" if len(names) == 1 else f"Vehicle {name}", _body(trajectory, name)))
    return found


def _body(trajectory: Trajectory, name: str) -> str:
    ground, tip = trajectory.ground(name), trajectory.tipover(name)
    body = figure(
        plots.svg(vehicles.from_above(trajectory, name), "the vehicle from above"),
        "Outlined: the support polygon. Dots and the curve on the right: the load point, where the normal forces act "
        "together; it leaves the polygon where the vehicle would tip over.",
    )
    circle = f" inside the circle of {ground.limit:g}." if ground.limit > 0 else "; no coefficient of it is given."
    body += figure(
        plots.svg(vehicles.wheel_forces(trajectory, name), "forces on the wheels"),
        f"Forces of the ground, and what friction they need{circle}",
    )
    if ground.undetermined:
        body += paragraph(
            f"Not determined by rigid bodies, shared by the stiffness of tyres: {', '.join(ground.undetermined)}."
            + (f" Their sums are: {', '.join(ground.sums)}." if ground.sums else "")
        )
    body += figure(plots.svg(vehicles.tip_over(trajectory, name), "tip-over measure"), tip.headline + ".")
    return body + (_violations(ground, tip) if tip.lifting is None else _lifting(tip.lifting))


def _violations(ground: GroundForces, tip: TipOver) -> str:
    """What wheels that neither lift nor slide could not do."""
    rows = [(c.what.partition(" of ")[2], _WORDS[c.what.split(" ")[0]], f"{float(c):.9g}") for c in ground.violations]
    begun = [c for c in tip.crossings if c.to == "negative"]
    rows += [(c.what.removeprefix("edge "), tip.verdict, f"{float(c):.9g}") for c in begun]
    if not rows:
        return ""
    return "<h3>What could not happen like that</h3>" + table(("wheel or edge", "what", "from t (s)"), rows, words=2)


def _lifting(lifting: Lifting) -> str:
    """What wheels that lift and slide did, in the words of the outcome, and each time at which they did."""
    changes = [c for c in lifting.contacts if c.to in SAID]
    if not changes:
        return ""
    rows = [(wheel_of(c), SAID[c.to], f"{float(c):.9g}") for c in changes[:_LISTED]]
    more = len(changes) - _LISTED
    return (
        "<h3>Wheels that lift or slide</h3>"
        + paragraph("\n".join(lifting.sentences))
        + table(("wheel", "what", "from t (s)"), rows, words=2)
        + (paragraph(f"… and {more} more.") if more > 0 else "")
    )


__all__ = ["vehicle_chapters"]
