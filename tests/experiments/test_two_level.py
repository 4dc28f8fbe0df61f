"""The maps themselves do what the closed forms say, at every number of keys."""

import numpy as np
import pytest

from sharp_attention.experiments import two_level
from sharp_attention.theory import escapes

SIZES = {"selective": (2, 3, 16, 300)}
DEFAULT = (2, 17, 16384)
FIELDS = ("weight", "share", "signal_to_noise")


@pytest.mark.medium
@pytest.mark.parametrize("gap", [0.7, 1.5])
@pytest.mark.parametrize("name", escapes.DROPPED)
def test_maps_agree_with_theory(name: str, gap: float) -> None:
    table = two_level.table(gap, SIZES.get(name, DEFAULT), [name])
    for field in FIELDS:
        np.testing.assert_allclose(
            table[field], table[f"{field}_theory"], rtol=1e-9, atol=1e-300
        )


@pytest.mark.slow
def test_selective_at_full_length() -> None:
    """All 16384 squared votes, a block of keys after the other."""
    found = two_level.leader("selective", 16384, 1.5)
    expected = escapes.leader("selective", 16384, 1.5)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_large_tables_leave_out_what_costs_the_square() -> None:
    table = two_level.table(1.5, (16, 16384), ["softmax", "selective"])
    assert table.groupby("name").size().to_dict() == {"softmax": 2, "selective": 1}


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="name must be one of"):
        two_level.weights("softmin", 3, 1.0)
    with pytest.raises(ValueError, match="gap must be > 0"):
        two_level.weights("softmax", 3, 0.0)
