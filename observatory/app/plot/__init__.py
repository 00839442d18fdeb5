"""Pictures of what was recorded, with the page's colours, for notebooks, papers and issues.

Each function draws on ``ax``, or on new Axes if that is None, and returns the Axes: change them as
you like, and `save` the picture as PNG, SVG or PDF. The same values give the same bytes.
"""

from observatory.app.plot.along_history import history, series
from observatory.app.plot.comparisons import compare
from observatory.app.plot.detectors import detectors
from observatory.app.plot.functions import ledger
from observatory.app.plot.style import save

__all__ = ["compare", "detectors", "history", "ledger", "save", "series"]
