"""Workers of a cluster that take samples. Only `--cluster` imports it, with the extra `fleet`."""
