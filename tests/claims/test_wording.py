import math
from typing import get_args

import pytest

from sharp_attention.claims import wording
from sharp_attention.claims.registry import Status
from toy_claims import claim


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "0.5"),
        ({"tolerance": 0.01}, "0.5 ± 0.01"),
        ({"comparison": "at most", "quoted_value": 1e-9}, "at most 1e-09"),
        ({"comparison": "at most", "tolerance": 1e-9}, "at most 0.5 + 1e-09"),
        ({"comparison": "at least", "tolerance": 0.1}, "at least 0.5 − 0.1"),
        ({"quoted_value": 0.0, "tolerance": 0.1}, "0 ± 0.1"),
        ({"quoted_value": math.inf, "tolerance": 0.1}, "inf ± 0.1"),
        ({"quoted_value": 2.42138774, "tolerance": 1e-7}, "2.42138774 ± 1e-07"),
    ],
)
def test_quoted(changes: dict[str, object], words: str) -> None:
    assert wording.quoted(claim(**changes)) == words


@pytest.mark.parametrize(
    ("measured", "interval", "tolerance", "words"),
    [
        (1 / 3, None, 0.0, "0.333333"),
        (1 / 3, None, 1e-8, "0.333333333"),
        (1 / 3, None, 0.02, "0.333"),
        (1.2345e-14, None, 1e-9, "1.23e-14"),
        (0.5, (0.4, 0.6), 0.0, "0.5 [0.4, 0.6]"),
        (math.nan, None, 0.1, "nan"),
        (None, None, 0.0, "–"),
    ],
)
def test_computed(measured, interval, tolerance: float, words: str) -> None:
    made = claim(measured, interval, tolerance=tolerance)
    assert wording.computed(made) == words


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (claim(), "✓ reproduced"),
        (claim(0.6), "✗ differs (expected: reproduced)"),
        (claim(0.6, expected="differs"), "✗ differs"),
        (claim(None), "– not run here"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_verdict(made, words: str) -> None:
    assert wording.verdict(made) == words


def test_every_verdict_has_its_own_symbol() -> None:
    assert list(wording.SYMBOLS) == list(get_args(Status))
    assert len(set(wording.SYMBOLS.values())) == len(wording.SYMBOLS)


@pytest.mark.parametrize(
    ("claims", "sentence"),
    [
        ([], "No claim."),
        ([claim()], "1 claim: 1 reproduced; every verdict is as expected."),
        (
            [claim(), claim(None), claim(0.6, expected="differs")],
            "3 claims: 1 reproduced, 1 differs, 1 not run here; every verdict is as "
            "expected.",
        ),
        (
            [claim(), claim(0.6, id="a"), claim(0.7, id="b")],
            "3 claims: 1 reproduced, 2 differs; not as expected: a, b.",
        ),
    ],
    ids=["none", "one", "all as expected", "surprises"],
)
def test_summary(claims, sentence: str) -> None:
    assert wording.summary(claims) == sentence
