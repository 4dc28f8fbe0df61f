"""The ledger: every statement of the papers as a test.

Importing this package enters all statements, a module per subject.
"""

# Keep one line per subject: to add one, write `claims/<subject>.py` and name it here.
from sharp_attention.claims import (  # noqa: F401
    activation_order,
    adaptive_limits,
    adaptive_temperature,
    adaptive_weights,
    bayes_optimal,
    class_vote,
    clrs_text,
    dispersion,
    dispersion_theorem,
    entropy_floor,
    entropy_statistics,
    escape_training,
    escapes,
    figure_3,
    finite_precision,
    finite_samples,
    first_note,
    infinite_samples,
    kernels,
    landscape,
    logit_spread,
    max_retrieval,
    optimal_temperature,
    phase_transition,
    population_risks,
    retrieval_weights,
    second_note,
    sharp_tasks,
    size_generalisation,
    temperature_fit,
    trained_spreads,
)
from sharp_attention.claims.ledger import all_claims
from sharp_attention.claims.registry import Claim

__all__ = ["Claim", "all_claims"]
