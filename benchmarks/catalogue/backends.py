"""The backends, one record each.

`benchmarks.backends` makes the mode that a record describes; a backend that no linker, no mode and
no flag of PyTensor's describes has a function there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..models import TOLERANCE

CACHES = {"numba": "numba", "c_module": "C", "jax": "JAX", "pytorch": "PyTorch", "mlx": "MLX"}
"""Kinds of entries in a ledger, each with the compiler that they are of. numba comes first: where
it compiles, there may be C modules too."""


@dataclass(frozen=True)
class Backend:
    """One backend."""

    name: str
    meaning: str
    linker: str = ""
    """PyTensor's linker, with the rewrites of `fast_run`."""
    mode: str = ""
    """PyTensor's name of the mode. Without a linker and a mode the subject chooses."""
    flags: str = ""
    """PYTENSOR_FLAGS: what must be set before the import."""
    patch: str = ""
    """The function of `benchmarks.backends` that changes PyTensor for it, once per process."""
    package: str = ""
    """What must be installed beside PyTensor, by the name under which Python imports it."""
    optional: bool = False
    """Whether no release requires that package: it is measured where somebody asks for it."""
    installs: tuple[str, ...] = ()
    """Optional backends: the requirements of an environment in which it is asked for, beside the
    subject's. Empty: whoever asks for it names them himself (`--with`)."""
    only_named: bool = False
    """Optional backends: whether the preset `night` leaves it out too, because its package is large
    or its samples are slow."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables of its processes. `{cache}` is the directory of all disk caches."""
    settings: tuple[str, ...] = ()
    """How the variables begin with which users configure its package. No measured process inherits
    them."""
    caches_in_tmp: tuple[str, ...] = ()
    """The directories of TMPDIR in which its package keeps a cache. `{user}` is the user's name."""
    tolerance: float = TOLERANCE
    """The largest relative error of logp and gradient that is not wrong: larger than that of all
    others only where the backend computes in single precision."""
    deferred: bool = False
    """Whether its functions return before their values are computed. The measured spans end when
    the values are there, as NumPy arrays."""
    threaded: bool = False
    """Whether other threads of the process compile for it: the one that builds waits for them."""
    cache: str = ""
    """The kind of its cache, one of CACHES; empty: it depends on the subject."""
    probes: tuple[str, ...] = ("c_modules",)
    """The modules of `benchmarks.probes` that count what its caches do."""
    filled_by: str = ""
    """The backend whose cache it starts from; empty: its own."""
    main: bool = False
    """Whether users choose it: it is always shown, drawn over releases and compared by default."""
    ablation: bool = False
    """Whether a cache is disabled on purpose: its misses raise no alarm."""
    timed_in: tuple[str, ...] = ("full", "history")
    """The presets that time it; others only count it."""
    worked: bool = False
    """Whether `compare` counts its instructions unless backends are named: one of each compiler,
    because the rewrites of two that share one do the same work."""
    takes_as: str = ""
    """The backend whose samples take as long; empty: the one that fills its cache."""
    slower: float = 1.0
    """How many times as long a sample takes as one of that backend."""
    light: str = "#6d7682"
    """Its colour on the page, at least 3:1 on a white card."""
    dark: str = "#9aa3ae"
    """Its colour on a dark page."""
    shape: str = "circle"
    """Its mark, a second sign beside its colour: circle, square, diamond or triangle."""

    @property
    def as_default(self) -> str:
        """The PYTENSOR_FLAGS that make it the default; empty: the subject chooses."""
        if self.linker:
            return f"mode=Mode,linker={self.linker}"
        return f"mode={self.mode}" if self.mode else ""

    @property
    def cache_backend(self) -> str:
        """The backend that fills the cache it starts from."""
        return self.filled_by or self.name

    @property
    def expected_as(self) -> str:
        """The backend whose expected seconds it is estimated by."""
        return self.takes_as or self.cache_backend

    def environment(self, cache: str) -> dict[str, str]:
        """Its environment variables. ``cache``: the directory of all disk caches."""
        return {name: value.format(cache=cache) for name, value in self.variables}

    @property
    def chosen_by_subject(self) -> bool:
        """Whether the subject chooses it by default."""
        return not (self.linker or self.mode)

    @property
    def may_use_numba(self) -> bool:
        """Whether numba may compile its functions, so that their symbols are in numba's cache."""
        return "numba_cache" in self.probes


_NUMBA = ("c_modules", "numba_cache")
_OF_JAX = ("JAX_", "XLA_")
_ALL = (
    Backend(
        "C",
        "the whole graph as one C module",
        linker="c",
        cache="c_module",
        main=True,
        light="#0f6cae",
        dark="#58a9e4",
    ),
    Backend(
        "C_VM",
        "a C module per Op, run by the C virtual machine",
        linker="cvm",
        cache="c_module",
        main=True,
        worked=True,
        light="#a9488a",
        dark="#dd8cc4",
        shape="square",
    ),
    Backend(
        "C_VM_NOGC",
        "C_VM, which keeps its intermediate storage between calls",
        linker="cvm_nogc",
        cache="c_module",
        filled_by="C_VM",
        light="#c982b4",
        dark="#b0659a",
    ),
    Backend(
        "NUMBA",
        "numba with all caches",
        mode="NUMBA",
        package="numba",
        cache="numba",
        probes=_NUMBA,
        main=True,
        worked=True,
        light="#c66a00",
        dark="#f0a03c",
        shape="diamond",
    ),
    Backend(
        "NUMBA_OPS_ONLY",
        "numba; every function is cached except the outer graph",
        mode="NUMBA",
        patch="stop_caching_the_outer_graph",
        package="numba",
        cache="numba",
        probes=_NUMBA,
        filled_by="NUMBA",
        ablation=True,
        timed_in=("full",),
        light="#d69a55",
        dark="#c98d48",
    ),
    Backend(
        "NUMBA_NO_CACHE",
        "numba without PyTensor's numba cache",
        mode="NUMBA",
        flags="numba__cache=False",  # before 2.36 it is read only at import
        package="numba",
        cache="numba",
        probes=_NUMBA,
        filled_by="NUMBA",
        ablation=True,
        timed_in=("full",),
        slower=2.5,
        light="#8a5f2c",
        dark="#a9825a",
    ),
    Backend(
        "DEFAULT",
        "the backend that the subject chooses by default",
        probes=_NUMBA,
        # The ledger tells which backend it is, and that one is timed under its own name.
        timed_in=(),
        takes_as="NUMBA",
    ),
    Backend(
        "JAX",
        "JAX as it is by default: it compiles the graph anew in every process",
        mode="JAX",
        package="jax",
        optional=True,
        installs=("jax",),
        settings=_OF_JAX,
        deferred=True,
        threaded=True,
        cache="jax",
        probes=("jax_cache",),
        light="#2e7d4f",
        dark="#63c08a",
        shape="triangle",
    ),
    Backend(
        "JAX_CACHED",
        "JAX with its persistent compilation cache, which takes all functions",
        mode="JAX",
        package="jax",
        optional=True,
        installs=("jax",),
        # By default it stores only what took a second to compile, which no two runs agree on.
        variables=(
            ("JAX_COMPILATION_CACHE_DIR", "{cache}/jax"),
            ("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0"),
            ("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1"),
            # Of GPUs alone. Up to JAX 0.10 they put the path of the cache into every key, so that
            # a copy of it never hit.
            ("JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES", "none"),
        ),
        settings=_OF_JAX,
        deferred=True,
        threaded=True,
        cache="jax",
        probes=("jax_cache",),
        takes_as="JAX",
        light="#5d9a77",
        dark="#3f9567",
        shape="triangle",
    ),
    Backend(
        "PYTORCH",
        "PyTorch as it is by default: inductor compiles with C++, and its caches are in TMPDIR",
        mode="PYTORCH",
        package="torch",
        optional=True,
        # For Linux on x86-64 the index has only builds with CUDA: 5 GB when installed.
        installs=("torch",),
        only_named=True,
        settings=("TORCH", "PYTORCH", "TRITON_"),
        caches_in_tmp=("torchinductor_{user}",),
        threaded=True,
        cache="pytorch",
        probes=("torch_cache",),
        light="#c0392b",
        dark="#f08072",
        shape="square",
    ),
    Backend(
        "MLX",
        "MLX on the CPU as it is by default: it compiles kernels with C++, which stay in TMPDIR",
        mode="MLX",
        package="mlx",
        optional=True,
        installs=("mlx[cpu]",),
        only_named=True,
        settings=("MLX_",),
        caches_in_tmp=("mlx",),
        # Its exp, sin and cos are of single precision, of doubles too: up to 2.3e-7 off. The census
        # allows single precision as much.
        tolerance=2e-5,
        deferred=True,
        threaded=True,
        cache="mlx",
        probes=("mlx_cache",),
        light="#5b5fc7",
        dark="#9a9df0",
        shape="diamond",
    ),
)
BACKENDS: Mapping[str, Backend] = {one.name: one for one in _ALL}
MAIN_BACKENDS = tuple(one.name for one in _ALL if one.main)
"""The backends that a user chooses between."""
SHARING_BACKENDS = tuple(one.name for one in _ALL if one.main and one.may_use_numba)
"""Those of them whose functions share symbols in one cache."""
ABLATIONS = tuple(one.name for one in _ALL if one.ablation)


def without_cache(backend: str) -> str | None:
    """The ablation that shows what a backend costs without its cache; None if there is none."""
    return next((o.name for o in _ALL if o.flags and o.ablation and o.filled_by == backend), None)
