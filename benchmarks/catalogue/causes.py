"""The causes of alarms, one record each: its sentence, its metrics, and what to do.

`observatory.analyze.comparison.causes` finds most of them, function by function. A cause that only
means that one metric got worse is found by its `found_by`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

OF_A_CACHE = ("cache_misses", "uncacheable", "reuse_lost")
"""The metrics in which a defect of a cache shows."""
OF_WORK = ("python_calls", "instructions")
"""The metrics of work. Where one of them is known, time only tells what a user feels of it."""
FOLLOWS_FROM_A_CACHE = (
    *OF_A_CACHE, *OF_WORK, "compiler_runs", "compile_time", "files_leaked", "peak_rss",
    "retained_bytes",
)  # fmt: skip
"""The metrics that may get worse because of such a defect."""


@dataclass(frozen=True)
class Cause:
    """One kind of cause."""

    name: str
    sentence: str
    """What happens, without a full stop. {they} becomes "3 functions"; {miss}, {are}, {them},
    {their_keys}, {work}, {fail}, {have} and {share} agree with it; {base} and {head} are the names
    of the two sides, and {family[0]} distinguishes two causes of this kind. Empty: the sentence is
    made from the samples."""
    advice: str
    """Where a contributor to PyTensor looks first: sentences that follow "Next: "."""
    shows_in: tuple[str, ...] = OF_A_CACHE
    """The metrics that reveal it."""
    explains: tuple[str, ...] = FOLLOWS_FROM_A_CACHE
    """The metrics that get worse because of it; in its cells they raise no alarm of their own."""
    found_by: str = ""
    """The metric whose worsening is this cause, regardless of single functions."""
    noun: str = "function"
    """What {they} counts, in the singular: functions, or graphs of a model."""
    first: bool = False
    """Whether it comes before all others, which are sorted by the seconds lost."""
    a_consequence: bool = False
    """Whether it is no cause beside another one in its cell that explains what it shows in: every
    recompilation, for example, brings more Python work."""
    loses_reuse: bool = False
    """Whether it also explains functions that are not reused."""
    apart_by_text: bool = False
    """Whether different sentences are different causes, as for errors."""

    @property
    def names_functions(self) -> bool:
        """Whether its sentence has functions or numbers in it."""
        return not self.sentence or any(part in self.sentence for part in ("{they}", "{family"))


_TIMES = ("compile_time", "call_time")
_WORK = (*OF_WORK, *_TIMES)
_ALL = (
    Cause(
        "wrong results",
        "",
        """Do not merge. Clear every cache that HEAD has filled, because a wrong entry outlives
        its fix. Then look for a key or a symbol that two different graphs share.""",
        shows_in=("wrong_results",),
        explains=("wrong_results",),
        first=True,
    ),
    Cause(
        "keys collide",
        "{they} of different graphs {share} a key in a cache of {head}, so that the second graph "
        "is wrong where the first one was compiled before it",
        """Do not merge. The two graphs of a pair differ in what its name says: the key must
        contain it. Clear every cache that HEAD has filled, because a wrong entry outlives its
        fix.""",
        shows_in=("key_collisions",),
        explains=("key_collisions",),
        found_by="key_collisions",
        noun="pair",
        first=True,
    ),
    Cause(
        "crashed",
        "{head} fails: {family[0]}",
        """Repeat it with the command below, and add `--scenario` and `--backend`. The record of
        each sample contains the last lines of the traceback.""",
        shows_in=("crashed",),
        explains=("crashed",),
        first=True,
        apart_by_text=True,
    ),
    Cause(
        "graphs no longer work",
        "{they} that {work} with {base} {fail} with {head}",
        """Build the graph alone: `python -m benchmarks.sample` on its model shows the traceback.
        If the Op was removed on purpose, its graph must say so.""",
        shows_in=("graphs_raised",),
        explains=("graphs_raised",),
        found_by="graphs_raised",
        noun="graph",
        first=True,
    ),
    Cause(
        "another default",
        "the default backend of {head} is {family[0]}, that of {base} is {family[1]}, so that "
        "DEFAULT counts another backend",
        """If the default was changed on purpose, acknowledge the alert. Judge the backend under
        its own name.""",
        shows_in=(*OF_A_CACHE, "files_leaked"),
    ),
    Cause(
        "keys differ between processes",
        "{they} {miss} because {their_keys} between processes",
        """Look at what the Op's key is made of: `__props__` and the identity of its function. It
        must not contain an address, `id()`, a counter, a time or a random name.""",
    ),
    Cause(
        "keys differ between hash seeds",
        "{they} {miss} because {their_keys} with the hash seed (under spawn, not among forked "
        "siblings)",
        """Sort what the Op's key is made of: the order of a set and `hash()` of a string change
        with `PYTHONHASHSEED`.""",
    ),
    Cause(
        "keys are not repeatable",
        "{they} {miss} because {their_keys} from build to build, even within one process",
        """Look for a part of the Op's key that changes with every build: a counter, `id()` or a
        generated name.""",
        loses_reuse=True,
    ),
    Cause(
        "stored but not loaded",
        "{they} {miss} although the cache contains an entry under the requested key",
        """Check how entries are loaded: the name of the index, the time stamp of the source, or
        an exception that is swallowed.""",
        loses_reuse=True,
    ),
    Cause(
        "not stored",
        "{they} {miss} because the build that filled the cache did not store {them}",
        """Check how entries are saved: whether these functions still use a cache, and whether
        its directory exists at that moment.""",
    ),
    Cause(
        "refused",
        "{they} {are} compiled every time because the cache refuses to store {them}",
        """Look for what a cache cannot store: a closure, a lifted or large constant, or an
        address in the generated code.""",
        shows_in=("uncacheable",),
    ),
    Cause(
        "not asked",
        "{they} {are} compiled every time because {head} no longer looks {them} up in a cache",
        """Check what compiles these functions: it may bypass the cache now, or their caching was
        switched off.""",
        shows_in=("reuse_lost",),
    ),
    Cause(
        "not reused",
        "{they} that {base} reuses {are} compiled again by {head}",
        """Compare the Op's keys of equal graphs: they must not depend on variable names, or on an
        order that follows from them.""",
        shows_in=("reuse_lost",),
    ),
    Cause(
        "equal graphs have different keys",
        "{they} of equal graphs {have} different keys with {head}, so that the second graph is "
        "compiled again",
        """The two graphs of a pair differ only in what its name says, and its functions are the
        same: the key must not contain it.""",
        shows_in=("key_instabilities",),
        explains=("key_instabilities",),
        found_by="key_instabilities",
        noun="pair",
    ),
    Cause(
        "more functions compiled",
        "{head} compiles more PyTensor functions in {they}",
        """Look at who asks for these functions: the step may compile again what it has compiled
        before, or for a value that needs no function.""",
        shows_in=("graphs_compiled",),
        explains=("graphs_compiled",),
        found_by="graphs_compiled",
        noun="step",
    ),
    Cause(
        "Ops run in Python",
        "{they} {have} Ops that {head} leaves to Python",
        """Look at the dispatch of these Ops: an implementation was removed, or a condition no
        longer holds under which it is used.""",
        shows_in=("python_fallbacks",),
        explains=("python_fallbacks",),
        found_by="python_fallbacks",
        noun="graph",
    ),
    Cause(
        "keys cost more",
        "{head} calls more Python functions to make the keys of {they}",
        """Look at what makes the keys: `default_hash_key_from_props` and `cache_key_for_constant`
        in `pytensor.link.numba.dispatch.basic`, and the `__props__` and pickling of these Ops.""",
        shows_in=("key_calls",),
        explains=("key_calls",),
        found_by="key_calls",
        noun="graph",
    ),
    Cause(
        "work rises at once",
        "with {head}, {they} {have} a size from which on a build does many times as much work",
        """Profile the two sizes on both sides of the step: `python -m benchmarks.sample` takes the
        graph with `--graph`. Usual reasons are a limit of NumPy or numba on the number of
        arguments, or another way to compile from some size on.""",
        shows_in=("work_cliffs",),
        explains=("work_cliffs", "work_exponent", *_WORK),
        found_by="work_cliffs",
        noun="family",
    ),
    Cause(
        "work grows faster",
        "the work of {they} grows with a higher power of the size with {head}",
        """Profile the largest size with `observatory profile`: look for something that is done for
        all nodes once for each node, such as a copy, a search or a sort of the whole graph.""",
        shows_in=("work_exponent",),
        explains=("work_exponent", *_WORK),
        found_by="work_exponent",
        noun="family",
    ),
    Cause(
        "equal layers are compiled apart",
        "{they} of equal layers {have} functions that {head} compiles again for each layer",
        """Compare the inner graphs of two layers: their hash and their equality must not depend
        on the names of variables or on when a layer was made.""",
        shows_in=("functions_added",),
        explains=("functions_added", *_WORK),
        found_by="functions_added",
        noun="chain",
    ),
    Cause(
        "files leaked",
        "{head} leaves more files in the temporary directory",
        "Find out what writes to the temporary directory and no longer removes its files.",
        shows_in=("files_leaked",),
        explains=("files_leaked",),
        found_by="files_leaked",
    ),
    Cause(
        "imports moved",
        "the first build of a process imports more modules than with {base}, but a second one "
        "calls no more Python functions",
        """Add `import_time` to `compile_time`. If the sum did not grow, the same modules are
        only imported later. Otherwise `python -X importtime` shows which modules are slow.""",
        shows_in=("python_calls",),
        explains=(*_WORK, "peak_rss", "retained_bytes"),
        a_consequence=True,
    ),
    Cause(
        "more Python work",
        "building calls more Python functions",
        """Run `observatory profile` on the samples of both sides: it shows where the additional
        calls are. Usual reasons are a rewrite that runs more often, or Python objects that are no
        longer reused.""",
        shows_in=("python_calls",),
        explains=_WORK,
        a_consequence=True,
    ),
    Cause(
        "more instructions",
        "{head} executes more instructions, and calls no more Python functions in a build",
        """If a function is named above, begin there. Otherwise the work is in machine code: in
        LLVM, in the interpreter or in the compiled function. `callgrind_annotate` on
        `valgrind --tool=callgrind` shows where.""",
        shows_in=("instructions",),
        explains=_WORK,
        found_by="instructions",
        a_consequence=True,
    ),
    Cause(
        "more compiler runs",
        "{head} runs the C++ compiler although it finds all functions in the cache",
        """Look for what is compiled without asking the cache of modules, such as a helper that
        nobody stores, or a check of the compiler that is repeated in each process.""",
        shows_in=("compiler_runs",),
        explains=(*_WORK, "peak_rss"),
        a_consequence=True,
    ),
    Cause(
        "waits and does not work",
        "{head} takes longer and does no more work: it waits",
        """Look for a sleep, a lock that another process or thread holds, a file or the network:
        `strace -f -w -c` shows in which system call the time passes. Where instructions did not
        grow but the CPU time did, the layout of data in memory may have changed.""",
        shows_in=_TIMES,
        explains=_TIMES,
        a_consequence=True,
    ),
    Cause(
        "unexplained",
        "{they} {miss}, and the build that filled the cache does not show why",
        "Compare the ledgers of BASE and HEAD: they name every compiled function.",
    ),
)
CAUSES: Mapping[str, Cause] = {one.name: one for one in _ALL}
FIRST_CAUSES = tuple(one.name for one in _ALL if one.first)
"""The causes that come before all others, the worst first."""
