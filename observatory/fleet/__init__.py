"""Workers of a cluster that take samples. Only `--cluster` imports it: it needs the extra `fleet`."""
