"""Section 6 of the paper, on synthetic data drawn from the published histogram of the blood donors."""

from privmix.studies.donors.cell import cell
from privmix.studies.donors.configuration import Configuration
from privmix.studies.donors.figures import figures
from privmix.studies.runner import Study

study = Study(
    "donors",
    "Section 6: times between blood donations at ρ = 17.8, on synthetic data from the published histogram.",
    Configuration,
    cell,
    figures,
)
