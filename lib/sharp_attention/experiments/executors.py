"""Who computes the cells: this process, or the workers of a dask cluster.

An executor takes the function that computes one cell and the cells, and yields the
results as they come; the sweep writes each one before it asks for the next.
So an executor decides nothing but where and in which order cells are computed.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar, runtime_checkable

__all__ = ["Executor", "in_this_process", "on_cluster"]

Task = TypeVar("Task")
Result = TypeVar("Result")


@runtime_checkable
class Executor(Protocol):
    """Maps a function over tasks; results may come in any order."""

    def __call__(
        self, compute: Callable[[Task], Result], tasks: Sequence[Task], /
    ) -> Iterator[Result]:
        """Yield ``compute(task)`` for each of `tasks` as soon as it is known."""
        ...


def in_this_process(
    compute: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[Result]:
    """Compute one task after the other, here."""
    return map(compute, tasks)


def on_cluster(address: str) -> Executor:
    """Return an executor that hands the tasks to a ``dask.distributed`` scheduler.

    A task whose worker dies is given to another worker. What a cell saves on the way
    is found again only by a worker that shares the disk of the output folder.
    Workers give the bits that a run without a cluster gives if they have one thread
    each and ``XLA_FLAGS=--xla_cpu_multi_thread_eigen=false``.

    Parameters
    ----------
    address : as the scheduler prints it, such as "tcp://127.0.0.1:8786"

    Raises
    ------
    ValueError
        If dask is not installed.
    OSError
        If no scheduler answers at `address` within ten seconds.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        message = '--scheduler needs dask: pip install "dask[distributed]"'
        raise ValueError(message) from None

    def execute(
        compute: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        with distributed.Client(address, timeout=10) as client:
            # pure=False: a cell that is asked for again is computed again.
            futures = client.map(compute, tasks, pure=False)
            for _, result in distributed.as_completed(futures, with_results=True):
                yield result

    return execute
