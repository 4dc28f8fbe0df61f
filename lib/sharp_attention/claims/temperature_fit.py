"""Claims about the fitted polynomial, read from the shipped fit to our own models."""

import functools

import numpy as np
import pandas as pd

from sharp_attention._typing import Float64
from sharp_attention.attention import temperature
from sharp_attention.claims.registry import Measurement, declare
from sharp_attention.experiments import artefacts

__all__: list[str] = []

_fit = functools.partial(
    declare,
    paper="softmax-not-enough",
    place="fit of the polynomial (Figure 6)",
    chapter="adaptive-temperature",
    command="sharp-attention reproduce temperature-fit",
)
_ours = functools.partial(
    _fit, paper="ours", place="fit to our own models", confidence="D"
)


def _fitted() -> Float64:
    table = artefacts.read_table("temperature-fit", "fit.csv")
    return table.sort_values("power", ascending=False)["fitted"].to_numpy(np.float64)


def _domain() -> Float64:
    """Entropies that both polynomials are for: ours were seen, the rule acts there."""
    seen = artefacts.read_table("temperature-fit", "pairs.csv")["entropy"]
    low, high = temperature.active_domain()
    return np.linspace(max(low, seen.min()), min(high, seen.max()), 201)


def _accuracy(num_items: int) -> pd.DataFrame:
    """Return per cent right: a row for each held-out model, a column for each rule."""
    table = artefacts.read_table("temperature-fit", "judged.csv")
    table["accuracy"] = 100 * table["correct"] / table["num_sets"]
    rows = table[table["num_items"] == num_items]
    return rows.pivot_table("accuracy", "seed", "rule")


def _declare_coefficient(power: int, quoted: float) -> None:
    @_fit(
        f"fit-coefficient-{power}",
        statement=f"In the fit to misranked sets of a trained model the coefficient of "
        f"H^{power} is {quoted}.",
        quoted_value=quoted,
        tolerance=5e-4,
        expected="differs",
        confidence="A",
    )
    def _coefficient() -> Measurement:
        return Measurement(float(_fitted()[4 - power]))


for _place, _quoted in enumerate(temperature.POLYNOMIAL):
    _declare_coefficient(4 - _place, _quoted)


@_fit(
    "fit-is-the-printed-one",
    statement="The polynomial that fits a trained model is the printed one (measured: "
    "largest difference of the inverse temperatures where both are valid).",
    quoted_value=0.0,
    comparison="at most",
    tolerance=0.1,
    expected="differs",
    confidence="A",
)
def _is_the_printed_one() -> Measurement:
    entropies = _domain()
    ours = np.polyval(_fitted(), entropies)
    printed = np.polyval(temperature.POLYNOMIAL, entropies)
    return Measurement(float(np.abs(ours - printed).max()))


@_ours(
    "fit-crosses-one-nearby",
    statement="Below an entropy of 0.85 the printed polynomial asks for less than 1, "
    "and ours does below one that is at most 0.15 away (measured: where it crosses 1).",
    quoted_value=0.8486,
    tolerance=0.15,
)
def _crosses_one_nearby() -> Measurement:
    entropies = np.linspace(0.5, 2.0, 1501)
    above = np.polyval(_fitted(), entropies) > 1
    return Measurement(float(entropies[above.argmax()]))


@_fit(
    "printed-rule-helps-on-ours",
    statement="The printed rule helps a model that it was not fitted to (measured: "
    "gain over softmax at 1024 items, in points, mean of held-out models).",
    quoted_value=0.0,
    comparison="at least",
    confidence="B",
)
def _printed_rule_helps() -> Measurement:
    table = _accuracy(1024)
    return Measurement(float((table["published"] - table["softmax"]).mean()))


@_ours(
    "fitted-rule-goes-further",
    statement="On held-out models the rule that was fitted to models of their kind is "
    "better than the printed one (measured: gain over it at 4096 items, in points).",
    quoted_value=0.0,
    comparison="at least",
)
def _fitted_rule_goes_further() -> Measurement:
    table = _accuracy(4096)
    return Measurement(float((table["fitted"] - table["published"]).mean()))
