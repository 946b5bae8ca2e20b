"""The paper's Table 1 as code: what a sampler needs of a model, and what to say where it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from privmix.pairs.slots import walk_columns

if TYPE_CHECKING:
    from privmix.model import PrivateMixture
    from privmix.samplers.base import Sampler

# What serves any mechanism and any kernel, from their hooks alone.
ANY = "Neal5() or Slice()"


def pair(model: PrivateMixture) -> str:
    """Return the names of mechanism and kernel."""
    return f"{type(model.mechanism).__name__} noise on a {type(model.kernel).__name__} kernel"


def need_convolution(name: str, model: PrivateMixture) -> None:
    """Refuse a pair whose g(z|θ) has no known form."""
    if model.mechanism.is_global:
        raise ValueError(
            f"{name} integrates the confidential records out one by one, but {type(model.mechanism).__name__} makes "
            "one release of all of them, so they do not come apart. Use Neal5(), Slice() or, for histograms, Binned()."
        )
    if model.convolution is None:
        raise ValueError(
            f"{name} integrates the confidential records out, which needs g(z|θ) = ∫ q(z|y) f(y|θ) dy in closed form; "
            f"{pair(model)} has none. Use {ANY}, or register a convolution for the pair."
        )


def need_whole_density(name: str, model: PrivateMixture) -> None:
    """Refuse a density that is cut when it is read, where the release has counts alone to compare it with."""
    if model.mechanism.is_counted and model.restricted_to is not None:
        raise ValueError(
            f"{name} on a table of counts cannot serve restricted_to={model.restricted_to!r}: replicates of the counts "
            "are made from whole components. Use kernels.TruncatedNormal on the bounds."
        )


def need_masses(name: str, model: PrivateMixture) -> None:
    """Refuse a global release that is no histogram, or a kernel whose masses in its bins are unknown."""
    if not model.has_masses or model.mechanism.joins_bins:
        raise ValueError(
            f"{name} draws the bin of each record, which needs a mechanism that sees the counts of a histogram and a "
            f"kernel with cdf(self, y, theta); {pair(model)} is no such pair. Use {ANY}."
        )


def need_augmentation(name: str, model: PrivateMixture) -> None:
    """Refuse a pair without a step of its own on records."""
    if model.pair.augmentation is None:
        raise ValueError(
            f"{name} moves records by a step that the pair has, and {pair(model)} has none: Laplace noise on several "
            f"columns (mechanisms.VectorLaplace) on kernels.MultivariateNormal does. Use {ANY}."
        )


def need_conjugacy(name: str, what: str, model: PrivateMixture) -> None:
    """Refuse a pair without a conjugate marginal."""
    if model.conjugate is None:
        raise ValueError(
            f"{name} integrates {what} out, which needs a conjugate marginal; {pair(model)} has none. Use Neal5, Slice "
            "or Neal8, or the Gaussian mechanism with kernels.NoisyNormal (Identity with kernels.Normal)."
        )
    need_convolution(name, model)
    reason = model.conjugate.refuses(model.mechanism, model.kernel)
    if reason:
        raise ValueError(f"{name} needs a conjugate marginal: {reason}")


def need_log_base(name: str, model: PrivateMixture) -> None:
    """Refuse a walk of the parameters where the base measure has no density; of several columns, each by itself."""
    by_column = model.convolution is not None and walk_columns in model.convolution.extra
    if not model.kernel.has("log_base") and not by_column:
        raise ValueError(
            f"{name}(update='walk') moves the parameters on the marginal likelihood, which needs "
            f"{type(model.kernel).__name__}.log_base. Give it, or use update='impute'."
        )


def need_moves(name: str, model: PrivateMixture) -> None:
    """Refuse parameters that cannot be moved on the likelihood of counts."""
    if not model.kernel.moves:
        raise ValueError(
            f"{name} moves the parameters on the likelihood of the counts, which needs {type(model.kernel).__name__}."
            "log_base, the density of its base measure. Give it, or use a sampler on records."
        )


def need_few_sticks(name: str, model: PrivateMixture) -> None:
    """Refuse a prior whose sticks cannot all be broken."""
    if model.prior.heavy_tailed:
        others = "Use Slice() or Neal5(), or DirichletProcess, Dirichlet or FiniteMixture as the prior."
        raise ValueError(
            f"{name} breaks sticks until nothing is left beyond them, but under {type(model.prior).__name__} what is "
            f"left falls as a power of their number: there would be millions. {_open_prior(model) or others}"
        )


def need_near_labels(name: str, model: PrivateMixture) -> None:
    """Refuse a prior under which records lie at sticks without end."""
    if model.prior.has_far_labels:
        raise ValueError(
            f"{name} keeps every stick up to the last that holds a record, which may be millions under "
            f"{model.prior!r}. Use Neal5() or another sampler on partitions, or a smaller discount."
        )


def need_open_law(name: str, model: PrivateMixture) -> None:
    """Refuse a prior that keeps numbers for a known number of records where there is none."""
    if model.mechanism.records_unknown and model.prior.law_size(1) != model.prior.law_size(2):
        raise ValueError(
            f"{name} learns the number of records, but {type(model.prior).__name__} keeps weights that are computed "
            f"for a known one. {_open_prior(model)}"
        )


def _open_prior(model: PrivateMixture) -> str:
    """Return what to do where the number of records is learned, by one sampler and under few priors; else ""."""
    if not model.mechanism.records_unknown:
        return ""
    return f"Use DirichletProcess or Dirichlet as the prior, or {model.mechanism.to_tell_records}."


def check_served(sampler: Sampler, model: PrivateMixture) -> None:
    """Refuse a model that a sampler cannot serve; first one without records, where it moves them."""
    if model.mechanism.is_counted and not sampler.takes_counts:
        raise ValueError(
            f"{sampler!r} moves records one by one, but the release is a table of counts, which has none. Use Binned() "
            "or leave the sampler out."
        )
    if model.mechanism.records_unknown and not sampler.learns_records:
        raise ValueError(
            f"{type(sampler).__name__}() keeps every record, but the number of records is not known. Use Binned(), "
            f"which keeps counts and learns their number, or {model.mechanism.to_tell_records}."
        )
    sampler.check(model)


def need_partition(name: str, inner: Sampler) -> None:
    """Refuse to wrap a sampler whose state is not a partition without records."""
    if not inner.holds_partition:
        raise ValueError(
            f"{name} moves whole clusters by g(z|θ), so it wraps a sampler whose state is a partition without records; "
            f"{inner!r} is none. Wrap Neal8(), Neal5(exact=True), Neal2() or Neal3()."
        )
