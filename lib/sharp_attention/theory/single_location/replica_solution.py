"""The record of a replica solution, and the sentence that says what it is worth."""

from dataclasses import dataclass

import numpy as np

from sharp_attention._typing import Float64
from sharp_attention.tasks.single_location import Overlaps
from sharp_attention.theory.single_location.replica_solver import Observed, Solved

__all__ = ["ReplicaSolution", "report"]

# Where the replica-symmetric value stops to be trusted.
_LARGEST_REPLICON, _LARGEST_FRACTION = 1.0, 1e-3


@dataclass(frozen=True)
class ReplicaSolution:
    """Replica-symmetric prediction for the minimiser.

    Attributes
    ----------
    test_risk : mean squared error on fresh samples, noise**2 included
    training_loss : mean squared residual, without 1/2 and without penalty
    energy : objective divided by the dimension
    potential : the same from the replica potential; equal at a solution
    overlaps : of the minimiser, on the manifold
    variance_k, variance_v : responses V_k and V_v
    conjugates : (mhat_k, qhat_k, Vhat_k, mhat_v, qhat_v, Vhat_v)
    replicon : >= 0; the solution is stable below 1; infinity where it can't be told
    multistable_fraction : share of samples whose proximal problem has several minima
    status : a sentence; begins with "converged" or "not converged"
    residual : largest change of a coordinate (artanh(m / sqrt(q)), log q, log V) in
        one undamped step
    num_steps : evaluations of the equations
    is_converged : whether the residual is below the tolerance, at a head that does not
        run away to infinity
    """

    test_risk: float
    training_loss: float
    energy: float
    potential: float
    overlaps: Overlaps
    variance_k: float
    variance_v: float
    conjugates: Float64
    replicon: float
    multistable_fraction: float
    status: str
    residual: float
    num_steps: int
    is_converged: bool

    @property
    def is_trusted(self) -> bool:
        """Whether it converged and nothing speaks against replica symmetry."""
        is_stable = self.replicon <= _LARGEST_REPLICON
        return (
            self.is_converged
            and is_stable
            and self.multistable_fraction <= _LARGEST_FRACTION
        )


def report(solved: Solved, observed: Observed) -> ReplicaSolution:
    """Make the record of what the compiled iteration returned (NumPy leaves)."""
    m_k, q_k, variance_k, m_v, q_v, variance_v = (float(x) for x in observed.state)
    return ReplicaSolution(
        test_risk=float(observed.test_risk),
        training_loss=float(observed.training_loss),
        energy=float(observed.energy),
        potential=float(observed.potential),
        overlaps=Overlaps(m_k, q_k, m_v, q_v),
        variance_k=variance_k,
        variance_v=variance_v,
        conjugates=np.asarray(observed.conjugate, np.float64),
        replicon=float(observed.replicon),
        multistable_fraction=float(solved.multistable_fraction),
        status=_status(solved, observed),
        residual=float(solved.residual),
        num_steps=int(solved.num_steps),
        is_converged=_is_converged(solved, observed),
    )


def _is_converged(solved: Solved, observed: Observed) -> bool:
    """Tell a solution from a head so far out that it hardly moves any more."""
    return bool(solved.is_converged) and not bool(observed.runs_away)


def _status(solved: Solved, observed: Observed) -> str:
    """Say in a sentence how it ended and what speaks against the result."""
    outcome = "converged" if _is_converged(solved, observed) else "not converged"
    text = f"{outcome} after {solved.num_steps} steps, residual {solved.residual:.1e}"
    if observed.runs_away:
        longest = max(observed.state[1], observed.state[4])
        text += f"; the head runs away, its squared length is {longest:.1e}"
    if observed.replicon > _LARGEST_REPLICON:
        size = f"replicon {observed.replicon:.2f} > 1"
        text += f"; warning: replica symmetry is unstable, {size}"
    share = solved.multistable_fraction
    if share > _LARGEST_FRACTION:
        text += f"; warning: {share:.2%} of the samples have several proximal minima"
    return text
