"""Adaptive temperature inside ``transformers``: for who has the weights of Gemma.

The rule of `attention.temperature` written for PyTorch and registered as an attention
function, so that a decoder of ``transformers`` trains and runs with it in every head.
Beta is a constant to differentiation, as in `attend`.
Both packages are optional: ``pip install 'sharp-attention[transformers]'``.
"""

import importlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

from sharp_attention._checks import check_choice, check_integer, check_real, require
from sharp_attention.attention.temperature import POLYNOMIAL
from sharp_attention.models.pretrained.foreign import INSTALL

__all__ = ["IGNORED", "adaptive_attention", "batch", "choose", "fine_tune", "register"]

_NAMES = {"softmax": "eager", "adaptive": "sharp_attention_adaptive"}
"""The attention functions of ``transformers`` by the names of the rules."""

IGNORED = -100
"""The target of a token that the loss leaves out, as ``transformers`` has it."""


def register() -> None:
    """Make the rule known to ``transformers``.

    Raises
    ------
    ModuleNotFoundError
        If ``transformers`` or ``torch`` is missing, with the line that installs them.
    """
    transformers, _ = _import("transformers"), _import("torch")
    masks = _import("transformers.masking_utils")
    name = _NAMES["adaptive"]
    transformers.AttentionInterface.register(name, adaptive_attention)
    # A mask to be added to the logits, as the eager function takes it.
    transformers.AttentionMaskInterface.register(name, masks.eager_mask)


def choose(network: Any, weights: str) -> None:
    """Let every head of a decoder use "softmax" or "adaptive" weights from now on."""
    check_choice("weights", weights, list(_NAMES))
    register()
    network.set_attn_implementation(_NAMES[weights])


def adaptive_attention(
    module: Any,
    query: Any,
    key: Any,
    value: Any,
    attention_mask: Any,
    scaling: float | None = None,
    dropout: float = 0.0,
    **options: Any,
) -> tuple[Any, Any]:
    """Attend at the temperature that the entropy of each row picks.

    Parameters
    ----------
    module : the layer that asks; its key heads serve groups of query heads
    query : (batch, heads, queries, dim), a tensor of PyTorch
    key, value : (batch, key heads, keys, dim)
    attention_mask : added to the logits, broadcasts to (batch, heads, queries, keys);
        the lowest finite number hides a key
    scaling : factor of the logits, 1/√dim if None
    dropout : must be 0

    Returns
    -------
    output, (batch, queries, heads, dim), and the weights

    Raises
    ------
    ValueError
        If the decoder caps its logits or asks for dropout of weights.
    """
    require(options.get("softcap") is None, "model", "without soft-cap", "one")
    require(dropout == 0 or not module.training, "dropout", "0", dropout)
    torch = _import("torch")
    group = query.shape[1] // key.shape[1]
    keys, values = (array.repeat_interleave(group, dim=1) for array in (key, value))
    scale = scaling or query.shape[-1] ** -0.5
    logits = scale * (query.float() @ keys.float().transpose(-1, -2))
    if attention_mask is not None:
        logits = logits + attention_mask[..., : keys.shape[-2]].float()
    # Scaling what is left after the maximum keeps the mask's large numbers finite.
    shifted = logits - logits.amax(dim=-1, keepdim=True)
    beta = _inverse_temperature(shifted.detach())
    smallest = torch.finfo(torch.float32).min
    weights = torch.softmax((beta * shifted).clamp(min=smallest), dim=-1)
    weights = weights.to(query.dtype)
    return (weights @ values).transpose(1, 2).contiguous(), weights


def batch(
    tokenizer: Any, examples: Sequence[tuple[str, str]], device: Any = "cpu"
) -> dict[str, Any]:
    """Turn questions and answers into what a decoder of ``transformers`` takes.

    Parameters
    ----------
    tokenizer : of the decoder; question and answer are split apart before it sees them
    examples : pairs of question and answer, at least one
    device : of PyTorch

    Returns
    -------
    input_ids, attention_mask and labels, (texts, length): padded on the right, labels
    `IGNORED` everywhere but on the answer
    """
    require(len(examples) > 0, "examples", "at least one", len(examples))
    torch = _import("torch")
    rows = []
    for question, answer in examples:
        asked = list(tokenizer(question)["input_ids"])
        told = list(tokenizer(answer, add_special_tokens=False)["input_ids"])
        rows.append((asked + told, [IGNORED] * len(asked) + told))
    length = max(len(tokens) for tokens, _ in rows)
    pad = [(length - len(tokens)) for tokens, _ in rows]
    columns = {
        "input_ids": [t + [0] * p for (t, _), p in zip(rows, pad, strict=True)],
        "attention_mask": [[1] * (length - p) + [0] * p for p in pad],
        "labels": [t + [IGNORED] * p for (_, t), p in zip(rows, pad, strict=True)],
    }
    return {n: torch.as_tensor(c, device=device) for n, c in columns.items()}


def fine_tune(
    network: Any,
    tokenizer: Any,
    batches: Iterable[Sequence[tuple[str, str]]],
    *,
    num_steps: int,
    learning_rate: float = 1e-5,
) -> list[float]:
    """Train a decoder on the answers, in place, by AdamW.

    Parameters
    ----------
    network, tokenizer : of ``transformers``; `choose` sets the rule of the weights
    batches : the questions and answers of each step
    num_steps : how many steps to take, >= 1
    learning_rate : constant, > 0

    Returns
    -------
    the loss of each step, in nats per token of the answers

    Raises
    ------
    ValueError
        If there are fewer batches than steps, or a loss is not finite.
    """
    check_integer("num_steps", num_steps, at_least=1)
    check_real("learning_rate", learning_rate, above=0)
    torch = _import("torch")
    optimiser = torch.optim.AdamW(network.parameters(), lr=learning_rate)
    network.train()
    losses: list[float] = []
    for examples, _ in zip(batches, range(num_steps), strict=False):
        loss = network(**batch(tokenizer, examples, network.device)).loss
        value = float(loss.detach())
        require(math.isfinite(value), "loss", "finite", value)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimiser.step()
        losses.append(value)
    require(len(losses) == num_steps, "batches", f"{num_steps} at least", len(losses))
    network.eval()
    return losses


def _inverse_temperature(shifted: Any) -> Any:
    torch = _import("torch")
    logs = torch.log_softmax(shifted, dim=-1)
    weights = logs.exp()
    surprise = torch.where(weights > 0, -logs, torch.zeros_like(logs))
    entropy = (weights * surprise).sum(dim=-1, keepdim=True)
    value = torch.zeros_like(entropy)
    for coefficient in POLYNOMIAL:
        value = value * entropy + coefficient
    return value.clamp(min=1.0)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        message = (
            f"the package {error.name!r} is needed to fine-tune a decoder and is not "
            f"installed; install it with: {INSTALL}"
        )
        raise ModuleNotFoundError(message) from error
