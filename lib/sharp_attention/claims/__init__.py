"""The ledger: every statement of the papers as a test."""
