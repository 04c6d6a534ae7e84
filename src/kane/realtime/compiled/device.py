"""The device, in the loop that keeps time: where it is, where it will be, and how a simulated one moves."""

from __future__ import annotations

import math

from ...simulate.compiled.call import call, part, reals
from ...simulate.compiled.step import all_finite, copy_numbers
from ..words import HOLDING
from .clock import load, now
from .record import MAILBOX, REPLAY

SILENT, READ, BUSY = range(3)
"""What reading the mailbox came to: there is no position that is not too old; it was read; it was being written, for
longer than the loop waits: its writer was stopped by the machine in the midst."""


@part
def read_mail(k, target):
    """The last position that was written to the mailbox, to an address; what came of it: SILENT, READ or BUSY."""
    position, mail, found = reals(target), reals(k.mail_position), BUSY
    for _ in range(8):
        before = load(k.mail)
        if before == 0:
            return SILENT
        if before % 2:
            continue
        for i in range(k.axes):
            position[i] = mail[i]
        if load(k.mail) == before:
            found = READ
            break
    return SILENT if k.real_time and now(k) - load(k.mail + 8) > k.silence else found


@part
def take_mail(k):
    """The position in the mailbox, counted from where the coupler took hold, to k.position; whether it holds. It takes
    hold where it is, at first and after every silence, so that nothing snaps."""
    position, offset, place = reals(k.position), reals(k.offset), reals(k.grip)
    if load(k.control + 8 * HOLDING) == 0:
        k.holds = 0
        return False
    found = read_mail(k, k.position)
    if found == SILENT:
        k.silent += 1
        k.holds = 0
        return False
    if found == BUSY or not all_finite(k.axes, k.position):
        k.bad += 1 if found == READ else 0
        copy_numbers(k.axes, k.last, k.position)
        return k.holds != 0
    if not k.holds:
        for i in range(k.axes):
            offset[i] = place[i] - position[i]
    for i in range(k.axes):
        position[i] += offset[i]
    if not k.holds:
        copy_numbers(k.axes, k.position, k.last)
        copy_numbers(k.axes, k.position, k.stepped_from)
        k.holds = 1
    return True


@part
def read_device(k):
    """Position and velocity of the device to k.position, k.velocity; False where it is silent: the coupler lets go."""
    position, last, velocity = reals(k.position), reals(k.last), reals(k.velocity)
    copy_numbers(k.axes, k.position, k.last)
    holds = True
    if k.source == MAILBOX:
        holds = take_mail(k)
        if not holds:
            copy_numbers(k.axes, k.last, k.position)
    elif k.source == REPLAY:
        copy_numbers(k.axes, k.replayed + 8 * k.axes * k.tick, k.position)
    else:
        true, step = reals(k.true_position), reals(k.encoder)
        for i in range(k.axes):
            position[i] = step[i] * math.floor(true[i] / step[i] + 0.5) if step[i] > 0.0 else true[i]
    if k.tick == 0:
        copy_numbers(k.axes, k.position, k.last)
        copy_numbers(k.axes, k.position, k.stepped_from)
    for i in range(k.axes):
        velocity[i] = (position[i] - last[i]) / (k.period * 1e-9)
    return holds


@part
def set_step_velocity(k):
    """The mean velocity of the device since the last step of the system."""
    velocity, position, began = reals(k.step_velocity), reals(k.position), reals(k.stepped_from)
    for i in range(k.axes):
        velocity[i] = (position[i] - began[i]) / (k.every * (k.period * 1e-9))


@part
def move_device(k, t):
    """Let the simulated device move for one tick, from t on, under the force that reaches it now."""
    axes, force = k.axes, reals(k.force)
    ring = 1 + k.delay
    copy_numbers(axes, k.force, k.held_force + 8 * axes * (k.tick % ring))
    force = reals(k.held_force + 8 * axes * ((k.tick + 1) % ring))
    x, v, a, wanted = reals(k.true_position), reals(k.true_velocity), reals(k.transfer), reals(k.wanted)
    length = k.period * 1e-9 / k.parts
    for part_of_tick in range(k.parts):
        reals(k.x)[0] = t + (part_of_tick + 0.5) * length
        if k.intention != 0:
            call(k.intention, k.x, k.wanted)
        for i in range(axes):
            f = force[i] + reals(k.hand_stiffness)[i] * wanted[i]
            place = a[6 * i] * x[i] + a[6 * i + 1] * v[i] + a[6 * i + 2] * f
            speed = a[6 * i + 3] * x[i] + a[6 * i + 4] * v[i] + a[6 * i + 5] * f
            brake = reals(k.coulomb)[i] * length / reals(k.device_mass)[i]
            if brake > 0.0:
                slower = math.copysign(max(0.0, abs(speed) - brake), speed)
                place += 0.5 * length * (slower - speed)
                if slower == 0.0 and v[i] == 0.0:
                    place = x[i]
                speed = slower
            x[i], v[i] = place, speed
