"""The paper's Table 1: what a sampler needs of a pair, refused before sampling where it is missing."""

import numpy as np
import pytest

from privmix import PrivateMixture, kernels, mechanisms, samplers

BOUNDS = (-10.0, 10.0)
LAPLACE = mechanisms.Laplace(epsilon=5.0, bounds=BOUNDS)
GAUSSIAN = mechanisms.Gaussian(scale=2.0, bounds=BOUNDS)
WITHOUT = PrivateMixture(mechanisms.Gaussian(scale=0.2, bounds=(0.0, 1.0)), kernels.Beta())


def refusal(model, sampler):
    with pytest.raises(ValueError) as caught:
        model.sample([0.5, 0.6], sampler, draws=1, warmup=0, thin=1, chains=1)
    return str(caught.value)


@pytest.mark.parametrize(
    ("sampler", "what"),
    [(samplers.Neal2(), "the parameters of a new cluster"), (samplers.Neal3(), "the cluster parameters")],
)
def test_conjugate_samplers_refuse_laplace_noise(sampler, what):
    assert refusal(PrivateMixture(LAPLACE), sampler) == (
        f"{type(sampler).__name__} integrates {what} out, which needs a conjugate marginal; Laplace noise on a Normal "
        "kernel has none. Use Neal5, Slice or Neal8, or the Gaussian mechanism with kernels.NoisyNormal (Identity with "
        "kernels.Normal)."
    )


@pytest.mark.parametrize(
    "sampler",
    [
        samplers.Neal8(),
        samplers.Neal5(exact=True),
        samplers.Slice(records="exact"),
        samplers.Slice(records="integrated"),
        samplers.SplitMerge(),
    ],
    ids=repr,
)
def test_exact_samplers_refuse_a_pair_without_g(sampler):
    assert WITHOUT.convolution is None
    message = refusal(WITHOUT, sampler)
    assert "needs g(z|θ) = ∫ q(z|y) f(y|θ) dy in closed form; Gaussian noise on a Beta kernel has none" in message
    assert "Use Neal5() or Slice(), or register a convolution for the pair." in message


def test_noise_of_the_kernel_must_be_that_of_the_mechanism():
    message = refusal(PrivateMixture(GAUSSIAN, kernels.NoisyNormal(noise=3.0)), samplers.Neal3())
    assert "built for noise of standard deviation 3, the mechanism has 2" in message


def test_records_with_noise_of_their_own_are_not_conjugate():
    varied = mechanisms.Gaussian(scale=np.array([1.0, 2.0]), bounds=BOUNDS)
    assert "records with noise of their own" in refusal(
        PrivateMixture(varied, kernels.NoisyNormal(noise=2.0)), samplers.Neal3()
    )


@pytest.mark.parametrize("inner", [samplers.Neal5(), samplers.Slice(), samplers.Slice(records="integrated")], ids=repr)
def test_split_merge_refuses_states_that_are_no_partition(inner):
    assert "a partition without records" in refusal(PrivateMixture(LAPLACE), samplers.SplitMerge(inner))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: samplers.Neal8(auxiliaries=0), "auxiliaries must be a whole number of at least 1; got 0"),
        (lambda: samplers.Neal5(auxiliaries=True), "auxiliaries must be a whole number"),
        (lambda: samplers.Neal8(update="hop"), "update must be 'impute' or 'walk'; got 'hop'"),
        (lambda: samplers.Slice(records="none"), "records must be one of 'metropolis', 'augmented', 'exact'"),
        (lambda: samplers.Slice(update="walk"), "needs records='integrated'"),
        (lambda: samplers.SplitMerge(proposals=0), "proposals must be a whole number of at least 1; got 0"),
        (lambda: samplers.SplitMerge(allocation="random"), "allocation must be 'sequential' or 'restricted'"),
    ],
)
def test_wrong_settings_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_split_merge_wraps_a_sampler():
    with pytest.raises(TypeError, match="wraps a sampler"):
        samplers.SplitMerge(inner="Neal8")


@pytest.mark.parametrize("sampler", [samplers.Neal8(), samplers.SplitMerge()], ids=repr)
def test_one_record_is_enough(sampler):
    posterior = PrivateMixture(LAPLACE).sample([1.0], sampler, draws=20, warmup=5, thin=1, chains=1, seed=1)
    assert (posterior.n_clusters == 1).all()
