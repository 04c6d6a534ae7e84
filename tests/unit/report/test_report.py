"""The report is one file that asks nobody for anything, has every chapter, and shows text as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kane
from kane.backends import compile, mathml
from kane.cli import main
from kane.errors import InputError
from kane.graph import Graph, Inputs, evaluate, lower
from kane.model import JointSpring
from kane.model.loads import ForceAction, GivenActions
from kane.model.outline import bodies_table
from kane.report import write
from kane.report.chapters import model_chapter
from kane.viewer import drawings, plots

CHAPTERS = ("model", "equations", "simulation", "conservation", "checks")
FETCHING = ("src", "href", "data", "poster", "action", "srcset", "background", "xlink:href")


class Reader(HTMLParser):
    """Ids, tags, attributes that fetch, and the pages inside."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.tags: list[str] = []
        self.fetched: list[str] = []
        self.inside: list[str] = []
        self.title = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.add(value or "")
            if name in FETCHING:
                self.fetched.append(value or "")
            if name == "srcdoc":
                self.inside.append(value or "")


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    return reader


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "pendulum.html"
    model = kane.load("double-pendulum")
    written = write(model, path, trajectory=model.simulate(np.linspace(0, 2, 61)))
    assert written.passed
    return path.read_text(encoding="utf-8")


def test_every_chapter_is_there(page: str) -> None:
    assert set(CHAPTERS) <= read(page).ids


def test_nothing_is_fetched_from_outside(page: str) -> None:
    reader = read(page)
    assert all(value.startswith(("#", "data:")) for value in reader.fetched)
    assert "link" not in reader.tags and "@import" not in page
    assert "default-src 'none'" in page and not re.search(r"connect-src[^;]*http", page)
    hosts = set(re.findall(r"https?://([^/\"'\s<>)]+)", page.split("srcdoc=")[0]))
    assert hosts <= {"www.w3.org"}


def test_the_scene_is_inside_and_plays_from_its_own_data(page: str) -> None:
    (scene,) = read(page).inside
    assert 'id="kane-data"' in scene
    assert all(value.startswith(("data:", "#", "blob:")) for value in read(scene).fetched)


def test_figures_are_drawings_with_names_and_no_two_ids_are_the_same(page: str) -> None:
    drawings = re.findall(
        r"<svg .*?</svg>", page.split("srcdoc=")[0] + page.rpartition("</iframe>")[2], flags=re.DOTALL
    )
    assert len(drawings) >= 4
    ids = [i for drawing in drawings for i in re.findall(r'\bid="([^"]+)"', drawing)]
    assert len(ids) == len(set(ids))
    assert all('role="img" aria-label="' in drawing for drawing in drawings)


def test_the_equations_of_a_small_model_are_set_as_mathematics(page: str) -> None:
    found = re.findall(r"<math .*?</math>", page)
    assert len(found) == 2
    for element in found:
        ElementTree.fromstring(element.replace("&#x2062;", ""))


def test_a_report_lists_efforts_that_were_at_their_limits(tmp_path: Path) -> None:
    """6 sin π t, cut off at 3: two thirds of the time, first after a sixth of a second, four times in 4 s."""
    m = kane.Model("cart")
    m.body("cart", mass=2.0)
    m.joint("rail", "prismatic", "ground", "cart", axis="x", coordinates=["x"], speeds=["v"])
    m.limit("x", effort=3.0)
    run = m.simulate(4.0, control={"v": "6*sin(pi*t)"}, saturate=True)
    write(m, tmp_path / "cart.html", trajectory=run, scene=False)
    text = (tmp_path / "cart.html").read_text(encoding="utf-8")
    assert "saturated: x for 2.667 s (66.7 % of the time), first at t = 0.1667 s" in text
    cells = ["x", "3", "N", "2.667", "66.7 %", "0.1667", "4"]
    assert "</td><td>".join(cells) in text.replace('<td class="w">', "<td>")
    free = m.simulate(4.0, control={"v": "2*sin(pi*t)"}, saturate=True)
    write(m, tmp_path / "free.html", trajectory=free, scene=False)
    assert "held at their limits" not in (tmp_path / "free.html").read_text(encoding="utf-8")


def test_text_of_a_model_is_text_on_the_page(tmp_path: Path) -> None:
    model = kane.Model("rod", gravity=[0, -9.81, 0], about="<script>alert('&')</script>")
    model.body("rod", mass=1.0, center=[0, -1, 0])
    model.joint("pin", "revolute", "ground", "rod")
    write(model, tmp_path / "rod.html", trajectory=model.simulate(np.linspace(0, 1, 11)), scene=False)
    text = (tmp_path / "rod.html").read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text


def test_a_report_is_html(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in \.html"):
        write(kane.load("pendulum"), tmp_path / "report.pdf")


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    model, told = kane.load("pendulum"), []
    write(model, tmp_path / "p.html", trajectory=model.simulate((0, 1)), scene=False, progress=told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1.0)


def test_the_balance_counts_a_spring_once() -> None:
    model = kane.Model("mass on a spring", gravity=[0, 0, -9.81])
    model.body("block", mass=2.0)
    model.joint("rail", "prismatic", "ground", "block", axis="z", coordinates=["z"], speeds=["w"])
    model.load("spring", JointSpring("rail", stiffness=50.0, damping=0.5))
    found = model.simulate(np.linspace(0, 3, 50), q=[0.3], rtol=1e-10, atol=1e-12).balance()
    assert np.ptp(found.work) > 1.0
    assert found.error < 1e-7


def test_mathematics_that_cannot_be_read_is_not_set() -> None:
    assert mathml.equations(kane.load("stanford-arm").equations().program("inverse_dynamics")) is None


def test_a_product_of_a_sum_has_parentheses_and_a_sum_of_products_has_none() -> None:
    g = Graph()
    x, y = g.input("x"), g.input("y")
    names = (Inputs("v", ("x", "y")),)
    product = lower("p", names, {"f": ((), [(x + y) * x.sin()])}, simplify=False)
    plain = lower("s", names, {"f": ((), [x * y + x.sin()])}, simplify=False)
    (first,), (second,) = mathml.equations(product) or [""], mathml.equations(plain) or [""]
    assert first.count("<mo>(</mo>") == 2 and second.count("<mo>(</mo>") == 1
    assert evaluate([(x + y) * x.sin()], {"x": 0.0, "y": 1.0}) == [0.0]


def test_a_tree_whose_names_do_not_fit_into_boxes_is_written_in_lines() -> None:
    model = kane.Model("hand")
    model.body("gripper_left_base_link", mass=1.0)
    model.joint("root", "weld", "ground", "gripper_left_base_link")
    for k in range(2):
        name = f"gripper_left_fingertip_{k}_link"
        model.body(name, mass=1.0, inertia={"xx": 1.0, "yy": 1.0, "zz": 1.0})
        model.joint(f"j{k}", "revolute", "gripper_left_base_link", name, axis="z")
    shown = model_chapter(model).body
    assert "   ├─ gripper_left_fingertip_0_link   j0: revolute q_j0\n" in shown and "tree of hand" not in shown
    assert "tree of pendulum" in model_chapter(kane.load("pendulum")).body


def as_python(node: ElementTree.Element) -> str:
    """An equation in MathML as Python reads it, names of rates with `dot` behind them."""
    parts = [as_python(child) for child in node]
    if node.tag == "msup":
        return f"({parts[0]})**({parts[1]})"
    if node.tag == "mfrac":
        return f"({parts[0]})/({parts[1]})"
    if node.tag == "mover":
        return f"{parts[0]}dot"
    if node.tag == "msub":
        return f"{parts[0]}{parts[1]}"
    signs = {"\u2062": "*", "−": "-", "=": "==", "·": "*"}
    return signs.get(node.text or "", node.text or "") if not parts else "".join(parts)


def test_factors_that_occur_again_are_written_as_powers() -> None:
    """Read back, equations have the values of the program, whatever the order in which products were made."""
    g = Graph()
    w, r, a, b = (g.input(name) for name in ("w", "r", "a", "b"))
    exprs = [r * w * w, w * (r * w), r * (a + b) * (a + b), w * w * w * r, (-w) * w * a, (w * w) * (w * b) / r]
    program = lower("products", [Inputs("x", ("w", "r", "a", "b"))], {"y": ((len(exprs),), exprs)})
    found = mathml.equations(program)
    assert found is not None
    values = dict(zip("wrab", (1.7, 0.3, -2.1, 0.9), strict=True))
    for text, expected in zip(found, compile(program, "interpret")(list(values.values())), strict=True):
        right = as_python(ElementTree.fromstring(text)).partition("==")[2]
        assert eval(right, {}, values) == pytest.approx(expected, rel=1e-12)
    for text in found[:3]:
        assert text.count("<msup>") == 1
    assert "<mn>3</mn></msup>" in found[3]


def test_dots_are_larger_than_browsers_put_them_and_stand_over_one_letter() -> None:
    sizes = [re.findall(r'mathsize="(\d+)%"', mathml.symbol(name)) for name in ("u1'", "phi'", "lean'")]
    assert sizes[0] == sizes[1] and int(sizes[0][0]) > 100
    assert not sizes[2] and mathml.symbol("lean'").count("′") == 1


def test_limits_have_units() -> None:
    found = model_chapter(kane.load("ur5")).body
    assert "rad, rad/s, N m" in found


def test_loads_are_listed_with_what_acts() -> None:
    """A spring of the satellite by its stiffness, and forces that a script gives by point, components and axes."""
    shown = model_chapter(kane.load("satellite-with-panels")).body
    assert "joint_spring: drive 1, stiffness: Ka, damping: Ca" in shown
    m = kane.Model("pulled", gravity=(0, 0, -9.81))
    m.joint("rail", "prismatic", "ground", m.particle("slider", 1.0), axis="x", coordinates=["x"])
    mechanism = m.mechanism
    point = mechanism.point("hook", mechanism.O, mechanism.N.vector(0, 0, 0))
    mechanism.load("pull", GivenActions((ForceAction(point, mechanism.N.vector(-3.5, 0, 0)),)))
    assert "force at hook: [-3.5, 0, 0] in N" in model_chapter(m).body


def test_operations_are_the_same_in_cards_and_tables(page: str) -> None:
    """Of the double pendulum, whose forward dynamics divides: cards count divisions as multiplications, and say so."""
    count = kane.load("double-pendulum").equations().count("forward_dynamics")
    assert count["div"] > 0
    both = f"{count['mul'] + count['div']} + {count['add']}"
    assert f"<b>{both}</b><span>multiplications and divisions + additions of forward dynamics</span>" in page
    cells = "".join(f"<td>{count[k]}</td>" for k in ("mul", "add", "div", "trig"))
    assert f'<td class="w">forward dynamics</td>{cells}' in page


def test_a_report_speaks_of_the_start_that_was_simulated(tmp_path: Path) -> None:
    """Table, picture and words: of a pendulum at 90°, which its model starts at 60°, the picture lies."""
    m = kane.load("pendulum")
    own, other = (m.simulate(np.linspace(0, 0.1, 11), q=q) for q in (None, {"q": 1.5707963}))
    pages = [write(m, tmp_path / "x.html", trajectory=run, scene=False).path.read_text("utf-8") for run in (own, other)]
    assert (
        "The motion starts in the initial state of the model. No efforts along the speeds. The simulation" in pages[0]
    )
    assert "The motion starts at q = 1.5708, the rest as in the initial state of the model. No efforts" in pages[1]
    for page, start in zip(pages, ("1.0472", "1.5708"), strict=True):
        assert re.search(rf"<td[^>]*>q</td><td[^>]*>rad</td><td[^>]*>{start}</td>", page)
        assert "Where the simulation starts." in page and "In the initial state." not in page
    poses = [plots.svg(drawings.mechanism(m, run.q[0]), "drawing of pendulum") for run in (own, other)]
    assert [[pose in page for pose in poses] for page in pages] == [[True, False], [False, True]]


def test_products_of_inertia_are_told_where_a_body_has_one(capsys: pytest.CaptureFixture[str]) -> None:
    m = kane.Model("top")
    m.body("rotor", mass=1, inertia={"xx": 1, "yy": 1.2, "zz": 1.1, "xz": 0.4})
    m.joint("pin", "revolute", "ground", "rotor", axis="z")
    head, rows = bodies_table(m.mechanism)
    assert dict(zip(head, rows[0], strict=True))["Ixz"] == "0.4"
    assert "Ixz" in model_chapter(m).body and "Ixz" not in model_chapter(kane.load("pendulum")).body
    for name, told in (("satellite-with-panels", True), ("pendulum", False)):
        assert main(["info", name]) == 0
        assert ("Ixz" in capsys.readouterr().out) is told
