"""What every mechanism that the room exports must do."""

import copy
import json
import pickle

import numpy as np
import pytest
from scipy import stats

from mechanisms.examples import ALL, CONCRETE, EXAMPLES, LAWS, PER_RECORD, RECORDS, SCALAR_NOISE, inputs, short
from numerics.quadrature import ALPHA, distribution_function, edges_around, panel_masses
from privmix import mechanisms
from privmix.parts import part_from_dict, part_to_dict
from privmix.privacy import ApproxDP, Guarantee, PureDP, audit


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_examples_are_of_the_mechanism_itself(kind):
    assert EXAMPLES[kind.__name__]
    assert {type(mechanism) for mechanism in EXAMPLES[kind.__name__]} == {kind}


@pytest.mark.parametrize("kind", CONCRETE, ids=lambda kind: kind.__name__)
def test_report_has_words_for_it(kind):
    for mechanism in EXAMPLES[kind.__name__]:
        assert len(mechanism.in_words) > 20
        assert mechanism.output_in_words
        assert all(hasattr(mechanism, name) for name in mechanism.details if name != "scale")


def test_mechanism_of_ones_own_is_named_in_a_report():
    class Mine(mechanisms.LocalMechanism):
        pass

    class Ours(mechanisms.GlobalMechanism):
        pass

    assert Mine().in_words == "each record was made by the mechanism Mine"
    assert Ours().in_words == "one release of all records was made by the mechanism Ours"


def same(one, other):
    """Return whether two releases are equal, withheld values included."""
    return np.array_equal(one, other, equal_nan=True)


def through_json(part):
    return part_from_dict(json.loads(json.dumps(part_to_dict(part))))


@pytest.mark.parametrize("mechanism", [*ALL, *PER_RECORD], ids=short)
@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), through_json])
def test_copies_are_equal(mechanism, again):
    other = again(mechanism)
    assert other == mechanism
    assert hash(other) == hash(mechanism)
    assert other.guarantee == mechanism.guarantee
    y = inputs(mechanism, RECORDS)
    assert same(other.privatize(y, seed=1), mechanism.privatize(y, seed=1))


def test_different_mechanisms_are_unequal():
    everything = [*ALL, *PER_RECORD]
    for i, one in enumerate(everything):
        assert [one == other for other in everything].index(True) == i
        assert sum(one == other for other in everything) == 1
        assert one != "text"


@pytest.mark.parametrize("mechanism", [*ALL, *PER_RECORD], ids=short)
def test_seed_reproduces(mechanism):
    y = inputs(mechanism, RECORDS)
    first = mechanism.privatize(y, seed=3)
    assert same(first, mechanism.privatize(y, seed=3))
    assert same(first, mechanism.privatize(y, seed=np.random.SeedSequence(3)))
    own = mechanism.privatize(y, seed=np.random.default_rng(3))
    assert same(own, mechanism.perturb(np.random.default_rng(3), mechanism.check_data(y)))
    if not mechanism.reveals:
        assert not same(first, own)  # the stream of a seed is that of noise alone
        assert not same(first, mechanism.privatize(y, seed=4))
        # Without a seed each is another; four records and two outputs may agree by chance, fifty times they do not.
        assert len({np.asarray(mechanism.privatize(y)).tobytes() for _ in range(50)}) > 1


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_release_has_the_promised_shape(mechanism):
    z = mechanism.privatize(inputs(mechanism, 7), seed=1)
    assert z.dtype == np.float64
    assert z.shape == ((7,) if mechanism.row_length is None else (7, mechanism.row_length))
    assert same(mechanism.check_release(z.tolist()), z)
    start = mechanism.initial(z)
    assert start.shape == (7,)
    assert not np.shares_memory(start, z)
    if mechanism.bounds is not None:
        lower, upper = mechanism.bounds
        assert ((start >= lower) & (start <= upper)).all()


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_privatize_leaves_the_data_alone(mechanism):
    y = inputs(mechanism, 5)
    before = y.copy()
    z = mechanism.privatize(y, seed=1)
    assert np.array_equal(y, before)
    assert not np.shares_memory(y, z)


@pytest.mark.parametrize("mechanism", [m for m in ALL if m.bounds is not None], ids=short)
def test_data_outside_the_bounds_are_clipped_and_counted(mechanism):
    lower, upper = mechanism.bounds
    y = np.array([lower - 1.0, lower, 0.5 * (lower + upper), upper, upper + 100.0])
    with pytest.warns(UserWarning, match=rf"^2 of 5 values lie outside the bounds \[{lower:g}, {upper:g}\]") as caught:
        z = mechanism.privatize(y, seed=1)
    assert caught[0].filename == __file__
    assert same(z, mechanism.privatize(np.clip(y, lower, upper), seed=1))


@pytest.mark.parametrize("mechanism", SCALAR_NOISE, ids=short)
def test_density_integrates_to_one(mechanism):
    for y in inputs(mechanism):
        edges = np.sort(np.append(edges_around(mechanism.privatize(np.full(1000, y), seed=1)), y))
        total = panel_masses(lambda z, y=y: mechanism.logpdf(z, y), edges).sum()
        assert total == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("mechanism", SCALAR_NOISE, ids=short)
def test_draws_follow_the_density(mechanism):
    for seed, y in enumerate(inputs(mechanism, 3)):
        # So many that a scale wrong by one in thirty is seen.
        z = mechanism.privatize(np.full(500_000, y), seed=seed)
        cdf = distribution_function(lambda z, y=y: mechanism.logpdf(z, y), edges_around(z, reach=3.0))
        assert stats.kstest(z, cdf).pvalue > ALPHA


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_logpdf_broadcasts(mechanism):
    y = inputs(mechanism, 4)
    z = mechanism.privatize(y, seed=1)
    each = mechanism.logpdf(z, y)
    assert each.shape == (4,)
    for i in range(4):
        single = mechanism.logpdf(z[i], y[i])
        assert single.shape == ()
        assert single == each[i]
        assert np.array_equal(mechanism.logpdf(z[i], y), [mechanism.logpdf(z[i], point) for point in y])
        assert np.array_equal(mechanism.logpdf(z, y[i]), [mechanism.logpdf(row, y[i]) for row in z])
    table = mechanism.logpdf(z[:, None], y[None, :])
    assert table.shape == (4, 4)
    assert np.array_equal(np.diag(table), each)


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_hook_in_python_equals_the_compiled_one(mechanism):
    y = inputs(mechanism, 6)
    z = mechanism.privatize(y, seed=1)
    encoded = mechanism.encode(z)
    plain = [mechanism.log_q(encoded[i], y[i]) for i in range(6)]
    assert plain == pytest.approx(mechanism.logpdf(z, y), rel=1e-14)


@pytest.mark.parametrize("mechanism", [m for m in ALL if m.guarantee is not None], ids=short)
def test_guarantee_holds_and_is_tight(mechanism):
    assert isinstance(mechanism.guarantee, Guarantee)
    assert mechanism.guarantee.neighbours == "replace"
    found = audit(mechanism, size=64)
    assert found.holds, str(found)
    assert found.tight, str(found)
    rel = 1e-9 if isinstance(mechanism.guarantee, PureDP) else 1e-4
    assert found.worst == pytest.approx(found.claimed, rel=rel)


@pytest.mark.parametrize("mechanism", ALL, ids=short)
def test_no_bounds_no_guarantee(mechanism):
    known = mechanism.bounds if mechanism.clipped_at is None else mechanism.clipped_at
    assert (mechanism.guarantee is None) == (known is None or mechanism.reveals)


@pytest.mark.parametrize("mechanism", [m for m in ALL if getattr(m, "epsilon", None) is not None], ids=short)
def test_wanted_epsilon_is_not_exceeded(mechanism):
    got = mechanism.guarantee.epsilon
    if getattr(mechanism, "calibration", "tight") == "tight":
        assert got == pytest.approx(mechanism.epsilon, rel=1e-12)
    else:
        assert got < 0.2 * mechanism.epsilon


@pytest.mark.parametrize("mechanism", PER_RECORD, ids=short)
def test_record_by_record_guarantee_is_that_of_the_least_noise(mechanism):
    if mechanism.bounds is None:
        assert mechanism.guarantee is None
        return
    kwargs = {name: getattr(mechanism, name) for name in ("epsilon", "delta", "rho") if hasattr(mechanism, name)}
    kwargs = {name: float(np.max(value)) for name, value in kwargs.items() if value is not None}
    alone = type(mechanism)(**kwargs, bounds=mechanism.bounds)
    assert alone.scale == pytest.approx(np.min(mechanism.scale), rel=1e-12)
    assert type(mechanism.guarantee) is type(alone.guarantee)
    mine, theirs = mechanism.guarantee.to_dict(), alone.guarantee.to_dict()
    assert {k: v for k, v in mine.items() if isinstance(v, float)} == pytest.approx(
        {k: v for k, v in theirs.items() if isinstance(v, float)}, rel=1e-9
    )
    assert isinstance(alone.guarantee, ApproxDP) == ("delta" in kwargs)


@pytest.mark.parametrize("mechanism", PER_RECORD, ids=short)
def test_every_record_has_its_own_scale(mechanism):
    law = LAWS[type(mechanism)]
    y, z = np.array([0.0, 1.0, -1.0, 2.0]), np.array([3.0, -2.0, 0.5, 9.0])
    exact = law.logpdf(z, loc=y, scale=mechanism.scale)
    assert mechanism.logpdf(z, y) == pytest.approx(exact, rel=1e-13)
    noise = np.array([mechanism.privatize(y, seed=seed) - y for seed in range(3000)])
    for i in range(RECORDS):
        assert stats.kstest(noise[:, i] / mechanism.scale[i], law.cdf).pvalue > ALPHA


@pytest.mark.parametrize("mechanism", PER_RECORD, ids=short)
@pytest.mark.parametrize("records", [1, RECORDS - 1, RECORDS + 1])
def test_wrong_number_of_records_is_refused(mechanism, records):
    message = f"{type(mechanism).__name__} has one scale for each of 4 records, but there are {records} records"
    values = np.zeros(records)
    for refuse in (mechanism.privatize, mechanism.check_release, lambda v: mechanism.logpdf(v, v)):
        with pytest.raises(ValueError, match=message):
            refuse(values)


@pytest.mark.parametrize("mechanism", PER_RECORD, ids=short)
def test_scales_cannot_be_changed(mechanism):
    with pytest.raises(ValueError, match="read-only"):
        mechanism.scale[0] = 100.0


@pytest.mark.parametrize("kind", [mechanisms.Laplace, mechanisms.Gaussian])
def test_given_array_is_copied(kind):
    """A guarantee must not follow later changes of the caller's array: the noise does not."""
    epsilon = np.array([1.0, 2.0])
    delta = {"delta": 0.01} if kind is mechanisms.Gaussian else {}
    mechanism = kind(epsilon=epsilon, bounds=(0.0, 1.0), **delta)
    promised = mechanism.guarantee
    epsilon[:] = 0.1
    assert mechanism.guarantee == promised
    assert mechanism == kind(epsilon=np.array([1.0, 2.0]), bounds=(0.0, 1.0), **delta)


@pytest.mark.parametrize("kind", [mechanisms.Laplace, mechanisms.HaarWavelet])
def test_equal_mechanisms_hash_alike(kind):
    pairs = [
        (kind(epsilon=1, bounds=(0, 1)), kind(epsilon=1.0, bounds=(0.0, 1.0))),
        (kind(scale=1.0, bounds=(-0.0, 1.0)), kind(scale=1.0, bounds=(0.0, 1.0))),
    ]
    for one, other in pairs:
        assert one == other
        assert hash(one) == hash(other)


def test_list_and_array_of_budgets_are_equal():
    one = mechanisms.Laplace(epsilon=[1, 2], bounds=(0, 1))
    other = mechanisms.Laplace(epsilon=np.array([1.0, 2.0]), bounds=(0, 1))
    assert one == other
    assert hash(one) == hash(other)
