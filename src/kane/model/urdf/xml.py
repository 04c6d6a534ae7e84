"""XML text into a tree of elements that know their line, by the parser of the standard library (expat).

A file is untrusted. A document type declaration is refused before it is read, so there are no entities to expand and
nothing is fetched; size, depth and number of elements are limited. Text between tags carries nothing in URDF and is
dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from ...errors import ModelError, excerpt
from ..files.nodes import problem

MAX_BYTES = 16_000_000
"""Bytes of one file: a hundred times the largest robot in common use."""

MAX_DEPTH = 32
"""Elements inside each other: URDF needs five, the parts of other programs (gazebo) some more."""

MAX_ELEMENTS = 200_000
MAX_ATTRIBUTE = 4_000
"""Characters of one attribute."""


@dataclass(slots=True)
class Element:
    """A tag with its attributes and children, and the line on which it starts."""

    tag: str
    line: int
    attributes: Mapping[str, str]
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> Iterator[Element]:
        """The children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        for child in self.children:  # a loop, since large files ask often
            if child.tag == tag:
                return child
        return None


def parse_xml(data: bytes, source: str, most: int = MAX_BYTES) -> Element:
    """The root element of at most so many bytes; raises ModelError at the first fault of syntax or the first thing that
    is not allowed."""
    if len(data) > most:
        raise ModelError(problem(source, 1, "", "the file is too large", f"at most {most} bytes are read"))
    builder = _Builder(source)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = f"not valid XML, column {error.offset + 1}: {expat.errors.messages.get(error.code, str(error))}"
        raise ModelError(problem(source, error.lineno, "", excerpt(what))) from None
    except (LookupError, UnicodeError, ValueError):
        fault = problem(source, 1, "", "an encoding that cannot be read", fix="save the file as UTF-8")
        raise ModelError(fault) from None
    assert builder.root is not None
    return builder.root


class _Builder:
    """Events of the parser onto a stack of open elements."""

    def __init__(self, source: str):
        self.source = source
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.count = 0
        self.parser = parser = expat.ParserCreate()
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse_doctype
        parser.EntityDeclHandler = self.refuse_entity
        parser.ExternalEntityRefHandler = self.refuse_entity

    def refuse(self, what: str, because: str, fix: str = "") -> ModelError:
        return ModelError(problem(self.source, self.parser.CurrentLineNumber, "", what, because, fix))

    def refuse_doctype(self, *_: object) -> None:
        raise self.refuse("a DOCTYPE", "robots are read without document types and entities", "remove the declaration")

    def refuse_entity(self, *_: object) -> int:
        raise self.refuse("an entity", "robots are read without document types and entities", "write it out")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise self.refuse("the file has more", f"at most {MAX_ELEMENTS} elements are read")
        if len(self.stack) >= MAX_DEPTH:
            raise self.refuse(f"elements are nested deeper than {MAX_DEPTH}", "no part of a robot is nested as deeply")
        if any(len(value) > MAX_ATTRIBUTE for value in attributes.values()):
            raise self.refuse("a very long attribute", f"at most {MAX_ATTRIBUTE} characters are read")
        element = Element(tag, self.parser.CurrentLineNumber, attributes)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, tag: str) -> None:
        self.stack.pop()
