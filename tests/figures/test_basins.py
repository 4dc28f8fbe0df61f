"""Picture of swapped heads."""

from matplotlib import pyplot as plt

from sharp_attention.figures import basins as pictures
from sharp_attention.tasks.single_location import SpikedSLR


def test_swap():
    table = pictures.swap_profiles(SpikedSLR(10.0, 2), (0.0, 90.0), ("linear",))
    straight, swapped = table["risk"]
    assert straight < swapped < 1
    figure = pictures.draw_swap(table)
    assert figure.axes[0].texts[0].get_text() == "linear"
    plt.close(figure)
