"""Train the character decoder on CLRS-Text strings; saves itself on the way.

Loss on the answer alone, AdamW with warm-up and cosine decay, gradients clipped.
The arms of a comparison share the strings, their order, the places and the initial
weights: all of these depend on the task, the seed and the step, never on the rule of
the attention weights.
So a run that was stopped and resumed, and a run under the other rule, read the same
characters at the same step.
"""

import functools
import hashlib
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, Float, Int

from sharp_attention._checks import check_choice, check_integer, require
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.decoder import Decoder
from sharp_attention.models.places import random_places
from sharp_attention.tasks import clrs_text

__all__ = [
    "STEPS_PER_LOSS",
    "TRAINING_SIZES",
    "Recipe",
    "answer_columns",
    "data_checksum",
    "initial_model",
    "rows_of_steps",
    "train",
    "training_texts",
]

TRAINING_SIZES = (4, 5, 6, 7, 8)

STEPS_PER_LOSS = 50
"""The recorded loss is the mean over so many steps; so often the state is saved."""

_TRAINING_SEED = 10_000
"""Strings for training are drawn from here on, those for tests elsewhere."""


@dataclass(frozen=True)
class Recipe:
    """What distinguishes one training run from another.

    Attributes
    ----------
    algorithm : of CLRS-Text
    seed : of the initial weights, the order of the strings and the places
    num_steps : a multiple of 50
    batch : strings a step
    texts_per_size : how many strings of each size there are to learn from
    dim, num_layers, num_heads : of the model
    learning_rate : at its highest
    """

    algorithm: str
    seed: int
    num_steps: int
    batch: int = 32
    texts_per_size: int = 6000
    dim: int = 64
    num_layers: int = 2
    num_heads: int = 4
    learning_rate: float = 3e-3

    def __post_init__(self) -> None:
        check_choice("algorithm", self.algorithm, clrs_text.ALGORITHMS)
        check_integer("num_steps", self.num_steps, at_least=STEPS_PER_LOSS)
        whole = self.num_steps % STEPS_PER_LOSS == 0
        rule = f"a multiple of {STEPS_PER_LOSS}"
        require(whole, "num_steps", rule, self.num_steps)
        check_integer("batch", self.batch, at_least=1)
        check_integer("texts_per_size", self.texts_per_size, at_least=1)
        texts = self.texts_per_size * len(TRAINING_SIZES)
        require(self.batch <= texts, "batch", f"at most all {texts} texts", self.batch)


class _State(NamedTuple):
    model: Decoder
    optimiser: optax.OptState
    step: Array
    losses: Float[Array, " records"]


@functools.lru_cache(maxsize=2)
def training_texts(algorithm: str, texts_per_size: int) -> clrs_text.Batch:
    """Draw all strings to learn from, the same for every seed and arm."""
    examples = [
        example
        for size in TRAINING_SIZES
        for example in clrs_text.generate(
            algorithm, size, texts_per_size, seed=_TRAINING_SEED + size
        )
    ]
    return clrs_text.encode(examples)


def rows_of_steps(
    recipe: Recipe, first: int, last: int
) -> Int[np.ndarray, "steps batch"]:
    """Say which strings steps `first` … `last` − 1 read: epoch after epoch, shuffled.

    The rest of an epoch that fills no batch is left out.
    """
    texts = recipe.texts_per_size * len(TRAINING_SIZES)
    per_epoch = texts // recipe.batch
    rows = []
    for step in range(first, last):
        epoch, place = divmod(step, per_epoch)
        order = _order(recipe.seed, epoch, texts)
        rows.append(order[place * recipe.batch : (place + 1) * recipe.batch])
    return np.stack(rows)


def data_checksum(recipe: Recipe) -> str:
    """Return 16 hexadecimal digits for what a run reads: strings and their order."""
    texts = training_texts(recipe.algorithm, recipe.texts_per_size)
    rows = rows_of_steps(recipe, 0, recipe.num_steps)
    digest = hashlib.sha256(texts.characters.astype("<i4").tobytes())
    digest.update(rows.astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def answer_columns(texts: clrs_text.Batch) -> int:
    """Count the columns at the end that hold a character of some answer."""
    return int(texts.is_answer.any(axis=0).sum())


def initial_model(recipe: Recipe) -> Decoder:
    """Draw the weights that every arm of a seed starts from."""
    return Decoder.initialise(
        jax.random.fold_in(jax.random.key(recipe.seed), 0),
        num_characters=len(clrs_text.ALPHABET) + 1,
        dim=recipe.dim,
        num_layers=recipe.num_layers,
        num_heads=recipe.num_heads,
    )


def train(
    recipe: Recipe,
    *,
    weights: str,
    workspace: Workspace | None = None,
) -> tuple[Decoder, np.ndarray]:
    """Run a recipe to its end.

    Parameters
    ----------
    recipe : task, seed, length and model
    weights : "softmax" or "adaptive", in every head
    workspace : where the run saves its state, under the name of the rule, and from
        where it goes on if a state is there

    Returns
    -------
    the trained model, and the losses, one mean for each 50 steps, in nats per
    character of the answer
    """
    texts = training_texts(recipe.algorithm, recipe.texts_per_size)
    model = initial_model(recipe)
    losses = jnp.zeros(recipe.num_steps // STEPS_PER_LOSS)
    state = _State(model, _optimiser(recipe).init(model), jnp.array(0), losses)
    if workspace is not None:
        state = workspace.load(state, weights) or state
    while (step := int(state.step)) < recipe.num_steps:
        rows = rows_of_steps(recipe, step, step + STEPS_PER_LOSS)
        batches = (texts.characters[rows], texts.is_answer[rows])
        state = _advance(state, batches, recipe, weights, answer_columns(texts))
        if workspace is not None:
            workspace.save(state, weights)
    return state.model, np.asarray(state.losses)


def loss(
    model: Decoder,
    characters: Int[Array, "batch length"],
    is_answer: Bool[Array, "batch length"],
    places: Float[Array, "batch length-1"],
    *,
    num_answers: int,
    weights: str,
) -> Float[Array, ""]:
    """Mean cross-entropy of the characters of the answers, in nats."""
    before = characters[:, :-1]
    logits = model(before, places, before > 0, num_queries=num_answers, weights=weights)
    targets = characters[:, -num_answers:]
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, targets)
    return jnp.mean(losses, where=is_answer[:, -num_answers:])


@functools.partial(
    jax.jit, static_argnames=("recipe", "weights", "num_answers"), donate_argnums=0
)
def _advance(
    state: _State,
    batches: tuple[Int[Array, "s b l"], Bool[Array, "s b l"]],
    recipe: Recipe,
    weights: str,
    num_answers: int,
) -> _State:
    optimiser = _optimiser(recipe)
    places_key = jax.random.fold_in(jax.random.key(recipe.seed), 1)

    def step(state: _State, batch: tuple[Array, Array]) -> tuple[_State, None]:
        characters, is_answer = batch
        key = jax.random.fold_in(places_key, state.step)
        places = random_places(key, len(characters), characters.shape[1] - 1)
        value, gradient = jax.value_and_grad(loss)(
            state.model,
            characters,
            is_answer,
            places,
            num_answers=num_answers,
            weights=weights,
        )
        updates, memory = optimiser.update(gradient, state.optimiser, state.model)
        model = optax.apply_updates(state.model, updates)
        place = state.step // STEPS_PER_LOSS
        losses = state.losses.at[place].add(value / STEPS_PER_LOSS)
        return _State(model, memory, state.step + 1, losses), None

    return jax.lax.scan(step, state, batches)[0]


def _optimiser(recipe: Recipe) -> optax.GradientTransformation:
    schedule = optax.warmup_cosine_decay_schedule(
        0.0, recipe.learning_rate, min(100, recipe.num_steps // 10), recipe.num_steps
    )
    clip = optax.clip_by_global_norm(1.0)
    return optax.chain(clip, optax.adamw(schedule, b2=0.98, weight_decay=1e-2))


@functools.lru_cache(maxsize=4)
def _order(seed: int, epoch: int, texts: int) -> Int[np.ndarray, " texts"]:
    return np.random.default_rng([seed, epoch]).permutation(texts)
