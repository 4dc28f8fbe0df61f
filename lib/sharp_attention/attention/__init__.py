"""Maps from logits to weights, their statistics, and the kernels that use them."""

from sharp_attention.attention.dispatch import attend
from sharp_attention.attention.interface import Statistics

__all__ = ["Statistics", "attend"]
