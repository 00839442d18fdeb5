"""Pictures of results in the colours of the pages, for notebooks, papers and issues.

Each function draws on ``ax``, or on new Axes if it is None, and returns the Axes. `save` writes the
picture as PNG, SVG or PDF; the same values always give the same bytes.
"""

from observatory.app.plot.along_history import history, series
from observatory.app.plot.counted import graphs
from observatory.app.plot.digest import digest
from observatory.app.plot.rows import compare, detectors, ledger
from observatory.app.plot.style import save

__all__ = ["compare", "detectors", "digest", "graphs", "history", "ledger", "save", "series"]
