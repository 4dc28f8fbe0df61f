"""Ways out that need more than a row: by hand, masks, order, NaN, gradients."""

import itertools
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from sharp_attention.attention import activations, escapes

RNG = np.random.default_rng(5)
LOGITS = 3 * RNG.standard_normal((2, 7, 7))
MASK = RNG.random((2, 7, 7)) > 0.3
OTHER = RNG.standard_normal((2, 7, 7))

MAPS: dict[str, Callable] = {
    "top-k": partial(escapes.top_k, num_kept=3),
    "hard": escapes.hard,
    "windowed": partial(escapes.windowed, width=3),
    "selective": escapes.selective,
    "differential": lambda e, where=None: escapes.differential(
        e, OTHER.astype(e.dtype), mix=0.4, where=where
    ),
}


@pytest.fixture(params=MAPS, ids=list(MAPS))
def mapping(request: pytest.FixtureRequest) -> Callable:
    return MAPS[request.param]


# ── Brute force ──────────────────────────────────────────────────────────────────


def softmax_over(row: np.ndarray, kept: list[int]) -> np.ndarray:
    weights = np.zeros(len(row))
    if kept:
        weights[kept] = scipy.special.softmax(row[kept])
    return weights


def each_row(function: Callable) -> np.ndarray:
    return np.array(
        [
            [
                function(e, i, np.flatnonzero(m))
                for i, (e, m) in enumerate(zip(*pair, strict=True))
            ]
            for pair in zip(LOGITS, MASK, strict=True)
        ]
    )


def votes_by_hand(selection: np.ndarray, sees: np.ndarray) -> np.ndarray:
    length = len(selection)
    found = np.zeros((length, length))
    for i, j, k in itertools.product(range(length), repeat=3):
        if 0 < k < j < i and sees[j, k]:
            found[i, k] += max(selection[j, k], 0.0)
    return found


@pytest.mark.parametrize("num_kept", [1, 2, 7, 50])
def test_top_k_by_hand(num_kept: int) -> None:
    def by_hand(row: np.ndarray, _: int, keys: np.ndarray) -> np.ndarray:
        return softmax_over(row, sorted(keys, key=lambda k: -row[k])[:num_kept])

    got = escapes.top_k(LOGITS, num_kept=num_kept, where=MASK)
    np.testing.assert_allclose(got, each_row(by_hand), atol=1e-6)
    if num_kept >= 7:
        plain = activations.softmax(LOGITS, where=MASK)
        np.testing.assert_allclose(got, plain, atol=1e-7)


def test_hard_is_the_cold_limit_of_softmax_ties_included() -> None:
    rows = np.round(LOGITS)  # with ties
    cold = activations.softmax(rows, temperature=1e-3, where=MASK)
    np.testing.assert_allclose(escapes.hard(rows, where=MASK), cold, atol=1e-6)
    np.testing.assert_allclose(escapes.hard([2.0, 2.0, 1.0]), [0.5, 0.5, 0.0])


@pytest.mark.parametrize(("width", "first"), [(1, 0), (3, 0), (3, 2), (100, 4)])
def test_windowed_by_hand(width: int, first: int) -> None:
    def by_hand(row: np.ndarray, i: int, keys: np.ndarray) -> np.ndarray:
        place = first + i
        return softmax_over(row, [k for k in keys if place - width < k <= place])

    got = escapes.windowed(LOGITS, width=width, first_query=first, where=MASK)
    np.testing.assert_allclose(got, each_row(by_hand), atol=1e-6)


def test_selective_by_hand() -> None:
    causal = MASK & np.tri(7, dtype=bool)
    got = escapes.selective(LOGITS, where=MASK)
    for page in range(2):
        left = LOGITS[page] - votes_by_hand(LOGITS[page], causal[page])
        for i, keys in enumerate(causal[page]):
            want = softmax_over(left[i], list(np.flatnonzero(keys)))
            np.testing.assert_allclose(got[page, i], want, atol=1e-6)


def test_selection_of_another_head() -> None:
    everyone = np.ones((7, 7), dtype=bool)
    got = escapes.selective(LOGITS[0], selection=OTHER[0])
    left = LOGITS[0] - votes_by_hand(OTHER[0], everyone)
    want = scipy.special.softmax(np.where(np.tri(7) > 0, left, -np.inf), axis=-1)
    np.testing.assert_allclose(got, want, atol=1e-6)
    nobody = escapes.selective(LOGITS[0], selection=-np.abs(OTHER[0]))
    causal = activations.softmax(LOGITS[0], where=np.tri(7, dtype=bool))
    np.testing.assert_allclose(nobody, causal, atol=1e-6)


def test_votes_in_blocks_of_keys() -> None:
    whole = escapes.votes(LOGITS)
    blocks = [escapes.votes(LOGITS[..., k : k + 3], first_key=k) for k in (0, 3, 6)]
    np.testing.assert_allclose(np.concatenate(blocks, -1), whole, atol=1e-5)
    assert (np.asarray(whole)[..., 0] == 0).all()  # nobody votes against the first


def test_differential_is_a_difference() -> None:
    got = escapes.differential(LOGITS, OTHER, mix=0.4)
    want = scipy.special.softmax(LOGITS, -1) - 0.4 * scipy.special.softmax(OTHER, -1)
    np.testing.assert_allclose(got, want, atol=1e-6)
    np.testing.assert_allclose(np.sum(got, -1), 0.6, atol=1e-6)


@pytest.mark.parametrize("is_masked", [False, True])
def test_linear_attention_equals_its_weights(is_masked: bool) -> None:
    query, key, value = (RNG.standard_normal(s) for s in ((2, 4), (2, 9, 4), (2, 9, 3)))
    where = RNG.random((2, 9)) > 0.4 if is_masked else None
    with jax.enable_x64(True):
        weights = activations.linear(np.einsum("bd,bkd->bk", query, key), where=where)
        want = np.einsum("bk,bkw->bw", weights, value)
        if is_masked:
            key[~where] = value[~where] = np.nan
        arrays = (jnp.asarray(a) for a in (query, key, value))
        mask = None if where is None else jnp.asarray(where)
        got = escapes.linear_attention(*arrays, where=mask)
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_step_tells_apart_what_is_as_near_as_you_like() -> None:
    one, zero = jnp.ones((1, 1)), jnp.zeros(1)
    inputs = jnp.array([[1e-30], [-1e-30], [0.0], [jnp.nan]])
    got = escapes.discontinuous_feed_forward(inputs, one, zero, one)
    np.testing.assert_array_equal(got[:3, 0], [1.0, 0.0, 0.0])
    assert jnp.isnan(got[3, 0])
    slope = jax.grad(
        lambda w: escapes.discontinuous_feed_forward(inputs[:2], w, zero, one).sum()
    )(one)
    assert float(slope[0, 0]) == 0


# ── What all of them share ───────────────────────────────────────────────────────


def test_masked_keys_weigh_nothing_and_change_nothing(mapping: Callable) -> None:
    garbage = np.where(MASK, LOGITS, np.nan)
    removed = np.where(MASK, LOGITS, -np.inf)
    got = np.asarray(mapping(garbage, where=MASK))
    np.testing.assert_array_equal(got, mapping(LOGITS, where=MASK))
    if mapping is not MAPS["differential"]:  # −inf in one of two rows removes half
        np.testing.assert_allclose(got, mapping(removed), atol=1e-7)
    assert (got[~MASK] == 0).all()


def test_rows_without_keys_are_zero(mapping: Callable) -> None:
    where = np.ones((2, 7, 7), dtype=bool)
    where[0, 3] = False
    got = np.asarray(mapping(LOGITS, where=where))
    assert (got[0, 3] == 0).all()
    assert np.isfinite(got).all()


def test_jit_and_vmap_change_nothing_and_nan_stays_in_sight(mapping: Callable) -> None:
    eager = mapping(LOGITS)
    np.testing.assert_allclose(jax.jit(mapping)(LOGITS), eager, atol=1e-6)
    if mapping is not MAPS["differential"]:
        mapped = jax.jit(jax.vmap(mapping))(LOGITS)
        np.testing.assert_allclose(mapped, eager, atol=1e-6)
    spoilt = LOGITS.copy()
    spoilt[1, 5, 4] = np.nan
    got = np.asarray(jax.jit(mapping)(spoilt))
    assert np.isnan(got[1, 5, 4])
    np.testing.assert_allclose(got[0], eager[0], atol=1e-6)
    with pytest.raises(ValueError, match=r"must be free of NaN"):
        mapping(spoilt)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision_in_and_out(mapping: Callable, dtype: str) -> None:
    rounded = jnp.asarray(LOGITS, dtype)
    got = mapping(rounded)
    assert got.dtype == dtype
    want = np.asarray(mapping(rounded.astype("float32")))
    tolerance = 2 * float(jnp.finfo(dtype).eps)
    np.testing.assert_allclose(np.asarray(got, "float32"), want, atol=tolerance)


def test_gradients_are_right_and_finite(mapping: Callable) -> None:
    cotangent = RNG.standard_normal((2, 7, 7))

    def score(logits: jax.Array) -> jax.Array:
        return jnp.sum(cotangent * mapping(logits, where=MASK))

    with jax.enable_x64(True):
        gradient = np.asarray(jax.jit(jax.grad(score))(jnp.asarray(LOGITS)))
        assert np.isfinite(gradient).all()
        assert (gradient[~MASK] == 0).all()
        for place in ((0, 2, 1), (1, 6, 3), (1, 4, 4)):
            step = np.zeros_like(LOGITS)
            step[place] = 1e-6
            rise = float(score(LOGITS + step) - score(LOGITS - step)) / 2e-6
            assert gradient[place] == pytest.approx(rise, abs=1e-6)


@pytest.mark.parametrize("name", ["top-k", "hard"])
def test_permutations_of_the_keys(name: str) -> None:
    order = RNG.permutation(7)
    got = MAPS[name](LOGITS[..., order])
    np.testing.assert_allclose(got, MAPS[name](LOGITS)[..., order], atol=1e-7)


@pytest.mark.parametrize("name", ["windowed", "selective"])
def test_order_counts(name: str) -> None:
    """Negative control: keys in another order get other weights."""
    got = np.asarray(MAPS[name](LOGITS[..., ::-1]))
    assert not np.allclose(got, np.asarray(MAPS[name](LOGITS))[..., ::-1], atol=1e-2)


def test_of_equal_logits_top_k_keeps_the_first() -> None:
    np.testing.assert_allclose(
        escapes.top_k(np.zeros(4), num_kept=2), [0.5, 0.5, 0.0, 0.0]
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: escapes.top_k([1.0], num_kept=0), ValueError, "num_kept must be >= 1"),
        (lambda: escapes.top_k([1.0], num_kept=1.5), TypeError, "num_kept"),
        (lambda: escapes.windowed([1.0], width=1), ValueError, "logits must be an arr"),
        (lambda: escapes.windowed([[1.0]], width=0), ValueError, "width must be >= 1"),
        (
            lambda: escapes.windowed([[1.0]], width=1, first_query=-1),
            ValueError,
            "first_query must be >= 0",
        ),
        (lambda: escapes.votes([1.0]), ValueError, "selection must be an array"),
        (lambda: escapes.votes([[np.inf]]), ValueError, "must be free of NaN"),
        (lambda: escapes.selective(np.ones((2, 3))), ValueError, "logits must be squ"),
        (
            lambda: escapes.selective(np.ones((2, 2)), selection=np.ones(3)),
            ValueError,
            "selection must be of shape",
        ),
        (
            lambda: escapes.differential([1.0], [1.0, 2.0], mix=1.0),
            ValueError,
            "subtracted must be of shape",
        ),
        (
            lambda: escapes.differential([1.0], [1.0], mix=np.nan),
            ValueError,
            "mix must be a number",
        ),
        (
            lambda: escapes.differential([1.0], [1.0], mix=np.ones((2, 1))),
            ValueError,
            r"mix must be of a shape that broadcasts to \(1,\)",
        ),
        (lambda: escapes.hard([1.0], where=[1.0]), TypeError, "where must be boolean"),
    ],
)
def test_bad_arguments(call: Callable, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
