"""The page as text: valid, self-contained, and its numbers are the posterior's."""

import json
import re

import numpy as np
import pytest

from privmix.plots.density import prior_density
from privmix.report import render
from privmix.report.content import refit_seconds
from privmix.report.tables import number, summary_rows
from report.reading import find, parsed, words


def test_page_is_valid_html_without_shared_ids(page):
    ids = [element.get("id") for element in parsed(page).iter() if element.get("id")]
    assert len(ids) == len(set(ids))


def test_references_inside_the_page_lead_somewhere(page):
    ids = {element.get("id") for element in parsed(page).iter()}
    targets = set(re.findall(r'href="#([^"]+)"', page)) | set(re.findall(r"url\(#([^)]+)\)", page))
    assert targets
    assert targets <= ids
    assert {element.get("for") for element in parsed(page).iter("label")} <= ids


def test_page_fetches_nothing(page):
    tree = parsed(page)
    assert not re.search(r"https?:|[\"'(]//|@import|<script[^>]+src|<iframe", page)
    for element in tree.iter():
        for name in ("src", "href", "{http://www.w3.org/1999/xlink}href", "data", "srcset"):
            assert (element.get(name) or "#").startswith(("#", "data:")), (element.tag, name)
    assert "url(" not in re.sub(r"url\(#", "", page)


def test_title_is_escaped(page):
    tree = parsed(page)
    assert next(tree.iter("h1")).text == "A <b>survey</b> & more"
    assert next(tree.iter("title")).text == "A <b>survey</b> & more"
    assert "<b>" not in page


def test_scripts_in_a_title_stay_text(posterior):
    evil = "</title></script><script>alert(1)</script>"
    tree = parsed(render(posterior, informativeness=False, title=evil))
    assert next(tree.iter("h1")).text == evil
    assert not any("alert" in (script.text or "") for script in tree.iter("script"))


def test_curves_are_those_of_the_posterior(page, posterior):
    data = json.loads(find(parsed(page), "density-data").text)
    expected = posterior.density(level=0.9)
    np.testing.assert_allclose(data["y"], expected["y"], rtol=1e-5)
    for name in ("mean", "lower", "upper", "simultaneous_lower", "simultaneous_upper"):
        np.testing.assert_allclose(data[name], expected[name], rtol=1e-5, err_msg=name)
    np.testing.assert_allclose(data["prior"], prior_density(posterior, expected["y"].values), rtol=1e-5)
    assert data["level"] == "90%"


def test_frame_of_the_picture_maps_values_to_the_drawn_line(page, posterior):
    """The script's scales put the mean where the picture has its solid line."""
    tree = parsed(page)
    data = json.loads(find(tree, "density-data").text)
    path = next(p for p in find(tree, "density-privmix-density").iter() if p.get("d"))
    drawn = np.array(re.findall(r"[ML] (\S+) (\S+)", path.get("d")), dtype=float)
    x = data["left"] + (np.array(data["y"]) - data["xlim"][0]) / np.ptp(data["xlim"]) * (data["right"] - data["left"])
    mean = np.array(data["mean"])
    up = data["bottom"] + (mean - data["ylim"][0]) / np.ptp(data["ylim"]) * (data["top"] - data["bottom"])
    for at, height in drawn:
        assert np.interp(at, x, up) == pytest.approx(height, abs=0.5)
    assert drawn[0, 0] == pytest.approx(x[0], abs=0.01)
    assert drawn[-1, 0] == pytest.approx(x[-1], abs=0.01)


def test_tables_are_those_of_the_posterior(page, posterior):
    tree = parsed(page)
    rows = [[words(cell) for cell in row] for row in tree.iter("tr")]
    for row in summary_rows(posterior.summary()):
        assert row in rows
    median = posterior.quantile([0.5], level=0.9).isel(prob=0)
    low, high = (number(float(median[end]), 4) for end in ("lower", "upper"))
    assert ["median", number(float(median["mean"]), 4), f"{low} to {high}"] in rows
    mean = posterior.moments(0.9).sel(moment="mean")
    assert ["mean", number(float(mean["mean"]), 4)] in [row[:2] for row in rows]
    assert ["records", "40"] in rows
    assert ["random numbers", "from a seed, not shown"] in rows


def test_every_finding_is_told_with_its_advice(page, posterior):
    text = words(find(parsed(page), "checks"))
    findings = posterior.check()
    assert any(finding.level == "warning" for finding in findings)
    for finding in findings:
        assert finding.text[1:] in text
        assert finding.advice in text
    assert text.count("▲ Warning") == sum(finding.level == "warning" for finding in findings)


def test_informativeness_left_out_says_how_to_get_it(page):
    text = words(find(parsed(page), "informativeness"))
    assert "Not computed for this page" in text
    assert "privmix report --informativeness" in text


def test_informativeness_sentence_is_that_of_the_posterior(posterior, monkeypatch):
    from privmix.checks.informativeness import judge

    monkeypatch.setattr("privmix.report.content.gather_pictures", lambda *_: [])
    for distance, told in ((0.5, "comes from the release"), (0.01, "does not make the prior right")):
        answer = judge(distance, np.linspace(0.05, 0.2, 20))
        monkeypatch.setattr(type(posterior), "informativeness", lambda self, answer=answer: answer)
        text = words(find(parsed(render(posterior, informativeness=True)), "informativeness"))
        assert answer.sentence in text
        assert told in text
        assert f"{answer.null_upper:.3f}" in text


def test_refits_are_foretold_from_the_speed_of_the_chains(posterior):
    # 60 + 120 sweeps a chain; the refits make 20 × 2 × (500 + 500 × 5).
    seconds = min(posterior.datatree.attrs["seconds"])
    assert refit_seconds(posterior) == pytest.approx(seconds / 180 * 120_000)


def test_slow_refits_are_left_out_by_default(posterior, monkeypatch):
    asked = []
    monkeypatch.setattr("privmix.report.content.refit_seconds", lambda _: 16.0)
    monkeypatch.setattr(type(posterior), "informativeness", lambda self: asked.append(self))
    render(posterior)
    assert not asked


def test_clusters_of_records(page, posterior):
    estimate = posterior.clustering(runs=4, visited=100)
    section = find(parsed(page), "clusters-section")
    rows = [[words(cell) for cell in row] for row in section.iter("tr")][1:]
    assert [int(row[1]) for row in rows] == list(estimate.sizes[:12])
    assert "probability 90%" in words(section)


def test_global_release_says_why_it_has_no_clusters(counts):
    tree = parsed(render(counts, informativeness=False))
    text = words(find(tree, "clusters-section"))
    assert "NoisyHistogram publishes a summary of all records at once" in text
    assert "who took part" in words(find(tree, "release"))
    assert "differ in one record" in words(find(tree, "release"))
    assert ["records (public)", "40"] in [[words(cell) for cell in row] for row in tree.iter("tr")]


def test_a_page_starts_with_what_makes_it_worthless_and_labels_every_band(page, posterior):
    """The fit is far too short: the chains disagree."""
    doubt = posterior.doubt()
    assert doubt
    assert page.index('role="alert"') < page.index("<h1>") < page.index('class="short"')
    marks = f"{doubt[0].upper()}{doubt[1:]}: this band is not to be trusted."
    figures = re.findall(r"<figcaption>(.*?)</figcaption>", page, flags=re.DOTALL)
    banded = [text for text in figures if "Dark blocks" not in text]
    assert len(banded) >= 4
    assert all(marks in text for text in banded)
    assert f"{doubt}: this band is not to be trusted" in page  # in the picture itself
    for place in ("pointwise band. At", "simultaneous band. The", "In numbers</h3>", "Number of clusters in the model"):
        assert "this band is not to be trusted" in page[page.index(place) - 200 : page.index(place) + 200], place


def test_a_page_of_chains_that_converged_says_nothing_of_it(posterior, monkeypatch):
    monkeypatch.setattr("privmix.report.content.doubt_of", lambda findings: "")
    text = render(posterior, informativeness=False)
    assert "not to be trusted" not in text
    assert 'role="alert"' not in text
