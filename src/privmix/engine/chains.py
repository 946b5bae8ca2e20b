"""Chains: each runs compiled blocks from its own seed, in a thread or in any executor.

A chain depends on its seed alone: not on the number of workers, on the length of blocks, or on the other chains.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from privmix.engine import block
from privmix.engine.block import compile_block, empty_draws, stack_draws, widen
from privmix.engine.progress import show_progress
from privmix.samplers.base import Draws, Latent

if TYPE_CHECKING:
    from privmix.model import PrivateMixture
    from privmix.samplers import Sampler

# What the threads of chains are called.
CHAIN_THREADS = "privmix-chain"
# Seconds that a block should take: long enough that the call costs nothing, short enough to answer Ctrl-C.
BLOCK_SECONDS = 0.1
# Draws that a chain has room for at first, and bytes of later pieces: memory follows what was drawn, not what was asked
# for, and nothing that was drawn is copied before the end, which would keep Ctrl-C waiting.
FIRST_DRAWS, PIECE_BYTES = 4096, 32 * 2**20
# Share of the machine's memory that draws may fill. Where more are asked for, every second one is let go, again and
# again, so that no run is killed by its own draws; and the memory where the machine does not tell.
MEMORY_SHARE, MEMORY_ELSE = 0.125, 8 * 2**30
NO_ROOM = "the memory of this machine has no room for all draws"
# Bytes of draws that are kept after Ctrl-C, which wants an answer soon: to gather and save them takes a second.
MOST_BYTES_IN_HASTE = 64 * 2**20


@dataclass(frozen=True)
class Plan:
    """What each chain is to do; `room` is how many bytes its draws may take."""

    model: PrivateMixture
    sampler: Sampler
    z: np.ndarray
    draws: int
    warmup: int
    thin: int
    allocations: bool
    room: float = math.inf

    @property
    def records(self) -> int:
        """Confidential records behind the release."""
        return self.model.mechanism.count_records(self.z)

    @property
    def sweeps(self) -> int:
        """Sweeps that a chain makes in all."""
        return self.warmup + self.draws * self.thin


@dataclass(frozen=True)
class End:
    """Where a chain stands after its last sweep: what it needs to go on."""

    state: Any
    rng: np.random.Generator
    seconds: float


@dataclass(frozen=True)
class Chain:
    """A chain after its last sweep: its draws, in pieces, where it stands, and how many sweeps lie between draws."""

    pieces: list[Draws]
    end: End
    thin: int

    @property
    def length(self) -> int:
        """Number of draws kept."""
        return sum(len(piece.n_clusters) for piece in self.pieces)

    @property
    def draws(self) -> Draws:
        """All draws."""
        return Draws(*[array[0] for array in stack_draws([self.pieces])])

    def some(self, first: int, stop: int, step: int) -> Chain:
        """Return the chain with these of its draws alone."""
        kept, offset = [], 0
        for piece in self.pieces:
            length = len(piece.n_clusters)
            start = first - offset if offset <= first else (first - offset) % step
            kept.append(Draws(*[array[start : max(0, min(length, stop - offset)) : step] for array in piece]))
            offset += length
        return Chain([piece for piece in kept if len(piece.n_clusters)] or kept[:1], self.end, self.thin * step)


class Monitor:
    """What the chains of this process report, and how they are told to stop."""

    def __init__(self, chains: int, sweeps: int) -> None:
        self.stop = threading.Event()
        self.sweeps = sweeps
        self.rows: list[dict[str, float]] = [{} for _ in range(chains)]
        self._started: list[float] = [0.0] * chains

    def report(self, index: int, control: np.ndarray, draws: Any) -> None:
        """Take note of where a chain is, after a block."""
        now = time.perf_counter()
        kept, done = int(control[block.KEPT]), int(control[block.DONE])
        # The first block is not counted: it holds the compilation.
        first = self.rows[index].get("first", done)
        if not self.rows[index]:
            self._started[index] = now
        row = {"done": done, "first": first, "kept": float(done > control[block.WARMUP])}
        row["rate"] = (done - first) / max(now - self._started[index], 1e-9)
        if kept:
            row["clusters"] = float(draws.n_clusters[kept - 1])
            row["acceptance"] = float(draws.statistic[kept - 1, 0])
        self.rows[index] = row


def root_of(seed: Any) -> np.random.SeedSequence:
    """Return the sequence from which chains are seeded.

    A `SeedSequence` enters by four words of its state, as whole numbers would. So it is left as it was, may be used
    again, and neither it nor the children that its owner spawns give the same random numbers as a chain.
    """
    if isinstance(seed, np.random.SeedSequence):
        return np.random.SeedSequence([int(word) for word in seed.generate_state(4, np.uint64)])
    return np.random.SeedSequence(seed)


def memory() -> int:
    """Return the bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return MEMORY_ELSE


def available_cpus() -> int:
    """Return the number of processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_chains(
    plan: Plan, starts: list[Any], *, progress: bool = False, executor: Executor | None = None
) -> tuple[list[Chain], bool]:
    """Run one chain for each start; return them and whether all were finished.

    A start is a seed, or the end of a chain to go on from. An interruption (Ctrl-C) stops the chains
    after their current block; what they have drawn is returned. Where they still compile it is passed on at once: their
    threads end when the compiler does. Chains that were finished have as many sweeps between draws, one like the other:
    more than was asked for where memory has no room for all (see `MEMORY_SHARE`).
    """
    plan = replace(plan, room=MEMORY_SHARE * memory() / len(starts))
    shared = executor is None or isinstance(executor, ThreadPoolExecutor)
    monitor = Monitor(len(starts), plan.sweeps) if shared else None
    pool = executor or ThreadPoolExecutor(min(len(starts), available_cpus()), thread_name_prefix=CHAIN_THREADS)
    patient, futures = True, []  # type: bool, list[Future]
    try:
        try:
            for index, start in enumerate(starts):
                futures.append(pool.submit(run_chain, plan, start, index, monitor))
            with show_progress(monitor, futures) if progress else nullcontext():
                _wait(futures)
        except KeyboardInterrupt:
            if monitor is not None:
                monitor.stop.set()
            for future in futures:
                future.cancel()
            patient = monitor is None or any(monitor.rows)
            if not patient:
                raise
            wait(futures)
            chains = _finished(futures)
            if not any(chain.length for chain in chains):
                raise
            return chains, False
        return even([future.result() for future in futures]), True
    finally:
        if executor is None:
            pool.shutdown(wait=patient, cancel_futures=True)


def _wait(futures: list[Future]) -> None:
    """Wait in short steps, so that the main thread hears Ctrl-C on every platform; stop at the first failure."""
    pending = set(futures)
    while pending:
        done, pending = wait(pending, timeout=0.1)
        for future in done:
            future.result()


def _finished(futures: list[Future]) -> list[Chain]:
    done = [f for f in futures if f.done() and not f.cancelled() and f.exception() is None]
    return [future.result() for future in done]


def run_chain(
    plan: Plan, start: Any, index: int = 0, monitor: Monitor | None = None, run: Callable | None = None
) -> Chain:
    """Run one chain; on an interruption return what it has drawn. `run` takes the place of the compiled block."""
    started = time.perf_counter()
    run = run or compile_block(plan.model, plan.sampler)
    parts, data = plan.model.parts(), plan.model.data(plan.z)
    state, rng, latent, control = _begin(plan, start)
    pieces, draws = [], empty_draws(plan, min(plan.draws, FIRST_DRAWS))  # type: list[Draws], Draws
    size, made = 1, 0
    try:
        while control[block.DONE] < plan.sweeps and not (monitor is not None and monitor.stop.is_set()):
            if control[block.KEPT] == len(draws.n_clusters):
                pieces.append(draws)
                made = _make_room(plan, pieces, control)
                draws, control[block.KEPT] = _next_piece(plan, pieces, made), 0
            full = plan.warmup + (made + len(draws.n_clusters)) * int(control[block.THIN])
            target = min(int(control[block.DONE]) + size, full, plan.sweeps)
            clock = time.perf_counter()
            outcome = run(parts, data, state, rng, latent, draws, control, target)
            while outcome != block.FINISHED:
                if outcome == block.STATE_FULL:
                    state = plan.sampler.grow(state)
                else:
                    draws = widen(draws)
                outcome = run(parts, data, state, rng, latent, draws, control, target)
            size = _next_size(size, time.perf_counter() - clock)
            if monitor is not None:
                monitor.report(index, control, draws)
    except KeyboardInterrupt:  # in a worker process, which hears Ctrl-C itself
        pass
    pieces.append(Draws(*[array[: control[block.KEPT]] for array in draws]))
    return Chain(pieces, End(state, rng, time.perf_counter() - started), int(control[block.THIN]))


def _make_room(plan: Plan, pieces: list[Draws], control: np.ndarray) -> int:
    """Return how many draws the pieces hold; where they take too much memory, let every second one go first.

    From then on draws are twice as many sweeps apart, as those that are left are.
    """
    made = sum(len(piece.n_clusters) for piece in pieces)
    if sum(array.nbytes for piece in pieces for array in piece) <= plan.room:
        return made
    halves, first = [], 1
    for piece in pieces:
        halves.append(Draws(*[np.ascontiguousarray(array[first::2]) for array in piece]))
        first = (first + len(piece.n_clusters)) % 2
    pieces[:] = halves
    control[block.THIN] *= 2
    return made // 2


def _next_piece(plan: Plan, pieces: list[Draws], made: int) -> Draws:
    """Return room for as many draws as there are, but for no more than are missing and than `PIECE_BYTES` hold."""
    widest = pieces[-1].weight.shape[-1]
    most = max(FIRST_DRAWS, PIECE_BYTES // _bytes_of_one(plan, widest))
    return empty_draws(plan, max(1, min(made, most, plan.draws - made)), widest)


def _bytes_of_one(plan: Plan, components: int) -> int:
    return sum(array.nbytes for array in empty_draws(plan, 1, components))


def _begin(plan: Plan, start: Any) -> tuple[Any, np.random.Generator, Latent, np.ndarray]:
    control = np.zeros(6, np.int64)
    control[block.THIN] = plan.thin
    if isinstance(start, End):
        control[block.STARTED] = 1
        state = type(start.state)(*[array.copy() for array in start.state])
        rng = np.random.Generator(type(start.rng.bit_generator)())
        rng.bit_generator.state = start.rng.bit_generator.state
        return state, rng, initial_latent(plan.model, plan.z, clusters=1), control
    control[block.WARMUP] = plan.warmup
    rng = np.random.Generator(np.random.PCG64(start))
    clusters = 1 + int(rng.integers(min(plan.records, 10, plan.model.prior.most_clusters(plan.records))))
    state = plan.sampler.allocate(plan.model, plan.records)
    latent = initial_latent(plan.model, plan.z, clusters=clusters)
    set_first_steps(plan.model, plan.sampler, state, latent)
    return state, rng, latent, control


def initial_latent(model: PrivateMixture, z: np.ndarray, clusters: int) -> Latent:
    """Return a start with this many groups of equal size, in the order of the records' first coordinate.

    The records are what the mechanism thinks plausible, moved into the kernel's support. Chains that start with
    different numbers of groups make R-hat tell whether the start was forgotten.
    """
    kernel = model.kernel
    y = np.ascontiguousarray(model.mechanism.initial(z), dtype=np.float64)
    if not model.mechanism.reveals:
        y = kernel.move_inside(y)
    order = np.argsort(y if y.ndim == 1 else y[:, 0], kind="stable")
    labels = np.empty(len(y), np.int64)
    labels[order] = np.arange(len(y)) * clusters // len(y)
    return Latent(
        labels=labels,
        atoms=np.zeros((clusters, kernel.columns)),
        y=y,
        concentration=np.zeros(model.prior.law_size(model.mechanism.count_records(z))),  # y has some of very many
        hyper=np.zeros(len(kernel.hyperparameters)),
    )


def set_first_steps(model: PrivateMixture, sampler: Sampler, state: Any, latent: Latent) -> None:
    """Set the first step sizes of random walks to the spread of the records, for parameters on their scale.

    Parameters that move on the log scale need none. So data that are stretched give a chain that is stretched, and
    warm-up starts from steps of the right order.
    """
    steps = model.kernel.first_steps(latent.y)
    sampler.set_first_steps(state, steps)
    state.tune[1:] = model.kernel.first_tuning(steps)


def _next_size(size: int, seconds: float) -> int:
    wanted = int(size * BLOCK_SECONDS / max(seconds, 1e-6))
    return max(1, min(wanted, 4 * size))


def shorten(chains: list[Chain]) -> list[Chain]:
    """Return chains of one length after an interruption: the selection that keeps most draws."""
    ordered = sorted(chains, key=lambda chain: chain.length, reverse=True)
    best = max(range(len(ordered)), key=lambda k: (k + 1) * ordered[k].length)
    length = ordered[best].length
    return [chain.some(0, length, 1) for chain in chains if chain.length >= length]


def even(chains: list[Chain]) -> list[Chain]:
    """Return chains with as many sweeps between draws as the one that has most, and of one length where they were."""
    most = max(chain.thin for chain in chains)
    steps = [most // chain.thin for chain in chains]
    return [c if step == 1 else c.some(step - 1, c.length, step) for c, step in zip(chains, steps, strict=True)]


def rescue(plan: Plan, chains: list[Chain]) -> tuple[Plan, list[Chain]]:
    """Return what is kept of interrupted chains, and the plan whose draws these are.

    Of more than `MOST_BYTES_IN_HASTE` it is every second, third, … draw, so that Ctrl-C is answered as soon after a run
    of days as after one of minutes.
    """
    kept = shorten(even(chains))
    widest = max(int(piece.components.max()) for chain in kept for piece in chain.pieces)
    each = _bytes_of_one(plan, widest)
    length = kept[0].length
    step = min(-(-each * length * len(kept) // MOST_BYTES_IN_HASTE), length)
    return spaced(plan, [chain.some(step - 1, length, step) for chain in kept])


def spaced(plan: Plan, chains: list[Chain]) -> tuple[Plan, list[Chain]]:
    """Return the plan whose draws those of the chains are, and the chains."""
    thin = chains[0].thin
    return replace(plan, draws=max(1, plan.draws * plan.thin // thin), thin=thin), chains
