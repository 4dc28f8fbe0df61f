"""Maps from logits to weights, their statistics, and the kernels that use them."""
