"""Labels of the list of references that can be read: authors and year."""

from collections.abc import Iterable, Iterator

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.unsrt import Style as UnsortedStyle
from pybtex.style.labels import BaseLabelStyle
from pybtex.style.sorting.author_year_title import SortingStyle
from sphinx.application import Sphinx

__all__ = ["AuthorYearStyle", "label", "setup"]


def label(entry: Entry) -> str:
    """Return "Name", "Name and Name" or "Name et al.", and the year."""
    names = [" ".join(person.last_names) for person in entry.persons["author"]]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{who}, {entry.fields['year']}"


class _AuthorYearLabels(BaseLabelStyle):  # type: ignore[misc]
    def format_labels(self, entries: Iterable[Entry]) -> Iterator[str]:
        for entry in entries:
            yield label(entry)


class AuthorYearStyle(UnsortedStyle):  # type: ignore[misc]
    """The plain style, sorted by author, with readable labels."""

    default_label_style = _AuthorYearLabels
    default_sorting_style = SortingStyle


def setup(app: Sphinx) -> None:
    """Make the style known as "sharp"."""
    register_plugin("pybtex.style.formatting", "sharp", AuthorYearStyle)
