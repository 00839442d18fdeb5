"""Functions whose entries are not counted, because they vary between builds of one subject.

**Waiting.** The first build of a process with C modules asks the compiler for its version and
paths. Python reads the answer piece by piece, in as many pieces as the compiler had time to write:
of one subject, 0.5 % of all calls of the build came and went with the load.

**Options of numba.** Where numba infers types, it looks up overloads by the options of functions,
among others. How often it compares two sets of options differs between processes, and each
comparison reads both sets, which are about 90 calls: up to 0.6 % of all calls of a build from an
empty cache came and went. Builds from a filled cache read next to no options.
"""

from __future__ import annotations

import selectors
import subprocess
import sys
from collections.abc import Iterator
from types import FunctionType

_IN_LOOPS = ("_remaining_time", "_check_timeout")
"""What `Popen.communicate` calls for each piece, beside a selector."""
_OPTIONS = "numba.core.targetconfig"


def left_out() -> frozenset[int]:
    """The ids of the code objects of these functions, as far as their modules are imported.

    They live as long as the modules do, and hashing the code objects would take longer.
    """
    return frozenset(id(each.__code__) for each in (*_waiting(), *_readers_of_options()))


def _waiting() -> Iterator[FunctionType]:
    for one in vars(selectors).values():
        if isinstance(one, type) and one.__module__ == selectors.__name__:
            yield from (each for each in vars(one).values() if isinstance(each, FunctionType))
    yield from filter(None, (vars(subprocess.Popen).get(name) for name in _IN_LOOPS))


def _readers_of_options() -> Iterator[FunctionType]:
    """The functions of properties: of an option, and those that a set of options gets for each.

    Nothing where numba is not imported, or has other names.
    """
    module = sys.modules.get(_OPTIONS)
    option, options = (getattr(module, name, None) for name in ("Option", "TargetConfig"))
    if not (isinstance(option, type) and isinstance(options, type)):
        return
    for owner in (option, *options.__subclasses__()):
        for each in vars(owner).values():
            if isinstance(each, property) and isinstance(each.fget, FunctionType):
                yield each.fget
