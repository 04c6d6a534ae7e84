"""The code in the documentation runs, and prints what the page says.

The blocks of one page marked `python` run in order in one namespace, in an empty folder in which `examples` is linked.
A block marked `text` directly after one of them is what it prints; `...` stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from style.source import ROOT, markdown_files, relative

README_LINES = 120  # what a newcomer reads before closing the page


@dataclass(frozen=True, slots=True)
class Block:
    """Code of a page, the line before its first line, and what the page says it prints (None: nothing is said)."""

    code: str
    line: int
    printed: str | None


def code_blocks(text: str) -> Iterator[Block]:
    """The blocks of a page that are marked `python`."""
    tokens = MarkdownIt().parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "fence" and token.info.strip() == "python":
            printed = None
            if following is not None and following.type == "fence" and following.info.strip() == "text":
                printed = following.content
            yield Block(token.content, token.map[0] + 1 if token.map else 0, printed)


def run_page(path: Path) -> None:
    """Run the blocks of a page in order; raises where a block fails or prints something else."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    for block in code_blocks(path.read_text(encoding="utf-8")):
        code = compile("\n" * block.line + block.code, str(path), "exec")
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(code, namespace)
        if block.printed is not None:
            flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
            fits = doctest.OutputChecker().check_output(block.printed, output.getvalue(), flags)
            where = f"{path.name}, line {block.line + 1}"
            assert fits, f"{where}: the page says\n{block.printed}\nbut it prints\n{output.getvalue()}"


@pytest.mark.parametrize("path", markdown_files(), ids=relative)
def test_the_code_of_the_page_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    run_page(path)


def test_a_page_that_prints_something_else_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\nthen\n```python\nprint(x + 2)\n```\n```text\n5\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"line 6: the page says"):
        run_page(page)


def test_the_readme_is_short() -> None:
    lines = [line for path in ROOT.glob("README.md") for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) <= README_LINES


def test_what_a_block_prints_is_said() -> None:
    """An expected output that is nothing but `...`, in brackets or not, fits everything and says nothing."""
    empty = [
        f"{relative(path)}:{block.line + 1}"
        for path in markdown_files()
        for block in code_blocks(path.read_text(encoding="utf-8"))
        if block.printed is not None and not re.search(r"\w", block.printed.replace("...", ""))
    ]
    assert not empty, "the blocks after these say nothing of what is printed:\n" + "\n".join(empty)
