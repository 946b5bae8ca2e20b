"""Records after post-processing: log P(low < Z ≤ high|θ) against mpmath, and draws of Y inside the interval."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from numerics.quadrature import distribution_function
from pairs.pairs import draws_of, log_g_of, worst
from privmix.kernels import Beta, Normal, TruncatedNormal
from privmix.mechanisms import Clamped, Gaussian, Laplace, OnLattice, Rounded, SquareWave, Withheld
from privmix.pairs import Convolution, find, register
from samplers.cases import first_of_each, rest_long

UNIT = (0.0, 1.0)
ENDS = [(-np.inf, -0.4), (-np.inf, 0.2), (-0.1, 0.05), (0.3, 0.31), (0.2, 0.9), (0.95, 1.6), (1.0, np.inf), (2.0, 9.0)]
FAR = [(-np.inf, -40.0), (60.0, np.inf), (30.0, 31.0)]  # for kernels with bounds; the oracle sees no farther else
SETTINGS = [
    (Laplace(scale=0.3), Normal(), (0.4, 0.05)),
    (Laplace(scale=0.02), Normal(), (0.4, 0.3)),
    (Gaussian(scale=0.3), Normal(), (0.4, 0.05)),
    (Laplace(scale=0.3), Beta(), (2.0, 3.0)),
    (Laplace(scale=0.1), Beta(), (0.6, 7.0)),
    (Laplace(scale=0.3), TruncatedNormal(UNIT), (0.4, 0.05)),
    (Laplace(scale=0.05), TruncatedNormal(UNIT), (1.3, 0.2)),
    (Laplace(scale=2.0), TruncatedNormal(UNIT), (-0.2, 0.002)),
    (Gaussian(scale=0.3), TruncatedNormal(UNIT), (0.4, 0.05)),
    (Gaussian(scale=0.05), TruncatedNormal(UNIT), (1.3, 0.2)),
    (Gaussian(scale=2.0), TruncatedNormal(UNIT), (-0.2, 0.002)),
]


def exact_log_mass(mechanism, kernel, low, high, theta):
    """Return log ∫ f(y|θ) P(low < Z ≤ high|y) dy with 30 digits, the noise's law written out here."""
    mpmath.mp.dps = 30
    b = mpmath.mpf(mechanism.scale)
    a1, a2 = map(mpmath.mpf, theta)

    def below(z, y):
        if mpmath.isinf(z):
            return mpmath.mpf(z > 0)
        if isinstance(mechanism, Gaussian):
            return mpmath.erfc(-(z - y) / b / mpmath.sqrt(2)) / 2
        return mpmath.exp((z - y) / b) / 2 if z < y else 1 - mpmath.exp(-(z - y) / b) / 2

    def between(y):
        # Through the upper tail where y is to the left: of 30 digits a far tail would else keep none.
        if y < low:
            return below(-mpmath.mpf(low), -y) - below(-mpmath.mpf(high), -y)
        return below(mpmath.mpf(high), y) - below(mpmath.mpf(low), y)

    def density(y):
        if isinstance(kernel, Beta):
            return y ** (a1 - 1) * (1 - y) ** (a2 - 1) / mpmath.beta(a1, a2)
        value = mpmath.npdf((y - a1) / mpmath.sqrt(a2)) / mpmath.sqrt(a2)
        if isinstance(kernel, TruncatedNormal):
            sd = mpmath.sqrt(a2)
            value /= mpmath.ncdf((1 - a1) / sd) - mpmath.ncdf((0 - a1) / sd)
        return value

    sd = mpmath.sqrt(a2)
    whole = isinstance(kernel, Normal) and not isinstance(kernel, TruncatedNormal)
    edges = [a1 + k * sd for k in (-60, -40, -20, -12, -6, -3, 0, 3, 6, 12, 20, 40, 60)] if whole else [0, 1]
    # Far out the integrand falls steeply from a bound: cells of the rule must be narrow.
    cells = 9 if abs(low + high) < 3.0 and high < 1.0 else 161
    inner = [*np.linspace(0.0, 1.0, cells), low, high, low - 0.2, high + 0.2, a1]
    edges += [mpmath.mpf(e) for e in inner if edges[0] < e < edges[-1]]
    return float(mpmath.log(mpmath.quad(lambda y: density(y) * between(y), sorted(set(edges)))))


# One for each kernel and noise; the long run has all.
QUICK = first_of_each(SETTINGS, lambda case: (type(case[0]), type(case[1])))


@pytest.mark.parametrize(("mechanism", "kernel", "theta"), rest_long(QUICK[:2], SETTINGS), ids=repr)
def test_probability_of_an_interval(mechanism, kernel, theta):
    ends = [*ENDS, *(FAR if mechanism.scale > 0.2 and not isinstance(kernel, Normal) else [])]
    found = log_g_of(Clamped(mechanism, lower=0.0), kernel, ends, theta)
    exact = [exact_log_mass(mechanism, kernel, low, high, theta) for low, high in ends]
    assert worst(found, exact) < 1e-11


def test_far_out_beside_a_normal_kernel():
    """Gaussian noise adds to the variance; Laplace noise falls as e^(−z/b) where it is the wider, times e^(σ²/2b²)."""
    rows, theta = [(-np.inf, -40.0), (30.0, 31.0)], (0.4, 0.05)
    law = stats.norm(0.4, np.sqrt(0.05 + 0.09))
    found = log_g_of(Clamped(Gaussian(scale=0.3), lower=0.0), Normal(), rows, theta)
    assert found == pytest.approx([law.logcdf(-40.0), law.logsf(30.0)], rel=1e-13)
    found = log_g_of(Clamped(Laplace(scale=0.3), lower=0.0), Normal(), rows, theta)
    shift = 0.5 * 0.05 / 0.09 - np.log(2.0)
    narrow = np.log(-np.expm1(-1.0 / 0.3))
    assert found == pytest.approx([-40.4 / 0.3 + shift, -29.6 / 0.3 + shift + narrow], rel=1e-13)


def log_density_given(mechanism, kernel, low, high, theta):
    between = np.vectorize(lambda y: mechanism.log_between(low, high, y))
    return lambda y: between(y) + kernel.logpdf(y, theta)


@pytest.mark.parametrize(("mechanism", "kernel", "theta"), SETTINGS, ids=repr)
def test_draws_inside_an_interval(mechanism, kernel, theta):
    """Where one in ten is kept, in a tail, and in an interval far out; against the law by quadrature."""
    for low, high in [(-np.inf, 0.6), (-np.inf, -0.3), (1.1, np.inf), (0.3, 0.31), (2.0, 2.5)]:
        if abs(low) > 1.0 and mechanism.scale < 0.1:
            continue
        y = draws_of(Clamped(mechanism, lower=0.0), kernel, np.tile([low, high], (5_000, 1)), theta)
        spread = np.std(y)
        near = np.linspace(np.median(y) - 12 * spread, np.median(y) + 12 * spread, 201)
        if not isinstance(kernel, Normal) or isinstance(kernel, TruncatedNormal):
            near = np.clip(near, 0.0, 1.0)
        inside = [e for e in (low, high) if near[0] < e < near[-1]]
        edges = np.unique(np.concatenate([near, inside]))
        log_density = log_density_given(mechanism, kernel, low, high, theta)
        middle = 0.5 * (edges[1:] + edges[:-1])
        peak = np.max(log_density(middle))
        cumulative = distribution_function(lambda v, f=log_density, p=peak: f(v) - p, edges)
        total = cumulative(edges[-1])
        assert stats.kstest(y, lambda x, c=cumulative, t=total: c(x) / t).pvalue > 1e-5, (low, high)


def test_points_are_as_before():
    z = np.array([[0.3, 0.3], [-1.0, -1.0]])
    kernel = Normal()
    assert log_g_of(Rounded(Laplace(scale=1.0), to=1.0), kernel, z, (0.2, 1.0)) == pytest.approx(
        log_g_of(Laplace(scale=1.0), kernel, z[:, 0], (0.2, 1.0)), rel=1e-14
    )


def test_lattice_has_a_cell_for_each_point():
    """Whatever cells the wrapped mechanism has: the mass of an interval differs between all of them."""
    kernel, theta = Normal(), (2.0, 3.0)
    for inner in (Laplace(epsilon=3.0, bounds=(0.0, 6.0)), SquareWave(epsilon=2.0, bounds=(0.0, 6.0))):
        mechanism = Clamped(OnLattice(inner, 1.0), lower=0.5)
        edges = np.concatenate([[-np.inf], np.arange(6) + 0.5, [np.inf]])
        mass = np.diff(stats.norm(2.0, np.sqrt(3.0)).cdf(edges))
        q = np.exp([inner.log_between(-np.inf, 0.5, point) for point in range(7)])
        found = log_g_of(mechanism, kernel, mechanism.encode(np.array([0.5])), theta)
        assert found[0] == pytest.approx(np.log(q @ mass), rel=1e-12)


def test_what_follows_from_nothing_is_not_claimed():
    assert find(Clamped(SquareWave(epsilon=2.0, bounds=UNIT), lower=0.0), Normal()).convolution is None


def test_distribution_function_alone_is_enough(monkeypatch):
    class Own(Laplace):
        pass

    known = find(Laplace(scale=1.0), Normal()).convolution
    monkeypatch.setattr("privmix.pairs._registered", dict(__import__("privmix.pairs").pairs._registered))
    register(Own, Normal, Convolution("own", known.log_g, known.sample, known.cdf))
    rows = np.array([[-np.inf, 0.3], [0.1, 2.0], [1.0, np.inf]])
    wanted = log_g_of(Withheld(Laplace(scale=1.0), below=0.0), Normal(), rows, (0.2, 1.0))
    assert log_g_of(Withheld(Own(scale=1.0), below=0.0), Normal(), rows, (0.2, 1.0)) == pytest.approx(wanted, rel=1e-9)


def test_one_scale_a_record():
    scale, rows = np.array([0.5, 5.0]), np.array([[-np.inf, 0.0], [-np.inf, 0.0]])
    found = log_g_of(Clamped(Laplace(scale=scale), lower=0.0), Normal(), rows, (0.2, 1.0))
    each = [log_g_of(Clamped(Laplace(scale=s), lower=0.0), Normal(), rows[:1], (0.2, 1.0))[0] for s in scale]
    assert found == pytest.approx(each, rel=1e-14)


@pytest.mark.parametrize(("mechanism", "kernel", "theta"), SETTINGS[::3], ids=repr)
def test_compiled_code_equals_its_twin(mechanism, kernel, theta):
    processed, rows = Clamped(mechanism, lower=0.0), np.tile([1.1, np.inf], (5, 1))
    slow = draws_of(processed, kernel, rows, theta, compiled=False)
    assert draws_of(processed, kernel, rows, theta) == pytest.approx(slow, rel=1e-9)
