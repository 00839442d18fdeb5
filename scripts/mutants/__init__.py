"""PyTensor's own code with one small change each, and whether samples notice it."""
