"""Random transformers: three ways to compute them agree, and theorem 2.2 shows."""

import subprocess
import sys

import jax
import numpy as np
import pytest
from scipy.special import softmax

from sharp_attention.models.random_transformer import (
    Architecture,
    RandomTransformer,
    evaluate,
    evaluate_counts,
)
from sharp_attention.theory import dispersion, spread_bounds

# Two layers in float32, features of size 10.
FLOAT32 = 2e-4
# Few lengths, since XLA compiles once for each.
LONG = 128
SIZES = {
    "vocabulary": 6,
    "width": 8,
    "num_heads": 2,
    "num_layers": 2,
}


def draw(seed: int = 0, **choices: object) -> RandomTransformer:
    architecture = Architecture(**choices)
    return RandomTransformer.initialise(seed, architecture, **SIZES)


def tokens(length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, SIZES["vocabulary"], length)


def by_hand(model: RandomTransformer, features: np.ndarray) -> dict[str, np.ndarray]:
    """The same network in float64 NumPy, one head and one row at a time."""
    chosen, x = model.architecture, np.asarray(features, dtype=np.float64)
    seen = {name: [] for name in ("max_weight", "min_weight", "entropy", "spread")}
    for block in model.blocks:
        block = jax.tree.map(lambda leaf: np.asarray(leaf, np.float64), block)
        attended = np.zeros_like(x)
        for head in range(len(block.query)):
            maps = (block.query[head], block.key[head], block.value[head])
            q, k, v = (normal(x, chosen) @ m.T for m in maps)
            if chosen.positions == "rotary":
                q, k = turned(q), turned(k)
            for row in range(len(x)):
                items = np.array([i for i in range(len(x)) if sees(chosen, row, i)])
                logits = k[items] @ q[row] / np.sqrt(len(block.query[head]))
                if chosen.positions == "alibi":
                    slope = 2.0 ** (-8 * (head + 1) / len(block.query))
                    logits = logits - slope * np.abs(items - row)
                weights = softmax(logits)
                attended[row] += block.output[head] @ (weights @ v[items])
                seen["max_weight"].append(weights.max())
                seen["min_weight"].append(weights.min())
                seen["entropy"].append(-(weights * np.log(weights)).sum())
                seen["spread"].append(np.ptp(logits))
        x = x + attended
        hidden = normal(x, chosen) @ block.inner.T
        is_step = chosen.activation == "step"
        hidden = hidden > 0 if is_step else np.asarray(jax.nn.gelu(hidden))
        x = x + hidden @ block.outer.T
    shape = (len(model.blocks), len(model.blocks[0].query), len(x))
    return {"output": x} | {k: np.reshape(v, shape) for k, v in seen.items()}


def normal(x: np.ndarray, chosen: Architecture) -> np.ndarray:
    if not chosen.is_normalised:
        return x
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + 1e-6)


def sees(chosen: Architecture, row: int, item: int) -> bool:
    if chosen.style == "gpt" and item > row:
        return False
    return chosen.positions != "window" or abs(row - item) <= chosen.window


def turned(vectors: np.ndarray) -> np.ndarray:
    """Rotary positions with complex numbers."""
    half = vectors.shape[1] // 2
    angles = np.arange(len(vectors))[:, None] * 1e4 ** (-np.arange(half) / half)
    z = (vectors[:, :half] + 1j * vectors[:, half:]) * np.exp(1j * angles)
    return np.concatenate([z.real, z.imag], axis=1)


CHOICES = [
    pytest.param({}, id="bert"),
    pytest.param({"style": "gpt"}, id="gpt"),
    pytest.param({"positions": "rotary"}, id="bert-rotary"),
    pytest.param({"style": "gpt", "positions": "alibi"}, id="gpt-alibi"),
    pytest.param({"positions": "window", "window": 2}, id="bert-window"),
    pytest.param({"is_normalised": False}, id="without-norm"),
    pytest.param({"activation": "step"}, id="step"),
]


class TestEvaluate:
    @pytest.mark.parametrize("choices", CHOICES)
    def test_agrees_with_the_formulas(self, choices):
        model = draw(**choices)
        features = np.asarray(model.embed(tokens(12)))
        result, want = evaluate(model, features, block_size=4), by_hand(model, features)
        np.testing.assert_allclose(result.output, want["output"], atol=FLOAT32)
        for name, statistic in result.heads._asdict().items():
            np.testing.assert_allclose(statistic, want[name], atol=FLOAT32)

    def test_some_rows_are_those_of_all(self):
        model, rows = draw(style="gpt"), np.array([10, 0, 7, 7, 3, 11])
        features = model.embed(tokens(12))
        everything = evaluate(model, features, block_size=4)
        some = evaluate(model, features, rows=rows, block_size=4)
        np.testing.assert_allclose(some.output, everything.output[rows], atol=FLOAT32)
        for part, whole in zip(some.heads, everything.heads, strict=True):
            np.testing.assert_allclose(part, whole[..., rows], atol=FLOAT32)

    def test_gpt_row_does_not_know_what_comes_after(self):
        """So one run shows every size."""
        model, row = draw(style="gpt"), tokens(LONG)
        short = evaluate(model, model.embed(row[:12]), block_size=4)
        long = evaluate(model, model.embed(row))
        for part, whole in zip(short.heads, long.heads, strict=True):
            np.testing.assert_allclose(part, whole[..., :12], atol=FLOAT32)

    def test_shapes_and_types(self):
        result = evaluate(draw(), np.ones((12, 8)), rows=[4], block_size=4)
        assert result.output.shape == (1, 8)
        assert {s.shape for s in result.heads} == {(2, 2, 1)}
        assert {s.dtype for s in result.heads} == {np.dtype("float32")}

    def test_one_item_has_all_the_weight(self):
        heads = evaluate(draw(), np.ones((1, 8))).heads
        assert (heads.max_weight == 1).all()
        assert (heads.min_weight == 1).all()
        assert not heads.entropy.any()
        assert not heads.spread.any()

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            pytest.param({"features": np.ones((3, 7))}, "features must", id="width"),
            pytest.param({"features": np.ones(8)}, "features must", id="axes"),
            pytest.param({"features": np.ones((0, 8))}, "features must", id="empty"),
            pytest.param(
                {"features": np.full((3, 8), np.nan)}, "features must", id="nan"
            ),
            pytest.param({"rows": [3]}, "rows must", id="row-too-large"),
            pytest.param({"rows": [-1]}, "rows must", id="row-negative"),
            pytest.param({"rows": [0.0]}, "rows must", id="row-not-integer"),
            pytest.param({"block_size": 0}, "block_size must", id="block-size"),
        ],
    )
    def test_bad_input(self, arguments, text):
        with pytest.raises(ValueError, match=text):
            evaluate(draw(), **({"features": np.ones((3, 8))} | arguments))


class TestEvaluateCounts:
    @pytest.mark.parametrize("choices", [{}, {"is_normalised": False}])
    def test_agrees_with_item_by_item(self, choices):
        model, row = draw(**choices), tokens(LONG)
        counts = np.bincount(row, minlength=SIZES["vocabulary"])
        one_by_one = evaluate(model, model.embed(row))
        together = evaluate_counts(model, counts)
        np.testing.assert_allclose(
            one_by_one.output, together.output[row], atol=FLOAT32, rtol=FLOAT32
        )
        for each, bag in zip(one_by_one.heads, together.heads, strict=True):
            np.testing.assert_allclose(each, bag[..., row], atol=FLOAT32)

    def test_absent_token_takes_no_part(self):
        model, row = draw(), np.array([0, 1, 1, 3] * 3)
        heads = evaluate_counts(model, np.bincount(row, minlength=6)).heads
        alone = evaluate(model, model.embed(row), block_size=4).heads
        for bag, each in zip(heads, alone, strict=True):
            np.testing.assert_allclose(bag[..., row], each, atol=FLOAT32)

    @pytest.mark.parametrize(
        ("choices", "counts", "text"),
        [
            pytest.param({"style": "gpt"}, [1] * 6, "model.archit", id="causal"),
            pytest.param({"positions": "rotary"}, [1] * 6, "model.arch", id="places"),
            pytest.param({}, [1] * 5, "counts must be 6 numbers", id="length"),
            pytest.param({}, [0] * 6, "counts must be 6 numbers", id="nothing"),
            pytest.param({}, [-1] * 6, "counts must be >= 0", id="negative"),
        ],
    )
    def test_bad_input(self, choices, counts, text):
        with pytest.raises(ValueError, match=text):
            evaluate_counts(draw(**choices), counts)


def weight_at(model: RandomTransformer, *lengths: int) -> np.ndarray:
    """Largest weight at several lengths, (lengths, layers, heads), from a single run.

    Row i − 1 of a GPT-style model is the last row of a run on i items.
    """
    rows = np.array(lengths) - 1
    row = np.where(np.isin(np.arange(max(lengths)), rows), 0, tokens(max(lengths)))
    heads = evaluate(model, model.embed(row)).heads
    return np.moveaxis(np.asarray(heads.max_weight[..., rows]), -1, 0)


def growing(length: int) -> np.ndarray:
    """An infinite vocabulary: item k is a vector of length sqrt(k)."""
    return np.sqrt(np.arange(1, length + 1))[:, None] * np.ones(8) / 8**0.5


class TestDispersion:
    @pytest.mark.parametrize("seed", range(3))
    def test_bert_weights_are_theta_of_one_over_n(self, seed):
        sizes = 10.0 ** np.arange(2, 11, 2)
        per_item = [
            n * evaluate_counts(draw(seed), np.full(6, n / 6)).heads.max_weight
            for n in sizes
        ]
        # With equal shares of tokens n · weight is the same number at every size.
        np.testing.assert_allclose(per_item, per_item[0][None].repeat(5, 0), rtol=1e-3)

    def test_gpt_weights_are_theta_of_one_over_row(self):
        model = draw(style="gpt")
        heads = evaluate(model, model.embed(tokens(1024))).heads
        per_item = heads.max_weight[..., 100:] * np.arange(101, 1025)
        assert per_item.max() / per_item.min() < np.exp(heads.spread.max())
        assert (heads.max_weight[..., 0] == 1).all()

    @pytest.mark.parametrize(
        "choices",
        [
            pytest.param({"positions": "rotary"}, id="rotary"),
            pytest.param({"activation": "step"}, id="discontinuous"),
            pytest.param({"is_normalised": False}, id="without-norm"),
        ],
    )
    def test_still_disperses(self, choices):
        short, long = weight_at(draw(style="gpt", **choices), 64, 1024)
        assert (long < short / 4).all()

    @pytest.mark.parametrize(
        ("choices", "heads"),
        [
            # Slopes 1/16 and 1/256: the second head looks too far for 1024 items.
            pytest.param({"positions": "alibi"}, [0], id="alibi"),
            pytest.param({"positions": "window", "window": 8}, [0, 1], id="window"),
        ],
    )
    def test_negative_control_local_heads(self, choices, heads):
        short, long = weight_at(draw(style="gpt", **choices), 64, 1024)
        assert (long[:, heads] > short[:, heads] / 4).all()

    def test_negative_control_infinite_vocabulary(self):
        for is_normalised in (True, False):
            model = draw(is_normalised=is_normalised)
            weight = evaluate(model, growing(LONG)).heads.max_weight[0, :, -1]
            assert (weight < 3 / LONG).all() == is_normalised

    @pytest.mark.parametrize("seed", range(3))
    def test_norm_bounds_every_spread(self, seed):
        model = draw(seed, positions="rotary")
        heads = evaluate(model, 1e3 * model.embed(tokens(LONG))).heads
        for layer, block in enumerate(model.blocks):
            for head in range(2):
                bound = spread_bounds.normalised_spread_bound(
                    block.query[head], block.key[head]
                )
                assert heads.spread[layer, head].max() <= bound * (1 + 1e-5)

    def test_every_row_obeys_the_sharp_bounds(self):
        model = draw()
        heads = evaluate(model, model.embed(tokens(LONG))).heads
        lower, upper = dispersion.sharp_weight_bounds(np.asarray(heads.spread), LONG)
        assert (heads.max_weight <= upper * (1 + 1e-5)).all()
        assert (heads.min_weight >= lower * (1 - 1e-5)).all()
        floor = dispersion.entropy_floor(np.asarray(heads.spread), LONG)
        assert (heads.entropy >= floor - 1e-5).all()


class TestInitialise:
    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            pytest.param({"width": 30}, "width must be a multiple", id="pairs"),
            pytest.param({"vocabulary": 0}, "vocabulary must be >= 1", id="vocabulary"),
            pytest.param({"num_heads": 0}, "num_heads must be >= 1", id="heads"),
            pytest.param({"num_layers": 0}, "num_layers must be >= 1", id="layers"),
            pytest.param({"logit_scale": 0.0}, "logit_scale must be > 0", id="scale"),
        ],
    )
    def test_bad_size(self, arguments, text):
        with pytest.raises(ValueError, match=text):
            RandomTransformer.initialise(0, **arguments)

    def test_bad_window(self):
        with pytest.raises(ValueError, match="window must be >= 0"):
            Architecture(window=-1)

    @pytest.mark.parametrize("field", ["style", "positions", "activation"])
    def test_bad_choice(self, field):
        # The type checker of the test suite would refuse an unknown name first.
        with pytest.raises(Exception, match=f"{field} must be one of|Literal"):
            Architecture(**{field: "unknown"})

    def test_logit_scale_is_about_the_standard_deviation(self):
        scale = 3.0
        model = RandomTransformer.initialise(1, vocabulary=512, logit_scale=scale)
        block = model.blocks[0]
        x = normal(np.asarray(model.embedding), model.architecture)
        logits = (x @ block.query[0].T) @ (x @ block.key[0].T).T / 4
        # One draw of the matrices: within a quarter.
        assert logits.std() == pytest.approx(scale, rel=0.25)

    @pytest.mark.parametrize("row", [[6], [-1], [0.5], [[0]], []])
    def test_bad_tokens(self, row):
        with pytest.raises(ValueError, match="tokens must be"):
            draw().embed(row)


@pytest.mark.slow
def test_sixteen_thousand_items_fit_in_two_gigabytes():
    program = """
import resource
import numpy as np
from sharp_attention.models.random_transformer import RandomTransformer, evaluate
model = RandomTransformer.initialise(0)
features = model.embed(np.arange(16_384) % 16)
evaluate(model, features).output.block_until_ready()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    gigabytes = float(result.stdout)
    assert gigabytes < 2
