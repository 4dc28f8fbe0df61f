"""The proximal map of attention with softmax, softplus or erf weights, by Newton.

For given weights s = sigma(chi) the read-out is linear in z, so z can be eliminated:
with the residual e = (y - s.b) / (1 + V_v s.s) it is z = b + V_v e s, and

    M = min over chi of  |chi - a|^2 / (2 V_k) + (y - s.b)^2 / (2 (1 + V_v s.s)).

This function of one chi per token may have several minima when V_k is large, so the
search begins at several starts. Softmax ignores a shift of all logits; its search runs
in the L - 1 coordinates that sum to zero.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Float

from sharp_attention.channels.interface import Fields, Found, Response, Variances
from sharp_attention.channels.weight_maps import WeightMap
from sharp_attention.numerics.linalg import (
    Rows,
    dot,
    factorise,
    solve_factored,
    total,
    zero_sum_basis,
)
from sharp_attention.numerics.newton import Objective, derivatives, minimise

__all__ = ["NewtonChannel"]

# Curvatures below this share of 1 / V_k are lifted; at a minimum of M they are rare.
_FLOOR = 1e-3
# Near a minimum the last step squares the error: 1e-6 becomes 1e-12.
_SEARCH_STEPS, _REFINE_STEPS, _TOLERANCE = 25, 12, 1e-6
# How far the starts that commit to a token lie from zero, and what counts as another
# minimum, both in units of the logits.
_COMMITMENT = 2.0
_DISTINCT = 1e-2


@dataclass(frozen=True)
class NewtonChannel:
    """Proximal map for `length` tokens; see `interface.Channel` for the methods."""

    weight_map: WeightMap
    length: int

    @property
    def num_coordinates(self) -> int:
        """L - 1 where the weights ignore a shift of the logits, L otherwise."""
        return self.length - self.weight_map.ignores_shifts

    def project(self, logits: Float[Array, "length points"]) -> Rows:
        """Coordinates of logits, one row per token."""
        return tuple(self._basis().T @ logits)

    def weights(self, coordinates: Rows) -> Rows:
        """Attention weights, one row per token."""
        if not self.weight_map.ignores_shifts:
            return self.weight_map(coordinates)
        basis = self._basis()
        logits = tuple(
            total(basis[i, j] * coordinates[j] for j in np.flatnonzero(basis[i]))
            for i in range(self.length)
        )
        return self.weight_map(logits)

    def search(self, fields: Fields, variances: Variances) -> Found:
        """Find the lowest minimum of all that the starts lead to."""
        starts = self._starts(fields)
        num_starts, points = starts[0].shape
        copies = jax.tree.map(lambda row: jnp.tile(row, num_starts), fields)
        found = minimise(
            self._objective(copies, variances),
            tuple(row.reshape(-1) for row in starts),
            floor=_FLOOR / variances.key,
            max_steps=_SEARCH_STEPS,
            tolerance=_TOLERANCE,
        )
        values = found.value.reshape(num_starts, points)
        best = jnp.argmin(values, axis=0)
        ends = tuple(row.reshape(num_starts, points) for row in found.position)
        chosen = tuple(jnp.take_along_axis(row, best[None], 0)[0] for row in ends)
        moved = [abs(row - one) for row, one in zip(ends, chosen, strict=True)]
        distance = jnp.sum(jnp.stack(moved), axis=0)
        is_minimum = found.is_converged.reshape(num_starts, points)
        is_other = is_minimum & (distance > _DISTINCT)
        return Found(chosen, jnp.any(is_other, axis=0))

    def refine(self, position: Rows, fields: Fields, variances: Variances) -> Rows:
        """Follow the minimum near `position`."""
        return minimise(
            self._objective(fields, variances),
            position,
            floor=_FLOOR / variances.key,
            max_steps=_REFINE_STEPS,
            tolerance=_TOLERANCE,
        ).position

    def attach(self, position: Rows, fields: Fields, variances: Variances) -> Rows:
        """Give a minimum the derivatives that it has as a function of its problem."""
        position, constant = lax.stop_gradient((position, (fields, variances)))
        _, hessian = derivatives(self._objective(*constant), position)
        factors = factorise(hessian, _FLOOR / constant[1].key)
        gradient, _ = derivatives(self._objective(fields, variances), position)
        # The gradient vanishes but its derivative does not: d u = -H^-1 d gradient.
        step = solve_factored(factors, gradient)
        return tuple(u - du for u, du in zip(position, step, strict=True))

    def envelope(
        self, position: Rows, fields: Fields, variances: Variances
    ) -> Float[Array, " points"]:
        """Value M of the problem; its partial derivatives need no derivative of u."""
        return self._objective(fields, variances)(position)

    def response(
        self, position: Rows, fields: Fields, variances: Variances
    ) -> Response:
        """Return where the fields end and which residual is left."""
        weights = self.weights(position)
        residual = _residual(weights, fields, variances)
        value = tuple(
            b + variances.value * residual * s
            for b, s in zip(fields.value, weights, strict=True)
        )
        # What the coordinates leave out (a common shift) does not move.
        logits = self._basis() @ jnp.stack(position)
        return Response(tuple(logits), value, residual)

    def _objective(self, fields: Fields, variances: Variances) -> Objective:
        def objective(position: Rows) -> Float[Array, " points"]:
            pairs = zip(position, fields.key, strict=True)
            distance = total((u - a) ** 2 for u, a in pairs)
            weights = self.weights(position)
            residual = _residual(weights, fields, variances)
            misfit = residual * (fields.target - dot(weights, fields.value))
            return distance / (2 * variances.key) + misfit / 2

        return objective

    def _basis(self) -> np.ndarray:
        if self.weight_map.ignores_shifts:
            return zero_sum_basis(self.length)
        return np.eye(self.length)

    def _starts(self, fields: Fields) -> tuple[Float[Array, "starts points"], ...]:
        """Start at the fields, at zero, and where one token or none gets the weight.

        Weights that are not tied by a shift may also have a minimum that differs from
        the fields in one token alone: start where its logit is zero.
        """
        is_tied = self.weight_map.ignores_shifts
        none = np.zeros(self.length), np.full(self.length, -_COMMITMENT)
        one = _COMMITMENT * (2 * np.eye(self.length) - 1)
        corners = np.vstack([none[: 2 - is_tied], one]) @ self._basis()
        kept = np.ones((1, corners.shape[1]))
        if not is_tied:
            kept = np.vstack([kept, 1 - np.eye(self.length)])
        return tuple(
            jnp.concatenate([jnp.outer(k, a), jnp.outer(c, jnp.ones_like(a))])
            for a, k, c in zip(fields.key, kept.T, corners.T, strict=True)
        )


def _residual(
    weights: Rows, fields: Fields, variances: Variances
) -> Float[Array, " points"]:
    shrinkage = 1 + variances.value * dot(weights, weights)
    return (fields.target - dot(weights, fields.value)) / shrinkage
