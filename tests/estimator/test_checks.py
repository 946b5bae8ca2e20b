"""scikit-learn's own checks of an estimator; docs/interfaces.md lists the exceptions."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import privmix

pytestmark = pytest.mark.xdist_group("fits")

FEW = {"draws": 10, "warmup": 10, "thin": 1, "chains": 2}
PAGE = Path(__file__).parents[2] / "docs" / "interfaces.md"
EXCEPTIONS = {
    "check_sample_weight_equivalence_on_dense_data": "the check shuffles the rows, and a chain draws them in order",
}


def exceptions_chained(error):
    while error is not None:
        yield str(error)
        error = error.__cause__ or error.__context__


def test_all_checks_but_the_listed_pass():
    estimator = privmix.PrivateMixtureEstimator(column=0, **FEW)
    done = check_estimator(estimator, expected_failed_checks=EXCEPTIONS, on_fail=None, on_skip=None)
    status = Counter(check["status"] for check in done)
    assert {check["check_name"] for check in done if check["status"] == "failed"} == set()
    assert {check["check_name"] for check in done if check["status"] == "xfail"} == set(EXCEPTIONS)
    assert {check["check_name"] for check in done if check["status"] == "skipped"} <= {"check_array_api_input"}
    assert status["passed"] >= 40
    for name in EXCEPTIONS:
        assert f"`{name}`" in PAGE.read_text(encoding="utf-8")


def test_without_a_column_checks_fail_by_the_refusal_of_several_alone():
    done = check_estimator(privmix.PrivateMixtureEstimator(**FEW), on_fail=None, on_skip=None)
    failed = [check for check in done if check["status"] == "failed"]
    assert failed
    for check in failed:
        told = " ".join(exceptions_chained(check["exception"]))
        assert "columns, but a release of Identity is one number a record" in told, check["check_name"]


def run_python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_importing_privmix_does_not_import_sklearn():
    code = "import sys, privmix; assert 'PrivateMixtureEstimator' in dir(privmix); print('sklearn' in sys.modules)"
    assert run_python(code).stdout.strip() == "False"


def test_missing_sklearn_is_named_with_the_extra():
    without = "import sys; sys.modules['sklearn'] = None; from privmix import *; import privmix; "
    told = run_python(without + "privmix.PrivateMixtureEstimator").stderr
    assert (
        "ImportError: PrivateMixtureEstimator needs scikit-learn 1.6 or later: pip install 'privmix[sklearn]'." in told
    )


def test_unknown_names_are_still_unknown():
    with pytest.raises(AttributeError, match=r"^module 'privmix' has no attribute 'PrivateMixtur'$"):
        privmix.PrivateMixtur  # noqa: B018


def test_rows_and_categories_are_left_to_fit():
    noise = privmix.mechanisms.Laplace(epsilon=1.0, bounds=(0.0, 1.0))
    estimator = privmix.PrivateMixtureEstimator(mechanism=privmix.mechanisms.Each(a=noise, b=noise))
    with pytest.raises(ValueError, match=r"^the estimator takes records of one number, and Each has columns or"):
        estimator.fit(np.zeros((5, 2)))
