"""Scalar problems that state evolution and message passing share."""
