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
    here = text.splitlines()[mark.line : mark.line + 1] if mark is not None else []
    if mark is not None and here and here[0][mark.column :].startswith("\t"):
        return problem(source, line, "", f"not valid YAML{column}: a tab", fix="indent by spaces")
    return problem(source, line, "", f"not valid YAML{column}: {excerpt(str(why))}")


class _Open:
    """A list or mapping that is being read."""

    __slots__ = ("entries", "items", "key", "key_lines", "line", "skip")

    def __init__(self, line: int, mapping: bool):
        self.line = line
        self.items: list[Node] = []
        self.entries: dict[str, Node] | None = {} if mapping else None
        self.key_lines: dict[str, int] = {}  # of a mapping: of keys that stand on other lines than its start
        self.key: str | None = None  # of a mapping: of the value that comes next
        self.skip = False  # that value belongs to a key that is there already


class _Composer:
    """Events of the YAML parser, one by one, onto a stack of open collections."""

    def __init__(self, source: str):
        self.source = source
        self.root: Node | None = None
        self.stack: list[_Open] = []
        self.problems: list[Problem] = []
        self.documents = 0

    def refuse(self, line: int, what: str, because: str = "", fix: str = "") -> ModelError:
        return ModelError([*self.problems, problem(self.source, line, "", what, because, fix)])

    def take_all(self, next_event: Callable[[], Any]) -> None:
        """Take events until there are none. Words, nearly all of them, are dealt with here, without further calls."""
        source, stack, count = self.source, self.stack, 0
        top: _Open | None = None
        while (event := next_event()) is not None:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                count += 1
                if event.anchor is not None or event.tag is not None or count > MAX_NODES:
                    self.check(event, count)
                text, line = event.value, event.start_mark.line + 1
                if top is None:
                    self.root = Node(source, line, text)
                elif top.entries is None:
                    top.items.append(Node(source, line, text))
                elif top.key is None:
                    top.key = text
                    if text in top.entries:
                        self.note_repeated_key(top, text, line)
                    elif line != top.line:
                        top.key_lines[text] = line
                else:
                    if not top.skip:
                        top.entries[top.key] = Node(source, line, text)
                    top.key, top.skip = None, False
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self.close()
                top = stack[-1] if stack else None
            elif isinstance(event, yaml.CollectionStartEvent):
                count += 1
                self.check(event, count)
                self.open(kind is yaml.MappingStartEvent, event.start_mark.line + 1)
                top = stack[-1]
            else:
                self.take_other(event)

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

    def note_repeated_key(self, top: _Open, key: str, line: int) -> None:
        what = f"the key '{excerpt(key)}' is there already, on line {top.key_lines.get(key, top.line)}"
        fix = "rename one of the two, or merge them"
        self.problems.append(problem(self.source, line, "", what, "names are unique", fix))
        top.skip = True
        if len(self.problems) >= MAX_FAULTS:
            raise ModelError([*self.problems, *stop_remark(self.source, line, len(self.problems))])

    def open(self, mapping: bool, line: int) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self.refuse(
                line, f"lists and mappings are nested deeper than {MAX_DEPTH}", "no part of a model is nested as deeply"
            )
        if self.stack and self.stack[-1].entries is not None and self.stack[-1].key is None:
            raise self.refuse(line, "a key that is a list or a mapping", "keys are words", "name the entry")
        self.stack.append(_Open(line, mapping))

    def close(self) -> None:
        done = self.stack.pop()
        value = tuple(done.items) if done.entries is None else done.entries
        node = Node(self.source, done.line, value, done.key_lines or NO_LINES)
        if not self.stack:
            self.root = node
            return
        top = self.stack[-1]
        if top.entries is None:
            top.items.append(node)
        else:
            assert top.key is not None
            if not top.skip:
                top.entries[top.key] = node
            top.key, top.skip = None, False


_PLAIN = "a model file is plain: no anchors, aliases or tags"


def merge_sections(under: Node, over: Node) -> Node:
    """The sections of `under` with those of `over` laid on top, entry by entry."""
    assert isinstance(under.value, dict) and isinstance(over.value, dict)
    value: dict[str, Node] = dict(under.value)
    for key, section in over.value.items():
        below = value.get(key)
        if below is not None and isinstance(below.value, dict) and isinstance(section.value, dict):
            entries = {**below.value, **section.value}
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
