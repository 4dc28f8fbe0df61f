"""Plausible wrong answers to the exercise on sharp functions."""

import numpy as np


def left_replaced(function, items, neighbours):
    now, count = np.copy(items), 0
    for place, neighbour in enumerate(neighbours):
        now[place] = neighbour
        count += function(now) != function(items)
    return count


def all_at_once(function, items, neighbours):
    return int(function(np.asarray(neighbours)) != function(items))


def size_of_changes(function, items, neighbours):
    total = 0.0
    for place in range(len(items)):
        now = np.copy(items)
        now[place] = neighbours[place]
        total += abs(function(now) - function(items))
    return total


WRONG = {
    "sharp-functions/hangs-on": [
        (left_replaced, "put it back"),
        (all_at_once, "at once"),
        (size_of_changes, "too small"),
    ],
}
