"""The causes of alarms, one record each: its sentence, its metrics, and what to do.

`observatory.analyze.comparison.causes` finds most of them, function by function. A cause that only
means that one metric got worse is found by its `found_by`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .cause import (
    COSTS,
    HEADLINE_TIMES,
    OF_A_CACHE,
    Cause,
)
from .graph_causes import GRAPH_CAUSES

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
        counted=True,
        first=True,
    ),
    Cause(
        "stale values",
        "with a cache that another version filled, {head} returns values that it does not compute "
        "itself",
        """Clear every cache that another version filled, because its entries outlive the update.
        Then look for what changed these values and is not part of the keys.""",
        shows_in=("stale_results",),
        explains=("stale_results",),
        found_by="stale_results",
        first=True,
        title="values of another version are returned",
    ),
    Cause(
        "symbols collide",
        "in the numba cache that {head} fills, symbols stand for several different functions, and "
        "a process that loads two of them calls one for both",
        """Do not merge. `observatory scan-cache` names the symbols: look at how numba numbers the
        functions that have them. Clear every cache that HEAD has filled, because its entries
        outlive the fix.""",
        shows_in=("collided_symbols",),
        explains=("collided_symbols", "vulnerable_symbols"),
        found_by="collided_symbols",
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
        title="crashes",
    ),
    Cause(
        "graphs no longer work",
        "{they} that {work} with {base} {fail} with {head}",
        """Build the graph alone: `python -m benchmarks.sample` on its model shows the traceback.
        If PyTensor refuses the graph on purpose, let the code that makes it in the observatory
        (benchmarks/models/parts/) raise `NotInThisRelease`.""",
        shows_in=("graphs_raised",),
        explains=("graphs_raised",),
        found_by="graphs_raised",
        noun="graph",
        counted=True,
        first=True,
    ),
    Cause(
        "another default",
        "the default backend of {head} is {family[0]}, that of {base} is {family[1]}, so that "
        "DEFAULT counts another backend",
        """A change of the default is intended: in a history it is an event. A comparison judges
        its effects all the same. Judge each backend under its own name.""",
        shows_in=(*OF_A_CACHE, "files_leaked", "files_grown", "bytes_grown", "compiler_runs"),
        deliberate=True,
        title="another default backend",
    ),
    Cause(
        "keys differ between processes",
        "{they} {miss} because {their_keys} between processes",
        """Run `observatory explain`: it names the part of the key that differs. PyTensor
        makes the key of the Op's type and its `__props__`; none of them may contain an address,
        `id()`, a counter, a time or a random name.""",
        of_keys=True,
    ),
    Cause(
        "keys differ between hash seeds",
        "{they} {miss} because {their_keys} with the hash seed (under spawn, not among forked "
        "siblings)",
        """Run `observatory explain`: it names the part of the key that differs. Sort what the key
        is made of: the order of a set and `hash()` of a string change with `PYTHONHASHSEED`.""",
        of_keys=True,
    ),
    Cause(
        "keys are not repeatable",
        "{they} {miss} because {their_keys} from build to build, even within one process",
        """Look for a part of the Op's key that changes with every build: a counter, `id()` or a
        generated name.""",
        loses_reuse=True,
        of_keys=True,
    ),
    Cause(
        "stored but not loaded",
        "{they} {miss} although the cache contains an entry under the requested key",
        """Check how entries are loaded: the name of the index, the time stamp of the source, or
        an exception that is swallowed.""",
        loses_reuse=True,
        title="stored functions are not loaded",
    ),
    Cause(
        "not stored",
        "{they} {miss} because the build that filled the cache did not store {them}",
        """Check how entries are saved: whether these functions still use a cache, and whether
        its directory exists at that moment.""",
        title="functions are not stored",
    ),
    Cause(
        "refused",
        "{they} {are} compiled every time because the cache refuses to store {them}",
        """Look for what a cache cannot store: a closure, a lifted or large constant, or an
        address in the generated code.""",
        shows_in=("uncacheable",),
        title="the cache refuses functions",
        of_keys=True,
    ),
    Cause(
        "not asked",
        "{they} {are} compiled every time because {head} no longer looks {them} up in a cache",
        """Check what compiles these functions: it may bypass the cache now, or their caching was
        switched off.""",
        shows_in=("reuse_lost",),
        title="functions are no longer looked up in the cache",
    ),
    Cause(
        "not reused",
        "{they} that {base} reuses {are} compiled again by {head}",
        """Compare the Op's keys of equal graphs: they must not depend on variable names, or on an
        order that follows from them.""",
        shows_in=("reuse_lost",),
        title="functions are not reused",
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
        counted=True,
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
        title="more functions are compiled",
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
    *GRAPH_CAUSES,
    Cause(
        "symbols may collide",
        "in the numba cache that {head} fills, more symbols may be given to another function by "
        "another process",
        """Find the symbols with `observatory scan-cache`, and look at what numba makes them of: a
        number that each process counts for itself is not safe in another process, a hash is.""",
        shows_in=("vulnerable_symbols",),
        explains=("vulnerable_symbols",),
        found_by="vulnerable_symbols",
        a_consequence=True,
        title="more symbols may collide",
    ),
    Cause(
        "files leaked",
        "{head} leaves more files in the temporary directory",
        "Find out what writes to the temporary directory and no longer removes its files. "
        "Measuring both sides again names the files where older samples do not.",
        shows_in=("files_leaked",),
        explains=("files_leaked",),
        found_by="files_leaked",
        title="temporary files are left behind",
    ),
    Cause(
        "cache grows",
        "with {head}, each build that finds everything leaves more files in the cache",
        "Look in the cache directory for what nobody reads: a temporary name that is not renamed, "
        "or the directory of a module that failed.",
        shows_in=("files_grown",),
        explains=("files_grown", "bytes_grown"),
        found_by="files_grown",
        a_consequence=True,
        title="the cache keeps growing",
    ),
    Cause(
        "stored files grow",
        "with {head}, files of the cache get longer with each build that finds everything",
        "Look in the cache directory for files that are appended to, such as a log.",
        shows_in=("bytes_grown",),
        explains=("bytes_grown",),
        found_by="bytes_grown",
        a_consequence=True,
        title="files in the cache keep growing",
    ),
    Cause(
        "sleeps",
        "{head} sleeps while it builds or calls",
        """Look for a lock that is polled, or a wait that was left in: `python -X importtime` does
        not show it, `strace -f -w -c` does.""",
        shows_in=("seconds_slept",),
        explains=("seconds_slept", "waiting_time", *HEADLINE_TIMES),
        found_by="seconds_slept",
        title="builds or calls sleep",
    ),
    Cause(
        "collects garbage",
        "{head} forces garbage collections while it builds or calls",
        """Look for a call of `gc.collect()` that was left in: each of them looks at all objects of
        the process.""",
        shows_in=("collections_forced",),
        explains=("collections_forced", "instructions", *HEADLINE_TIMES),
        found_by="collections_forced",
        title="builds or calls force garbage collections",
    ),
    Cause(
        "the process is changed",
        "a build of {head} leaves {they} in its process",
        """Look for what is opened and not closed, or set and not set back: files, threads, the
        seeds of `random` and NumPy, variables of the environment, signal handlers.""",
        shows_in=("side_effects",),
        explains=("side_effects",),
        found_by="side_effects",
        noun="side effect",
        counted=True,
        title="builds leave side effects in their process",
    ),
    Cause(
        "imports moved",
        "the first build of a process imports more modules than with {base}, but a second one "
        "calls no more Python functions",
        """Add `import_time` to `compile_time`. If the sum did not grow, the same modules are
        only imported later. Otherwise `python -X importtime` shows which modules are slow.""",
        shows_in=("python_calls",),
        explains=(*COSTS, "peak_rss", "retained_bytes"),
        a_consequence=True,
        title="the first build imports more",
    ),
    Cause(
        "more Python work",
        "{head} calls more Python functions",
        """Run `observatory profile` on the samples of both sides: it shows where the additional
        calls are. Usual reasons are a rewrite that runs more often, or Python objects that are no
        longer reused.""",
        shows_in=("python_calls",),
        explains=COSTS,
        a_consequence=True,
    ),
    Cause(
        "more instructions",
        "{head} executes more instructions, and no count shows more calls of Python functions",
        """If a phase is named above, begin there. Where no more Python functions are called, the
        work is in machine code: in LLVM, in the interpreter or in the compiled function.
        `callgrind_annotate` on `valgrind --tool=callgrind` shows where.""",
        shows_in=("instructions",),
        explains=COSTS,
        found_by="instructions",
        a_consequence=True,
        cautious="{head} executes more instructions; whether it calls more Python functions is not "
        "sure",
    ),
    Cause(
        "more LLVM work",
        "a build of {head} gives LLVM more work",
        """Run `observatory profile` on the samples of both sides: it shows how often each pass of
        LLVM ran. If one pass runs more often, look for what added it. If all do, numba compiles
        more code: compare the graphs with `pytensor.dprint`, and the functions in the ledgers.""",
        shows_in=("llvm_pass_runs",),
        explains=("llvm_pass_runs", "compile_time"),
        found_by="llvm_pass_runs",
        a_consequence=True,
    ),
    Cause(
        "more compiler runs",
        "{head} runs the C++ compiler although it finds all functions in the cache",
        """Look for what is compiled without asking the cache of modules, such as a helper that
        nobody stores, or a check of the compiler that is repeated in each process.""",
        shows_in=("compiler_runs",),
        explains=("compiler_runs", *COSTS, "peak_rss"),
        a_consequence=True,
        cautious="{head} runs the C++ compiler more often in a warm build",
    ),
    Cause(
        "waits longer",
        "a build of {head} waits longer, but not for a CPU or a compiler",
        """Look for a lock that another process or thread holds, for a file or the network:
        `strace -f -w -c` shows in which system call the time passes.""",
        shows_in=("waiting_time",),
        explains=("waiting_time", *HEADLINE_TIMES),
        found_by="waiting_time",
        a_consequence=True,
        title="builds wait longer",
    ),
    Cause(
        "slower with the same work",
        "{head} executes no more instructions, and needs more CPU time for them",
        """Look for a change of memory layout that makes the CPU's caches miss more often, and for
        code that was compiled with options for another CPU: `perf stat -d` shows misses and the
        frequency. Repeat the comparison: a CPU that became slower does the same to both.""",
        shows_in=HEADLINE_TIMES,
        explains=HEADLINE_TIMES,
        a_consequence=True,
    ),
    Cause(
        "waits and does not work",
        "{head} takes longer and does no more work: it waits",
        """Look for a sleep, a lock that another process or thread holds, a file or the network:
        `strace -f -w -c` shows in which system call the time passes.""",
        shows_in=HEADLINE_TIMES,
        explains=HEADLINE_TIMES,
        a_consequence=True,
        title="longer waits without more work",
        cautious="{head} takes longer and does no more work: it waits for most of the additional "
        "time, and works more slowly as well",
    ),
    Cause(
        "unexplained",
        "{they} {miss}, and the build that filled the cache does not show why",
        "Compare the ledgers of BASE and HEAD: they name every compiled function.",
        title="misses without a known cause",
    ),
)
CAUSES: Mapping[str, Cause] = {one.name: one for one in _ALL}
FIRST_CAUSES = tuple(one.name for one in _ALL if one.first)
"""The causes that come before all others, the worst first."""
