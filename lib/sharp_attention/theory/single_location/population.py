"""Population risks of attention heads in single-location regression.

The risk of a head (k, v) on fresh texts, exactly, for any of five activations, any of
the seven overlaps, both tasks, and lengths of any size: its cost doesn't depend on L.
It is normalised so that predicting 0 costs 1 + noise^2.

The formulas are those of slr-population, sections 2 to 6; each module that does a part
of the work states its own: `heads` (what the weights' averages give), `crowd` (why any
L costs the same), `spiked` and `maximum` (normalised weights), `elementwise`, `linear`,
`bayes`, `hard_limit` (keys of infinite length), `optimum` (minima).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sharp_attention._checks import check_choice, check_real, require
from sharp_attention._typing import ArrayLike, Float64
from sharp_attention.tasks.single_location import (
    MaxSLR,
    Overlaps,
    SpikedSLR,
    Task,
    check_task,
)
from sharp_attention.theory.single_location import averages, bayes, linear
from sharp_attention.theory.single_location.bayes import bayes_risk
from sharp_attention.theory.single_location.elementwise import LARGEST_WEIGHT
from sharp_attention.theory.single_location.elementwise_optimum import (
    elementwise_bound,
)
from sharp_attention.theory.single_location.heads import Head
from sharp_attention.theory.single_location.optimum import (
    ACTIVATIONS,
    PARAMETERS,
    PopulationOptimum,
    minimise,
)

__all__ = [
    "ACTIVATIONS",
    "PARAMETERS",
    "PopulationOptimum",
    "WeightMoments",
    "bayes_risk",
    "elementwise_bound",
    "minimise",
    "risk",
    "risks",
    "weight_moments",
]


# Doubles hold the number of tokens, times what else it is multiplied by.
_LONGEST = 10**300


class WeightMoments(NamedTuple):
    """Averages of the weights on the manifold.

    Attributes
    ----------
    squares : A = E sum_l alpha_l^2
    kept : B = E alpha_e, the weight of the token that counts
    """

    squares: Float64
    kept: Float64


def risk(
    task: Task, activation: str, overlaps: Overlaps, **parameters: float
) -> Float64 | float:
    """Risk E (y - sum_l alpha_l z_l)^2 of a head, label noise included.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR; one head serves all lengths of a random length
    activation : "softmax", "linear" (1 + score), "erf" (1 + erf(score + offset)),
        "softplus" (normalised) or "sigmoid" (1 / (1 + exp(-score - bias)))
    overlaps : of the head; fields may be arrays, one entry for each head
    parameters : `offset` for erf, `bias` for sigmoid; 0 if not given

    Returns
    -------
    risk, or an array of them of the shape of `overlaps`; relative errors are about
    1e-13

    Raises
    ------
    TypeError
        If the activation does not have that parameter.
    ValueError
        If the activation is unknown, a parameter or a key is not finite where it has
        to be, a length exceeds 1e300, or a signal or q_k is so large that the
        quadrature would take minutes or gigabytes; the message says what would not.
    """
    values = risks([task], activation, overlaps, **parameters)[0]
    return values if values.ndim else float(values)


def risks(
    tasks: Sequence[Task], activation: str, overlaps: Overlaps, **parameters: float
) -> Float64:
    """Risk of every head on every task, in compiled loops.

    Parameters
    ----------
    tasks : SpikedSLR and MaxSLR, each with its own signal, lengths and noise
    activation, overlaps, parameters : as for `risk`

    Returns
    -------
    (tasks, *shape of the overlaps)

    Raises
    ------
    TypeError, ValueError
        As `risk` does.
    """
    offset = _offset(activation, parameters)
    for task in tasks:
        _check(task)
    if not isinstance(overlaps, Overlaps):
        raise TypeError(f"overlaps must be an Overlaps; received {overlaps!r}")
    shape = overlaps.shape
    fields = [np.broadcast_to(np.asarray(x), shape) for x in overlaps.values()]
    columns = np.stack([field.ravel() for field in fields])
    found = np.zeros((len(tasks), columns.shape[1]))
    for kind in (SpikedSLR, MaxSLR):
        # One head for every task of this kind, length and column of overlaps.
        chosen = [i for i, task in enumerate(tasks) if isinstance(task, kind)]
        cases = [
            (index, probability, column, Head(tasks[index].signal, length, *values))
            for index in chosen
            for length, probability in tasks[index].length_probabilities.items()
            for column, values in enumerate(columns.T.tolist())
        ]
        if cases:
            table = [case[-1] for case in cases]
            is_spiked = kind is SpikedSLR
            values = _head_risks(is_spiked, activation, table, offset)
            for (index, probability, column, _), value in zip(
                cases, values, strict=True
            ):
                found[index, column] += probability * value
    noise = np.array([task.noise**2 for task in tasks])
    return (found + noise[:, None]).reshape(len(tasks), *shape)


def weight_moments(
    task: Task,
    activation: str,
    m_k: ArrayLike,
    q_k: ArrayLike | None = None,
    **parameters: float,
) -> WeightMoments:
    """Averages of the weights that fix the risk on the manifold.

    There the risk is 1 - 2 m_v B + q_v A + noise^2, and 1 - B^2 / A + noise^2 at the
    best read-out m_v = B / A.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR; A and B are averaged over a random length
    activation, parameters : as for `risk`
    m_k, q_k : numbers or arrays; q_k = m_k^2, k = m_k k*, if None

    Returns
    -------
    WeightMoments with fields of the common shape of `m_k` and `q_k`

    Raises
    ------
    TypeError, ValueError
        As `risk` does, or if q_k < m_k^2.
    """
    offset = _offset(activation, parameters)
    _check(task)
    slopes = np.asarray(m_k, np.float64)
    squares = slopes**2 if q_k is None else np.asarray(q_k, np.float64)
    Overlaps(slopes, squares, 0.0, 0.0)  # checks them
    if activation == "linear":
        return WeightMoments(*_linear_moments(task, slopes, squares))
    moments = averages.over_lengths(task, activation, slopes, squares, offset=offset)
    largest = LARGEST_WEIGHT.get(activation, 1.0)
    return WeightMoments(largest**2 * moments.squares, largest * moments.kept)


def _check(task: Task) -> None:
    check_task(task)
    require(task.max_length <= _LONGEST, "lengths", "at most 1e300", task.max_length)


def _linear_moments(task: Task, m_k: Float64, q_k: Float64) -> tuple[Float64, Float64]:
    check_real("m_k", m_k)  # the risk has no limit there
    length = task.mean_length
    if isinstance(task, SpikedSLR):
        kept = 1 + math.sqrt(task.signal) * m_k
        squares = kept**2 + q_k + (length - 1) * (1 + q_k)
        return np.asarray(squares), np.asarray(kept)
    lengths = task.length_probabilities.items()
    score = sum(p * bayes.mean_score(task.signal, n) for n, p in lengths)
    return np.asarray(length * (1 + q_k)), np.asarray(1 + m_k * score)


def _head_risks(
    is_spiked: bool, activation: str, table: Sequence[Head], offset: float
) -> Float64:
    if activation != "linear":
        return averages.head_risks(is_spiked, activation, table, offset)
    return np.array([_linear_risk(head, is_spiked) for head in table])


def _linear_risk(head: Head, is_spiked: bool) -> float:
    check_real("m_k", head.m_k)  # the risk has no limit there
    if is_spiked:
        return linear.risk_in_spiked(head)
    return linear.risk_in_max(head, bayes.mean_score(head.signal, head.length))


def _offset(activation: str, parameters: dict[str, float]) -> float:
    check_choice("activation", activation, ACTIVATIONS)
    allowed = PARAMETERS[activation]
    for name, value in parameters.items():
        if name != allowed:
            takes = f"takes {allowed}" if allowed else "has no parameter"
            raise TypeError(f"activation {activation!r} {takes}; received {name!r}")
        check_real(name, value)
        require(np.ndim(value) == 0, name, "one number", value)
        return float(value)
    return 0.0
