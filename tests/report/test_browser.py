"""The page in a real browser: no errors, values by pointer and by keys, and a readable print."""

import io
import json

import pytest

from privmix.report import write
from report.browser import open_browser, print_pdf


@pytest.fixture(scope="module")
def driver(posterior, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write(posterior, path, informativeness=False, title="A survey")
    with open_browser() as driver:
        driver.get(path.as_uri())
        yield driver


def data_of(driver):
    script = "return document.getElementById('density-data').textContent"
    return json.loads(driver.execute_script(script))


def hover(driver, share):
    """Move the pointer to a share of the width of the Axes; return the index of the nearest point."""
    from selenium.webdriver.common.action_chains import ActionChains

    data = data_of(driver)
    svg = driver.find_element("css selector", "#density-plot svg")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", svg)
    box = driver.execute_script(
        "const b = arguments[0].getBoundingClientRect(), v = arguments[0].viewBox.baseVal;"
        "return [b.width / v.width, b.width]",
        svg,
    )
    x = (data["left"] + share * (data["right"] - data["left"])) * box[0]
    ActionChains(driver).move_to_element_with_offset(svg, round(x - box[1] / 2), 10).perform()
    y = data["xlim"][0] + share * (data["xlim"][1] - data["xlim"][0])
    return min(range(len(data["y"])), key=lambda i: abs(data["y"][i] - y))


@pytest.mark.parametrize("share", [0.03, 0.5, 0.97])
def test_hover_shows_the_value_of_the_data(driver, share):
    i = hover(driver, share)
    tip = driver.find_element("id", "density-tip")
    assert tip.is_displayed()
    lines = tip.text.splitlines()
    data = data_of(driver)
    shown_y = float(lines[0].removeprefix("y = "))
    shown = float(lines[1].removeprefix("density "))
    near = [j for j in (i - 1, i, i + 1) if 0 <= j < len(data["y"])]  # the pointer stops at whole pixels
    at = min(near, key=lambda j: abs(data["y"][j] - shown_y))
    assert shown_y == pytest.approx(data["y"][at], rel=5e-3)
    assert shown == pytest.approx(data["mean"][at], rel=5e-3)
    low, high = lines[2].removeprefix("95% pointwise: ").split(" to ")
    assert float(low) == pytest.approx(data["lower"][at], rel=0.05, abs=1e-6)
    assert float(high) == pytest.approx(data["upper"][at], rel=5e-3)
    assert float(lines[4].removeprefix("prior mean ")) == pytest.approx(data["prior"][at], rel=5e-3)
    box, plot = tip.rect, driver.find_element("id", "density-plot").rect
    assert plot["x"] - 1 <= box["x"]
    assert box["x"] + box["width"] <= plot["x"] + plot["width"] + 1


def test_tip_vanishes_when_the_pointer_leaves(driver):
    from selenium.webdriver.common.action_chains import ActionChains

    hover(driver, 0.5)
    ActionChains(driver).move_to_element(driver.find_element("css selector", ".key")).perform()
    assert not driver.find_element("id", "density-tip").is_displayed()


def test_arrow_keys_read_values(driver):
    slider = driver.find_element("id", "density-at")
    slider.send_keys("\ue011")  # Home
    slider.send_keys("\ue014")  # right arrow
    data = data_of(driver)
    text = driver.find_element("id", "density-value").text
    assert text.startswith(f"y = {data['y'][1]:.3g}")
    assert float(text.split("density ")[1].split(" ")[0]) == pytest.approx(data["mean"][1], rel=0.05)
    assert slider.get_attribute("aria-valuetext").startswith(f"y = {data['y'][1]:.3g}")


def test_narrow_window_does_not_scroll_sideways(driver):
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert driver.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_prints_to_a_readable_pdf(driver):
    from pypdf import PdfReader

    pages = PdfReader(io.BytesIO(print_pdf(driver))).pages
    assert 3 <= len(pages) <= 9
    assert [round(float(x)) for x in pages[0].mediabox[2:]] == [595, 842]  # A4 in points
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    for heading in ("A survey", "What was released", "The density", "Clusters", "Checks", "How to cite"):
        assert heading in text
    assert "Read a value" not in text


def test_no_errors_and_no_requests(driver):
    assert driver.get_log("browser") == []
    assert driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
