"""Claims about Theorem 2.2: whole transformers disperse, and what escapes."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.models import positions, random_transformer
from sharp_attention.theory import dispersion, spread_bounds

__all__: list[str] = []

_theorem = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="Theorem 2.2",
    chapter="dispersion-lemma",
    confidence="A",
)
_refinement = functools.partial(
    declare,
    paper="ours",
    place="Theorem 2.2, refined",
    chapter="dispersion-lemma",
    confidence="D",
)
_LENGTH = 1024


def _model(**choices: Any) -> random_transformer.RandomTransformer:
    architecture = random_transformer.Architecture(**choices)
    return random_transformer.RandomTransformer.initialise(0, architecture)


def _run(
    model: random_transformer.RandomTransformer,
) -> random_transformer.HeadStatistics:
    tokens = np.random.default_rng(0).integers(0, 16, _LENGTH)
    return random_transformer.evaluate(model, model.embed(tokens)).heads


def _fall(**choices: Any) -> Float64:
    """Mean largest weight of the last 64 rows over that of rows 32 to 64, per head.

    Row i of a GPT-style model sees i items, so one run shows all sizes; 1/n falls by
    a factor of 20 on the way.
    """
    weight = np.asarray(_run(_model(style="gpt", **choices)).max_weight, np.float64)
    return np.asarray(weight[..., -64:].mean(-1) / weight[..., 32:64].mean(-1))


@_theorem(
    "bert-disperses",
    statement="BERT style: every weight of every head and layer is Theta(1/n) "
    "(measured: exponent of n in the largest weight from 10**4 to 10**8 items, "
    "whichever is furthest from -1).",
    quoted_value=-1.0,
    tolerance=1e-3,
)
def _bert_disperses() -> Measurement:
    model, shares = _model(), np.random.default_rng(0).dirichlet(np.ones(16))
    weights = [
        np.asarray(random_transformer.evaluate_counts(model, n * shares).heads[0])
        for n in (1e4, 1e8)
    ]
    exponents = np.log10(weights[1] / weights[0]).ravel() / 4
    return Measurement(float(exponents[np.abs(exponents + 1).argmax()]))


@_theorem(
    "gpt-disperses",
    statement="GPT style: row i is Theta(1/i) (measured: exponent of i in the largest "
    "weight of the heads, whichever is furthest from -1).",
    quoted_value=-1.0,
    tolerance=0.1,
    confidence="D",
)
def _gpt_disperses() -> Measurement:
    weight = np.asarray(_run(_model(style="gpt")).max_weight).reshape(4, _LENGTH)
    rows = np.arange(128, _LENGTH)
    exponents = np.polyfit(np.log(rows + 1), np.log(weight[:, rows].T), 1)[0]
    return Measurement(float(exponents[np.abs(exponents + 1).argmax()]))


@_refinement(
    "gpt-first-row-never-disperses",
    statement="GPT style: the first row keeps weight 1 for every n (measured: smallest "
    "largest weight of row 1).",
    quoted_value=1.0,
)
def _gpt_first_row_never_disperses() -> Measurement:
    return Measurement(float(_run(_model(style="gpt")).max_weight[..., 0].min()))


@_theorem(
    "rows-obey-the-lemma",
    statement="Every row of a transformer obeys the sharp form of Lemma 2.1 at its own "
    "spread (measured: largest weight over bound).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-4,
)
def _rows_obey_the_lemma() -> Measurement:
    heads = _run(_model(style="gpt", positions="alibi"))
    sizes = np.arange(1, _LENGTH + 1)
    spread = np.asarray(heads.spread, dtype=np.float64)
    upper = dispersion.sharp_weight_bounds(spread, sizes)[1]
    return Measurement(float((heads.max_weight / upper).max()))


def _norm(matrix: Any) -> float:
    return float(np.linalg.norm(np.asarray(matrix), ord=2))


@_theorem(
    "features-stay-bounded",
    statement="Features stay in a bounded set that does not depend on n (measured: "
    "largest length of an output, up to 10**9 items, over a bound from the weights).",
    quoted_value=1.0,
    comparison="at most",
)
def _features_stay_bounded() -> Measurement:
    model, rng = _model(), np.random.default_rng(0)
    width = model.embedding.shape[1]
    bound = np.linalg.norm(np.asarray(model.embedding), axis=-1).max()
    for block in model.blocks:
        heads = zip(block.output, block.value, strict=True)
        attention = sum(_norm(output) * _norm(value) for output, value in heads)
        feed_forward = _norm(block.outer) * _norm(block.inner)
        bound += (attention + feed_forward) * width**0.5
    lengths = []
    for size in (1e1, 1e3, 1e6, 1e9):
        counts = size * rng.dirichlet(np.full(16, 0.1))
        output = random_transformer.evaluate_counts(model, counts).output
        lengths.append(np.linalg.norm(np.asarray(output), axis=-1).max())
    return Measurement(float(max(lengths) / bound))


@_refinement(
    "rotary-positions-disperse",
    statement="Rotary positions keep the spread bounded, so that heads disperse "
    "(measured: fall of the largest weight over 20-fold length, worst head).",
    quoted_value=0.25,
    comparison="at most",
)
def _rotary_positions_disperse() -> Measurement:
    return Measurement(float(_fall(positions="rotary").max()))


@_refinement(
    "discontinuous-blocks-disperse",
    statement="A discontinuous but bounded feed-forward map does not stop dispersion "
    "(measured: fall of the largest weight over 20-fold length, worst head).",
    quoted_value=0.1,
    comparison="at most",
)
def _discontinuous_blocks_disperse() -> Measurement:
    return Measurement(float(_fall(activation="step").max()))


@_refinement(
    "alibi-escapes",
    statement="ALiBi lets the spread grow with n and escapes (measured: the largest "
    "weight of its steepest head over 20-fold length, later over earlier).",
    quoted_value=0.5,
    comparison="at least",
)
def _alibi_escapes() -> Measurement:
    return Measurement(float(_fall(positions="alibi")[:, 0].min()))


@_theorem(
    "windows-escape",
    statement="Local heads, which see a window of fixed width, escape (measured: the "
    "largest weight over 20-fold length, later over earlier, worst head).",
    quoted_value=0.5,
    comparison="at least",
)
def _windows_escape() -> Measurement:
    return Measurement(float(_fall(positions="window").min()))


def _growing_items(is_normalised: bool) -> float:
    """Largest n · weight in the first layer; item k is a vector of length √k."""
    lengths = np.sqrt(np.arange(1, _LENGTH + 1))
    features = lengths[:, None] * np.full(32, 32**-0.5)
    model = _model(is_normalised=is_normalised)
    heads = random_transformer.evaluate(model, features).heads
    return float(_LENGTH * heads.max_weight[0, :, -1].max())


@_theorem(
    "infinite-vocabulary-escapes",
    statement="With an infinite vocabulary the theorem does not apply (measured: n "
    "times the largest weight when item k is a vector of length sqrt(k)).",
    quoted_value=100.0,
    comparison="at least",
)
def _infinite_vocabulary_escapes() -> Measurement:
    return Measurement(_growing_items(is_normalised=False))


@_refinement(
    "norm-needs-no-vocabulary",
    statement="With a norm right before queries and keys heads disperse without any "
    "assumption on the vocabulary (measured: n times the largest weight on the same "
    "items).",
    quoted_value=1.01,
    comparison="at most",
)
def _norm_needs_no_vocabulary() -> Measurement:
    return Measurement(_growing_items(is_normalised=True))


@_theorem(
    "temperature-that-falls-with-n-escapes",
    statement="The temperature must not depend on n: with theta = 1/(2 log n) the "
    "largest possible weight at spread 1 does not fall (measured at 10**12 items).",
    quoted_value=0.99,
    comparison="at least",
)
def _temperature_that_falls_with_n_escapes() -> Measurement:
    theta = 1 / (2 * np.log(1e12))
    return Measurement(float(dispersion.sharp_weight_bounds(1.0, 10**12, theta)[1]))


@_refinement(
    "norm-bounds-spread",
    statement="With a norm right before queries and keys the spread is at most "
    "2 d sigma(Q) sigma(K)/sqrt(head dimension), with rotary positions and for any "
    "input (measured: largest spread over bound).",
    quoted_value=1.0,
    comparison="at most",
    tolerance=1e-4,
)
def _norm_bounds_spread() -> Measurement:
    model = _model(style="gpt", positions="rotary")
    features = 1e3 * np.random.default_rng(0).normal(size=(_LENGTH, 32))
    heads = random_transformer.evaluate(model, features).heads
    bounds = [
        [
            spread_bounds.normalised_spread_bound(query, key)
            for query, key in zip(block.query, block.key, strict=True)
        ]
        for block in model.blocks
    ]
    return Measurement(float((heads.spread.max(-1) / np.array(bounds)).max()))


@_refinement(
    "product-of-matrices-is-not-enough",
    statement="With rotary positions logits of 2 are possible although Q^T K = 0 "
    "(measured: largest logit of normalised items 11 places apart, in two dimensions).",
    quoted_value=2.0,
    tolerance=1e-4,
)
def _product_of_matrices_is_not_enough() -> Measurement:
    queries, keys = np.diag([2**0.5, 0.0]), np.diag([0.0, 2**0.5])
    mapped = jnp.asarray([queries[0], keys[1]])  # Q x and K y, |x| = |y| = √2
    turned = positions.rotate(mapped[:, None].repeat(12, axis=1))
    return Measurement(float(jnp.abs(turned[0] @ turned[1].T).max()))


@_refinement(
    "bags-equal-items",
    statement="Computing each token once with its multiplicity equals computing each "
    "item (measured: largest difference of a weight).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=1e-6,
)
def _bags_equal_items() -> Measurement:
    model, tokens = _model(), np.random.default_rng(0).integers(0, 16, _LENGTH)
    bag = random_transformer.evaluate_counts(model, np.bincount(tokens, minlength=16))
    items = random_transformer.evaluate(model, model.embed(tokens))
    difference = items.heads.max_weight - bag.heads.max_weight[..., tokens]
    return Measurement(float(np.abs(difference).max()))
