"""What a cache on disk contains, what can load it, and what may be deleted."""
