"""One way to break each contract: a module to wait for, and what is then done to it.

The code stands for a numba that has changed. It runs in every process of an environment, as soon as
the module has been executed; `module` is that module.
"""

from __future__ import annotations

from textwrap import dedent
from typing import NamedTuple

BYTECODE, CACHING = "numba.core.bytecode", "numba.core.caching"
LOCATOR = "pytensor.link.numba.cache"
DISPATCH = "pytensor.link.numba.dispatch"


class Break(NamedTuple):
    """A change of numba that a contract has to notice."""

    contract: str
    module: str
    code: str
    seen: str
    """A part of the detail that tells of it."""
    early: bool = False
    """Whether others import the name, so that it must change before them."""


def _from_function(body: str) -> str:
    """Another FunctionIdentity.from_function; the real one is `original`."""
    head = "original = module.FunctionIdentity.from_function.__func__\n"
    tail = "module.FunctionIdentity.from_function = classmethod(from_function)\n"
    return f"{head}def from_function(cls, function):\n{_indented(body)}{tail}"


def _indented(body: str) -> str:
    return "".join(f"    {line}\n" for line in dedent(body).strip().splitlines())


_COUNTED = "import itertools\nmodule.FunctionIdentity._unique_ids = itertools.count(1)"
_OWN_COUNTER = "import itertools\nids = itertools.count(1)\n" + _from_function("""
    kept, cls._unique_ids = cls._unique_ids, ids
    try:
        return original(cls, function)
    finally:
        cls._unique_ids = kept
""")
_SALTED = """
original = module.Cache._index_key
def _index_key(self, sig, codegen):
    return (*original(self, sig, codegen), hash("depends on the hash seed"))
module.Cache._index_key = _index_key
"""
_RENAMED = """
import sys
original = module.{name}
def {name}(*arguments, **keywords):
    if sys._getframe(1).f_globals["__name__"].endswith("{caller}"):
        raise TypeError("another argument is missing")
    return original(*arguments, **keywords)
module.{name} = {name}
"""

BREAKS = (
    Break("uid_asked", BYTECODE, _OWN_COUNTER, "did not ask"),
    Break(
        "uid_next_only", BYTECODE,
        _from_function("iter(cls._unique_ids)\nreturn original(cls, function)"),
        "not iterable",
    ),
    Break(
        "uid_no_other_use", "benchmarks.contracts.making",
        """
        import pathlib, tempfile, types
        def find_spec(name):
            numba = pathlib.Path(tempfile.mkdtemp(), "numba")
            numba.mkdir()
            text = "uid = next(cls._unique_ids)\\nkept = list(cls._unique_ids)\\n"
            (numba / "bytecode.py").write_text(text)
            return types.SimpleNamespace(origin=str(numba / "__init__.py"))
        util = types.SimpleNamespace(find_spec=find_spec)
        kept = module.importlib
        module.importlib = types.SimpleNamespace(util=util, import_module=kept.import_module)
        """,
        "numba/bytecode.py:2",
    ),
    Break("uid_replaced", LOCATOR, _COUNTED, "count("),
    Break("uid_fork", LOCATOR, _COUNTED, "the same numbers"),
    Break(
        "uid_in_symbols", BYTECODE,
        _from_function("""
            found = original(cls, function)
            found.unique_id >>= 64
            found.unique_name = f"{found.func_qualname}${found.unique_id}"
            return found
        """),
        "two numbers gave one symbol",
    ),
    Break("sibling_symbols", LOCATOR, _COUNTED, "one symbol"),
    Break("sibling_results", LOCATOR, _COUNTED, "that return [4, 5]"),
    Break(
        "locator_asked", LOCATOR,
        "list_ = module.CacheImpl._locator_classes\nlist_.append(list_.pop(0))",
        "the first of numba's locators",
    ),
    Break(
        "locator_passes_on", CACHING,
        """
        original = module.CacheImpl.__init__
        def __init__(self, function):
            if self._locator_classes[0].from_function(function, "file") is None:
                raise RuntimeError("no locator for it")
            original(self, function)
        module.CacheImpl.__init__ = __init__
        """,
        "no locator for it",
    ),
    Break(
        "two_files", CACHING,
        """
        original = module.CacheImpl.get_filename_base
        module.CacheImpl.get_filename_base = lambda self, *names: original(self, *names)[:40]
        """,
        "no files with the key",
    ),
    Break(
        "key_changes_index", CACHING,
        "module.CacheImpl.get_filename_base = lambda self, name, flags: name",
        "was loaded, though only another key was stored",
    ),
    Break(
        "key_keeps_index", CACHING,
        """
        original = module.Cache._index_key
        def _index_key(self, sig, codegen):
            return (*original(self, sig, codegen), id(self._py_func.__globals__["jitable"]))
        module.Cache._index_key = _index_key
        """,
        "compiled again",
    ),
    Break(
        "source_stamp", CACHING,
        """
        original = module.IndexDataCacheFile.__init__
        def __init__(self, cache_path, filename_base, source_stamp):
            original(self, cache_path, filename_base, None)
        module.IndexDataCacheFile.__init__ = __init__
        """,
        "an old stamp was loaded",
    ),
    Break(
        "pointers_refused", CACHING,
        "module.CompileResultCacheImpl.check_cachable = lambda self, result: True",
        "was stored",
    ),
    Break(
        "refusals_filtered", CACHING,
        """
        import types, warnings
        def warn_explicit(message, *rest):
            warnings.warn_explicit(f"Refused: {message}", *rest)
        module.warnings = types.SimpleNamespace(warn_explicit=warn_explicit)
        """,
        "Refused: Cannot cache",
    ),
    Break(
        "products_filtered", "numba.core.errors",
        """
        original = module.NumbaWarning.__init__
        def __init__(self, text, *rest, **options):
            original(self, f"Slow: {text}", *rest, **options)
        module.NumbaWarning.__init__ = __init__
        """,
        "Slow: ",
    ),
    Break("read_elsewhere", CACHING, _SALTED, "another one did not load"),
    Break("keys_repeat", CACHING, _SALTED, "other keys"),
    Break(
        "data_missing", CACHING,
        """
        def load(self, key):
            name = self._load_index().get(key)
            return None if name is None else self._load_data(name)
        module.IndexDataCacheFile.load = load
        """,
        "FileNotFoundError",
    ),
    Break(
        "old_version", CACHING,
        """
        import pickle
        def _load_index(self):
            try:
                with open(self._index_path, "rb") as stream:
                    pickle.load(stream)
                    return pickle.load(stream)[1]
            except FileNotFoundError:
                return {}
        module.IndexDataCacheFile._load_index = _load_index
        """,
        "whose index was written by another numba",
    ),
    Break(
        "writers_together", CACHING,
        """
        import contextlib
        @contextlib.contextmanager
        def _open_for_write(self, path):
            with open(path, "wb") as stream:
                yield stream
        module.IndexDataCacheFile._open_for_write = _open_for_write
        """,
        "it is not true that an index can be read while",
    ),
    Break(
        "constants_stored", "numba.core.base",
        """
        original = module.BaseContext.make_constant_array
        def make_constant_array(self, builder, kind, array):
            return original(self, builder, kind.copy(layout="A"), array)
        module.BaseContext.make_constant_array = make_constant_array
        """,
        "is not cached",
    ),
    Break(
        "loaded_is_whole", CACHING,
        """
        original = module.Cache._load_overload
        def _load_overload(self, sig, context):
            found = original(self, sig, context)
            inner = self._py_func.__globals__.get("inner")
            if found is not None and inner is not None:
                inner(2.0)
            return found
        module.Cache._load_overload = _load_overload
        """,
        "compiled all the same",
    ),
    Break(
        "loaded_raises", CACHING,
        """
        def _load_overload(self, sig, context):
            raise KeyError("what it was to raise")
        module.Cache._load_overload = _load_overload
        """,
        "what it was to raise",
    ),
    Break(
        "wrapper_flags", "numba.core.decorators",
        """
        original = module.njit
        def njit(*arguments, **keywords):
            if "no_cfunc_wrapper" in keywords:
                raise KeyError("unrecognised option: no_cfunc_wrapper")
            return original(*arguments, **keywords)
        module.njit = njit
        """,
        "unrecognised option", early=True,
    ),
    Break(
        "jit_options", "numba.core.extending",
        """
        original = module.overload
        def overload(function, jit_options={}, **keywords):
            kept = {name: it for name, it in jit_options.items() if name != "fastmath"}
            return original(function, jit_options=kept, **keywords)
        module.overload = overload
        """,
        "has the flags ''", early=True,
    ),
    Break(
        "pointer_provenance", f"{DISPATCH}._patch_pointer_add",
        """
        from numba.core import cgutils
        def pointer_add(builder, pointer, offset, return_type=None):
            if isinstance(offset, int):
                offset = cgutils.intp_t(offset)
            address = builder.add(builder.ptrtoint(pointer, cgutils.intp_t), offset)
            return builder.inttoptr(address, return_type or pointer.type)
        cgutils.pointer_add = pointer_add
        """,
        "numba issue 10605",
    ),
    Break(
        "long_calls", f"{DISPATCH}._patch_list_to_tuple",
        """
        from numba.core import interpreter, ir
        original = interpreter.peep_hole_list_to_tuple
        def peep_hole_list_to_tuple(code):
            code = original(code)
            for block in code.blocks.values():
                for one in list(block.body):
                    value = getattr(one, "value", None)
                    if isinstance(value, ir.Expr) and value.op == "build_tuple":
                        for length in range(1, len(value.items)):
                            part = ir.Expr.build_tuple(value.items[:length], one.loc)
                            name = one.target.scope.redefine("$part", loc=one.loc)
                            block.body.insert(0, ir.Assign(part, name, one.loc))
            return code
        interpreter.peep_hole_list_to_tuple = peep_hole_list_to_tuple
        """,
        "tuples with",
    ),
    Break(
        "self_reference", f"{DISPATCH}._llvmlite_self_ref",
        """
        from llvmlite import ir
        original = ir.Module.add_metadata
        ir.Module.add_metadata = lambda self, operands, self_ref=False: original(self, operands)
        """,
        "two nodes that name themselves are written as",
    ),
    Break(
        "elementwise_loops", "numba.np.arrayobj",
        _RENAMED.format(name="make_array", caller="vectorize_codegen"), "another argument",
    ),
    Break(
        "random_draws", "numba.np.random.distributions",
        "module.random_normal = module.random_beta", "three normal draws",
    ),
    Break(
        "sparse_matrices", "numba.core.cgutils",
        _RENAMED.format(name="create_struct_proxy", caller="sparse.variable"), "another argument",
    ),
    Break(
        "lapack_reloaded", "numba.core.extending",
        """
        def get_cython_function_address(module_name, function_name):
            raise ImportError(f"there is no {function_name}")
        module.get_cython_function_address = get_cython_function_address
        """,
        "there is no dpotrf",
    ),
)  # fmt: skip
