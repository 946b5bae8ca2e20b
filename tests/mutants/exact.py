"""Bugs of the samplers that integrate the confidential records out."""

from __future__ import annotations

from mutants.models import GAUSSIAN, NOISY, NORMAL, one
from privmix.pairs import conjugate, gaussian_normal, laplace_normal
from privmix.samplers import Neal2, Neal3, Neal5, Neal8, Slice, SplitMerge, neal5, neal8, split_merge
from privmix.samplers.moves import parameters
from privmix.testing import Mutant


def exact_bugs() -> list[Mutant]:
    """Return bugs of the samplers that use g(z|θ), and of the closed forms behind them."""
    walked, urn = Neal8(), Neal5(exact=True)
    return [
        one(
            "truncated base measure not normalised, as the paper prints it",
            conjugate.truncated_marginal,
            " - log_gamma_p(kernel.shape, kernel.rate / floor)",
            "",
            NOISY,
            Neal3(),
        ),
        one(
            "atoms drawn without the truncation",
            conjugate.draw_truncated,
            "total = rate / truncated_gamma(rng, kernel.shape + 0.5 * stat[COUNT], rate / floor)",
            "total = floor + rate / gamma(rng, kernel.shape + 0.5 * stat[COUNT])",
            NOISY,
            Neal2(),
        ),
        one(
            "record drawn from the wrong tail",
            laplace_normal.sample,
            "normal_excess(rng, r - d, math.inf)",
            "normal_excess(rng, r + d, math.inf)",
            NORMAL,
            Slice(records="exact"),
        ),
        one(
            "g with half of the noise's variance",
            gaussian_normal.log_g,
            "theta[1] + mechanism.scale * mechanism.scale",
            "theta[1] + 0.5 * mechanism.scale * mechanism.scale",
            GAUSSIAN,
            walked,
        ),
        one(
            "each empty cluster weighs α, not α/m",
            neal8.draw_label,
            "clusters_without(state, i)) / m)",
            "clusters_without(state, i)))",
            NORMAL,
            walked,
        ),
        one("exact urn step inverted", neal5.move_label, "current - proposed", "proposed - current", NORMAL, urn),
        one(
            "walk without the prior",
            parameters.marginal_target,
            "total = log_base(parts.kernel, theta, state.hyper)",
            "total = 0.0",
            NORMAL,
            urn,
        ),
        one(
            "walk on the log scale without the Jacobian",
            parameters.walk_atom,
            "(step if log_scale(p) else 0.0)",
            "0.0",
            NORMAL,
            walked,
        ),
        one(
            "stale records under integrated labels",
            parameters.impute_and_update,
            "for i in range(len(state.allocation)):",
            "for i in range(0):",
            NORMAL,
            Slice(records="integrated"),
        ),
        one(
            "split without the proposal's probability",
            split_merge.split_or_merge,
            " - log_proposal",
            "",
            NORMAL,
            SplitMerge(urn, proposals=5),
        ),
        one(
            "split without the concentration",
            split_merge.log_prior_ratio,
            "math.log(weight) + ",
            "",
            NORMAL,
            SplitMerge(urn, proposals=5),
        ),
        one(
            "merger judged as a split",
            split_merge.split_or_merge,
            "(-log_ratio if splitting else log_ratio)",
            "-log_ratio",
            NORMAL,
            SplitMerge(urn, proposals=5),
        ),
        one(
            "conjugate split without the merged marginal",
            split_merge.gain_by_statistics,
            " - merged",
            " - 0.9 * merged",
            NOISY,
            SplitMerge(Neal3(), proposals=5),
        ),
    ]
