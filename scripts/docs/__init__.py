"""What the documentation takes from code and results: reference, tables and pictures."""
