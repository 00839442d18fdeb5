"""Probes on the caches and the compilers, which write into one ledger; and on the process."""
