"""Our pages beside those of asv: what they cost to build and to open."""
