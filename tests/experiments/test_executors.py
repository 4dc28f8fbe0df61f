"""Cells on other workers give the same bytes, also when a worker dies."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import command
from sharp_attention.experiments import executors

ARGUMENTS = ("reproduce", "dispersion-sweep", "--quick", "--seeds", "6")


def test_this_process_computes_one_task_after_the_other_when_asked() -> None:
    started: list[int] = []

    def compute(task: int) -> int:
        started.append(task)
        return task**2

    results = executors.in_this_process(compute, [3, 2, 1])
    assert started == []
    assert next(iter(results)) == 9
    assert started == [3]


def test_without_dask_the_error_names_the_install_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r'pip install "dask\[distributed\]"'):
        executors.on_cluster("tcp://127.0.0.1:1")


def test_every_device_is_used_and_every_task_is_done_once() -> None:
    (device,) = jax.devices("cpu")

    def compute(task: int) -> tuple[int, bool]:
        return task, jnp.ones(1).devices() == {device}

    results = executors.on_devices([device, device])(compute, range(7))
    assert sorted(results) == [(task, True) for task in range(7)]


def test_an_error_ends_a_run_on_devices_without_new_tasks() -> None:
    started: list[int] = []

    def compute(task: int) -> int:
        started.append(task)
        raise ArithmeticError(task)

    with pytest.raises(ArithmeticError):
        list(executors.on_devices(jax.devices("cpu"))(compute, range(1000)))
    assert len(started) < 1000


def test_one_device_needs_no_threads() -> None:
    assert executors.choose("cpu") is executors.in_this_process


@pytest.mark.medium
def test_two_devices_give_the_bytes_of_one(tmp_path: Path) -> None:
    quick = ("reproduce", "dispersion-sweep", "--quick", "--seeds", "2")
    flags = {"one": "", "two": "--xla_force_host_platform_device_count=2"}
    data = {}
    for name, flag in flags.items():
        output = ("--device", "cpu", "--output", str(tmp_path / name))
        done = command.run(*quick, *output, XLA_FLAGS=flag)
        assert done.returncode == 0, done.stderr
        data[name] = (tmp_path / name / "dispersion.csv").read_bytes()
    assert data["one"] == data["two"]


def wait_for(condition: Callable[[], bool], seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def dask(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a scheduler and two workers; yield its address and the workers."""
    pytest.importorskip("distributed")
    contact = tmp_path / "scheduler.json"
    where = ("--scheduler-file", str(contact))
    single = ("--nthreads", "1", "--no-nanny", "--no-dashboard")
    started = [dask("scheduler", "--port", "0", "--no-dashboard", *where)]
    try:
        # The file is there before its content is.
        wait_for(lambda: contact.is_file() and contact.read_text().endswith("}"))
        workers = [dask("worker", *single, *where) for _ in range(2)]
        started += workers
        yield json.loads(contact.read_text())["address"], workers
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_bytes(
    tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    spread, alone = tmp_path / "spread", tmp_path / "alone"
    run = command.start(*ARGUMENTS, "--output", str(spread), "--scheduler", address)
    wait_for(lambda: len(list(spread.glob(".reproduce/*/record.json"))) >= 5)
    workers[0].send_signal(signal.SIGKILL)
    assert run.poll() is None, "the run ended before a worker could be killed"
    assert run.wait(timeout=300) == 0
    assert command.run(*ARGUMENTS, "--output", str(alone)).returncode == 0
    data = "dispersion.csv"
    assert (spread / data).read_bytes() == (alone / data).read_bytes()


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_one_clear_line(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    address = ("--scheduler", "tcp://127.0.0.1:9", "--output", str(tmp_path))
    done = command.run(*ARGUMENTS, *address)
    assert done.returncode == 2
    assert "error:" in done.stderr
    assert "127.0.0.1:9" in done.stderr
    assert "Traceback" not in done.stderr
