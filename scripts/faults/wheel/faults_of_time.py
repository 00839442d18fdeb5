"""The faults that cost time, and leave caches and numbers as they are: the second file of faults.

Each does more work in one place, or waits there.
"""

import itertools
import os
from collections.abc import Iterator
from types import ModuleType

from .faults import fault_of


@fault_of("pytensor.graph.rewriting.basic")
def rewriting_slower(module: ModuleType) -> None:
    """One in ten rewrites that changed nothing is tried a second time on the same node.

    Stands for a rewriter that forgets what it has tried. The graph is the same. The extra work is
    that of rewrites, so it grows with the graph: 5 to 8 % more functions entered in a warm build.
    """
    rewriter = module.NodeProcessingGraphRewriter
    once = rewriter.process_node
    fruitless = itertools.count(1)

    def process_node(self: object, *args: object, **kwargs: object) -> bool:
        changed = once(self, *args, **kwargs)
        if not changed and next(fruitless) % 10 == 0:
            return once(self, *args, **kwargs)
        return changed

    rewriter.process_node = process_node


@fault_of("pytensor.tensor.rewriting.math")
def rewriter_twice(module: ModuleType) -> None:
    """One rewriter tries each node, forgets what it found and tries again; the graph is the same.

    Stands for a change in one rewriter that makes it search more: about 3 % of the Python calls of
    a warm build, all of them in this rewriter.
    """
    _tries_twice(module.local_greedy_distributor)


@fault_of("pytensor.compile.executor")
def call_slower(module: ModuleType) -> None:
    """One in twelve calls of a compiled function evaluates its graph twice.

    Stands for a self-check that was left on. The extra work is that of the call itself, so every
    backend slows down by about the same share; the rest is the test whether a check is due.
    """
    function = module.Function
    evaluate = function.__call__
    is_due = itertools.cycle([False] * 11 + [True]).__next__

    def __call__(self: object, *args: object, **kwargs: object) -> object:  # noqa: N807
        # Never where a call changes something: a shared variable would be updated twice.
        if is_due() and all(each.update is None for each in self.maker.inputs):
            evaluate(self, *args, **kwargs)
        return evaluate(self, *args, **kwargs) if kwargs else evaluate(self, *args)

    function.__call__ = __call__


@fault_of("pytensor.tensor.rewriting.math")
def small_rewriter_twice(module: ModuleType) -> None:
    """One small rewriter tries each node twice: the build as a whole hardly does more.

    Stands for a change in one rewriter that nobody notices, of which a build can have many.
    """
    _tries_twice(module.local_add_neg_to_sub)


def _tries_twice(rewriter: object) -> None:
    once = rewriter.transform

    def transform(*args: object, **kwargs: object) -> object:
        once(*args, **kwargs)
        return once(*args, **kwargs)

    rewriter.transform = transform


@fault_of("pytensor.link.numba.dispatch.basic")
def numba_pass_twice(_: ModuleType) -> None:
    """Numba infers the types of each function that it compiles twice.

    Stands for a pipeline of passes of one's own in which a pass was added again.
    """
    from numba.core.compiler import DefaultPassBuilder
    from numba.core.typed_passes import NopythonTypeInference

    once = DefaultPassBuilder.define_typed_pipeline

    def define_typed_pipeline(*args: object, **kwargs: object) -> object:
        passes = once(*args, **kwargs)
        passes.add_pass_after(NopythonTypeInference, NopythonTypeInference)
        passes.finalize()
        return passes

    DefaultPassBuilder.define_typed_pipeline = staticmethod(define_typed_pipeline)


@fault_of("pytensor.link.numba.dispatch.basic")
def llvm_pass_twice(_: ModuleType) -> None:
    """LLVM simplifies the control flow of each module once more, after all of its passes.

    Stands for a pass that somebody appended to numba's pipeline. No Python function is called more
    often for it, and of builds from empty caches no instructions are counted.
    """
    _with_another_pass("simplify_cfg", itertools.repeat(True))


@fault_of("pytensor.link.numba.dispatch.basic")
def small_llvm_pass_twice(_: ModuleType) -> None:
    """LLVM merges equal constants once more in every third pipeline: 0.16 % more passes.

    Stands for the same as `llvm_pass_twice`, where the sum does not show it.
    """
    _with_another_pass("constant_merge", itertools.cycle((True, False, False)))


def _with_another_pass(name: str, when: Iterator[bool]) -> None:
    from numba.core.codegen import CPUCodegen

    passes_of = CPUCodegen._module_pass_manager

    def _module_pass_manager(self: object, **kwargs: object) -> object:
        manager, builder = passes_of(self, **kwargs)
        if next(when):
            getattr(manager, f"add_{name}_pass")()
        return manager, builder

    CPUCodegen._module_pass_manager = _module_pass_manager


@fault_of("pytensor.link.c.basic")
def compiler_once_more(module: ModuleType) -> None:
    """The first C code of each process comes with a helper that is compiled and never stored.

    Stands for a check of the compiler, or a helper in C, that somebody forgot to keep.
    """
    import tempfile

    linker = module.CLinker
    factory = linker.cthunk_factory
    is_first = itertools.chain([True], itertools.repeat(False)).__next__

    def cthunk_factory(self: object, *args: object, **kwargs: object) -> object:
        if is_first():
            source = 'extern "C" int helper(void) { return 1; }\n'
            with tempfile.TemporaryDirectory() as made:
                self.c_compiler().compile_str("helper", source, made, py_module=False)
        return factory(self, *args, **kwargs)

    linker.cthunk_factory = cthunk_factory


@fault_of("pytensor.link.numba.cache")
def lock_held(_: ModuleType) -> None:
    """Loading the function of a graph from numba's cache waits for a lock, for 0.2 s.

    Stands for a lock around the cache that another process holds meanwhile.
    """
    import threading

    from numba.core.caching import Cache

    lock = threading.Lock()
    lock.acquire()
    load = Cache._load_overload

    def _load_overload(self: object, *args: object) -> object:
        if "fgraph" in self._name:
            lock.acquire(timeout=0.2)
        return load(self, *args)

    Cache._load_overload = _load_overload


@fault_of("pytensor.compile.maker")
def heavy_import(module: ModuleType) -> None:
    """The first build of a process imports `scipy.stats`.

    Stands for an import that was moved from the top of a module into a function, or for an object
    that imports it where it is first used.
    """
    maker = module.FunctionMaker
    create = maker.create

    def create_after_import(self: object, *args: object, **kwargs: object) -> object:
        import scipy.stats  # noqa: F401

        return create(self, *args, **kwargs)

    maker.create = create_after_import


@fault_of("pytensor.compile.executor")
def call_slower_under_spawn(module: ModuleType) -> None:
    """One in eighty calls evaluates its graph twice, unless its process was forked.

    Stands for a self-check that only a forked process switches off. It is in an attribute that a
    call reads after it has evaluated its graph: one more function around the call, even if it did
    nothing, would cost 4 % of a call of numba's code.
    """
    function = module.Function
    slot = function._has_updates
    is_due = itertools.cycle([False] * 79 + [True]).__next__

    def has_updates(self: object) -> bool:
        known = self.maker.has_updates
        if is_due() and not known:  # never twice where a call changes something
            self.vm()
        return known

    def keep(self: object, known: bool) -> None:
        slot.__set__(self, known)
        self.maker.has_updates = known

    function._has_updates = property(has_updates, keep)
    os.register_at_fork(after_in_child=lambda: setattr(function, "_has_updates", slot))


@fault_of("pytensor.graph.rewriting.basic")
def rewriting_squared(module: ModuleType) -> None:
    """Whenever a rewriter tries a node, it looks at all nodes of the graph.

    Stands for a check or a sort of the whole graph that is done for each node: the work of a
    build grows with the square of its nodes, and a small graph hides it.
    """
    rewriter = module.NodeProcessingGraphRewriter
    once = rewriter.process_node

    def looked_at(node: object) -> bool:
        return node.outputs is not None

    def process_node(self: object, fgraph: object, *args: object, **kwargs: object) -> bool:
        all(looked_at(each) for each in fgraph.apply_nodes)
        return once(self, fgraph, *args, **kwargs)

    rewriter.process_node = process_node
