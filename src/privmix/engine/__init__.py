"""The engine: the only loop over sweeps, and the chains that it runs."""

from privmix.engine.chains import Chain, End, Plan, run_chains

__all__ = ["Chain", "End", "Plan", "run_chains"]
