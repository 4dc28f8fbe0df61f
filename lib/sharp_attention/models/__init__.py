"""Trainable and random attention models, and loaders for real weights."""
