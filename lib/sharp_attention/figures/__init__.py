"""All drawing: each function takes records and returns axes."""
