"""Graphs of one Op each: a module for each topic, with a mapping `CASES`."""
