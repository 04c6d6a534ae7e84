"""The data of a page: what is described, what is seen, and a motion that goes on in the page or was recorded."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import visible
from ..model import Mechanism
from ..simulate import Transition
from ..simulate.changing import CAUSES, FAULTS, STATES
from ..simulate.compiled.records import REASONS_OF_LOOPS
from ..simulate.live import LiveMotion
from ..viewer.shapes import Array
from ..viewer.units import coordinate_units, speed_units
from .document import document
from .scene import describe_scene

FORMAT = 1
"""Of the data; the component refuses any other."""


@dataclass(frozen=True, slots=True)
class Described:
    """A mechanism for a page: poses (k, bodies, 12) that the camera is to show, Jacobians (k, bodies, 6, n) of some
    states, the free parameters with their values."""

    model: Mechanism
    poses: Array
    jacobians: Array
    parameters: Mapping[str, float]

    def data(self) -> dict[str, Any]:
        model = self.model
        return {
            "format": FORMAT,
            "name": visible(model.name),
            "about": visible(model.about),
            "scene": describe_scene(model, self.poses, self.jacobians),
            "coordinates": _names_with_units(model.coordinates, coordinate_units(model)),
            "speeds": _names_with_units(model.speeds, speed_units(model)),
            "parameters": [{"name": visible(name), "value": value} for name, value in self.parameters.items()],
        }


def live_page(described: Described, motion: LiveMotion) -> str:
    """A page in which the motion is simulated."""
    parts = [*(code.module.code for code in motion.codes), motion.image]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    live = {
        "codes": [
            {"name": visible(c.name), "export": c.export, "slot": c.slot, "at": starts[i], "size": len(c.module.code)}
            for i, c in enumerate(motion.codes)
        ],
        "image": {"at": starts[-2], "size": len(motion.image), "to": motion.image_at, "clear": motion.data_at},
        "pages": motion.pages,
        "places": dict(motion.places),
        "step": motion.step,
        "elements": [visible(name) for name in motion.elements],
        "states": list(STATES),
        "causes": list(CAUSES),
        "faults": list(FAULTS),
        "reasons": list(REASONS_OF_LOOPS),
        "blob": pack(b"".join(parts)),
    }
    return document(described.model.name, described.data() | {"live": live})


def recorded_page(
    described: Described, t: Array, q: Array, u: Array, poses: Array, transitions: Sequence[Transition] = ()
) -> str:
    """A page that plays a motion: t (k,), q, u and poses (k, bodies, 12) at these times."""
    recording = {
        "times": len(t),
        "numbers": pack(np.concatenate([t[:, None], q, u], axis=1).astype("<f8").tobytes()),
        "poses": pack(poses.astype("<f4").tobytes()),
        "transitions": [
            {"t": x.t, "cause": x.cause, "which": [visible(n) for n in x.constraints], "states": list(x.mode.values())}
            for x in transitions
        ],
        "elements": [visible(name) for name in transitions[0].mode] if transitions else [],
    }
    return document(described.model.name, described.data() | {"recording": recording})


def remote_page(described: Described, elements: Sequence[str], path: str, sources: Sequence[str]) -> str:
    """A page that shows a motion which goes on elsewhere, and touches it there: by a WebSocket at `path` of the host
    that the page comes from, one of `sources`."""
    remote = {"path": path, "elements": [visible(name) for name in elements]}
    return document(described.model.name, described.data() | {"remote": remote}, " ".join(sources))


def pack(content: bytes) -> str:
    """Bytes as text: compressed, the same bytes the same text."""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def _names_with_units(names: Sequence[str], units: Sequence[str]) -> list[dict[str, str]]:
    return [{"name": visible(name), "unit": unit} for name, unit in zip(names, units, strict=True)]
