"""Heads trained at one length and used at another."""

import inspect
import math

import numpy as np
import pytest

from population_reference import VALUES
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR
from sharp_attention.theory.single_location import bayes, population
from sharp_attention.theory.single_location import size_generalisation as size

ROWS = VALUES["size_generalisation"]["rows"]
SPIKED = [row for row in ROWS if row["task"] == "spiked" and row["nu"] == 10.0]
MAX = [row for row in ROWS if row["task"] == "max" and row["L_test"] == 256]


def number(value):
    return math.inf if value == "inf" else float(value)


def trained_and_test(row):
    kind = SpikedSLR if row["task"] == "spiked" else MaxSLR
    task = kind(number(row["nu"]), row["L_train"])
    head = size.train(task, number(row["K"]))
    return head, size.at_length(task, row["L_test"])


def name(row):
    return f"{row['task']}-{row['nu']}-{row['K']}-{row['L_test']}"


@pytest.mark.parametrize(
    "row", SPIKED + [pytest.param(row, marks=pytest.mark.slow) for row in MAX], ids=name
)
def test_reference(row):
    head, test = trained_and_test(row)
    assert head.sharpness == pytest.approx(row["beta_train"], rel=1e-12)
    assert head.read_out == pytest.approx(row["m_v"], rel=1e-8)
    assert size.frozen_risk(head, test) == pytest.approx(row["risk"], rel=1e-8)
    refit = size.best_read_out(test, head.sharpness)
    fitted = size.TrainedHead(head.sharpness, refit, math.nan)
    risk = size.frozen_risk(fitted, test)
    assert risk == pytest.approx(row["risk_mv_refit"], rel=1e-8)


@pytest.mark.parametrize(
    "row",
    [*SPIKED[:1], *SPIKED[6:7], pytest.param(MAX[-1], marks=pytest.mark.slow)],
    ids=name,
)
def test_best_sharpness_of_the_reference(row):
    head, test = trained_and_test(row)
    found = size.best_sharpness(test, head.read_out)
    # Both searches compare values of a smooth minimum; the file's can be a little off.
    assert found == pytest.approx(row["beta_opt"], rel=5e-5)
    best = size.TrainedHead(found, head.read_out, math.nan)
    assert size.frozen_risk(best, test) < row["risk_beta_opt"] + 1e-12


class TestTraining:
    def test_the_bayes_head_where_it_is_short_enough(self):
        head = size.train(SpikedSLR(2.0, 10, noise=0.5), 7.0)
        assert head.sharpness == math.sqrt(2.0)
        assert head.read_out == pytest.approx(1.0, abs=1e-12)
        bayes = population.bayes_risk(SpikedSLR(2.0, 10))
        assert head.risk == pytest.approx(bayes + 0.25, abs=1e-12)

    def test_no_other_read_out_is_better(self):
        task = SpikedSLR(10.0, 16)
        head = size.train(task, 2.0)
        for read_out in (head.read_out - 1e-3, head.read_out + 1e-3):
            other = size.TrainedHead(2.0, read_out, math.nan)
            assert size.frozen_risk(other, task) > head.risk

    def test_one_length_of_training_may_be_random(self):
        head = size.train(SpikedSLR(10.0, {8: 0.5, 32: 0.5}), 2.0)
        ends = [size.train(SpikedSLR(10.0, n), 2.0).read_out for n in (8, 32)]
        assert ends[0] < head.read_out < ends[1]


class TestBestSharpness:
    def test_of_the_bayes_read_out_does_not_depend_on_the_length(self):
        for length in (16, 2**16):
            found = size.best_sharpness(SpikedSLR(10.0, length), 1.0)
            assert found == pytest.approx(math.sqrt(10.0), rel=1e-5)

    def test_tends_to_the_asymptotic_one(self):
        read_out = 1.0851378633540498
        limit = size.asymptotic_sharpness(10.0, read_out)
        assert limit / 2 == pytest.approx(1.5693, abs=5e-5)
        far = size.best_sharpness(SpikedSLR(10.0, 2**20), read_out)
        assert far == pytest.approx(limit, rel=0.01)
        assert far < limit < math.sqrt(10.0)


class TestAsymptoticSharpness:
    @pytest.mark.parametrize(
        ("signal", "read_out"), [(10.0, 1.2), (30.0, 2.0), (4.0, 1.5), (0.5, 3.0)]
    )
    def test_solves_its_equation(self, signal, read_out):
        beta = size.asymptotic_sharpness(signal, read_out)
        root = math.sqrt(signal)
        both = root * math.exp(beta * root), read_out * beta * math.exp(beta**2)
        assert both[0] == pytest.approx(both[1], rel=1e-10)
        assert 0 < beta < root

    def test_first_order_in_the_read_out(self):
        root = math.sqrt(10.0)
        beta = size.asymptotic_sharpness(10.0, 1.001)
        first = root - math.log(1.001) / (root + 1 / root)
        assert beta == pytest.approx(first, abs=1e-6)
        assert size.asymptotic_sharpness(10.0, 1.0) == root

    def test_the_branch_ends(self):
        with pytest.raises(ValueError, match="read_out must be small enough"):
            size.asymptotic_sharpness(10.0, 30.0)


class TestMaxTask:
    HARD = MaxSLR(math.inf, 16)

    def test_a_hard_maximum_leaves_the_excess_of_the_read_out(self):
        for read_out in (0.8, 1.0, 1.3):
            head = size.TrainedHead(math.inf, read_out, math.nan)
            found = size.frozen_risk(head, self.HARD)
            assert found == pytest.approx((read_out - 1) ** 2, abs=1e-12)

    @pytest.mark.slow
    def test_nearly_hard(self):
        for sharpness in (40.0, 80.0):
            head = Overlaps(sharpness, sharpness**2, 1.3, 1.69)
            exact = population.risk(self.HARD, "softmax", head)
            found = size.nearly_hard_risk(16, sharpness, 1.3)
            assert found == pytest.approx(exact, abs=3 / sharpness**2)

    def test_nearly_hard_at_two_tokens_in_closed_form(self):
        # The gap of two normal variables has the density 1/sqrt(pi) at zero.
        found = size.nearly_hard_risk(2, 50.0, 1.0) * 50
        assert found == pytest.approx((2 * math.log(2) - 1) / math.sqrt(math.pi))

    @pytest.mark.parametrize("length", [5, 10**6, 10**60, 10**300])
    def test_nearly_hard_at_any_length(self, length):
        # The density of the gap at zero is the mean of the largest score, by parts.
        found = size.nearly_hard_risk(length, 50.0, 1.0) * 50
        largest = bayes.mean_score(math.inf, length)
        assert found == pytest.approx((2 * math.log(2) - 1) * largest, rel=1e-12)

    def test_sharper_is_better_up_to_twice_the_log_of_two(self):
        for read_out, sign in ((1.38, 1), (1.39, -1)):
            excess = size.nearly_hard_risk(16, 50.0, read_out) - (read_out - 1) ** 2
            assert np.sign(excess) == sign

    @pytest.mark.slow
    def test_the_best_sharpness_is_infinite_only_for_small_read_outs(self):
        assert size.best_sharpness(self.HARD, 1.2) == math.inf
        assert size.best_sharpness(self.HARD, 2.5) < 6

    def test_rescaling_with_the_length(self):
        assert size.length_rescaling(16, 16) == 1
        assert size.length_rescaling(10, 10**40) == pytest.approx(math.sqrt(40))
        assert size.length_rescaling(16, 1) == 0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: size.train(SpikedSLR(1.0, 3), 0.0), "max_sharpness must be > 0"),
        (lambda: size.train(MaxSLR(math.inf, 3)), "max_sharpness must be finite"),
        (lambda: size.best_read_out(SpikedSLR(1.0, 3), -1.0), "sharpness must be >= 0"),
        (lambda: size.best_sharpness(SpikedSLR(1.0, 3), 0.0), "read_out must be > 0"),
        (lambda: size.best_sharpness(SpikedSLR(0.0, 3), 1.0), "signal must be > 0"),
        (lambda: size.asymptotic_sharpness(1.0, 0.5), "read_out must be >= 1"),
        (lambda: size.length_rescaling(1, 4), "trained_length must be >= 2"),
        (lambda: size.nearly_hard_risk(1, 1.0, 1.0), "length must be >= 2"),
        (lambda: size.nearly_hard_risk(10**400, 1.0, 1.0), "length must be at most"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (size.train, (None,)),
        (size.best_read_out, (None, 1.0)),
        (size.best_sharpness, (None, 1.0)),
        (size.at_length, (None, 3)),
        (size.frozen_risk, (size.TrainedHead(1.0, 1.0, 1.0), None)),
    ],
)
def test_what_is_no_task(function, arguments):
    # Without the hooks of the tests, which look at types before anything is called.
    with pytest.raises(TypeError, match="task must be a SpikedSLR or a MaxSLR"):
        inspect.unwrap(function)(*arguments)


def test_what_is_no_head():
    with pytest.raises(TypeError, match="head must be a TrainedHead"):
        inspect.unwrap(size.frozen_risk)(None, SpikedSLR(1.0, 3))
