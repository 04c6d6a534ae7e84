"""The coupler, in the loop that keeps time: its force, the steps under it, and the energy that comes in through it.

In a tick of length T the loop reads the device, takes one or more steps of the system with the coupler's springs and
dampers at their ends (`formulation.coupled_terms_program`), and hands the force to the device. With x the device, p
what it is coupled to and h the length of a step,

    F = K (p⁺ − x) + B (ṗ⁺ − ẋ)      on the device, −F on the system

with p⁺ = p + h ṗ⁺. Where a step has `every` = k ticks, h = k T, the force is worked out in each of them all the same,
from a local model of the system, which is where the step ends: in tick i = 0 … k − 1, with x₀ the device at the
beginning of the step, ẋ₀ its mean velocity in the step before and c = (k + 1)/(2 k),

    Fᵢ = K (p⁺ − xᵢ) + B (ṗ⁺ − ẋ₀),      −K (p + c h ṗ⁺ − x₀) − B (ṗ⁺ − ẋ₀) on the system

c is such that both are the same on average where device and system move together. With Δx of each tick and D = h ṗ⁺ a
step gives the device K/2 (Σ Δx² − D²/k) out of nothing, at most K/2 Σ Δx² whatever the system does; dampers give
B/2 (Σ Δx² + that of the step before)/T at most. The device's damping takes b Σ Δx²/T: the coupler is passive where
b > K T/2 + B, as [CS97] say for k = 1, however slow the system is.

The observer adds up the energy that the device puts in, −F Δx from tick to tick since F is held between them, and what
the device's own damping must have taken at least, b Δx²/T [HR02]. With the energy T₀ + V₀ that there was, the work W of
the model's own loads, springs among them, and of what drives its constraints, and the energy V of its height now,

    T₀ + V₀ + W + Σ (b Δx²/T − F Δx) − V

is what is left for motion, for the coupler's spring and for heat. It never falls below zero where b > K T/2 + B. With
several ticks in a step it is told where a step begins: there the device has moved as long as the system.
"""

from __future__ import annotations

import math

from ...simulate.compiled.call import call, part, reals
from ...simulate.compiled.records import NO_MODE, NOT_FINITE
from ...simulate.compiled.step import all_finite, copy_numbers
from ...simulate.compiled.stepping import take_step
from .record import ENERGIES


@part
def grip(k, m):
    """Place and rate of what the device is coupled to, and the energy of the system, at the state of the loop."""
    x = reals(k.x)
    x[0] = m.t
    copy_numbers(m.n, m.y, k.x + 8)
    call(k.coupler, k.x, k.grip)


@part
def share_of_step(k):
    """The part c of a step after which the system meets the spring; 1 where a step has one tick."""
    return (k.every + 1) / (2 * k.every)


@part
def set_pull(k, holds, position, velocity):
    """The coupler's force for the step to come, as the terms of the motion take it, with position and velocity of the
    device at addresses. Where the device could not exert it the spring yields, on both sides: else the system would get
    energy that no hand has given."""
    place, rate = reals(k.grip), reals(k.grip + 8 * k.axes)
    x, v, pull, gain = reals(position), reals(velocity), reals(k.pull), reals(k.gain)
    h = share_of_step(k) * k.h
    for i in range(k.axes):
        stiff, damp = reals(k.stiffness)[i], reals(k.damping)[i]
        pull[i] = stiff * (place[i] - x[i] + h * rate[i]) + damp * (rate[i] - v[i]) if holds else 0.0
        gain[i] = k.h * (h * stiff + damp) if holds else 0.0
        most = reals(k.most_force)[i]
        if abs(pull[i]) > most:
            pull[i], gain[i] = math.copysign(most, pull[i]), 0.0


@part
def ticks_left(k):
    """Seconds from the end of this tick to that of the step that it is part of."""
    return (k.every - 1 - k.tick % k.every) * k.period * 1e-9


@part
def set_force(k, holds):
    """The force on the device, from that of the last step and how its rates have changed, taken to the end of the step
    and for how far the device has come in it. A spring that yields exerts what it can."""
    force, rate, before = reals(k.force), reals(k.grip + 8 * k.axes), reals(k.grip + 8 * (3 * k.axes + ENERGIES))
    position, began, rest = reals(k.position), reals(k.stepped_from), (1.0 - share_of_step(k)) * k.h
    for i in range(k.axes):
        force[i] = reals(k.pull)[i] + reals(k.gain)[i] * (rate[i] - before[i]) / k.h
        if k.every > 1 and reals(k.gain)[i] > 0.0:
            force[i] += reals(k.stiffness)[i] * (rest * rate[i] - (position[i] - began[i]))
        if k.every > 1 and not (holds and k.step_holds):
            force[i] = 0.0


@part
def hand_work(k):
    """Work (J) of the coupler on the system in the step that was just taken, −∫ F · dp with F = K (p⁺ − x) + B (ṗ⁺ − ẋ)
    as the step had it: what was known at its beginning along the way, what the change of the rates adds to it along the
    mean of the rates, as `stepping_work` has it where impulses act too."""
    place, rate = reals(k.grip), reals(k.grip + 8 * k.axes)
    before = reals(k.grip + 8 * (2 * k.axes + ENERGIES))
    pull, gain, work = reals(k.pull), reals(k.gain), 0.0
    for i in range(k.axes):
        rate_before = before[k.axes + i]
        work -= pull[i] * (place[i] - before[i])
        work -= 0.5 * gain[i] * (rate[i] - rate_before) * (rate[i] + rate_before)
    return work


@part
def observe(k):
    """Add up the energy that came in since the tick before, under the force that was held, and see what is left."""
    period, energy, least = k.period * 1e-9, 0.0, 0.0
    x, last, force = reals(k.position), reals(k.last), reals(k.force)
    for i in range(k.axes):
        moved = x[i] - last[i]
        energy -= force[i] * moved
        least += reals(k.own_damping)[i] * moved * moved / period
    k.entered += energy + least
    if k.tick % k.every != 0:
        return
    k.observed = k.at_start + k.given + k.entered - reals(k.grip)[2 * k.axes + 2]
    k.least_observed = min(k.least_observed, k.observed)


@part
def limit_force(k):
    """Brake the device where it has got more energy than it gave, and keep to what it can exert."""
    force, v, square = reals(k.force), reals(k.velocity), 0.0
    for i in range(k.axes):
        square += v[i] * v[i]
    if k.controller and k.observed < 0.0 and square > 0.0:
        brake = min(k.most_damping, -k.observed / (k.every * k.period * 1e-9 * square))
        for i in range(k.axes):
            force[i] -= brake * v[i]
    for i in range(k.axes):
        most = reals(k.most_force)[i]
        force[i] = min(most, max(-most, force[i]))


@part
def advance(k, m, c, s, holds, position, velocity):
    """Take the steps of one tick, with position and velocity of the device at addresses; what comes of it, 0 if all is
    well."""
    before = k.grip + 8 * (2 * k.axes + ENERGIES)
    for _ in range(k.steps):
        if c.count + 2 * c.elements >= c.room:
            k.lost += c.count - 1
            c.count = 1
        copy_numbers(2 * k.axes, k.grip, before)
        set_pull(k, holds, position, velocity)
        m.fresh = 1
        m.grid += 1
        t_new = m.origin + m.grid * k.h
        m.transition_fault = take_step(m, c, s, t_new, t_new - m.t)
        if m.transition_fault != 0:
            return NO_MODE
        if not all_finite(m.n, m.y_new):
            return NOT_FINITE
        copy_numbers(m.n, m.y_new, m.y)
        m.t = t_new
        m.steps += 1
        k.given += s.given
        grip(k, m)
        reals(m.y)[c.states - 1] += hand_work(k)
    return 0
