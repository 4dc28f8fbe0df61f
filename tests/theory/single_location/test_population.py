"""Risks against right values, on and off the manifold, and what they must satisfy."""

import math

import numpy as np
import pytest

from population_reference import ACTIVATIONS, CELLS, HEADS, is_right
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import population

# A compilation takes about a second, and each range of levels has its own: the
# default run takes one of each kind, the slow one all of them.
QUICK_CELLS = {
    *("SpikedSLR-2-2", "SpikedSLR-2-3", "SpikedSLR-2-100", "SpikedSLR-10-100"),
    *("MaxSLR-1-5", "MaxSLR-inf-10"),
}
QUICK_HEADS = {
    "MaxSLR-0.5-3",
    *(str(head) for head in HEADS if isinstance(head.task, SpikedSLR)),
}


def mark(rows, quick):
    return [
        pytest.param(
            row,
            id=str(row),
            marks=[] if str(row) in quick else pytest.mark.slow,
        )
        for row in rows
    ]


@pytest.mark.parametrize("cell", mark(CELLS, QUICK_CELLS))
def test_risks_of_the_best_heads(cell):
    for activation in ACTIVATIONS:
        overlaps, parameters, right = cell.head(activation)
        found = population.risk(cell.task, activation, overlaps, **parameters)
        assert is_right(found, right), activation


@pytest.mark.parametrize("head", mark(HEADS, QUICK_HEADS))
def test_risks_off_the_manifold(head):
    for activation in ACTIVATIONS:
        parameters = head.parameters(activation)
        found = population.risk(head.task, activation, head.overlaps, **parameters)
        assert is_right(found, head.risk(activation)), activation


@pytest.mark.parametrize(
    ("task", "activation"),
    [(SpikedSLR(2.0, 3), activation) for activation in population.ACTIVATIONS]
    + [(MaxSLR(2.0, 3), activation) for activation in ("linear", "erf", "sigmoid")],
)
def test_a_head_that_is_off_the_manifold_by_little_has_nearly_the_same_risk(
    task, activation
):
    tiny = 1e-7
    on = population.risk(task, activation, Overlaps(0.9, 1.0, 0.7, 0.8))
    head = Overlaps(0.9, 1.0, 0.7, 0.8, m_kv=tiny, m_vk=tiny, q_kv=tiny)
    off = population.risk(task, activation, head)
    assert off == pytest.approx(on, abs=20 * tiny)
    assert off != on


@pytest.mark.parametrize("activation", population.ACTIVATIONS)
def test_an_array_of_heads_and_a_list_of_tasks(activation):
    tasks = [SpikedSLR(2.0, 3, noise=0.5), SpikedSLR(1.0, {2: 0.5, 5: 0.5})]
    m_k = np.array([[0.3, 0.9], [1.0, -0.4]])
    overlaps = Overlaps(m_k, 1.5, 0.5, 0.7, m_kv=0.1)
    found = population.risks(tasks, activation, overlaps)
    assert found.shape == (2, 2, 2)
    for index in np.ndindex(m_k.shape):
        one = Overlaps(float(m_k[index]), 1.5, 0.5, 0.7, m_kv=0.1)
        for task, risks in zip(tasks, found, strict=True):
            alone = population.risk(task, activation, one)
            assert isinstance(alone, float)
            assert risks[index] == pytest.approx(alone, rel=1e-13)


@pytest.mark.parametrize("activation", population.ACTIVATIONS)
def test_noise_adds_its_variance_and_a_zero_value_predicts_nothing(activation):
    quiet, noisy = SpikedSLR(2.0, 3), SpikedSLR(2.0, 3, noise=0.7)
    head = Overlaps(0.9, 1.0, 0.7, 0.8)
    added = population.risk(noisy, activation, head) - population.risk(
        quiet, activation, head
    )
    assert added == pytest.approx(0.49, rel=1e-12)
    nothing = Overlaps(0.9, 1.0, 0.0, 0.0)
    assert population.risk(noisy, activation, nothing) == pytest.approx(1.49)


@pytest.mark.parametrize("activation", population.ACTIVATIONS)
def test_a_random_length_averages_the_risks(activation):
    head = Overlaps(0.9, 1.0, 0.7, 0.8, m_vk=0.2)
    mixed = population.risk(SpikedSLR(2.0, {2: 0.25, 5: 0.75}), activation, head)
    two, five = (population.risk(SpikedSLR(2.0, n), activation, head) for n in (2, 5))
    assert mixed == pytest.approx(0.25 * two + 0.75 * five, rel=1e-12)


@pytest.mark.parametrize("activation", ["softmax", "softplus", "erf", "sigmoid"])
@pytest.mark.parametrize("length", [10**9, 10**60])
def test_any_length(activation, length):
    head = Overlaps(3.0, 9.5, 0.8, 1.0, m_vk=0.1)
    spiked = population.risk(SpikedSLR(40.0, length), activation, head)
    assert math.isfinite(spiked)
    assert spiked > 0
    if activation in ("softmax", "softplus"):
        # Dispersed at the latest where nu < 2 log L: nothing is left of y.
        lowest = 0.9 if length == 10**9 else 1 - 1e-12
        assert lowest < spiked < 1.1


@pytest.mark.slow
@pytest.mark.parametrize("signal", [5.0, math.inf])
@pytest.mark.parametrize("activation", ["softmax", "softplus"])
@pytest.mark.parametrize("length", [10**9, 10**60])
def test_any_length_in_the_max_task(signal, activation, length):
    head = Overlaps(3.0, 9.5, 0.8, 1.0, m_vk=0.1)
    risk = population.risk(MaxSLR(signal, length), activation, head)
    assert 0.9 < risk < 1.1


def test_erf_with_the_offset_of_long_texts():
    """At c = -8.18 and L = 1000, where 1 + erf(c) is 0 in double precision."""
    cell = next(cell for cell in CELLS if str(cell) == "MaxSLR-inf-1000")
    overlaps, parameters, right = cell.head("erf")
    assert parameters["offset"] < -8
    found = population.risk(cell.task, "erf", overlaps, **parameters)
    assert is_right(found, right, 1e-11)


@pytest.mark.parametrize("activation", population.ACTIVATIONS)
@pytest.mark.parametrize("task", [SpikedSLR(2.0, {2: 0.5, 4: 0.5}), MaxSLR(2.0, 3)])
def test_weight_moments_give_the_risk_on_the_manifold(task, activation):
    moments = population.weight_moments(task, activation, 0.8, 1.1)
    risk = population.risk(task, activation, Overlaps(0.8, 1.1, 0.4, 0.6))
    expected = 1 - 2 * 0.4 * moments.kept + 0.6 * moments.squares
    assert risk == pytest.approx(float(expected), rel=1e-12)


def test_keys_of_infinite_length():
    task = SpikedSLR(2.0, 2)
    finite = population.risk(task, "softmax", Overlaps(100.0, 1e4, 1.0, 1.0))
    infinite = population.risk(task, "softmax", Overlaps(math.inf, math.inf, 1.0, 1.0))
    # Each of the two errors is made when the wrong token has the larger score.
    wrong = 0.5 * math.erfc(math.sqrt(2.0 / 2) / math.sqrt(2))
    assert infinite == pytest.approx(2 * wrong, rel=1e-12)
    assert finite == pytest.approx(infinite, rel=2e-2)
    for activation in ("erf", "sigmoid", "linear"):
        with pytest.raises(ValueError, match="m_k must be finite"):
            population.risk(task, activation, Overlaps(math.inf, math.inf, 1.0, 1.0))


def test_lengths_that_no_float_holds():
    head = Overlaps(0.9, 1.0, 0.7, 0.8)
    with pytest.raises(ValueError, match="lengths must be at most 1e300"):
        population.risk(SpikedSLR(2.0, 10**301), "softmax", head)


@pytest.mark.parametrize(
    ("activation", "parameters", "error", "message"),
    [
        ("tanh", {}, ValueError, "activation must be one of 'softmax'"),
        ("softmax", {"offset": 1.0}, TypeError, "has no parameter"),
        ("erf", {"bias": 1.0}, TypeError, "takes offset; received 'bias'"),
        ("erf", {"offset": math.nan}, ValueError, "offset must be a number"),
        ("sigmoid", {"bias": math.inf}, ValueError, "bias must be finite"),
    ],
)
def test_bad_activations_and_parameters(activation, parameters, error, message):
    head = Overlaps(0.9, 1.0, 0.7, 0.8)
    with pytest.raises(error, match=message):
        population.risk(SpikedSLR(2.0, 3), activation, head, **parameters)


def test_moments_of_an_impossible_key():
    with pytest.raises(ValueError, match=r"no eigenvalue .* may be negative"):
        population.weight_moments(SpikedSLR(2.0, 3), "softmax", 1.0, 0.5)
