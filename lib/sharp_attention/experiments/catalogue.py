"""All experiments by name; a module is imported only when its experiment is asked for.

To add one, write a module that ends with ``EXPERIMENT = Experiment(...)`` and enter
it here.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the records import JAX, and listing names should be instant
    from sharp_attention.experiments.records import Experiment

__all__ = ["find", "names"]

_MODULES = {
    "dispersion-sweep": "dispersion_sweep",
    "escapes": "escapes",
    "finite-samples": "finite_samples",
    "landscape": "landscape",
    "max-retrieval": "max_retrieval",
    "phase-risks": "phase_risks",
    "smallest-risks": "smallest_risks",
    "temperature-fit": "temperature_fit",
    # Last, since they need the packages of requirements-models.txt.
    "logit-spread": "logit_spread",
    "clrs-text": "clrs_text",
}

_UNSHIPPED = {"clrs-text-large": "clrs_text_large"}
"""Experiments for a GPU whose results the book does not hold."""


def names() -> list[str]:
    """Return the names of all experiments whose results the book ships."""
    return list(_MODULES)


def find(name: str) -> "Experiment":
    """Return the experiment `name`.

    Raises
    ------
    ValueError
        With the list of the names that exist.
    """
    modules = _MODULES | _UNSHIPPED
    if name not in modules:
        known = ", ".join(modules)
        raise ValueError(f"NAME must be one of {known}; received {name!r}")
    module = importlib.import_module(f"{__package__}.{modules[name]}")
    return module.EXPERIMENT
