"""The toy of max retrieval: closed forms against samples and against known cases."""

import numpy as np
import pytest
from scipy import stats

from sharp_attention.theory import class_vote

SLOPE, SAMPLES = 128.0, 4000


def simulate(num_items: int) -> dict[str, np.ndarray]:
    """Draw rows of logits slope * priority, and let the classes vote."""
    rng = np.random.default_rng(num_items)
    # Two hundred nats below the top there is nothing to be seen.
    logits = np.sort(SLOPE * rng.random((SAMPLES, num_items)))[:, ::-1]
    weights = np.exp(logits - logits[:, :1])
    weights /= weights.sum(axis=-1, keepdims=True)
    item_class = rng.integers(10, size=weights.shape)
    votes = [(weights * (item_class == k)).sum(axis=-1) for k in range(10)]
    positive = np.where(weights > 0, weights, 1.0)
    return {
        "top_weight": weights[:, 0],
        "mean_entropy": -(weights * np.log(positive)).sum(axis=-1),
        "vote_accuracy": np.argmax(votes, axis=0) == item_class[:, 0],
    }


@pytest.fixture(scope="module", params=[64, 512])
def simulated(request) -> tuple[int, dict[str, np.ndarray]]:
    return request.param, simulate(request.param)


@pytest.mark.parametrize("quantity", ["top_weight", "mean_entropy", "vote_accuracy"])
def test_closed_forms_are_the_means_of_samples(simulated, quantity) -> None:
    num_items, samples = simulated
    expected = getattr(class_vote, quantity)(num_items, SLOPE)
    error = stats.sem(samples[quantity])
    # Beside the samples' error, the Poisson limit's: of order 1/n.
    assert abs(samples[quantity].mean() - expected) < 5 * error + 0.1 / num_items


@pytest.mark.parametrize(
    ("crowding", "weight"), [(0.1, 0.934), (0.5, 0.729), (1.0, 0.561), (2.0, 0.374)]
)
def test_top_weights_that_are_known(crowding, weight) -> None:
    found = class_vote.top_weight(1000, 1000 / crowding)
    assert found == pytest.approx(weight, abs=5e-4)


def test_entropy_of_many_items_is_one_plus_the_log_of_the_crowding() -> None:
    for crowding in (100, 1000):
        found = class_vote.mean_entropy(10**6, 10**6 / crowding)
        assert found == pytest.approx(1 + np.log(crowding), abs=0.1 / np.sqrt(crowding))


def test_large_crowding_leaves_the_top_its_share() -> None:
    """The weight is exponential in the distance, which is that of one in lam."""
    assert class_vote.top_weight(10**6, 1000.0) == pytest.approx(1e-3, rel=1e-2)


def test_vote_of_few_and_of_many_items() -> None:
    assert class_vote.vote_accuracy(1, 1e6) == pytest.approx(1, abs=1e-5)
    chance = class_vote.vote_accuracy(10**6, 1000.0)
    assert 0.1 < chance < 0.15
    assert 0.5 < class_vote.vote_accuracy(10**6, 1000.0, 2) < 0.55


def test_vote_depends_on_the_crowding_alone_and_falls_with_it() -> None:
    values = [class_vote.vote_accuracy(n, SLOPE) for n in (16, 64, 256, 1024, 4096)]
    assert (np.diff(values) < 0).all()
    assert class_vote.vote_accuracy(512, 64.0) == class_vote.vote_accuracy(1024, 128.0)


def test_more_classes_split_the_others_votes() -> None:
    two, ten = (class_vote.vote_accuracy(512, SLOPE, c) for c in (2, 10))
    assert two > 0.5
    assert ten > 0.1
    assert two > ten


def test_a_finer_grid_changes_the_vote_by_less_than_promised(monkeypatch) -> None:
    sizes = (16, 512, 8192)
    coarse = [class_vote.vote_accuracy(n, SLOPE) for n in sizes]
    monkeypatch.setattr(class_vote, "_STEPS", 4096)
    fine = [class_vote.vote_accuracy(n, SLOPE) for n in sizes]
    np.testing.assert_allclose(coarse, fine, atol=1e-3)


def test_distribution_of_shape_one_is_dickmans() -> None:
    """F(1) = exp(-gamma) and F(2) = exp(-gamma) (3 - 2 log 2), from the equation."""
    distribution = class_vote._dickman(1.0)
    scale = np.exp(-np.euler_gamma)
    assert distribution[512] == pytest.approx(scale, abs=1e-5)
    assert distribution[1024] == pytest.approx(scale * (3 - 2 * np.log(2)), abs=1e-5)


@pytest.mark.parametrize("slope", [20.0, 700.0])
def test_implied_slope_is_the_inverse_of_the_top_weight(slope) -> None:
    weight = class_vote.top_weight(300, slope)
    assert class_vote.implied_slope(300, weight) == pytest.approx(slope, rel=1e-8)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: class_vote.top_weight(0, 1.0), "num_items must be >= 1"),
        (lambda: class_vote.top_weight(3, 0.0), "slope must be > 0"),
        (lambda: class_vote.mean_entropy(3, np.nan), "slope must be a number"),
        (
            lambda: class_vote.top_weight(10**6, 1.0),
            "num_items / slope must be <= 1000",
        ),
        (lambda: class_vote.vote_accuracy(3, 1.0, 1), "num_classes must be >= 2"),
        (lambda: class_vote.implied_slope(3, 1.0), "weight must be between"),
    ],
)
def test_bad_input(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()
