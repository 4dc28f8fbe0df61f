"""Order-parameter equations of single-location regression."""
