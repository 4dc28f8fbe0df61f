"""PyTorch's attention as a peer, in an environment of its own; see `attention.py`.

Reads one task per line, {"length", "heads", "dim", "is_causal", "what"} as JSON, and
answers with the milliseconds of CPU time that one call took.
"""

import json
import sys
import time

import torch

QUERY_SCALE = 4


def draw(task):
    shape = (1, task["heads"], task["length"], task["dim"])
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(shape, generator=generator) for _ in range(3))
    return QUERY_SCALE * query, key, value


def attention(task, query, key, value):
    return torch.nn.functional.scaled_dot_product_attention(
        query, key, value, is_causal=task["is_causal"]
    )


def products(task, query, key, value):
    """Multiply head by head, as any attention has to."""
    for head in range(task["heads"]):
        (query[0, head] @ key[0, head].T) @ value[0, head]


FUNCTIONS = {"attention": attention, "products": products}


def main():
    torch.set_num_threads(1)
    print(torch.__version__, flush=True)
    drawn = {}
    for line in sys.stdin:
        task = json.loads(line)
        where = (task["length"], task["heads"], task["dim"])
        if where not in drawn:
            drawn = {where: draw(task)}
        start = time.process_time()
        FUNCTIONS[task["what"]](task, *drawn[where])
        print(1e3 * (time.process_time() - start), flush=True)


if __name__ == "__main__":
    main()
