"""Readers of other people's layouts: OpenDP, Tumult and Wikimedia, the Census Bureau, and any table."""

from privmix.release.readers.census import read_gls_estimates, read_noisy_measurements
from privmix.release.readers.opendp import read_opendp, read_opendp_histogram
from privmix.release.readers.published import read_published
from privmix.release.readers.tumult import read_tumult, tumult_scale

__all__ = [
    "read_gls_estimates",
    "read_noisy_measurements",
    "read_opendp",
    "read_opendp_histogram",
    "read_published",
    "read_tumult",
    "tumult_scale",
]
