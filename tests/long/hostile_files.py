"""Damaged and hostile model files: each is a model or is refused by an error of ours, in time and in little memory."""

from __future__ import annotations

import contextlib
import json
import re
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from kane.errors import KaneError, ModelError
from kane.model import read_mechanism, read_urdf, write_mechanism
from long.block import Disagreement
from long.tries import draws
from unit.model.large_files import LARGE
from unit.model.large_robots import ROBOTS
from unit.model.test_broken_files import TEXTS, WORDS

CORPUS = Path(__file__).with_name("corpus.json")
"""Texts that once were a fault: {"yaml": [...], "urdf": [...]}. They are the first tries of every run."""

PROCESSOR_TIME = 5.0  # s for a file, on a shared core
GROWTH = 2.5  # of the time per character, from a file of an eighth of the size: eight would be quadratic work
MEMORY = 300e6  # bytes, the most that the process may ever have had, this test and all it imports included
SIZES = 10_000, 1_000_000  # characters of large files

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <material name="steel"><color rgba="0.5 0.5 0.5 1"/></material>
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0 0 0.2" rpy="0 0.1 0"/><mass value="2"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.02"/></inertial>
    <visual><origin xyz="0 0 0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry>
      <material name="steel"/></visual></link>
  <link name="lower"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0.01" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial><visual><geometry><box size="0.1 0.1 0.3"/></geometry></visual></link>
  <link name="finger"><inertial><mass value="0.1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>
    </inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <origin xyz="0 0 0.3" rpy="0 0 1.57"/><limit lower="-2" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/></joint>
  <joint name="grip" type="prismatic"><parent link="lower"/><child link="finger"/><axis xyz="0 0 1"/>
    <mimic joint="elbow" multiplier="0.1" offset="0.01"/><limit lower="0" upper="1" effort="1" velocity="1"/></joint>
</robot>
"""
XML_WORDS = re.findall(
    r"\S+",
    "nan inf -1 1e400 0 <link> </link> <!DOCTYPE a> &amp; &lol; <![CDATA[ ]]> <robot> name= floating planar fixed "
    '1e308 0,0,0 base upper " < > xyz= rpy= <mimic/> <geometry/> <mesh filename="../../x"/> <color/> rgba="red"',
)


def mutated(text: str, words: list[str], rng: np.random.Generator) -> str:
    """A text with a few words cut out, put in, exchanged or repeated, or with lines moved."""
    for _ in range(int(rng.integers(1, 6))):
        place, length = int(rng.integers(0, max(len(text), 1))), int(rng.integers(0, 12))
        lines, found = text.split("\n"), list(re.finditer(r"[\w.']+", text))
        new = words[int(rng.integers(len(words)))]
        kind = int(rng.integers(0, 7))
        if kind == 0:
            text = text[:place] + text[place + length :]
        elif kind == 1:
            text = text[:place] + new + text[place + length :]
        elif kind in (2, 3) and found:
            old, other = (found[int(k)] for k in rng.integers(len(found), size=2))
            text = text[: old.start()] + (other[0] if kind == 2 else new) + text[old.end() :]
        elif kind in (4, 5):
            line = int(rng.integers(len(lines)))
            moved = lines.pop(line) if kind == 4 else lines[line]
            lines.insert(int(rng.integers(len(lines) + 1)), moved)
            text = "\n".join(lines)
        else:
            numbers = list(re.finditer(r"\d+\.?\d*", text))
            if numbers:
                old = numbers[int(rng.integers(len(numbers)))]
                text = (
                    text[: old.start()] + str(rng.choice(["-1", "0", "1e-320", "1e200", "1e308"])) + text[old.end() :]
                )
    return text


def hostile_text(number: int) -> tuple[str, str]:
    """('yaml' or 'urdf', text) of a try: the corpus first, then mutations of good files."""
    corpus = [(kind, text) for kind, texts in json.loads(CORPUS.read_text(encoding="utf-8")).items() for text in texts]
    if number < len(corpus):
        return corpus[number]
    rng = draws("files", number)
    if rng.random() < 0.3:
        return "urdf", mutated(URDF, XML_WORDS, rng)
    return "yaml", mutated(TEXTS[int(rng.integers(len(TEXTS)))], WORDS, rng)


_LARGE = {**LARGE, **{f"robot: {kind}": make for kind, make in ROBOTS.items()}}


def large_text(number: int) -> tuple[str, str]:
    """(kind, text) of a file of up to a megabyte that is meant to cost much; half of them damaged."""
    rng = draws("large files", number)
    kind, size = list(_LARGE)[int(rng.integers(len(_LARGE)))], int(np.exp(rng.uniform(*np.log(SIZES))))
    text = _LARGE[kind](size)
    for _ in range(int(rng.integers(0, 6)) if rng.random() < 0.5 else 0):
        place, new = int(rng.integers(len(text))), WORDS[int(rng.integers(len(WORDS)))]
        text = text[:place] + new + text[place + int(rng.integers(0, 12)) :]
    return kind, text


def _judge_urdf(text: str) -> str:
    read_urdf(text, "hostile.urdf")
    return "model"


def _judge_yaml(text: str) -> str:
    mechanism = read_mechanism(text, "hostile.yaml")
    again = read_mechanism(write_mechanism(mechanism), "again.yaml")
    if again.description() != mechanism.description():
        raise Disagreement("a written model reads back as another one")
    return "model, written and read back"


def _judge_large(text: str) -> str:
    if text.startswith("<robot"):
        return _judge_urdf(text)
    read_mechanism(text, "large.yaml")
    return "model"


def peak_memory() -> float:
    """Bytes that this process has had at most since it began, or since `forget_peak` where the system has that."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024.0 * float(re.findall(r"VmHWM:\s*(\d+) kB", status)[0])
    except (OSError, IndexError):
        return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def forget_peak() -> None:
    """Measure peaks from now on: Linux only, elsewhere it is that of the whole process."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def _search(judge: Callable[[str], str], text: str, allowed: Callable[[], float]) -> str:
    """Read one file: what became of it; a refusal says where and what, and neither time nor memory is wasted.

    `allowed` is the time (s) that it may take beyond `PROCESSOR_TIME`.
    """
    forget_peak()
    started = time.process_time()
    try:
        outcome = judge(text)
    except ModelError as error:
        bad = [p for p in error.problems if not (p.where and p.what)]
        if bad or not error.problems:
            raise Disagreement(f"a refusal that does not say where or what: {error!r}") from error
        outcome = "refused"
    spent, memory = time.process_time() - started, peak_memory()
    if memory > MEMORY or (spent > PROCESSOR_TIME and spent > allowed()):
        raise Disagreement(f"{len(text)} characters took {spent:.1f} s and {memory / 1e6:.0f} MB")
    return outcome


def search(number: int) -> str:
    """Read one file of some kB."""
    kind, text = hostile_text(number)
    return f"{kind}: {_search(_judge_urdf if kind == 'urdf' else _judge_yaml, text, lambda: 0.0)}"


def search_large_files(number: int) -> str:
    """Read one file of up to a megabyte, in a process of its own: freed memory is not always given back."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        return pool.submit(_search_large, number).result()


def _search_large(number: int) -> str:
    kind, text = large_text(number)

    def allowed() -> float:
        started = time.process_time()
        with contextlib.suppress(KaneError):
            _judge_large(_LARGE[kind](len(text) // 8))
        return 8 * GROWTH * (time.process_time() - started)

    try:
        return _search(_judge_large, text, allowed)
    except Exception as error:
        error.add_note(f"{kind}, {len(text)} characters")
        raise
