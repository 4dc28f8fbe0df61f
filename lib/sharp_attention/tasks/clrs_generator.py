"""The official CLRS-Text generator without the frameworks that its package pulls in.

``dm-clrs`` needs TensorFlow for one ``isinstance``, and Haiku for baselines that are of
no use here.
So its packages are entered into ``sys.modules`` as bare folders, which keeps their
``__init__`` files from running, and a stand-in takes TensorFlow's place while the
modules that make strings are imported.
Afterwards ``sys.modules`` is as before, so that a full installation stays usable.
"""

import contextlib
import functools
import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

__all__ = ["INSTALL", "is_installed", "sampler"]

INSTALL = "python -m pip install --no-deps --requirement requirements-models.txt"
"""The command that installs the generator, in a clone."""

_NEEDED = ("clrs", "chex", "toolz", "attr", "absl")


class _Generator(NamedTuple):
    samplers: Any
    clrs_utils: Any
    logging: Any


def is_installed() -> bool:
    """Whether the generator and what it needs are there."""
    return all(importlib.util.find_spec(name) for name in _NEEDED)


def sampler(algorithm: str, size: int, seed: int) -> Callable[[], tuple[str, str]]:
    """Give a function whose calls return one question and answer after the other.

    Parameters
    ----------
    algorithm, size, seed : as `tasks.clrs_text.generate` has checked them

    Raises
    ------
    ModuleNotFoundError
        With `INSTALL`, where the generator is missing.
    """
    generator = _import()
    generator.logging.set_verbosity(generator.logging.ERROR)
    source, _ = generator.samplers.build_sampler(
        algorithm,
        seed=seed,
        num_samples=-1,
        track_max_steps=False,
        truncate_decimals=3,
        length=size,
    )

    def draw() -> tuple[str, str]:
        with warnings.catch_warnings():
            # The geometry crosses vectors of the plane, which NumPy 2 frowns on.
            warnings.simplefilter("ignore", DeprecationWarning)
            sample = source.next(batch_size=1)
        question, answer = generator.clrs_utils.format_clrs_example(algorithm, sample)
        return question, answer

    return draw


@functools.cache
def _import() -> _Generator:
    if not is_installed():
        message = f"the CLRS-Text generator is not installed; install it by: {INSTALL}"
        raise ModuleNotFoundError(message)
    with _stand_ins():
        return _Generator(
            importlib.import_module("clrs._src.samplers"),
            importlib.import_module("clrs._src.clrs_text.clrs_utils"),
            importlib.import_module("absl.logging"),
        )


@contextlib.contextmanager
def _stand_ins() -> Iterator[None]:
    spec = importlib.util.find_spec("clrs")
    assert spec is not None  # or `_import` would have said so
    assert spec.submodule_search_locations is not None
    top = Path(next(iter(spec.submodule_search_locations)))
    replaced = {
        "clrs": _folder("clrs", top),
        "clrs._src": _folder("clrs._src", top / "_src"),
        "clrs._src.clrs_text": _folder("clrs._src.clrs_text", top / "_src/clrs_text"),
        "tensorflow": _tensorflow(),
    }
    before = {name: sys.modules.get(name) for name in replaced}
    sys.modules.update(replaced)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _folder(name: str, path: Path) -> ModuleType:
    module = ModuleType(name)
    module.__path__ = [str(path)]
    return module


def _tensorflow() -> ModuleType:
    module = ModuleType("tensorflow")
    module.Tensor = type("Tensor", (), {})  # type: ignore[attr-defined]
    return module
