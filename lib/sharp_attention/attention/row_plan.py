"""Which rows are worked on together, and how many keys they need.

Queries are cut into blocks; blocks that need the same number of keys form a `Span`,
which one compiled loop runs through.
A causal row needs no key beyond its own position, so causal attention gets several
spans with growing prefixes of the keys: with s spans (s + 1) / (2 s) of the full work,
1/2 at best.
"""

from typing import NamedTuple

__all__ = ["Span", "plan"]

_CAUSAL_SPANS = 8
_SHORTEST_SPAN = 256


class Span(NamedTuple):
    """Consecutive blocks of `block` queries that all see keys 0..`keys` − 1 at most."""

    start: int
    blocks: int
    block: int
    keys: int

    @property
    def stop(self) -> int:
        """Return the first query after the span."""
        return self.start + self.blocks * self.block


def plan(queries: int, keys: int, block: int, *, is_causal: bool) -> list[Span]:
    """Cut `queries` rows into spans of blocks of `block` rows.

    Each row belongs to exactly one span; a last, shorter block takes the rows that are
    left over, so nothing is ever padded.
    """
    length = queries
    if is_causal:
        # Whole blocks, at most eight spans, none so short that it isn't worth a loop.
        length = max(-(-queries // _CAUSAL_SPANS), _SHORTEST_SPAN)
        length = -(-length // block) * block
    spans = []
    for start in range(0, queries, length):
        stop = min(start + length, queries)
        blocks, rest = divmod(stop - start, block)
        needed = min(stop, keys) if is_causal else keys
        if blocks:
            spans.append(Span(start, blocks, block, needed))
        if rest:
            spans.append(Span(stop - rest, 1, rest, needed))
    return spans
