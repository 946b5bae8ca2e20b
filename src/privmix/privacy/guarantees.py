"""What a mechanism promises: pure, approximate and zero-concentrated differential privacy.

Every guarantee names its neighbouring relation. The default, ``"replace"``, says that two data sets are
neighbours when one record's value is replaced by any other; for a local mechanism, which sees one record, any
two inputs are then neighbours. ``"add-remove"`` says that one record is added or taken away.

References
----------
Bun, M. and Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, and lower
    bounds. TCC 2016-B.
Dwork, C. and Roth, A. (2014). The algorithmic foundations of differential privacy.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, ClassVar

from privmix.privacy import divergences
from privmix.privacy.divergences import Densities, Integral, LawsOfCounts, LogDensity

NEIGHBOURS = ("replace", "add-remove")


def _positive(name: str, value: Any, owner: str) -> float:
    """Return the value as a float, or say why it cannot be a privacy parameter."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(
            f"{owner} was given {name}={value!r}, which is not one number. Give a positive finite number; "
            f"where each record has its own budget, the guarantee of the whole release is the largest {name}."
        ) from None
    if not (math.isfinite(number) and number > 0):
        raise ValueError(
            f"{owner} was given {name}={value!r}, but needs {name} > 0 and finite. "
            f"Give a positive number; a release without noise has no guarantee (None)."
        )
    return number


def _probability(value: Any, owner: str) -> float:
    """Return delta as a float inside (0, 1), or say why it cannot be one."""
    delta = _positive("delta", value, owner)
    if delta >= 1:
        raise ValueError(
            f"{owner} was given delta={value!r}, but needs 0 < delta < 1: at delta = 1 nothing is promised. "
            f"Give a delta well below one over the number of records."
        )
    return delta


@dataclass(frozen=True, repr=False)
class Guarantee(ABC):
    """A promise of differential privacy; see `PureDP`, `ApproxDP` and `ZCDP`.

    Parameters
    ----------
    neighbours : {"replace", "add-remove"}
        Which data sets may not be told apart. Keyword only.
    """

    #: the parameter that an audit compares with the worst case; a guarantee without one cannot be audited
    audited: ClassVar[str]

    neighbours: str = field(default="replace", kw_only=True)

    def __post_init__(self) -> None:
        """Check the neighbouring relation and turn the parameters into floats."""
        owner = type(self).__name__
        if self.neighbours not in NEIGHBOURS:
            raise ValueError(
                f"{owner} was given neighbours={self.neighbours!r}, which is not a relation it knows. "
                f"Use 'replace' (one record's value is replaced; the relation of every local mechanism) "
                f"or 'add-remove' (one record is added or taken away)."
            )
        for name in self._parameters():
            value = getattr(self, name)
            number = _probability(value, owner) if name == "delta" else _positive(name, value, owner)
            object.__setattr__(self, name, number)

    def __repr__(self) -> str:
        shown = [f"{name}={getattr(self, name)!r}" for name in self._parameters()]
        if self.neighbours != "replace":
            shown.append(f"neighbours={self.neighbours!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    @classmethod
    def _parameters(cls) -> list[str]:
        return [f.name for f in fields(cls) if f.name != "neighbours"]

    @abstractmethod
    def pure(self) -> PureDP:
        """Return a pure guarantee that follows from this one, or raise ValueError where none does."""

    @abstractmethod
    def approx(self, delta: float) -> ApproxDP:
        """Return an approximate guarantee at `delta` that follows from this one."""

    @abstractmethod
    def zcdp(self) -> ZCDP:
        """Return a zero-concentrated guarantee that follows from this one, or raise ValueError."""

    @property
    def pure_epsilon(self) -> float | None:
        """ε where this is pure ε-differential privacy, else None."""
        return None

    @property
    def in_words(self) -> str:
        """The guarantee in a few words and symbols, for titles and tables."""
        return repr(self)

    def guess_bound(self) -> float | None:
        """Return the greatest probability of guessing right between two equally likely values, or None if unbounded."""
        return None

    def divergence(
        self, log_p: LogDensity, log_q: LogDensity, integrate: Callable[[LogDensity], Integral]
    ) -> tuple[float, float]:
        """Return what two laws of a real output spend of the audited parameter, and the output that spends most."""
        raise NotImplementedError

    def divergence_of_counts(self, pairs: LawsOfCounts) -> tuple[float, list[int]]:
        """Return what pairs of laws of independent whole numbers spend, and the numbers that spend most, as indices."""
        raise NotImplementedError

    def divergence_of_densities(self, pairs: Densities) -> tuple[float, list[float]]:
        """Return what pairs of smooth densities of independent real numbers spend, and the numbers that spend most."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; `guarantee_from_dict` reads them back."""
        return {"kind": type(self).__name__, **asdict(self)}


@dataclass(frozen=True, repr=False)
class PureDP(Guarantee):
    """Pure differential privacy: log q(z|y) - log q(z|y') <= epsilon for all z and neighbouring y, y'.

    Parameters
    ----------
    epsilon : float
        Positive and finite.

    Examples
    --------
    >>> PureDP(epsilon=5.0).zcdp()
    ZCDP(rho=12.5)
    """

    audited: ClassVar[str] = "epsilon"

    epsilon: float

    @property
    def pure_epsilon(self) -> float:
        """ε."""
        return self.epsilon

    @property
    def in_words(self) -> str:
        """The guarantee in a few words and symbols."""
        return f"ε-differential privacy, ε = {self.epsilon:.6g}"

    def guess_bound(self) -> float:
        """Return e^ε/(1 + e^ε), which randomized response attains."""
        return 1.0 / (1.0 + math.exp(-self.epsilon))

    def pure(self) -> PureDP:
        """Return itself."""
        return self

    def approx(self, delta: float) -> ApproxDP:
        """Return the same epsilon with any delta: (epsilon, 0) implies (epsilon, delta) by definition."""
        return ApproxDP(self.epsilon, delta, neighbours=self.neighbours)

    def zcdp(self) -> ZCDP:
        """Return rho = epsilon^2 / 2 (Bun and Steinke 2016, Proposition 1.4)."""
        return ZCDP(self.epsilon**2 / 2, neighbours=self.neighbours)


@dataclass(frozen=True, repr=False)
class ApproxDP(Guarantee):
    """Approximate differential privacy: P(Z in A | y) <= e^epsilon P(Z in A | y') + delta for all A.

    Parameters
    ----------
    epsilon : float
        Positive and finite.
    delta : float
        In (0, 1).
    """

    audited: ClassVar[str] = "delta"

    epsilon: float
    delta: float

    @property
    def in_words(self) -> str:
        """The guarantee in a few words and symbols."""
        return f"(ε, δ)-differential privacy, ε = {self.epsilon:.6g}, δ = {self.delta:.3g}"

    def guess_bound(self) -> float:
        """Return (e^ε + δ)/(1 + e^ε).

        With errors a and b of a test, (ε, δ) means a + e^ε b ≥ 1 − δ and e^ε a + b ≥ 1 − δ; their sum bounds a + b.
        """
        return 1.0 - (1.0 - self.delta) / (1.0 + math.exp(min(self.epsilon, 700.0)))

    def divergence(
        self, log_p: LogDensity, log_q: LogDensity, integrate: Callable[[LogDensity], Integral]
    ) -> tuple[float, float]:
        """Return delta at the claimed epsilon, and where its integrand is largest."""
        integral = integrate(divergences.hockey_stick(log_p, log_q, self.epsilon))
        return math.exp(integral.log), integral.mode

    def divergence_of_counts(self, pairs: LawsOfCounts) -> tuple[float, list[int]]:
        """Return delta at the claimed epsilon, and the counts where its summand is largest."""
        return divergences.hockey_stick_of_counts(pairs, self.epsilon)

    def divergence_of_densities(self, pairs: Densities) -> tuple[float, list[float]]:
        """Return delta at the claimed epsilon, and the numbers where its integrand is largest."""
        return divergences.hockey_stick_of_densities(pairs, self.epsilon)

    def pure(self) -> PureDP:
        """Raise ValueError: a delta above 0 allows unbounded log-ratios."""
        raise ValueError(
            f"{self!r} was asked for pure differential privacy, which does not follow from delta > 0 at any "
            f"epsilon. Use a mechanism with a pure guarantee, such as Laplace noise."
        )

    def approx(self, delta: float) -> ApproxDP:
        """Return the same epsilon at a delta no smaller than its own (by definition); raise otherwise."""
        delta = _probability(delta, "approx")
        if delta < self.delta:
            raise ValueError(
                f"{self!r} was asked for delta={delta!r}, which is smaller than it promises. Ask for a delta "
                f"of at least {self.delta!r}, or calibrate the mechanism's noise at the smaller delta."
            )
        return ApproxDP(self.epsilon, delta, neighbours=self.neighbours)

    def zcdp(self) -> ZCDP:
        """Raise ValueError: one (epsilon, delta) pair bounds no Renyi divergence."""
        raise ValueError(
            f"{self!r} was asked for zero-concentrated differential privacy, which does not follow from a "
            f"single (epsilon, delta). Calibrate the mechanism's noise with rho instead."
        )


@dataclass(frozen=True, repr=False)
class ZCDP(Guarantee):
    """Zero-concentrated differential privacy: D_alpha(q(.|y) || q(.|y')) <= rho alpha for all alpha > 1.

    D_alpha is the Renyi divergence of order alpha (Bun and Steinke 2016, Definition 1.1).

    Parameters
    ----------
    rho : float
        Positive and finite.
    """

    audited: ClassVar[str] = "rho"

    rho: float

    @property
    def in_words(self) -> str:
        """The guarantee in a few words and symbols."""
        return f"ρ-zero-concentrated differential privacy, ρ = {self.rho:.6g}"

    def guess_bound(self) -> float:
        """Return (1 + T)/2, T a bound of the total variation of the two releases.

        Their divergence is at most ρ, which bounds T by Pinsker's and by Bretagnolle and Huber's inequality.
        """
        variation = min(math.sqrt(0.5 * self.rho), math.sqrt(-math.expm1(-self.rho)))
        return 0.5 * (1.0 + min(1.0, variation))

    def divergence(
        self, log_p: LogDensity, log_q: LogDensity, integrate: Callable[[LogDensity], Integral]
    ) -> tuple[float, float]:
        """Return the largest D_alpha / alpha, and where its integrand is largest."""
        integrals = [(a, integrate(divergences.renyi(log_p, log_q, a))) for a in divergences.ALPHAS]
        return max((found.log / (alpha * (alpha - 1)), found.mode) for alpha, found in integrals)

    def divergence_of_counts(self, pairs: LawsOfCounts) -> tuple[float, list[int]]:
        """Return the largest D_alpha / alpha, and the counts where its summand is largest."""
        return divergences.renyi_of_counts(pairs)

    def divergence_of_densities(self, pairs: Densities) -> tuple[float, list[float]]:
        """Return the largest D_alpha / alpha, and the numbers where its integrand is largest."""
        return divergences.renyi_of_densities(pairs)

    def pure(self) -> PureDP:
        """Raise ValueError: Gaussian noise is zero-concentrated with unbounded log-ratios."""
        raise ValueError(
            f"{self!r} was asked for pure differential privacy, which does not follow at any epsilon. "
            f"Use approx(delta), or a mechanism with a pure guarantee such as Laplace noise."
        )

    def approx(self, delta: float) -> ApproxDP:
        """Return epsilon = rho + 2 sqrt(rho log(1/delta)) (Bun and Steinke 2016, Proposition 1.3).

        It holds for every zero-concentrated mechanism; for Gaussian noise of known scale the exact epsilon of
        `gaussian_epsilon` is smaller.
        """
        delta = _probability(delta, "approx")
        epsilon = self.rho + 2 * math.sqrt(self.rho * -math.log(delta))
        return ApproxDP(epsilon, delta, neighbours=self.neighbours)

    def zcdp(self) -> ZCDP:
        """Return itself."""
        return self


def describe_guarantee(guarantee: Guarantee | None) -> str:
    """Return a guarantee in a few words and symbols."""
    return "no privacy guarantee" if guarantee is None else guarantee.in_words


KINDS: dict[str, type[Guarantee]] = {kind.__name__: kind for kind in (PureDP, ApproxDP, ZCDP)}


def guarantee_from_dict(values: Mapping[str, Any]) -> Guarantee:
    """Read a guarantee that `Guarantee.to_dict` wrote.

    Parameters
    ----------
    values : mapping
        ``{"kind": "PureDP", "epsilon": 5.0, "neighbours": "replace"}`` and the like; ``neighbours`` may be
        missing.

    Returns
    -------
    Guarantee
        Of the class that ``kind`` names, with its parameters checked again.
    """
    arguments = dict(values)
    kind = KINDS.get(str(arguments.pop("kind", None)))
    if kind is None:
        raise ValueError(
            f"A guarantee was read with kind={values.get('kind')!r}, which is none of {', '.join(KINDS)}. "
            f"Write it with Guarantee.to_dict()."
        )
    needed = set(kind._parameters())
    if not needed <= set(arguments) <= needed | {"neighbours"}:
        raise ValueError(
            f"A {kind.__name__} was read with the entries {sorted(arguments)}, but needs {sorted(needed)} "
            f"and may have 'neighbours'. Write it with Guarantee.to_dict()."
        )
    return kind(**arguments)
