"""The engine: the only loop over sweeps, and the chains that it runs."""

from privmix.engine.chains import Chain, Plan, run_chains

__all__ = ["Chain", "Plan", "run_chains"]
