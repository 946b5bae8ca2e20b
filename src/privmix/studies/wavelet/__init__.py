"""Section 4.2 of the paper: three betas through Laplace noise and through noisy Haar coefficients."""

from privmix.studies.runner import Study
from privmix.studies.wavelet.cell import cell
from privmix.studies.wavelet.configuration import Configuration
from privmix.studies.wavelet.figures import figures

study = Study(
    "wavelet",
    "Section 4.2: Laplace noise against Haar wavelets: is it true that only J = 4 works?",
    Configuration,
    cell,
    figures,
)
