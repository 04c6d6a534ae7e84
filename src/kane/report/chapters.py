"""The chapters of a report, each from what it is about to HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..analysis import CheckReport, OperationTable
from ..api import Array, Model, Trajectory
from ..api.limits import effort_limits
from ..api.recordings import recording
from ..api.run_pictures import attitudes
from ..explain import write_efforts
from ..formulation import Equations
from ..graph import STAGES, Program
from ..markup import details, paragraph, table, text
from ..model import BuiltChanging, BuiltConstraint, missing_meshes
from ..model.files.describe import describe_control, describe_load
from ..model.outline import bodies_table, outline
from ..model.speeds import describe_speeds
from ..page import frame
from ..viewer import drawings, plots
from ..viewer.units import coordinate_units, drive_units, effort_units, speed_units
from .motions import Motion
from .page import Section, figure

FIRST_LINES = 48
"""Lines of a program that are shown before the reader asks for all of them."""

_TREE = 110.0  # pixels for an inch of the drawing of a tree: letters as large as those of tables

_STAGES = {"parameters": "parameters (once)", "q": "coordinates", "u": "speeds", "rest": "the rest"}


@dataclass(frozen=True, slots=True)
class Convention:
    """How a paper names and signs the efforts along the speeds of a model."""

    labels: tuple[str, ...]
    signs: tuple[float, ...]
    words: str


CONVENTIONS: Mapping[str, Convention] = {
    "stanford-arm": Convention(
        ("τ₁", "τ₂", "τ₃", "τ₄", "τ₅", "σ"),
        (1.0, -1.0, -1.0, -1.0, -1.0, -1.0),
        "Signs as in Kane & Levinson (1983): τ1 acts on A from the ground; τ2 to τ5 and σ are what the outer body"
        " exerts on the inner one, minus the efforts along the speeds.",
    )
}
"""Conventions of papers, by built-in model."""


def model_chapter(
    model: Model, packages: Sequence[Path | str] = (), start: tuple[Array, Array] | None = None
) -> Section:
    """Drawing, tree, bodies, joints, coordinates, speeds, parameters; meshes that are not drawn, `packages` being the
    folders in which they were looked for. `start` is the state (q, u) that a motion starts from, else that of the
    model."""
    q, u = model.initial_state if start is None else start
    seen = drawings.mechanism(model, q)
    drawn = plots.svg(seen, f"drawing of {model.name}")
    drawing = figure(drawn, "Where the simulation starts." if start is not None else "In the initial state.", "draw")
    gravity = ", ".join(f"{g:g}" for g in model.gravity)
    if drawings.has_readable_tree(model.mechanism):
        drawn = drawings.tree(model.mechanism)
        wide = _TREE * drawn.get_figwidth()
        shown = f'<div style="max-width: {wide:.0f}px">{plots.svg(drawn, f"tree of {model.name}")}</div>'
        tree = figure(shown, f"Gravity ({gravity}) m/s² in N.", "wide tree")
    else:
        tree = f"<pre>{text(chr(10).join(outline(model.mechanism)))}</pre>" + paragraph(
            f"Gravity ({gravity}) m/s² in N."
        )
    joints = [
        (j.name, j.type.kind, j.parent.name, j.child.name, ", ".join(c.name for c in j.coordinates))
        for j in model.joints.values()
    ]
    body = drawing
    if joints:
        listed = "<h3>Joints</h3>" + table(("joint", "type", "parent", "child", "coordinates"), joints, words=5)
        body = f'<div class="pair">{drawing}<div>{listed}</div></div>'
    missing = missing_meshes(model.mechanism, packages)
    body += paragraph(missing.replace("\n    ", "; ")) if missing else ""
    body += paragraph(seen.unreadable) if seen.unreadable else ""
    body += f"{tree}<h3>Bodies</h3>{table(*bodies_table(model.mechanism))}"
    body += "<h3>Coordinates and speeds</h3>" + _variables(model, q, u)
    if model.mechanism.limits:
        body += "<h3>Limits</h3>" + _limits(model)
    if model.constraints:
        body += "<h3>Constraints</h3>" + _constraints(model, None if start is None else q)
    if model.changing:
        body += "<h3>What comes and goes</h3>" + _changing(model)
    if model.parameters:
        chips = "".join(f"<li>{text(p.name)} = {p.value:.6g}</li>" for p in model.parameters.values())
        body += f'<h3>Parameters</h3><ul class="chips">{chips}</ul>'
    if model.loads:
        loads = [(x.name, describe_load(model.mechanism, x)) for x in model.loads.values()]
        body += "<h3>Loads</h3>" + table(("load", "what acts, SI"), loads, words=2)
    if model.controls:
        laws = [(name, *row) for name, law in model.controls.items() for row in describe_control(law).items()]
        body += "<h3>Control laws</h3>" + table(("law", "along", "effort, N m or N"), laws, words=3)
    return Section("Model", body)


def _limits(model: Model) -> str:
    units = dict(zip(model.coordinates, coordinate_units(model.mechanism), strict=True))
    rows = [
        (
            name,
            *(f"{x:g}" if abs(x) < float("inf") else "–" for x in (l.lower, l.upper, l.velocity, l.effort)),
            drive_units(units[name]),
        )
        for name, l in model.mechanism.limits.items()
    ]
    return table(("coordinate", "lower", "upper", "speed", "effort", "in"), rows)


def _constraints(model: Model, q: Array | None) -> str:
    """What the constraints tie together, and what they leave free."""
    found = table(("constraint", "type", "between", "rows"), _ties(model.constraints.values()), words=4)
    return found + paragraph(f"At the start: {model.freedom(q)}.")


def _changing(model: Model) -> str:
    """Contacts, stops and constraints that come and go."""
    return table(("element", "type", "between", "rows"), _ties(model.changing.values()), words=4)


def _ties(parts: Iterable[BuiltConstraint | BuiltChanging]) -> list[tuple[str, str, str, str]]:
    rows: list[tuple[str, str, str, str]] = []
    for c in parts:
        bodies = " and ".join(b.name for b in (c.first, c.second) if b is not None)
        rows.append((c.name, c.kind, bodies, ", ".join(row.label for row in c.rows)))
    return rows


def _variables(model: Model, q: Array, u: Array) -> str:
    """Coordinates and speeds, their units, and their values at the start."""
    units = coordinate_units(model.mechanism)
    rows = [(name, unit or "–", f"{x:.6g}") for name, x, unit in zip(model.coordinates, q, units, strict=True)]
    speeds, words = [], describe_speeds(model.mechanism)
    for name, x, unit in zip(model.speeds, u, speed_units(model.mechanism), strict=True):
        definition = words[name]
        shown = definition if len(definition) < 70 else definition[:69] + "…"
        speeds.append((name, shown, unit or "–", f"{x:.6g}"))
    left = table(("coordinate", "unit", "at the start"), rows, words=2)
    right = table(("speed", "definition", "unit", "at the start"), speeds, words=3)
    return f'<div class="pair">{left}{right}</div>'


def equations_chapter(model: Model, equations: Equations, comparison: OperationTable) -> Section:
    """Counts by stage, beside the literature; the equations themselves or the start of the program."""
    names = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "energy", "momentum")
    rows = []
    for name in names:
        program, count = equations.program(name), equations.count(name)
        stages = [program.count(s) for s in STAGES]
        rows.append(
            (
                name.replace("_", " "),
                *(count[k] for k in ("mul", "add", "div", "trig")),
                *(f"{c['mul'] + c['div']} / {c['add']}" for c in stages),
            )
        )
    body = paragraph(
        "Operations of one evaluation, numbers folded; by stage as multiplications and divisions / additions: what "
        "depends on parameters alone is done once, what depends on coordinates alone once per configuration."
    )
    body += table(("program", "mul", "add", "div", "trig", *(_STAGES[s] for s in STAGES)), rows)
    body += _comparison_table(comparison)
    program = equations.program("inverse_dynamics")
    small = write_efforts(equations, "mathml")
    if small is not None:
        lines = (f'<div class="math"><math display="block">{line}</math></div>' for line in small)
        body += "<h3>Efforts along the speeds</h3>" + "".join(lines)
    body += f"<h3>The program of inverse dynamics</h3>{_program(program)}"
    forward = equations.program("forward_dynamics")
    body += details(f"The program of forward dynamics, {len(forward.rows)} lines", f"<pre>{_lines(forward)}</pre>")
    return Section("Equations", body)


def _comparison_table(comparison: OperationTable) -> str:
    rows = [
        (
            r.computation.replace("_", " "),
            r.source,
            f"{r.total} in all" if r.mul is None else r.mul,
            "" if r.add is None else r.add,
            "" if r.div is None else r.div,
            "" if r.trig is None else r.trig,
        )
        for r in comparison.rows
    ]
    body = "<h3>Beside published counts</h3>" if any("kane" not in r.source for r in comparison.rows) else ""
    body += table(("computation", "by", "mul", "add", "div", "trig"), rows, words=2)
    inverse = [r for r in comparison.rows if r.computation == "inverse_dynamics"]
    bars = {r.source: {"mul": r.mul, "add": r.add or 0, "div": r.div or 0} for r in inverse if r.mul is not None}
    if len(bars) > 2:
        chart = plots.counts(bars, note="operations of one inverse dynamics")
        body += figure(plots.svg(chart, "operation counts"))
    return body


def _program(program: Program) -> str:
    lines = _lines(program).split("\n")
    if len(lines) <= FIRST_LINES:
        return f"<pre>{chr(10).join(lines)}</pre>"
    head = "\n".join(lines[:FIRST_LINES])
    whole = details(f"All {len(program.rows)} lines", f"<pre>{chr(10).join(lines)}</pre>")
    return f"<pre>{head}\n…</pre>{whole}"


def _lines(program: Program) -> str:
    """The text of a program, its comments set apart."""
    escaped = html.escape(str(program).rstrip("\n"), quote=False)
    return re.sub(r"  (# .*)$", r'  <span class="c">\1</span>', escaped, flags=re.MULTILINE)


def given_motion_chapter(model: Model, motion: Motion) -> Section:
    """Inverse dynamics along a given motion: coordinates and efforts."""
    tau = model.inverse_dynamics(motion.q, motion.u, motion.udot, t=motion.t[:, None])
    body = paragraph(motion.about) if motion.about else ""
    body += figure(
        plots.svg(plots.motion(model.mechanism, motion.t, motion.q), "coordinates"), "The motion that is asked for."
    )
    body += _efforts(model, motion.t, tau, "The efforts that produce it.")
    return Section("Inverse dynamics", body)


def _efforts(model: Model, t: Array, tau: Array, caption: str) -> str:
    convention = CONVENTIONS.get(model.mechanism.builtin)
    if convention is None:
        return figure(plots.svg(plots.efforts(model.mechanism, t, tau), "efforts"), caption)
    drawn = plots.efforts(model.mechanism, t, tau, labels=convention.labels, signs=convention.signs)
    return figure(plots.svg(drawn, "efforts"), f"{caption} {convention.words}")


def simulation_chapter(trajectory: Trajectory, targets: Mapping[str, float], *, scene: bool, law: str) -> Section:
    """What moves the model (`law`), how the simulation ended, the motion in 3-D, coordinates and efforts over time."""
    model = trajectory.model
    still = bool(law) and _at_rest(trajectory)
    law = law or ("" if np.any(trajectory.tau) else "no efforts along the speeds")
    said = f"{_start(trajectory)} {law[:1].upper()}{law[1:]}{'. ' if law else ''}"
    body = paragraph(f"{said}The simulation {trajectory.outcome}")
    if scene:
        inside = frame(recording(trajectory, panel=False), f"{model.name} in motion", "min(34rem, 80vh)")
        body += (
            f"<figure>{inside}<figcaption>Drag to turn, scroll to zoom, right-drag to move; the bar under the picture"
            " plays, stops and winds, and shows forces, velocities and curves.</figcaption></figure>"
        )
    if model.constraints:
        residuals = trajectory.residuals
        sizes = [float(np.abs(x).max(initial=0.0)) for x in (residuals.position, residuals.velocity)]
        body += paragraph(
            f"Constraints are met within {sizes[0]:.1e} (m, rad), their rates within {sizes[1]:.1e} (m/s, rad/s)."
        )
    body += _transitions(trajectory)
    if still:
        return Section("Simulation", body + _rest_tables(trajectory))
    caption = "Coordinates; dashed: the targets of the control law." if targets else "Coordinates."
    drawn = plots.motion(model.mechanism, trajectory.t, trajectory.q, targets=targets)
    body += figure(plots.svg(drawn, "motion"), caption)
    body += _attitudes(trajectory)
    if np.any(trajectory.tau):
        body += _efforts(model, trajectory.t, trajectory.tau, "Efforts of the control law.") + _saturation(trajectory)
    return Section("Simulation", body)


_NAMED = 6  # values of a start that are said; the table of the model has all


def _start(trajectory: Trajectory) -> str:
    """A sentence about a start that is not the initial state of the model: what is other than there."""
    model = trajectory.model
    names, own = (*model.coordinates, *model.speeds), np.concatenate(model.initial_state)
    values = np.concatenate([trajectory.q[0], trajectory.u[0]])
    other = [f"{n} = {x:.6g}" for n, x, y in zip(names, values, own, strict=True) if not np.isclose(x, y, 1e-9, 1e-9)]
    if not other:
        return "The motion starts in the initial state of the model."
    more = f" and {len(other) - _NAMED} more" if len(other) > _NAMED else ""
    shown = ", ".join(other[:_NAMED]) + more
    return f"The motion starts at {shown}, the rest as in the initial state of the model."


def _saturation(trajectory: Trajectory) -> str:
    """Efforts that were at their limits, how long and when first; nothing where none was."""
    if not trajectory.saturation:
        return ""
    units = dict(zip(trajectory.model.coordinates, coordinate_units(trajectory.model.mechanism), strict=True))
    rows = [
        (
            x.coordinate,
            f"{x.limit:g}",
            drive_units(units[x.coordinate]).rpartition(", ")[2] or "–",
            f"{x.seconds:.4g}",
            f"{100 * x.share:.3g} %",
            f"{x.first:.4g}",
            str(len(x.spans)),
        )
        for x in trajectory.saturation
    ]
    head = ("effort along the rate of", "limit", "unit", "at it, s", "of the time", "first, s", "times")
    return paragraph("Efforts that were held at their limits:") + table(head, rows)


_STILL = 1e-9  # rad or m, relative where larger: what moves less is at rest to the eye


def _at_rest(trajectory: Trajectory) -> bool:
    """Whether nothing moves and every effort is constant: curves would be straight lines."""
    scales = np.maximum(1.0, np.abs(trajectory.q).max(axis=0, initial=0.0))
    efforts = np.maximum(1.0, np.abs(trajectory.tau).max(axis=0, initial=0.0))
    return bool(
        np.all(np.ptp(trajectory.q, axis=0) <= _STILL * scales)
        and np.all(np.ptp(trajectory.tau, axis=0) <= _STILL * efforts)
    )


def _rest_tables(trajectory: Trajectory) -> str:
    """Where a mechanism is held, and by which efforts, beside what its drives can give."""
    model = trajectory.model.mechanism
    units = coordinate_units(model)
    places = [(n, f"{x:.6g}", u or "–") for n, x, u in zip(model.coordinates, trajectory.q[-1], units, strict=True)]
    most = effort_limits(model)
    efforts = [
        (plots.subscript(f"tau_{n}"), f"{x:.4g}", unit or "–", f"{e:g}" if np.isfinite(e) else "–")
        for n, x, unit, e in zip(model.speeds, trajectory.tau[-1], effort_units(model), most, strict=True)
    ]
    return (
        paragraph("Nothing moves. It stays here, and these efforts hold it:")
        + f'<div class="pair">{table(("coordinate", "value", "unit"), places)}'
        + f"{table(('effort', 'value', 'unit', 'limit'), efforts)}</div>"
    )


TRANSITIONS_SHOWN = 40
"""Transitions that a report lists, the first ones."""


def _transitions(trajectory: Trajectory) -> str:
    """What came and went: a diagram over time, and a table; nothing where nothing can."""
    found = trajectory.transitions
    if not found:
        return ""
    drawn = plots.modes(found, float(trajectory.t[-1]))
    caption = "What comes and goes: where it holds or sticks, slips, and is struck."
    rows = [
        (
            f"{x.t:.9g}",
            x.cause,
            ", ".join(x.constraints),
            f"{x.energy_change:.4g}" if x.energy_change else "",
            x.modes_text(),
        )
        for x in found[:TRANSITIONS_SHOWN]
    ]
    listed = table(("t s", "cause", "of", "energy J", "afterwards"), rows, words=5)
    more = len(found) - TRANSITIONS_SHOWN
    return figure(plots.svg(drawn, "modes over time"), caption) + details(
        f"{len(found) - 1} transitions after the start", listed + (paragraph(f"… and {more} more.") if more > 0 else "")
    )


def _attitudes(trajectory: Trajectory) -> str:
    """One figure for each body whose attitude in the ground is a quaternion."""
    body = ""
    for name, wxyz, R in attitudes(trajectory):
        drawn = plots.attitude(trajectory.t, wxyz, R, name)
        body += figure(plots.svg(drawn, f"attitude of {name}"), "Attitude in N.")
    return body


def conservation_chapter(trajectory: Trajectory, laws: CheckReport) -> Section:
    """Energy balance and momentum along the motion, and the checks of both."""
    model = trajectory.model
    found = trajectory.balance()
    momentum = model.momentum(trajectory.q, trajectory.u)
    drawn = plots.energy(trajectory.t, found.kinetic, found.potential, found.work)
    body = figure(
        plots.svg(drawn, "energy"),
        "Kinetic energy and potential of gravity change by the work of efforts and other loads; right: "
        + ("the work of what moves prescribed parts." if found.driven else "by how much the balance misses."),
    )
    drawn = plots.momentum(trajectory.t, momentum.linear, momentum.angular)
    body += figure(plots.svg(drawn, "momentum"))
    if any(joint.type.kind == "free" for joint in model.joints.values()):
        central = model.momentum(trajectory.q, trajectory.u, about="center", t=trajectory.t[:, None])
        drawn = plots.momentum_change(trajectory.t, central.linear, central.angular)
        body += figure(plots.svg(drawn, "change of momentum"), "What loads from outside change, and rounding.")
    body += laws.html_table()
    return Section("Conservation", body)


def checks_chapter(report: CheckReport) -> Section:
    """The equations compared with independent ones."""
    words = "all checks passed" if report.passed else "NOT ALL CHECKS PASSED"
    return Section("Checks", paragraph(f"At {report.about}: {words}.") + report.html_table())
