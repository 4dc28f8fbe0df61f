"""Picture of heads whose key and value have swapped their roles."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from sharp_attention._typing import Float64
from sharp_attention.figures import style
from sharp_attention.tasks.single_location import Task
from sharp_attention.theory.single_location import basins

__all__ = ["draw_swap", "swap_profiles"]


def swap_profiles(
    task: Task,
    angles: Sequence[float] | Float64,
    activations: Sequence[str] = ("softmax", "erf", "linear"),
) -> pd.DataFrame:
    """Least risk at each angle between a head and its teachers.

    Parameters
    ----------
    task : SpikedSLR or MaxSLR
    angles : in degrees, rising
    activations : as in `population.risk`

    Returns
    -------
    table with columns activation, angle and risk
    """
    tables = [
        pd.DataFrame(
            {
                "activation": activation,
                "angle": angles,
                "risk": basins.swapped_risk(task, activation, np.asarray(angles)),
            }
        )
        for activation in activations
    ]
    return pd.concat(tables, ignore_index=True)


def draw_swap(profiles: pd.DataFrame) -> Figure:
    """Draw the table of `swap_profiles`."""
    with style.use_style():
        figure, axes = plt.subplots()
        for activation, rows in profiles.groupby("activation", sort=False):
            colour = style.COLOURS[str(activation)]
            axes.plot(rows["angle"], rows["risk"], color=colour)
            x, y = float(rows["angle"].iloc[-1]), float(rows["risk"].iloc[-1])
            style.label_line(axes, x, y, str(activation), colour)
        axes.set(
            xlabel="angle between the head and its teachers, degrees",
            ylabel="least risk at this angle",
            ylim=(0, None),
        )
        axes.set_xticks(range(0, 91, 15))
        style.message(axes, "A head with key and value swapped can be a trap")
    return figure
