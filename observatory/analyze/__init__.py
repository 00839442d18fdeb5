"""Verdicts, causes, change points and alerts, as values. Pure: no processes, no files."""
