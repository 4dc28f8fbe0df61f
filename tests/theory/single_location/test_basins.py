"""Where descents end: on the manifold, in a valley, in a trap."""

import numpy as np
import pytest

from sharp_attention.tasks.single_location import SpikedSLR
from sharp_attention.theory.single_location import basins, population

TASK = SpikedSLR(10.0, 2)


class TestOverlapsOf:
    def test_are_those_of_vectors(self):
        rng = np.random.default_rng(0)
        points = rng.normal(size=(5, 7))
        found = basins.overlaps_of(points).gram()
        k = np.pad(points[:, :3], ((0, 0), (0, 1)))
        vectors = np.stack(
            [np.tile([1.0, 0, 0, 0], (5, 1)), np.tile([0, 1.0, 0, 0], (5, 1)), k,
             points[:, 3:]], axis=1,
        )  # fmt: skip
        np.testing.assert_allclose(
            found, vectors @ vectors.transpose(0, 2, 1), atol=1e-14
        )


class TestDescend:
    def test_on_the_manifold_it_finds_the_best_head(self):
        best = population.minimise(TASK, "linear")
        start = np.array([1.0, 0, 0, 0, 0.3, 0, 0])
        found = basins.descend(TASK, "linear", start)
        assert found.risk == pytest.approx(best.risk, abs=1e-9)
        assert found.slope < 1e-6
        assert found.smallest_curvature > -1e-5

    def test_on_the_manifold_it_stays_there(self):
        found = basins.descend(TASK, "linear", np.array([0.5, 0, 0, 0, 1.0, 0, 0]))
        mixed = found.overlaps.m_kv, found.overlaps.m_vk, found.overlaps.q_kv
        assert np.abs(mixed).max() < 1e-6

    @pytest.mark.slow
    def test_erf_has_a_trap_where_key_and_value_are_swapped(self):
        start = np.array([-0.05, 1.1, 0.0, 0.3, -0.015, 0.0, 0.0, -1.06])
        found = basins.descend(TASK, "erf", start)
        assert found.risk == pytest.approx(0.59121, abs=1e-5)
        assert found.offset == pytest.approx(-1.0586, abs=1e-3)
        assert found.overlaps.m_kv == pytest.approx(1.1095, abs=1e-3)
        assert found.overlaps.m_vk == pytest.approx(0.3030, abs=1e-3)
        assert found.slope < 1e-5
        # Turning the useless direction a into b changes nothing.
        assert found.smallest_curvature > -1e-4
        assert population.minimise(TASK, "erf").risk < 0.1

    def test_bad_input(self):
        with pytest.raises(ValueError, match="start must be 7 or 8 numbers"):
            basins.descend(TASK, "linear", np.zeros(6))


class TestValley:
    STRETCHES = np.array([0.5, 1.0, 3.0, 10.0, 100.0])

    def test_falls_to_its_limit_above_the_best_risk(self):
        risks = basins.linear_valley(TASK, self.STRETCHES)
        limit = basins.linear_valley_limit(10.0, 2)
        assert (np.diff(risks) < 0).all()
        assert risks[-1] > limit > population.minimise(TASK, "linear").risk
        assert risks[-1] == pytest.approx(limit, rel=1e-3)
        assert limit == pytest.approx(2 / 12)

    @pytest.mark.slow
    def test_ends_where_a_descent_from_outside_ends(self):
        start = np.array([0.1, 1.0, 0.0, 1.0, 0.1, 0.0, 0.0])
        found = basins.descend(TASK, "linear", start)
        assert found.risk > basins.linear_valley_limit(10.0, 2)
        assert found.risk < 0.21
        assert abs(found.overlaps.m_kv) > 1.0


class TestSwapped:
    def test_unturned_heads_are_the_best(self):
        risks = basins.swapped_risk(TASK, "linear", np.array([0.0, 45.0, 90.0]))
        best = population.minimise(TASK, "linear").risk
        assert risks[0] == pytest.approx(best, abs=1e-7)
        assert (risks[1:] > best).all()

    def test_swapped_linear_heads_lie_in_the_valley(self):
        (swapped,) = basins.swapped_risk(TASK, "linear", np.array([90.0]))
        valley = basins.linear_valley(TASK, np.array([3.0, 1e3]))
        assert valley[1] * (1 - 1e-9) < swapped < valley[0]
