"""Does a mechanism keep its promise? The worst case over inputs and outputs, against the claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from privmix.privacy.audit_global import worst_neighbours
from privmix.privacy.audit_local import read_inputs, try_outputs, worst_divergence, worst_ratio
from privmix.privacy.guarantees import Guarantee

# Log-ratios are exact up to rounding; integrals on 20001 points are good to about 1e-6 for smooth densities,
# and to 1e-4 for densities with jumps.
RATIO_TOLERANCE, INTEGRAL_TOLERANCE = 1e-9, 1e-4
# A claim is tight when the worst case found comes within one in a hundred of it.
TIGHT = 0.99


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Parameters
    ----------
    worst : float
        The largest log-ratio (pure, or no claim), delta at the claimed epsilon (approximate), or
        D_alpha / alpha (zero-concentrated) that was found. A lower bound of the truth: the search is on a
        grid.
    claimed : float or None
        The epsilon, delta or rho that the mechanism claims.
    z : float or ndarray
        The output of the worst case; for an integral, where its integrand is largest.
    y, y_prime : float or ndarray
        The inputs of the worst case: q(z|y) against q(z|y_prime); for a global mechanism two data sets.
    holds : bool or None
        False where the worst case breaks the claim.
    tight : bool or None
        True where the claim holds and the worst case comes within one in a hundred of it.
    guarantee : Guarantee or None
        The claim itself.
    """

    worst: float
    claimed: float | None
    z: Any
    y: Any
    y_prime: Any
    holds: bool | None
    tight: bool | None
    guarantee: Guarantee | None = None

    @property
    def gap(self) -> float | None:
        """Claimed minus worst: what the claim gives away; negative where it is false."""
        return None if self.claimed is None else self.claimed - self.worst

    def __str__(self) -> str:
        what = _parameter(self.guarantee).replace("epsilon", "log-ratio")
        z, y, y_prime = (_shown(value) for value in (self.z, self.y, self.y_prime))
        where = f"at z = {z}, y = {y} against y' = {y_prime}"
        if self.claimed is None:
            return f"no claim; worst {what} {self.worst:.6g} {where}"
        verdict = ("holds, tight" if self.tight else "holds, loose") if self.holds else "BROKEN"
        found = f"worst {what} {self.worst:.6g}, claimed {self.claimed:.6g}"
        return f"{self.guarantee!r}: {verdict}; {found}, {where}"


def audit(
    mechanism: Any,
    inputs: ArrayLike | None = None,
    outputs: ArrayLike | None = None,
    size: int = 2048,
    seed: int = 0,
) -> Audit:
    """Look for the worst case of a mechanism and compare it with the mechanism's claim.

    The claim decides what is measured, over pairs of neighbouring inputs y, y' (for a local mechanism any two records):

    - `PureDP`, or no guarantee: max log q(z|y) - log q(z|y') over all pairs of inputs and all outputs;
    - `ApproxDP`: delta = int (q(z|y) - e^epsilon q(z|y'))_+ dz at the claimed epsilon;
    - `ZCDP`: D_alpha(q(.|y) || q(.|y')) / alpha for alpha between 1.01 and 64.

    A grid can only miss a worse case, never invent one: a broken claim is broken, one that holds holds on the
    grid. The arithmetic of the released noise (floating point) is not audited.

    A histogram (`privmix.mechanisms.Histogram`) is audited by brute force over all its data sets and all replacements
    of one record, so take few records and bins: 4 and 3 meet every case that the proofs distinguish. Its delta and
    Renyi divergences are sums over whole numbers, exact up to rounding.

    Parameters
    ----------
    mechanism : object
        With ``logpdf(z, y)`` over records, ``guarantee``, and ``bounds`` and ``privatize(y, seed=)`` where
        inputs and outputs are left to the audit. Noise must be the same for every record.
    inputs : array, optional
        Default: 257 points from bound to bound and the floats just left of them, so that both sides of
        every dyadic edge are met. Not for a histogram.
    outputs : array, optional
        Default: `size` draws of the mechanism, and for real outputs `size` points from lo - 3W to hi + 3W,
        W = hi - lo. For `ApproxDP` and `ZCDP` a grid that finds its own window. For a histogram the
        releases of its ``probes``, among which the worst log-ratio is found.
    size : int
        Number of draws.
    seed : int
        Of the draws.

    Returns
    -------
    Audit
        The worst case, the claim, and whether it holds.
    """
    mechanism = getattr(mechanism, "each", mechanism)
    claim = mechanism.guarantee
    _need_readable(claim)
    if getattr(mechanism, "is_global", False):
        return _conclude(claim, RATIO_TOLERANCE, *worst_neighbours(mechanism, claim, outputs))
    y = read_inputs(mechanism, inputs)
    if claim is None or claim.audited == "epsilon":
        z = try_outputs(mechanism, y, size, seed) if outputs is None else np.asarray(outputs)
        return _conclude(claim, RATIO_TOLERANCE, *worst_ratio(mechanism, z, y))
    return _conclude(claim, INTEGRAL_TOLERANCE, *worst_divergence(mechanism, claim, y, outputs, seed))


def _need_readable(claim: Any) -> None:
    if claim is not None and not hasattr(claim, "audited"):
        raise TypeError(
            f"The mechanism claims {claim!r}, which the audit cannot read. Its guarantee must be a PureDP, "
            f"ApproxDP or ZCDP, or None."
        )


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return np.array2string(np.asarray(value), precision=6, threshold=8)


def _conclude(claim: Guarantee | None, tolerance: float, worst: float, z: Any, y: Any, y_prime: Any) -> Audit:
    """Compare the worst case with the claim."""
    if claim is None:
        return Audit(worst, None, z, y, y_prime, None, None)
    claimed = float(getattr(claim, _parameter(claim)))
    holds = bool(worst <= claimed * (1 + tolerance))
    return Audit(worst, claimed, z, y, y_prime, holds, holds and worst >= TIGHT * claimed, claim)


def _parameter(claim: Guarantee | None) -> str:
    """Return the name of the parameter that the worst case is compared with."""
    return getattr(claim, "audited", "epsilon")
