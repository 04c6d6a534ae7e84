"""Names that there are not: told where they are asked for, with what was meant, whoever is asked."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import pytest

import kane

M = kane.load("four-bar")
RUN = M.simulate([0.0, 0.05, 0.1], events={"down": "crank"})
CART = kane.load("cart-pole")

ASKED: dict[str, tuple[Callable[[], Any], str]] = {
    "reactions of a motion": (lambda: RUN.reactions()["crnk"], "crank"),
    "reactions of a state": (lambda: M.reactions()["couplr"], "coupler"),
    "rows": (lambda: RUN.reactions().multiplier("pin.xx"), "pin.x"),
    "columns": (lambda: RUN["crnk"], "crank"),
    "events": (lambda: RUN.events["dwon"], "down"),
    "joints": (lambda: M.joints["couplr"], "coupler"),
    "bodies": (lambda: M.bodies["couplr"], "coupler"),
    "constraints": (lambda: M.constraints["pn"], "pin"),
    "parameters": (lambda: M.parameters["strt"], "start"),
    "controls": (lambda: CART.controls["balanc"], "balance"),
    "a vehicle of equations": (lambda: kane.load("forklift").equations().ground("vehicl"), "vehicle"),
    "a place": (lambda: M.at("couplr").pose(M.initial_state[0]), "coupler"),
    "a state": (lambda: M.equilibrium(strict=False)["couplr"], "coupler"),
}


@pytest.mark.parametrize("asked", ASKED)
def test_a_mistyped_name_is_told_with_the_one_that_was_meant(asked: str) -> None:
    ask, meant = ASKED[asked]
    with pytest.raises(kane.KaneError, match=f"did you mean '{meant}'") as refused:
        ask()
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


def test_events_are_found_by_name_and_by_place() -> None:
    assert RUN.events["down"] is RUN.events[0]


def test_results_of_ensembles_tell_what_was_meant() -> None:
    found: Any = M.ensemble(
        [0.0, 0.05, 0.1], n=2, u={M.speeds[0]: [1.0, 2.0]}, events={"down": "crank"}, watch={"high": "coupler"}
    )
    for ask, meant in (
        (lambda: found.first["dwon"], "down"),
        (lambda: found.crossings["dwn"], "down"),
        (lambda: found.high["hgh"], "high"),
        (lambda: found.tallies["hig"], "high"),
    ):
        with pytest.raises(KeyError, match=f"did you mean '{meant}'"):
            ask()
