"""Correlations and mutual information of each draw, against sums and quadrature by SciPy alone."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import xlogy

from curves.test_moments import Bounded, draws_of
from privmix import kernels
from privmix.curves.dependence import correlation, mutual_information
from privmix.kernels import Kernel

NORMALS = kernels.Product(a=kernels.Normal(), b=kernels.Normal())
WEIGHT = np.array([0.4, 0.6])
# Mean and variance of each column, for two components.
ATOMS = np.array([[0.0, 1.0, 0.0, 2.0], [4.0, 1.0, 3.0, 0.5]])
THREE = ("x", "y", "z")
SHARES = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])


def off_diagonal(found, name="mean"):
    values = found[name].sel(column="a", other="b")
    assert float(values) == pytest.approx(float(found[name].sel(column="b", other="a")), rel=1e-12)
    return float(values)


def test_correlation_of_normal_components():
    mean, variance = ATOMS[:, [0, 2]], ATOMS[:, [1, 3]]
    first, second = WEIGHT @ mean, WEIGHT @ (variance + mean**2)
    expected = (WEIGHT @ mean.prod(axis=1) - first.prod()) / np.sqrt((second - first**2).prod())
    found = correlation(NORMALS, draws_of(WEIGHT, ATOMS), 0.95)
    assert off_diagonal(found) == pytest.approx(expected, rel=1e-12)
    assert np.diag(found["mean"]) == pytest.approx(1.0)
    assert list(found["column"].values) == list(found["other"].values) == ["a", "b"]
    assert found["draws"].dims == ("chain", "draw", "column", "other")


def test_correlation_keeps_digits_far_from_zero():
    far = ATOMS + np.array([1e7, 0.0, -1e7, 0.0])
    near = off_diagonal(correlation(NORMALS, draws_of(WEIGHT, ATOMS), 0.95))
    assert off_diagonal(correlation(NORMALS, draws_of(WEIGHT, far), 0.95)) == pytest.approx(near, rel=1e-6)


def test_correlation_with_integrated_moments():
    """A kernel that states no moments: exponential components, all but cut to the unit interval."""
    kernel = kernels.Product(a=Bounded(), b=kernels.Normal())
    rates = np.array([30.0, 60.0])
    atoms = np.column_stack([rates, ATOMS[:, 2:]])
    mean, variance = np.column_stack([1.0 / rates, ATOMS[:, 2]]), np.column_stack([rates**-2.0, ATOMS[:, 3]])
    gap = mean - WEIGHT @ mean
    total = np.sqrt(WEIGHT @ (variance + gap**2))
    expected = WEIGHT @ gap.prod(axis=1) / total.prod()
    assert off_diagonal(correlation(kernel, draws_of(WEIGHT, atoms), 0.95)) == pytest.approx(expected, rel=1e-6)


@dataclass(frozen=True)
class Slanted(Kernel):
    """Rows of two numbers with unit variances and a correlation inside a component: θ has means and correlation."""

    parameters: ClassVar = ("first", "second", "slope")
    dimension: ClassVar[int] = 2

    def log_f(self, y, theta):
        return 0.0

    def sample(self, rng, theta, out):
        out[0], out[1] = theta[0], theta[1]

    def base(self, rng, theta):
        theta[0] = theta[1] = theta[2] = 0.0

    def update(self, rng, theta, ys, tune):
        pass

    def row_moments(self, theta, mean, covariance):
        mean[0], mean[1] = theta[0], theta[1]
        covariance[0, 0] = covariance[1, 1] = 1.0
        covariance[0, 1] = covariance[1, 0] = theta[2]


def test_correlation_of_a_kernel_of_rows_adds_what_is_inside_components():
    atoms = np.array([[0.0, 0.0, 0.5], [2.0, 1.0, -0.9]])
    found = correlation(Slanted(), draws_of(WEIGHT, atoms), 0.95)
    gap = atoms[:, :2] - WEIGHT @ atoms[:, :2]
    covariance = np.einsum("h,hj,hk->jk", WEIGHT, gap, gap)
    covariance += np.array([[1.0, WEIGHT @ atoms[:, 2]], [WEIGHT @ atoms[:, 2], 1.0]])
    sd = np.sqrt(np.diag(covariance))
    assert found["mean"].values == pytest.approx(covariance / np.outer(sd, sd))
    assert list(found["column"].values) == [0, 1]
    with pytest.raises(ValueError, match=r"^mutual_information is for records of several named columns"):
        mutual_information(Slanted(), draws_of(WEIGHT, atoms), 0.95)


def test_information_of_two_categories_is_exact():
    kernel = kernels.Product(a=kernels.Categorical(THREE), b=kernels.Categorical(("no", "yes")))
    yes = np.array([[0.9, 0.1], [0.2, 0.8]])
    joint = np.einsum("h,hi,hj->ij", WEIGHT, SHARES, yes)
    apart = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    expected = float((joint * np.log(joint / apart)).sum())
    found = mutual_information(kernel, draws_of(WEIGHT, np.hstack([SHARES, yes])), 0.95)
    assert off_diagonal(found) == pytest.approx(expected, rel=1e-12)
    assert np.isnan(np.diag(found["mean"])).all()
    assert found.attrs == {"level": 0.95, "unit": "nats"}


def test_information_of_numbers_is_that_of_quadrature_from_below():
    laws = [stats.norm(ATOMS[:, c], np.sqrt(ATOMS[:, c + 1])) for c in (0, 2)]
    x, y = np.linspace(-9.0, 13.0, 1500), np.linspace(-13.0, 13.0, 1500)
    a, b = laws[0].pdf(x[:, None]), laws[1].pdf(y[:, None])
    joint = (a * WEIGHT) @ b.T
    expected = integrate.trapezoid(integrate.trapezoid(xlogy(joint, joint), y), x)
    expected -= integrate.trapezoid(xlogy(a @ WEIGHT, a @ WEIGHT), x)
    expected -= integrate.trapezoid(xlogy(b @ WEIGHT, b @ WEIGHT), y)
    draws = draws_of(WEIGHT, ATOMS)
    found = off_diagonal(mutual_information(NORMALS, draws, 0.95))
    assert expected * 0.998 < found < expected
    assert off_diagonal(mutual_information(NORMALS, draws, 0.95, cells=16)) < found


@pytest.mark.parametrize("number", [kernels.Normal(), Bounded()], ids=["cdf", "density alone"])
def test_information_of_a_category_and_a_number(number):
    """A kernel without a distribution function has the masses of its cells by quadrature."""
    kernel = kernels.Product(a=kernels.Categorical(THREE), b=number)
    atoms, laws = ATOMS[:, :2], stats.norm(ATOMS[:, 0], np.sqrt(ATOMS[:, 1]))
    if isinstance(number, Bounded):
        atoms, laws = np.array([[20.0], [60.0]]), stats.expon(scale=1.0 / np.array([20.0, 60.0]))
    y = np.linspace(1e-9, 1.0, 40_001) if isinstance(number, Bounded) else np.linspace(-9.0, 13.0, 4001)
    joint = (SHARES.T * WEIGHT) @ laws.pdf(y[:, None]).T
    apart = np.outer(SHARES.T @ WEIGHT, joint.sum(axis=0))
    expected = integrate.trapezoid((joint * np.log(joint / apart)).sum(axis=0), y)
    found = off_diagonal(mutual_information(kernel, draws_of(WEIGHT, np.hstack([SHARES, atoms])), 0.95))
    assert expected * 0.99 < found < expected * (1.0 + 1e-9)


def test_one_component_is_independent():
    draws = draws_of([1.0], ATOMS[:1])
    assert off_diagonal(correlation(NORMALS, draws, 0.9)) == pytest.approx(0.0, abs=1e-15)
    assert off_diagonal(mutual_information(NORMALS, draws, 0.9)) == pytest.approx(0.0, abs=1e-12)


def test_what_has_no_correlation():
    kernel = kernels.Product(a=kernels.Categorical(THREE), b=kernels.Normal())
    draws = draws_of(WEIGHT, np.hstack([SHARES, ATOMS[:, :2]]))
    with pytest.raises(ValueError, match=r"^correlation needs two columns of numbers, and of these only b is one"):
        correlation(kernel, draws, 0.95)
    with pytest.raises(ValueError, match=r"^correlation is for records of several columns; these are of one"):
        correlation(kernels.Normal(), draws_of(WEIGHT, ATOMS[:, :2]), 0.95)
    with pytest.raises(ValueError, match=r"^level must be between 0 and 1; got 2"):
        mutual_information(NORMALS, draws_of(WEIGHT, ATOMS), 2)


@pytest.mark.parametrize("slope", [0.0, 0.6, -0.95])
def test_information_inside_a_component_is_that_of_the_normal_law(slope):
    """−½ log(1 − ρ²) of one normal component with correlation ρ."""
    kernel = kernels.MultivariateNormal(("a", "b"))
    theta = {"a_mean": 3.0, "b_mean": -1.0, "a_variance": 4.0, "b_variance": 0.25, "b_a_covariance": slope}
    theta |= {"a_b_covariance": slope}
    draws = draws_of([1.0], [[theta[name] for name in kernel.parameters]])
    found = off_diagonal(mutual_information(kernel, draws, 0.95))
    assert found == pytest.approx(-0.5 * np.log(1.0 - slope**2), abs=1e-12)
    assert off_diagonal(correlation(kernel, draws, 0.95)) == pytest.approx(slope)


@pytest.mark.parametrize(
    ("weight", "sd", "mean", "slope"),
    [
        ((0.1, 0.9), (0.3, 15.0), (10.0, 0.0), 0.0),  # a spike far narrower than the cloud around it
        ((0.5, 0.5), (0.02, 5.0), (0.0, 0.0), 0.0),
        ((0.999, 0.001), (1.0, 300.0), (0.0, 1000.0), 0.9),  # a tail that stretches what all records span
        ((0.4, 0.6), (1.0, 1.5), (0.0, 2.0), -0.5),
        ((0.4, 0.6), (1.0, 1.1), (0.0, 41.0), 0.0),  # so far apart that one is 1e-320 of the other
    ],
)
def test_information_of_sloped_components_is_that_of_quadrature(weight, sd, mean, slope):
    """Trapezoids on points that are close where a component is narrow; components of one size in both columns."""
    kernel = kernels.MultivariateNormal(("a", "b"))
    atoms, laws = [], list(zip(weight, mean, sd, strict=True))
    for _, m, s in laws:
        theta = {"a_mean": m, "b_mean": m, "a_variance": s * s, "b_variance": s * s}
        theta |= {"a_b_covariance": slope * s * s, "b_a_covariance": slope * s * s}
        atoms.append([theta[name] for name in kernel.parameters])
    rays = np.sinh(np.linspace(-3.0, 3.0, 700)) / np.sinh(3.0)
    x = np.unique(np.concatenate([m + 9.0 * s * rays for _, m, s in laws]))
    mesh = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    shape = np.array([[1.0, slope], [slope, 1.0]])
    joint = sum(w * stats.multivariate_normal([m, m], s * s * shape).pdf(mesh) for w, m, s in laws)
    alone = sum(w * stats.norm(m, s).pdf(x) for w, m, s in laws)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(joint > 0.0, joint * np.log(joint / (alone[:, None] * alone)), 0.0)
    expected = integrate.trapezoid(integrate.trapezoid(np.nan_to_num(ratio), x), x)
    found = off_diagonal(mutual_information(kernel, draws_of(np.array(weight), np.array(atoms)), 0.95))
    assert found == pytest.approx(expected, rel=1e-4)
