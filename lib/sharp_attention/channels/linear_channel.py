"""The proximal map of linear attention: one increasing scalar equation.

With weights s = 1 + chi, a = 1 + (cavity logits), b = (cavity read-outs) and
tau = V_k V_v, the residual e = u / sqrt(tau) solves

    c_+ / (1 - u)^2 - c_- / (1 + u)^2 + u / sqrt(tau) = y,    -1 < u < 1,
    c_+- = |sqrt(V_v) a +- sqrt(V_k) b|^2 / (4 sqrt(tau)),

whose left side increases from minus to plus infinity. The root is the global minimum
of the problem (strong duality), so the map never jumps.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from sharp_attention.channels.interface import Fields, Found, Response, Variances
from sharp_attention.numerics.linalg import Rows, dot, total
from sharp_attention.numerics.newton import monotone_root

__all__ = ["LinearChannel"]

Equation: TypeAlias = Callable[[Float[Array, " points"]], Float[Array, " points"]]

_MAX_STEPS, _TOLERANCE = 80, 1e-15


@dataclass(frozen=True)
class LinearChannel:
    """Proximal map for `length` tokens; `position` is the residual e.

    See `interface.Channel` for the methods.
    """

    length: int

    @property
    def num_coordinates(self) -> int:
        """One coordinate per token."""
        return self.length

    def project(self, logits: Float[Array, "length points"]) -> Rows:
        """Coordinates of logits: themselves."""
        return tuple(logits)

    def weights(self, coordinates: Rows) -> Rows:
        """Attention weights 1 + chi."""
        return tuple(1 + row for row in coordinates)

    def search(self, fields: Fields, variances: Variances) -> Found:
        """Find the one minimum that there is."""
        equation = _equation(fields, variances)
        one = jnp.ones_like(fields.target)
        root = monotone_root(
            equation, -one, one, max_steps=_MAX_STEPS, tolerance=_TOLERANCE
        ).position
        residual = root / _scale(variances)
        return Found((residual,), jnp.zeros_like(root, dtype=bool))

    def refine(self, position: Rows, fields: Fields, variances: Variances) -> Rows:
        """Find it anew: there is no other minimum to fall into."""
        return self.search(fields, variances).position

    def attach(self, position: Rows, fields: Fields, variances: Variances) -> Rows:
        """Give the root the derivatives that it has as a function of its equation."""
        (residual,), constant = lax.stop_gradient((position, (fields, variances)))

        def equation(
            fields: Fields, variances: Variances, residual: Float[Array, " points"]
        ) -> Float[Array, " points"]:
            return _equation(fields, variances)(residual * _scale(variances))

        one = jnp.ones_like(residual)
        _, slope = jax.jvp(lambda e: equation(*constant, e), (residual,), (one,))
        # The equation holds but its derivative does not vanish.
        return (residual - equation(fields, variances, residual) / slope,)

    def envelope(
        self, position: Rows, fields: Fields, variances: Variances
    ) -> Float[Array, " points"]:
        """Value M as the maximum of its dual function over the residual."""
        (residual,) = position
        a, b = self.weights(fields.key), fields.value
        lengths = variances.value * dot(a, a) + variances.key * dot(b, b)
        pull = residual**2 * lengths / 2 + residual * dot(a, b)
        gap = 1 - variances.key * variances.value * residual**2
        return residual * fields.target - residual**2 / 2 - pull / gap

    def response(
        self, position: Rows, fields: Fields, variances: Variances
    ) -> Response:
        """Return where the fields end and which residual is left."""
        (residual,) = position
        gap = 1 - variances.key * variances.value * residual**2
        pairs = list(zip(self.weights(fields.key), fields.value, strict=True))
        logits = [(a + variances.key * residual * b) / gap - 1 for a, b in pairs]
        value = [(b + variances.value * residual * a) / gap for a, b in pairs]
        return Response(tuple(logits), tuple(value), residual)


def _equation(fields: Fields, variances: Variances) -> Equation:
    """Return the left side minus y as a function of u."""
    scale = _scale(variances)
    key, value = jnp.sqrt(variances.key), jnp.sqrt(variances.value)
    pairs = [
        (value * (1 + a), key * b)
        for a, b in zip(fields.key, fields.value, strict=True)
    ]
    plus = total((a + b) ** 2 for a, b in pairs) / (4 * scale)
    minus = total((a - b) ** 2 for a, b in pairs) / (4 * scale)

    def equation(u: Float[Array, " points"]) -> Float[Array, " points"]:
        return plus / (1 - u) ** 2 - minus / (1 + u) ** 2 + u / scale - fields.target

    return equation


def _scale(variances: Variances) -> Float[Array, ""]:
    return jnp.sqrt(variances.key * variances.value)
