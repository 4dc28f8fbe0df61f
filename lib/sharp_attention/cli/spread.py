"""``sharp-attention spread``: how far the logits of a real model lie apart."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sharp_attention.cli.console import say

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["spread"]

_Model = Annotated[
    str,
    typer.Argument(
        help="smollm2, minilm, a GGUF file, a folder with a model, or a name that "
        "transformers knows, such as google/gemma-2b."
    ),
]
_Text = Annotated[
    str, typer.Argument(help="A text file, or the text itself if it has a space in it.")
]
_Lengths = Annotated[
    str | None,
    typer.Option(help="Numbers of tokens, as 16,64,256; by default doubling from 16."),
]
_Output = Annotated[
    Path | None, typer.Option(help="CSV file; by default spread-MODEL.csv.")
]

_SHORTEST = 16


def spread(
    model: _Model,
    text: _Text,
    lengths: _Lengths = None,
    output: _Output = None,
) -> None:
    """Print the spread of a model's logits over its heads; write each head's to CSV.

    The spread of a row is its largest minus its smallest logit before softmax. A
    head's is the mean over the rows that see about n tokens.
    """
    content = _read(text)
    wanted = None if lengths is None else _numbers(lengths)
    from sharp_attention.experiments import logit_spread, spread_table
    from sharp_attention.models import pretrained

    loaded = pretrained.load(model)
    if wanted is None:
        longest = min(len(loaded.encode(content)), loaded.max_length)
        wanted = _doubling(longest)
    table = logit_spread.measure(loaded, content, wanted)
    path = output or Path(f"spread-{Path(model).name}.csv")
    table.to_csv(path, index=False, float_format="%.6g", lineterminator="\n")
    _print(spread_table.over_heads(table))
    say(f"Each head's numbers are in {path}.")


def _read(text: str) -> str:
    path = Path(text)
    is_sentence = " " in text.strip()
    if is_sentence and (len(text) > 255 or not path.exists()):
        return text
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        message = "TEXT must be a text file that can be read, or a text with a space"
        raise ValueError(f"{message}; received {text!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        message = f"TEXT must be a text file in UTF-8; received {text!r}: {error}"
        raise ValueError(message) from error


def _numbers(lengths: str) -> list[int]:
    parts = [part.strip() for part in lengths.split(",")]
    if not all(part.isdecimal() for part in parts):
        message = "lengths must be whole numbers with commas between, as 16,64,256"
        raise ValueError(f"{message}; received {lengths!r}")
    return [int(part) for part in parts]


def _doubling(longest: int) -> list[int]:
    if longest < _SHORTEST:
        message = f"TEXT must have at least {_SHORTEST} tokens; received {longest}"
        raise ValueError(f"{message}; --lengths takes shorter ones")
    return [2**power for power in range(4, longest.bit_length())]


def _print(table: "pd.DataFrame") -> None:
    names = {
        "heads": "heads",
        "min": "min",
        "mean": "mean",
        "std": "std",
        "max": "max",
        "max_weight": "largest weight",
        "entropy": "entropy",
        "below_log": "below ln n",
    }
    shown = table[list(names)].rename(columns=names)
    shown["below ln n"] = [f"{share:.1%}" for share in shown["below ln n"]]
    typer.echo("spread of the logits over heads; largest weight and entropy: means")
    typer.echo(shown.to_string(float_format="%.2f"))
