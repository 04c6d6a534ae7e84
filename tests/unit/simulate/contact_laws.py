"""Contact problems for tests: the laws of contacts as they are stated in words, and random problems of many kinds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REFERENCE = Path(__file__).parents[2] / "reference"

PLANAR = {"normal": 1, "cone": 2, "bound": 1, "free": 2}
SPATIAL = {"normal": 1, "cone": 3, "bound": 2, "free": 3}
"""Rows of contacts in the plane and in space."""


@cache
def records() -> dict[str, Any]:
    """The records on constraints that change, by their ids."""
    text = (REFERENCE / "changing_constraints.json").read_text(encoding="utf-8")
    return {record["id"]: record for record in json.loads(text)["records"]}


@dataclass(frozen=True, slots=True)
class Contacts:
    """Contacts of bodies with mobility W = J M⁻¹ Jᵀ, moving with b = J v."""

    W: Array
    b: Array
    mu: Array
    kinds: tuple[str, ...]
    rows: tuple[int, ...]

    def blocks(self, vector: Array) -> list[Array]:
        """A vector, (n,), in the parts of the contacts."""
        return np.split(vector, np.cumsum(self.rows)[:-1])

    def reorder(self, order: list[int]) -> tuple[Contacts, NDArray[np.int64]]:
        """The same contacts in another order, and where its rows are in this one."""
        places = self.blocks(np.arange(len(self.b), dtype=float))
        rows = np.concatenate([places[i] for i in order]).astype(np.int64)
        kinds, counts = tuple(self.kinds[i] for i in order), tuple(self.rows[i] for i in order)
        return Contacts(self.W[np.ix_(rows, rows)], self.b[rows], self.mu[order], kinds, counts), rows


def draw_contacts(
    rng: np.random.Generator,
    kinds: tuple[str, ...],
    planar: bool,
    friction: float = 1.0,
    freedoms: int | None = None,
) -> Contacts:
    """Random contacts of a system of `freedoms` degrees of freedom; fewer than rows make them redundant."""
    rows = tuple((PLANAR if planar else SPATIAL)[kind] for kind in kinds)
    n = sum(rows)
    f = int(rng.integers(2, n + 4)) if freedoms is None else freedoms
    J, R = rng.normal(size=(n, f)), rng.normal(size=(f, f))
    W = J @ np.linalg.solve(R @ R.T + 0.1 * np.eye(f), J.T)
    return Contacts(0.5 * (W + W.T), J @ rng.normal(size=f), rng.uniform(0.0, friction, len(kinds)), kinds, rows)


def violation(contacts: Contacts, r: Array, motions: Array | None = None) -> float:
    """How far reactions r, (n,), are from the laws of the contacts, relative to b; every inequality on its own.

    Reactions and motions of a contact are measured by its mobility, as in √w r and u / √w. `motions` are W r + b if
    they are not given.
    """
    u = contacts.W @ r + contacts.b if motions is None else motions
    mobilities = [max(block.max(), 1e-300) for block in contacts.blocks(np.abs(np.diag(contacts.W)))]
    size = max(np.linalg.norm(b) / np.sqrt(w) for b, w in zip(contacts.blocks(contacts.b), mobilities, strict=True))
    worst = 0.0
    for kind, mu, w, one, other in zip(
        contacts.kinds, contacts.mu, mobilities, contacts.blocks(r), contacts.blocks(u), strict=True
    ):
        reaction, motion, radius = one * np.sqrt(w), other / np.sqrt(w), mu * np.sqrt(w)
        if kind == "free":
            worst = max(worst, float(np.abs(motion).max()))
            continue
        if kind != "bound":
            push, rate = reaction[0], motion[0]
            worst = max(worst, -push, -rate, min(push, rate))
            reaction, motion, radius = reaction[1:], motion[1:], mu * max(push, 0.0)
        if len(reaction):
            slip = float(np.linalg.norm(motion))
            against = reaction + radius * motion / slip if slip > 0.0 else np.zeros_like(reaction)
            worst = max(worst, float(np.linalg.norm(reaction)) - radius, min(slip, float(np.linalg.norm(against))))
    return float(worst / size)
