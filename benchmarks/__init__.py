"""What runs inside the environment under test: models, scenarios, probes and the ASV suites.

Nothing in this package is imported by the measured process before the clock needs it, and
importing any module of it costs no more than the standard library: asv imports them all.
"""
