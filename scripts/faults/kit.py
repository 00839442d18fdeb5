"""Known faults of PyTensor's caches, each as a wheel that puts it into an environment under test.

    .venv/bin/python -m scripts.faults.kit list
    .venv/bin/python -m scripts.faults.kit build DIR [NAME ...]
    observatory compare 3.3.7 "3.3.7 DIR/observatory_fault_key_salted-1.0-py3-none-any.whl"

Each wheel contains the files of scripts/faults/wheel/, its start-up hook among them. Installed, it
makes PyTensor do what a plausible bug would do; uninstalled, it leaves nothing behind. `FAULTS`
lists what a comparison of a release with and without the fault must find, and where. Two builds of
one fault are the same bytes.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from scripts.faults.graphs_and_storing import MORE
from scripts.faults.record import Alarms, Fault

_WHEEL = Path(__file__).with_name("wheel")
HOOK = _WHEEL / "hook.py"
SOURCES = tuple(
    map(
        _WHEEL.joinpath,
        (
            "faults.py",
            "faults_of_time.py",
            "faults_of_keys.py",
            "faults_of_graphs.py",
            "faults_of_storing.py",
            "faults_of_surroundings.py",
        ),
    )
)
PROPERTY_DROPPED = "property_dropped"
"""The kind of the faults of one property each, e.g. "property_dropped:Sum.axis"."""
_OP_AND_PROPERTY = re.compile(r"[A-Za-z_]\w*\.[A-Za-z_]\w*")
VERSION = "1.0"
_EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date of every file in a wheel, which is the earliest that zip archives have."""

_C = ("C", "C_VM")
_NUMBA = ("NUMBA", "DEFAULT")
"""DEFAULT is numba from PyTensor 3.0 on."""
_OPS_ONLY = ("NUMBA_OPS_ONLY",)
_NUMBA_ALL = (*_NUMBA, *_OPS_ONLY)
_DISK, _PROCESS = ("warm_disk",), ("warm_process",)
_WARM = (*_DISK, *_PROCESS)
_BUILDS = ("cold", *_WARM, "variants")
_OF_PAIRS = ("pairs_second", "pairs_keys")
_MISSES = ("cache_misses",)
_MEMORY = ("peak_rss",)
"""The metric that worsens if functions are compiled outside the measured span."""
_COMPILING = (*_MEMORY, "compile_time", "function_time", "first_call_time", "cpu_time",
              "python_calls", "instructions", "llvm_pass_runs", "retained_bytes", "files_grown",
              "bytes_grown", "compiler_runs")  # fmt: skip
"""The metrics that worsen if functions are compiled instead of loaded."""


_TRACED_AND_TIMED = ("--pass", "tracing", "--pass", "timing")

_GROWS = ("files_grown", "bytes_grown")
"""The metrics that worsen where a build does not find what an earlier one stored."""
_NEVER_FOUND = (
    Alarms(("reuse_lost",), ("cold", "variants"), _NUMBA_ALL),
    Alarms(_MISSES, _PROCESS, _OPS_ONLY),
    Alarms(_COMPILING, _BUILDS, _NUMBA_ALL),
    Alarms(_MEMORY, ("call",), _NUMBA),
)
"""Alarms that may follow if stored functions are compiled again."""

FAULTS: tuple[Fault, ...] = (
    Fault("key_salted", "numba's keys differ between processes", "keys differ between processes",
          must=(Alarms(_MISSES, _DISK, _NUMBA),),
          may=(Alarms(_COMPILING, _DISK, _NUMBA),
               Alarms(_GROWS, _PROCESS, _NUMBA_ALL),
               Alarms(_MEMORY, ("warm_process", "call"), _NUMBA),
               Alarms(_MEMORY, _PROCESS, _OPS_ONLY))),
    Fault("key_hash_seed", "numba's keys depend on the hash seed: spawn shows it, fork does not",
          "keys differ between hash seeds",
          must=(Alarms(_MISSES, _DISK, _NUMBA, ("spawn",)),),
          may=(Alarms(_COMPILING, _DISK, _NUMBA, ("spawn",)),
               Alarms(_GROWS, _PROCESS, _NUMBA_ALL, ("spawn",)),
               Alarms(_MEMORY, ("warm_process", "call"), _NUMBA, ("spawn",)),
               Alarms(_MEMORY, _PROCESS, _OPS_ONLY, ("spawn",)))),
    Fault("outer_not_cached", "the outer graph has no key and is never cached", "refused",
          must=(Alarms(("uncacheable",), (*_BUILDS, "siblings"), _NUMBA_ALL),),
          may=(Alarms(_COMPILING, _BUILDS, _NUMBA_ALL), Alarms(_MEMORY, ("call",), _NUMBA)),
          functions=("outer graph",)),
    Fault("op_key_unstable", "the key of one Op, Split, differs each time",
          "keys are not repeatable", must=(Alarms(_MISSES, _WARM, _NUMBA),), may=_NEVER_FOUND,
          functions=("Split{len_splits=2, axis=0}", "outer graph")),
    Fault("cache_dir_removed", "the numba cache's directory is removed after the import", "crashed",
          must=(Alarms(("crashed",), (*_BUILDS, "siblings", "call"), _NUMBA_ALL),)),
    Fault("saved_never_loaded", "numba's cache is written and never read",
          "stored but not loaded", must=(Alarms(_MISSES, _WARM, _NUMBA),), may=_NEVER_FOUND),
    Fault("variable_names_in_keys",
          "keys of Ops contain the names of variables: graphs share no functions", "not reused",
          must=(Alarms(("reuse_lost",), ("variants",), _NUMBA),),
          may=(Alarms(("reuse_lost",), ("cold", "variants"), _NUMBA_ALL),
               Alarms(_COMPILING, ("cold", "variants"), _NUMBA_ALL),
               # A function under two names is loaded twice: some 800 more calls into LLVM, 3 to
               # 4 % of all Python calls of a warm build.
               Alarms(("python_calls",), _WARM, _NUMBA_ALL))),
    Fault("uid_counter", "numba numbers functions 1, 2, 3 again: siblings share symbols",
          "wrong results",
          must=(Alarms(("wrong_results", "collided_symbols"), ("siblings",), _NUMBA, ("fork",)),),
          may=(Alarms(("wrong_results", "crashed", "collided_symbols", "vulnerable_symbols"),
                      ("siblings",), _NUMBA),),
          or_else=("symbols collide",)),
    Fault("c_key_salted", "the keys of C modules differ between processes",
          "keys differ between processes",
          must=(Alarms(_MISSES, _DISK, _C),),
          may=(Alarms(_COMPILING, _DISK, _C), Alarms((*_MEMORY, *_GROWS), _PROCESS, _C),
               Alarms(_MEMORY, ("call",), (*_C, "C_VM_NOGC")))),
    Fault("rewriting_slower",
          "rewriting does more work: 5 to 8 % more Python calls in a warm build",
          "more Python work",
          must=(Alarms(("python_calls",), _WARM, (*_C, *_NUMBA)),),
          may=(Alarms(_COMPILING, _BUILDS, (*_C, *_NUMBA_ALL, "NUMBA_NO_CACHE")),),
          main_part="`rewriting`"),
    Fault("rewriter_twice",
          "one rewriter, local_greedy_distributor, tries each node twice: 3 % more Python calls",
          "more Python work",
          must=(Alarms(("python_calls",), _PROCESS, (*_C, *_NUMBA)),),
          may=(Alarms(_COMPILING, _BUILDS, (*_C, *_NUMBA_ALL, "NUMBA_NO_CACHE")),),
          main_part="`local_greedy_distributor`"),
    Fault("call_slower", "a call of a compiled function takes about 10 % longer",
          "more Python work",
          must=(Alarms(("instructions", "python_calls"), ("call",), (*_C, "C_VM_NOGC", *_NUMBA)),),
          may=(Alarms(("call_time",), ("call",), (*_C, "C_VM_NOGC", *_NUMBA)),),
          main_part="__call__` is new", options=("--scenario", "call", "--pass", "work")),
    Fault("small_rewriter_twice",
          "a small rewriter tries each node twice: 0.1 % more Python calls", None, must=(),
          remark="`local_add_neg_to_sub`", options=("--pass", "tracing")),
    Fault("numba_pass_twice", "numba infers types twice, of each function that it compiles",
          "more Python work",
          must=(Alarms(("python_calls",), ("cold",), _NUMBA),),
          may=(Alarms(_COMPILING, _BUILDS, (*_NUMBA_ALL, "NUMBA_NO_CACHE")),),
          main_part="`numba: typing`",
          options=("--scenario", "cold", "--backend", "NUMBA", "--pass", "tracing")),
    Fault("llvm_pass_twice", "LLVM simplifies the control flow of each module once more",
          "more LLVM work",
          must=(Alarms(("llvm_pass_runs",), ("cold",), _NUMBA),),
          may=(Alarms(_COMPILING, _BUILDS, (*_NUMBA_ALL, "NUMBA_NO_CACHE")),),
          main_part="`SimplifyCFGPass`",
          options=("--scenario", "cold", "--backend", "NUMBA", "--pass", "tracing")),
    Fault("small_llvm_pass_twice",
          "LLVM merges equal constants once more in every third pipeline: 0.16 % more passes",
          None,
          must=(), remark="`ConstantMergePass`",
          options=("--scenario", "cold", "--backend", "NUMBA", "--pass", "tracing")),
    Fault("compiler_once_more", "each process runs gcc once more, for a helper that is not stored",
          "more compiler runs",
          must=(Alarms(("compiler_runs",), _WARM, _C),),
          may=(Alarms(_COMPILING, _BUILDS, _C),), functions=("helper",),
          options=("--scenario", "warm_disk", "--backend", "C", "--pass", "counting")),
    Fault("lock_held", "loading a graph's function from numba's cache waits 0.2 s for a lock",
          "waits longer",
          must=(Alarms(("waiting_time",), _WARM, _NUMBA),),
          may=(Alarms(("compile_time", "function_time"), _BUILDS, _NUMBA_ALL),),
          main_part="`numba: cache load`",
          options=("--scenario", "warm_process", "--backend", "NUMBA", *_TRACED_AND_TIMED)),
    Fault("heavy_import", "the first build of a process imports scipy.stats", "imports moved",
          must=(Alarms(("python_calls",), _DISK, (*_C, *_NUMBA)),),
          may=(Alarms(_COMPILING, (*_BUILDS, "call"), (*_C, *_NUMBA_ALL, "NUMBA_NO_CACHE")),),
          main_part="`scipy.stats`", options=("--pass", "tracing")),
    Fault("call_slower_under_spawn", "a call executes 2 % more, except in forked processes",
          "more Python work",
          must=(Alarms(("instructions", "python_calls"), ("call",),
                       (*_C, "C_VM_NOGC", *_NUMBA), ("spawn",)),),
          may=(Alarms(("call_time",), ("call",), (*_C, "C_VM_NOGC", *_NUMBA), ("spawn",)),),
          main_part="has_updates` is new",
          options=("--scenario", "call", "--pass", "work")),
)  # fmt: skip


OF_A_PATH = (
    Fault(
        "predicts_twice",
        "each posterior predictive compiles one more PyTensor function",
        "more functions compiled",
        must=(
            Alarms(("graphs_compiled",), ("path_cold", "path_warm"), ("NUMBA", "C_VM"), ("spawn",)),
        ),
        # With numba, the source of a compiled function is a file.
        may=(Alarms(("files_leaked",), ("path_cold", "path_warm"), ("NUMBA",), ("spawn",)),),
        options=(
            "--model",
            "eight_schools",
            "--scenario",
            "path_cold",
            "--scenario",
            "path_warm",
            "--backend",
            "NUMBA",
            "--pass",
            "counting",
        ),
    ),
)
"""Faults of PyMC, which only the path of its users shows."""
OF_NUMBA = (
    Fault("numba_index_of_process", "numba's own index differs between processes",
          "keys differ between processes", must=(Alarms(_MISSES, _DISK, _NUMBA),),
          may=(Alarms(_COMPILING, _DISK, _NUMBA),)),
)  # fmt: skip
"""Faults of numba, which no release of PyTensor has: `observatory cross` says so."""
OF_KEYS = (
    Fault("broadcast_pattern_dropped", "the keys of Elemwise leave out which dimensions broadcast",
          "keys collide", must=(Alarms(("key_collisions",), _OF_PAIRS, ("NUMBA",)),)),
    Fault("keys_made_twice", "the key of each Op is made twice", "keys cost more",
          must=(Alarms(("key_calls",), ("key_making",), ("NUMBA",)),),
          options=("--model", "key_cost", "--scenario", "key_making", "--backend", "NUMBA",
                   "--pass", "counting")),
    Fault("rewriting_squared", "rewriting looks at all nodes for each node", "work grows faster",
          must=(Alarms(("work_exponent",), ("growth",), ("NUMBA",)),),
          may=(Alarms(("python_calls", "graphs_raised"), ("growth",), ("NUMBA",)),)),
)  # fmt: skip
"""Faults that only the census and growing graphs show, as do those of `PROPERTY_DROPPED`."""
EVERY = (*FAULTS, *OF_A_PATH, *OF_NUMBA, *OF_KEYS, *MORE)
"""Every fault that has a name."""
_EVERY_PROPERTY = f"{PROPERTY_DROPPED}:OP.PROPERTY, {PROPERTY_DROPPED}:Sum.axis for example"


def fault(name: str) -> Fault:
    """The fault with a name, e.g. "key_salted" or "property_dropped:Sum.axis". Raises KeyError."""
    kind, _, of = name.partition(":")
    if kind == PROPERTY_DROPPED and _OP_AND_PROPERTY.fullmatch(of):
        return Fault(name, f"the keys of {of.partition('.')[0]} leave out one property: {of}",
                     "keys collide", must=())  # fmt: skip
    return {one.name: one for one in EVERY}[name]


def source_of(name: str) -> str:
    """The module of one fault: ``put_into`` changes the module of PyTensor called ``MODULE``."""
    kind, _, of = name.partition(":")
    found = f"faults_of_keys.{kind}({of!r})" if of else f"faults.FAULTS[{name!r}]"
    # Nothing else is imported: each process of the environment does it.
    holds = next(path.stem for path in SOURCES if f"def {kind}(" in path.read_text())
    modules = dict.fromkeys(("faults", holds))
    return f"from . import {', '.join(modules)}  # noqa: F401\n\nMODULE, put_into = {found}\n"


def files_of(name: str) -> dict[str, bytes]:
    """What the wheel of one fault installs, by path. Raises KeyError for an unknown fault."""
    return _files(package_of(name), source_of(name))


def _files(package: str, source: str) -> dict[str, bytes]:
    return {
        f"{package}/__init__.py": HOOK.read_bytes(),
        f"{package}/fault.py": source.encode(),
        **{f"{package}/{file.name}": file.read_bytes() for file in SOURCES},
        f"{package}.pth": f"import {package}\n".encode(),
    }


def package_of(name: str) -> str:
    """The package that puts a fault into an environment. Raises KeyError for an unknown fault."""
    return f"observatory_fault_{re.sub(r'[^a-z0-9]+', '_', fault(name).name.lower())}"


def build(name: str, directory: Path) -> Path:
    """Write the wheel of one fault and return its path. Raises KeyError for an unknown fault."""
    return _wheel(package_of(name), files_of(name), fault(name).meaning, directory)


def build_none(directory: Path) -> Path:
    """Write a wheel that hooks as a fault does and puts none in; return its path."""
    package = "observatory_fault_none"
    source = 'MODULE = "pytensor.compile.maker"\n\n\ndef put_into(_):\n    pass\n'
    return _wheel(package, _files(package, source), "none", directory)


def _wheel(package: str, own: Mapping[str, bytes], meaning: str, directory: Path) -> Path:
    metadata = f"{package}-{VERSION}.dist-info"
    files = {
        **own,
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: {package}\n"
        f"Version: {VERSION}\nSummary: A fault on purpose: {meaning}\n"
        "Requires-Python: >=3.11\n".encode(),
        f"{metadata}/WHEEL": b"Wheel-Version: 1.0\nGenerator: scripts.faults.kit\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    wheel = directory / f"{package}-{VERSION}-py3-none-any.whl"
    return pack(files, f"{metadata}/RECORD", wheel)


def pack(files: Mapping[str, bytes], record: str, wheel: Path) -> Path:
    """Write a wheel with these files and the record of them; return its path."""
    lines = []
    for path, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode()
        lines.append(f"{path},sha256={digest.rstrip('=')},{len(content)}")
    listed = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, content in {**files, record: listed}.items():
            info = zipfile.ZipInfo(path, _EARLIEST)
            info.create_system = 3  # Unix, wherever it is built
            info.external_attr = 0o100644 << 16
            archive.writestr(info, content)  # stored: compressed bytes depend on the zlib
    return wheel


def main(argv: list[str] | None = None) -> int:
    """Build wheels and print their paths, or list the faults."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the faults, and the cause that must be found")
    building = commands.add_parser("build", help="write wheels and print their paths")
    building.add_argument("directory", type=Path)
    building.add_argument("names", nargs="*", metavar="NAME", help=f"a fault of the list, or "
                          f"{_EVERY_PROPERTY}; default: all of the list")  # fmt: skip
    options = parser.parse_args(argv)
    if options.command == "list":
        for one in EVERY:
            cause = one.cause or "none, as nothing is worse"
            print(f"{one.name:27}{one.meaning}\n{'':27}cause: {cause}")
        print(f"{_EVERY_PROPERTY}\n{'':27}the keys of one Op leave out one of its properties")
        return 0
    names = [one.name for one in EVERY]
    for name in options.names:
        try:
            fault(name)
        except KeyError:
            parser.error(f"there is no fault {name!r}; choose from {', '.join(names)}, or say "
                         f"{_EVERY_PROPERTY}")  # fmt: skip
    for name in options.names or names:
        print(build(name, options.directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
