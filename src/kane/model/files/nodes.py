"""YAML text into a tree of nodes that know their line: strings, lists and mappings, nothing else.

A model file is untrusted. Anchors, aliases, tags, a second document and keys that are not words are refused; size,
depth and number of nodes are limited before anything is built. No type is guessed: `1`, `yes` and `2*L` are all text
here, and only the reader of a model decides what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

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


NO_LINES: Mapping[str, int] = MappingProxyType({})


class Node:
    """A word, a list or a mapping of a file. For entries of a mapping `key_lines` says where their keys stand,
    where that is not the line of the mapping."""

    __slots__ = ("key_lines", "line", "source", "value")  # a file may have half a million of them

    def __init__(
        self,
        source: str,
        line: int,
        value: str | tuple[Node, ...] | dict[str, Node],
        key_lines: Mapping[str, int] = NO_LINES,
    ):
        self.source = source
        self.line = line
        self.value = value
        self.key_lines = key_lines

    def __repr__(self) -> str:
        return f"Node({self.source!r}, {self.line}, {self.value!r})"

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

    def short(part: str) -> str:
        return part if len(part) <= LONGEST else part[:LONGEST] + "…"

    return Problem(short(place), short(what), short(because), short(fix))


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
        loader = _LOADER(text)
        try:
            composer.take_all(loader.get_event)
        finally:
            loader.dispose()
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
    written = [*text.split("\n"), ""][line - 1]
    if mark is not None and written[mark.column : mark.column + 1] == "\t":
        return problem(source, line, "", f"not valid YAML{column}: a tab", fix="indent by spaces")
    return problem(source, line, "", f"not valid YAML{column}: {excerpt(str(why))}")


_Entries = dict[str, Node] | None
_Lines = dict[str, int]
_Outer = tuple[int, list[Node], _Entries, _Lines, str | None]
"""A list or mapping around the one that is being read: its line, items, entries, lines of keys that stand on others,
and the key of the value that is being read."""


class _Composer:
    """Events of the YAML parser, one by one, into nodes."""

    def __init__(self, source: str):
        self.source = source
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self.documents = 0

    def refuse(self, line: int, what: str, because: str = "", fix: str = "") -> ModelError:
        return ModelError([*self.problems, problem(self.source, line, "", what, because, fix)])

    def take_all(self, next_event: Callable[[], Any]) -> None:
        """Take events until there are none. What is open innermost is in local variables, the others on a stack: there
        are up to a million events. A mapping has entries, a list has none; before the first there is a list of all."""
        source, count, word, ends = self.source, 0, yaml.ScalarEvent, (yaml.MappingEndEvent, yaml.SequenceEndEvent)
        outer: list[_Outer] = [(0, [], None, {}, None)]
        start, items, entries, key_lines, key = outer[0]
        roots = items
        while (event := next_event()) is not None:
            kind = type(event)
            if kind is word:
                count += 1
                if event.anchor is not None or event.tag is not None or count > MAX_NODES:
                    self.check(event, count)
                line = event.start_mark.line + 1
                if entries is not None and key is None:
                    key = event.value
                    if key in entries:
                        self.note_repeated_key(key, line, key_lines.get(key, start))
                    elif line != start:
                        key_lines[key] = line
                    continue
                node = Node(source, line, event.value)
            elif kind in ends:
                node = Node(source, start, tuple(items) if entries is None else entries, key_lines or NO_LINES)
                start, items, entries, key_lines, key = outer.pop()
            elif isinstance(event, yaml.CollectionStartEvent):
                count += 1
                if event.anchor is not None or event.tag is not None or count > MAX_NODES:
                    self.check(event, count)
                if len(outer) > MAX_DEPTH or (entries is not None and key is None):
                    raise self.place_error(event, len(outer))
                outer.append((start, items, entries, key_lines, key))
                entries = {} if kind is yaml.MappingStartEvent else None
                start, items, key_lines, key = event.start_mark.line + 1, [], {}, None
                continue
            else:
                self.take_other(event)
                continue
            if entries is None:
                items.append(node)
            else:
                assert key is not None
                entries.setdefault(key, node)  # of a key that is there twice the first value stays
                key = None
        self.root = roots[-1] if roots else None

    def take_other(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise self.refuse(line, f"the alias '*{excerpt(event.anchor)}'", _PLAIN, "write the value out, or name it")
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.refuse(line, "a second document", "a file holds one model", "remove '---' or split the file")

    def check(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, count: int) -> None:
        """Refuse a node with an anchor or a tag, and one too many."""
        line = event.start_mark.line + 1
        if event.anchor is not None:
            raise self.refuse(line, f"the anchor '&{excerpt(event.anchor)}'", _PLAIN, "write the value out, or name it")
        if event.tag is not None:
            raise self.refuse(line, f"the tag '{excerpt(event.tag)}'", _PLAIN, "leave it out")
        if count > MAX_NODES:
            raise self.refuse(line, "the file has more", f"at most {MAX_NODES} words, lists and mappings are read")

    def note_repeated_key(self, key: str, line: int, first: int) -> None:
        what = f"the key '{excerpt(key)}' is there already, on line {first}"
        fix = "rename one of the two, or merge them"
        self.problems.append(problem(self.source, line, "", what, "names are unique", fix))
        if len(self.problems) >= MAX_FAULTS:
            raise ModelError([*self.problems, *stop_remark(self.source, line, len(self.problems))])

    def place_error(self, event: yaml.CollectionStartEvent, depth: int) -> ModelError:
        """The error of a list or mapping that lies too deep, or else where a key has to be."""
        line = event.start_mark.line + 1
        if depth > MAX_DEPTH:
            what = f"lists and mappings are nested deeper than {MAX_DEPTH}"
            return self.refuse(line, what, "no part of a model is nested as deeply")
        return self.refuse(line, "a key that is a list or a mapping", "keys are words", "name the entry")


_PLAIN = "a model file is plain: no anchors, aliases or tags"


RANKED = "initial"
"""The section in which the first entries win where not all are possible: what is laid over others comes before them."""


KEPT = "limits"
"""The section in which an entry keeps the keys that what is laid over it does not give, as it does over a URDF."""


def merge_sections(under: Node, over: Node) -> Node:
    """The sections of `under` with those of `over` laid on top, entry by entry."""
    assert isinstance(under.value, dict) and isinstance(over.value, dict)
    value: dict[str, Node] = dict(under.value)
    for key, section in over.value.items():
        below = value.get(key)
        if below is not None and isinstance(below.value, dict) and isinstance(section.value, dict):
            if key == KEPT:
                value[key] = merge_sections(below, section)
                continue
            first = section.value if key == RANKED else {}
            entries = {**first, **below.value, **section.value}
            lines = {**_lines_of(below, below.value), **_lines_of(section, section.value)}
            value[key] = Node(section.source, section.line, entries, lines)
        else:
            value[key] = section
    return Node(over.source, over.line, value, {**_lines_of(under, under.value), **_lines_of(over, over.value)})


def _lines_of(node: Node, entries: Mapping[str, Node]) -> dict[str, int]:
    """Where the keys of all entries of a mapping stand."""
    return {key: node.line_of(key) for key in entries}


def words(node: Node) -> Iterator[str]:
    """All words below a node."""
    stack = [node]
    while stack:
        value = stack.pop().value
        if isinstance(value, str):
            yield value
        else:
            stack.extend(value if isinstance(value, tuple) else value.values())
