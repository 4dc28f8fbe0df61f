"""Attention on Hopper GPUs."""

from jaxtyping import Array, Bool, Float

from sharp_attention.attention.interface import Settings, Statistics

__all__ = ["attend", "obstacle"]


def obstacle(query: Array, key: Array, value: Array, mask: Array | None) -> str | None:
    """Say what is missing for this implementation to serve; None if it can."""
    return "a Hopper GPU"


def attend(
    query: Float[Array, "batch queries heads dim"],
    key: Float[Array, "batch keys kv_heads dim"],
    value: Float[Array, "batch keys kv_heads value_dim"],
    mask: Bool[Array, "#batch #heads #queries #keys"] | None,
    settings: Settings,
) -> tuple[Float[Array, "batch queries heads value_dim"], Statistics | None]:
    """Attend."""
    raise NotImplementedError
