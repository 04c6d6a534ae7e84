"""First numbers of many generators at once: those of numpy's PCG64 [ONE14], seeded by SeedSequence(seed, (index,)).

A generator of numpy takes 13 µs to make, whatever it is asked for then. Here seeding and steps are done for all members
of a block side by side, in integers of 32 and 64 bits, with the results that numpy has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_LOW, _POOL = 0xFFFFFFFF, 4
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715
_FIRST_A, _NEXT_A = 0x43B0D7E5, 0x931E8875
_FIRST_B, _NEXT_B = 0x8B51F9DD, 0x58F38DED
"""Constants of SeedSequence, which works with words of 32 bits."""

_STEP_HIGH, _STEP_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)
"""What the state of PCG64, 128 bits, is multiplied by."""

_HALF, _MASK = np.uint64(32), np.uint64(_LOW)


def uniform_numbers(seed: int, first: int, last: int, count: int) -> NDArray[np.float64] | None:
    """The first `count` numbers in [0, 1) of the generators of members first … last − 1, (members, count); None where
    the numpy that is installed has other generators."""
    if last > _LOW:
        return None
    found = _uniform(seed, np.arange(first, last, dtype=np.uint64), count)
    generator = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(first,)))
    return found if np.array_equal(found[0], generator.random(count)) else None


def _uniform(seed: int, indices: Words, count: int) -> NDArray[np.float64]:
    words = _seed_words(seed, indices)
    high, low = words[0], words[1]
    odd_high = (words[2] << np.uint64(1)) | (words[3] >> np.uint64(63))
    odd_low = (words[3] << np.uint64(1)) | np.uint64(1)
    high, low = _add(odd_high, odd_low, high, low)
    high, low = _step(high, low, odd_high, odd_low)
    found = np.empty((len(indices), count))
    for k in range(count):
        high, low = _step(high, low, odd_high, odd_low)
        turn, mixed = high >> np.uint64(58), high ^ low
        value = (mixed >> turn) | (mixed << ((np.uint64(64) - turn) & np.uint64(63)))
        found[:, k] = (value >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return found


def _seed_words(seed: int, indices: Words) -> list[Words]:
    """The four words of 64 bits that SeedSequence gives a generator, for each index."""
    entropy = [seed >> shift & _LOW for shift in range(0, max(1, seed.bit_length()), 32)]
    entropy += [0] * (_POOL - len(entropy))
    constant = _FIRST_A

    def hash_word(value: Any) -> Any:
        nonlocal constant
        value = value ^ constant
        constant = constant * _NEXT_A & _LOW
        value = value * constant & _LOW
        return value ^ (value >> 16)

    pool: list[Any] = [hash_word(word) for word in entropy[:_POOL]]
    for source in range(_POOL):
        for target in range(_POOL):
            if source != target:
                pool[target] = _mix(pool[target], hash_word(pool[source]))
    for word in [*entropy[_POOL:], indices]:
        for target in range(_POOL):
            pool[target] = _mix(pool[target], hash_word(word))
    halves: list[Words] = []
    constant = _FIRST_B
    for k in range(2 * _POOL):
        value = pool[k % _POOL] ^ constant
        constant = constant * _NEXT_B & _LOW
        value = value * constant & _LOW
        halves.append(value ^ (value >> 16))
    return [halves[2 * k] | (halves[2 * k + 1] << _HALF) for k in range(_POOL)]


def _mix(x: Any, y: Any) -> Any:
    value = (x * _MIX_LEFT + (2**32 - (y * _MIX_RIGHT & _LOW))) & _LOW
    return value ^ (value >> 16)


def _step(high: Words, low: Words, odd_high: Words, odd_low: Words) -> tuple[Words, Words]:
    """The next state of 128 bits: times the constant, plus what is odd."""
    a, b = low & _MASK, low >> _HALF
    c, d = _STEP_LOW & _MASK, _STEP_LOW >> _HALF
    ac, bc, ad = a * c, b * c, a * d
    middle = (ac >> _HALF) + (bc & _MASK) + (ad & _MASK)
    carried = b * d + (bc >> _HALF) + (ad >> _HALF) + (middle >> _HALF)
    product_low = (ac & _MASK) | (middle << _HALF)
    return _add(carried + high * _STEP_LOW + low * _STEP_HIGH, product_low, odd_high, odd_low)


def _add(high: Words, low: Words, other_high: Words, other_low: Words) -> tuple[Words, Words]:
    total = low + other_low
    return high + other_high + (total < low), total


__all__ = ["uniform_numbers"]
