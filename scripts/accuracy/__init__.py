"""How far measured values can be trusted: what repeats, what is found, what probes cost."""
