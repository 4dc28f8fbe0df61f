"""Ask every link to another host whether it still answers: needs the network.

``python tools/check_links.py`` exits with 1 if one does not. Apart from the other
checks, since another host's bad day is no fault of a change.
"""

import build_book


def main() -> int:
    """Check, and leave nothing behind in the site."""
    status = build_book.build("linkcheck")
    for name in ("output.txt", "output.json"):  # Jupyter Book puts them there
        (build_book.SITE / name).unlink(missing_ok=True)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
