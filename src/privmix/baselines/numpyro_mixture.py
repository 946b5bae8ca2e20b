"""The same mixture in NumPyro: sticks cut off at a fixed number of components, drawn by NUTS.

What a user of a general probabilistic language would write. The confidential records are integrated out, so that
nothing discrete is left to draw. JAX and NumPyro are an extra and are imported where they are used.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from privmix.baselines.base import Baseline, Fitted, check_grid
from privmix.kernels import HierarchicalNormal, Normal
from privmix.kernels.hierarchical_normal import SHAPE
from privmix.kernels.learned_base import rate_of_rate
from privmix.mechanisms import Gaussian, Laplace, LocalMechanism
from privmix.parts.checks import check_count

ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
# Values (draw, component, point) held at a time: 64 MB.
CHUNK = 8_000_000


@dataclass(frozen=True)
class TruncatedFit(Fitted):
    """Draws of a mixture with a fixed number of components; their labels mean nothing.

    Parameters
    ----------
    weight, mean, variance
        Of every component, (chain, draw, component).
    diverging
        Number of transitions after warm-up in which NUTS diverged.
    """

    weight: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    diverging: int

    def density_draws(self, grid: Any) -> np.ndarray:
        """Return the density at each point of the grid in each draw, as an array (chain, draw, point)."""
        points = check_grid(grid)
        out = np.empty((*self.weight.shape[:2], len(points)))
        for part, values in self.chunks(points):
            out[..., part] = values
        return out

    def evaluate(self, points: np.ndarray) -> np.ndarray:
        """Return the posterior mean density."""
        return np.concatenate([values.mean(axis=(0, 1)) for _, values in self.chunks(points)])

    def chunks(self, points: np.ndarray) -> Any:
        """Yield slices of the points with the density there in each draw."""
        sd = np.sqrt(self.variance)
        height = self.weight / (sd * ROOT_TWO_PI)
        step = max(1, CHUNK // self.weight.size)
        for first in range(0, len(points), step):
            part = slice(first, first + step)
            d = (points[part, None, None, None] - self.mean) / sd
            yield part, np.moveaxis((height * np.exp(-0.5 * d * d)).sum(axis=-1), 0, -1)


@dataclass(frozen=True)
class NumPyroMixture(Baseline):
    """Fit the model of `privmix.fit`, its sticks cut off, with NumPyro's NUTS.

    Weights by stick breaking with ν ~ Beta(1, concentration), the last component taking what is left; means and
    variances from the kernel's base measure; z_i ~ Σ_h w_h g(z|μ_h, σ²_h), where g is the normal-Laplace density under
    Laplace noise and N(μ, σ² + η²) under Gaussian noise. All in double precision.

    Cutting the process off changes the law of n records by at most 4n·exp(−(components − 1)/concentration) in total
    variation (Ishwaran and James 2001, Theorem 2): 2·10⁻⁵ for 1,000 records and 20 components. The density is over
    the whole line: it is not cut to the bounds.

    Needs ``pip install 'privmix[numpyro]'``. Serves `mechanisms.Laplace` and `mechanisms.Gaussian`.

    Parameters
    ----------
    kernel
        The base measure: `kernels.Normal`, or `kernels.HierarchicalNormal` with its hyperparameters learned. By
        default the latter over the mechanism's bounds, as in `privmix.fit`.
    concentration
        Of the Dirichlet process.
    components
        Where the process is cut off.
    draws, warmup, chains
        Kept draws and warm-up of each chain; chains run one after the other.
    seed
        Seed of the chains.
    """

    kernel: Normal | HierarchicalNormal | None = None
    concentration: float = 1.0
    components: int = 20
    draws: int = 500
    warmup: int = 500
    chains: int = 2
    seed: Any = None
    is_random: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name, least in (("components", 2), ("draws", 1), ("warmup", 1), ("chains", 1)):
            check_count(name, getattr(self, name), least, "NumPyroMixture")
        if not (isinstance(self.concentration, int | float) and 0.0 < self.concentration < math.inf):
            raise ValueError(f"NumPyroMixture: concentration must be a positive number; got {self.concentration!r}.")
        if not (self.kernel is None or isinstance(self.kernel, Normal | HierarchicalNormal)):
            raise TypeError(
                f"NumPyroMixture: kernel must be kernels.Normal(…) or kernels.HierarchicalNormal(…); got "
                f"{self.kernel!r}."
            )
        if isinstance(self.kernel, Normal) and self.kernel.hyperparameters:
            raise ValueError(
                "NumPyroMixture: kernels.Normal(…) must have a fixed mean and rate here; got hyperpriors of its "
                f"{' and '.join(self.kernel.hyperparameters)}. Give numbers, or kernels.HierarchicalNormal(…)."
            )

    def refusal(self, mechanism: LocalMechanism) -> str:
        """Say that other mechanisms, and a base measure without a range, are not served."""
        if not isinstance(mechanism, Laplace | Gaussian):
            return "integrates Laplace or Gaussian noise out; use privmix.fit or EMS"
        if mechanism.bounds is None and self.kernel is None:
            return "derives its base measure from the mechanism's bounds: give bounds=(lower, upper) to it, or kernel="
        return ""

    def estimate(self, z: np.ndarray, mechanism: Any) -> TruncatedFit:
        """Draw from the posterior."""
        return self.run(self.compile(mechanism), z, mechanism)

    def compile(self, mechanism: Any) -> Callable:
        """Return a function of key, z and scale that runs a chain; a second chain on as many records compiles nothing.

        NumPyro's own MCMC class compiles anew for every chain, and its start operation by operation.
        """
        jax, numpyro = load()
        kernel = self.kernel or HierarchicalNormal(mechanism.bounds)
        model = functools.partial(truncated_mixture, self, kernel, noisy_density(type(mechanism)))

        @jax.jit
        def chain(key: Any, *data: Any) -> Any:
            nuts = numpyro.infer.NUTS(model)

            def step(state: Any, _: Any) -> Any:
                state = nuts.sample(state, data, {})
                return state, (state.z, state.diverging)

            start = nuts.init(key, self.warmup, None, data, {})
            _, (draws, diverging) = jax.lax.scan(step, start, length=self.warmup + self.draws)
            kept = {name: values[self.warmup :] for name, values in draws.items()}
            return jax.vmap(nuts.postprocess_fn(data, {}))(kept), diverging[self.warmup :].sum()

        return chain

    def run(self, chain: Callable, z: np.ndarray, mechanism: Any) -> TruncatedFit:
        """Run what `compile` made on a release, a chain at a time."""
        jax, _ = load()
        words = np.random.SeedSequence(self.seed).generate_state(self.chains)
        with jax.enable_x64(True):
            data = jax.numpy.asarray(z), jax.numpy.broadcast_to(jax.numpy.asarray(mechanism.scale), z.shape)
            done = [chain(jax.random.PRNGKey(int(word)), *data) for word in words]
            atoms = {name: np.array([draws[name] for draws, _ in done]) for name in ("weight", "mean", "variance")}
            return TruncatedFit(**atoms, diverging=sum(int(diverging) for _, diverging in done))


def load() -> tuple[Any, Any]:
    """Return the modules jax and numpyro, or say which extra brings them."""
    try:
        import jax
        import numpyro
        import numpyro.infer
    except ImportError as error:
        raise ImportError("NumPyroMixture needs NumPyro and JAX: pip install 'privmix[numpyro]'.") from error
    return jax, numpyro


def truncated_mixture(options: NumPyroMixture, kernel: Any, log_g: Callable, z: Any, scale: Any) -> None:
    """State the model to NumPyro."""
    jax, numpyro = load()
    jnp, law = jax.numpy, numpyro.distributions
    stick = numpyro.sample("stick", law.Beta(1.0, options.concentration).expand([options.components - 1]))
    log_rest = jnp.append(0.0, jnp.cumsum(jnp.log1p(-stick)))
    log_weight = log_rest + jnp.append(jnp.log(stick), 0.0)
    numpyro.deterministic("weight", jnp.exp(log_weight))
    draw_atoms = fixed_atoms if isinstance(kernel, Normal) else learned_atoms
    mean, variance = draw_atoms(kernel, options.components)
    each = log_weight + log_g(z[:, None], mean, jnp.sqrt(variance), scale[:, None])
    numpyro.factor("release", jax.nn.logsumexp(each, axis=1).sum())


def fixed_atoms(kernel: Normal, components: int) -> tuple[Any, Any]:
    """Draw means and variances from the base measure of `kernels.Normal`."""
    jax, numpyro = load()
    law = numpyro.distributions
    variance = numpyro.sample("variance", law.InverseGamma(kernel.shape, kernel.rate).expand([components]))
    return numpyro.sample("mean", law.Normal(kernel.mean, jax.numpy.sqrt(variance / kernel.precision_scale))), variance


def learned_atoms(kernel: HierarchicalNormal, components: int) -> tuple[Any, Any]:
    """Draw means and variances from the base measure of `kernels.HierarchicalNormal`, and its hyperparameters.

    They are drawn in units of the base measure, which doubles the effective draws; with `kernels.Normal` it loses a
    third.
    """
    jax, numpyro = load()
    law = numpyro.distributions
    lower, upper = kernel.bounds
    location = numpyro.sample("location", law.Normal(0.5 * (lower + upper), 0.25 * (upper - lower)))
    spread = numpyro.sample("spread", law.InverseGamma(2.0, (0.25 * (upper - lower)) ** 2))
    rate = numpyro.sample("rate", law.Gamma(2.0, rate_of_rate(upper - lower, SHAPE)))
    unit = numpyro.sample("unit", law.Normal().expand([components]))
    ratio = numpyro.sample("ratio", law.InverseGamma(SHAPE, 1.0).expand([components]))
    mean = numpyro.deterministic("mean", location + jax.numpy.sqrt(spread) * unit)
    return mean, numpyro.deterministic("variance", rate * ratio)


def noisy_density(mechanism: type) -> Callable:
    """Return log g(z | μ, σ, scale of the noise) of a mechanism, a function of JAX arrays."""
    return laplace_density() if issubclass(mechanism, Laplace) else gaussian_density()


def gaussian_density() -> Callable:
    """Return log N(z | μ, σ² + η²)."""
    jnp = load()[0].numpy

    def log_g(z: Any, mean: Any, sd: Any, scale: Any) -> Any:
        variance = sd * sd + scale * scale
        return -0.5 * ((z - mean) ** 2 / variance + jnp.log(2.0 * math.pi * variance))

    return log_g


def laplace_density() -> Callable:
    """Return log of the normal-Laplace density, with its derivatives in closed form.

    With d = (z − μ)/σ and r = σ/b: 2b·g = e^{L(d)} + e^{L(−d)}, e^{L(d)} = e^{−d²/2}·½ erfcx((r − d)/√2). Beyond
    |d| = r the larger term is e^{r²/2 − r|d|}·Φ(|d| − r), so that nothing overflows. ∂ log g/∂μ is the difference of
    the two over b times their sum, and ∂ log g/∂σ² = (1 − N(z; μ, σ²)/g)/2b². The closed forms take three quarters
    of the time of JAX's own derivatives.
    """
    jax, _ = load()
    jnp, erfcx = jax.numpy, jax.scipy.special.erfcx

    def value_and_slopes(z: Any, mean: Any, sd: Any, b: Any) -> tuple[Any, Any, Any]:
        d, r = (z - mean) / sd, sd / b
        far = jnp.abs(d)
        gap = far - r
        inside = gap <= 0.0
        bell = jnp.where(inside, 1.0, jnp.exp(-0.5 * gap * gap))
        tail = 0.5 * bell * erfcx(jnp.abs(gap) * math.sqrt(0.5))
        near = jnp.where(inside, tail, 1.0 - tail)
        away = 0.5 * bell * erfcx((far + r) * math.sqrt(0.5))
        total = near + away
        top = jnp.where(inside, -0.5 * d * d, r * (0.5 * r - far))
        by_mean = jnp.sign(d) * (near - away) / (total * b)
        by_sd = (1.0 - 2.0 * bell / (r * ROOT_TWO_PI * total)) * r / b
        return top + jnp.log(0.5 * total / b), by_mean, by_sd

    @jax.custom_jvp
    def log_g(z: Any, mean: Any, sd: Any, b: Any) -> Any:
        return value_and_slopes(z, mean, sd, b)[0]

    @log_g.defjvp
    def slopes(at: Any, step: Any) -> tuple[Any, Any]:  # z and b are given
        value, by_mean, by_sd = value_and_slopes(*at)
        return value, by_mean * step[1] + by_sd * step[2]

    return log_g
