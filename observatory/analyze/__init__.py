"""Decide: frames, tables and, later, verdicts. Pure: no processes, no files."""
