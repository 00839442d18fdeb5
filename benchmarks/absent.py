"""Which graphs of the census a release cannot make: `python -m benchmarks.absent [FILE]`.

It runs in an environment under test and makes every graph of `ops` and `keys` for NUMBA, or those
of the pairs that FILE describes. Nothing is compiled. The exit status is 1 if the graphs that
cannot be made are not those of `benchmarks.models.parts.absent` and the pairs for other linkers, of
which FILE has none.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .catalogue import MODELS
from .models import FIRST, Model, NotInThisRelease
from .models.parts.absent import ABSENT
from .models.parts.pairs.registry import NOT_OF_NUMBA

CENSUS = ("ops", "keys")


class _Made(Exception):
    """A graph is made, and would now be compiled."""


def absent(model: Model) -> dict[str, str]:
    """Return the graphs that this release cannot make, each with what is missing.

    A graph that raises anything else is not absent: its samples say what it raises.
    """
    of_pairs = "pairs" in model.families
    graphs = model.build(None)
    found = {}
    for member in model.members:
        for name in (FIRST.format(member), member) if of_pairs else (member,):
            try:
                made = graphs.graph(name)
                with _nothing_compiled():
                    made.compile("NUMBA")
            except _Made:
                continue
            except NotInThisRelease as error:
                found[member] = str(error)
            except Exception as error:
                print(f"{name} raises {type(error).__name__}: {error}", file=sys.stderr)
    return found


def unlike(found: Mapping[str, str], stated: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for every graph that is absent and not stated, or the reverse."""
    known = set(stated)
    for name, why in found.items():
        if name not in known:
            yield f"{name} cannot be made, and no list says so: {why}"
    for name in sorted(known - found.keys()):
        yield f"{name} can be made, and the list of absent graphs has it"


@contextmanager
def _nothing_compiled() -> Iterator[None]:
    """Let `pytensor.function` raise: what reaches it is made."""
    import pytensor

    original: Callable[..., object] = pytensor.function

    def function(*_: object, **__: object) -> object:
        raise _Made

    pytensor.function = function
    try:
        yield
    finally:
        pytensor.function = original


def main() -> None:
    """Print what is unlike the list, and exit."""
    warnings.simplefilter("ignore")
    if sys.argv[1:]:
        found, stated = absent(MODELS["keys"].described_by(Path(sys.argv[1]))), set()
    else:
        found = {name: why for one in CENSUS for name, why in absent(MODELS[one]).items()}
        stated = {*ABSENT, *NOT_OF_NUMBA}
    wrong = list(unlike(found, stated))
    print(f"{len(found)} graphs cannot be made", *wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
