"""Work in parts, in as many processes as there are CPUs to run them.

A part is a list, and what is done with it a function of a module: part in, result out, both of
which can be pickled, and nothing is written. So a cluster can call the same function; `mapped`
needs only something with the `map` of an executor. Parts that name journals are read where they
are done: workers must find them under the same paths.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from observatory.garbage import collect_little

if TYPE_CHECKING:
    from concurrent.futures import Executor

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


class Processes:
    """Whether processes may be started without being asked for.

    A process of Python runs the script again that started it. The command line allows that; a
    script or a notebook of somebody need not be made for it, and gives an executor if it is.
    """

    allowed = False


def mapped(
    function: Callable[[Sequence[_Item]], Sequence[_Result]],
    items: Sequence[_Item],
    size: int,
    executor: Executor | None = None,
    after: Callable[[], None] = lambda: None,
) -> list[_Result]:
    """The results of ``function`` over ``items``, in their order, in parts of at most ``size``.

    Without an ``executor``, all of it is done here where `Processes` are not allowed, and where
    there is one part or one CPU: a process needs half a second of CPU time to start. What
    ``function`` raises is raised. ``after`` is called after each part.
    """
    parts = [items[first : first + size] for first in range(0, len(items), size)]
    workers = min(len(parts), len(os.sched_getaffinity(0)))
    if executor is not None:
        results = executor.map(function, parts)
    elif workers < 2 or not Processes.allowed:
        results = map(function, parts)
    else:
        results = _in_processes(function, parts, workers)
    found: list[_Result] = []
    for done in results:
        found += done
        after()
    return found


def _in_processes(
    function: Callable[[Sequence[_Item]], Sequence[_Result]],
    parts: Sequence[Sequence[_Item]],
    workers: int,
) -> Iterator[Sequence[_Result]]:
    from concurrent.futures import ProcessPoolExecutor  # their import takes a while, too
    from multiprocessing import get_context

    # Not by fork: this process may have threads, which a child would not have.
    spawn = get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn, initializer=collect_little) as pool:
        yield from pool.map(function, parts)
