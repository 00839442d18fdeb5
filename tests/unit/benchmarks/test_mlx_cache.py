"""The probe on MLX, with a stand-in for mlx: which kernels were on disk."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from observatory.benchmarks.probes import mlx_cache
from observatory.benchmarks.probes.ledger import Ledger

SQUARE = "libDf8ISquareCEf8OAsTypeBD_CCS_f8_149754_contiguous"
ADD = "libCf8OAddAB_VV_f8f8_6142_strided_1"
Kernel = Callable[[], list[str]]


class Mlx:
    """MLX: kernels that a process compiles and loads when values are asked for."""

    def __init__(self, tmp: Path) -> None:
        self.kernels = tmp / "mlx" / "0.32.4" / "cpu"
        self.maps = tmp / "maps"
        self.maps.write_text("7f00-7f01 r-xp 00000000 08:01 12 /usr/lib/libc.so.6\n")
        self.waiting: list[str] = []

    def compile(self, names: list[str]) -> Kernel:
        return lambda: self.waiting.extend(names) or names

    def eval(self, _: Any) -> None:
        self.kernels.mkdir(parents=True, exist_ok=True)
        with self.maps.open("a") as file:
            for name in self.waiting:
                library = self.kernels / f"{name}.so"
                library.write_bytes(b"code")
                file.write(f"7f02-7f03 r-xp 00000000 08:01 13                   {library}\n")
        self.waiting.clear()


@pytest.fixture
def mlx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mlx:
    made = Mlx(tmp_path)
    package, core = ModuleType("mlx"), ModuleType("mlx.core")
    for name in ("compile", "eval"):
        setattr(core, name, getattr(made, name))
    package.core = core  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mlx", package)
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(mlx_cache, "_MAPS", made.maps)
    return made


def installed() -> Ledger:
    made = Ledger()
    made.recording = True
    mlx_cache.install(made)
    return made


def told(ledger: Ledger) -> list[tuple[str, str, str | None, int | None]]:
    return [(one.name, one.outcome, one.source, one.bytes) for one in ledger.entries]


def compiled(*names: str) -> Kernel:
    function: Kernel = sys.modules["mlx.core"].compile(list(names))
    return function


def test_a_kernel_that_was_not_on_disk_is_a_miss(mlx: Mlx) -> None:
    ledger = installed()
    assert compiled(ADD)() == [ADD]
    assert told(ledger) == [("Add", "miss", None, 4)]


def test_a_kernel_that_another_process_left_is_a_hit(mlx: Mlx) -> None:
    mlx.kernels.mkdir(parents=True)
    (mlx.kernels / f"{SQUARE}.so").write_bytes(b"code")
    ledger = installed()
    compiled(SQUARE, ADD)()
    assert told(ledger) == [("Add", "miss", None, 4), ("Square, AsType", "hit", "disk", 4)]


def test_a_kernel_that_the_process_has_loaded_is_not_asked_for_again(mlx: Mlx) -> None:
    ledger = installed()
    ledger.recording = False
    compiled(ADD)()
    sys.modules["mlx.core"].eval(None)
    ledger.recording = True
    compiled(ADD)()
    assert told(ledger) == []


def test_what_no_pattern_knows_keeps_its_name() -> None:
    assert mlx_cache.name_of("libKernel") == "libKernel"
