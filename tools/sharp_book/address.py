"""The repository's address: one setting, read from the environment.

``SHARP_ATTENTION_REPOSITORY`` or, in GitHub's workflows, ``GITHUB_REPOSITORY``.
Without it the book shows no repository or launch button, so that no link is dead.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["NOTEBOOK_BRANCH", "SETTINGS", "Address", "read"]

SETTINGS = ("SHARP_ATTENTION_REPOSITORY", "GITHUB_REPOSITORY")
"""Environment variables that may hold the address; the first one found counts."""

NOTEBOOK_BRANCH = "notebooks"
"""Branch to which the publishing workflow writes notebooks that know the address."""

_FORM = re.compile(
    r"(?:https://github\.com/)?(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:\.git)?/?"
)


@dataclass(frozen=True)
class Address:
    """A repository on GitHub, the site published from it and links into both."""

    owner: str
    name: str

    @property
    def repository(self) -> str:
        """Address of the repository, without a slash at the end."""
        return f"https://github.com/{self.owner}/{self.name}"

    @property
    def site(self) -> str:
        """Address of the published site, with a slash at the end."""
        host = f"{self.owner.lower()}.github.io"
        return f"https://{host}/" + ("" if self.name == host else f"{self.name}/")

    def colab(self, notebook: str) -> str:
        """Link that opens a notebook (path in the repository) on Colab."""
        return (
            f"https://colab.research.google.com/github/{self.owner}/{self.name}"
            f"/blob/{NOTEBOOK_BRANCH}/{notebook}"
        )

    def binder(self, notebook: str) -> str:
        """Link that opens a notebook (path in the repository) on Binder."""
        return (
            f"https://mybinder.org/v2/gh/{self.owner}/{self.name}/{NOTEBOOK_BRANCH}"
            f"?urlpath=lab/tree/{notebook}"
        )

    def lines(self, revision: str, path: str, first: int, last: int) -> str:
        """Link to lines of a file at a branch or commit."""
        return f"{self.repository}/blob/{revision}/{path}#L{first}-L{last}"


def read(environ: Mapping[str, str] = os.environ) -> Address | None:
    """Return the address that the environment names, or None.

    Raises
    ------
    ValueError
        If the setting is neither ``owner/name`` nor an address on github.com.
    """
    for setting in SETTINGS:
        value = environ.get(setting, "").strip()
        if not value:
            continue
        match = _FORM.fullmatch(value)
        if match is None:
            rule = "must be owner/name or https://github.com/owner/name"
            raise ValueError(f"{setting} {rule}; got {value!r}")
        return Address(match["owner"], match["name"])
    return None
