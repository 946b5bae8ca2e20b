"""Planted bugs: a test that lets one pass proves nothing.

A mutant is an edit of the source of library functions. Its `replacements` go to the compiler in place of the
originals; the library itself is not touched, and simulations keep the right model.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from privmix.convolutions import conjugate, gaussian_normal, laplace_normal
from privmix.kernels import Beta, HierarchicalNormal, Kernel, NoisyNormal, Normal
from privmix.kernels import beta as beta_file
from privmix.kernels import random_walk as random_walk_file
from privmix.mechanisms import Gaussian, HaarWavelet, Laplace, evidence
from privmix.model import PrivateMixture
from privmix.priors import DirichletProcess
from privmix.samplers import Neal2, Neal3, Neal5, Neal8, Sampler, Slice, SplitMerge, neal5, neal8, split_merge
from privmix.samplers import slice as slice_file
from privmix.samplers.moves import atoms, parameters, partition


@dataclass(frozen=True)
class Mutant:
    """A planted bug, with a model and a sampler on which the joint test must reject it.

    Each edit is (function, old text, new text); `n` and `sweeps` are those of a joint test in which it shows. A mutant
    that leaves the posterior unchanged says so in `equivalent`, with the reason.
    """

    name: str
    edits: tuple[tuple[Callable, str, str], ...]
    model: PrivateMixture
    sampler: Sampler
    n: int = 10
    sweeps: int = 3
    equivalent: str = ""

    def replacements(self) -> dict[Callable, Callable]:
        """Return what to pass as ``replacements`` to plant the bug."""
        edited: dict[Callable, str] = {}
        for function, old, new in self.edits:
            edited[function] = exchange(edited.get(function) or source_of(function), old, new)
        return {function: build(function, source) for function, source in edited.items()}


def source_of(function: Any) -> str:
    """Return the source of a function, as it would stand at the left margin."""
    return textwrap.dedent(inspect.getsource(function))


def exchange(source: str, old: str, new: str) -> str:
    """Return the source with one piece exchanged; the piece must occur exactly once."""
    if source.count(old) != 1:
        raise ValueError(f"{old!r} occurs {source.count(old)} times in the source; it must occur once.")
    return source.replace(old, new)


def build(function: Any, source: str) -> Callable:
    """Return a function with this source and the globals of another."""
    namespace = dict(function.__globals__)
    exec(compile(source, inspect.getfile(function), "exec"), namespace)
    made = namespace[function.__name__]
    made.__module__ = function.__module__
    return made


@dataclass(frozen=True)
class WalkedBeta(Kernel):
    """A beta kernel that gives only ``log_base``, so that its shapes move by the inherited random walk."""

    shape: float = 2.0
    rate: float = 2.0
    bounds: tuple[float, float] = (0.0, 1.0)

    parameters = Beta.parameters
    positive = Beta.positive
    constants = Beta.constants
    log_f = Beta.log_f
    sample = Beta.sample
    prepare = Beta.prepare
    base = Beta.base
    log_base = Beta.log_base


_WIDE = (-10.0, 10.0)
_NORMAL = PrivateMixture(Laplace(epsilon=5.0, bounds=_WIDE), Normal(), DirichletProcess(2.0))
_GAUSSIAN = PrivateMixture(Gaussian(scale=2.0, bounds=_WIDE), Normal(), DirichletProcess(2.0))
_HYPERPRIOR = PrivateMixture(Laplace(epsilon=5.0, bounds=_WIDE), Normal(), DirichletProcess((4.0, 2.0)))
_LEARNED = PrivateMixture(Laplace(epsilon=5.0, bounds=_WIDE), HierarchicalNormal(_WIDE), DirichletProcess(2.0))
_LEARNED_MANY = PrivateMixture(Laplace(epsilon=5.0, bounds=_WIDE), HierarchicalNormal(_WIDE), DirichletProcess(10.0))
_BETA = PrivateMixture(Laplace(epsilon=5.0, bounds=(0.0, 1.0)), Beta(), DirichletProcess(2.0))
_WALKED = PrivateMixture(Laplace(epsilon=5.0, bounds=(0.0, 1.0)), WalkedBeta(), DirichletProcess(2.0))
_FIRM = PrivateMixture(Laplace(epsilon=5.0, bounds=_WIDE), Normal(mean=1.0, precision_scale=1.0), DirichletProcess(2.0))
_NOISY = PrivateMixture(Gaussian(scale=2.0, bounds=_WIDE), NoisyNormal(noise=2.0), DirichletProcess(2.0))
_HAAR = PrivateMixture(HaarWavelet(levels=3, epsilon=10.0, bounds=(0.0, 1.0)), Beta(), DirichletProcess(2.0))


def _one(
    name: str, function: Callable, old: str, new: str, model: PrivateMixture, sampler: Sampler, **rest: Any
) -> Mutant:
    return Mutant(name, ((function, old, new),), model, sampler, **rest)


def published_bugs() -> list[Mutant]:
    """Return the three bugs of the paper's published code that change its posterior."""
    return [
        _one(
            "published: Neal 5 ignores the concentration",
            partition.propose_row,
            "weight = new_weight(parts.prior, state.concentration[0], n - 1, clusters)",
            "weight = 1.0",
            _NORMAL,
            Neal5(),
        ),
        Mutant(
            "published: slice sampler extends the sticks before the slice variables",
            (
                (slice_file.sweep, "        draw_slices(state, rng)\n", ""),
                (
                    slice_file.sweep,
                    "state.cursor[WAITING] = 0\n",
                    "state.cursor[WAITING] = 0\n    draw_slices(state, rng)\n",
                ),
            ),
            _NORMAL,
            Slice(),
        ),
        _one(
            "published: Metropolis step on θ leaves the prior out",
            random_walk_file.log_target,
            "total = log_base(kernel, theta, hyper)",
            "total = 0.0",
            _WALKED,
            Neal5(),
        ),
    ]


def neal5_bugs() -> list[Mutant]:
    """Return bugs of the marginal sampler."""
    move, propose = neal5.move_record, partition.propose_row
    return [
        _one(
            "inverted acceptance ratio, as the paper prints it once",
            move,
            "> state.log_g[i] - value",
            "> value - state.log_g[i]",
            _NORMAL,
            Neal5(),
        ),
        _one("every proposal accepted", move, "exponential(rng) > state.log_g[i] - value", "True", _NORMAL, Neal5()),
        _one("stale auxiliaries", move, "copy_y(mine, j, state.proposal, j)", "pass", _NORMAL, Neal5()),
        _one("stale estimate of g", move, "state.log_g[i] = settle", "settle", _NORMAL, Neal5()),
        _one("urn counts the record itself", propose, "(weight + n - 1)", "(weight + n)", _NORMAL, Neal5()),
        _one("urn copies the record's own label", propose, "other + (other >= i)", "other", _NORMAL, Neal5(), n=3),
        _one(
            "estimate of g by the largest q, not the mean",
            evidence.local_evidence,
            "total += math.exp(value - top)",
            "total += 0.0",
            _NORMAL,
            Neal5(auxiliaries=5),
        ),
        _one(
            "θ updated with the first auxiliary alone",
            atoms.update_atoms,
            "state.members[: size * m]",
            "state.members[:size]",
            _NORMAL,
            Neal5(auxiliaries=5),
        ),
    ]


def slice_bugs() -> list[Mutant]:
    """Return bugs of the conditional sampler."""
    return [
        _one(
            "labels weighted by the stick on top of the slice",
            slice_file.draw_label,
            "value = label_score(parts, data, state, i, h)",
            "value = label_score(parts, data, state, i, h) + math.log(state.weight[h])",
            _NORMAL,
            Slice(),
        ),
        _one(
            "records always move",
            slice_file.move_records,
            "exponential(rng) > state.log_g[i] - value",
            "True",
            _NORMAL,
            Slice(),
        ),
        _one(
            "sticks forget the records beyond them",
            slice_file.update_sticks,
            "beyond -= state.size[h]",
            "beyond = 0",
            _NORMAL,
            Slice(),
        ),
        _one(
            "concentration updated by the rule for partitions",
            DirichletProcess.update_given_sticks,
            "log_gamma_variate(rng, self.shape + count)",
            "log_gamma_variate(rng, self.shape + 1.0)",
            _HYPERPRIOR,
            Slice(),
        ),
        _one(
            "empty atoms kept when the base measure moves",
            slice_file.update_sticks,
            "if state.size[h] == 0:",
            "if False:",
            _LEARNED_MANY,
            Slice(),
            n=4,
            sweeps=20,
        ),
        _one(
            "empty atoms kept under a fixed base measure",
            slice_file.update_sticks,
            "if state.size[h] == 0:",
            "if False:",
            _NORMAL,
            Slice(),
            equivalent="atoms of empty sticks are part of the state; skipping them is a valid Gibbs sweep",
        ),
    ]


def part_bugs() -> list[Mutant]:
    """Return bugs in the hooks of mechanisms, kernels and priors."""
    return [
        _one("noise scale 10% too large", Laplace.log_q, "/ self.scale -", "/ (1.1 * self.scale) -", _NORMAL, Neal5()),
        _one(
            "Gaussian exponent without ½",
            Gaussian.log_q,
            "-0.5 * deviation * deviation",
            "-deviation * deviation",
            _GAUSSIAN,
            Slice(),
        ),
        _one(
            "Haar cells shifted by one",
            HaarWavelet.log_q,
            "max(position, 0.0)",
            "max(position + 1.0, 0.0)",
            _HAAR,
            Neal5(),
        ),
        _one(
            "variance updated without its prior shape",
            Normal.update,
            "self.shape + 0.5 * n",
            "0.5 * n + 1.0",
            _NORMAL,
            Neal5(),
        ),
        _one(
            "mean drawn without the prior's weight",
            Normal.update,
            "math.sqrt(theta[1] / precision)",
            "math.sqrt(theta[1] / n)",
            _FIRM,
            Slice(),
        ),
        _one(
            "beta shapes without the prior's rate",
            beta_file.shapes_log_density,
            "- rate * (a + b)",
            "- 0.5 * rate * (a + b)",
            _BETA,
            Neal5(),
        ),
        _one(
            "beta shapes without the Jacobian",
            beta_file.shapes_log_density,
            "+ shape * (log_a + log_b)",
            "+ (shape - 1.0) * (log_a + log_b)",
            _BETA,
            Slice(),
        ),
        _one(
            "random walk on the log scale without the Jacobian",
            random_walk_file.random_walk,
            "(step if log_scale(p) else 0.0)",
            "0.0",
            _WALKED,
            Slice(),
        ),
        _one(
            "learned spread ignores the atoms",
            HierarchicalNormal.update_hyper,
            "gamma(rng, 2.0 + 0.5 * k)",
            "gamma(rng, 2.0)",
            _LEARNED,
            Neal5(),
        ),
        _one(
            "Escobar–West without its mixture",
            DirichletProcess.update_given_partition,
            "shape -= 1.0",
            "shape -= 0.0",
            _HYPERPRIOR,
            Neal5(),
        ),
    ]


def exact_bugs() -> list[Mutant]:
    """Return bugs of the samplers that use g(z|θ), and of the closed forms behind them."""
    walked, urn = Neal8(), Neal5(exact=True)
    return [
        _one(
            "truncated base measure not normalised, as the paper prints it",
            conjugate.truncated_marginal,
            " - log_gamma_p(kernel.shape, kernel.rate / floor)",
            "",
            _NOISY,
            Neal3(),
        ),
        _one(
            "atoms drawn without the truncation",
            conjugate.draw_truncated,
            "total = rate / truncated_gamma(rng, kernel.shape + 0.5 * stat[COUNT], rate / floor)",
            "total = floor + rate / gamma(rng, kernel.shape + 0.5 * stat[COUNT])",
            _NOISY,
            Neal2(),
        ),
        _one(
            "record drawn from the wrong tail",
            laplace_normal.sample,
            "normal_excess(rng, r - d, math.inf)",
            "normal_excess(rng, r + d, math.inf)",
            _NORMAL,
            Slice(records="exact"),
        ),
        _one(
            "g with half of the noise's variance",
            gaussian_normal.log_g,
            "theta[1] + mechanism.scale * mechanism.scale",
            "theta[1] + 0.5 * mechanism.scale * mechanism.scale",
            _GAUSSIAN,
            walked,
        ),
        _one(
            "each empty cluster weighs α, not α/m",
            neal8.draw_label,
            "n - 1, clusters) / m)",
            "n - 1, clusters))",
            _NORMAL,
            walked,
        ),
        _one("exact urn step inverted", neal5.move_label, "current - proposed", "proposed - current", _NORMAL, urn),
        _one(
            "walk without the prior",
            parameters.marginal_target,
            "total = log_base(parts.kernel, theta, state.hyper)",
            "total = 0.0",
            _NORMAL,
            urn,
        ),
        _one(
            "walk on the log scale without the Jacobian",
            parameters.walk_atom,
            "(step if log_scale(p) else 0.0)",
            "0.0",
            _NORMAL,
            walked,
        ),
        _one(
            "stale records under integrated labels",
            parameters.impute_and_update,
            "draw_records(parts, data, state, rng)",
            "pass",
            _NORMAL,
            Slice(records="integrated"),
        ),
        _one(
            "split without the proposal's probability",
            split_merge.split_or_merge,
            " - log_proposal",
            "",
            _NORMAL,
            SplitMerge(urn, proposals=5),
        ),
        _one(
            "split without the concentration",
            split_merge.log_prior_ratio,
            "math.log(weight) + ",
            "",
            _NORMAL,
            SplitMerge(urn, proposals=5),
        ),
        _one(
            "merger judged as a split",
            split_merge.split_or_merge,
            "(-log_ratio if splitting else log_ratio)",
            "-log_ratio",
            _NORMAL,
            SplitMerge(urn, proposals=5),
        ),
        _one(
            "conjugate split without the merged marginal",
            split_merge.gain_by_statistics,
            " - merged",
            " - 0.9 * merged",
            _NOISY,
            SplitMerge(Neal3(), proposals=5),
        ),
    ]


def all_mutants() -> list[Mutant]:
    """Return every planted bug."""
    return published_bugs() + neal5_bugs() + slice_bugs() + part_bugs() + exact_bugs()
