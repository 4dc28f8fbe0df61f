"""Which device computes: chosen once, by name, without a silent fallback."""

import jax

from sharp_attention._checks import check_choice
from sharp_attention.experiments.records import Device

__all__ = ["choose", "describe"]


def choose(wish: str) -> Device:
    """Return the kind of device to compute on.

    Parameters
    ----------
    wish : "cpu", "gpu", or "auto" for a GPU if there is one

    Raises
    ------
    ValueError
        If `wish` is none of these, or is a GPU and JAX sees none.
    """
    check_choice("device", wish, ("auto", "cpu", "gpu"))
    has_gpu = wish != "cpu" and _has_gpu()
    if wish == "gpu" and not has_gpu:
        raise ValueError(
            f"device must be one that JAX sees; received 'gpu', but it sees only "
            f'{jax.devices()} (for NVIDIA: pip install "sharp-attention[gpu]")'
        )
    return "gpu" if has_gpu else "cpu"


def describe(device: Device) -> str:
    """Return the kind of `device` in the words of JAX, such as "cpu"."""
    return jax.devices(device)[0].device_kind


def _has_gpu() -> bool:
    try:
        return len(jax.devices("gpu")) > 0
    except RuntimeError:  # how JAX says that it has no such backend
        return False
