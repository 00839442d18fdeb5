"""PyTensor's two disk caches under faults: damaged files, full disks, kills, races, others.

`faults` is the catalogue, `parts` shares it among processes, `trials` carries a fault out, and
`verdicts` says what became of it. The caches are numba's (index and data files) and that of C
modules (a directory for each). Read docs/torture.md first.
"""
