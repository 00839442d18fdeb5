"""What the wheel of a fault contains; `hook` becomes its `__init__`."""
