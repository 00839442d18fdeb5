"""The commands of `observatory` as functions for notebooks and scripts.

    from observatory import app

    rows = app.frame("results", metrics=["compile_time"])      # a pandas.DataFrame
    app.plot.history(rows)                                     # matplotlib Axes

| name | what it does |
|---|---|
| `measure` | takes the samples of subjects and records them |
| `compare` | measures two subjects side by side, or reads two saved ones, and judges them |
| `alerts` | finds what got worse along the history |
| `frame` | all results, as a tidy `pandas.DataFrame` |
| `ledger` | the compiled functions of one subject, as a `pandas.DataFrame` |
| `graphs` | what was counted of single graphs, as a `pandas.DataFrame` |
| `profile` | what the builds of a subject did, or how those of two differ |
| `series` | series along the history, each cut into levels |
| `plot` | the module of pictures: `history`, `series`, `compare`, `ledger`, `graphs` |

Each name is imported when it is first used, so `import observatory.app` takes a millisecond. Every
error that a user can fix is an `observatory.errors.ObservatoryError`; its ``exit_code`` is the exit
status of the command. `plot` needs the optional dependency of its name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from observatory.extras import extra

if TYPE_CHECKING:
    from observatory.app import plot
    from observatory.app.comparison import compare
    from observatory.app.counted import graphs
    from observatory.app.history import alerts, series
    from observatory.app.measurement import measure
    from observatory.app.profiles import profile
    from observatory.app.results import frame, ledger

__all__ = [
    "alerts", "compare", "frame", "graphs", "ledger", "measure", "plot", "profile", "series",
]  # fmt: skip

_MODULES = {
    "alerts": "history", "compare": "comparison", "frame": "results", "ledger": "results",
    "graphs": "counted", "measure": "measurement", "profile": "profiles", "series": "history",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "plot":
        with extra("plot"):
            return importlib.import_module(f"{__name__}.plot")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
