"""A convolution: what a mechanism and a kernel give together when the confidential record is integrated out.

g(z|θ) = ∫ q(z|y) f(y|θ) dy, and the law of Y given z and θ. A pair that has them is found by its types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from privmix.kernels import Kernel
from privmix.mechanisms import LocalMechanism
from privmix.pairs.slots import draw_given, log_g


@dataclass(frozen=True)
class Convolution:
    """Plain functions of (mechanism, kernel, …), compiled like hooks.

    Parameters
    ----------
    name
        What to call it in messages.
    log_g
        ``log_g(mechanism, kernel, z, theta)``: log of ∫ q(z|y) f(y|θ) dy.
    sample
        ``sample(mechanism, kernel, rng, z, theta)``: an exact draw of Y given z and θ.
    cdf
        ``cdf(mechanism, kernel, z, theta)``: P(Z ≤ z|θ), where z is a number and it has a closed form.
    gradient
        ``gradient(mechanism, kernel, z, theta, out)``: writes ∂ log g/∂θ for each parameter into out and returns log g,
        where that is cheap.
    extra
        Fillings of further slots that these functions call.
    cost
        Rough cost of log_g, in that of the normal-Laplace pair: what `samplers.Auto` weighs moves by.
    """

    name: str
    log_g: Callable
    sample: Callable
    cdf: Callable | None = None
    gradient: Callable | None = None
    extra: Mapping[Callable, Callable] = field(default_factory=dict, hash=False)
    cost: float = 1.0

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this convolution fills."""
        return {log_g: self.log_g, draw_given: self.sample, **self.extra}


_registered: dict[tuple[type, type], Convolution] = {}


def register(mechanism: type[LocalMechanism], kernel: type[Kernel], convolution: Convolution) -> None:
    """Make a convolution known for a pair of types (and their subclasses); a later one replaces an earlier."""
    _registered[mechanism, kernel] = convolution


def find_registered(mechanism: LocalMechanism, kernel: Kernel) -> Convolution | None:
    """Return the convolution of the closest registered pair of types, or None."""
    for m in type(mechanism).__mro__:
        for k in type(kernel).__mro__:
            if (m, k) in _registered:
                return _registered[m, k]
    return None
