"""The piecewise mechanism: the square wave by another name, with the half-width that suits the mean.

References
----------
Wang, N., Xiao, X., Yang, Y., Zhao, J., Hui, S. C., Shin, H., Shin, J. and Yu, G. (2019). Collecting and analyzing
    multidimensional data with local differential privacy. ICDE.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from privmix.mechanisms.square_wave import SquareWave


@dataclass(frozen=True)
class Piecewise(SquareWave):
    """Release z with density p where |z − y| ≤ b and q elsewhere on [−b, 1 + b], for y in [0, 1] and b = e^{−ε/2}/2.

    This is `SquareWave` with the half-width of Wang et al. (2019), who chose it for the variance of the mean: one
    mechanism, two names. They take y in [−1, 1] and release a number in [−C, C], C = (e^{ε/2} + 1)/(e^{ε/2} − 1), whose
    high density is on an interval of length C − 1 around y(C + 1)/2. Divided by (C + 1)/2 it lies around y itself, with
    half-width (C − 1)/(C + 1) = e^{−ε/2}, which is e^{−ε/2}/2 of the length of [−1, 1]. So a release of theirs, mapped
    to the bounds, is to be divided by (C + 1)/2 = 1/(1 − e^{−ε/2}), as distance from the middle.

    Guarantee: ε-differential privacy for any two records, exact; the proof is with `square_wave_parameters`.

    Parameters
    ----------
    epsilon
        Wanted ε, at most 700.
    bounds
        Range of a record, known without looking at the data.
    half_width
        Not to be given: it follows from ε. `SquareWave` takes any.
    rho
        Wanted zCDP budget instead of ε.
    """

    def width_at(self, epsilon: float) -> float:
        """Return e^{−ε/2}/2."""
        width = 0.5 * math.exp(-0.5 * epsilon)
        # A mechanism rebuilt from its own fields has the width too.
        if self.rho is None and self.half_width is not None and self.half_width != width:
            raise ValueError(
                f"Piecewise was given half_width={self.half_width!r}, but its half-width follows from epsilon: "
                f"{width:.6g}. Use SquareWave for another."
            )
        return width
