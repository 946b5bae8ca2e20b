"""Section 4.1 of the paper: private Neal 5 and slice samplers under Laplace noise, by records and ε."""

from privmix.studies.laplace.cell import cell
from privmix.studies.laplace.configuration import Configuration
from privmix.studies.laplace.figures import figures
from privmix.studies.runner import Study

study = Study(
    "laplace",
    "Section 4.1: Neal 5 against slice under Laplace noise: acceptance, mixing, density and clusters.",
    Configuration,
    cell,
    figures,
)
