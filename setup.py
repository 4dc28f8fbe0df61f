"""Puts the shipped results into the wheel; all else is said in pyproject.toml."""

from pathlib import Path
from shutil import copytree, ignore_patterns

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithResults(build_py):
    """Build the package, then copy ``book/results`` beside its modules."""

    def run(self) -> None:
        """Build; an editable install reads the results where they lie."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "sharp_attention", "results")
            hidden = ignore_patterns(".*")
            copytree("book/results", target, ignore=hidden, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithResults})
