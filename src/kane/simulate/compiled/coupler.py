"""A motion that goes on live, step by step, while a virtual coupler may pull at a body of it.

The coupler is a spring and a damper between a point that is given and a point of a body that is held by it. Its force
is taken at the beginning of every step and held over it, as a device does that is read once in a tick:

  F = K (x − p) − B v,   tau_r = v_r · F   with the partial velocities v_r of the grabbed point p.

With K = m ω² and B = 2 ζ m ω, where m is the effective mass at p, it is equally stiff to the hand on every body, and
passive for any step h ≪ 1/ω. Where the programs of the motion change at a known time, a step ends just before and the
next begins just after it. `m` is the memory of a loop, `c` that of the coupler.
"""

from __future__ import annotations

import math

import numpy as np

from .call import call, call_with, part, reals, record_of
from .explicit import continue_motion
from .records import MEMORY as MOTION
from .records import REACHED, RUNNING
from .step import copy_numbers, set_inputs

TASKS = ADVANCE, GRAB, REACT = 0, 1, 2
"""What is asked for: a number of steps, the stiffness for the point that is grabbed now, or, where a motion goes by
time stepping, the mean reactions of the last step."""

WHOLE = (
    "held",  # 1 while a point is held
    "body",  # whose point it is
    "bodies",
    "n",  # speeds
    "scene",  # address of the program that writes poses (bodies, 12) and Jacobians (bodies, 6, n) from the inputs
    "places",  # address of what it writes
    "tau",  # address of the efforts among the inputs of the loop, (n,)
    "given",  # (n,): efforts without the coupler
    "row",  # (3, n): partial velocities of the point
    "rates",  # (width,) of a state
    "other",  # (width,)
    "first",  # bytes from the rates to the accelerations
    "changes",  # (ahead, 2): times (s) just before and just after each change of the programs in time
    "ahead",  # how many there are
    "passed",  # how many of them are past
)
REALS = (
    "end",  # of the motion, s
    "x",  # of the point in its body, m
    "y",
    "z",
    "to_x",  # where it is drawn to, in N, m
    "to_y",
    "to_z",
    "at_x",  # where it is, in N, m
    "at_y",
    "at_z",
    "frequency",  # ω, rad/s
    "damping_ratio",  # ζ
    "mass",  # effective mass, kg
    "force_x",  # what it pulls with, in N, N
    "force_y",
    "force_z",
)
MEMORY = np.dtype([(name, "i8") for name in WHOLE] + [(name, "f8") for name in REALS])

motion = record_of(MOTION)
coupler = record_of(MEMORY)


@part
def locate_point(m, c):
    """Set the place of the grabbed point and its partial velocities, at the present state."""
    set_inputs(m, m.t, m.y)
    call(c.scene, m.x, c.places)
    pose = reals(c.places + 96 * c.body)
    jacobian = reals(c.places + 96 * c.bodies + 48 * c.n * c.body)
    row, n = reals(c.row), c.n
    rx = pose[0] * c.x + pose[1] * c.y + pose[2] * c.z
    ry = pose[3] * c.x + pose[4] * c.y + pose[5] * c.z
    rz = pose[6] * c.x + pose[7] * c.y + pose[8] * c.z
    c.at_x, c.at_y, c.at_z = pose[9] + rx, pose[10] + ry, pose[11] + rz
    for j in range(n):
        wx, wy, wz = jacobian[j], jacobian[n + j], jacobian[2 * n + j]
        row[j] = jacobian[3 * n + j] + wy * rz - wz * ry
        row[n + j] = jacobian[4 * n + j] + wz * rx - wx * rz
        row[2 * n + j] = jacobian[5 * n + j] + wx * ry - wy * rx


@part
def component(c, k, values):
    """Component k of what the partial velocities make of `values`, (n,) at an address."""
    row, x = reals(c.row), reals(values)
    total = 0.0
    for j in range(c.n):
        total += row[k * c.n + j] * x[j]
    return total


@part
def pull(m, c):
    """Add the efforts of the coupler to those given."""
    tau, row, n = reals(c.tau), reals(c.row), c.n
    copy_numbers(n, c.given, c.tau)
    locate_point(m, c)
    stiffness, damping = c.mass * c.frequency * c.frequency, 2.0 * c.damping_ratio * c.mass * c.frequency
    speeds = m.y + c.first
    fx = stiffness * (c.to_x - c.at_x) - damping * component(c, 0, speeds)
    fy = stiffness * (c.to_y - c.at_y) - damping * component(c, 1, speeds)
    fz = stiffness * (c.to_z - c.at_z) - damping * component(c, 2, speeds)
    c.force_x, c.force_y, c.force_z = fx, fy, fz
    for j in range(n):
        tau[j] += row[j] * fx + row[n + j] * fy + row[2 * n + j] * fz


@part
def push(c, k, sign):
    """Add a unit force along axis k of N at the grabbed point to the efforts, or take it off again."""
    tau, row, n = reals(c.tau), reals(c.row), c.n
    for j in range(n):
        tau[j] += sign * row[k * n + j]


@part
def square_of_response(c):
    """Σ of the squared accelerations of the grabbed point (1/kg²) that a unit force causes: those in c.other less those
    in c.rates, which is what becomes of c.other."""
    still, moved, total = reals(c.rates + c.first), reals(c.other + c.first), 0.0
    for j in range(c.n):
        moved[j] -= still[j]
    for i in range(3):
        value = component(c, i, c.other + c.first)
        total += value * value
    return total


@part
def hold_mass(c, total):
    """Set the effective mass from the sum of `square_of_response` over three directions, and hold the point where it
    is."""
    copy_numbers(c.n, c.given, c.tau)
    c.mass = 1.0 / math.sqrt(total) if total > 0.0 and total < math.inf else 0.0
    c.to_x, c.to_y, c.to_z = c.at_x, c.at_y, c.at_z


@part
def take_hold(m, c):
    """Set the effective mass at the grabbed point: 1 / |Λ⁻¹|, where Λ⁻¹ (3, 3) has the accelerations of the point that
    unit forces there cause under all constraints. It is that of the lightest direction, or less."""
    copy_numbers(c.n, c.given, c.tau)
    locate_point(m, c)
    call_with(m.rhs, m.rhs_memory, m.x, c.rates)
    total = 0.0
    for k in range(3):
        push(c, k, 1.0)
        call_with(m.rhs, m.rhs_memory, m.x, c.other)
        push(c, k, -1.0)
        total += square_of_response(c)
    hold_mass(c, total)


@part
def continue_to_change(m, c, budget):
    """Continue the motion by up to `budget` steps, over at most one change of the programs in time; returns why it came
    back."""
    times = reals(c.changes)
    m.t_end = c.end
    if c.passed < c.ahead and times[2 * c.passed] < c.end:
        m.t_end = max(times[2 * c.passed], m.t)
    reason = continue_motion(m, budget)
    if reason != REACHED or m.t >= c.end:
        return reason
    after = min(times[2 * c.passed + 1], c.end)
    c.passed += 1
    if after > m.t:
        m.t, m.origin, m.grid, m.fresh = after, after, 0, 1
    return np.int64(RUNNING)


@part
def advance(m, c, budget):
    """Continue the motion by up to `budget` steps while the coupler pulls; returns why it came back."""
    if not c.held:
        return continue_to_change(m, c, budget)
    for _ in range(budget):
        pull(m, c)
        m.fresh = 1
        reason = continue_to_change(m, c, np.int64(1))
        if reason != RUNNING:
            return reason
    return np.int64(RUNNING)


def touch(task, memory, own, budget):
    """Do a task for the motion in the memory of a loop and the coupler in memory of its own."""
    m, c = motion(memory), coupler(own)
    if task == GRAB:
        take_hold(m, c)
        return np.int64(RUNNING)
    return advance(m, c, budget)
