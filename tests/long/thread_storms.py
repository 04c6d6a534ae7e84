"""Many threads ask one model everything at once: the bits of one after another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import kane
from long.block import Disagreement
from long.random_orders import MODELS, QUESTIONS, alone, bits
from long.tries import draws

CONSTRAINED = ("four-bar", "rolling-disc", "andrews-squeezer", "whipple-bicycle")


def search(number: int) -> str:
    """A storm of two to eight threads on one model that has not been asked anything."""
    rng = draws("threads", number)
    models = (*MODELS, *CONSTRAINED)
    name, threads = models[int(rng.integers(len(models)))], int(rng.integers(2, 9))
    asked = [list(QUESTIONS)[int(k)] for k in rng.integers(len(QUESTIONS), size=4 * threads)]
    model = kane.load(name)
    with ThreadPoolExecutor(threads) as pool:
        found = list(pool.map(lambda question: bits(QUESTIONS[question](model)), asked))
    for question, answer in zip(asked, found, strict=True):
        if answer != alone(name, question):
            raise Disagreement(f"{name}: {question} from one of {threads} threads differs")
    return "the same bits from threads"
