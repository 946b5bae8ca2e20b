"""Planning: what a release will tell, before anything is collected."""

from privmix.planning.plan import Plan, plan

__all__ = ["Plan", "plan"]
