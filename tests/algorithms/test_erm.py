"""Minimisation against another optimiser, ridge regression, and its own promises."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize

from sharp_attention.algorithms import erm, instances, objective
from sharp_attention.tasks.single_location import MaxSLR, SpikedSLR

NOISE = math.sqrt(0.1)
TASK = SpikedSLR(1.0, 3, NOISE)
KEY = jax.random.key(0)
DIM, RATIO = 40, 4.0
OTHERS = [name for name in objective.ACTIVATIONS if name != "softmax"]


def fit(activation="softmax", ridge=1.0, **settings):
    return erm.fit(KEY, TASK, activation, DIM, RATIO, ridge, ridge, **settings)


@pytest.mark.medium
@pytest.mark.parametrize(
    "activation",
    [
        "softmax",
        *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS),
    ],
)
def test_scipy_finds_the_same_minimum(activation):
    found = fit(activation, dtype="float64")
    problem = instances.check_problem(
        TASK, activation, DIM, RATIO, 1.0, 1.0, 0.0, "float64"
    )
    drawn = instances.draw_instance(KEY, 0, problem, "informed")
    with jax.enable_x64(True):
        evaluate = jax.jit(
            jax.value_and_grad(
                lambda head: objective.objective(
                    objective.Head(*head),
                    drawn.data,
                    problem.penalty,
                    activation,
                    0.0,
                )
            )
        )
        start = np.stack(drawn.start)
        other = optimize.minimize(
            lambda x: [np.asarray(y).ravel() for y in evaluate(x.reshape(2, DIM))],
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options={"ftol": 1e-15, "gtol": 1e-9},
        )
    assert found.energy == pytest.approx(float(other.fun) / DIM, rel=1e-9)
    np.testing.assert_allclose(found.key[0], other.x[:DIM], atol=1e-4)


def test_the_gradient_vanishes():
    found = fit(dtype="float64")
    assert found.is_converged
    assert found.gradient < 1e-6
    assert found.status.startswith("converged: 1 of 1 instances")


def test_a_large_key_ridge_leaves_ridge_regression_on_the_mean_token():
    # With curvatures from 0.5 to 1e4 rounding ends the line search near 1e-5.
    found = erm.fit(
        KEY, TASK, "softmax", DIM, RATIO, 1e4, 0.5, dtype="float64", tol=1e-4
    )
    problem = instances.check_problem(
        TASK, "softmax", DIM, RATIO, 1e4, 0.5, 0.0, "float64"
    )
    samples = instances.draw_instance(KEY, 0, problem, "informed").samples
    mean = np.asarray(samples.tokens).mean(axis=1) / math.sqrt(DIM)
    right = np.linalg.solve(
        mean.T @ mean + 0.5 * np.eye(DIM), mean.T @ np.asarray(samples.target)
    )
    # At r_k = 1e4 the key is not quite zero: 1e-3 of the value's entries of order one.
    assert found.is_converged
    np.testing.assert_allclose(found.value[0], right, atol=1e-3)


def test_a_failed_line_search_is_no_convergence():
    # From zero, with ridges of 1e8 and 1/2, L-BFGS takes a step that gains nothing.
    zero = np.zeros(DIM), np.zeros(DIM)
    found = erm.fit(
        KEY, TASK, "softmax", DIM, RATIO, 1e8, 0.5, dtype="float64", init=zero
    )
    assert found.gradient > 1.0
    assert not found.is_converged
    assert found.status.startswith("not converged")


@pytest.mark.slow
def test_single_precision_texts_give_nearly_the_same():
    single, double = fit(), fit(dtype="float64")
    # Texts are drawn anew in each precision: JAX gives other numbers, so compare risks.
    assert single.test_risk == pytest.approx(double.test_risk, abs=0.2)
    assert single.key.dtype == np.float64


def test_energy_is_loss_plus_penalty():
    found = fit()
    expected = (
        RATIO * found.training_loss + found.overlaps.q_k + found.overlaps.q_v
    ) / 2
    assert found.energy == pytest.approx(expected, rel=1e-12)


def test_instances_do_not_depend_on_their_number():
    alone, together = fit(), fit(num_instances=3)
    assert np.shape(together.test_risk) == (3,)
    assert together.overlaps.shape == (3,)
    assert together.test_risk[0] == pytest.approx(alone.test_risk, rel=1e-12)
    assert len(set(np.round(together.test_risk, 6))) == 3


@pytest.mark.slow
def test_instances_side_by_side_give_the_same():
    one_by_one = fit(num_instances=2)
    together = fit(num_instances=2, batch_size=2)
    np.testing.assert_allclose(together.energy, one_by_one.energy, rtol=1e-6)


def test_random_starts_and_given_heads():
    right = fit(dtype="float64")
    random = fit(init="random", dtype="float64")
    assert random.energy == pytest.approx(right.energy, rel=1e-8)
    again = fit(init=(right.key[0], right.value[0]), dtype="float64")
    assert again.num_steps <= 2


def test_same_key_same_result():
    assert fit().test_risk == fit().test_risk
    other = erm.fit(jax.random.key(1), TASK, "softmax", DIM, RATIO, 1.0, 1.0)
    assert other.test_risk != fit().test_risk


def test_progress_is_reported():
    seen = []
    fit(ridge=0.01, progress=seen.append, progress_steps=5, max_steps=20)
    assert [int(one.num_steps[0]) for one in seen] == [5, 10, 15, 20]
    assert seen[-1].state.head.key.shape == (1, DIM)
    assert seen[-1].slope[0] < seen[0].slope[0]


def test_all_stretches_of_a_descent_have_the_same_types():
    seen = []
    fit(ridge=0.01, progress=seen.append, progress_steps=5, max_steps=5)
    with jax.enable_x64(True):
        blank = jax.tree.leaves(erm.blank_state(DIM))
    types = [(leaf.dtype, leaf.weak_type) for leaf in jax.tree.leaves(seen[0].state)]
    assert [(leaf.dtype, leaf.weak_type) for leaf in blank] == types


@pytest.mark.medium
def test_a_descent_that_was_stopped_goes_on_as_if_it_had_not(tmp_path):
    seen = []
    whole = fit(ridge=0.1, progress=seen.append, progress_steps=7)
    path = tmp_path / "state.eqx"
    with jax.enable_x64(True):
        eqx.tree_serialise_leaves(path, seen[0].state)
        state = eqx.tree_deserialise_leaves(path, erm.blank_state(DIM))
    resumed = fit(ridge=0.1, progress_steps=7, state=state)
    assert resumed.num_steps == whole.num_steps > 7
    np.testing.assert_array_equal(resumed.key, whole.key)
    with pytest.raises(ValueError, match="state must be None where the instances"):
        fit(num_instances=2, batch_size=1, state=state)


def test_instances_can_be_taken_one_at_a_time():
    together = fit(num_instances=2)
    second = fit(first_instance=1)
    assert second.test_risk == pytest.approx(together.test_risk[1], rel=1e-12)


def test_too_few_steps_are_reported():
    found = fit(ridge=0.01, max_steps=2)
    assert not found.is_converged
    assert found.status.startswith("not converged: 0 of 1 instances, gradient")
    assert np.isfinite([found.test_risk, found.energy, found.gradient]).all()
    with pytest.raises(RuntimeError, match="not converged"):
        fit(ridge=0.01, max_steps=2, throw=True)


@pytest.mark.slow
def test_without_ridge_nothing_breaks():
    task = MaxSLR(math.inf, 3)
    found = erm.fit(KEY, task, "softmax", DIM, 0.5, 0.0, 0.0, max_steps=200)
    assert np.isfinite([found.test_risk, found.energy, found.gradient]).all()
    assert found.training_loss < 1e-4  # more parameters than samples


@pytest.mark.slow
def test_random_lengths():
    task = SpikedSLR(1.0, {2: 0.5, 4: 0.5}, NOISE)
    found = erm.fit(KEY, task, "softmax", DIM, RATIO, 1.0, 1.0)
    assert found.is_converged
    assert 0.1 < found.test_risk < 1.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"activation": "relu"}, "activation must be one of"),
        ({"dim": 1}, "dim must be >= 2"),
        ({"sample_ratio": 0.0}, "sample_ratio must be > 0; received 0.0"),
        ({"sample_ratio": 0.001}, "large enough for one text"),
        ({"ridge_k": -1.0}, "ridge_k must be >= 0; received -1.0"),
        ({"ridge_v": math.nan}, "ridge_v must be a number"),
        ({"init": "cold"}, "init must be one of 'informed', 'random'"),
        ({"init": (np.zeros(3), np.zeros(3))}, r"init must be two arrays \(40,\)"),
        ({"num_instances": 0}, "num_instances must be >= 1"),
        ({"first_instance": -1}, "first_instance must be >= 0"),
        ({"batch_size": 0}, "batch_size must be >= 1"),
        ({"dtype": "float16"}, "dtype must be one of"),
        ({"max_steps": 0}, "max_steps must be >= 1"),
        ({"tol": -1.0}, "tol must be >= 0"),
        ({"progress_steps": 0}, "progress_steps must be >= 1"),
    ],
    ids=lambda case: "-".join(case) if isinstance(case, dict) else None,
)
def test_bad_input_is_named(change, message):
    arguments = {
        "rng_key": KEY,
        "task": TASK,
        "activation": "softmax",
        "dim": DIM,
        "sample_ratio": RATIO,
        "ridge_k": 1.0,
        "ridge_v": 1.0,
    }
    with pytest.raises(ValueError, match=message):
        erm.fit(**{**arguments, **change})


def test_double_precision_does_not_leak():
    fit()
    assert jnp.asarray(1.0).dtype == jnp.float32
