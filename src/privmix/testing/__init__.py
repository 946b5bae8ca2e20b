"""Tests that a sampler targets its posterior, for the library's own parts and for anyone's."""

from privmix.testing.check import Check, check_sampler
from privmix.testing.enumeration import Enumeration, enumeration_test
from privmix.testing.joint import JointTest, joint_test
from privmix.testing.mutant import Mutant
from privmix.testing.partitions import (
    canonical,
    cluster_count_pmf,
    expected_clusters,
    log_crp,
    partition_index,
    set_partitions,
)
from privmix.testing.prior_limit import PriorLimit, prior_limit
from privmix.testing.twin import twin_gap

__all__ = [
    "Check",
    "Enumeration",
    "JointTest",
    "Mutant",
    "PriorLimit",
    "canonical",
    "check_sampler",
    "cluster_count_pmf",
    "enumeration_test",
    "expected_clusters",
    "joint_test",
    "log_crp",
    "partition_index",
    "prior_limit",
    "set_partitions",
    "twin_gap",
]
