"""What people would use instead: estimators of the density that are not mixtures, and fits that ignore the noise.

Every one is used alike: ``baselines.EMS(cells=64).fit(z, mechanism).density(grid)``.
"""

from privmix.baselines.base import Baseline, Fitted, proper
from privmix.baselines.deconvolution import Deconvolution
from privmix.baselines.em import EM, EMS
from privmix.baselines.inversion import Inversion
from privmix.baselines.naive import NaiveKernel, NaiveMixture
from privmix.baselines.numpyro_mixture import NumPyroMixture
from privmix.baselines.wavelet import Wavelet

__all__ = [
    "EM",
    "EMS",
    "Baseline",
    "Deconvolution",
    "Fitted",
    "Inversion",
    "NaiveKernel",
    "NaiveMixture",
    "NumPyroMixture",
    "Wavelet",
    "proper",
]
