"""Faults put into PyTensor on purpose, each as a wheel, and whether comparisons find them."""
