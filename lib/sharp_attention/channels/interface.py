"""What every proximal channel offers to the theory.

One sample of single-location regression pulls on the fields chi = x.k/sqrt(D) and
z = x.v/sqrt(D) of its tokens. From their cavity values a and b they move to the
minimum of

    M = min over (chi, z) of  |chi - a|^2 / (2 V_k) + |z - b|^2 / (2 V_v)
                              + (y - sigma(chi).z)^2 / 2,

with responses V_k, V_v > 0 (our derivation). Points lie on the last axis
of every array; rows are tokens, or the channel's own coordinates of the logits.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float

from sharp_attention.numerics.linalg import Rows

__all__ = ["Channel", "Fields", "Found", "Response", "Variances"]


class Fields(NamedTuple):
    """What a sample sees before it pulls.

    Attributes
    ----------
    key : coordinates of the cavity logits a, one row each
    value : cavity read-outs b, one row per token
    target : label y
    """

    key: Rows
    value: Rows
    target: Float[Array, " points"]


class Variances(NamedTuple):
    """Responses V_k and V_v, both > 0, the same for all points."""

    key: Float[Array, ""]
    value: Float[Array, ""]


class Found(NamedTuple):
    """Result of a search from many starts.

    Attributes
    ----------
    position : the channel's own description of the best minimum
    is_multistable : whether another start ended in another minimum, per point
    """

    position: Rows
    is_multistable: Bool[Array, " points"]


class Response(NamedTuple):
    """Where the fields end.

    Attributes
    ----------
    logits : chi at the minimum up to a common shift that the weights ignore
    value : z at the minimum
    residual : y - sigma(chi).z at the minimum
    """

    logits: Rows
    value: Rows
    residual: Float[Array, " points"]


@runtime_checkable
class Channel(Protocol):
    """A proximal map; hashable, so that it can be a static argument of ``jit``.

    `position` is opaque: it comes from `search`, and only the same channel reads it.
    """

    @property
    def length(self) -> int:
        """Number of tokens."""

    @property
    def num_coordinates(self) -> int:
        """Number of coordinates that the logits have for this channel."""

    def project(self, logits: Float[Array, "length points"]) -> Rows:
        """Coordinates of logits, one row per token."""

    def weights(self, coordinates: Rows) -> Rows:
        """Attention weights, one row per token."""

    def search(self, fields: Fields, variances: Variances) -> Found:
        """Find the global minimum as well as several starts can."""

    def refine(self, position: Rows, fields: Fields, variances: Variances) -> Rows:
        """Follow a minimum after a small change of the problem."""

    def attach(self, position: Rows, fields: Fields, variances: Variances) -> Rows:
        """Give a minimum its derivatives with respect to fields and variances."""

    def envelope(
        self, position: Rows, fields: Fields, variances: Variances
    ) -> Float[Array, " points"]:
        """Value M, whose derivatives hold with `position` frozen."""

    def response(
        self, position: Rows, fields: Fields, variances: Variances
    ) -> Response:
        """Return where the fields end and which residual is left."""
