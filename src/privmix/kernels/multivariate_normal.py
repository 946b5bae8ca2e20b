"""Normal components of several columns, with slopes: a normal–inverse-Wishart base measure and its relatives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import multigammaln

from privmix.kernels.base import Kernel
from privmix.kernels.normal import Normal
from privmix.kernels.normal_rows import (
    DIAGONAL,
    FULL,
    SHARED,
    constant_count,
    draw_from_sums,
    draw_row,
    height_place,
    inverse_place,
    kept_place,
    log_det_scale,
    pair_place,
    scale_entry,
)
from privmix.numerics import gamma
from privmix.numerics.triangles import at, factor, invert_into, log_diagonal, packed_size
from privmix.parts import given
from privmix.parts.checks import check_positive, check_switch, fill
from privmix.parts.columns import NamedColumns, check_names

FORMS = ("full", "diagonal", "shared shape")
#: shape of the hyperprior of a scale that is learned
LEARNED_SHAPE = 2.0
# A component's width in widths of the bounds, as `TruncatedNormal` takes it; under the precision scale, means then
# spread by about a third of the bounds.
COMPONENT_WIDTH, DEFAULT_PRECISION_SCALE = 0.05, 0.05


@dataclass(frozen=True, eq=False)
class MultivariateNormal(NamedColumns, Kernel):
    """Normal components N(μ, Σ) of records of d columns, which may slope: columns are correlated inside them.

    Base measure: μ | Σ ~ N(mean, Σ/precision_scale), and Σ by `covariance`:

    - ``"full"``: Σ ~ InverseWishart(degrees, scale), the normal–inverse-Wishart law
    - ``"diagonal"``: no slopes; independent σ²_j ~ InverseGamma((degrees − d + 1)/2, scale_jj/2)
    - ``"shared shape"``: Σ = s·scale, with s ~ InverseGamma((degrees − d + 1)/2, 1/2) for each component

    Under each of them column j by itself has the base measure
    ``Normal(mean_j, precision_scale, (degrees − d + 1)/2, scale_jj/2)``; the defaults are those of `Normal`.

    A row of θ has μ, the lower triangle of Σ row by row, and constants: the Cholesky factor L of Σ, L⁻¹, the log of the
    density's height, and room for what a pair makes of Σ and the noise.

    Parameters
    ----------
    names
        Names of the columns, two or more.
    mean
        Prior mean of μ: a number, or one for each column.
    precision_scale
        Prior precision of μ in units of Σ⁻¹: the weight of the prior mean, in records.
    degrees
        Degrees of freedom, above d − 1; by default d + 5.
    scale
        Matrix of the inverse-Wishart law: a number for its diagonal, one for each column, or the matrix.
    covariance
        ``"full"``, ``"diagonal"`` or ``"shared shape"``.
    learns_scale
        Learn the scale: a diagonal matrix whose entries have hyperpriors Gamma(2) with mean scale_jj. Not for a shared
        shape.

    Examples
    --------
    >>> MultivariateNormal(("x", "y")).parameters
    ('x_mean', 'y_mean', 'x_variance', 'y_x_covariance', 'y_variance')
    """

    names: tuple[str, ...] = given(("x", "y"))
    mean: np.ndarray = 0.0  # type: ignore[assignment]
    precision_scale: float = 0.1
    degrees: float = None  # type: ignore[assignment]
    scale: np.ndarray = given(6.0)
    covariance: Literal["full", "diagonal", "shared shape"] = given("full")
    learns_scale: bool = given(False)
    form: int = field(init=False, repr=False)
    triangle: np.ndarray = field(init=False, repr=False)  # of the scale
    inverse: np.ndarray = field(init=False, repr=False)  # that of its inverse
    log_det: float = field(init=False, repr=False)  # log determinant of the scale
    log_constant: float = field(init=False, repr=False)  # of log_base

    offered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        names = check_names("MultivariateNormal", self.names)
        fill(self, names=names, degrees=len(names) + 5.0 if self.degrees is None else self.degrees)
        check_positive(self, "precision_scale", "degrees")
        d, nu = len(names), self.degrees
        if nu <= d - 1:
            raise ValueError(f"MultivariateNormal: degrees must be above {d - 1} for {d} columns; got {nu:g}.")
        if self.covariance not in FORMS:
            raise ValueError(
                f"MultivariateNormal: covariance must be one of {', '.join(map(repr, FORMS))}; got {self.covariance!r}."
            )
        scale = _read_scale(self.scale, d)
        form, learns = (
            FORMS.index(self.covariance),
            check_switch("learns_scale", self.learns_scale, "MultivariateNormal"),
        )
        if form == SHARED and learns:
            raise ValueError("MultivariateNormal: a shape that all components share cannot be learned; give scale=.")
        if (form == DIAGONAL or learns) and np.any(scale != np.diag(np.diag(scale))):
            raise ValueError(
                "MultivariateNormal: scale must be diagonal where it is learned, or covariance='diagonal'."
            )
        height = 0.5 * d * math.log(self.precision_scale / (2.0 * math.pi))
        height -= 0.5 * nu * d * math.log(2.0) + float(multigammaln(0.5 * nu, d))
        fill(self, mean=_read_mean(self.mean, d), scale=scale, form=form, learns_scale=learns, log_constant=height)
        fill(
            self,
            triangle=_lower(scale),
            inverse=_lower(np.linalg.inv(scale)),
            log_det=float(np.linalg.slogdet(scale)[1]),
        )

    @classmethod
    def for_mechanism(cls, mechanism: Any) -> Self:
        """Return the kernel over the bounds of a mechanism's columns: means around the middle, widths learned."""
        bounds = [child.bounds for child in getattr(mechanism, "children", ())]
        if not bounds or any(each is None for each in bounds):
            raise ValueError(
                f"the kernel's defaults follow from the bounds of the columns, and {type(mechanism).__name__} does not "
                "have one for each. Give them, or build a PrivateMixture with a kernel of your choice."
            )
        lower, upper = np.array(bounds).T
        d = len(bounds)
        return cls(
            mechanism.names,
            mean=0.5 * (lower + upper),
            precision_scale=DEFAULT_PRECISION_SCALE,
            degrees=d + 3.0,
            scale=4.0 * np.square(COMPONENT_WIDTH * (upper - lower)),
            learns_scale=True,
        )

    @property
    def parameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """The means, and the lower triangle of Σ row by row."""
        return (*[f"{name}_mean" for name in self.names], *[_entry(self.names, i, j) for i, j in self._entries()])

    @property
    def positive(self) -> tuple[str, ...]:  # type: ignore[override]
        """The variances."""
        return tuple(f"{name}_variance" for name in self.names)

    @property
    def hyperparameters(self) -> tuple[str, ...]:  # type: ignore[override]
        """The diagonal of the scale, where it is learned."""
        return tuple(f"{name}_scale" for name in self.names) if self.learns_scale else ()

    @property
    def dimension(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return len(self.names)

    @property
    def constants(self) -> int:  # type: ignore[override]
        """What is derived from μ and Σ, and room for a pair."""
        return constant_count(self.dimension)

    @property
    def children(self) -> tuple[Normal, ...]:
        """The kernel of each column by itself."""
        shape = 0.5 * (self.degrees - self.dimension + 1.0)
        rates: list[Any] = [float(0.5 * value) for value in np.diag(self.scale)]
        if self.learns_scale:
            rates = [(LEARNED_SHAPE, LEARNED_SHAPE / rate) for rate in rates]
        return tuple(Normal(float(m), self.precision_scale, shape, r) for m, r in zip(self.mean, rates, strict=True))

    @property
    def parts(self) -> tuple[tuple[str, Normal], ...]:
        """The name and the kernel of each column."""
        return tuple(zip(self.names, self.children, strict=True))

    def has(self, name: str) -> bool:
        """Return whether it gives a hook: the density of G₀ only where Σ has no entries that are fixed."""
        return super().has(name) and (name != "log_base" or self.form == FULL)

    def only(self, names: Sequence[str]) -> Kernel:
        """Return the kernel of some columns."""
        places = [self.column(name) for name in names]
        if len(places) == 1:
            return self.children[places[0]]
        degrees = self.degrees - self.dimension + len(places)
        mean, scale = np.asarray(self.mean)[places], np.asarray(self.scale)[np.ix_(places, places)]
        return type(self)(tuple(names), mean, self.precision_scale, degrees, scale, self.covariance, self.learns_scale)

    def draws_of(self, names: Sequence[str], atom: np.ndarray, hyper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return atoms and hyperparameters of some columns, as ``only`` has them: the rate of one is half its scale."""
        learned = hyper[..., [self.column(name) for name in names] if self.learns_scale else []]
        return atom[..., self._places(names)], 0.5 * learned if len(names) == 1 else learned

    def _places(self, names: Sequence[str]) -> list[int]:
        """Return which parameters are those of some columns, in the order of their kernel."""
        places = [self.column(name) for name in names]
        entries = [(places[i], places[j]) for i in range(len(places)) for j in range(i + 1)]
        return [*places, *[self.dimension + at(max(entry), min(entry)) for entry in entries]]

    def atoms_given(self, name: str, atom: np.ndarray, given: Mapping[str, float]) -> np.ndarray:
        """Return the parameters of one column given the values of others: those of the conditional normal law."""
        m, both = 1 + len(given), atom[..., self._places([name, *given])]
        held = np.isfinite(both[..., 0])  # a draw has room for components that it does not use
        mean, sigma = both[held, :m], np.empty((int(held.sum()), m, m))
        for i, j in combinations_with_replacement(range(m), 2):
            sigma[:, i, j] = sigma[:, j, i] = both[held, m + at(j, i)]
        slope = np.linalg.solve(sigma[:, 1:, 1:], sigma[:, 1:, :1])[..., 0]
        out = np.full((*held.shape, 2), np.nan)
        out[held, 0] = mean[:, 0] + np.sum(slope * (np.array(list(given.values())) - mean[:, 1:]), axis=1)
        out[held, 1] = sigma[:, 0, 0] - np.sum(slope * sigma[:, 0, 1:], axis=1)
        return out

    def first_steps(self, y: np.ndarray) -> np.ndarray:
        """Return the first log steps of a walk: the spread of a column, of two for a covariance; none for variances."""
        spread = np.log(np.where(np.std(y, axis=0) > 0.0, np.std(y, axis=0), 1.0))
        return np.array([*spread, *[spread[i] + spread[j] if i > j else 0.0 for i, j in self._entries()]])

    def _entries(self) -> list[tuple[int, int]]:
        return [(i, j) for i in range(self.dimension) for j in range(i + 1)]

    def log_f(self, y, theta):
        """Return log N(y | μ, Σ), by the squares of L⁻¹(y − μ)."""
        d = len(self.mean)
        place = inverse_place(d)
        total = 0.0
        for i in range(d):
            entry = 0.0
            for j in range(i + 1):
                entry += theta[place] * (y[j] - theta[j])
                place += 1
            total += entry * entry
        return theta[height_place(d)] - 0.5 * total

    def sample(self, rng, theta, out):
        """Draw y = μ + L e."""
        draw_row(rng, theta, out, len(self.mean))

    def prepare(self, theta):
        """Keep L, L⁻¹ and −½ log det 2πΣ, which is −∞ where Σ is no covariance; forget what a pair kept."""
        d = len(self.mean)
        size = packed_size(d)
        root, inverse = theta[d + size : d + 2 * size], theta[inverse_place(d) : pair_place(d)]
        for k in range(size):
            root[k] = theta[d + k]
        theta[kept_place(d)] = 0.0
        if factor(root, d):
            invert_into(root, inverse, d)
            theta[height_place(d)] = -log_diagonal(root, d) - 0.5 * d * math.log(2.0 * math.pi)
        else:
            theta[height_place(d)] = -math.inf

    def row_moments(self, theta, mean, covariance):
        """Write μ and Σ."""
        d = len(self.mean)
        for i in range(d):
            mean[i] = theta[i]
            for j in range(i + 1):
                covariance[i, j] = covariance[j, i] = theta[d + at(i, j)]

    def base(self, rng, theta, hyper=None):
        """Draw (μ, Σ) from the base measure."""
        d = len(self.mean)
        for i in range(d):
            theta[i] = self.mean[i]
            for j in range(i + 1):
                theta[d + at(i, j)] = scale_entry(self, hyper, i, j)
        draw_from_sums(self, rng, theta, 0.0)

    def update(self, rng, theta, ys, tune, hyper=None):
        """Draw (μ, Σ) from its conditional given the ys.

        Normal–inverse-Wishart with κ + n, (κm + nȳ)/(κ + n), ν + n and S + Σ(y−ȳ)(y−ȳ)ᵀ + κn/(κ+n) (ȳ−m)(ȳ−m)ᵀ.
        """
        d, n = len(self.mean), len(ys)
        for j in range(d):
            theta[j] = 0.0
            for k in range(n):
                theta[j] += ys[k, j] / n
        share = self.precision_scale * n / (self.precision_scale + n)
        for i in range(d):
            for j in range(i + 1):
                gaps = (theta[i] - self.mean[i]) * (theta[j] - self.mean[j]) if n > 0 else 0.0
                total = scale_entry(self, hyper, i, j) + share * gaps
                for k in range(n):
                    total += (ys[k, i] - theta[i]) * (ys[k, j] - theta[j])
                theta[d + at(i, j)] = total
        for j in range(d):
            theta[j] = (self.precision_scale * self.mean[j] + n * theta[j]) / (self.precision_scale + n)
        draw_from_sums(self, rng, theta, float(n))

    def log_base(self, theta, hyper=None):
        """Return the log density of the normal–inverse-Wishart law at μ and the lower triangle of Σ."""
        d = len(self.mean)
        height = theta[height_place(d)]
        if height == -math.inf:
            return height
        inverse = theta[inverse_place(d) : pair_place(d)]
        half_log_det = -height - 0.5 * d * math.log(2.0 * math.pi)  # of Σ
        total = (
            self.log_constant
            - (self.degrees + d + 2.0) * half_log_det
            + 0.5 * self.degrees * log_det_scale(self, hyper)
        )
        for i in range(d):
            entry = 0.0
            for j in range(i + 1):
                entry += inverse[at(i, j)] * (theta[j] - self.mean[j])
                for k in range(i + 1):  # tr(S Σ⁻¹) = Σ_i w_i S w_iᵀ over the rows of L⁻¹
                    total -= (
                        0.5 * inverse[at(i, j)] * scale_entry(self, hyper, max(j, k), min(j, k)) * inverse[at(i, k)]
                    )
            total -= 0.5 * self.precision_scale * entry * entry
        return total

    def base_hyper(self, rng, hyper):
        """Draw the scale from its prior: Gamma(2) of mean scale_jj."""
        for j in range(len(hyper)):
            hyper[j] = gamma(rng, LEARNED_SHAPE) * self.triangle[at(j, j)] / LEARNED_SHAPE

    def update_hyper(self, rng, hyper, atoms):
        """Draw the scale given K occupied atoms: Gamma(2 + νK/2, 2/scale_jj + ½ Σ_h (Σ_h⁻¹)_jj).

        Without slopes σ²_j has the shape (ν − d + 1)/2 in place of ν/2.
        """
        d = len(self.mean)
        each = 0.5 * self.degrees if self.form == FULL else 0.5 * (self.degrees - d + 1.0)
        for j in range(len(hyper)):
            rate = LEARNED_SHAPE / self.triangle[at(j, j)]
            for h in range(len(atoms)):
                for i in range(j, d):
                    entry = atoms[h, inverse_place(d) + at(i, j)]
                    rate += 0.5 * entry * entry
            hyper[j] = gamma(rng, LEARNED_SHAPE + each * len(atoms)) / rate


def _entry(names: tuple[str, ...], i: int, j: int) -> str:
    return f"{names[i]}_variance" if i == j else f"{names[i]}_{names[j]}_covariance"


def _read_mean(mean: Any, d: int) -> np.ndarray:
    """Return a prior mean for each column, or say what is wrong."""
    try:
        found = np.array(np.broadcast_to(np.asarray(mean, dtype=np.float64), (d,)))
    except (TypeError, ValueError):
        found = np.full(d, np.nan)
    if not np.isfinite(found).all():
        raise ValueError(f"MultivariateNormal: mean must be a number or one for each of {d} columns; got {mean!r}.")
    found.setflags(write=False)
    return found


def _read_scale(scale: Any, d: int) -> np.ndarray:
    """Return the matrix of the inverse-Wishart law, or say what is wrong."""
    try:
        found = np.array(scale, dtype=np.float64)
        found = found if found.ndim == 2 else np.diag(np.broadcast_to(found, (d,)))
    except (TypeError, ValueError):
        found = np.full((d, d), np.nan)
    sound = found.shape == (d, d) and np.isfinite(found).all() and np.array_equal(found, found.T)
    if not sound or np.linalg.eigvalsh(found)[0] <= 0.0:
        raise ValueError(
            f"MultivariateNormal: scale must be a positive number, one for each of {d} columns, or a symmetric and "
            f"positive definite matrix; got {scale!r}."
        )
    found.setflags(write=False)
    return found


def _lower(matrix: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(matrix[np.tril_indices(len(matrix))])
