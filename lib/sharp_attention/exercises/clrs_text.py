"""Exercises of the chapter on CLRS-Text."""

from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["share_interval"]

_Z = 1.96


def _wilson(correct: Any, texts: Any, *, z: float = _Z) -> Any:
    """Solve (p - share)² = z² p (1 - p) / texts for p."""
    share, extra = correct / texts, z**2 / texts
    middle = (share + extra / 2) / (1 + extra)
    error = np.sqrt(share * (1 - share) * extra + extra**2 / 4) / (1 + extra)
    return np.array([middle - error, middle + error])


def _wald(correct: Any, texts: Any) -> Any:
    share = correct / texts
    error = _Z * np.sqrt(share * (1 - share) / texts)
    return np.array([share - error, share + error])


@exercise(
    "clrs-text/share-interval",
    cases={
        "half of the answers right": (50, 100),
        "none right": (0, 20),
        "all right": (512, 512),
        "few texts": (3, 7),
    },
    lookalikes={
        "This is the share ± 1.96 standard errors, which has no width at 0 and 1: "
        "the variance must be that of the unknown p, not of the share.": _wald,
        "The width is that of one standard error, not of 1.96.": (
            lambda correct, texts: _wilson(correct, texts, z=1.0)
        ),
        "The two ends stand in the wrong order: low first.": (
            lambda correct, texts: _wilson(correct, texts)[::-1]
        ),
    },
)
def share_interval(correct: Any, texts: Any) -> Any:
    """Return the two p with |p - share| = 1.96 sqrt(p (1 - p) / texts), low first.

    The share is correct / texts.
    """
    return _wilson(correct, texts)
