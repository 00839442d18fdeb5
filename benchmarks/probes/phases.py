"""The phases of a build: which functions begin one, and what each takes by itself.

The timing pass (seconds) and the counting pass (memory) replace these functions while they measure,
and only then; the tracing pass finds them by name in its tree of calls. A function that a release
does not have, or that has not been imported before the build, begins no phase there; the profile
says which phases could not be seen.
"""

from __future__ import annotations

import functools
import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from ..profiles import MOST_TIMED, Phase, Profile, Rewriter
from .ledger import shorten

_MAKERS = ("pytensor.compile.maker", "pytensor.compile.function.types")
"""Where `FunctionMaker` is: since 3.0, and before."""


def _maker(*names: str) -> tuple[str, ...]:
    return tuple(f"{module}:{name}" for module in _MAKERS for name in names)


GARBAGE = "garbage collection"
PHASES: dict[str, tuple[str, ...]] = {
    "graph construction": (
        "pytensor.compile.rebuild:construct_function_ins_and_outs",
        "pytensor.compile.maker:construct_function_ins_and_outs",
        "pytensor.compile.function.pfunc:construct_pfunc_ins_and_outs",
        *_maker("std_fgraph", "FunctionMaker.create_fgraph", "FunctionMaker.check_unused_inputs"),
    ),
    "rewriting": _maker("FunctionMaker.prepare_fgraph"),
    "linking": _maker("FunctionMaker.create", "infer_reuse_pattern"),
    "code generation": (
        "pytensor.link.numba.linker:NumbaLinker.fgraph_convert",
        "pytensor.link.c.basic:CLinker.code_gen",
        "pytensor.link.c.basic:CLinker.cmodule_key",
    ),
    "numba: cache load": ("numba.core.caching:Cache.load_overload",),
    "numba: cache save": ("numba.core.caching:Cache.save_overload",),
    "numba: typing": ("numba.core.typed_passes:BaseTypeInference.run_pass",),
    "numba: lowering": ("numba.core.typed_passes:BaseNativeLowering.run_pass",),
    "numba: other passes": ("numba.core.compiler_machinery:PassManager._runPass",),
    "LLVM: passes": (
        "numba.core.codegen:CPUCodeLibrary._optimize_functions",
        "numba.core.codegen:CPUCodeLibrary._optimize_final_module",
    ),
    "LLVM: machine code": (  # made, or loaded where a cache returned it
        "numba.core.codegen:CPUCodeLibrary._finalize_final_module",
    ),
    "C: module cache": (
        "pytensor.link.c.cmodule:ModuleCache.module_from_key",
        "pytensor.link.c.cmodule:ModuleCache.refresh",
    ),
    "C: asking the compiler": (  # for its flags, and where a BLAS is
        "pytensor.link.c.cmodule:default_blas_ldflags",
        "pytensor.link.c.cmodule:_get_cxx_library_dirs",
        "pytensor.link.c.cmodule:_check_libs",
        "pytensor.link.c.cmodule:std_lib_dirs_and_libs",
        "pytensor.link.c.cmodule:try_blas_flag",
        "pytensor.link.c.cmodule:Compiler._try_compile_tmp",
        "pytensor.link.c.cmodule:GCC_compiler.compile_args",
    ),
    "C: compiler runs": ("pytensor.link.c.cmodule:GCC_compiler.compile_str",),
    "C: loading": ("pytensor.link.c.cmodule:dlimport",),
    "importing": ("_frozen_importlib:_find_and_load",),
    "first call": (
        "pytensor.compile.executor:Function.__call__",
        "pytensor.compile.function.types:Function.__call__",
    ),
    "waiting for values": ("benchmarks.backends:as_arrays",),  # MLX compiles and computes meanwhile
    GARBAGE: (),  # the interpreter begins it: `gc.callbacks`
}
"""The functions that begin each phase, as ``module:qualname``."""
PHASE_OF = {function: phase for phase, functions in PHASES.items() for function in functions}
_REWRITERS = "pytensor.graph.rewriting.basic:SequentialGraphRewriter.apply"


class PhaseClock:
    """What each phase takes while it is on, and its entries, added up over several builds.

    It reads the seconds of a clock, or another number that never falls.
    """

    def __init__(self, read: Callable[[], float] | None = None) -> None:
        self.read = read or time.perf_counter
        self.taken: dict[str, float] = {}
        """By phase, without the phases inside it."""
        self.entries: dict[str, int] = {}
        self.rewriters: dict[str, Rewriter] = {}
        self._unwatched: set[str] = set()
        self._nested = [0.0]
        """For each open phase, the seconds of the phases that were inside it."""

    def profile(self) -> Profile:
        """Return the phases that were entered, in the order of a build, and the rewriters.

        Of the rewriters the `MOST_TIMED` that took longest.
        """
        phases = tuple(
            Phase(name, self.entries[name], seconds=round(self.taken[name], 6))
            for name in PHASES
            if name in self.entries
        )
        longest = sorted(self.rewriters.values(), key=lambda one: -(one.seconds or 0.0))
        rewriters = tuple(
            replace(one, name=shorten(one.name), seconds=round(one.seconds or 0.0, 6))
            for one in longest[:MOST_TIMED]
        )
        return Profile(phases, rewriters, unwatched=self.unwatched)

    @property
    def unwatched(self) -> tuple[str, ...]:
        """The phases that could not be seen in one of the builds.

        That is one whose functions do not exist, and one of which a function was imported after the
        clock had begun to look for it.
        """
        return tuple(name for name in PHASES if name in self._unwatched)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time the phases of what is built inside the block."""
        with ExitStack() as stack:
            found = {
                location for location, phase in PHASE_OF.items()
                if stack.enter_context(_replaced(location, functools.partial(self._timed, phase)))
            }  # fmt: skip
            stack.enter_context(_replaced(_REWRITERS, self._collecting))
            stack.enter_context(self._watching_garbage())
            yield
        late = {location for location in PHASE_OF.keys() - found if _found(location) is not None}
        seen = {PHASE_OF[location] for location in found}
        self._unwatched |= set(PHASE_OF.values()) - seen | {PHASE_OF[one] for one in late}

    def _timed(self, phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        read = self.read

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._nested.append(0.0)
            begin = read()
            try:
                return function(*args, **kwargs)
            finally:
                self._add(phase, read() - begin)

        return timed

    def _add(self, phase: str, taken: float) -> None:
        self.taken[phase] = self.taken.get(phase, 0.0) + taken - self._nested.pop()
        self._nested[-1] += taken
        self.entries[phase] = self.entries.get(phase, 0) + 1

    @contextmanager
    def _watching_garbage(self) -> Iterator[None]:
        """Take each run of the garbage collector as a phase of its own."""
        begin = 0.0

        def collecting(phase: str, _: object) -> None:
            nonlocal begin
            if phase == "start":
                self._nested.append(0.0)
                begin = self.read()
            else:
                self._add(GARBAGE, self.read() - begin)

        gc.callbacks.append(collecting)
        try:
            yield
        finally:
            gc.callbacks.remove(collecting)

    def _collecting(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Keep what the outermost sequence of rewriters reports: it is computed in any case."""
        depth = 0

        @functools.wraps(function)
        def apply(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                profile = function(*args, **kwargs)
            finally:
                depth -= 1
            if depth == 0:
                _add_rewriters(self.rewriters, profile)
            return profile

        return apply


def _found(location: str) -> tuple[Any, str, Any] | None:
    """The owner of ``module:qualname``, its name there, and the function; None: there is none."""
    module, _, path = location.partition(":")
    owner: Any = sys.modules.get(module)
    *classes, name = path.split(".")
    for each in classes:
        owner = getattr(owner, each, None)
    original = None if owner is None else vars(owner).get(name)
    return None if original is None else (owner, name, original)


@contextmanager
def _replaced(location: str, replacement: Callable[[Callable[..., Any]], Any]) -> Iterator[bool]:
    """Replace ``module:qualname`` inside the block; say whether there is such a function."""
    found = _found(location)
    if found is None:
        yield False
        return
    owner, name, original = found
    function = original
    if isinstance(original, staticmethod | classmethod):
        function = original.__func__
    replaced = replacement(function)
    setattr(owner, name, replaced if function is original else type(original)(replaced))
    try:
        yield True
    finally:
        setattr(owner, name, original)


def _add_rewriters(rewriters: dict[str, Rewriter], profile: Any) -> None:
    """Add what a sequence of rewriters returned from `apply`, and the sequences inside it.

    The form of these tuples is that of the methods `print_profile`. One that has another form adds
    nothing.
    """
    if not isinstance(profile, tuple) or len(profile) < 7:
        return
    sequence, seconds, inner = profile[0], profile[1], profile[6]
    if not len(sequence) == len(seconds) == len(inner):  # one of them raised and was passed over
        return
    for rewriter, spent, result in zip(sequence, seconds, inner, strict=True):
        first = result[0] if isinstance(result, tuple) and result else None
        kinds = {kind.__name__ for kind in type(first).__mro__}
        if "SequentialGraphRewriter" in kinds:
            _add_rewriters(rewriters, result)
        elif "EquilibriumGraphRewriter" in kinds and len(result) >= 9:
            _, _, applied_by_loop, _, _, _, times, _, created, *_ = result
            for each, its in times.items():
                applied = sum(loop.get(each, 0) for loop in applied_by_loop)
                _add_rewriter(rewriters, each, its, applied, created.get(each, 0))
        elif "WalkingGraphRewriter" in kinds and len(result) >= 4:
            _add_rewriter(rewriters, rewriter, spent, result[1], None)
        else:
            _add_rewriter(rewriters, rewriter, spent, None, None)


def _add_rewriter(
    rewriters: dict[str, Rewriter],
    rewriter: Any,
    seconds: float,
    applied: int | None,
    created: int | None,
) -> None:
    name = getattr(rewriter, "name", None) or getattr(rewriter, "__name__", None)
    name = str(name or type(rewriter).__name__)
    so_far = rewriters.get(name, Rewriter(name, 0.0))
    rewriters[name] = Rewriter(
        name,
        (so_far.seconds or 0.0) + seconds,
        _sum(so_far.applications, applied),
        _sum(so_far.nodes_created, created),
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one + (other or 0)
