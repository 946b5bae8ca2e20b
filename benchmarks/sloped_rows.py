"""Correlated components without privacy against scikit-learn and NumPyro: `python -m benchmarks.sloped_rows`.

Records are published as they are (`Identity`), so that all three see the same data. Simulated: two clusters like those
of Old Faithful (272 eruptions, d = 2), and three clusters of 300 records, d = 2 and 5. Told: the mean log density of
new records less that of the truth, R-hat, and the least bulk effective sample size of the density at ten of them for a
CPU second, warm-up included and compilation left out (a second fit in the process). NumPyro has the same model, its
sticks cut off at 10 components, drawn by NUTS: `pip install 'privmix[numpyro]'`. scikit-learn's BayesianGaussianMixture
has 10 components, a Dirichlet process prior and otherwise its defaults; it makes no draws.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

from privmix import PrivateMixture, kernels, mechanisms, priors

COMPONENTS, TESTS, SETS = 10, 5_000, ("faithful", "three, d = 2", "three, d = 5")


class Truth:
    """A mixture of normals: its draws and its density."""

    def __init__(self, weights: Any, means: Any, covariances: Any) -> None:
        self.weights, self.laws = weights, [multivariate_normal(m, s) for m, s in zip(means, covariances, strict=True)]

    def draw(self, n: int, rng: np.random.Generator) -> np.ndarray:
        counts = rng.multinomial(n, self.weights)
        return np.concatenate(
            [law.rvs(c, random_state=rng).reshape(c, -1) for law, c in zip(self.laws, counts, strict=True)]
        )

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        each = [np.log(w) + law.logpdf(y) for w, law in zip(self.weights, self.laws, strict=True)]
        return np.logaddexp.reduce(each, axis=0)


def truth_of(name: str) -> tuple[Truth, int]:
    """Return the law of a data set, and its records."""
    if name == "faithful":
        means = [[2.04, 54.5], [4.29, 80.0]]
        return Truth([0.36, 0.64], means, [[[0.07, 0.44], [0.44, 33.7]], [[0.17, 0.94], [0.94, 36.0]]]), 272
    d, rng = int(name[-1]), np.random.default_rng(7)
    roots = rng.standard_normal((3, d, d)) * 0.6 + np.eye(d)
    means = 4.0 * rng.standard_normal((3, d))
    return Truth([0.5, 0.3, 0.2], means, roots @ np.swapaxes(roots, 1, 2)), 300


def model_of(y: np.ndarray) -> PrivateMixture:
    """Return the model: bounds a tenth of its width beyond the data, base measure as privmix.fit has it."""
    low, high = y.min(axis=0), y.max(axis=0)
    margin = 0.1 * (high - low)
    bounds = zip(low - margin, high + margin, strict=True)
    each = mechanisms.Each([(f"y{j}", mechanisms.Identity(pair)) for j, pair in enumerate(bounds)])
    return PrivateMixture(each, kernels.MultivariateNormal.for_mechanism(each), priors.DirichletProcess((2.0, 1.0)))


def by_privmix(model: PrivateMixture, y: np.ndarray, seed: int) -> Any:
    """Return a function of points: the density there in each draw, (chain, draw, point)."""
    posterior = model.sample(y, draws=1000, warmup=1000, thin=5, chains=2, seed=seed, allocations=False)
    return lambda points: posterior.density_draws(points).values


def numpyro_chain(model: PrivateMixture, y: np.ndarray, warmup: int, draws: int) -> Any:
    """Return a compiled function of a key that runs NUTS on the same model, its sticks cut off."""
    import jax
    import numpyro
    import numpyro.distributions as law
    from jax import numpy as jnp

    kernel: Any = model.kernel
    d = kernel.dimension

    def mixture(records: Any) -> None:
        concentration = numpyro.sample("concentration", law.Gamma(2.0, 1.0))
        stick = numpyro.sample("stick", law.Beta(1.0, concentration).expand([COMPONENTS - 1]))
        log_rest = jnp.append(0.0, jnp.cumsum(jnp.log1p(-stick)))
        log_weight = numpyro.deterministic("log_weight", log_rest + jnp.append(jnp.log(stick), 0.0))
        scale = numpyro.sample("scale", law.Gamma(2.0, 2.0 / jnp.diag(kernel.scale)))
        wishart = law.WishartCholesky(kernel.degrees, rate_matrix=jnp.diag(scale)).expand([COMPONENTS])
        root = numpyro.sample("root", wishart)  # of the precision
        unit = numpyro.sample("unit", law.Normal().expand([COMPONENTS, d]).to_event(1))
        away = jax.scipy.linalg.solve_triangular(root, unit[..., None], trans=1, lower=True)[..., 0]
        mean = numpyro.deterministic("mean", kernel.mean + away / jnp.sqrt(kernel.precision_scale))
        numpyro.factor("records", jax.nn.logsumexp(log_weight + log_normal(records, mean, root), axis=1).sum())

    def log_normal(records: Any, mean: Any, root: Any) -> Any:
        white = jnp.einsum("nki,kij->nkj", records[:, None] - mean, root)
        height = jnp.log(jnp.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1) - 0.5 * d * jnp.log(2.0 * jnp.pi)
        return height - 0.5 * jnp.square(white).sum(axis=-1)

    @jax.jit
    def chain(key: Any, records: Any) -> Any:
        nuts = numpyro.infer.NUTS(mixture)
        start = nuts.init(key, warmup, None, (records,), {})

        def step(state: Any, _: Any) -> Any:
            state = nuts.sample(state, (records,), {})
            return state, state.z

        kept = jax.tree.map(lambda values: values[warmup:], jax.lax.scan(step, start, length=warmup + draws)[1])
        return jax.vmap(nuts.postprocess_fn((records,), {}))(kept)

    def evaluate(found: list[Any], points: np.ndarray) -> np.ndarray:
        one = jax.jit(
            lambda at: jnp.exp(jax.nn.logsumexp(at["log_weight"] + log_normal(points, at["mean"], at["root"]), 1))
        )
        return np.array(
            [[one({k: each[k][t] for k in ("log_weight", "mean", "root")}) for t in range(draws)] for each in found]
        )

    def run(seed: int) -> Any:
        found = [chain(jax.random.PRNGKey(10 * seed + c), jnp.asarray(y)) for c in range(2)]
        found = [{k: np.array(v) for k, v in each.items()} for each in found]
        return lambda points: evaluate(found, points)

    return run


def by_sklearn(y: np.ndarray, seed: int) -> Any:
    """Return a function of points: the density by variational inference."""
    from sklearn.mixture import BayesianGaussianMixture

    prior = "dirichlet_process"
    model = BayesianGaussianMixture(
        n_components=COMPONENTS, weight_concentration_prior_type=prior, max_iter=2000, n_init=3, random_state=seed
    )
    fitted = model.fit(y)
    return lambda points: np.exp(fitted.score_samples(points))[None, None]


def tell(name: str, way: str, density: Any, seconds: float, fresh: np.ndarray, truth: Truth) -> None:
    """Print a row of the table."""
    from benchmarks.shared import summarise_density

    values = density(fresh)
    score = np.mean(np.log(values.mean(axis=(0, 1))) - truth.logpdf(fresh))
    rest = "– | –"
    if values.shape[1] > 1:
        table = summarise_density(values[..., :10], np.arange(10))
        rest = f"{table['ess_bulk'].min() / seconds:.3g} | {table['r_hat'].max():.3f}"
    print(f"| {name} | {way} | {score:.4f} | {seconds:.1f} | {rest} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(SETS))
    parser.add_argument(
        "--nuts", type=int, nargs=2, default=[300, 300], help="warm-up and draws of a chain; 0 for none"
    )
    parser.add_argument("--tests", type=int, default=1000)
    options = parser.parse_args()
    print("| data | fit | log score less the truth's | CPU s | ESS per CPU s | R-hat |\n|---|---|---|---|---|---|")
    for name in options.data:
        truth, n = truth_of(name)
        y, fresh = truth.draw(n, np.random.default_rng(1)), truth.draw(options.tests, np.random.default_rng(2))
        fresh = np.random.default_rng(3).permutation(fresh)
        model = model_of(y)
        ways = {"privmix": partial(by_privmix, model, y), "scikit-learn": partial(by_sklearn, y)}
        if options.nuts[1]:
            import jax

            jax.config.update("jax_enable_x64", True)
            ways["NumPyro"] = numpyro_chain(model, y, *options.nuts)
        for way, fit in ways.items():
            fit(1)  # compiles
            start = time.process_time()
            density = fit(2)
            tell(name, way, density, time.process_time() - start, fresh, truth)


if __name__ == "__main__":
    main()
