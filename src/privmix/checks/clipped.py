"""What a fit says of records that were clipped: how many lie beyond each bound, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from privmix.posterior import Posterior


def words_of_beyond(posterior: Posterior) -> str:
    """Return the share of records beyond each bound, with its interval, in a sentence."""
    shares = posterior.beyond()
    said = [
        f"{float(one['mean']):.1%} ({float(one['lower']):.1%} to {float(one['upper']):.1%}) of the records lie "
        f"{name} {float(one['bound']):g}"
        for name, one in ((side, shares.sel(side=side)) for side in ("below", "above"))
    ]
    return f"{' and '.join(said)}; how they lie out there the release does not say: that shape is the prior's."
