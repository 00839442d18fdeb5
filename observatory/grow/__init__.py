"""Pairs of small graphs, made at random and made smaller: as data, without PyTensor."""
