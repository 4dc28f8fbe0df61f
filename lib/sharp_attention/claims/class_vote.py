"""Claims about the toy of max retrieval: a head that ranks without error."""

import functools
import math

from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.theory import class_vote

__all__: list[str] = []

_ours = functools.partial(
    declare, paper="ours", chapter="max-retrieval", confidence="D"
)


def _declare_weight(crowding: float, weight: float) -> None:
    @_ours(
        f"toy-top-weight-{crowding:g}".replace(".", "-"),
        place="toy head, closed form",
        statement=f"With {crowding:g} items per nat of logit, the maximum gets a "
        f"weight of {weight} on average.",
        quoted_value=weight,
        tolerance=5e-4,
    )
    def _weight() -> Measurement:
        return Measurement(class_vote.top_weight(1000, 1000 / crowding))


def _declare_vote(num_items: int, accuracy: float) -> None:
    @_ours(
        f"toy-vote-{num_items}",
        place="toy head of slope 128, closed form against a simulation",
        statement=f"A head that ranks {num_items} items without error, with 128 nats "
        "between the lowest and the highest, names the right class of ten in "
        f"{accuracy} % of the sets (simulated with an error of about a point).",
        quoted_value=accuracy,
        tolerance=1.5,
    )
    def _vote() -> Measurement:
        return Measurement(100 * class_vote.vote_accuracy(num_items, 128.0))


for _crowding, _weight in ((0.1, 0.934), (0.5, 0.729), (1.0, 0.561), (2.0, 0.374)):
    _declare_weight(_crowding, _weight)
for _num_items, _accuracy in (
    (256, 83.8),
    (512, 62.6),
    (1024, 44.3),
    (2048, 32.9),
    (4096, 24.8),
):
    _declare_vote(_num_items, _accuracy)


@_ours(
    "toy-entropy",
    place="toy head, closed form",
    statement="With many items per nat of logit the entropy is 1 + log(n/a) (measured: "
    "difference at n/a = 500).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=0.01,
)
def _toy_entropy() -> Measurement:
    found = class_vote.mean_entropy(500_000, 1000.0)
    return Measurement(abs(found - 1 - math.log(500)))
