"""How long to run: the one place where draws, warm-up, thinning and chains are declared and checked."""

from __future__ import annotations

from dataclasses import dataclass

from privmix.parts.checks import check_count


@dataclass(frozen=True)
class Settings:
    """The length of a run.

    Parameters
    ----------
    draws
        Kept draws of each chain.
    warmup
        Sweeps before the first draw.
    thin
        Sweeps for each kept draw.
    chains
        Independent chains.
    """

    draws: int = 2000
    warmup: int = 2000
    thin: int = 5
    chains: int = 4

    def __post_init__(self) -> None:
        for name, least in (("draws", 1), ("warmup", 0), ("thin", 1), ("chains", 1)):
            object.__setattr__(self, name, check_count(name, getattr(self, name), least))

    @property
    def sweeps(self) -> int:
        """Sweeps that a chain makes in all."""
        return self.warmup + self.draws * self.thin


#: The defaults of `privmix.fit`, ``PrivateMixture.sample``, the estimator and the command line.
DEFAULTS = Settings()
