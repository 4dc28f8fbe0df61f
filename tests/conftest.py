"""Settings of every test run."""

import os

import jax
import pytest

import compiled

os.environ.setdefault("MPLBACKEND", "agg")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--run-slow", action="store_true", help="run the tests marked slow as well"
    )
    parser.addoption(
        "--run-medium",
        action="store_true",
        help="run the tests marked medium as well; --run-slow does, too",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.option.run_medium |= config.option.run_slow
    as_users_do = config.option.run_medium
    # Two noisy cores: XLA must not spin up a thread pool per xdist worker.
    flags = compiled.ONE_THREAD if as_users_do else compiled.quick_flags()
    os.environ.setdefault("XLA_FLAGS", flags)
    # Every annotated shape and type of the library is checked in every test.
    from jaxtyping import install_import_hook

    install_import_hook("sharp_attention", "typechecker.check")
    # A hook of this file would see the tests below this folder, and no chapter.
    config.pluginmanager.register(CompiledChapters())
    keep_what_is_compiled()
    if not config.option.run_slow:
        config.pluginmanager.register(LightCompilation(kernels=not as_users_do))


def keep_what_is_compiled() -> None:
    """Let workers, and the next run, find what one of them has compiled.

    Most of the time of the tests is compilation.
    JAX finds a kept program by what it computes, by versions and by flags.
    No chapter has programs of these flags, so they lie in a folder of their own.
    """
    jax.config.update("jax_compilation_cache_dir", str(compiled.KEPT / "tests"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.3)


class CompiledChapters:
    """Lets the kernel of a chapter find what was compiled when the book was built.

    Other processes that a test starts compile for themselves, as their users' would.
    """

    def __init__(self) -> None:
        self.outside = {name: os.environ.get(name) for name in compiled.settings()}

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        inside = item.path.suffix == ".ipynb"
        for name, value in (compiled.settings() if inside else self.outside).items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class LightCompilation:
    """Lets XLA optimise less where a test is about what is computed, not how fast.

    Most of the time of the tests is compilation. With ``--run-medium`` the kernels are
    compiled as their users compile them, and with ``--run-slow`` everything is.
    """

    KERNELS = "tests/attention", "tests/agreement"

    def __init__(self, *, kernels: bool) -> None:
        self.full = () if kernels else self.KERNELS
        self.light = False

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        place = item.path.relative_to(item.config.rootpath).as_posix()
        self.switch(not place.startswith(("tests/benchmarks", *self.full)))

    def switch(self, light: bool) -> None:
        """Forget what was compiled the other way."""
        if light != self.light:
            jax.config.update("jax_disable_most_optimizations", light)
            jax.clear_caches()
            self.light = light


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    left_out = [n for n in ("slow", "medium") if not config.getoption(f"--run-{n}")]
    for name in left_out:
        skip = pytest.mark.skip(reason=f"{name}; give --run-{name}")
        for item in items:
            if name in item.keywords:
                item.add_marker(skip)
