"""Chapters are executed in one environment, when built and when tested."""

import os
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
