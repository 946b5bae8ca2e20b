"""How often the check of fit speaks against a model that made the data."""

import pytest

from checks.prior_data import MECHANISMS, count_alarms
from long.test_joint_long import note
from privmix.checks.check import LEAST_P

DATA_SETS = 200


@pytest.mark.long
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_alarms_are_no_more_than_promised(mechanism):
    alarms = count_alarms(mechanism, DATA_SETS)
    note(f"| check of fit, {type(mechanism).__name__}, {DATA_SETS} data sets of the prior | alarms {alarms} | | |")
    assert alarms <= LEAST_P * DATA_SETS
