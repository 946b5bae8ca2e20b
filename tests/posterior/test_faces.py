"""Convenience on a posterior: pictures, pages and loading where people look for them, loaded when asked for."""

import subprocess
import sys

import numpy as np
import pytest
from matplotlib.figure import Figure

import privmix
from privmix import Posterior, mechanisms, plots


@pytest.fixture(scope="module")
def posterior():
    mechanism = mechanisms.Laplace(epsilon=10.0, bounds=(-10.0, 10.0))
    z = mechanism.privatize(np.random.default_rng(1).normal(2.0, 1.0, 20), seed=2)
    return privmix.fit(z, mechanism, draws=30, warmup=20, thin=1, chains=2, seed=3)


def test_plot_is_that_of_the_density(posterior):
    mine, theirs = Figure().subplots(), Figure().subplots()
    assert posterior.plot(ax=mine, level=0.8) is mine
    plots.plot_density(posterior, ax=theirs, level=0.8)
    np.testing.assert_array_equal(mine.lines[0].get_xydata(), theirs.lines[0].get_xydata())
    assert mine.get_legend().get_texts()[0].get_text() == "80% pointwise band"


def test_report_writes_the_page(posterior, tmp_path):
    posterior.report(tmp_path / "page.html", title="A survey", informativeness=False)
    assert "<h1>A survey</h1>" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_load_is_the_function_of_that_name(posterior, tmp_path):
    posterior.save(tmp_path / "fit.nc")
    loaded = Posterior.load(tmp_path / "fit.nc")
    assert isinstance(loaded, Posterior)
    np.testing.assert_array_equal(loaded.n_clusters, posterior.n_clusters)


def test_pictures_and_pages_are_loaded_when_asked_for():
    script = (
        "import sys, privmix; assert not {'privmix.plots', 'privmix.report', 'matplotlib'} & set(sys.modules); "
        "assert {'plots', 'report'} <= set(dir(privmix)); print(privmix.plots.plot_trace, privmix.report.write)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "function plot_trace" in done.stdout
    assert "function write" in done.stdout
