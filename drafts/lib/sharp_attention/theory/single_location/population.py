"""Population risks of attention heads in single-location regression.

The risk of a head (k, v) on fresh texts, exactly, for any of five activations, any of
the seven overlaps, both tasks, and lengths of any size: its cost doesn't depend on L.
It is normalised so that predicting 0 costs 1 + noise^2.

The formulas are those of slr-population, sections 2 to 6; each module that does a part
of the work states its own: `heads` (what the weights' averages give), `crowd` (why any
L costs the same), `spiked` and `maximum` (normalised weights), `elementwise`, `linear`,
`bayes`, `hard_limit` (keys of infinite length), `optimum` (minima).
"""

from collections.abc import Sequence

import numpy as np

from sharp_attention._checks import check_choice, check_real
from sharp_attention._typing import Float64
from sharp_attention.tasks.single_location import MaxSLR, Overlaps, SpikedSLR, Task
from sharp_attention.theory.single_location import averages, bayes, linear
from sharp_attention.theory.single_location.bayes import bayes_risk
from sharp_attention.theory.single_location.heads import Head

__all__ = ["ACTIVATIONS", "PARAMETERS", "bayes_risk", "risk", "risks"]

PARAMETERS = {
    "softmax": None,
    "linear": None,
    "erf": "offset",
    "softplus": None,
    "sigmoid": "bias",
}
"""Every activation with the name of its parameter, as in `attention.activations`."""

ACTIVATIONS = tuple(PARAMETERS)


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
        If the activation is unknown or a parameter is not finite.
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
    shape = overlaps.shape
    columns = np.stack([np.broadcast_to(x, shape).ravel() for x in overlaps.values()])
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


def _head_risks(
    is_spiked: bool, activation: str, table: Sequence[Head], offset: float
) -> Float64:
    if activation != "linear":
        return averages.head_risks(is_spiked, activation, table, offset)
    return np.array([_linear_risk(head, is_spiked) for head in table])


def _linear_risk(head: Head, is_spiked: bool) -> float:
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
        return float(value)
    return 0.0
