"""Smallest risks against right values, and whether a head attains them."""

import math

import numpy as np
import pytest

from population_reference import CELLS, Cell
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import (
    elementwise_optimum,
    optimum,
    population,
)

# The searches of one cell take seconds: the default run does two of them.
# The file has the limit at m_k = infinity here; a key of finite length is better.
BEATEN = "MaxSLR-inf-10"
QUICK = {
    ("SpikedSLR-2-3", "erf"),
    ("SpikedSLR-10-100", "erf"),
    ("SpikedSLR-10-100", "softplus"),
}
CLOSED, SEARCHED = ("softmax", "linear"), ("erf", "softplus")


def check(cell: Cell, activation: str) -> None:
    found = optimum.minimise(cell.task, activation)
    overlaps, _, right = cell.head(activation)
    assert abs(found.risk - right) <= 1e-7 * max(right, 1e-12)
    assert found.attained == cell.is_attained(activation)
    assert math.isinf(found.overlaps.m_k) == (not found.attained)
    assert 0 <= found.error < 1e-11
    if math.isfinite(overlaps.m_k):
        assert found.overlaps.m_v == pytest.approx(overlaps.m_v, rel=1e-4)


@pytest.mark.parametrize("activation", CLOSED)
@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_closed_minima(cell, activation):
    check(cell, activation)


@pytest.mark.parametrize(
    ("cell", "activation"),
    [
        pytest.param(
            cell,
            name,
            id=f"{cell}-{name}",
            marks=[] if (str(cell), name) in QUICK else pytest.mark.slow,
        )
        for cell in CELLS
        for name in SEARCHED
        # That one has a test of its own.
        if (str(cell), name) != (BEATEN, "softplus")
    ],
)
def test_searched_minima(cell, activation):
    check(cell, activation)


@pytest.mark.slow
def test_a_long_softplus_key_may_be_better_than_an_infinite_one():
    """By exact risks, and by sampled scores that both keys share."""
    cell = next(cell for cell in CELLS if str(cell) == BEATEN)
    found = optimum.minimise(cell.task, "softplus")
    m_k = float(found.overlaps.m_k)
    assert found.attained
    assert 30 < m_k < 60
    gain = cell.values["softplus"]["risk"] - found.risk
    assert 4e-5 < gain < 5e-5

    rng = np.random.default_rng(0)
    gains = [sampled_gain(rng.normal(size=(100_000, 10)), m_k) for _ in range(20)]
    error = np.std(gains) / math.sqrt(len(gains))
    assert error < gain / 5
    assert abs(np.mean(gains) - gain) < 5 * error


def sampled_gain(scores, m_k):
    """Risk of ReLU weights less that of softplus weights, each at its best v."""
    rows, top = np.arange(len(scores)), scores.argmax(axis=1)
    relu = np.maximum(scores, 0)
    relu[rows, top] = np.where(scores.max(axis=1) > 0, relu[rows, top], 1)
    risks = []
    for weights in (relu, np.logaddexp(0, m_k * scores)):
        alpha = weights / weights.sum(axis=1, keepdims=True)
        kept, squares = alpha[rows, top].mean(), (alpha**2).sum(axis=1).mean()
        risks.append(1 - kept**2 / squares)
    return risks[0] - risks[1]


@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(
            cell,
            id=str(cell),
            marks=[] if isinstance(cell.task, SpikedSLR) else pytest.mark.slow,
        )
        for cell in CELLS
    ],
)
def test_sigmoid_reaches_the_bound_in_the_spiked_task_only(cell):
    found = optimum.minimise(cell.task, "sigmoid")
    bound = elementwise_optimum.elementwise_bound(cell.task)
    assert found.attained
    if isinstance(cell.task, SpikedSLR):
        assert found.risk == pytest.approx(bound, rel=1e-10)
    else:
        assert bound < found.risk < 1.01 * bound


@pytest.mark.medium
@pytest.mark.parametrize("activation", optimum.ACTIVATIONS)
def test_the_optimum_is_the_risk_of_its_head(activation):
    task = SpikedSLR(2.0, {2: 0.5, 4: 0.5}, noise=0.3)
    found = optimum.minimise(task, activation)
    assert set(found.parameters) == {optimum.PARAMETERS[activation]} - {None}

    def risk(m_k, m_v):
        head = Overlaps(m_k, m_k**2, m_v, m_v**2)
        return population.risk(task, activation, head, **found.parameters)

    m_k, m_v = float(found.overlaps.m_k), float(found.overlaps.m_v)
    assert risk(m_k, m_v) == pytest.approx(found.risk, abs=10 * found.error)
    for other in ((1.02 * m_k, m_v), (0.98 * m_k, m_v), (m_k, 1.02 * m_v)):
        assert risk(*other) > found.risk


@pytest.mark.medium
def test_orderings():
    """Softmax, then softplus, then erf and linear (figure 2 of the paper)."""
    task = SpikedSLR(2.0, 3)
    softmax, softplus, erf, linear = (
        optimum.minimise(task, name).risk
        for name in ("softmax", "softplus", "erf", "linear")
    )
    assert softmax < softplus < erf < linear
    assert softmax == population.bayes_risk(task)


def test_trivial_tasks():
    alone = optimum.minimise(MaxSLR(math.inf, 1, noise=0.2), "softmax")
    assert (alone.risk, alone.attained) == (pytest.approx(0.04), True)
    assert optimum.minimise(SpikedSLR(0.0, 4), "softplus").risk == pytest.approx(0.75)


def test_unknown_activation():
    with pytest.raises(ValueError, match="activation must be one of"):
        optimum.minimise(SpikedSLR(1.0, 2), "tanh")
