"""Parts of loops: put together before they are optimised, with the same results as anything that numba compiles."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core.compiler import Compiler

from kane.simulate.compiled.call import PART, inline_part, part, reals
from kane.simulate.compiled.parts import KNOWN


def series(style: Any, whole: Any) -> Any:
    """A function of (n, address) that calls parts within parts: the sum of 1 / (1 + x²) over n numbers."""

    @style
    def term(x):
        return 1.0 / (1.0 + x * x)

    @style
    def total(n, address):
        x = reals(address)
        result = 0.0
        for i in range(n):
            result += term(x[i])
        return result

    @whole
    def function(n, address):
        return total(n, address)

    return function


def test_the_installed_numba_is_known():
    assert numba.version_info.short in KNOWN, "see whether _Part still fits this version, then add it to KNOWN"


@pytest.mark.parametrize("style", ["part", "inline_part"])
def test_parts_give_the_bits_that_numba_gives(style: str):
    numbers = np.linspace(-3.0, 5.0, 101)
    own = {"part": part, "inline_part": inline_part}[style]
    options: dict[str, Any] = {**PART, "pipeline_class": Compiler}
    usual = numba.njit(**options)
    arguments = len(numbers), numbers.ctypes.data
    found, expected = series(own, numba.njit)(*arguments), series(usual, numba.njit)(*arguments)
    assert found == expected
    assert found == pytest.approx(sum(1.0 / (1.0 + x * x) for x in numbers), rel=1e-14)


def test_a_part_has_no_machine_code_of_its_own():
    next_number = part(lambda x: x + 1.0)
    assert numba.njit(lambda x: next_number(x))(1.0) == 2.0
    (result,) = next_number.overloads.values()
    assert result.library.get_pointer_to_function(result.fndesc.llvm_func_name) == 0
