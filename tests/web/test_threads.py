"""A page that simulates does so in a thread of its own: neither steps nor frames wait for the other, nothing leaves the
thread, and all that the user does reaches it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page

import kane
from browser import MISSING, chromium
from kane.model import Shape
from pages import STATE, open_page, place, state, wait_for, wait_until

pytestmark = pytest.mark.skipif(chromium() is None, reason=MISSING)

CLOCK = 0.15
"""Relative error of the motion's time against the clock, over a second and more on a machine that others use too."""

COUNTED = """(() => { window.modules = 0; const made = WebAssembly.instantiate;
WebAssembly.instantiate = (...x) => { window.modules++; return made.apply(WebAssembly, x); }; })()"""
"""Counts the modules that the page itself has; what is simulated has one at least."""

LONG_STEP = "setTimeout(() => { for (const end = performance.now() + 6000; performance.now() < end; ); }, 0)"
"""Keeps the thread from everything, as a step of 6 s does."""

DRAWN = """(async () => { const p = document.querySelector('kane-page'); let t = Number.NaN, first = 0;
for (const end = performance.now() + 20000; t !== p.state.t || p.drawing.frames < first + 5; ) {
  if (performance.now() > end) return null;
  if (t !== p.state.t) { t = p.state.t; first = p.drawing.frames; }
  document.dispatchEvent(new Event('pointermove'));
  await new Promise(requestAnimationFrame);
} return t; })()"""
"""The time (s) of the motion of which five frames in a row were drawn, while the pointer moves."""


@pytest.fixture(scope="module")
def pendulum(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kane.load("pendulum", free=["g"]).page(tmp_path_factory.mktemp("pages") / "page.html", q={"q": 0.5})


def test_frames_and_the_pointer_wait_for_no_step(browser: Browser, pendulum: Path) -> None:
    page, told = open_page(browser, pendulum, COUNTED)
    wait_until(page, 0.05)
    assert page.evaluate("window.modules") == 0 and len(page.workers) == 1, "all steps are in the thread"
    page.workers[0].evaluate(LONG_STEP)
    t = page.evaluate(DRAWN)
    x, y = place(page, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y, steps=2)
    held = page.evaluate("document.querySelector('kane-page').state")
    assert held["t"] == t and held["coupler"] is not None, "the body is held before the step has ended"
    wait_until(page, t)
    assert state(page)["coupler"]["stiffness"] > 0
    page.mouse.up()
    assert told == []
    page.close()


def test_the_motion_waits_for_no_frame(browser: Browser, pendulum: Path) -> None:
    page, _ = open_page(browser, pendulum)
    wait_until(page, 0.05)

    def keeps_time() -> bool:
        t, clock = page.evaluate(
            f"(async () => {{ const now = () => {STATE}.then((state) => [state.t, performance.now() / 1000]);"
            " const before = await now(); for (const end = performance.now() + 1000; performance.now() < end; );"
            " const after = await now(); return [after[0] - before[0], after[1] - before[1]]; })()"
        )
        return clock >= 1.0 and t == pytest.approx(clock, rel=CLOCK)

    assert any(keeps_time() for _ in range(5)), "on a machine that is busy now and then"
    page.close()


ATTEMPTS = {
    "fetch('http://127.0.0.1:9/').catch(() => 0)": "connect-src",
    "try { new WebSocket('ws://127.0.0.1:9/') } catch {}": "connect-src",
    "try { importScripts('data:text/javascript,') } catch {}": "script-src-elem",
}
"""What a script may try in the thread, and the part of the policy that forbids it."""


def test_nothing_leaves_the_thread(browser: Browser, pendulum: Path) -> None:
    page, _ = open_page(browser, pendulum)
    violation = (
        "new Promise((done) => { setTimeout(() => done('allowed'), 5000);"
        " addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), { once: true }); })"
    )
    for attempt, directive in ATTEMPTS.items():
        tried = f"(() => {{ const found = {violation}; {attempt}; return found; }})()"
        assert page.workers[0].evaluate(tried) == directive
    policy = page.evaluate("document.querySelector('meta[http-equiv]').content")
    assert "worker-src blob:;" in policy and "connect-src 'none'" in policy
    page.close()


def test_a_recording_has_no_thread_and_may_not_have_one(browser: Browser, tmp_path: Path) -> None:
    page, told = open_page(browser, kane.load("pendulum").simulate(0.5).page(tmp_path / "page.html"))
    assert page.workers == [] and told == []
    assert "worker-src 'none'" in page.evaluate("document.querySelector('meta[http-equiv]').content")
    page.close()


def test_a_page_that_may_have_no_thread_moves_all_the_same(browser: Browser, pendulum: Path, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(pendulum.read_text(encoding="utf-8").replace("worker-src blob:", "worker-src 'none'"))
    page, _ = open_page(browser, path)
    assert page.workers == []
    check_keys(page)
    page.close()


def check_keys(page: Page) -> None:
    """Steps are those of a native run, and the motion goes on."""
    page.keyboard.press(" ")
    page.keyboard.press("r")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    found = state(page)
    run = kane.load("pendulum").simulate(0.02, method="rk4", step=1e-3, q={"q": 0.5})
    assert found["q"] == run.q[-1].tolist() and found["u"] == run.u[-1].tolist()
    page.keyboard.press(" ")
    wait_until(page, 0.03)


def test_a_body_that_nothing_moves_is_not_held_and_the_view_turns(browser: Browser, tmp_path: Path) -> None:
    m = kane.Model("post", gravity=(0, 0, -9.81))
    m.body("post", mass=5, shapes=[Shape("box", (0.3, 0.3, 0.3))])
    m.joint("foot", "weld", "ground", "post")
    m.body("rod", mass=1, center=(0, 0, -0.5), inertia={"xx": 0.1, "yy": 0.1})
    m.joint("hinge", "revolute", "post", "rod", axis="y", at=(0.5, 0, 0))
    page, told = open_page(browser, m.page(tmp_path / "page.html"))
    page.keyboard.press(" ")
    x, y = place(page, 0)
    far = "document.querySelector('kane-page').locate(0, [0.5, 0.4, 0]).pixel"
    before = page.evaluate(far)
    page.mouse.move(x, y)
    page.mouse.down()
    assert state(page)["coupler"] is None and not state(page)["playing"]
    page.mouse.move(x + 80, y, steps=4)
    page.mouse.up()
    page.wait_for_timeout(200)
    assert np.abs(np.subtract(page.evaluate(far), before)).max() > 10, "pixels"
    assert told == []
    page.close()


def test_start_parameters_and_values_reach_the_thread_and_come_back(browser: Browser, pendulum: Path) -> None:
    page, told = open_page(browser, pendulum)
    panel = page.locator("kane-page")
    page.keyboard.press(" ")
    panel.get_by_text("Start", exact=True).click()
    panel.get_by_text("Take the present state").click()
    panel.locator(".start-values input").first.fill("1.25")
    panel.locator(".start-values input").last.fill("-0.5")
    panel.get_by_text("Start there").click()
    found = state(page)
    assert (found["t"], found["q"], found["u"]) == (0.0, [1.25], [-0.5])
    slider = panel.locator(".slider input")
    slider.focus()
    slider.evaluate("(e) => { e.value = '3'; for (const x of ['input', 'change']) e.dispatchEvent(new Event(x)); }")
    slider.blur()
    panel.get_by_text("Equations", exact=True).click()
    page.keyboard.press("r")
    for gravity in (3.0, 9.81):
        assert prints(page, math.sin(1.25))
        page.keyboard.press("ArrowRight")
        run = kane.load("pendulum", free=["g"]).simulate(
            1e-3, method="rk4", step=1e-3, q={"q": 1.25}, u={"u": -0.5}, parameters={"g": gravity}
        )
        assert state(page)["q"] == run.q[-1].tolist(), "a new start keeps the sliders"
        page.keyboard.press("z")
        page.keyboard.press("r")
    panel.get_by_text("As it was").click()
    assert state(page)["q"] == [0.5]
    assert told == []
    page.close()


LIMITED = """
<robot name="arm"><link name="base"/>{links}</robot>"""
LINK = """<link name="l{k}"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder_{name}_joint" type="revolute"><parent link="{parent}"/><child link="l{k}"/><origin xyz="0.3 0 0"/>
<axis xyz="0 0 1"/><limit lower="-1" upper="1.5" velocity="3" effort="9"/></joint>"""


@pytest.fixture
def arm(tmp_path: Path) -> kane.Model:
    """An arm of two joints whose drives have limits."""
    parts = [LINK.format(k=k, name=n, parent=p) for k, (n, p) in enumerate((("pan", "base"), ("lift", "l0")))]
    (tmp_path / "arm.urdf").write_text(LIMITED.format(links="".join(parts)), encoding="utf-8")
    return kane.load(tmp_path / "arm.urdf")


def test_a_start_beyond_limits_is_told_and_long_names_are_whole(
    browser: Browser, arm: kane.Model, tmp_path: Path
) -> None:
    inside, outside = tmp_path / "inside.html", tmp_path / "outside.html"
    arm.page(inside)
    with pytest.warns(UserWarning, match=r"outside its limits: q_shoulder_lift_joint = 5 \(-1 … 1.5\)"):
        arm.page(outside, q={"q_shoulder_lift_joint": 5.0})
    told_of = "document.querySelector('kane-page').shadowRoot.querySelector('.note').textContent"
    for path, said in ((inside, False), (outside, True)):
        page, told = open_page(browser, path)
        page.keyboard.press(" ")
        page.keyboard.press("r")
        wait_for(page, lambda page=page: page.evaluate(told_of).startswith("drag a body"))  # the note is that of t = 0
        line = "beyond its limits: q_shoulder_lift_joint = 5.000 rad (-1 to 1.5)"
        assert (line in page.evaluate(told_of)) is said
        page.locator("kane-page").get_by_text("Start", exact=True).click()
        names = page.locator("kane-page").locator(".start-values span")
        assert names.all_text_contents() == [
            f"{x}_shoulder_{n}_joint ({unit})" for x, unit in (("q", "rad"), ("u", "rad/s")) for n in ("pan", "lift")
        ]
        assert names.evaluate_all("(all) => all.every((e) => e.scrollWidth <= e.clientWidth + 1)")
        assert names.evaluate_all("(all) => all.every((e) => e.parentElement.title === e.textContent)")
        assert told == []
        page.close()


def test_an_effort_that_is_set_moves_a_joint_as_in_a_simulation(
    browser: Browser, arm: kane.Model, tmp_path: Path
) -> None:
    """To the bit, from its start, after a reset too; a double click brings back the effort of the page."""
    page, told = open_page(browser, arm.page(tmp_path / "arm.html", tau=[0.5, 0.0]))
    page.keyboard.press(" ")
    slider = page.locator("kane-page").locator(".slider[title='τ_u_shoulder_lift_joint (N m)'] input")
    assert [slider.get_attribute("min"), slider.get_attribute("max"), slider.input_value()] == ["-9", "9", "0"]
    slider.evaluate("(e) => { e.value = '-2.5'; e.dispatchEvent(new Event('input')); }")
    slider.blur()
    for effort in (-2.5, 0.0):
        page.keyboard.press("r")
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        run = arm.simulate(3e-3, method="rk4", step=1e-3, tau=[0.5, effort])
        assert state(page)["q"] == run.q[-1].tolist() and state(page)["u"] == run.u[-1].tolist()
        slider.dispatch_event("dblclick")
    assert told == []
    page.close()


def prints(page: Page, value: float) -> bool:
    """Whether the Z list comes to say that sin(q) is a value, to the seven digits that are printed."""
    for _ in range(100):
        text = page.evaluate("document.querySelector('kane-page').shadowRoot.querySelector('pre').textContent")
        found = [float(line.split()[0]) for line in text.splitlines() if "sin(q" in line]
        if found and math.isclose(found[0], value, rel_tol=1e-6):
            return True
        page.wait_for_timeout(100)
    return False


def test_slow_motion_is_recorded_too(browser: Browser, pendulum: Path) -> None:
    page, _ = open_page(browser, pendulum)
    page.locator("kane-page").locator("select[title=speed]").select_option(label="0.05×")
    page.keyboard.press(" ")
    page.keyboard.press("r")
    assert state(page)["t"] == 0.0  # seen before it goes on
    page.keyboard.press(" ")
    wait_until(page, 0.03)
    with page.expect_download() as download:
        page.locator("kane-page").get_by_text("Download CSV").click()
    t = np.loadtxt(download.value.path(), delimiter=",", skiprows=1)[:, 0]
    assert t[0] == 0.0 and t[-1] > 0.03 and len(t) > 5 and (np.diff(t) > 0).all()
    page.close()
