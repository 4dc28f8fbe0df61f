"""Exercises of the chapter on adaptive temperature."""

from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["moved_sums"]

_BLOCK = np.random.default_rng(7).normal(scale=2.0, size=9)
_ROWS = np.random.default_rng(8).normal(scale=2.0, size=(4, 9))


def _sums(block: Any) -> tuple[Any, Any, Any, Any]:
    """Return a block's maximum and its sums of powers 0, 1, 2."""
    largest = block.max(axis=-1)
    below = block - largest[..., None]
    terms = np.exp(below)
    norm, first, second = ((below**power * terms).sum(axis=-1) for power in range(3))
    return largest, norm, first, second


def _moved(
    sign: int = 1, cross: float = 2, scaled: bool = True, shifted: bool = True
) -> Any:
    """Return a rule for the move; the arguments are the ways to get it wrong."""

    def rule(largest: Any, norm: Any, first: Any, second: Any, new: Any) -> Any:
        shift = sign * (largest - new) * shifted
        scale = np.exp(largest - new) if scaled else 1.0
        moved_first = first + shift * norm
        moved_second = second + cross * shift * first + shift**2 * norm
        return np.stack([scale * norm, scale * moved_first, scale * moved_second])

    return rule


@exercise(
    "adaptive-temperature/moved-sums",
    cases={
        "a maximum that stays": (*_sums(_BLOCK), _BLOCK.max()),
        "a larger maximum": (*_sums(_BLOCK), _BLOCK.max() + 1.5),
        "four rows": (*_sums(_ROWS), _ROWS.max(axis=-1) + np.arange(4.0)),
    },
    lookalikes={
        "The sums are only rescaled, but e − m has changed as well.": (
            _moved(shifted=False)
        ),
        "The factor of the exponentials is missing.": _moved(scaled=False),
        "The shift has the wrong sign: the new maximum is the larger one.": _moved(-1),
        "The cross term of the square is missing or has the wrong factor.": _moved(
            cross=0
        ),
        "The cross term of the square is there once: a square has it twice.": _moved(
            cross=1
        ),
    },
)
def moved_sums(largest: Any, norm: Any, first: Any, second: Any, new: Any) -> Any:
    """Return (norm, first, second) of a block, moved from its maximum to a `new` one.

    With m = `largest`, they are the sums of exp(e − m), (e − m) exp(e − m) and
    (e − m)² exp(e − m) over the block's logits e; afterwards m is `new` >= `largest`.
    """
    return _moved()(largest, norm, first, second, new)
