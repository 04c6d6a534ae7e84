"""Damaged and hostile model files: each is a model or is refused by an error of ours, in time."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import numpy as np

from kane.errors import KaneError, ModelError
from kane.model import read_mechanism, read_urdf, write_mechanism
from long.block import Disagreement
from long.tries import draws
from unit.model.test_broken_files import TEXTS, WORDS

CORPUS = Path(__file__).with_name("corpus.json")
"""Texts that once were a fault: {"yaml": [...], "urdf": [...]}. They are the first tries of every run."""

PROCESSOR_TIME = 5.0  # s for a file of some kB, on a slow core, tracing included; issues of quadratic work show as more

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


def _judged(kind: str, text: str) -> str:
    if kind == "urdf":
        read_urdf(text, "hostile.urdf")
        return "urdf: model"
    mechanism = read_mechanism(text, "hostile.yaml")
    again = read_mechanism(write_mechanism(mechanism), "again.yaml")
    if again.description() != mechanism.description():
        raise Disagreement("a written model reads back as another one")
    return "yaml: model, written and read back"


def search(number: int) -> str:
    """Read one file."""
    kind, text = hostile_text(number)
    started = time.process_time()
    try:
        outcome = _judged(kind, text)
    except ModelError as error:
        bad = [p for p in error.problems if not (p.where and p.what)]
        if bad or not error.problems:
            raise Disagreement(f"a refusal that does not say where or what: {error!r}") from error
        outcome = f"{kind}: refused"
    except KaneError as error:
        outcome = f"{kind}: refused ({type(error).__name__})"
    spent = time.process_time() - started
    if spent > PROCESSOR_TIME:
        raise Disagreement(f"{len(text)} characters took {spent:.1f} s")
    return outcome
