"""YAML text into a tree of nodes that know their line: strings, lists and mappings, nothing else.

A model file is untrusted. Anchors, aliases, tags, a second document and keys that are not words are refused; size,
depth and number of nodes are limited before anything is built. No type is guessed: `1`, `yes` and `2*L` are all text
here, and only the reader of a model decides what they mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import yaml

from ...errors import ModelError, Problem, excerpt

MAX_BYTES = 4_000_000
"""Bytes of one model file: room for tens of thousands of bodies."""

MAX_DEPTH = 12
"""Lists and mappings inside each other; the schema needs six."""

MAX_NODES = 500_000
"""Words, lists and mappings of one file."""

MAX_FAULTS = 100
"""Faults after which a file is read no further: suggestions cost time, and nobody reads more."""

LONGEST = 1500  # characters of each part of a problem

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where PyYAML was built with it: thirty times faster


@dataclass(frozen=True, slots=True)
class Node:
    """A word, a list or a mapping of a file. For entries of a mapping `key_lines` says where their keys stand."""

    source: str
    line: int
    value: str | tuple[Node, ...] | Mapping[str, Node]
    key_lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        if isinstance(self.value, str):
            return f"'{excerpt(self.value)}'" if self.value else "nothing"
        return "a list" if isinstance(self.value, tuple) else "a mapping"

    def line_of(self, key: str) -> int:
        """The line on which an entry of a mapping starts."""
        return self.key_lines.get(key, self.line)


def problem(source: str, line: int, where: str, what: str, because: str = "", fix: str = "") -> Problem:
    """A problem at a line of a file, no part of it longer than an error shows."""
    place = f"{source}:{line}: {where}" if where else f"{source}:{line}"
    return Problem(*(part if len(part) <= LONGEST else part[:LONGEST] + "…" for part in (place, what, because, fix)))


def stop_remark(source: str, line: int, count: int) -> list[Problem]:
    """The remark that ends a list of `count` problems, the last on `line`, where there may be more."""
    if count < MAX_FAULTS:
        return []
    because = f"at most {MAX_FAULTS} problems are listed"
    return [problem(source, line, "", "the file is read no further", because, "fix these first")]


def compose(text: str, source: str) -> Node:
    """The tree of nodes of a YAML text; raises ModelError with all duplicate keys, or the first fault of syntax."""
    try:
        size = len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise ModelError(problem(source, line, "", "a character that is not valid Unicode")) from None
    if size > MAX_BYTES:
        raise ModelError(problem(source, 1, "", f"the file has {size} bytes", f"at most {MAX_BYTES} are read"))
    composer = _Composer(source)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            composer.take(event)
    except yaml.YAMLError as error:
        raise ModelError(_syntax_fault(source, text, error)) from None
    if composer.problems:
        raise ModelError(composer.problems)
    if composer.root is None:
        raise ModelError(problem(source, 1, "", "the file is empty", fix="start with 'kane: 1' and a name"))
    return composer.root


def _syntax_fault(source: str, text: str, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    why = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    if mark is not None:
        line, column = mark.line + 1, f", column {mark.column + 1}"
    else:
        position = getattr(error, "position", 0)
        line, column = text.count("\n", 0, position if isinstance(position, int) else 0) + 1, ""
    return problem(source, line, "", f"not valid YAML{column}: {excerpt(str(why))}")


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    line: int
    items: list[Node] | None = None
    entries: dict[str, Node] | None = None
    key_lines: dict[str, int] = field(default_factory=dict)
    key: str | None = None
    skip: bool = False  # the value that comes next belongs to a key that is there already


class _Composer:
    """Events of the YAML parser, one by one, onto a stack of open collections."""

    def __init__(self, source: str):
        self.source = source
        self.root: Node | None = None
        self.stack: list[_Open] = []
        self.problems: list[Problem] = []
        self.count = 0
        self.documents = 0

    def refuse(self, line: int, what: str, because: str = "", fix: str = "") -> ModelError:
        return ModelError([*self.problems, problem(self.source, line, "", what, because, fix)])

    def take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.ScalarEvent):  # by far the most
            self.check(event, line)
            self.scalar(event.value, line)
        elif isinstance(event, yaml.CollectionEndEvent):
            self.close()
        elif isinstance(event, yaml.CollectionStartEvent):
            self.check(event, line)
            self.open(isinstance(event, yaml.MappingStartEvent), line)
        elif isinstance(event, yaml.AliasEvent):
            raise self.refuse(line, f"the alias '*{excerpt(event.anchor)}'", _PLAIN, "write the value out, or name it")
        elif isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.refuse(line, "a second document", "a file holds one model", "remove '---' or split the file")

    def check(self, event: yaml.NodeEvent, line: int) -> None:
        if event.anchor is not None:
            raise self.refuse(line, f"the anchor '&{excerpt(event.anchor)}'", _PLAIN, "write the value out, or name it")
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise self.refuse(line, f"the tag '{excerpt(tag)}'", _PLAIN, "leave it out")
        self.count += 1
        if self.count > MAX_NODES:
            raise self.refuse(line, "the file has more", f"at most {MAX_NODES} words, lists and mappings are read")

    def scalar(self, text: str, line: int) -> None:
        top = self.stack[-1] if self.stack else None
        if top is None or top.entries is None or top.key is not None:
            self.place(Node(self.source, line, text))
            return
        top.key = text
        if text in top.key_lines:
            first = top.key_lines[text]
            self.problems.append(
                problem(
                    self.source,
                    line,
                    "",
                    f"the key '{excerpt(text)}' is there already, on line {first}",
                    "names are unique",
                    "rename one of the two, or merge them",
                )
            )
            top.skip = True
            if len(self.problems) >= MAX_FAULTS:
                raise ModelError([*self.problems, *stop_remark(self.source, line, len(self.problems))])
        else:
            top.key_lines[text] = line

    def open(self, mapping: bool, line: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self.refuse(
                line, f"lists and mappings are nested deeper than {MAX_DEPTH}", "no part of a model is nested as deeply"
            )
        if self.stack and self.stack[-1].entries is not None and self.stack[-1].key is None:
            raise self.refuse(line, "a key that is a list or a mapping", "keys are words", "name the entry")
        self.stack.append(_Open(line, None if mapping else [], {} if mapping else None))

    def close(self) -> None:
        done = self.stack.pop()
        value = tuple(done.items) if done.items is not None else (done.entries or {})
        self.place(Node(self.source, done.line, value, done.key_lines))

    def place(self, node: Node) -> None:
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        if top.items is not None:
            top.items.append(node)
        elif top.entries is not None and top.key is not None:
            if not top.skip:
                top.entries[top.key] = node
            top.key, top.skip = None, False


_PLAIN = "a model file is plain: no anchors, aliases or tags"


def merge_sections(under: Node, over: Node) -> Node:
    """The sections of `under` with those of `over` laid on top, entry by entry."""
    assert isinstance(under.value, Mapping) and isinstance(over.value, Mapping)
    value: dict[str, Node] = dict(under.value)
    for key, section in over.value.items():
        below = value.get(key)
        if below is not None and isinstance(below.value, Mapping) and isinstance(section.value, Mapping):
            entries = {**below.value, **section.value}
            lines = {**below.key_lines, **section.key_lines}
            value[key] = Node(section.source, section.line, entries, lines)
        else:
            value[key] = section
    return Node(over.source, over.line, value, {**under.key_lines, **over.key_lines})


def words(node: Node) -> Iterator[str]:
    """All words below a node."""
    stack = [node]
    while stack:
        value = stack.pop().value
        if isinstance(value, str):
            yield value
        else:
            stack.extend(value if isinstance(value, tuple) else value.values())
