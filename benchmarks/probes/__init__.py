"""What counts: probes on the caches and the compilers, each writing into one ledger."""
