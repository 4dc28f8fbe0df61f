"""The tasks of both papers: parameters, samples, targets, measured overlaps."""
