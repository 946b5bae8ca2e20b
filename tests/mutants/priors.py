"""Bugs of priors other than the Dirichlet process, and of the steps that serve them."""

from __future__ import annotations

from mutants.models import DISCOUNTED, DISCOUNTED_LEARNED, FEW, ON_COUNTS, UNKNOWN, UNKNOWN_LEARNED, one
from privmix.priors import Dirichlet, FiniteMixture, PitmanYor, finite, finite_mixture, pitman_yor
from privmix.samplers import Binned, Neal5, Neal8, Slice, SplitMerge, neal8, split_merge
from privmix.samplers import slice as slice_file
from privmix.samplers.moves import partition, sticks
from privmix.testing import Mutant


def prior_bugs() -> list[Mutant]:
    """Return bugs in urns, sticks and hyperpriors."""
    return urn_bugs() + stick_bugs() + hyperprior_bugs()


def urn_bugs() -> list[Mutant]:
    """Return bugs of the urn."""
    propose, urn = partition.propose_row, Neal5(exact=True)
    label = neal8.draw_label
    return [
        one("discount left out of old clusters", PitmanYor.reduction, "self.discount", "0.0", DISCOUNTED, Neal5()),
        one("discount left out of new clusters", PitmanYor.new_weight, "+ k * self.discount", "", DISCOUNTED, Neal5()),
        one(
            "copied label kept in spite of the discount",
            propose,
            "while less > 0.0 and",
            "while False and",
            DISCOUNTED,
            Neal5(),
        ),
        one("old clusters weighed by size alone", label, "others - less", "others", DISCOUNTED, Neal8()),
        one(
            "split without the discount",
            split_merge.log_prior_ratio,
            "less = reduction(parts.prior, state.concentration)",
            "less = 0.0",
            DISCOUNTED,
            SplitMerge(urn, proposals=5),
        ),
        one("weight left out of old clusters", propose, "if less < 0.0 and", "if False and", FEW, Neal5()),
        one(
            "weight left out of the urn's total",
            propose,
            "- 1 - clusters * less) < weight",
            "- 1) < weight",
            FEW,
            Neal5(),
        ),
        one(
            "empty components counted with one too many",
            Dirichlet.new_weight,
            "(self.components - k)",
            "(self.components - k + 1)",
            FEW,
            Neal5(),
        ),
        one(
            "cluster of the record itself drawn",
            partition.draw_cluster,
            "while size_without(state, row, i) == 0",
            "while state.size[row] == 0",
            FEW,
            Neal5(),
            n=4,
        ),
        one(
            "V of n instead of n + 1 records",
            FiniteMixture.new_weight,
            "log_sum(self, law[0], n + 1, k + 1, k + 1) - log_sum(self, law[0], n + 1, k,",
            "log_sum(self, law[0], n, k + 1, k + 1) - log_sum(self, law[0], n, k,",
            UNKNOWN,
            Neal5(),
            n=4,
        ),
        one(
            "V of k instead of k + 1 clusters", FiniteMixture.new_weight, "k + 1, k + 1)", "k, k + 1)", UNKNOWN, Neal5()
        ),
        one(
            "new clusters weighed without γ",
            FiniteMixture.new_weight,
            "law[0] * math.exp",
            "math.exp",
            UNKNOWN,
            Neal5(),
        ),
    ]


def stick_bugs() -> list[Mutant]:
    """Return bugs of the sticks."""
    return [
        one(
            "sticks one index early",
            PitmanYor.stick_given,
            "(h + 1) * self.discount + beyond",
            "h * self.discount + beyond",
            DISCOUNTED,
            Slice(),
        ),
        one(
            "density of a stick without its index",
            PitmanYor.log_stick_density,
            "law[0] + (h + 1) * self.discount",
            "law[0]",
            DISCOUNTED,
            Slice(),
            sweeps=20,
        ),
        one(
            "first part of a stick without the discount",
            PitmanYor.stick_given,
            "1.0 - self.discount + size",
            "1.0 + size",
            DISCOUNTED,
            Slice(),
        ),
        one(
            "labels without the weight above the height",
            slice_file.draw_label,
            " + log_above(state, h)",
            "",
            DISCOUNTED,
            Slice(),
        ),
        one(
            "components counted from one too few",
            finite.finite_stick,
            "weight * (components - 1 - h) + beyond",
            "weight * (components - h) + beyond",
            FEW,
            Slice(),
        ),
        one(
            "exchange with the last component by the Jacobian of two sticks",
            sticks.swap_sticks,
            "if log_rest_next > -math.inf:",
            "if True:",
            ON_COUNTS,
            Binned(),
        ),
        one(
            "number of components never redrawn",
            FiniteMixture.update_given_labels,
            "law[COMPONENTS] = draw_components(self, rng, law[0], n, 0, len(sizes))",
            "law[COMPONENTS] = max(law[COMPONENTS], len(sizes))",
            UNKNOWN,
            Slice(),
            equivalent="K is part of the state; keeping it is a valid sweep",
        ),
        one(
            "components given a partition where labels are known",
            FiniteMixture.update_given_labels,
            "n, 0, len(sizes)",
            "n, len(sizes), len(sizes)",
            UNKNOWN,
            Slice(),
        ),
    ]


def hyperprior_bugs() -> list[Mutant]:
    """Return bugs of learned concentrations and weights."""
    return [
        one(
            "concentration without the clusters' weights",
            pitman_yor.target_given_partition,
            "total += math.log(alpha + j * prior.discount)",
            "total += math.log(alpha)",
            DISCOUNTED_LEARNED,
            Neal5(),
        ),
        one(
            "concentration without the sticks' constants",
            pitman_yor.target_given_sticks,
            "alpha + (h + 1) * prior.discount",
            "alpha",
            DISCOUNTED_LEARNED,
            Slice(),
        ),
        one(
            "weight without that of empty components",
            finite.log_given_components,
            "math.lgamma(components * weight + n)",
            "math.lgamma(components * weight + n + 1.0)",
            UNKNOWN_LEARNED,
            Neal5(),
        ),
        one(
            "components drawn without their prior",
            finite_mixture.log_term,
            "return log_components(prior, components) + chosen",
            "return -components + chosen",
            UNKNOWN,
            Slice(),
        ),
    ]
