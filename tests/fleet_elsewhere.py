"""What a worker of Dask loads that stands in for another machine. FOR TESTS ONLY.

It uses the environment of the client as its own, and is as fast as it was.
"""

from __future__ import annotations

from observatory.fleet import making, worker

making.made = lambda recipe, _: recipe.environment
worker.untimed = lambda *_: ""
