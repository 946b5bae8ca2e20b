"""Composition: what several releases of the same data promise together.

References
----------
Bun, M. and Steinke, T. (2016). Concentrated differential privacy: simplifications, extensions, and lower bounds. TCC.
Dwork, C. and Roth, A. (2014). The algorithmic foundations of differential privacy.
"""

from __future__ import annotations

from collections.abc import Sequence

from privmix.privacy.guarantees import ZCDP, ApproxDP, Guarantee, PureDP


def compose(guarantees: Sequence[Guarantee | None]) -> Guarantee | None:
    """Return what releases promise together, made one by one with independent noise; None where one promises nothing.

    Pure guarantees add up in ε (Dwork and Roth 2014, Theorem 3.14), zero-concentrated ones in ρ (Bun and Steinke 2016,
    Lemma 2.3), pure ones among them by ρ = ε²/2; approximate ones in ε and in δ (Dwork and Roth 2014, Theorem 3.16). A
    zero-concentrated one beside an approximate one is turned into one at the least δ of those.

    Parameters
    ----------
    guarantees
        Of each release, for the same neighbours.

    Examples
    --------
    >>> compose([PureDP(0.5), PureDP(1.0)])
    PureDP(epsilon=1.5)
    """
    known = _all_of(guarantees)
    if not known:
        return None
    relation = known[0].neighbours
    pure = [guarantee.pure_epsilon for guarantee in known if guarantee.pure_epsilon is not None]
    if len(pure) == len(known):
        return PureDP(sum(pure), neighbours=relation)
    deltas = [guarantee.delta for guarantee in known if isinstance(guarantee, ApproxDP)]
    if not deltas:
        return ZCDP(sum(guarantee.zcdp().rho for guarantee in known), neighbours=relation)
    # A pure guarantee has δ = 0, and adds none.
    others = [guarantee for guarantee in known if guarantee.pure_epsilon is None]
    rest = [g if isinstance(g, ApproxDP) else g.approx(min(deltas)) for g in others]
    return ApproxDP(sum(pure) + sum(g.epsilon for g in rest), sum(g.delta for g in rest), neighbours=relation)


def weakest(guarantees: Sequence[Guarantee | None]) -> Guarantee | None:
    """Return what holds whichever of several releases is made, which of them is drawn without looking at the data.

    The largest of each parameter. What is released tells which one it was, so that its own guarantee holds given that,
    and the worst holds on the whole: ratios of probabilities, Rényi divergences and the share δ are no larger in a
    mixture than in its worst part. Kinds that differ are first turned into the one that all imply.

    Parameters
    ----------
    guarantees
        Of each release, for the same neighbours.

    Examples
    --------
    >>> weakest([PureDP(0.5), PureDP(1.0)])
    PureDP(epsilon=1.0)
    """
    known = _all_of(guarantees)
    if not known:
        return None
    deltas = [guarantee.delta for guarantee in known if isinstance(guarantee, ApproxDP)]
    relation = known[0].neighbours
    if deltas:
        approximate = [g if isinstance(g, ApproxDP) else g.approx(max(deltas)) for g in known]
        return ApproxDP(max(g.epsilon for g in approximate), max(deltas), neighbours=relation)
    pure = [guarantee.pure_epsilon for guarantee in known if guarantee.pure_epsilon is not None]
    if len(pure) == len(known):
        return PureDP(max(pure), neighbours=relation)
    return ZCDP(max(guarantee.zcdp().rho for guarantee in known), neighbours=relation)


def _all_of(guarantees: Sequence[Guarantee | None]) -> list[Guarantee]:
    """Return the guarantees, all for the same neighbours; none where one of the releases promises nothing."""
    known = [guarantee for guarantee in guarantees if guarantee is not None]
    relations = {guarantee.neighbours for guarantee in known}
    if len(relations) > 1:
        raise ValueError(
            f"guarantees for different neighbours ({' and '.join(sorted(relations))}) do not add up. State all of them "
            "for the same neighbours."
        )
    return known if len(known) == len(guarantees) else []
