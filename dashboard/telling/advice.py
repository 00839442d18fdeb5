"""What to do next, for each kind of cause: where a contributor to PyTensor looks first."""

from __future__ import annotations

from dashboard.document import Words, written
from observatory.record.comparison import CauseKind

_OF_CAUSES: dict[CauseKind, str] = {
    "wrong results": """do not merge. Clear every cache that HEAD has filled, as a wrong entry
        outlives its fix; then look for a key or a symbol that two different graphs share.""",
    "crashed": """repeat it with the command below, narrowed by `--scenario` and `--backend`; the
        record of each sample keeps the last lines of the traceback.""",
    "another default": """nothing, if the default was changed on purpose: acknowledge the alert, and
        look at the backend under its own name.""",
    "keys differ between processes": """look at what the Op's key is made of: `__props__` and the
        identity of its function. An address, `id()`, a counter, a time or a random name must not
        be part of it.""",
    "keys differ between hash seeds": """sort what the Op's key is made of: the order of a set, or
        `hash()` of a text, changes with `PYTHONHASHSEED`.""",
    "keys are not repeatable": """look for what changes from build to build in the Op's key: a
        counter, `id()`, a name made for the occasion.""",
    "stored but not loaded": """look at the way back: the name of the index, the stamp of the
        source, or an error on loading that is swallowed.""",
    "not stored": """look at the way to the disk: whether these functions still ask for a cache,
        and whether its directory is there when they are saved.""",
    "refused": """look for what a cache cannot hold: a closure, a constant that is lifted or too
        large, an address in the generated code.""",
    "not asked": """look at who compiles these functions: a call that went through the cache may
        now go round it, or their caching was switched off.""",
    "not reused": """look for what differs between equal graphs in the Op's key: names of
        variables, or an order that follows from them.""",
    "files leaked": """look for what writes to the temporary directory and no longer removes it.""",
    "imports moved": """add `import_time` to `compile_time`: what a build imports was perhaps paid
        for at the start before, and nothing is lost if the sum fell; else `python -X importtime`
        tells which modules take long.""",
    "more Python work": """profile the build under BASE and HEAD with `cProfile`: a rewrite that
        runs more often, or Python objects that are no longer reused.""",
    "unexplained": """set the ledgers of BASE and HEAD side by side: they name every function
        that was compiled.""",
}
_OF_TIMES = {
    "compile_time": """the counts do not tell why: profile the build under BASE and HEAD,
        e.g. with `cProfile`.""",
    "call_time": """set the compiled graphs side by side with `pytensor.dprint`: a rewrite that no
        longer applies is the usual reason.""",
}


def about_cause(kind: CauseKind) -> Words:
    """What to do about a cause of this kind: a sentence that follows "Next: "."""
    return written(" ".join(_OF_CAUSES[kind].split()))


def about_time(metric: str) -> Words | None:
    """The same for a time that got worse and that no cause explains; None if there is nothing."""
    return written(" ".join(_OF_TIMES[metric].split())) if metric in _OF_TIMES else None
