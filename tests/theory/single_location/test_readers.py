import math

import jax
import numpy as np
import pytest
from scipy import stats

from sharp_attention.tasks.single_location import SpikedSLR, sample
from sharp_attention.theory.single_location import readers


@pytest.mark.parametrize(("length", "risk"), [(1, 0.0), (2, 0.5), (10**20, 1.0)])
def test_even_risk(length: int, risk: float) -> None:
    assert readers.even_risk(length) == pytest.approx(risk, abs=1e-15)


@pytest.mark.parametrize("signal", [0.0, 0.3, 4.0, 60.0])
def test_two_tokens_have_a_closed_form(signal: float) -> None:
    exact = 2 * stats.norm.sf(math.sqrt(signal / 2))
    # Relative: the integrand is positive, so that nothing cancels.
    assert readers.betting_risk(signal, 2) == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize("length", [1, 2, 7, 10**6])
def test_no_signal_is_a_guess(length: int) -> None:
    assert readers.betting_risk(0.0, length) == pytest.approx(2 - 2 / length, abs=1e-12)


def test_betting_gets_better_with_signal_and_worse_with_length() -> None:
    by_signal = [readers.betting_risk(signal, 10) for signal in (0, 1, 4, 9, 25)]
    assert np.all(np.diff(by_signal) < 0)
    by_length = [readers.betting_risk(9.0, 10**n) for n in range(6)]
    assert np.all(np.diff(by_length) > 0)


def test_betting_agrees_with_texts() -> None:
    draws = sample(jax.random.key(0), SpikedSLR(4.0, 8), 20, 40_000)
    scores, values = (np.asarray(draws.tokens @ x) for x in (draws.key, draws.value))
    bets = np.take_along_axis(values, scores.argmax(axis=1)[:, None], axis=1)[:, 0]
    squared = (np.asarray(draws.target) - bets / math.sqrt(20)) ** 2
    error = squared.std() / math.sqrt(len(squared))
    assert abs(squared.mean() - readers.betting_risk(4.0, 8)) < 5 * error


@pytest.mark.parametrize(
    ("signal", "length", "error", "words"),
    [
        (-1.0, 2, ValueError, "signal must be >= 0"),
        (math.inf, 2, ValueError, "signal must be finite"),
        (math.nan, 2, ValueError, "signal must be a number"),
        (1.0, 0, ValueError, "length must be >= 1"),
        (1.0, 2.5, TypeError, "length"),
    ],
)
def test_bad_input(signal: float, length, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        readers.betting_risk(signal, length)


def test_even_risk_refuses_an_empty_text() -> None:
    with pytest.raises(ValueError, match="length must be >= 1"):
        readers.even_risk(0)
