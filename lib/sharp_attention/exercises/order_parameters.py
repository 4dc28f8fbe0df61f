"""Exercises of the chapter on order parameters."""

from typing import Any

import numpy as np

from sharp_attention.exercises.registry import exercise

__all__ = ["mirror", "overlaps"]

_RNG = np.random.default_rng(22)


def _vectors(dim: int, count: int) -> tuple[Any, ...]:
    head = _RNG.standard_normal((count - 2, dim))
    teachers = np.linalg.qr(_RNG.standard_normal((dim, 2)))[0].T * np.sqrt(dim)
    return (*head, *teachers)


_FOUR = {f"D = {dim}": _vectors(dim, 4) for dim in (4, 9)}


def _seven(k: Any, v: Any, key: Any, value: Any) -> Any:
    pairs = ((k, key), (k, k), (v, value), (v, v), (k, value), (v, key), (k, v))
    return np.array([np.dot(x, y) for x, y in pairs]) / len(k)


def _lengths(k: Any, v: Any, key: Any, value: Any) -> Any:
    found = _seven(k, v, key, value)
    found[[1, 3]] = np.sqrt(found[[1, 3]])
    return found


def _cosines(k: Any, v: Any, key: Any, value: Any) -> Any:
    found = _seven(k, v, key, value)
    long = np.sqrt(found[[1, 3]])
    return found / [long[0], 1, long[1], 1, long[0], long[1], long[0] * long[1]]


@exercise(
    "order-parameters/overlaps",
    cases=_FOUR,
    lookalikes={
        "The two overlaps of a key with a value, m_kv and m_vk, have changed places.": (
            lambda *a: _seven(*a)[[0, 1, 2, 3, 5, 4, 6]]
        ),
        "q_k and q_v are lengths here, but squared lengths in the chapter.": _lengths,
        "These are cosines of angles: the lengths of the head's vectors are lost.": (
            _cosines
        ),
        "The numbers grow with D: is a division missing?": (
            lambda *a: _seven(*a) * len(a[0])
        ),
        "The numbers still grow with D: an overlap is not a field.": (
            lambda *a: _seven(*a) * np.sqrt(len(a[0]))
        ),
    },
)
def overlaps(k: Any, v: Any, key: Any, value: Any) -> Any:
    """Return m_k, q_k, m_v, q_v, m_kv, m_vk, q_kv of a head, in this order.

    `k` and `v` are the head's vectors, `key` and `value` the teacher's, each (D,).
    """
    gram = np.stack([k, v]) @ np.stack([key, value, k, v]).T / len(k)
    (m_k, m_kv, q_k, q_kv), (m_vk, m_v, _, q_v) = gram
    return np.array([m_k, q_k, m_v, q_v, m_kv, m_vk, q_kv])


def _reflect(vector: Any, teacher: Any, factor: float = 2.0) -> Any:
    return vector - factor * np.dot(vector, teacher) / len(teacher) * teacher


def _keeps_lengths(got: np.ndarray, k: Any, v: Any, teacher: Any) -> str | None:
    for name, new, old in zip(("key", "value"), got, (k, v), strict=True):
        if abs(np.linalg.norm(new) / np.linalg.norm(old) - 1) > 1e-4:
            return f"the {name} has changed its length, which no reflection does."
    return None


@exercise(
    "order-parameters/mirror",
    cases={f"D = {dim}": _vectors(dim, 4)[:3] for dim in (4, 9)},
    lookalikes={
        "The part along the teacher's value is taken away, not turned round.": (
            lambda k, v, t: np.stack([_reflect(k, t, 1.0), -_reflect(v, t, 1.0)])
        ),
        "On mirrored texts this head has the same output as before, "
        "not the opposite one: look at the value.": (
            lambda k, v, t: np.stack([_reflect(k, t), _reflect(v, t)])
        ),
        "On mirrored texts this head has other scores than before: look at the key.": (
            lambda k, v, t: np.stack([k, -_reflect(v, t)])
        ),
        "On mirrored texts the scores of this head have changed their sign.": (
            lambda k, v, t: np.stack([-_reflect(k, t), -_reflect(v, t)])
        ),
        "The value has not been mirrored, only turned round as a whole.": (
            lambda k, v, t: np.stack([_reflect(k, t), -np.asarray(v)])
        ),
        "Key and value have changed places.": (
            lambda k, v, t: np.stack([-_reflect(v, t), _reflect(k, t)])
        ),
        "The vectors have grown: the teacher's value is not a unit vector.": (
            lambda k, v, t: np.stack(
                [_reflect(k, t, 2.0 * len(t)), -_reflect(v, t, 2.0 * len(t))]
            )
        ),
    },
    properties=(_keeps_lengths,),
)
def mirror(k: Any, v: Any, teacher: Any) -> Any:
    """Return the mirrored head, key first, as an array of shape (2, D).

    `k` and `v` are the head's vectors and `teacher` is the teacher's value, each (D,);
    the teacher's value has the length sqrt(D).
    On texts that are mirrored in the same way the new head must have the scores of the
    old one and the opposite output.
    """
    unit = np.asarray(teacher) / np.linalg.norm(teacher)
    matrix = np.eye(len(unit)) - 2 * np.outer(unit, unit)
    return np.stack([matrix @ k, -(matrix @ v)])
