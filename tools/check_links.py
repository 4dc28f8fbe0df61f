"""Ask every link to another host whether it still answers: needs the network.

``python tools/check_links.py`` exits with 1 if one does not. Apart from the other
checks, since another host's bad day is no fault of a change.
"""

import build_book

if __name__ == "__main__":
    raise SystemExit(build_book.build("linkcheck"))
