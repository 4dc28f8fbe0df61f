"""Decoders that ``transformers`` loads, watched from inside: Gemma, for who has it.

``transformers`` lets one register an attention function.  Ours hands queries and keys
on to whoever watches and then computes what the library's own function would.
Both packages are optional: ``pip install 'sharp-attention[transformers]'``.
"""

import contextlib
import importlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from sharp_attention._checks import require
from sharp_attention._typing import ArrayLike
from sharp_attention.models.pretrained.model import cut
from sharp_attention.models.pretrained.vectors import HeadVectors

__all__ = ["INSTALL", "ForeignModel", "load"]

INSTALL = "python -m pip install 'transformers>=5' torch"

Result = TypeVar("Result")
_Listener = Callable[[HeadVectors], None]

_NAME = "sharp_attention_watched"
_listener: ContextVar[_Listener | None] = ContextVar("listener", default=None)


class ForeignModel:
    """A decoder of ``transformers`` that can be watched.

    Attributes
    ----------
    name : as ``transformers`` knows it, or a folder
    """

    is_causal = True

    def __init__(self, name: str, network: Any, tokenizer: Any) -> None:
        self.name = name
        self._network, self._tokenizer = network, tokenizer

    @property
    def max_length(self) -> int:
        """Longest row of tokens that the network was made for."""
        return int(self._network.config.max_position_embeddings)

    def encode(
        self, text: str, length: int | None = None
    ) -> Int[np.ndarray, " length"]:
        """Return the tokens of a text, with those that the model adds around it.

        Raises
        ------
        ValueError
            If the text is shorter than `length`.
        """
        tokens = np.asarray(self._tokenizer(text)["input_ids"], dtype=np.int64)
        return cut(tokens, length, keep_last=False)

    def visit(
        self, tokens: ArrayLike, watch: Callable[[HeadVectors], Result]
    ) -> list[Result]:
        """Run the network and return what `watch` makes of each layer.

        Raises
        ------
        ValueError
            If the network caps its logits, looks through windows shorter than the
            text, or does not let every layer be watched.
        """
        torch = _import("torch")
        seen: list[Result] = []
        row = torch.as_tensor(np.asarray(tokens))[None]
        with (
            _listening(lambda vectors: seen.append(watch(vectors))),
            torch.no_grad(),
        ):
            # The base model: the logits of the vocabulary would be the largest array.
            self._network.base_model(input_ids=row, use_cache=False)
        layers = int(self._network.config.num_hidden_layers)
        rule = f"one whose {layers} layers all attend through the registry"
        require(len(seen) == layers, "model", rule, f"{len(seen)} layers")
        return seen

    def attention_logits(
        self, tokens: ArrayLike
    ) -> Float[Array, "layers heads length length"]:
        """Return the logits of every head before softmax, −inf for unseen keys."""
        return jnp.stack(self.visit(tokens, HeadVectors.logits))


def load(name: str) -> ForeignModel:
    """Load a decoder by ``transformers``, in the number format of its checkpoint.

    Parameters
    ----------
    name : such as "google/gemma-2b", or a folder that ``save_pretrained`` wrote.
        Gemma 2B takes 5 GB of memory in bfloat16; its licence must be accepted first

    Raises
    ------
    ModuleNotFoundError
        If ``transformers`` or ``torch`` is missing, with the line that installs them.
    FileNotFoundError
        If ``transformers`` can't find the model.
    """
    transformers = _import("transformers")
    _import("torch")
    _register(transformers)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        network = transformers.AutoModelForCausalLM.from_pretrained(
            name, dtype="auto", attn_implementation=_NAME
        )
    except OSError as error:
        reason = " ".join(str(error).split())
        message = f"transformers can't load the model {name!r}: {reason}"
        raise FileNotFoundError(message) from error
    return ForeignModel(name, network.eval(), tokenizer)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        message = (
            f"the package {error.name!r} is needed for models that are not packaged "
            f"and is not installed; install it with: {INSTALL}"
        )
        raise ModuleNotFoundError(message) from error


def _register(transformers: Any) -> None:
    masks = importlib.import_module("transformers.masking_utils")
    transformers.AttentionInterface.register(_NAME, _attend)
    transformers.AttentionMaskInterface.register(_NAME, masks.sdpa_mask)


def _attend(
    module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
) -> Any:
    """Tell the listener what is compared, then attend as ``transformers`` does."""
    listener = _listener.get()
    if listener is not None:
        length = query.shape[2]
        window = options.get("sliding_window")
        require(options.get("softcap") is None, "model", "without soft-cap", "one")
        require(window is None or window >= length, "window", f">= {length}", window)
        scaling = options.get("scaling") or query.shape[-1] ** -0.5
        queries, keys = (
            jnp.asarray(array.float().numpy()) for array in (query[0], key[0])
        )
        listener(HeadVectors(queries * scaling, keys, is_causal=True))
    attend = importlib.import_module("transformers.integrations.sdpa_attention")
    return attend.sdpa_attention_forward(
        module, query, key, value, attention_mask, **options
    )


@contextlib.contextmanager
def _listening(listener: _Listener) -> Iterator[None]:
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
