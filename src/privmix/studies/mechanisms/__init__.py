"""Which mechanism is best at the same ε: the default fit, by records and ε."""

from privmix.studies.mechanisms.cell import cell
from privmix.studies.mechanisms.configuration import Configuration
from privmix.studies.mechanisms.figures import figures
from privmix.studies.runner import Study

study = Study(
    "mechanisms",
    "The same ε, which mechanism? L1 error of the default fit by records and ε.",
    Configuration,
    cell,
    figures,
)
