"""Tests that a sampler targets its posterior, for the library's own parts and for anyone's."""

from privmix.testing.joint import JointTest, joint_test
from privmix.testing.mutants import Mutant

__all__ = ["JointTest", "Mutant", "joint_test"]
