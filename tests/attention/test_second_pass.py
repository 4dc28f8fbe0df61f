"""Attention on beta · query in half precision, a library's attention simulated."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import half_precision as half
from sharp_attention.attention import dense, second_pass

# Every shape compiles for itself: features are spread over the lengths.
CASES = {
    f"n 333, causal, grouped, query scale {query_scale}": (
        {"queries": 333, "heads": 2, "query_scale": query_scale, "dim": 128},
        {"is_causal": True},
    )
    for query_scale in (1, 4, 6)
} | {
    "n 1": ({"queries": 1}, {}),
    "100 queries, 1024 keys": ({"queries": 100, "keys": 1024}, {}),
}
GRADIENT = {
    "causal, grouped, through the entropy": (
        {"queries": 128, "heads": 2},
        {"is_causal": True},
    ),
    "constant beta": (
        {"queries": 70, "keys": 100, "dim": 128},
        {"through_entropy": False},
    ),
}
SLOW = {
    f"n {n}, query scale {query_scale}, dim {dim}, causal {is_causal}": (
        {"queries": n, "query_scale": query_scale, "dim": dim},
        {"is_causal": is_causal},
    )
    for n in (2, 7, 128, 1024, 4097)
    for query_scale in (1, 4, 6)
    for dim in (64, 128)
    for is_causal in (False, True)
}


def prepare(drawn, changed):
    """Inputs with the inverse temperature of every row, settings, the exact output."""
    inputs = half.draw(**drawn)
    chosen = half.settings(inputs[0].shape[-1], **changed)
    output, statistics = half.double_precision(inputs, chosen)
    beta = jnp.asarray(statistics.inverse_temperature, jnp.float32)
    return [*inputs, beta], chosen, output


@functools.partial(jax.jit, static_argnums=4)
def attend(query, key, value, beta, chosen):
    return second_pass.attend(query, key, value, beta, chosen, half.library_attention)


@functools.partial(jax.jit, static_argnums=4)
def attend_rounded(query, key, value, beta, chosen):
    """The same with beta · query in the type of the query."""
    by_query = jnp.swapaxes(beta, 1, 2)[..., None]
    sharp = (by_query * query.astype(jnp.float32)).astype(query.dtype)
    options = {"scale": chosen.scale, "is_causal": chosen.is_causal}
    return half.library_attention(sharp, key, value, **options)


def largest(ours, exact):
    return np.abs(np.asarray(ours, np.float64) - exact).max()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_output_in_bfloat16(case):
    arguments, chosen, exact = prepare(*case)
    output = attend(*arguments, chosen)
    assert output.dtype == jnp.bfloat16
    assert largest(output, exact) <= half.OUTPUT_GATE


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW.values(), ids=SLOW)
def test_output_in_bfloat16_of_long_rows(case):
    arguments, chosen, exact = prepare(*case)
    assert largest(attend(*arguments, chosen), exact) <= half.OUTPUT_GATE


@pytest.mark.parametrize("query_scale", [4, 6])
def test_a_rounded_product_would_miss_the_gate(query_scale):
    case = CASES[f"n 333, causal, grouped, query scale {query_scale}"]
    arguments, chosen, exact = prepare(*case)
    assert largest(attend_rounded(*arguments, chosen), exact) > half.OUTPUT_GATE


@pytest.mark.medium
@pytest.mark.parametrize("case", GRADIENT.values(), ids=GRADIENT)
def test_gradients_in_bfloat16(case):
    """Of query, key and value, the statistics being those of the dense path."""
    (*inputs, _), chosen, exact = prepare(*case)
    of_output = np.random.default_rng(5).standard_normal(exact.shape, np.float32)

    def dense_loss(*inputs):
        return jnp.sum(dense.attend(*inputs, None, chosen)[0] * of_output)

    def loss(*inputs):
        wide = (x.astype(jnp.float32) for x in inputs)
        beta = dense.attend(*wide, None, chosen)[1].inverse_temperature
        output = attend(*inputs, beta, chosen).astype(jnp.float32)
        return jnp.sum(output * of_output)

    with jax.enable_x64(True):
        wide = [x.astype(jnp.float64) for x in inputs]
        gradient = jax.jit(jax.grad(dense_loss, argnums=(0, 1, 2)))
        expected = [np.asarray(x) for x in gradient(*wide)]
    found = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*inputs)
    for ours, true in zip(found, expected, strict=True):
        assert ours.dtype == jnp.bfloat16
        assert largest(ours, true) <= 2e-2 * np.abs(true).max()


@pytest.mark.parametrize("powers", [(60, -60, 100), (-70, 70, -100)])
def test_powers_of_two_pass_through(powers):
    """Inputs far outside the range of float16, with the same logits."""
    (*arrays, beta), chosen, _ = prepare({"queries": 33}, {"is_causal": True})
    factors = [jnp.bfloat16(2.0**power) for power in powers]
    scaled = (factor * array for factor, array in zip(factors, arrays, strict=True))
    output = attend(*scaled, beta, chosen)
    np.testing.assert_array_equal(output, factors[2] * attend(*arrays, beta, chosen))


def test_one_huge_value_does_not_cost_the_others_their_digits():
    (query, key, value, beta), chosen, exact = prepare(
        {"queries": 100}, {"is_causal": True}
    )
    value = value.at[0, -1].set(1e6)  # which only the last row sees
    output = attend(query, key, value, beta, chosen)
    assert largest(output[:, :-1], exact[:, :-1]) <= half.OUTPUT_GATE


def test_components_without_content():
    (query, key, value, beta), chosen, _ = prepare({"queries": 7}, {})
    changed = (x.at[..., 3].set(0) for x in (query, key, value))
    output = attend(*changed, beta, chosen)
    assert np.isfinite(output.astype(np.float32)).all()
    assert (output[..., 3] == 0).all()


def test_what_does_not_fit_is_not_finite():
    (query, key, value, beta), chosen, _ = prepare({"queries": 7}, {})
    largest_product = jnp.abs(query).max() * jnp.abs(key).max()
    factor = jnp.bfloat16(2.0**34) / largest_product
    output = attend(factor * query, key, value, beta, chosen)
    assert not np.isfinite(output.astype(np.float32)).all()


def test_float16_is_rounded_in_its_own_type():
    """Nothing is gained there, and the library's own gradient serves."""
    inputs = half.draw(7, dtype="float16")
    beta = jnp.full((1, 1, 7), 1.7)
    chosen = half.settings(64)
    output = attend(*inputs, beta, chosen)
    assert output.dtype == jnp.float16
    expected = attend_rounded(*inputs, beta, chosen)
    np.testing.assert_array_equal(output, expected)
