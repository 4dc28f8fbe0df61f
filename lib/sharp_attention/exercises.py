"""Checkers for the exercises of the book."""
