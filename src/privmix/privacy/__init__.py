"""Guarantees of differential privacy, their conversion, and an audit of a claim; no mechanism is known here.

How much noise a guarantee asks for is in the mechanism's own file, with the proof: `privmix.mechanisms.laplace` has
`laplace_scale`, `privmix.mechanisms.gaussian` has `gaussian_scale`, and so on.
"""

from privmix.privacy.audit import Audit, audit
from privmix.privacy.composition import compose, weakest
from privmix.privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP, guarantee_from_dict

__all__ = ["ZCDP", "ApproxDP", "Audit", "Guarantee", "PureDP", "audit", "compose", "guarantee_from_dict", "weakest"]
