"""Pages of the documentation are complete: every option of every command, every key of a model file, every model."""

from __future__ import annotations

import argparse
import ast
import importlib
import re

from docs import generate
from kane.catalogue import builtin_names
from kane.cli.parser import parser
from kane.model.files import forms, reader
from kane.model.files.forms import Form, forms_with
from style.source import ROOT, markdown_files, python_files

CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
LARGEST = 12_000
"""Bytes of a picture of a model."""


def code_of_pages() -> str:
    """All that stands as code in the documentation."""
    return "\n".join(match for path in markdown_files() for match in CODE.findall(path.read_text(encoding="utf-8")))


def keys_of_entries() -> set[str]:
    """Keys that are written out where entries of a model file are read, `Entry(…, KEYS)`."""
    found: set[str] = set()
    for path in python_files("src/kane/model/files"):
        module = importlib.import_module(f"kane.model.files.{path.stem}") if path.stem != "__init__" else None
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Entry":
                for part in (x for argument in node.args[4:] for x in ast.walk(argument)):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str):
                        found.add(part.value)
                    elif isinstance(part, ast.Name):
                        value = getattr(module, part.id, ())
                        found |= {x for x in value if isinstance(x, str)} if isinstance(value, tuple | dict) else set()
    return found


def keys_of_records() -> set[str]:
    """Keys of constraints, loads, contacts, wheels and drives, from their records."""
    known = forms_with(())
    all_forms = [*known.constraints.values(), *known.loads.values()]
    all_forms += [form for form in vars(forms).values() if isinstance(form, Form)]
    return {key for form in all_forms for key in form.keys}


def test_the_page_of_the_shell_is_what_the_parser_knows() -> None:
    assert (ROOT / "docs" / "shell.md").read_text(encoding="utf-8") == generate.shell_page(), "run docs/generate.py"


def test_every_command_and_option_is_documented() -> None:
    text = (ROOT / "docs" / "shell.md").read_text(encoding="utf-8")
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    for name, command in commands.choices.items():
        section = text.partition(f"## kane {name}")[2].partition("\n## ")[0]
        options = [o for action in command._actions if action.dest != "help" for o in action.option_strings]
        assert not [option for option in options if f"`{option}" not in section], name


def test_every_key_of_a_model_file_is_documented() -> None:
    code = code_of_pages()
    keys = {*reader.SECTIONS, *keys_of_entries(), *keys_of_records()}
    assert len(keys) > 100
    missing = sorted(key for key in keys if not re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", code))
    assert not missing, f"say in docs/ what these keys of a model file mean: {missing}"


def test_every_built_in_model_has_its_line_and_a_small_picture() -> None:
    assert (ROOT / "docs" / "models.md").read_text(encoding="utf-8") == generate.models_page(), "run docs/generate.py"
    pictures = {path.stem: path.stat().st_size for path in generate.PICTURES.glob("*.png")}
    assert set(pictures) == set(builtin_names())
    assert max(pictures.values()) <= LARGEST


def test_every_page_is_named_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [path.name for path in (ROOT / "docs").glob("*.md")]
    assert not [page for page in pages if f"docs/{page}" not in readme]
