"""What is run, saved and resumed."""
