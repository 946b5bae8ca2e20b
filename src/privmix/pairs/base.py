"""What can be known of a mechanism and a kernel together: records, or parameters, integrated out.

Each kind holds plain functions of (mechanism, kernel, …), compiled like hooks, and says which slots they fill.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from privmix.pairs.slots import (
    add,
    clear,
    draw_given,
    draw_given_at,
    draw_posterior,
    draw_reported_at,
    log_g,
    log_marginal,
    redraw_at,
    remove,
)


def write_number(mechanism, kernel, rng, z, theta, ys, i):
    """Draw Y given z and θ, a number."""
    ys[i] = draw_given(mechanism, kernel, rng, z, theta)


def write_row(mechanism, kernel, rng, z, theta, ys, i):
    """Draw Y given z and θ, a row."""
    draw_given(mechanism, kernel, rng, z, theta, ys[i])


@dataclass(frozen=True)
class Convolution:
    """The law of a released record given θ, g(z|θ) = ∫ q(z|y) f(y|θ) dy, and that of Y given z and θ.

    Parameters
    ----------
    name
        What to call it in messages.
    log_g
        ``log_g(mechanism, kernel, z, theta)``: log of ∫ q(z|y) f(y|θ) dy.
    sample
        ``sample(mechanism, kernel, rng, z, theta)``: an exact draw of Y given z and θ. Where Y is a row it writes into
        a last argument, and ``extra`` has `write_row` for the slots ``draw_given_at`` and ``draw_reported_at``.
    cdf
        ``cdf(mechanism, kernel, z, theta)``: P(Z ≤ z|θ), where z is a number and it has a closed form. `Binned` needs
        it where the noise is added.
    masses
        ``masses(mechanism, kernel, edges, theta, out)``: writes P(edge < Z ≤ next edge|θ), where the inner edges have
        one distance and the outermost are infinite; where a mechanism has few outputs, these stand for the edges and it
        writes the probability of each. What `Binned` uses where there is no ``cdf``, or where that is quicker.
    log_between
        ``log_between(mechanism, kernel, low, high, theta)``: log P(low < Z ≤ high|θ), accurate in both tails; either
        end may be infinite. Records that were clamped, rounded or withheld need it, or ``cdf``.
    extra
        Hooks for further slots that these functions call.
    cost
        Rough cost of log_g, in that of the normal-Laplace pair: what `samplers.Auto` weighs moves by.
    """

    name: str
    log_g: Callable
    sample: Callable
    cdf: Callable | None = None
    masses: Callable | None = None
    log_between: Callable | None = None
    extra: Mapping[Callable, Callable] = field(default_factory=dict, hash=False)
    cost: float = 1.0

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this convolution fills, each with its hook."""
        written = {draw_given_at: write_number, draw_reported_at: write_number}
        return {log_g: self.log_g, draw_given: self.sample, **written, **self.extra}


@dataclass(frozen=True)
class Augmentation:
    """A step on a record given its release and θ that proposes nothing: variables are drawn given Y, and Y given them.

    Parameters
    ----------
    name
        What to call it in messages.
    redraw
        ``redraw(mechanism, kernel, rng, z, theta, ys, i)``: changes ys[i], and leaves the law of Y given z as it is.
    extra
        Hooks for further slots that it calls.
    """

    name: str
    redraw: Callable
    extra: Mapping[Callable, Callable] = field(default_factory=dict, hash=False)

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this step fills, each with its hook."""
        return {redraw_at: self.redraw, **self.extra}


@dataclass(frozen=True)
class Conjugate:
    """The marginal of a cluster's releases, θ integrated out, on a row of so many sufficient `statistics`.

    ``refuses(mechanism, kernel)`` returns a reason where the parameters of the pair do not fit, else an empty text.
    """

    statistics: int
    clear: Callable
    add: Callable
    remove: Callable
    log_marginal: Callable
    draw: Callable
    refuses: Callable[[Any, Any], str]

    def hooks(self) -> dict[Callable, Callable]:
        """Return the slots that this conjugate marginal fills, each with its hook."""
        return {
            clear: self.clear,
            add: self.add,
            remove: self.remove,
            log_marginal: self.log_marginal,
            draw_posterior: self.draw,
        }


@dataclass(frozen=True)
class Pair:
    """All that is known of a mechanism and a kernel together; None where it is not known.

    Parameters
    ----------
    convolution
        g(z|θ) and Y given z.
    conjugate
        The marginal of a cluster's releases.
    masses
        Hooks for the kernel's mass in the bins of the mechanism; empty if not known.
    augmentation
        A step on a record without a proposal.
    """

    convolution: Convolution | None = None
    conjugate: Conjugate | None = None
    masses: Mapping[Callable, Callable] = field(default_factory=dict, hash=False)
    augmentation: Augmentation | None = None

    def hooks(self) -> dict[Callable, Callable]:
        """Return every slot that is filled, each with its hook."""
        hooks = dict(self.masses)
        for known in (self.convolution, self.conjugate, self.augmentation):
            hooks |= {} if known is None else known.hooks()
        return hooks
