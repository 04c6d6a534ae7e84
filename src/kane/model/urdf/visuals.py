"""The <visual> or <collision> elements of links as shapes; meshes are named, and found only where they may be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...errors import closest, excerpt
from ..attitude import quaternion_of
from ..files.confine import path_inside
from ..files.faults import Lost
from ..records import Shape
from .values import Faults
from .xml import Element

Packages = Mapping[str, str | Path] | Sequence[str | Path]
"""Name of a package → its folder, or folders in which packages lie under their names."""


def package_folders(name: str, packages: Packages) -> list[Path]:
    """The folders that a package may be: the one given for it, or those of its name among what is given and in it."""
    if isinstance(packages, Mapping):
        return [Path(packages[name])] if name in packages else []
    if not name or name in (".", ".."):
        return []
    given = [Path(folder) for folder in packages]
    return [*(folder / name for folder in given), *(folder for folder in given if folder.resolve().name == name)]


class Visuals:
    """Shapes of the links of one robot."""

    def __init__(self, robot: Element, faults: Faults, folder: Path | None, packages: Packages, tag: str = "visual"):
        """`tag` is that of the elements of a link that are taken: visual or collision."""
        self.tag = tag
        self.faults = faults
        self.folder = folder
        self.packages = packages
        self.colors: dict[str, str] = {}  # of materials by name, those of the robot itself before those of its links
        self.unknown: set[str] = set()
        self.own: dict[int, str] = {}  # of the elements that say a colour themselves, each read once
        visuals = (v for link in robot.all("link") for v in link.all(tag))
        for material in (*robot.all("material"), *(m for v in visuals for m in v.all("material"))):
            if material.children:  # a name alone refers to another
                with suppress(Lost):  # its fault has been noted
                    self.own[id(material)] = self.color(material)
                self.colors.setdefault(material.attributes.get("name", ""), self.own.get(id(material), ""))

    def shapes(self, link: Element, where: str) -> tuple[Shape, ...]:
        """What the visuals of a link show; geometries of other programs are left out."""
        return tuple(s for v in link.all(self.tag) if (s := self.shape(v, where)) is not None)

    def shape(self, visual: Element, where: str) -> Shape | None:
        geometry, faults = visual.first("geometry"), self.faults
        if geometry is None:
            faults.remark(visual.line, where, f"<{self.tag}> has no <geometry> and is left out", "it shows nothing")
            return None
        xyz, R = faults.pose(visual, where)
        at = (xyz[0], xyz[1], xyz[2])
        wxyz = (1.0, 0.0, 0.0, 0.0) if np.array_equal(R, np.eye(3)) else quaternion_of(R)
        color = self.color_of(visual, where)
        for form in geometry.children:
            shape = self.form(form, where)
            if shape is None:
                continue
            if shape.kind != "mesh" and min(shape.size) <= 0:
                what, because = f"<{form.tag}> {list(shape.size)} is left out", "lengths of a shape are positive"
                faults.remark(form.line, where, what, because, "give lengths > 0")
                return None
            return replace(shape, at=at, color=color, wxyz=wxyz)
        return None

    def form(self, form: Element, where: str) -> Shape | None:
        """What an element of a geometry shows, where its visual stands; None for what other programs know."""
        faults = self.faults
        if form.tag == "box":
            return Shape("box", faults.triple(form, "size", where, (1.0, 1.0, 1.0)))
        if form.tag == "cylinder":
            return Shape("cylinder", (faults.number(form, "radius", where), faults.number(form, "length", where)))
        if form.tag == "sphere":
            return Shape("sphere", (faults.number(form, "radius", where),))
        if form.tag == "mesh":
            file = faults.word(form, "filename", where)
            return Shape("mesh", faults.triple(form, "scale", where, (1.0, 1.0, 1.0)), file=file, path=self.path(file))
        return None

    def color_of(self, visual: Element, where: str) -> str:
        """#rrggbb of a visual: what its material says itself, or the material of that name anywhere in the robot."""
        material = visual.first("material")
        if material is None:
            return ""
        if own := self.own.get(id(material)):
            return own
        name = material.attributes.get("name", "")
        if name and name not in self.colors and name not in self.unknown:
            self.unknown.add(name)  # said once
            close = closest(name, self.colors)
            fix = "give it a <color rgba=...>" if close is None else f"did you mean '{close}'?"
            because = "materials are those of the robot, wherever they are defined"
            self.faults.remark(material.line, where, f"no material '{excerpt(name)}' is defined", because, fix)
        return self.colors.get(name, "")

    def color(self, material: Element) -> str:
        """#rrggbb of a material that says its colour itself, else nothing."""
        color = material.first("color")
        if color is None:
            return ""
        rgba = self.faults.triple(color, "rgba", "material", (0.0, 0.0, 0.0, 1.0))
        return "#" + "".join(f"{round(255 * min(max(c, 0.0), 1.0)):02x}" for c in rgba[:3])

    def path(self, file: str) -> str:
        """Where a mesh is: inside the folder of the robot or of a package that the user named; else nowhere."""
        if file.startswith("package://"):
            name, _, rest = file.removeprefix("package://").partition("/")
            found = (path_inside(rest, folder) for folder in package_folders(name, self.packages))
            return next((path for path in found if path), "")
        return "" if "://" in file else path_inside(file, self.folder)
