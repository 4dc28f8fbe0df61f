"""The theory of sharp attention, derived, computed and tested.

The subpackages are the public face; each owns one subject:

``attention``    maps from logits to weights, entropy, adaptive temperature, kernels
``theory``       dispersion bounds; single-location regression
``tasks``        the tasks of both papers: sample, target, measured overlaps
``models``       random and trained transformers
``experiments``  what is run, saved and resumed
``claims``       the ledger: every statement of the papers as a test
"""

__version__ = "0.1.0"
