import jax
import pytest

from sharp_attention.experiments import devices


def has_gpu() -> bool:
    return jax.default_backend() == "gpu"


def test_auto_takes_what_is_there() -> None:
    assert devices.choose("auto") == ("gpu" if has_gpu() else "cpu")


def test_cpu_is_always_there() -> None:
    assert devices.choose("cpu") == "cpu"
    assert devices.describe("cpu") == "cpu"


@pytest.mark.skipif(has_gpu(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="JAX sees; received 'gpu', but it sees only"):
        devices.choose("gpu")


def test_auto_takes_a_gpu_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax, "devices", lambda kind=None: ["a GPU"])
    assert devices.choose("auto") == "gpu"
    assert devices.choose("gpu") == "gpu"
    assert devices.choose("cpu") == "cpu"


def test_unknown_device_is_refused() -> None:
    with pytest.raises(ValueError, match="device must be one of 'auto', 'cpu', 'gpu'"):
        devices.choose("tpu")
