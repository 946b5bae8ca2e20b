"""A real browser without a window, for pages; tests that need one are skipped where there is none."""

import base64
import shutil
import tempfile
from contextlib import contextmanager

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


def find_browser():
    """Return the paths of the browser and its driver, or None."""
    binary = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    return None if binary is None or driver is None else (binary, driver)


@contextmanager
def open_browser(width=1200, height=900):
    """Give a driver of an empty profile; skip the test where no browser is installed."""
    found = find_browser()
    if found is None:
        pytest.skip("no Chromium with its chromedriver is installed, so the page is not tried in a browser")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = found[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(found[1]))
        try:
            yield driver
        finally:
            driver.quit()


def print_pdf(driver):
    """Return the page as the bytes of a PDF."""
    made = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})
    return base64.b64decode(made["data"])


def whole_page(driver, width):
    """Return a picture of the whole page at a width, as the bytes of a PNG."""
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600},
    )
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"})
    return base64.b64decode(shot["data"])
