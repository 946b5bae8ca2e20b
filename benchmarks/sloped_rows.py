"""Correlated components without privacy against scikit-learn and NumPyro: `python -m benchmarks.sloped_rows FOLDER`.

Records are published as they are (`Identity`), so that all three see the same data. Simulated: two clusters like those
of Old Faithful (272 records; d = 2, and d = 5, durations and waits in turn, every two columns correlated as those are),
and three clusters of 300 records, d = 2 and 5; `--sets` of each, the first of which compiles and is not told. Told: the
mean log density of new records less that of the truth, ours less that of the others on the same records with standard
errors over data sets, R-hat, and the least bulk effective sample size of the density at ten new records for a CPU
second, warm-up included. NumPyro has the same model, its sticks cut off at 10 components, drawn by NUTS: `pip install
'privmix[numpyro]'`. scikit-learn's BayesianGaussianMixture has 10 components, a Dirichlet process prior and otherwise
its defaults; it makes no draws. What is in the folder is not made again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

from privmix import PrivateMixture, kernels, mechanisms, priors

COMPONENTS, DATA = 10, ("faithful, d = 2", "faithful, d = 5", "three, d = 2", "three, d = 5")
WAYS = ("privmix", "scikit-learn", "NumPyro")
# Old Faithful: weights of short and long eruptions; duration and wait: mean, standard deviation; their correlation.
SHARES, CENTRES = (0.36, 0.64), np.array([[2.04, 54.5], [4.29, 80.0]])
SPREADS, TIES = np.array([[0.265, 5.81], [0.412, 6.0]]), (0.286, 0.38)


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
    d, rng = int(name[-1]), np.random.default_rng(7)
    if name.startswith("faithful"):
        columns = np.arange(d) % 2
        ties = [np.where(np.eye(d), 1.0, tie) for tie in TIES]
        spreads = [tie * np.outer(sd, sd) for tie, sd in zip(ties, SPREADS[:, columns], strict=True)]
        return Truth(SHARES, CENTRES[:, columns], spreads), 272
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


def numpyro_chain(warmup: int, draws: int) -> Callable[[PrivateMixture, np.ndarray, int], Any]:
    """Return a function that runs NUTS on the same model, its sticks cut off; compiled once for each shape of data."""
    import jax
    import numpyro
    import numpyro.distributions as law
    from jax import numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def mixture(records: Any, centre: Any, typical: Any, degrees: Any, precision: Any) -> None:
        d = records.shape[1]
        concentration = numpyro.sample("concentration", law.Gamma(2.0, 1.0))
        stick = numpyro.sample("stick", law.Beta(1.0, concentration).expand([COMPONENTS - 1]))
        log_rest = jnp.append(0.0, jnp.cumsum(jnp.log1p(-stick)))
        log_weight = numpyro.deterministic("log_weight", log_rest + jnp.append(jnp.log(stick), 0.0))
        scale = numpyro.sample("scale", law.Gamma(2.0, 2.0 / typical))
        wishart = law.WishartCholesky(degrees, rate_matrix=jnp.diag(scale)).expand([COMPONENTS])
        root = numpyro.sample("root", wishart)  # of the precision
        unit = numpyro.sample("unit", law.Normal().expand([COMPONENTS, d]).to_event(1))
        away = jax.scipy.linalg.solve_triangular(root, unit[..., None], trans=1, lower=True)[..., 0]
        mean = numpyro.deterministic("mean", centre + away / jnp.sqrt(precision))
        numpyro.factor("records", jax.nn.logsumexp(log_weight + log_normal(records, mean, root), axis=1).sum())

    def log_normal(records: Any, mean: Any, root: Any) -> Any:
        white = jnp.einsum("nki,kij->nkj", records[:, None] - mean, root)
        height = jnp.log(jnp.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
        return height - 0.5 * records.shape[1] * jnp.log(2.0 * jnp.pi) - 0.5 * jnp.square(white).sum(axis=-1)

    @jax.jit
    def chain(key: Any, about: Any) -> Any:
        nuts = numpyro.infer.NUTS(mixture)
        start = nuts.init(key, warmup, None, about, {})

        def step(state: Any, _: Any) -> Any:
            state = nuts.sample(state, about, {})
            return state, state.z

        kept = jax.tree.map(lambda values: values[warmup:], jax.lax.scan(step, start, length=warmup + draws)[1])
        return jax.vmap(nuts.postprocess_fn(about, {}))(kept)

    @jax.jit
    def density(log_weight: Any, mean: Any, root: Any, points: Any) -> Any:
        return jnp.exp(jax.nn.logsumexp(log_weight + log_normal(points, mean, root), axis=1))

    def run(model: PrivateMixture, y: np.ndarray, seed: int) -> Any:
        kernel: Any = model.kernel
        prior = kernel.mean, np.diag(kernel.scale), float(kernel.degrees), float(kernel.precision_scale)
        found = [chain(jax.random.PRNGKey(10 * seed + c), (y, *prior)) for c in range(2)]
        found = [[np.array(each[name]) for name in ("log_weight", "mean", "root")] for each in found]
        return lambda points: np.array(
            [[density(*(part[t] for part in each), points) for t in range(draws)] for each in found]
        )

    return run


def by_sklearn(model: PrivateMixture, y: np.ndarray, seed: int) -> Any:
    """Return a function of points: the density by variational inference."""
    from sklearn.mixture import BayesianGaussianMixture

    prior = "dirichlet_process"
    fitted = BayesianGaussianMixture(
        n_components=COMPONENTS, weight_concentration_prior_type=prior, max_iter=2000, n_init=3, random_state=seed
    ).fit(y)
    return lambda points: np.exp(fitted.score_samples(points))[None, None]


def figures(density: Any, seconds: float, fresh: np.ndarray, truth: Truth) -> dict[str, float]:
    """Return score, seconds, effective draws for a second and the largest R-hat of a fit."""
    from benchmarks.shared import summarise_density

    values = density(fresh)
    told = {"score": float(np.mean(np.log(values.mean(axis=(0, 1))) - truth.logpdf(fresh))), "seconds": seconds}
    if values.shape[1] > 1:
        table = summarise_density(values[..., :10], np.arange(10))
        told |= {"rate": float(table["ess_bulk"].min() / seconds), "r_hat": float(table["r_hat"].max())}
    return told


def fit_set(folder: Path, name: str, number: int, ways: dict[str, Callable], tests: int) -> None:
    """Fit one data set by every way, unless the folder has it. Number 0 compiles, and is not kept."""
    truth, n = truth_of(name)
    y, fresh = (truth.draw(k, np.random.default_rng([number, j])) for k, j in ((n, 1), (tests, 2)))
    fresh = np.random.default_rng(3).permutation(fresh)
    model = model_of(y)
    for way, fit in ways.items():
        path = folder / f"{name}, {way}, {number:03d}.json"
        if path.exists():
            continue
        start = time.process_time()
        density = fit(model, y, number)
        seconds = time.process_time() - start
        if number:
            path.write_text(json.dumps(figures(density, seconds, fresh, truth)))


def table(folder: Path) -> None:
    """Print means over data sets, and ours less the others' with its standard error."""
    print("| data | fit | sets | score less the truth's | ours less its | CPU s | ESS per CPU s | R-hat, worst |")
    print("|---|---|---|---|---|---|---|---|")
    for name in DATA:
        kept = {
            way: {
                path.stem[-3:]: json.loads(path.read_text()) for path in sorted(folder.glob(f"{name}, {way}, *.json"))
            }
            for way in WAYS
        }
        for way, sets in kept.items():
            if sets:
                print(f"| {name} | {way} | {' | '.join(_cells(sets, kept['privmix']))} |")


def _cells(sets: dict[str, dict[str, float]], ours: dict[str, dict[str, float]]) -> list[str]:
    told = list(sets.values())
    apart = np.array([ours[key]["score"] - one["score"] for key, one in sets.items() if key in ours])
    error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else np.nan
    cells = [str(len(told)), f"{np.mean([one['score'] for one in told]):.4f}"]
    cells += ["–" if sets is ours or not len(apart) else f"{apart.mean():+.4f} ({error:.4f})"]
    cells += [f"{np.mean([one['seconds'] for one in told]):.1f}"]
    if "rate" not in told[0]:
        return [*cells, "–", "–"]
    return [*cells, f"{np.median([one['rate'] for one in told]):.3g}", f"{max(one['r_hat'] for one in told):.3f}"]


def main() -> None:
    """Fit what is not there yet, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=DATA)
    parser.add_argument("--sets", type=int, default=8)
    parser.add_argument(
        "--nuts", type=int, nargs=2, default=[300, 300], help="warm-up and draws of a chain; 0 for none"
    )
    parser.add_argument("--tests", type=int, default=2000)
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    ways: dict[str, Callable] = {"privmix": by_privmix, "scikit-learn": by_sklearn}
    if asked.nuts[1] and not asked.table:
        ways["NumPyro"] = numpyro_chain(*asked.nuts)
    for name in () if asked.table else asked.data:
        for number in range(asked.sets + 1):
            fit_set(asked.folder, name, number, ways, asked.tests)
    table(asked.folder)


if __name__ == "__main__":
    main()
