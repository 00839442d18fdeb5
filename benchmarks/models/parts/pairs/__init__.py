"""The pairs of graphs of the model `keys`, by topic. Their names are known without PyTensor."""
