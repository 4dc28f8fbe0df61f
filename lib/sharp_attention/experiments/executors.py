"""Who computes the cells: this process, its devices, or the workers of a dask cluster.

An executor takes the function that computes one cell and the cells, and yields the
results as they come; the sweep writes each one before it asks for the next.
So an executor decides nothing but where and in which order cells are computed.
"""

import queue
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Protocol, TypeVar, runtime_checkable

import jax

from sharp_attention.experiments.records import Device

__all__ = ["Executor", "choose", "in_this_process", "on_cluster", "on_devices"]

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


def choose(device: Device, scheduler: str | None = None) -> Executor:
    """Return who computes: a cluster if one is named, else all devices of the kind.

    Parameters
    ----------
    device : kind of device, "cpu" or "gpu"; a processor is one device to JAX
    scheduler : address of a dask scheduler

    Raises
    ------
    ValueError, OSError
        As `on_cluster` does.
    """
    if scheduler is not None:
        return on_cluster(scheduler)
    devices = jax.devices(device)
    return in_this_process if len(devices) == 1 else on_devices(devices)


def in_this_process(
    compute: Callable[[Task], Result], tasks: Sequence[Task]
) -> Iterator[Result]:
    """Compute one task after the other, here."""
    return map(compute, tasks)


def on_devices(devices: Sequence[jax.Device]) -> Executor:
    """Return an executor that computes on several devices of this machine at once.

    Each device computes one task at a time, in a thread of its own, and takes the next
    one when it is free. Tasks (seeds, say) know nothing of each other, so nothing is
    gained by one array that is sharded over the devices; and in this way each task
    saves itself and gives the bits that it gives on one device.

    Parameters
    ----------
    devices : as ``jax.devices()`` lists them, at least one
    """

    def execute(
        compute: Callable[[Task], Result], tasks: Sequence[Task]
    ) -> Iterator[Result]:
        free: queue.SimpleQueue[jax.Device] = queue.SimpleQueue()
        for device in devices:
            free.put(device)

        def compute_on_a_free_one(task: Task) -> Result:
            device = free.get()
            try:
                with jax.default_device(device):
                    return compute(task)
            finally:
                free.put(device)

        with ThreadPoolExecutor(len(devices)) as threads:
            futures = [threads.submit(compute_on_a_free_one, task) for task in tasks]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                # After an interruption or an error nothing more is begun.
                threads.shutdown(wait=False, cancel_futures=True)

    return execute


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
