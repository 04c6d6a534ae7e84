"""Plain words: functions are verbs or nouns of the field, one word has one meaning, errors read as an engineer writes.

A bare participle (`closed`, `told`, `held`) has to be looked up before it is understood. Phrases in `RIDDLES` have
stood in errors and pages; what to say instead is the value of each.
"""

from __future__ import annotations

import ast
import re
from functools import cache

from style.source import PACKAGE, markdown_files, python_files, relative

IRREGULAR = re.compile(
    "bought|brought|built|chosen|done|drawn|driven|felt|found|given|gone|held|hung|kept|known|laid|lost|made|meant|met|"
    "seen|sent|shown|spun|taken|told|written"
)
NOUNS = {"need", "seed", "speed"}
VERBS = re.compile("attach|build|check|compile|find|is|make|note|refuse|remove|require|solve|stop")
ALLOWED = {
    "scaled": "k a, as in every vector library; `scale` is the number",
    "_link_as_described": "the noun is in front",
    "all_rows_held": "a twin, by what is true of it",
}
RIDDLES = {
    r"\bto mend\b": "fix",
    r"\bheld against\b": "compared with, checked by",
    r"\b(?:cannot|no other (?:state )?) ?feels?\b": "has no influence on, depends on",
    r"\btold by\b": "defined by",
    r"\bmoves? as told\b": "has a prescribed motion",
    r"\bno hold there\b": "loses rank there",
    r"\bend of its reach\b": "fully extended",
    r"\bnowhere and everywhere\b": "is not defined",
    r"\bleads? nowhere\b": "does not converge, belongs to no motion",
    r"\bhardly any further\b": "by almost nothing",
    r"\bvibration modes?\b": "eigenmode",
}


def is_participle(word: str) -> bool:
    """Whether a word has the form of a past participle."""
    return word not in NOUNS and (word.endswith("ed") or IRREGULAR.fullmatch(word) is not None)


def is_truth(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a property says yes or no, for which an adjective is the usual name (`passed`, `converged`)."""
    asked = any("property" in ast.unparse(decorator) for decorator in function.decorator_list)
    return asked and function.returns is not None and ast.unparse(function.returns) == "bool"


def is_bare(name: str) -> bool:
    """Whether a name ends in a participle with no verb in front."""
    words = name.strip("_").split("_")
    return is_participle(words[-1]) and (len(words) == 1 or not VERBS.fullmatch(words[0]))


@cache
def bare_names() -> tuple[tuple[str, str], ...]:
    """Place and name of every function and method of the package whose name is a bare participle, nested ones too."""
    return tuple(
        (f"{relative(path)}:{node.lineno}", node.name)
        for path in python_files("src")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_bare(node.name) and not is_truth(node)
    )


def test_functions_are_verbs_or_nouns() -> None:
    found = [f"{place}: {name}" for place, name in bare_names() if name not in ALLOWED]
    assert not found, "name by a verb or a noun of the field:\n" + "\n".join(found)


def test_a_bare_participle_would_be_found() -> None:
    names = ("closed", "_told", "signs_absorbed", "solve_constrained", "frame_speed", "is_aligned", "find_body")
    assert [is_bare(name) for name in names] == [True, True, True, False, False, False, False]


def test_every_name_that_is_allowed_is_used() -> None:
    assert set(ALLOWED) <= {name for _, name in bare_names()}


def test_texts_are_plain() -> None:
    found = [
        f"{relative(path)}: {match[0]!r}: {plain}"
        for path in [*python_files("src"), *markdown_files()]
        for text in [" ".join(path.read_text(encoding="utf-8").split())]
        for riddle, plain in RIDDLES.items()
        for match in re.finditer(riddle, text)
    ]
    assert not found, "say it plainly:\n" + "\n".join(found)


def test_a_mode_is_a_set_of_constraints() -> None:
    """Modes live where motions are simulated; those of a linearization are eigenmodes."""
    elsewhere = [p for p in python_files("src") if (PACKAGE / "analysis") in p.parents]
    assert not [relative(p) for p in elsewhere if re.search(r"\b[Mm]odes?\b", p.read_text(encoding="utf-8"))]
