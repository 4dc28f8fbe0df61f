"""Bounds, order-parameter equations and thresholds."""
