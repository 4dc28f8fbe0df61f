import numpy as np
import pytest
from matplotlib import pyplot as plt

from sharp_attention.figures import entropy_stream


def test_stream_agrees_with_the_weights_all_along() -> None:
    table = entropy_stream.stream([2.0, -1.0, 5.0, 4.5, 0.0])
    assert list(table["keys"]) == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(table["streamed"], table["direct"], atol=1e-12)


def test_forgetful_stream_is_wrong_once_the_maximum_moves() -> None:
    rising = entropy_stream.stream([float(k) for k in range(16)])
    last = rising.iloc[-1]
    assert last["without_cross_term"] == pytest.approx(0.4587, abs=5e-5)
    assert last["streamed"] == pytest.approx(1.04065, abs=5e-6)
    # Negative control: with the largest logit first there is nothing to forget.
    falling = entropy_stream.stream([float(-k) for k in range(16)])
    np.testing.assert_allclose(falling["without_cross_term"], falling["direct"])


def test_picture_says_its_message() -> None:
    figure = entropy_stream.draw_stream(entropy_stream.stream([0.0, 1.0, 2.0]))
    (axes,) = figure.axes
    assert "not enough" in axes.get_title(loc="left")
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    plt.close(figure)
