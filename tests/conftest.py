"""Settings of every test run."""

import os

import pytest

# Two noisy cores: XLA must not spin up a thread pool per xdist worker.
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
os.environ.setdefault("MPLBACKEND", "agg")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--run-slow", action="store_true", help="run the tests marked slow as well"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Every annotated shape and type of the library is checked in every test.
    from jaxtyping import install_import_hook

    install_import_hook("sharp_attention", "typechecker.check")


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    if config.getoption("--run-slow"):
        return
    skip = pytest.mark.skip(reason="slow; give --run-slow")
    for item in items:
        if "slow" in item.keywords:
            item.add_marker(skip)
