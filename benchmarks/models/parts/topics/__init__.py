"""Parts of the model `topics`: graphs of what users ask whether PyTensor does it."""
