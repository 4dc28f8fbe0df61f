"""Where the Bayes-optimal problem is hard: three sample ratios, each in a bracket.

Going up in the sample ratio at small noise, an informed solution of state evolution
*appears* beside the uninformed one, *wins* when its free entropy becomes the larger
one (from then on the posterior knows the teachers), and is alone when the uninformed
one *vanishes* (from then on message passing finds them). Between the last two the
problem is hard, finite-samples note section 4.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from sharp_attention._checks import check_real, require
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location import state_evolution

__all__ = ["Bracket", "HardPhase", "brackets"]

Bracket: TypeAlias = tuple[float, float]
"""A sample ratio at which something is not yet so, and one at which it is."""


@dataclass(frozen=True)
class HardPhase:
    """Brackets of the three sample ratios; None where the scan did not see it happen.

    Attributes
    ----------
    appears : from no informed solution to one beside the uninformed one
    wins : from a clearly smaller to a clearly larger free entropy of the informed one
    vanishes : from two solutions to the informed one alone
    verdicts : of all sample ratios that were looked at, in rising order
    """

    appears: Bracket | None
    wins: Bracket | None
    vanishes: Bracket | None
    verdicts: dict[float, str]


def brackets(
    task: Task,
    sample_ratios: Sequence[float],
    *,
    width: float = 0.05,
    num_points: int = 2**13,
    seed: int = 0,
) -> HardPhase:
    """Scan sample ratios for two solutions and halve the brackets of what changes.

    Parameters
    ----------
    task : SpikedSLR, or MaxSLR at infinite signal
    sample_ratios : at least two, > 0, rising; an interval of two solutions that lies
        between two neighbours is not seen
    width : largest bracket; that of `wins` may stay wider where the free entropies
        are tied within their error
    num_points, seed : see `state_evolution.solve`

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    RuntimeError
        If an iteration does not converge.
    """
    ratios = np.asarray(sample_ratios, np.float64)
    check_real("sample_ratios", ratios, above=0)
    is_rising = (
        ratios.ndim == 1 and ratios.size >= 2 and bool(np.all(np.diff(ratios) > 0))
    )
    require(is_rising, "sample_ratios", "at least two, rising", sample_ratios)
    check_real("width", width, above=0)

    def look(ratio: float) -> str:
        solution = state_evolution.solve(
            task, ratio, num_points=num_points, seed=seed, throw=True
        )
        return solution.verdict

    verdicts = {float(ratio): look(ratio) for ratio in ratios}
    for start, is_reached in _CHANGES:
        while (bracket := _bracket(verdicts, start, is_reached)) is not None:
            middle = sum(bracket) / 2
            if bracket[1] - bracket[0] <= width or middle in verdicts:
                break
            verdicts[middle] = look(middle)
            if verdicts[middle] == "tie" and start == {"informed metastable"}:
                break
    appears, wins, vanishes = (_bracket(verdicts, *change) for change in _CHANGES)
    return HardPhase(appears, wins, vanishes, dict(sorted(verdicts.items())))


# From which verdicts to which the three changes lead.
_TWO = {"informed metastable", "tie", "hard (informed wins)"}
_CHANGES = (
    ({"unique"}, _TWO),
    ({"informed metastable"}, {"hard (informed wins)"}),
    (_TWO, {"unique"}),
)


def _bracket(
    verdicts: dict[float, str], before: set[str], after: set[str]
) -> Bracket | None:
    """Find the first ratio with a verdict in `after` above one in `before`."""
    ratios = sorted(verdicts)
    for high in ratios:
        lower = [ratio for ratio in ratios if ratio < high]
        low = [ratio for ratio in lower if verdicts[ratio] in before]
        if verdicts[high] in after and low:
            return low[-1], high
    return None
