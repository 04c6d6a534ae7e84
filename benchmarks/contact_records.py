"""Motions with contacts beside their closed forms and beside motions at 40 digits: how far off times, ratios and states
are, how many states are classified right. No other program that Python calls is event-driven with friction, so that
none stands beside these.
"""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import kane
from benchmarks.measure import Row, exactly
from cases.changing_records import RECORDS

BOUNCES, ROCKS = 20, 10
TOGGLES, APART = 50, 0.04  # changes of the caster's lock, s between them
TESTS = Path(__file__).parents[1] / "tests" / "cases"


def bouncing_ball() -> list[Row]:
    """Times of twenty bounces of a ball, and what is left where it lies."""
    model = kane.load("bouncing-ball")
    h, e, g = (model.parameters[name].value for name in ("h", "e", "g"))
    v = math.sqrt(2 * g * h)
    run = model.simulate(v / g + 2 * v * e / (g * (1 - e)) + 1.0)
    found = [x.t for x in run.transitions if x.cause == "impact"][:BOUNCES]
    expected = v / g + np.concatenate([[0.0], np.cumsum(2 * v / g * e ** np.arange(1, BOUNCES))])
    after = run.t > run.transitions[-1].t
    left = float(max(np.abs(run.q[after]).max(), np.abs(run.u[after]).max()))
    return [
        Row(f"bouncing ball, {BOUNCES} bounces: times", exactly(abs(found - expected).max()), "s", 1e-12, "at most"),
        Row("bouncing ball: height and velocity after the last bounce", exactly(left), "m, m/s", 0.0, "at most"),
    ]


def disk_threshold() -> list[Row]:
    """Friction above which a disk rolls down a ramp from rest, by bisection on its motion."""
    model = kane.load("disk-on-ramp", free=["mu"])
    p = {name: parameter.value for name, parameter in model.parameters.items()}
    low, high = 0.0, 1.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        rolls = model.simulate(0.01, parameters={"mu": middle}).transitions[0].mode["ramp"] == "sticks"
        low, high = (low, middle) if rolls else (middle, high)
    error = abs(high - math.tan(p["phi"]) / (1 + p["m"] * p["r"] ** 2 / p["J"]))
    return [Row("disk on a ramp: threshold of friction by bisection", exactly(error), "", 1e-9, "at most")]


def rocking_block() -> list[Row]:
    """Ratio of the angular velocities in ten impacts of a rocking block, each resolved on two corners."""
    model = kane.load("rocking-block")
    b, h = (model.parameters[name].value for name in ("b", "h"))
    impacts = [x for x in model.simulate(9.0).transitions if x.cause == "impact"][:ROCKS]
    ratio = 1 - 1.5 * math.sin(math.atan2(b, h)) ** 2
    error = max(abs(float(x.u_after[2] / x.u_before[2]) / ratio - 1) for x in impacts)
    return [
        Row(f"rocking block, {len(impacts)} impacts: ratio of Housner", exactly(error), "relative", 1e-9, "at most")
    ]


def painleve_states() -> list[Row]:
    """States of Painlevé's rod of the reference file that are classified right."""
    record = RECORDS["V03"]
    model = kane.load("painleve-rod")
    model.set_parameters(**{name: record["parameters"][name] for name in ("m", "l", "mu", "g")})
    states, right = record["values"]["table"], 0
    for state in states:
        run = model.simulate(1e-3, q=[0, 0, state["theta"]], u=[-2.0, 0.0, state["w"]])
        first = run.transitions[0]
        found = "indeterminate" if first.possible > 1 else "slides" if first.mode["A"] == "slips" else "leaves"
        if any(x.cause == "impact without collision" for x in run.transitions[:2]):
            found = "inconsistent"
        right += found == state["result"]
    return [Row("Painlevé's rod: states classified right", exactly(right), f"of {len(states)}", len(states))]


def _pushed_cart(record: dict[str, Any]) -> tuple[kane.Model, Any, Any]:
    """The cart of a record with its loads, and its start."""
    model, p, start = kane.load("shopping-cart"), record["parameters"], record["initial"]
    model.set_parameters(**{name: p[name] for name in ("mB", "IB", "mC", "L1", "L2", "L3")})
    force = (f"{p['F0']} + {p['F1']}*sin({p['wF']}*t)", 0, 0)
    model.load("push", kane.Force("basket", force, at=(0, 0, 0), frame="basket"))
    model.load("turn", kane.Torque("basket", (0, 0, f"{p['T0']} + {p['T1']}*sin({p['wT']}*t)")))
    speeds = {"u1": start["u1"], "u2": start["u2"]}
    return model, *model.project(start["q"], speeds, hold=["u1", "u2", *model.coordinates])


def _toggle(model: kane.Model) -> None:
    """Let the caster be locked and freed by time, again and again."""
    model.constrain("caster_lock", when=f"sin(pi*t/{APART})", until=f"-sin(pi*t/{APART})")


def cart_transitions() -> list[Row]:
    """The cart whose caster is locked and freed: both machines beside each other, a closed form and 40 digits."""
    record = RECORDS["K01"]
    model, q, u = _pushed_cart(record)
    _toggle(model)
    span = (1e-3, (TOGGLES + 1.5) * APART)
    ends = [model.simulate(span, q=q, u=u, embed=embed) for embed in ("run-time", "formulation")]
    count = min(len(run.transitions) - 1 for run in ends)
    apart = max(float(np.abs(getattr(ends[0], x)[-1] - getattr(ends[1], x)[-1]).max()) for x in ("q", "u"))
    straight, mass, force = kane.load("shopping-cart"), 0.0, 2.0
    mass = sum(straight.parameters[name].value for name in ("mB", "mC"))
    straight.load("push", kane.Force("basket", (force, 0, 0), at=(0, 0, 0), frame="basket"))
    _toggle(straight)
    q0, u0 = np.zeros(len(straight.coordinates)), np.zeros(len(straight.speeds))
    u0[straight.speeds.index("u1")] = 0.5
    errors = []
    for embed in ("run-time", "formulation"):
        run = straight.simulate(span, q=q0, u=u0, embed=embed)
        t = run.t[-1] - run.t[0]
        errors.append(abs(float(np.hypot(*(run.q[-1] - q0)[:2])) - (0.5 * t + 0.5 * force / mass * t * t)))
    times = record["parameters"]["times"]
    model, q, u = _pushed_cart(record)
    locked = "*".join(f"(t - {t})" for t in times)
    model.constrain("caster_lock", when=f"-{locked}", until=locked)
    run = model.simulate(record["parameters"]["T"], q=q, u=u)
    digits = float(np.abs(run.q[-1] - np.array(record["values"]["q_T"])).max())
    title = f"cart, caster locked and freed {count} times"
    return [
        Row(f"{title}: state machine beside recombination", exactly(apart), "m, rad, /s", 1e-11, "at most"),
        Row(f"{title} while pushed straight: beside the closed form", exactly(max(errors)), "m", 1e-11, "at most"),
        Row(f"cart, {len(times)} changes: beside the motion at 40 digits", exactly(digits), "m, rad", 1e-10, "at most"),
    ]


def reference_records() -> list[Row]:
    """Comparisons with the reference motions of changing constraints that hold, each at the tolerance of its record."""
    files = sorted(str(path) for path in TESTS.glob("test_changing_*.py"))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files]
    told = subprocess.run(command, cwd=TESTS.parents[1], capture_output=True, text=True, check=False).stdout
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error)", told)}
    total = sum(counts.values())
    title = f"comparisons with the {len(RECORDS)} reference motions that hold"
    return [Row(title, exactly(counts.get("passed", 0)), f"of {total}", max(total, 1))]
