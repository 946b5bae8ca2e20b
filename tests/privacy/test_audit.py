import importlib
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from privmix.mechanisms.gaussian import gaussian_scale
from privmix.mechanisms.haar import haar_scale, haar_scale_butucea
from privmix.mechanisms.laplace import laplace_scale
from privmix.privacy import ZCDP, ApproxDP, Guarantee, PureDP, audit

BOUNDS = (-10.0, 10.0)


@dataclass(frozen=True)
class Noise:
    """Additive noise of any scipy law."""

    law: stats.rv_continuous
    scale: float
    guarantee: Guarantee | None
    bounds: tuple[float, float] = BOUNDS

    def privatize(self, y, seed):
        return y + self.law.rvs(scale=self.scale, size=len(y), random_state=np.random.default_rng(seed))

    def logpdf(self, z, y):
        return self.law.logpdf(z - y, scale=self.scale)


@dataclass(frozen=True)
class RandomizedResponse:
    """The cell of y is kept with probability e^epsilon/(e^epsilon + k - 1), else one of the others."""

    cells: int
    epsilon: float
    guarantee: Guarantee | None
    bounds: tuple[float, float] = (0.0, 1.0)

    def cell(self, y):
        return np.minimum((y * self.cells).astype(int), self.cells - 1)

    def privatize(self, y, seed):
        rng = np.random.default_rng(seed)
        stay = rng.random(len(y)) < np.exp(self.epsilon) / (np.exp(self.epsilon) + self.cells - 1)
        other = (self.cell(y) + rng.integers(1, self.cells, len(y))) % self.cells
        return np.where(stay, self.cell(y), other)

    def logpdf(self, z, y):
        return np.where(z == self.cell(y), self.epsilon, 0.0) - np.log(np.exp(self.epsilon) + self.cells - 1)


@dataclass(frozen=True)
class Haar:
    """Haar coefficients of levels 0..J with Laplace noise: rows of outputs."""

    levels: int
    scale: float
    guarantee: Guarantee | None
    bounds: tuple[float, float] = (0.0, 1.0)

    def rows(self, y):
        y = np.clip(y, 0, np.nextafter(1, 0))
        columns = []
        for j in range(self.levels + 1):
            u = y[:, None] * 2**j - np.arange(2**j)
            columns.append(2 ** (j / 2) * (((u >= 0) & (u < 0.5)) * 1.0 - ((u >= 0.5) & (u < 1))))
        return np.concatenate(columns, axis=1)

    def privatize(self, y, seed):
        rows = self.rows(y)
        return rows + np.random.default_rng(seed).laplace(0, self.scale, rows.shape)

    def logpdf(self, z, y):
        return -np.abs(z - self.rows(y)).sum(axis=1) / self.scale - z.shape[1] * np.log(2 * self.scale)


def laplace(epsilon, claim):
    return Noise(stats.laplace, laplace_scale(20.0, epsilon=epsilon), claim)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0, 50.0])
def test_laplace_is_exactly_as_private_as_claimed(epsilon):
    found = audit(laplace(epsilon, PureDP(epsilon)))
    assert found.worst == pytest.approx(epsilon, rel=1e-9)
    assert found.holds
    assert found.tight
    assert abs(found.gap) < 1e-9 * epsilon + 1e-12
    assert sorted([found.y, found.y_prime]) == pytest.approx(BOUNDS)


def test_a_false_claim_is_broken():
    found = audit(laplace(1.1, PureDP(1.0)))
    assert found.holds is False
    assert found.tight is False
    assert found.gap == pytest.approx(-0.1)
    assert "BROKEN" in str(found)
    assert "PureDP(epsilon=1.0)" in str(found)


def test_a_loose_claim_holds_but_is_not_tight():
    found = audit(laplace(1.0, PureDP(2.0)))
    assert found.holds
    assert not found.tight
    assert "holds, loose" in str(found)


def test_no_claim_reports_the_worst():
    found = audit(laplace(3.0, None))
    assert found.worst == pytest.approx(3.0)
    assert (found.claimed, found.holds, found.tight, found.gap) == (None, None, None, None)
    assert str(found).startswith("no claim; worst log-ratio 3")


def test_gaussian_noise_is_not_pure():
    assert audit(Noise(stats.norm, 5.0, PureDP(5.0))).holds is False


def test_different_supports_give_an_infinite_ratio():
    found = audit(Noise(stats.uniform, 5.0, PureDP(5.0)))
    assert found.worst == np.inf
    assert found.holds is False


@pytest.mark.parametrize("cells", [2, 3, 16, 100])
def test_randomized_response(cells):
    assert audit(RandomizedResponse(cells, 1.5, PureDP(1.5))).tight
    assert audit(RandomizedResponse(cells, 1.5, PureDP(1.4))).holds is False


# At levels=7, epsilon=20 the draws alone reach .93 epsilon: only the climb over coordinates finds the corner.
@pytest.mark.parametrize(("levels", "epsilon"), [(0, 1.0), (1, 1.0), (3, 5.0), (5, 1.0), (7, 20.0)])
def test_haar_corner_is_found(levels, epsilon):
    claim = PureDP(epsilon)
    found = audit(Haar(levels, haar_scale(levels, epsilon), claim), size=64)
    assert found.worst == pytest.approx(epsilon, rel=1e-9)
    assert found.holds
    assert audit(Haar(levels, haar_scale(levels, 1.02 * epsilon), claim), size=64).holds is False
    loose = audit(Haar(levels, haar_scale_butucea(levels, epsilon), claim), size=64)
    assert loose.holds
    assert not loose.tight


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 0.01), (5.0, 1e-10), (25.0, 0.1)])
def test_analytic_gaussian_keeps_its_delta(epsilon, delta):
    scale = gaussian_scale(20.0, epsilon=epsilon, delta=delta)
    found = audit(Noise(stats.norm, scale, ApproxDP(epsilon, delta)))
    assert found.worst == pytest.approx(delta, rel=1e-4)
    assert found.holds
    assert found.tight
    assert audit(Noise(stats.norm, 0.99 * scale, ApproxDP(epsilon, delta))).holds is False


def test_classical_gaussian_at_large_epsilon_is_broken():
    found = audit(Noise(stats.norm, np.sqrt(2 * np.log(12.5)) * 20 / 25, ApproxDP(25.0, 0.1)))
    assert found.worst == pytest.approx(0.999333, abs=1e-6)
    assert found.holds is False


def test_laplace_hockey_stick_in_closed_form():
    """For Laplace noise at true epsilon e, delta at c < e is 1 - exp((c - e)/2)."""
    found = audit(laplace(2.0, ApproxDP(1.0, 0.5)))
    assert found.worst == pytest.approx(1 - np.exp(-0.5), rel=1e-5)
    assert audit(laplace(2.0, ApproxDP(2.5, 0.5))).worst < 1e-300


@pytest.mark.parametrize("rho", [0.01, 0.5, 20.0])
def test_gaussian_keeps_its_rho(rho):
    scale = gaussian_scale(20.0, rho=rho)
    found = audit(Noise(stats.norm, scale, ZCDP(rho)))
    assert found.worst == pytest.approx(rho, rel=1e-6)
    assert found.tight
    assert audit(Noise(stats.norm, 0.99 * scale, ZCDP(rho))).holds is False


@pytest.mark.parametrize("epsilon", [0.5, 3.0])
def test_laplace_keeps_half_its_square(epsilon):
    found = audit(laplace(epsilon, PureDP(epsilon).zcdp()))
    assert found.holds
    # From above as alpha falls to 1: the Kullback-Leibler divergence of two Laplace laws.
    assert found.worst == pytest.approx(epsilon + np.exp(-epsilon) - 1, rel=0.02)


def test_outputs_of_a_release_can_be_given():
    found = audit(laplace(1.0, PureDP(1.0)), inputs=[-10.0, 10.0], outputs=[0.0])
    assert found.worst == 0.0
    grid = np.linspace(-200, 200, 40001)
    claim = ApproxDP(1.0, 0.01)
    noise = Noise(stats.norm, gaussian_scale(20.0, epsilon=1.0, delta=0.01), claim)
    assert audit(noise, outputs=grid).tight


def test_chunks_do_not_change_the_answer(monkeypatch):
    whole = audit(laplace(1.0, PureDP(1.0)), inputs=np.linspace(-9, 7, 5), size=50)
    # The function of the same name hides the module as an attribute of the package.
    monkeypatch.setattr(importlib.import_module("privmix.privacy.audit_local"), "CHUNK", 1)
    parts = audit(laplace(1.0, PureDP(1.0)), inputs=np.linspace(-9, 7, 5), size=50)
    assert whole == parts
    assert whole.worst == pytest.approx(0.8)


def test_rows_of_outputs_are_audited_for_pure_claims_only():
    with pytest.raises(NotImplementedError, match=r"integrate over 3 outputs a record.*PureDP guarantee"):
        audit(Haar(1, 1.0, ZCDP(1.0)))


def test_bad_mechanisms_say_what_to_do():
    with pytest.raises(ValueError, match=r"bounds=\(-inf, inf\) and no inputs.*Give inputs="):
        audit(Noise(stats.laplace, 1.0, PureDP(1.0), bounds=(-np.inf, np.inf)))
    with pytest.raises(ValueError, match="1 distinct inputs, but needs at least two"):
        audit(laplace(1.0, PureDP(1.0)), inputs=[3.0, 3.0])
    with pytest.raises(TypeError, match="claims 'private', which the audit cannot read"):
        audit(laplace(1.0, "private"))
    with pytest.raises(ValueError, match="density is 0 at every output tried"):
        audit(Noise(stats.uniform, 1.0, PureDP(1.0)), outputs=[100.0])
    with pytest.raises(ValueError, match=r"integrates to .*, not 1.*Give outputs="):
        audit(RandomizedResponse(4, 1.0, ApproxDP(1.0, 0.1)))
    with pytest.raises(ValueError, match="NaN"):
        audit(Noise(stats.norm, -1.0, None), outputs=[0.0])
