"""Train the set-attention model on max retrieval; saves itself on the way.

Fresh sets each step, cross-entropy, AdamW (learning rate and weight decay 1e-3, batch
128), as secondary sources give the paper's appendix A.4.
The sets of a step depend on the seed and on the step alone, so that a run which was
stopped and resumed takes the same steps as one which was not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from sharp_attention._checks import check_integer, require
from sharp_attention.attention import activations
from sharp_attention.experiments.workspace import Workspace
from sharp_attention.models.set_attention import Activation, SetAttention, Weights
from sharp_attention.tasks import max_retrieval

__all__ = ["STEPS_PER_LOSS", "TrainingRecipe", "loss", "train"]

STEPS_PER_LOSS = 100
"""The recorded loss is the mean over so many steps."""

_STEPS_PER_CALL = 1000
_STEPS_PER_SAVE = 10_000
_OPTIMISER = optax.adamw(1e-3, weight_decay=1e-3)


@dataclass(frozen=True)
class TrainingRecipe:
    """What distinguishes one training run from another.

    Attributes
    ----------
    seed : of the initial weights and of the data
    num_steps : a multiple of 100
    smallest_size : sizes are uniform from this to 16, one size a batch; 16 means
        sets of 16 always
    activation : of every feed-forward map
    """

    seed: int
    num_steps: int = 100_000
    smallest_size: int = 5
    activation: Activation = "gelu"

    def __post_init__(self) -> None:
        check_integer("num_steps", self.num_steps, at_least=STEPS_PER_LOSS)
        whole = self.num_steps % STEPS_PER_LOSS == 0
        rule = f"a multiple of {STEPS_PER_LOSS}"
        require(whole, "num_steps", rule, self.num_steps)


class _State(NamedTuple):
    model: SetAttention
    optimiser: optax.OptState
    step: Array
    losses: Float[Array, " records"]


def loss(
    model: SetAttention,
    sets: max_retrieval.Sets,
    weights: Weights = activations.softmax,
) -> Float[Array, ""]:
    """Mean cross-entropy of the ten classes, in nats."""
    items = max_retrieval.item_features(sets)
    output = model(items, sets.query, weights=weights, where=sets.where)
    logits = output.class_logits
    losses = optax.softmax_cross_entropy_with_integer_labels(logits, sets.target)
    return jnp.mean(losses)


def train(
    recipe: TrainingRecipe,
    *,
    weights: Weights = activations.softmax,
    workspace: Workspace | None = None,
    report: Callable[[int], None] = lambda step: None,
) -> tuple[SetAttention, np.ndarray]:
    """Run a recipe to its end.

    Parameters
    ----------
    recipe : seed, length and arm
    weights : map from logits to attention weights; initial weights and sets do not
        depend on it
    workspace : where the run saves its state every 10,000 steps, and from where it
        goes on if a state is there
    report : called with the step reached after every 1000 steps

    Returns
    -------
    the trained model, and the losses, one mean for each 100 steps, shape
    (num_steps / 100,)
    """
    model_key, data_key = jax.random.split(jax.random.key(recipe.seed))
    model = SetAttention.initialise(model_key, activation=recipe.activation)
    records = recipe.num_steps // STEPS_PER_LOSS
    state = _State(model, _OPTIMISER.init(model), jnp.array(0), jnp.zeros(records))
    if workspace is not None:
        state = workspace.load(state) or state
    while (step := int(state.step)) < recipe.num_steps:
        length = min(_STEPS_PER_CALL, recipe.num_steps - step)
        state = _advance(state, data_key, length, recipe.smallest_size, weights)
        step += length
        report(step)
        if workspace is not None and step % _STEPS_PER_SAVE == 0:
            workspace.save(state)
    return state.model, np.asarray(state.losses)


@partial(
    jax.jit, static_argnames=("length", "smallest_size", "weights"), donate_argnums=0
)
def _advance(
    state: _State, data_key: Array, length: int, smallest_size: int, weights: Weights
) -> _State:
    def step(state: _State, _: None) -> tuple[_State, None]:
        step_key = jax.random.fold_in(data_key, state.step)
        sets = max_retrieval.sample(step_key, 128, 16, smallest_size=smallest_size)
        value, gradient = jax.value_and_grad(loss)(state.model, sets, weights)
        updates, optimiser = _OPTIMISER.update(gradient, state.optimiser, state.model)
        model = optax.apply_updates(state.model, updates)
        place = state.step // STEPS_PER_LOSS
        losses = state.losses.at[place].add(value / STEPS_PER_LOSS)
        return _State(model, optimiser, state.step + 1, losses), None

    return jax.lax.scan(step, state, None, length=length)[0]
