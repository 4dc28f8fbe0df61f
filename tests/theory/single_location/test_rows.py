"""Integrals on tables of rows: order, grouping by size, more rows than one block."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

from sharp_attention.theory.single_location import rows


class _Row(NamedTuple):
    power: float
    weights: np.ndarray


def _moments(row, size):
    """Integral of x^power on [0, 1], the size, and the sum of the weights."""
    x = (jnp.arange(size) + 0.5) / size
    return jnp.stack(
        [jnp.mean(x**row.power), jnp.asarray(1.0 * size), jnp.sum(row.weights)]
    )


def test_rungs():
    assert [rows.rung(n) for n in (1, 128, 129, 256, 700.4)] == [
        128,
        128,
        256,
        256,
        1024,
    ]


def test_results_keep_the_order_of_the_rows():
    powers = [float(i % 7) for i in range(2 * rows.BLOCK + 3)]
    table = [_Row(power, np.array([power, 1.0])) for power in powers]
    sizes = [128 if i % 3 else 256 for i in range(len(powers))]
    found = rows.evaluate(_moments, table, sizes, num_outputs=3)
    assert found.shape == (len(powers), 3)
    assert found.dtype == np.float64
    expected = [1 / (power + 1) for power in powers]
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-3)
    np.testing.assert_array_equal(found[:, 1], sizes)
    np.testing.assert_allclose(found[:, 2], np.array(powers) + 1)


def test_rows_are_summed_in_double_precision():
    row = _Row(0.0, np.array([1.0, 1e-12]))
    found = rows.evaluate(_moments, [row], [128], num_outputs=3)
    assert found[0, 2] - 1 == pytest.approx(1e-12, rel=1e-3)


def test_no_rows():
    assert rows.evaluate(_moments, [], [], num_outputs=3).shape == (0, 3)


@pytest.mark.parametrize("num_fields", [1, rows.LARGEST_TABLE, 5 * rows.LARGEST_TABLE])
def test_a_sum_over_levels_in_chunks_is_the_sum(num_fields):
    """Whole, by one level, and where not even one level fits."""
    levels, steps = jnp.arange(8.0), 1 + jnp.arange(8.0)
    sizes = []

    def integrate(chunk):
        sizes.append(len(chunk[0]))
        return jnp.stack([chunk[0] @ chunk[1], jnp.sum(chunk[1])])

    found = rows.sum_over_levels(integrate, levels, steps, num_fields)
    np.testing.assert_allclose(found, [168.0, 36.0])
    assert sizes[0] == (8 if num_fields == 1 else 1)
