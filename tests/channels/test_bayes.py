"""The evidence of one sample: gradients, brute-force integrals, shares, bad input."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from sharp_attention.channels import bayes, largest_score
from sharp_attention.channels.interface import Fields, Variances
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR

POINTS = 40
SIGNAL, NOISE_VARIANCE, V_K, V_V = 1.7, 0.15, 0.6, 0.35
CASES = [(SpikedSLR(SIGNAL, 3), 3), *((MaxSLR(math.inf, n), n) for n in (2, 3, 4))]
IDS = ["spiked-3", "max-2", "max-3", "max-4"]

log_z_out = jax.jit(bayes.log_z_out, static_argnums=0)
g_out = jax.jit(bayes.g_out, static_argnums=0)
g_out_derivative = jax.jit(bayes.g_out_derivative, static_argnums=0)


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def numbers(length: int, seed: int = 0) -> tuple[Fields, Variances, bayes.Known]:
    rng = np.random.default_rng(seed)
    key, value = (tuple(jnp.asarray(x)) for x in rng.normal(size=(2, length, POINTS)))
    fields = Fields(key, value, jnp.asarray(1.5 * rng.normal(size=POINTS)))
    known = bayes.Known(jnp.asarray(SIGNAL), jnp.asarray(NOISE_VARIANCE))
    return fields, Variances(jnp.asarray(V_K), jnp.asarray(V_V)), known


def evidence(law, key, value, fields, variances, known) -> jax.Array:
    moved = Fields(tuple(key), tuple(value), fields.target)
    return log_z_out(law, moved, variances, known)


@pytest.mark.parametrize(
    ("task", "length"),
    [
        pytest.param(*case, id=name, marks=[pytest.mark.slow] if case[1] > 3 else [])
        for case, name in zip(CASES, IDS, strict=True)
    ],
)
def test_output_functions_are_the_gradient_of_the_evidence(task, length):
    law = bayes.position_law(task, length)
    fields, *rest = numbers(length)
    found = g_out(law, fields, *rest)

    def total(key, value):
        return jnp.sum(evidence(law, key, value, fields, *rest))

    pair = fields.key, fields.value
    automatic = jax.jit(jax.grad(total, argnums=(0, 1)))(*pair)
    for rows, slope in zip(found, automatic, strict=True):
        np.testing.assert_allclose(rows, slope, atol=1e-9)
    step = 1e-4
    for side, rows in enumerate(found):
        for token in range(length):
            ends = []
            for sign in (1, -1):
                moved = [list(rows) for rows in pair]
                moved[side][token] = moved[side][token] + sign * step
                ends.append(evidence(law, *moved, fields, *rest))
            finite = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(rows[token], finite, atol=1e-6)


@pytest.mark.parametrize(("task", "length"), CASES[:3], ids=IDS[:3])
def test_derivatives_of_the_output_functions(task, length):
    law = bayes.position_law(task, length)
    fields, *rest = numbers(length)
    found = g_out_derivative(law, fields, *rest)
    step = 1e-4
    for side, rows in zip(("key", "value"), found, strict=True):
        for token in range(length):
            ends = []
            for sign in (1, -1):
                moved = list(getattr(fields, side))
                moved[token] = moved[token] + sign * step
                output = g_out(law, fields._replace(**{side: tuple(moved)}), *rest)
                ends.append(getattr(output, side)[token])
            finite = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(rows[token], finite, atol=1e-6)


def test_closed_forms_of_the_spiked_task():
    law = bayes.position_law(SpikedSLR(SIGNAL, 3), 3)
    fields, variances, known = numbers(3)
    p = np.stack(bayes.posterior_weights(law, fields, variances, known))
    np.testing.assert_allclose(p.sum(axis=0), 1, rtol=1e-12)
    found = g_out(law, fields, variances, known)
    np.testing.assert_allclose(np.stack(found.key), math.sqrt(SIGNAL) * p, rtol=1e-12)
    slopes = np.stack(g_out_derivative(law, fields, variances, known).key)
    np.testing.assert_allclose(slopes, SIGNAL * p * (1 - p), rtol=1e-10)


@pytest.mark.parametrize("task", [SpikedSLR(SIGNAL, 2), MaxSLR(math.inf, 2)])
def test_evidence_by_brute_force(task):
    """Integrate the law of a sample over what is not known of its fields."""
    law = bayes.position_law(task, 2)
    fields, variances, known = numbers(2)
    found = np.exp(log_z_out(law, fields, variances, known))
    # One grid for chi of two tokens; a step of the max law needs a fine one.
    nodes = np.linspace(-8, 8, 1601)
    weight = stats.norm.pdf(nodes) * (nodes[1] - nodes[0])
    for point in range(5):
        a, b = (np.array([row[point] for row in rows]) for rows in fields[:2])
        y = float(fields.target[point])
        chi = [mean + math.sqrt(V_K) * nodes for mean in a]
        total = 0.0
        for e in range(2):
            if isinstance(task, SpikedSLR):
                ratio = np.exp(math.sqrt(SIGNAL) * chi[e] - SIGNAL / 2)
                share = weight @ ratio / 2
            else:
                above = chi[e][:, None] > chi[1 - e]
                equal = chi[e][:, None] == chi[1 - e]
                share = weight @ (above + equal / 2) @ weight
            sigma = math.sqrt(NOISE_VARIANCE)
            label, _ = integrate.quad(
                lambda z, e=e, sigma=sigma, b=b, y=y: (
                    stats.norm.pdf(z, b[e], math.sqrt(V_V))
                    * stats.norm.pdf(y, z, sigma)
                ),
                -10,
                10,
            )
            total += share * label
        # The grid resolves the step of the max law to 1e-3.
        tolerance = 1e-9 if isinstance(task, SpikedSLR) else 2e-3
        assert found[point] == pytest.approx(total, rel=tolerance)


def test_max_shares_by_sampling():
    law = bayes.position_law(MaxSLR(math.inf, 5), 5)
    fields, variances, known = numbers(5)
    found = np.stack(bayes.position_weights(law, fields.key, variances.key, known))
    draws = np.random.default_rng(1).standard_normal((5, 100_000))
    scores = np.stack(fields.key)[:, :1] + math.sqrt(V_K) * draws
    counted = np.bincount(scores.argmax(axis=0), minlength=5) / draws.shape[1]
    error = np.sqrt(found[:, 0] * (1 - found[:, 0]) / draws.shape[1])
    assert np.all(np.abs(counted - found[:, 0]) < 5 * error)


def test_closed_forms_of_the_largest_score_agree_with_the_integral():
    """Four variables of which one is far below are three."""
    means = numbers(3)[0].key
    scale = jnp.asarray(0.7)
    far = jnp.full_like(means[0], -50.0)
    four = largest_score.shares((*means, far), scale)
    three = largest_score.shares(means, scale)
    np.testing.assert_allclose(jnp.stack(four[:3]), jnp.stack(three), atol=1e-11)
    two = largest_score.shares((*means[:2], far), scale)
    pair = largest_score.shares(means[:2], scale)
    np.testing.assert_allclose(jnp.stack(two[:2]), jnp.stack(pair), atol=1e-11)
    tied = largest_score.ties((*means, far), scale)
    for place, value in largest_score.ties(means, scale).items():
        np.testing.assert_allclose(tied[place], value, atol=1e-11)
    for place, value in largest_score.ties(means[:2], scale).items():
        far_tie = largest_score.ties((*means[:2], far), scale)[place]
        np.testing.assert_allclose(far_tie, value, atol=1e-11)
    (alone,) = largest_score.shares(means[:1], scale)
    assert jnp.all(alone == 1)


@pytest.mark.parametrize("length", [2, 3, 6])
def test_shares_of_equal_means_are_equal(length):
    rows = tuple(jnp.zeros(3) for _ in range(length))
    found = largest_score.shares(rows, jnp.asarray(0.3))
    np.testing.assert_allclose(jnp.stack(found), 1 / length, atol=1e-9)


@pytest.mark.medium
def test_nishimori_identity_of_one_sample():
    """E d g + E g^2 is what a text brings by itself: nu (spiked), nothing (max)."""
    rng = np.random.default_rng(3)
    points, length, q_k, q_v = 50_000, 3, 0.4, 0.6
    for task in (SpikedSLR(SIGNAL, length), MaxSLR(math.inf, length)):
        law = bayes.position_law(task, length)
        chi = rng.standard_normal((length, points))
        if isinstance(task, SpikedSLR):
            chi[0] += math.sqrt(SIGNAL)
        else:
            chi = np.sort(chi, axis=0)[::-1]
        noise, value, label = (
            rng.standard_normal(shape)
            for shape in ((length, points), (length, points), points)
        )
        key = q_k * chi + math.sqrt(q_k * (1 - q_k)) * noise
        value = math.sqrt(q_v) * value
        y = value[0] + math.sqrt(NOISE_VARIANCE + 1 - q_v) * label
        fields = Fields(
            tuple(jnp.asarray(key)), tuple(jnp.asarray(value)), jnp.asarray(y)
        )
        variances = Variances(jnp.asarray(1 - q_k), jnp.asarray(1 - q_v))
        known = bayes.Known(jnp.asarray(SIGNAL), jnp.asarray(NOISE_VARIANCE))
        output = g_out(law, fields, variances, known)
        slopes = g_out_derivative(law, fields, variances, known)
        for side, brought in (("key", float(law.tilt(known.signal))), ("value", 0.0)):
            pairs = zip(getattr(slopes, side), getattr(output, side), strict=True)
            sums = np.asarray(sum(slope + g**2 for slope, g in pairs))
            error = 5 * sums.std() / math.sqrt(points) + 1e-12
            assert abs(sums.mean() - brought) < error


def test_bad_input():
    with pytest.raises(ValueError, match="signal must be infinite in the max task"):
        bayes.position_law(MaxSLR(2.0, 3), 3)
    with pytest.raises(ValueError, match="length must be <= 64; received 65"):
        bayes.position_law(SpikedSLR(1.0, 65), 65)
