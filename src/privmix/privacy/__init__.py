"""Guarantees of differential privacy, the noise that they ask for, and an audit of a claim."""

from privmix.privacy.audit import Audit, audit
from privmix.privacy.gaussian import classical_gaussian_scale, gaussian_delta, gaussian_epsilon, gaussian_scale
from privmix.privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, guarantee_from_dict
from privmix.privacy.haar import haar_scale, haar_scale_butucea
from privmix.privacy.histograms import (
    discrete_gaussian_histogram_delta,
    discrete_gaussian_histogram_scale,
    log_discrete_gaussian_norm,
    smoothed_histogram_epsilon,
    smoothed_histogram_odds,
)
from privmix.privacy.laplace import laplace_scale
from privmix.privacy.randomized_response import randomized_response_epsilon, randomized_response_truth
from privmix.privacy.square_wave import square_wave_epsilon, square_wave_parameters

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Audit",
    "Guarantee",
    "PureDP",
    "audit",
    "classical_gaussian_scale",
    "discrete_gaussian_histogram_delta",
    "discrete_gaussian_histogram_scale",
    "gaussian_delta",
    "gaussian_epsilon",
    "gaussian_scale",
    "guarantee_from_dict",
    "haar_scale",
    "haar_scale_butucea",
    "laplace_scale",
    "log_discrete_gaussian_norm",
    "randomized_response_epsilon",
    "randomized_response_truth",
    "smoothed_histogram_epsilon",
    "smoothed_histogram_odds",
    "square_wave_epsilon",
    "square_wave_parameters",
]
