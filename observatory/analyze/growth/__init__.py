"""How work, time and memory of a build grow with the size of its graph. Pure."""
