"""Interactive figures: numbers, controls, and what is there without them."""

import functools
import itertools
import math
import re

import jax
import numpy as np
import pytest

from browser import serve
from sharp_attention.attention import activations, entropy, temperature
from sharp_attention.experiments import finite_sample_tables, phase_risks
from sharp_attention.figures import lab, publish, style
from sharp_attention.theory import dispersion
from sharp_attention.theory.single_location import phases
from site_pages import SITE, TOP, page

pytestmark = pytest.mark.browser

ASSETS = TOP / "book" / "_assets" / "lab"


@pytest.fixture(scope="module")
def address(built):
    prefix = page("404.html").find("base")["href"]
    with serve(SITE, prefix) as address:
        yield address


@functools.cache
def home(name: str) -> str:
    """Return the page that shows an interactive figure."""
    for path in sorted((SITE / "book").glob("*.html")):
        if f"<sharp-lab-{name}>" in path.read_text(encoding="utf-8"):
            return f"book/{path.name}"
    raise LookupError(f"no page shows {name}")


class Lab:
    """An interactive figure in a page that is open."""

    def __init__(self, tab, name):
        self.tab, self.name = tab, name
        self.root = tab.locator(f"sharp-lab-{name}")

    def control(self, name):
        return self.root.locator(f"[name='{name}']")

    def set(self, name, value):
        """Set a slider as a hand does."""
        script = """(input, value) => {
          input.value = value;
          input.dispatchEvent(new Event("input", {bubbles: true}));
        }"""
        self.control(name).evaluate(script, value)
        return self

    def number(self, name):
        found = self.root.locator(f"[data-quantity='{name}']")
        return float(found.get_attribute("data-value"))

    def picture(self):
        return self.root.locator(".sharp-lab-charts").inner_html()

    def words(self):
        self.tab.wait_for_timeout(400)
        return self.root.locator("[role=status]").inner_text()


@pytest.fixture(scope="module")
def tabs(chromium, address):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    opened, complaints = {}, []

    def tab(name):
        if name not in opened:
            opened[name] = new = context.new_page()
            new.on("pageerror", lambda e: complaints.append(str(e)))
            new.on("console", lambda m: m.type == "error" and complaints.append(m.text))
            new.on("request", lambda r: foreign(r.url))
            new.goto(f"{address}/{home(name)}", wait_until="load")
            new.wait_for_selector(f"sharp-lab-{name}.sharp-lab-is-live")
        return Lab(opened[name], name)

    def foreign(url):
        if not url.startswith((address, "data:")):
            complaints.append(url)

    tab.complaints = complaints
    yield tab
    context.close()


@pytest.fixture(scope="module")
def formulas(chromium, address):
    """Call an exported formula with lists of arguments; returns a list."""
    tab = chromium.new_page()
    tab.goto(f"{address}/robots.txt")
    script = """async ([url, name, calls]) => {
      const module = await import(url);
      return calls.map(call => module[name](...call));
    }"""
    url = f"{address}/lab/formulas.js"
    yield lambda name, calls: tab.evaluate(script, [url, name, calls])
    tab.close()


GRID = list(
    itertools.product(
        (0.0, 0.3, 1.0, 5.0, 5.69, 12.0), (2, 3, 16, 512, 2**20), (0.2, 1.0, 3.0)
    )
)


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("weightBounds", dispersion.weight_bounds),
        ("sharpWeightBounds", dispersion.sharp_weight_bounds),
        ("entropyFloor", dispersion.entropy_floor),
    ],
)
def test_bounds_are_the_librarys(formulas, name, function):
    expected = [function(*call) for call in GRID]
    # JSON writes a large number without a fraction, which Python takes for an integer.
    found = np.array(formulas(name, GRID), dtype=float)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_number_of_items_is_the_librarys(formulas):
    calls = list(itertools.product((0.0, 2.0, 5.69, 12.0), (0.5, 0.9), (0.5, 1.0)))
    expected = [dispersion.min_items_to_disperse(*call) for call in calls]
    assert formulas("minItemsToDisperse", calls) == expected


def test_softmax_and_entropy_are_the_librarys(formulas):
    rows = np.random.default_rng(0).uniform(0, 8, size=(20, 8)).round(1)
    others = [0, 1, 7, 120, 9_992] * 4
    sharpnesses = [1.0, 2.4] * 10
    calls = [
        [r.tolist(), b, m] for r, b, m in zip(rows, sharpnesses, others, strict=True)
    ]
    for (logits, beta, count), found in zip(
        calls, formulas("softmax", calls), strict=True
    ):
        row = beta * np.concatenate([logits, np.zeros(count)])
        with jax.enable_x64(True):
            weights = np.asarray(activations.softmax(row))
            nats = float(entropy.entropy(row))
        np.testing.assert_allclose(found["weights"], weights[:8], rtol=1e-12)
        assert found["entropy"] == pytest.approx(nats, abs=1e-12)


def test_the_rule_is_the_librarys(formulas):
    grid = np.linspace(0, 9, 181)
    found = formulas("inverseTemperature", [[h] for h in grid.tolist()])
    with jax.enable_x64(True):
        expected = np.asarray(temperature.inverse_temperature(grid))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_phases_are_the_librarys(formulas):
    plane = list(
        itertools.product(
            np.linspace(0, 3, 31).tolist(), np.linspace(0, 5, 26).tolist()
        )
    )
    assert formulas("phase", plane) == [phases.phase(*place) for place in plane]
    for read_out in ("fixed", "best"):
        calls = [(*place, read_out) for place in plane]
        expected = [phases.limit_risk(*call) for call in calls]
        np.testing.assert_allclose(formulas("limitRisk", calls), expected, rtol=1e-12)


def test_interpolation_is_the_librarys(formulas):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(6, 9))
    places = rng.uniform(0, 1, size=(40, 2)) * [5, 8]
    calls = [[table.tolist(), *place] for place in places.tolist()]
    expected = lab.interpolate(table, *places.T, 1.0)
    np.testing.assert_allclose(formulas("interpolate", calls), expected, atol=1e-12)


def test_temperature_and_length(tabs):
    figure = tabs("temperature")
    pictures = {figure.picture()}
    for spread, theta, power in [(5, 1, 8), (2, 0.5, 1), (12, 3, 20), (0, 1, 4)]:
        figure.set("spread", spread).set("temperature", theta).set("items", power)
        n = 2**power
        lower, upper = dispersion.weight_bounds(spread, n, theta)
        least, most = dispersion.sharp_weight_bounds(spread, n, theta)
        expected = {
            "largest": most,
            "smallest": least,
            "upper": upper,
            "lower": lower,
            "entropy": dispersion.two_level_entropy(spread, n, 1, theta),
            "floor": dispersion.entropy_floor(spread, n, theta),
            "uniform": math.log(n),
            "half": dispersion.min_items_to_disperse(spread, 0.5, theta),
        }
        found = {name: figure.number(name) for name in expected}
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
        pictures.add(figure.picture())
    assert len(pictures) == 4
    assert tabs.complaints == []


@pytest.mark.parametrize("others", [0, 24, 31, 48])
def test_adaptive_temperature(tabs, others):
    figure = tabs("adaptive").set("others", others).set("logit-3", 5.5)
    count = round(10 ** (others / 12)) if others else 0
    logits = [figure.control(f"logit-{i}").input_value() for i in range(1, 9)]
    row = np.concatenate([np.array(logits, dtype=float), np.zeros(count)])
    with jax.enable_x64(True):
        nats = float(entropy.entropy(row))
        expected = {
            "entropy": nats,
            "beta": float(temperature.inverse_temperature(nats)),
            "top": float(activations.softmax(row).max()),
            "adaptive-top": float(temperature.adaptive_softmax(row).max()),
            "keys": 8 + count,
        }
    found = {name: figure.number(name) for name in expected}
    assert found == pytest.approx(expected, abs=1e-6)
    assert tabs.complaints == []


def test_the_cliff_can_be_reached(tabs):
    figure = tabs("adaptive")
    for i in range(1, 9):
        figure.set(f"logit-{i}", 0)
    figure.set("others", 30)
    assert figure.number("beta") > 1
    figure.set("others", 48)
    assert figure.number("entropy") > temperature.active_domain()[1]
    assert figure.number("beta") == 1
    assert "the rule does nothing" in figure.words()


def test_logits_can_be_dragged(tabs):
    figure = tabs("adaptive").set("logit-5", 1)
    chart = figure.root.locator("svg.sharp-lab-draggable")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    before = figure.number("entropy"), figure.picture()
    x = box["x"] + 56 + (box["width"] - 72) * 4.5 / 8
    mouse = figure.tab.mouse
    mouse.move(x, box["y"] + 150)
    mouse.down()
    mouse.move(x, box["y"] + 14, steps=4)
    mouse.up()
    assert float(figure.control("logit-5").input_value()) > 7.5
    assert (figure.number("entropy"), figure.picture()) != before


@pytest.mark.parametrize("exponent", phase_risks.EXPONENTS["full"])
def test_exact_risk_in_the_phase_diagram(tabs, exponent):
    figure = tabs("phases")
    figure.control("length").select_option(str(exponent))
    errors = lab.phase_risks_table().attrs["interpolation_error"]
    places = [(2.2, 1.0), (1.41, 2.0), (0.33, 4.5), (0.02, 0.03), (2.97, 4.98)]
    for b, c in places:
        figure.set("sharpness", b).set("signal", c)
        exact = phase_risks.measure(exponent, c, [b])[0]
        for read_out, risk in zip(("fixed", "best"), exact, strict=True):
            figure.control("read-out").select_option(read_out)
            assert figure.number("risk") == pytest.approx(
                risk, abs=errors[str(exponent)]
            )
            limit = phases.limit_risk(b, c, read_out)
            assert figure.number("limit") == pytest.approx(limit, abs=1e-6)
    figure.control("read-out").select_option("fixed")
    assert tabs.complaints == []


def test_point_of_the_phase_diagram_can_be_dragged(tabs):
    figure = tabs("phases")
    chart = figure.root.locator("svg.sharp-lab-draggable")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    figure.tab.mouse.click(box["x"] + 56 + (box["width"] - 72) / 2, box["y"] + 154)
    assert float(figure.control("sharpness").input_value()) == pytest.approx(
        1.5, abs=0.05
    )
    assert float(figure.control("signal").input_value()) == pytest.approx(2.5, abs=0.05)


def test_finite_samples_are_the_shipped_ones(tabs):
    figure = tabs("finite-samples")
    theory = finite_sample_tables.read("theory")
    pictures = set()
    for task, ridge in itertools.product(
        ("spiked 1", "spiked 2", "max"), ("1", "best")
    ):
        figure.control("task").select_option(task)
        figure.control("ridge").select_option(ridge)
        for activation in ("softmax", "linear"):
            figure.control("activation").select_option(activation)
            pictures.add(figure.picture())
            rows = theory[
                (theory["task"] == task)
                & (theory["ridge"] == ridge)
                & (theory["activation"] == activation)
            ].sort_values("sample_ratio")
            place = len(rows) // 2
            row = rows.iloc[place]
            figure.set("place", place)
            for key, column in (("risk", "test_risk"), ("ridge-k", "ridge_k")):
                found = figure.number(f"{activation}-{key}")
                # The link under the figure has ten digits.
                assert found == pytest.approx(row[column], rel=1e-9)
    assert len(pictures) == 12
    assert tabs.complaints == []


def test_ridges_that_were_not_computed_can_not_be_chosen(tabs):
    figure = tabs("finite-samples")
    figure.control("task").select_option("spiked 2")
    figure.control("ridge").select_option("0.1")
    figure.control("task").select_option("max")
    assert figure.control("ridge").input_value() == "best"
    assert figure.root.locator("option[value='0.1']").is_disabled()


@pytest.mark.parametrize("name", publish.LABS)
def test_keyboard_and_words(tabs, name):
    figure = tabs(name)
    slider = figure.root.locator("input[type=range]").first
    slider.evaluate("input => { input.value = input.min; }")
    slider.focus()
    before = figure.picture(), figure.words()
    figure.tab.keyboard.press("PageUp")
    figure.tab.keyboard.press("ArrowRight")
    after = figure.picture(), figure.words()
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert float(slider.input_value()) > float(slider.get_attribute("min"))
    shown = figure.root.locator("output").first.inner_text()
    assert slider.get_attribute("aria-valuetext") == shown


@pytest.mark.parametrize("name", publish.LABS)
def test_controls_and_charts_are_named(tabs, name):
    figure = tabs(name)
    for control in figure.root.locator("input, select").all():
        label = figure.root.locator(f"label[for='{control.get_attribute('id')}']")
        assert label.inner_text().strip()
    for chart in figure.root.locator("svg.sharp-lab-chart").all():
        assert chart.get_attribute("role") == "img"
        assert len(chart.get_attribute("aria-label")) >= 20


@pytest.mark.parametrize("name", publish.LABS)
def test_chart_fits_a_phone(tabs, name):
    figure = tabs(name)
    figure.tab.set_viewport_size({"width": 390, "height": 844})
    figure.tab.wait_for_timeout(100)
    script = "document.documentElement.scrollWidth - window.innerWidth"
    assert figure.tab.evaluate(script) <= 0
    for chart in figure.root.locator("svg.sharp-lab-chart").all():
        box = chart.bounding_box()
        assert box["x"] >= 0
        assert 250 <= box["width"] <= 390
    figure.tab.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("name", publish.LABS)
def test_paper_has_the_picture(tabs, name):
    figure = tabs(name)
    picture, panel = (
        figure.root.locator(f".sharp-lab-{kind}") for kind in ("still", "live")
    )
    assert (picture.is_visible(), panel.is_visible()) == (False, True)
    figure.tab.emulate_media(media="print")
    assert (picture.is_visible(), panel.is_visible()) == (True, False)
    figure.tab.emulate_media(media="screen")


def test_without_scripts_there_is_the_picture(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/{home('phases')}")
    picture = tab.locator("sharp-lab-phases > svg[role=img]")
    assert picture.is_visible()
    assert picture.bounding_box()["width"] > 300
    context.close()


def test_works_from_a_folder(chromium, built):
    # No server, so no module or table can be fetched.
    context = chromium.new_context()
    tab, complaints = context.new_page(), []
    tab.on("pageerror", lambda e: complaints.append(str(e)))
    tab.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    tab.goto((SITE / home("phases")).as_uri())
    tab.wait_for_selector("sharp-lab-phases.sharp-lab-is-live")
    assert Lab(tab, "phases").number("risk") > 1
    assert complaints == []
    context.close()


@pytest.mark.medium
def test_colours_are_those_of_the_other_figures():
    sheet = (ASSETS / "lab.css").read_text(encoding="utf-8")
    used = dict(re.findall(r"--(\w+): (#[0-9a-f]{6});", sheet))
    assert used == {name: style.COLOURS[name] for name in used}
    assert set(used) == {"softmax", "adaptive", "linear", "bound"}
