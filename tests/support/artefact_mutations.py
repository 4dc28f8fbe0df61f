"""Ways to break a shipped artefact on purpose: its table is changed as it is read."""

from collections.abc import Callable

import pandas as pd

from ledger import Mutation

__all__ = ["with_table"]


def with_table(
    target: str, name: str, change: Callable[[pd.DataFrame], None]
) -> Mutation:
    """Let `change` alter, in place, the table that the function `target` returns."""

    def broken(original: Callable[..., pd.DataFrame]) -> Callable[..., pd.DataFrame]:
        def altered(*args: object, **kwargs: object) -> pd.DataFrame:
            table = original(*args, **kwargs)
            change(table)
            return table

        return altered

    return Mutation(name, target, broken)
