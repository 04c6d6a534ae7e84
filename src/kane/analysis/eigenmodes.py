"""Eigenmodes of a linear system: eigenvalues, natural frequencies, damping ratios, named shapes; and their table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .linearization import Linearization

Array = np.ndarray[Any, np.dtype[np.float64]]

_REAL = 1e-12  # imaginary part, relative to the eigenvalue, that is rounding
_NONE = 1e-9  # eigenvalue, relative to the largest, that is shown as zero
_SHOWN = 0.05  # part of a shape below which a component is not named in the table
_NAMED = 4  # components of a shape that the table names


@dataclass(frozen=True, slots=True)
class Eigenmode:
    """One eigenvalue (1/s) and its shape.

    `states` are the components of the right eigenvector; `shape` what all coordinates and speeds do in it. Both are
    scaled so that the largest coordinate that matters is 1, or else the largest coordinate, or else the largest speed.

    >>> eigenmode = kane.load("pendulum").linearize([0], [0]).eigenmodes[0]
    >>> sorted(eigenmode.shape)
    ['q', 'u']
    """

    eigenvalue: complex
    states: Mapping[str, complex]
    shape: Mapping[str, complex]

    @property
    def frequency(self) -> float:
        """Natural frequency |λ| (rad/s).

        >>> eigenmode = kane.load("pendulum").linearize([0], [0]).eigenmodes[0]
        >>> round(eigenmode.frequency, 4)
        3.1321
        """
        return abs(self.eigenvalue)

    @property
    def damping(self) -> float:
        """Damping ratio −Re λ/|λ|: below 0 unstable, 1 without oscillation; nan for λ = 0.

        >>> eigenmode = kane.load("pendulum").linearize([0], [0]).eigenmodes[0]
        >>> abs(round(eigenmode.damping, 4))
        0.0
        """
        return -self.eigenvalue.real / abs(self.eigenvalue) if self.eigenvalue else float("nan")

    @property
    def oscillates(self) -> bool:
        """Whether the eigenvalue has an imaginary part, rounding aside.

        >>> eigenmode = kane.load("pendulum").linearize([0], [0]).eigenmodes[0]
        >>> eigenmode.oscillates
        True
        """
        return abs(self.eigenvalue.imag) > _REAL * abs(self.eigenvalue)

    @property
    def stable(self) -> bool:
        """Whether it decays.

        >>> kane.load("pendulum").linearize([3.141592653589793], [0]).eigenmodes[-1].stable
        False
        """
        return self.eigenvalue.real < 0.0


def eigenmodes_of(
    A: Array, states: Sequence[str], shape: Array, names: Sequence[str], scaled: Sequence[Sequence[str]]
) -> tuple[Eigenmode, ...]:
    """The eigenmodes of ẋ = A x by rising real part, then imaginary part.

    `shape` (names, states) gives all `names` from the states; of the lists of states in `scaled` the first one that
    takes part has 1 as its largest component.
    """
    if not len(A):
        return ()
    values, vectors = (np.asarray(x, dtype=complex) for x in np.linalg.eig(A))
    places = [[states.index(name) for name in some] for some in scaled]
    found = []
    for k in np.lexsort((np.imag(values), np.round(np.real(values), 12))):
        v = vectors[:, k]
        parts = [v[some] for some in places if np.abs(v[some]).max(initial=0.0) > _NONE * np.abs(v).max()]
        part = parts[0] if parts else v
        v = v / part[np.argmax(np.abs(part))]
        found.append(
            Eigenmode(
                complex(values[k]),
                dict(zip(states, v.tolist(), strict=True)),
                dict(zip(names, (shape @ v).tolist(), strict=True)),
            )
        )
    return tuple(found)


def table(linear: Linearization) -> str:
    """What a linearization is about, and a line for each eigenmode, pairs of conjugate ones together."""
    eigenmodes = linear.eigenmodes
    largest = max((m.frequency for m in eigenmodes), default=0.0)
    lines = [
        f"linearization of '{linear.model}' at t = {linear.at.t:g} s: {len(linear.states)} states, "
        f"{len(linear.inputs)} inputs, {len(linear.outputs)} outputs",
        f"states: {', '.join(linear.states)}",
        f"inputs: efforts along {', '.join(linear.inputs) or 'none'}",
    ]
    if linear.running:
        lines.append(f"at this instant only: {', '.join(linear.running)} change")
    if linear.dry_friction:
        joints, slopes = (", ".join(x) for x in zip(*((j, f"{d:.4g}") for j, d in linear.dry_friction), strict=True))
        lines += [
            f"about a state at rest the smoothed dry friction of {joints} acts as damping of {slopes} N m s/rad"
            " or N s/m",
            "    fix: load the URDF with friction='none', or linearize at speed",
        ]
    lines.append(f"{'eigenvalue (1/s)':>28} {'ω (rad/s)':>11} {'damping':>8}  {'shape':s}")
    for eigenmode in eigenmodes:
        if eigenmode.oscillates and eigenmode.eigenvalue.imag < 0.0:
            continue
        lines.append(_line(eigenmode, largest, linear.shape_states))
    return "\n".join(lines)


def _line(eigenmode: Eigenmode, largest: float, scaled: Sequence[Sequence[str]]) -> str:
    if eigenmode.frequency <= _NONE * max(1.0, largest):
        eigenvalue, frequency, damping = "0", "0", ""
    else:
        decay = eigenmode.eigenvalue.real if abs(eigenmode.eigenvalue.real) > _NONE * eigenmode.frequency else 0.0
        eigenvalue = f"{decay:.6g}"
        if eigenmode.oscillates:
            eigenvalue += f" ± {abs(eigenmode.eigenvalue.imag):.6g}i"
        frequency, damping = f"{eigenmode.frequency:.5g}", f"{-decay / eigenmode.frequency + 0.0:.4f}"
    parts = [{name: eigenmode.states[name] for name in some} for some in scaled]
    part = next((p for p in parts if max(map(abs, p.values()), default=0.0) > _NONE), dict(eigenmode.states))
    ranked = sorted(part.items(), key=lambda item: -abs(item[1]))
    shown = [f"{name} {_number(x)}" for name, x in ranked[:_NAMED] if abs(x) > _SHOWN * abs(ranked[0][1])]
    return f"{eigenvalue:>28} {frequency:>11} {damping:>8}  {', '.join(shown)}"


def _number(x: complex) -> str:
    if abs(x.imag) <= 1e-9 * abs(x):
        return f"{x.real:.3g}"
    return f"{abs(x):.3g}∠{np.degrees(np.angle(x)):.0f}°"


__all__ = ["Eigenmode", "eigenmodes_of", "table"]
