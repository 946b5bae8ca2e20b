"""The page of a plan in a real browser: sliders by keys, everything follows, no errors, and a readable print."""

import io
import json

import pytest

from report.browser import open_browser, print_pdf

HOME, END, LEFT, RIGHT = "\ue011", "\ue010", "\ue012", "\ue014"


@pytest.fixture(scope="module")
def opened(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "plan.html"
    path.write_text(page, encoding="utf-8")
    with open_browser() as driver:
        driver.get(path.as_uri())
        yield driver


@pytest.fixture
def driver(opened):
    opened.find_element("id", "planned").click()
    return opened


def data_of(driver):
    return json.loads(driver.execute_script("return document.getElementById('plan-data').textContent"))


def drawn(driver, name):
    return driver.execute_script("return document.getElementById(arguments[0]).querySelector('path')", name)


def test_sliders_start_at_the_plan_and_drawing_again_changes_nothing(driver, page):
    at = data_of(driver)["at"]
    assert [int(driver.find_element("id", f"{name}-at").get_attribute("value")) for name in ("budget", "people")] == at
    assert driver.find_element("id", "protocol").text == data_of(driver)["nodes"][at[0]][at[1]]["protocol"]
    assert driver.find_element("id", "budget-value").text == "ε = 1"
    assert driver.find_element("id", "people-value").text == "n = 20,000"


def test_arrow_keys_move_everything(driver):
    names = ("best-band", "best-mean", "other-band", "curves-line-0", "curves-people")
    before = {name: drawn(driver, name).get_attribute("d") for name in names}
    driver.find_element("id", "budget-at").send_keys(RIGHT)
    driver.find_element("id", "people-at").send_keys(LEFT)
    node = data_of(driver)["nodes"][2][0]
    assert driver.find_element("id", "budget-at").get_attribute("aria-valuetext") == "ε = 2"
    assert driver.find_element("id", "people-at").get_attribute("aria-valuetext") == "2,000 people"
    assert driver.find_element("id", "protocol").text == node["protocol"]
    shown = [row.text for row in driver.find_elements("css selector", "#live tr")]
    for (name, error), text in zip(node["rows"], shown, strict=True):
        assert text.startswith(name)
        assert text.endswith(error)
    assert driver.find_element("css selector", "#live .best").text.startswith(node["rows"][node["best"]][0])
    assert driver.find_element("id", "best-heading").text == node["bands"][0]["heading"]
    after = {name: drawn(driver, name).get_attribute("d") for name in names}
    assert all(after[name] != before[name] for name in names)
    driver.find_element("id", "planned").click()
    assert driver.find_element("id", "budget-value").text == "ε = 1"


def test_lines_stay_in_their_pictures(driver):
    """At the least budget with the fewest people everything that is drawn lies in its frame or is clipped by it."""
    for name in ("budget-at", "people-at"):
        driver.find_element("id", name).send_keys(HOME)
    frame = data_of(driver)["frames"]["curves"]
    for k in range(2):
        box = driver.execute_script(
            "const b = arguments[0].getBBox(); return [b.x, b.y, b.x + b.width, b.y + b.height]",
            drawn(driver, f"curves-line-{k}"),
        )
        assert frame["left"] <= box[0] <= box[2] <= frame["right"]
        assert frame["top"] <= box[1] <= box[3] <= frame["bottom"]
    for name in ("best-band", "other-band", "best-mean"):
        assert drawn(driver, name).get_attribute("clip-path").startswith("url(#")


def test_everything_is_reached_by_keys(driver):
    driver.execute_script("document.activeElement.blur()")
    from selenium.webdriver.common.action_chains import ActionChains

    reached = []
    for _ in range(8):
        ActionChains(driver).send_keys("\ue004").perform()
        reached.append(driver.switch_to.active_element.get_attribute("id"))
    assert [name for name in reached if name in ("budget-at", "people-at", "planned")][:3] == [
        "budget-at",
        "people-at",
        "planned",
    ]


@pytest.mark.parametrize("width", [390, 1280])
def test_window_does_not_scroll_sideways(driver, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        assert driver.execute_script("return document.documentElement.scrollWidth") <= width
        live = driver.find_element("id", "live").rect
        assert live["x"] + live["width"] <= width
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_prints_to_a_readable_pdf(driver):
    from pypdf import PdfReader

    pages = PdfReader(io.BytesIO(print_pdf(driver))).pages
    assert 2 <= len(pages) <= 5
    text = " ".join(" ".join(page.extract_text() for page in pages).split())
    for words in ("What is to be expected", "For the protocol", "The mechanisms, as planned", "What is assumed"):
        assert words in text
    assert "Back to the plan" not in text
    assert "is released once by" in text


def test_no_errors_and_no_requests(driver):
    assert driver.get_log("browser") == []
    assert driver.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []
