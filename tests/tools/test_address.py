"""The one setting that is not in a file, and what follows from it."""

import pytest

from sharp_book.address import SETTINGS, Address, read

OURS = Address("owner", "sharp-attention")


@pytest.mark.parametrize(
    "value",
    [
        "owner/sharp-attention",
        "https://github.com/owner/sharp-attention",
        "https://github.com/owner/sharp-attention.git",
        "https://github.com/owner/sharp-attention/",
        "  owner/sharp-attention ",
    ],
)
@pytest.mark.parametrize("setting", SETTINGS)
def test_forms_of_the_address(setting, value):
    assert read({setting: value}) == OURS


@pytest.mark.parametrize("environ", [{}, {SETTINGS[0]: ""}, {SETTINGS[0]: " "}])
def test_no_address(environ):
    assert read(environ) is None


def test_the_projects_own_setting_counts_first():
    both = {SETTINGS[1]: "someone/fork", SETTINGS[0]: "owner/sharp-attention"}
    assert read(both) == OURS


@pytest.mark.parametrize(
    "value",
    ["owner", "owner/", "a/b/c", "https://example.org/a/b", "git@github.com:a/b.git"],
)
def test_other_forms_are_refused(value):
    with pytest.raises(ValueError, match=f"{SETTINGS[0]} must be owner/name"):
        read({SETTINGS[0]: value})


def test_links():
    assert OURS.repository == "https://github.com/owner/sharp-attention"
    assert OURS.site == "https://owner.github.io/sharp-attention/"
    # A notebook is opened from the branch whose install cells know the address.
    assert OURS.colab("book/primer.ipynb").endswith(
        "/github/owner/sharp-attention/blob/notebooks/book/primer.ipynb"
    )
    assert OURS.binder("book/primer.ipynb").endswith(
        "/gh/owner/sharp-attention/notebooks?urlpath=lab/tree/book/primer.ipynb"
    )
    assert OURS.lines("main", "lib/a.py", 3, 5).endswith("/blob/main/lib/a.py#L3-L5")


def test_site_of_an_owners_own_repository():
    assert Address("Owner", "owner.github.io").site == "https://owner.github.io/"
