"""The causes of alarms, a record each: how a cause is told, what it shows in, what to do.

How most of them are found, function by function, is in
`observatory.analyze.comparison.causes`. A cause that only means that one metric got worse needs
no more than `found_by`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OF_A_CACHE = ("cache_misses", "uncacheable", "reuse_lost")
"""The metrics in which a defect of a cache shows."""
FOLLOWS_FROM_A_CACHE = (*OF_A_CACHE, "python_calls", "compile_time", "files_leaked", "peak_rss")
"""The metrics that may get worse because of such a defect."""


@dataclass(frozen=True)
class Cause:
    """What is said of a kind of cause."""

    name: str
    sentence: str
    """What happens, without a full stop. {they} is "3 functions" and {miss}, {are}, {them} and
    {their_keys} agree with it; {base} and {head} are the names of the two sides; {family[0]}
    distinguishes two causes of this kind. Empty:
    the sentence is made from the samples."""
    advice: str
    """Where a contributor to PyTensor looks first: it follows "Next: "."""
    shows_in: tuple[str, ...] = OF_A_CACHE
    """The metrics that it is seen in."""
    explains: tuple[str, ...] = FOLLOWS_FROM_A_CACHE
    """The metrics whose worsening follows from it in its cells, and is no alarm of its own."""
    found_by: str = ""
    """The metric whose worsening is this cause, whatever the functions did."""
    first: bool = False
    """Whether it comes before all others; the rest comes in the order of seconds lost."""
    a_consequence: bool = False
    """Whether it follows wherever something is compiled again, so that it is no cause beside what
    made it compile."""
    loses_reuse: bool = False
    """Whether functions that are not reused follow from it."""
    apart_by_text: bool = False
    """Whether two sentences of it are two causes, as two errors are."""

    @property
    def names_functions(self) -> bool:
        """Whether its sentence has functions or numbers in it."""
        return not self.sentence or any(part in self.sentence for part in ("{they}", "{family"))


_PYTHON = ("python_calls", "compile_time")
_ALL = (
    Cause(
        "wrong results",
        "",
        """do not merge. Clear every cache that HEAD has filled, as a wrong entry
        outlives its fix; then look for a key or a symbol that two different graphs share.""",
        shows_in=("wrong_results",),
        explains=("wrong_results",),
        first=True,
    ),
    Cause(
        "crashed",
        "{head} fails: {family[0]}",
        """repeat it with the command below, narrowed by `--scenario` and `--backend`; the
        record of each sample keeps the last lines of the traceback.""",
        shows_in=("crashed",),
        explains=("crashed",),
        first=True,
        apart_by_text=True,
    ),
    Cause(
        "another default",
        "for {head} the default backend is {family[0]}, for {base} {family[1]}; what DEFAULT "
        "counts is of another one",
        """nothing, if the default was changed on purpose: acknowledge the alert, and
        look at the backend under its own name.""",
        shows_in=(*OF_A_CACHE, "files_leaked"),
    ),
    Cause(
        "keys differ between processes",
        "{they} {miss} because {their_keys} between processes",
        """look at what the Op's key is made of: `__props__` and the
        identity of its function. An address, `id()`, a counter, a time or a random name must not
        be part of it.""",
    ),
    Cause(
        "keys differ between hash seeds",
        "{they} {miss} because {their_keys} with the hash seed "
        "(under spawn, not among forked siblings)",
        """sort what the Op's key is made of: the order of a set, or
        `hash()` of a text, changes with `PYTHONHASHSEED`.""",
    ),
    Cause(
        "keys are not repeatable",
        "{they} {miss} because {their_keys} from build to build, even within one process",
        """look for what changes from build to build in the Op's key: a
        counter, `id()`, a name made for the occasion.""",
        loses_reuse=True,
    ),
    Cause(
        "stored but not loaded",
        "{they} {miss} although the cache holds what was stored under the very key that is asked "
        "for",
        """look at the way back: the name of the index, the stamp of the
        source, or an error on loading that is swallowed.""",
        loses_reuse=True,
    ),
    Cause(
        "not stored",
        "{they} {miss} because the build that filled the cache did not store {them}",
        """look at the way to the disk: whether these functions still ask for a cache,
        and whether its directory is there when they are saved.""",
    ),
    Cause(
        "refused",
        "{they} {are} compiled every time because the cache refuses to store {them}",
        """look for what a cache cannot hold: a closure, a constant that is lifted or too
        large, an address in the generated code.""",
        shows_in=("uncacheable",),
    ),
    Cause(
        "not asked",
        "{they} {are} compiled every time because no cache is asked for {them} any more",
        """look at who compiles these functions: a call that went through the cache may
        now go round it, or their caching was switched off.""",
        shows_in=("reuse_lost",),
    ),
    Cause(
        "not reused",
        "{they} that {base} reuses {are} compiled again by {head}",
        """look for what differs between equal graphs in the Op's key: names of
        variables, or an order that follows from them.""",
        shows_in=("reuse_lost",),
    ),
    Cause(
        "files leaked",
        "{head} leaves more files in the temporary directory",
        "look for what writes to the temporary directory and no longer removes it.",
        shows_in=("files_leaked",),
        explains=("files_leaked",),
        found_by="files_leaked",
    ),
    Cause(
        "imports moved",
        "the first build of a process imports more modules than for {base}, and "
        "a second one enters no more Python functions",
        """add `import_time` to `compile_time`: what a build imports was perhaps paid
        for at the start before, and nothing is lost if the sum fell; else `python -X importtime`
        tells which modules take long.""",
        shows_in=("python_calls",),
        explains=_PYTHON,
        a_consequence=True,
    ),
    Cause(
        "more Python work",
        "building enters more Python functions",
        """profile the build under BASE and HEAD with `cProfile`: a rewrite that
        runs more often, or Python objects that are no longer reused.""",
        shows_in=("python_calls",),
        explains=_PYTHON,
        a_consequence=True,
    ),
    Cause(
        "unexplained",
        "{they} {miss}, and the build that filled the cache does not tell why",
        """set the ledgers of BASE and HEAD side by side: they name every function
        that was compiled.""",
    ),
)
CAUSES: Mapping[str, Cause] = {one.name: one for one in _ALL}
FIRST_CAUSES = tuple(one.name for one in _ALL if one.first)
"""The causes that come before all others, the worst first."""
