"""The row-block implementation against the dense one in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import attention_cases as cases
from sharp_attention.attention import dense, rowblock
from sharp_attention.attention.temperature import POLYNOMIAL

# Twice the error of the dense float32 path plus this, and never above the ceiling.
ROUNDING = 1e-6
CEILING = 2e-5
GRADIENT = {False: 1e-5, True: 1e-4}

# name: (draw arguments, settings).  Each compiles for seconds, so the features are
# spread over the lengths; the slow table has all combinations.
FORWARD = {
    "1": ({"queries": 1}, {}),
    "2, causal": ({"queries": 2}, {"is_causal": True}),
    "128, masked": ({"queries": 128, "masked": True}, {}),
    "100 queries, 70 keys, causal": ({"queries": 100, "keys": 70}, {"is_causal": True}),
    "1024": ({"queries": 1024, "heads": 1, "kv_heads": 1}, {}),
    "4097": ({"queries": 4097, "heads": 1, "kv_heads": 1}, {}),
    "333, plain": ({"queries": 333}, {"is_adaptive": False}),
}

BACKWARD = {
    "7, batch, grouped, constant beta": (
        {"queries": 7, "batch": 2, "heads": 4, "kv_heads": 2},
        {"return_statistics": False},
    ),
    "333, causal, masked, grouped, through the entropy": (
        {"queries": 333, "heads": 4, "kv_heads": 1, "masked": True},
        {"is_causal": True, "through_entropy": True},
    ),
}

SLOW = {
    f"{n}, {name}": (
        {"queries": n, "heads": 4, "kv_heads": 2, "masked": masked},
        {"is_causal": causal, "through_entropy": through},
    )
    for n in (1, 2, 7, 128, 333, 1024, 4097)
    for name, masked, causal, through in (
        ("plain rows", False, False, True),
        ("causal", False, True, False),
        ("masked", True, False, True),
        ("causal and masked", True, True, True),
    )
}


def assert_close(inputs, settings, *, gradients=True):
    exact = cases.reference(inputs, settings, gradients=gradients)
    plain = cases.evaluate(dense, inputs, settings, gradients=False)
    ours = cases.evaluate(rowblock, inputs, settings, gradients=gradients)
    names = ("output", "entropy", "inverse temperature", "log-normaliser")
    results = ([x[0], *(x[1] or ())] for x in (ours, plain, exact))
    for name, mine, theirs, true in zip(names, *results, strict=False):
        error, peer = deviation(mine, true), deviation(theirs, true)
        size = 1.0
        if name == "log-normaliser":  # carries the size of the logits
            size = max(1.0, np.abs(true[np.isfinite(true)]).max(initial=0))
        assert error <= min(2 * peer + ROUNDING, CEILING) * size, name
    for mine, true in zip(ours[2], exact[2], strict=True):
        allowed = GRADIENT[settings.through_entropy] * np.abs(true).max()
        assert deviation(mine, true) <= allowed


def deviation(ours, exact):
    different = ours != exact  # −inf equals −inf
    return np.abs(ours[different] - exact[different]).max(initial=0)


@pytest.mark.parametrize("arguments", FORWARD.values(), ids=FORWARD)
def test_agrees_with_double_precision(arguments):
    drawn, changed = arguments
    assert_close(cases.draw(**drawn), cases.settings(**changed), gradients=False)


@pytest.mark.parametrize("arguments", BACKWARD.values(), ids=BACKWARD)
def test_gradients_agree_with_double_precision(arguments):
    drawn, changed = arguments
    assert_close(cases.draw(**drawn), cases.settings(**changed))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", SLOW.values(), ids=SLOW)
def test_agrees_with_double_precision_everywhere(arguments):
    drawn, changed = arguments
    assert_close(cases.draw(**drawn), cases.settings(**changed))


@pytest.mark.medium
@pytest.mark.parametrize(
    "kinds", [cases.ROW_KINDS, cases.LONG_ROW_KINDS], ids=["4,096 keys", "longer"]
)
def test_every_kind_of_row(kinds):
    inputs = cases.row_inputs(kinds)
    settings = cases.settings(scale=1.0, through_entropy=True)
    exact = cases.reference(inputs, settings)
    plain = cases.evaluate(dense, inputs, settings)
    ours = cases.evaluate(rowblock, inputs, settings)
    for i, kind in enumerate(kinds):
        for mine, theirs, true in zip(
            *((x[0], *x[1][:2]) for x in (ours, plain, exact)), strict=True
        ):
            error, peer = deviation(mine[i], true[i]), deviation(theirs[i], true[i])
            assert error <= min(2 * peer + ROUNDING, CEILING), kind
        # The gradient of the query is the sum of keys as large as the logits times
        # numbers that add up to 0: at an offset of 1e6 no float32 code has digits left.
        for mine, true in zip(ours[2][1:], exact[2][1:], strict=True):
            # What float32 can't hold, such as exp(-100), counts as 0.
            allowed = 1e-4 * np.abs(true[i]).max() + np.finfo(np.float32).tiny
            assert deviation(mine[i], true[i]) <= allowed, kind


@pytest.mark.parametrize("masked", [True, False])
def test_differences_of_logits_beyond_the_range_of_floats(masked):
    """Logits up to 2.85e38 in size; among those not hidden all may be far below 0."""
    key = np.array([1.5, -1.5, 1.4, -1.4, 0, 1e-19], np.float32)[:, None]
    query = np.array([1.9, -1.9, 1, -1, 0, 1e-19], np.float32)[:, None]
    key, query = np.float32(1e19) * key, np.float32(1e19) * query
    mask = np.ones((6, 6), bool)
    if masked:
        mask[1, 1:] = mask[2, 0] = mask[3, :] = False
    value = np.random.default_rng(2).standard_normal((6, 3), np.float32)
    arrays = (array[None, :, None] for array in (query, key, value))
    given = mask[None, None] if masked else None
    inputs = cases.Inputs(*arrays, given, value[None, :, None])
    settings = cases.settings(scale=1.0, through_entropy=True)
    output, statistics, gradients = cases.evaluate(rowblock, inputs, settings)
    wide = (array.astype(np.float64) for array in (query, key, value))
    exact = cases.numpy_attention(*wide, scale=1.0, visible=mask, polynomial=POLYNOMIAL)
    np.testing.assert_allclose(output[0, :, 0], exact[0], atol=1e-6)
    for mine, true in zip(statistics, exact[1:], strict=True):
        np.testing.assert_allclose(mine[0, 0], true, rtol=1e-6, atol=1e-6)
    assert all(np.isfinite(gradient).all() for gradient in gradients)


def test_row_without_keys():
    inputs = cases.draw(33, masked=True)
    settings = cases.settings()
    output, statistics, _ = cases.evaluate(rowblock, inputs, settings, gradients=False)
    empty = 33 // 2
    assert (output[:, empty] == 0).all()
    assert (statistics.entropy[..., empty] == 0).all()
    assert (statistics.inverse_temperature[..., empty] == 1).all()
    assert (statistics.log_normaliser[..., empty] == -np.inf).all()


HALF = {
    "bfloat16": ({"queries": 33, "dtype": "bfloat16"}, {}),
    "float16": ({"queries": 33, "dtype": "float16"}, {}),
} | {
    f"bfloat16, {name}": pytest.param(
        (drawn | {"dtype": "bfloat16"}, {"is_causal": changed["is_causal"]}),
        marks=pytest.mark.slow,
    )
    for name, (drawn, changed) in SLOW.items()
}


@pytest.mark.parametrize("arguments", HALF.values(), ids=HALF)
def test_half_precision(arguments):
    drawn, changed = arguments
    inputs, settings = cases.draw(**drawn), cases.settings(**changed)
    exact = cases.reference(inputs, settings, gradients=False)
    ours = cases.evaluate(rowblock, inputs, settings, gradients=False)
    assert deviation(ours[0], exact[0]) <= 2e-2
    # The inputs are the same rounded numbers and all sums are float32; the
    # log-normaliser carries the size of the logits.
    normaliser = exact[1].log_normaliser
    largest = np.abs(normaliser[np.isfinite(normaliser)]).max(initial=0)
    for mine, true, size in zip(
        ours[1], exact[1], (1, 1, max(1, largest)), strict=True
    ):
        assert deviation(mine, true) <= 2e-5 * size


def test_output_keeps_the_float_type_and_statistics_do_not():
    inputs = cases.draw(8, dtype="bfloat16")
    arrays = [jnp.asarray(x) for x in (inputs.query, inputs.key, inputs.value)]
    output, statistics = rowblock.attend(*arrays, None, cases.settings())
    assert output.dtype == jnp.bfloat16
    assert all(array.dtype == jnp.float32 for array in statistics)


def test_double_precision():
    inputs = cases.draw(45, masked=True)
    settings = cases.settings(through_entropy=True, is_causal=True)
    exact = cases.reference(inputs, settings)
    ours = cases.evaluate(rowblock, inputs, settings, double=True)
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-12),
        ours,
        exact,
    )


def test_gradients_of_the_statistics():
    """Entropy and log-normaliser can be part of a loss, and beta where asked for."""
    inputs = cases.draw(33, masked=True)
    settings = cases.settings(through_entropy=True)

    def gradients_of(module):
        def loss(query, key):
            _, (entropy, beta, log_normaliser) = module.attend(
                query, key, inputs.value, inputs.mask, settings
            )
            finite = jnp.where(jnp.isfinite(log_normaliser), log_normaliser, 0.0)
            return (entropy**2 + jnp.sin(beta) + 0.1 * finite**2).sum()

        return jax.jit(jax.grad(loss, argnums=(0, 1)))(inputs.query, inputs.key)

    for ours, theirs in zip(gradients_of(rowblock), gradients_of(dense), strict=True):
        assert deviation(ours, theirs) <= 1e-5 * np.abs(theirs).max()


def test_constant_beta_is_not_the_full_gradient():
    """Negative control: the two gradients differ by much more than the tolerance."""
    inputs = cases.draw(64)
    constant, full = (
        cases.evaluate(dense, inputs, cases.settings(through_entropy=through))[2][0]
        for through in (False, True)
    )
    assert deviation(constant, full) > 0.01 * np.abs(full).max()


def test_nan_stays_in_sight():
    inputs = cases.draw(8)
    query = inputs.query.copy()
    query[0, 3, 1, 0] = np.nan
    output, statistics = rowblock.attend(
        query, inputs.key, inputs.value, None, cases.settings()
    )
    assert np.isnan(output[0, 3, 1]).all()
    assert np.isnan(statistics.inverse_temperature[0, 1, 3])
    assert np.isfinite(output).sum() == output.size - cases.DIM


def test_vmap():
    inputs = cases.draw(9, batch=3)
    settings = cases.settings(return_statistics=False)
    arrays = (inputs.query, inputs.key, inputs.value)
    together, _ = rowblock.attend(*arrays, None, settings)
    one_by_one = jax.vmap(
        lambda q, k, v: rowblock.attend(q[None], k[None], v[None], None, settings)[0][0]
    )(*arrays)
    np.testing.assert_allclose(one_by_one, together, rtol=0, atol=2e-6)


def temporary_bytes(module, length, *, causal):
    array = jax.ShapeDtypeStruct((1, length, 8, 64), jnp.float32)
    settings = cases.settings(is_causal=causal, return_statistics=False)
    lowered = module.attend.lower(array, array, array, None, settings)
    return lowered.compile().memory_analysis().temp_size_in_bytes


@pytest.mark.parametrize("causal", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_memory_is_linear(causal):
    at_4096 = temporary_bytes(rowblock, 4096, causal=causal)
    at_8192 = temporary_bytes(rowblock, 8192, causal=causal)
    assert at_8192 <= 2.2 * at_4096
    assert 32 * at_4096 <= temporary_bytes(dense, 4096, causal=causal)
