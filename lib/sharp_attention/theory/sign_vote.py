"""A vote by signs: what even the best reader can learn from an attended vector."""

import math

from scipy import stats

from sharp_attention._checks import check_integer, check_real

__all__ = ["balanced_vote"]


def balanced_vote(num_keys: int, ratio: float) -> float:
    """Chance that the leader's sign decides a vote against hay of random signs.

    The best that any reader, continuous or not, can do with the attended vector alone
    if each key of the hay has the sign ±1 at random and one `ratio`-th of the leader's
    weight: to take the sign of the sum.  It is right if ratio + Σ ±1 > 0 over n − 1
    signs, about Φ(ratio / √(n − 1)); a tie is a guess.

    Parameters
    ----------
    num_keys : n ≥ 2
    ratio : weight of the leader over that of one other key, ≥ 0; exp(gap) for softmax

    Returns
    -------
    in [1/2, 1], exactly by the binomial law

    Raises
    ------
    TypeError, ValueError
        If an argument is not a number in its range.
    """
    check_integer("num_keys", num_keys, at_least=2)
    check_real("ratio", ratio, at_least=0)
    others = num_keys - 1
    edge = (others - min(float(ratio), 2.0 * others)) / 2  # right above, wrong below
    tie = stats.binom.pmf(edge, others, 0.5) if edge == math.floor(edge) else 0.0
    return float(stats.binom.sf(math.floor(edge), others, 0.5) + tie / 2)
