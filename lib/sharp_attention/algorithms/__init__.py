"""Finite-size solvers."""
