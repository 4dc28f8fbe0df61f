"""``sharp-attention info``: what is installed, and where things lie."""

import typer

from sharp_attention.experiments import catalogue, fingerprint, places

__all__ = ["info"]


def info() -> None:
    """Show versions, devices, precision, and where results and caches lie."""
    import jax

    clone = places.clone()
    facts = fingerprint.versions() | {
        "devices": ", ".join(str(device) for device in jax.devices()),
        "precision": f"attention in {jax.numpy.result_type(float)} unless its input "
        "has another type; theory and solvers in float64",
        "package": places.package_folder(),
        "clone": clone or "none",
        "results": places.results_folder("NAME").absolute(),
        "caches": places.cache_folder().absolute(),
        "fingerprint": fingerprint.fingerprint(),
        "experiments": ", ".join(catalogue.names()),
    }
    for name, fact in facts.items():
        typer.echo(f"{name:<16} {fact}")
