"""No mechanism at all: an example for the contract."""

import numpy as np

from privmix.mechanisms import Identity

EXAMPLES = [Identity(), Identity(bounds=(-3.0, 5.0))]


def test_release_is_the_data():
    y = np.array([0.5, -1.0, 7.0])
    assert np.array_equal(Identity().privatize(y), y)
    assert Identity().logpdf(y, y + np.array([0.0, 1.0, 0.0])).tolist() == [0.0, -np.inf, 0.0]
    assert Identity().guarantee is None
