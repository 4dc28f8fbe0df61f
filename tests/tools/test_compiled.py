"""Chapters are executed in one environment, when built and when tested."""

import os
import subprocess
import sys
from pathlib import Path

import build_book
import compiled


def test_what_was_compiled_lies_in_the_clone():
    folder = Path(compiled.settings()["JAX_COMPILATION_CACHE_DIR"])
    assert folder == build_book.TOP / ".cache" / "compiled"


def test_a_build_leaves_what_its_user_has_set(monkeypatch):
    monkeypatch.setattr(build_book, "execute_chapters", lambda: None)
    monkeypatch.setattr(build_book, "build", lambda: 3)
    monkeypatch.setattr(os, "environ", {"XLA_FLAGS": "--mine"})
    build_book.main()
    assert os.environ == compiled.settings() | {"XLA_FLAGS": "--mine"}


def test_flags_are_those_that_this_jax_knows():
    # XLA ends the process at a flag that it doesn't know.
    assert compiled.SIMPLE_CODE in compiled.quick_flags("0.10.2")
    assert compiled.quick_flags("0.11.0") == compiled.ONE_THREAD
    code = "import jax; print(jax.numpy.ones(2).sum())"
    env = os.environ | {"XLA_FLAGS": compiled.quick_flags()}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True)
    assert done.stdout.split() == [b"2.0"], done.stderr


def test_programs_are_dropped_when_they_are_too_many(tmp_path):
    folder = tmp_path / "compiled"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "program").write_bytes(bytes(100))
    compiled.make_room(folder, limit=100)
    assert folder.exists()
    compiled.make_room(folder, limit=99)
    assert not folder.exists()


def test_half_a_program_is_compiled_again_without_a_word(tmp_path):
    code = "import jax; print(jax.jit(lambda x: x + 1)(jax.numpy.ones(2)).sum())"
    command = [sys.executable, "-c", code]
    env = os.environ | compiled.settings(tmp_path)

    def output():
        done = subprocess.run(command, env=env, capture_output=True, check=True)
        return done.stdout.split(), done.stderr

    assert output() == ([b"4.0"], b"")
    programs = list(tmp_path.glob("*-cache"))
    assert programs
    for path in programs:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert output() == ([b"4.0"], b"")
