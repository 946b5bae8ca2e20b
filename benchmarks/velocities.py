"""Velocities with known errors: `privmix.fit` against astroML's extreme deconvolution (XDGMM), on the same data.

Run with `python -m benchmarks.velocities` where astroML is installed too (`pip install astroML`). Velocities of stars
in the plane of a disc are simulated: three groups, one of them narrow, each star with an error covariance of its own,
of 1 to 60 km/s and tilted, as errors of distance make it. Both know the error of each star. XDGMM is fitted with 1 to 5
components from two starts each, and BIC chooses. Told: the mean log density at 5,000 new true velocities, which says
how well the law before the errors is found, less that of the truth; the L1 error of that density; and CPU seconds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.stats import multivariate_normal

NAMES, BOX = ("U", "V"), {"U": (-200.0, 200.0), "V": (-200.0, 100.0)}
WEIGHTS = np.array([0.55, 0.3, 0.15])
MEANS = np.array([[0.0, -10.0], [-10.0, -45.0], [-35.0, -20.0]])
SPREADS = np.array(
    [[[900.0, 100.0], [100.0, 300.0]], [[3000.0, -300.0], [-300.0, 1500.0]], [[60.0, 20.0], [20.0, 30.0]]]
)
MOST_COMPONENTS, STARTS, TESTS = 5, 2, 5_000


def simulate(n: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return true velocities, error covariances and what is seen."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, n, p=WEIGHTS)
    roots = np.linalg.cholesky(SPREADS)
    y = MEANS[group] + np.einsum("nij,nj->ni", roots[group], rng.standard_normal((n, 2)))
    angle, sizes = rng.uniform(0.0, np.pi, n), np.exp(rng.uniform(0.0, np.log(60.0), n))
    turn = np.stack([np.stack([np.cos(angle), -np.sin(angle)], -1), np.stack([np.sin(angle), np.cos(angle)], -1)], -2)
    axes = np.stack([sizes, 0.3 * sizes], -1)
    errors = np.einsum("nij,nj,nkj->nik", turn, np.square(axes), turn)
    errors = 0.5 * (errors + np.swapaxes(errors, 1, 2))
    z = y + np.einsum("nij,nj->ni", turn, axes * rng.standard_normal((n, 2)))
    return y, errors, z


def truth(points: np.ndarray) -> np.ndarray:
    """Return the true density."""
    each = [w * multivariate_normal(m, s).pdf(points) for w, m, s in zip(WEIGHTS, MEANS, SPREADS, strict=True)]
    return np.sum(each, axis=0)


def by_xdgmm(z: np.ndarray, errors: np.ndarray, seed: int):
    """Return the density that extreme deconvolution finds, with as many components as BIC chooses, and what to tell."""
    from astroML.density_estimation import XDGMM

    best, least = None, np.inf
    for k in range(1, MOST_COMPONENTS + 1):
        for start in range(STARTS):
            model = XDGMM(k, max_iter=200, tol=1e-4, random_state=100 * seed + start).fit(z, errors)
            bic = -2.0 * model.logL(z, errors) + (6 * k - 1) * np.log(len(z))
            best, least = (model, bic) if bic < least else (best, least)

    def density(points: np.ndarray) -> np.ndarray:
        each = zip(best.alpha, best.mu, best.V, strict=True)
        return np.sum([a * multivariate_normal(m, v).pdf(points) for a, m, v in each], axis=0)

    return density, (best.n_components, "–")


def by_privmix(z: np.ndarray, errors: np.ndarray, seed: int):
    """Return the posterior mean density, and what to tell: clusters and the largest R-hat."""
    import privmix

    mechanism = privmix.mechanisms.VectorGaussian(BOX, scale=errors)
    posterior = privmix.fit(z, mechanism, draws=250, thin=40, seed=seed, allocations=False)
    told = f"{float(posterior.n_clusters.mean()):.1f}", f"{posterior.summary()['r_hat'].max():.3f}"
    return lambda points: posterior.density(points)["mean"].values, told


def grid() -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of a grid of velocities, and its points."""
    u, v = np.linspace(-200.0, 200.0, 121), np.linspace(-200.0, 130.0, 111)
    return np.array([u[1] - u[0], v[1] - v[0]]), np.stack(np.meshgrid(u, v, indexing="ij"), -1).reshape(-1, 2)


def picture(path: str, z: np.ndarray, found: dict) -> None:
    """Draw what was seen, the truth and what each found, as contours of the same heights."""
    from matplotlib import pyplot

    points = grid()[1]
    figure, axes = pyplot.subplots(1, 2 + len(found), figsize=(11, 3.2), sharex=True, sharey=True)
    axes[0].plot(*z.T, ".", ms=2, color="0.4")
    axes[0].set(title="seen, with errors", xlim=(-120, 100), ylim=(-120, 60), xlabel="U", ylabel="V")
    levels = truth(MEANS).max() * np.array([0.01, 0.03, 0.1, 0.3, 0.9])
    for ax, (name, density) in zip(axes[1:], {"truth": truth, **found}.items(), strict=True):
        ax.contour(
            *(points[:, j].reshape(121, 111) for j in range(2)), density(points).reshape(121, 111), levels=levels
        )
        ax.set(title=name, xlabel="U")
    figure.tight_layout()
    figure.savefig(path, dpi=90)


def figures(density, seed: int) -> tuple[float, float]:
    """Return the log score at new true velocities less that of the truth, and the L1 error."""
    fresh = simulate(TESTS, 1000 + seed)[0]
    score = np.mean(np.log(density(fresh)) - np.log(truth(fresh)))
    steps, points = grid()
    return float(score), float(np.abs(density(points) - truth(points)).sum() * steps.prod())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=500)
    parser.add_argument("--sets", type=int, nargs="+", default=[1, 2, 3, 4, 5], help="seeds of the data")
    parser.add_argument("--picture", help="where to draw the last set")
    options = parser.parse_args()
    print("| set | fit | log score less the truth's | L1 error | components | CPU s | R-hat |\n" + "|---" * 7 + "|")
    for seed in options.sets:
        _, errors, z = simulate(options.records, seed)
        found = {}
        for name, way in (("XDGMM, BIC", by_xdgmm), ("privmix.fit", by_privmix)):
            start = time.process_time()
            found[name], told = way(z, errors, seed)
            seconds = time.process_time() - start
            score, error = figures(found[name], seed)
            print(
                f"| {seed} | {name} | {score:.4f} | {error:.3f} | {told[0]} | {seconds:.1f} | {told[1]} |", flush=True
            )
    if options.picture:
        picture(options.picture, z, found)


if __name__ == "__main__":
    main()
