"""The cutting of rows into spans of blocks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sharp_attention.attention.row_plan import plan


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 64), st.booleans())
def test_every_row_once_with_the_keys_it_needs(queries, keys, block, is_causal):
    spans = plan(queries, keys, block, is_causal=is_causal)
    edges = [(span.start, span.stop) for span in spans]
    assert [start for start, _ in edges] == [0, *(stop for _, stop in edges[:-1])]
    assert edges[-1][1] == queries
    for span in spans:
        assert span.block <= block
        needed = min(span.stop, keys) if is_causal else keys
        assert needed <= span.keys <= keys


def test_without_causality_one_loop_and_a_rest():
    assert plan(1024, 7, 32, is_causal=False) == [(0, 32, 32, 7)]
    assert plan(70, 7, 32, is_causal=False) == [(0, 2, 32, 7), (64, 1, 6, 7)]


@pytest.mark.parametrize("length", [2048, 4096, 8192])
def test_causal_work_is_near_half(length):
    spans = plan(length, length, 32, is_causal=True)
    work = sum(span.blocks * span.block * span.keys for span in spans)
    assert work / length**2 == pytest.approx(9 / 16)


def test_short_causal_rows_get_one_span():
    assert len(plan(128, 128, 32, is_causal=True)) == 1
