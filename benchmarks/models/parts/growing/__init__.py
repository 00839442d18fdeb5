"""Families of graphs that differ in a size, one module for each kind."""
