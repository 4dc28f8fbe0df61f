"""The spread of logits in real transformers: heads, needles, adaptive temperature.

Two models read four texts and a file of code (`spread_texts`); every head is watched
at each length.  For a decoder one pass shows all lengths, since its row i sees i keys:
the heads at length n are those of the rows n − n/16 < i <= n.  An encoder reads the
first n tokens again for each n, and all its rows count.

How the paper put rows together is not known to us, so several ways are kept side by
side, see `SPREADS`.
"""

import io
import json
from collections.abc import Callable, Sequence

import jax
import numpy as np
import pandas as pd

from sharp_attention._checks import check_integer, require
from sharp_attention.experiments import needles, spread_texts
from sharp_attention.experiments.files import Row, csv_bytes
from sharp_attention.experiments.head_statistics import RowStatistics, row_statistics
from sharp_attention.experiments.records import (
    CellResult,
    Experiment,
    Outcome,
    Parameters,
    Scale,
)
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models import pretrained
from sharp_attention.models.pretrained import HeadVectors, PretrainedModel, Watchable

__all__ = ["EXPERIMENT", "LENGTHS", "SPREADS", "measure"]

SPREADS = {
    "spread": "mean over the rows that see about n keys",
    "spread_last": "of the row that sees all n keys and comes last",
    "spread_all": "mean over all rows that see two keys or more",
    "spread_largest": "largest of any row",
    "spread_matrix": "largest minus smallest logit of all rows together",
}
"""Ways to make one number of a head's rows."""

LENGTHS = {"smollm2": (16, 32, 64, 128, 256, 512, 1024), "minilm": (16, 64, 128, 512)}
CODE_LENGTHS = {"smollm2": (16, 64, 256, 1024, 4000), "minilm": (16, 64, 512)}
QUICK_LENGTHS = (16, 64)
PERPLEXITY_LENGTH = 512
MAP_LENGTH = 40


def measure(model: Watchable, text: str, lengths: Sequence[int]) -> pd.DataFrame:
    """Watch every head of a model at each of several lengths of one text.

    Parameters
    ----------
    model : of `pretrained.load`, or any other that can be watched
    text : what it reads
    lengths : numbers of tokens, >= 2

    Returns
    -------
    a row for each length, layer and head (both from 1) with the columns of `SPREADS`
    and, as means over the same rows as `spread`, max_weight, entropy (nats),
    first_weight, spread_rest, max_weight_rest and entropy_rest (without the first
    token)

    Raises
    ------
    TypeError, ValueError
        If a length is out of its range, or the text or the model is shorter than it.
    """
    require(len(lengths) >= 1, "lengths", "at least one", lengths)
    for length in lengths:
        check_integer("length", length, at_least=2)
        rule = f"at most {model.max_length} for {model.name}"
        require(length <= model.max_length, "length", rule, length)
    longest = max(lengths)
    tokens = model.encode(text, longest)
    if model.is_causal:
        everything = _watch(model, tokens)
        layers = {n: _first_rows(everything, n) for n in lengths}
    else:
        layers = {n: _watch(model, model.encode(text, n)) for n in lengths}
    return pd.DataFrame(
        [
            {"length": n, "layer": number + 1, "head": head + 1, **row}
            for n in lengths
            for number, layer in enumerate(layers[n])
            for head, row in enumerate(_head_rows(layer, n, model.is_causal))
        ]
    )


def _watch(model: Watchable, tokens: np.ndarray) -> list[RowStatistics]:
    return model.visit(tokens, lambda vectors: jax.device_get(row_statistics(vectors)))


def _first_rows(layers: list[RowStatistics], length: int) -> list[RowStatistics]:
    return [RowStatistics(*(part[:, :length] for part in layer)) for layer in layers]


def _head_rows(
    layer: RowStatistics, length: int, is_causal: bool
) -> list[dict[str, float]]:
    """Put the rows of each head of a layer together."""
    window = max(length // 16, 1) if is_causal else length
    spread = np.asarray(layer.largest - layer.smallest, dtype=np.float64)
    seen = spread[:, 1:] if is_causal else spread  # the first row sees one key
    columns = {
        "spread": spread[:, -window:].mean(axis=1),
        "spread_last": spread[:, -1],
        "spread_all": seen.mean(axis=1),
        "spread_largest": spread.max(axis=1),
        "spread_matrix": layer.largest.max(axis=1) - layer.smallest.min(axis=1),
    }
    for name in RowStatistics._fields[2:]:
        rows = np.asarray(getattr(layer, name), dtype=np.float64)
        columns[name] = rows[:, -window:].mean(axis=1)
    heads = range(len(spread))
    return [{n: float(c[head]) for n, c in columns.items()} for head in heads]


def grid(scale: Scale, seeds: Sequence[int]) -> list[Parameters]:
    """Return one cell for each model and text, for each test and for the maps."""
    if scale == "quick":
        return [
            {"part": "heads", "model": "minilm", "text": "prose", "scale": scale},
            {"part": "heads", "model": "smollm2", "text": "prose", "scale": scale},
        ]
    cells: list[Parameters] = [
        {"part": "heads", "model": model, "text": text, "scale": scale}
        for model in LENGTHS
        for text in spread_texts.NAMES
    ]
    cells += [{"part": "perplexity", "text": text} for text in spread_texts.FOUR]
    cells += [{"part": "needles", "distractors": d} for d in needles.DISTRACTORS]
    return [*cells, *({"part": "maps", "model": model} for model in LENGTHS)]


def compute(parameters: Parameters, workspace: Workspace) -> Outcome:
    """Compute one cell."""
    return _PARTS[parameters["part"]](parameters)


def _heads(parameters: Parameters) -> Outcome:
    name, text = parameters["model"], parameters["text"]
    chosen = CODE_LENGTHS if text == "code" else LENGTHS
    lengths = QUICK_LENGTHS if parameters["scale"] == "quick" else chosen[name]
    table = measure(pretrained.load_packaged(name), spread_texts.read(text), lengths)
    table.insert(0, "model", name)
    table.insert(1, "text", text)
    return Outcome([_short(row) for row in _rows(table)])


def _perplexity(parameters: Parameters) -> Outcome:
    model, text = pretrained.load_packaged("smollm2"), parameters["text"]
    tokens = model.encode(spread_texts.read(text), PERPLEXITY_LENGTH)
    return Outcome(
        [
            {
                "model": "smollm2",
                "text": text,
                "length": PERPLEXITY_LENGTH,
                "rule": rule,
                "perplexity": _perplexity_under(model, tokens, rule),
            }
            for rule in ("softmax", "adaptive")
        ]
    )


def _perplexity_under(model: PretrainedModel, tokens: np.ndarray, rule: str) -> float:
    """Return exp of the mean surprise at the tokens after the first."""
    scores = model.next_token_logits(tokens, rule)[:-1]
    chances = np.asarray(jax.nn.log_softmax(scores, axis=-1), dtype=np.float64)
    surprise = -chances[np.arange(len(tokens) - 1), tokens[1:]]
    return float(np.exp(surprise.mean()))


def _needles(parameters: Parameters) -> Outcome:
    model = pretrained.load_packaged("smollm2")
    rows, answers = needles.measure(model, parameters["distractors"], needles.LENGTHS)
    files = {"answers.csv": csv_bytes([_short(row) for row in answers])}
    return Outcome([_short(row) for row in rows], files)


def _maps(parameters: Parameters) -> Outcome:
    """Keep the weights of a few heads on the first tokens of the prose."""
    model = pretrained.load_packaged(parameters["model"])
    tokens = model.encode(spread_texts.read("prose"), MAP_LENGTH)
    weights = np.stack(model.visit(tokens, _weights))
    buffer = io.BytesIO()
    chosen = {
        f"{kind}-{layer + 1}-{head + 1}": weights[layer, head].astype(np.float16)
        for kind, (layer, head) in _characters(weights).items()
    }
    np.savez_compressed(buffer, **chosen)
    pieces = json.dumps(model.tokenizer.pieces(tokens), ensure_ascii=False)
    files = {"maps.npz": buffer.getvalue(), "pieces.json": pieces.encode()}
    return Outcome([], files)


def _weights(vectors: HeadVectors) -> np.ndarray:
    return np.asarray(jax.nn.softmax(vectors.logits(), axis=-1))


def _characters(weights: np.ndarray) -> dict[str, tuple[int, int]]:
    """Pick the heads that are most of one kind: (layer, head) by kind."""
    length = weights.shape[-1]
    rows = np.arange(length // 2, length)  # rows that see enough
    late = weights[:, :, rows]
    is_far = np.abs(rows[:, None] - np.arange(length)) >= 4
    is_far[:, 0] = False
    scores = {
        "first": late[..., 0].mean(axis=-1),
        "previous": weights[:, :, rows, rows - 1].mean(axis=-1),
        "far": np.where(is_far, late, 0.0).max(axis=-1).mean(axis=-1),
        "flat": -late.max(axis=-1).mean(axis=-1),
    }
    return {
        kind: (int(place[0]), int(place[1]))
        for kind, score in scores.items()
        for place in [np.unravel_index(score.argmax(), score.shape)]
    }


_PARTS: dict[str, Callable[[Parameters], Outcome]] = {
    "heads": _heads,
    "perplexity": _perplexity,
    "needles": _needles,
    "maps": _maps,
}


def _rows(table: pd.DataFrame) -> list[Row]:
    return [{str(n): v for n, v in row.items()} for row in table.to_dict("records")]


def _short(row: Row) -> Row:
    """Round to five digits, which is more than float32 sums agree on."""
    return {n: float(f"{v:.5g}") if isinstance(v, float) else v for n, v in row.items()}


def collect(results: Sequence[CellResult]) -> dict[str, bytes]:
    """Put the cells of each part into one table; maps beside them."""
    files = {}
    for part in ("heads", "perplexity", "needles"):
        cells = [cell for cell in results if cell.parameters["part"] == part]
        rows = [row for cell in cells for row in cell.rows]
        if rows:
            files[f"{part}.csv"] = csv_bytes(rows)
    answers = [
        cell.files["answers.csv"] for cell in results if "answers.csv" in cell.files
    ]
    if answers:
        table = pd.concat([pd.read_csv(path) for path in answers])
        files["answers.csv"] = csv_bytes(_rows(table))
    for cell in results:
        if cell.parameters["part"] == "maps":
            for name, path in cell.files.items():
                files[f"{cell.parameters['model']}-{name}"] = path.read_bytes()
    return files


EXPERIMENT = Experiment(
    name="logit-spread",
    description="Spread of logits in trained transformers, and what dilutes them.",
    version=1,
    num_seeds={"quick": 1, "full": 1},
    grid=grid,
    compute=compute,
    collect=collect,
)
