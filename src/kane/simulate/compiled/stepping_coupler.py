"""A motion by time stepping that goes on live, while the virtual coupler of `coupler` may pull at a body of it.

The force of the coupler is an effort like others, taken at the beginning of each step and held over it. The effective
mass at the point that is held is that under permanent constraints alone: contacts could only make it larger. `m` is the
memory of the loop, `k` that of the coupler, `c` and `s` those of the constraints and of the steps.
"""

from __future__ import annotations

import numpy as np

from .call import part
from .changing_record import record
from .coupler import (
    GRAB,
    REACT,
    coupler,
    hold_mass,
    locate_point,
    motion,
    pull,
    push,
    square_of_response,
)
from .records import RUNNING
from .step import copy_numbers
from .stepping import continue_steps, read_inputs, set_reactions
from .stepping_motion import look_at, stepping


@part
def accelerate(m, k, c, s, target):
    """Accelerations without contacts under the efforts of now, to their place among rates at an address."""
    read_inputs(m, c)
    look_at(c, s)
    copy_numbers(c.n, s.accelerations, target + k.first)


@part
def take_hold_between_contacts(m, k, c, s):
    """Set the effective mass at the grabbed point, as `coupler.take_hold` does, without contacts."""
    copy_numbers(k.n, k.given, k.tau)
    locate_point(m, k)
    accelerate(m, k, c, s, k.rates)
    total = 0.0
    for axis in range(3):
        push(k, axis, 1.0)
        accelerate(m, k, c, s, k.other)
        push(k, axis, -1.0)
        total += square_of_response(k)
    hold_mass(k, total)
    m.fresh = 1


@part
def react(c, s):
    """Mean reactions of the last step, to c.reaction; nothing that a step reads is changed."""
    if s.last_h == 0.0:
        return
    copy_numbers(c.n, c.z, s.change)
    set_reactions(c, s, s.last_h)
    copy_numbers(c.n, s.change, c.z)


def touch_steps(task, memory, own, budget):
    """Do a task for the motion in the memory of a loop and the coupler in memory of its own."""
    m, k = motion(memory), coupler(own)
    s = stepping(m.transition_memory)
    c = record(s.changing)
    if task == GRAB:
        take_hold_between_contacts(m, k, c, s)
        return np.int64(RUNNING)
    if task == REACT:
        react(c, s)
        return np.int64(RUNNING)
    m.t_end = k.end
    if not k.held:
        return continue_steps(m, budget)
    for _ in range(budget):
        pull(m, k)
        m.fresh = 1
        reason = continue_steps(m, np.int64(1))
        if reason != RUNNING:
            return reason
    return np.int64(RUNNING)
