"""Plausible wrong answers to the exercises on order parameters."""

import numpy as np


def seven(k, v, key, value, dim):
    return np.array([k @ key, k @ k, v @ value, v @ v, k @ value, v @ key, k @ v]) / dim


def transposed(k, v, key, value):
    return np.array(
        [k @ key, k @ k, v @ value, v @ v, key @ v, value @ k, k @ v]
    ) / len(k)


def norms(k, v, key, value):
    root = np.sqrt(len(k))
    long, wide = np.linalg.norm(k) / root, np.linalg.norm(v) / root
    others = seven(k, v, key, value, len(k))
    return np.array([others[0], long, others[2], wide, *others[4:]])


def mirrored(k, v, teacher, squared_length=None, sign=-1):
    dim = squared_length or len(k)
    matrix = np.eye(len(k)) - 2 * np.outer(teacher, teacher) / dim
    return np.stack([matrix @ k, sign * matrix @ v])


def projected(k, v, teacher):
    matrix = np.eye(len(k)) - np.outer(teacher, teacher) / len(k)
    return np.stack([matrix @ k, -matrix @ v])


WRONG = {
    "order-parameters/overlaps": [
        (transposed, "changed places"),
        (norms, "squared lengths"),
        (lambda *a: seven(*a, dim=1), "is a division missing"),
        (lambda *a: seven(*a, dim=np.sqrt(len(a[0]))), "not a field"),
        (lambda *a: seven(*a, dim=len(a[0]))[:4], "shape (4,), not (7,)"),
    ],
    "order-parameters/mirror": [
        (lambda *a: mirrored(*a, squared_length=1), "have grown"),
        (lambda *a: mirrored(*a, sign=1), "look at the value"),
        (projected, "taken away"),
        (lambda k, v, t: np.stack([k, mirrored(k, v, t)[1]]), "look at the key"),
        (lambda k, v, t: 2 * mirrored(k, v, t), "changed its length"),
    ],
}
