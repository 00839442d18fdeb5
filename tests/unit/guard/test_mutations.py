"""Mutated cache files: none is a crash or executed, and none is left out without being named.

300 of them; ``OBSERVATORY_MUTATIONS=10000`` makes it as many. They derive from an index, a data
file and object files as numba's, by changes of their bytes, of the numbers in them and of the
opcodes, among which are calls that would leave a file behind if they were made.
"""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from observatory.guard.scan import elf
from observatory.guard.scan.elf import ObjectError
from observatory.guard.scan.objects import read
from observatory.guard.scan.pickles import PickleError, load
from observatory.guard.scan.scanning import scan
from tests.factories_scan import RANDOM_UID, compiled, data_file, index_file, mangled, object_of

EXAMPLES = int(os.environ.get("OBSERVATORY_MUTATIONS", "300"))
MARKER = Path(__file__).with_name("executed")
BOMB = b"cposix\nsystem\n(X" + struct.pack("<I", len(f"touch {MARKER}"))
BOMB += f"touch {MARKER}".encode() + b"tR"
TOKENS = [
    BOMB, b"cbuiltins\neval\n", b"\x80\x04", b"\x95" + b"\xff" * 8, b"\x8e" + b"\xff" * 8, b"\x94",
    b"B\xff\xff\xff\xff", b"X\xff\xff\xff\x7f", b"\x8b\xff\xff\xff\x7f", b"(", b"t", b"h\x00", b"R",
    b"\x93", b"\x81", b"]", b"}", b"a", b"u", b"s", b".", b"0", b"\x7fELF", b"\0" * 8, b"\xff" * 8,
]  # fmt: skip
NUMBERS = [0, 1, 0x7F, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1]
Draw = Callable[[st.SearchStrategy[Any]], Any]


@cache
def objects() -> list[bytes]:
    name = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"
    table = (
        "static const double *const t[] = {a, b, a}; const double *f(int i) { return t[i % 3]; }"
    )
    return [
        object_of({mangled(name, 1): "x * 0.1 + __builtin_sin(x)", "NRT_incref": "x - 7.5"}),
        object_of({mangled(name, RANDOM_UID): "x * 0.1", "cfunc." + mangled(name, 1): "x"}, "-O2"),
        compiled(f"static const double a[] = {{1, 2}}, b[] = {{3}}; {table}", "-mcmodel=large"),
    ]


def changed(draw: Draw, content: bytes) -> bytes:
    """One change: bytes replaced, cut, repeated or moved, or a number that claims too much."""
    at = draw(st.integers(0, len(content)))
    kind = draw(st.sampled_from(["token", "bytes", "number", "number", "cut", "move", "flip"]))
    if kind == "number":
        form = draw(st.sampled_from(["<B", "<H", "<I", "<Q"]))
        size = struct.calcsize(form)
        at -= at % draw(st.sampled_from([1, size]))
        number = draw(st.sampled_from(NUMBERS) | st.integers(0, 2**64 - 1))
        return content[:at] + struct.pack(form, number % 256**size) + content[at + size :]
    if kind == "flip":
        flipped = content[at : at + 1].translate(bytes(range(255, -1, -1)))
        return content[:at] + flipped + content[at + 1 :]
    if kind == "cut":
        return content[:at]
    end = min(len(content), at + draw(st.sampled_from([0, 0, 1, 2, 8, 24, 64, 1000])))
    if kind == "move":
        to = draw(st.integers(0, len(content)))
        return content[:to] + content[at:end] + content[to:]
    inserted = draw(st.sampled_from(TOKENS) if kind == "token" else st.binary(max_size=8))
    return content[:at] + inserted + content[end:]


def changed_table(draw: Draw, content: bytes, tables: list[tuple[int, int]]) -> bytes:
    """A number in one of the tables of an object file is another."""
    form, size = draw(st.sampled_from([("<H", 2), ("<I", 4), ("<Q", 8), ("<Q", 8)]))
    start, length = draw(st.sampled_from(tables))
    at = start + size * draw(st.integers(0, length // size - 1))
    number = draw(st.sampled_from(NUMBERS) | st.integers(0, 1000)) % 256**size
    return content[:at] + struct.pack(form, number) + content[at + size :]


@cache
def tables_of(content: bytes) -> list[tuple[int, int]]:
    """Where the sections, symbols and relocations of an object file stand, and how long."""
    start, number = struct.unpack_from("<Q", content, 40)[0], content[60]
    return [(start + 64, 64 * (number - 1))] + [
        (section.offset, section.size)
        for section in elf.read(content).sections
        if section.kind in ("SHT_SYMTAB", "SHT_RELA")
    ]


@st.composite
def caches(draw: Draw) -> tuple[bytes, bytes]:
    """The content of an index and of its data file, of which at least one place was changed."""
    code = original = draw(st.sampled_from(objects()))
    what = draw(st.sampled_from(["tables", "tables", "code", "data", "index"]))
    changes = draw(st.sampled_from([1, 1, 2, 4]))
    for _ in range(changes if what in ("tables", "code") else 0):
        if what == "tables":
            code = changed_table(draw, code, tables_of(original))
        else:
            code = changed(draw, code)
    protocol = draw(st.sampled_from([3, 4]))  # only the later one has frames, which say how long
    data, index = data_file(code, protocol), index_file(["add.py313.1.nbc"], protocol=protocol)
    for _ in range(changes if what in ("data", "index") else 0):
        if what == "data":
            data = changed(draw, data)
        else:
            index = changed(draw, index)
    return index, data


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mutations")


@settings(
    max_examples=EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(caches())
def test_a_mutated_cache_is_read_or_named_and_never_run(
    directory: Path, content: tuple[bytes, bytes]
) -> None:
    index, data = content
    (directory / "add.py313.nbi").write_bytes(index)
    (directory / "add.py313.1.nbc").write_bytes(data)
    report = scan(directory)
    named = {broken.path for broken in report.unreadable}
    assert named <= {"add.py313.nbi", "add.py313.1.nbc"}
    if "add.py313.nbi" in named:
        assert report.unreferenced == 1
    elif not report.unreferenced:
        assert report.data_files + len(named) == 1
    assert scan(directory) == report
    assert not MARKER.exists()


@settings(max_examples=EXAMPLES)
@given(st.binary(max_size=200) | st.lists(st.sampled_from(TOKENS)).map(b"".join))
def test_any_bytes_are_a_pickle_or_refused(content: bytes) -> None:
    for head in (b"", b"\x80\x04"):
        try:
            load(head + content + b".")
        except PickleError as error:
            assert "at byte" in str(error)  # noqa: PT017
    try:
        read(b"\x7fELF" + content)
    except ObjectError as error:
        assert str(error)  # noqa: PT017
    assert not MARKER.exists()


def test_the_seeds_are_whole_and_the_bomb_is_one(tmp_path: Path) -> None:
    for number, code in enumerate(objects()):
        (tmp_path / f"add{number}.py313.nbi").write_bytes(index_file([f"add{number}.nbc"]))
        (tmp_path / f"add{number}.nbc").write_bytes(data_file(code))
    report = scan(tmp_path)
    assert (report.data_files, report.unreadable) == (3, [])
    assert report.functions == 2
    marker = tmp_path / "executed"
    bomb = BOMB.replace(str(MARKER).encode(), str(marker).encode())
    length = struct.pack("<I", len(f"touch {marker}"))
    pickle.loads(b"\x80\x04" + bomb[:16] + length + bomb[20:] + b".")
    assert marker.exists()


MEMORY = """
import resource, struct, sys
from pathlib import Path
from observatory.guard.scan.scanning import scan
scan(Path(sys.argv[1]))
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 200 * 10**6,) * 2)
report = scan(Path(sys.argv[2]))
print(len(report.unreadable))
"""
_SIZED = {
    "binbytes": (b"B", "<I"), "binunicode": (b"X", "<I"), "binstring": (b"T", "<i"),
    "binbytes8": (b"\x8e", "<Q"), "binunicode8": (b"\x8d", "<Q"), "bytearray8": (b"\x96", "<Q"),
    "long4": (b"\x8b", "<i"), "frame": (b"\x95", "<Q"), "binput": (b"Nr", "<I"),
    "binget": (b"Nj", "<I"), "ext4": (b"\x84", "<i"),
}  # fmt: skip
"""Opcodes that say how long, or the how-manieth, something is."""
_SIZES = (2**20, 2**24, 2**28, 2**31 - 1, 2**40, 2**63 - 1)
_LYING = {
    f"{name} of {size}": b"\x80\x04" + opcode + struct.pack(form, size) + b"x" * 100
    for name, (opcode, form) in _SIZED.items()
    for size in _SIZES
    if size < 256 ** struct.calcsize(form) / 2
}
BOMBS = _LYING | {
    "lengths": b"\x80\x04\x8e" + struct.pack("<Q", 2**40) + b"x" * 100,
    "integer": b"\x80\x04\x8b" + struct.pack("<i", 2**31 - 1) + b"\xff" * 100,
    "text": b"\x80\x04" + b"X" + struct.pack("<I", 30 * 2**20) + b"\xf0" * (30 * 2**20) + b".",
    "laughs": b"\x80\x04)q\0" + b"(h\0h\0h\0h\0h\0tq\0" * 50_000 + b".",
    "names": b"\x80\x04X"
    + struct.pack("<I", 60_000)
    + b"x" * 60_000
    + b"q\0h\0\x93" * 1
    + b"h\0h\0\x93" * 100_000
    + b".",
    "nesting": b"\x80\x04" + b"]" * 499_000,
    "opcodes": b"\x80\x04" + b"}" * 600_000 + b".",
}
LONG = b"X" + struct.pack("<I", 60_000)
INDEX_BOMBS = {
    # An entry after the other refers to the same long texts, or to names that are too long.
    "machines": pickle.dumps("0.63.1") + b"\x80\x04K\0}(" + LONG + b"x" * 60_000 + b"q\0"
    + b"X\x05\0\0\0a.nbcq\x01" + b"Nh\0h\0h\0\x87\x86h\x01" * 60_000 + b"u\x86.",
    "paths": pickle.dumps("0.63.1") + b"\x80\x04K\0}(N" + LONG + b"x" * 59_996 + b".nbcq\0"
    + b"Nh\0" * 100_000 + b"u\x86.",
}  # fmt: skip


def test_bombs_need_no_more_memory_than_the_bound(tmp_path: Path) -> None:
    for where, contents in (("plain", {"add": data_file(objects()[0])}), ("bombs", BOMBS)):
        (tmp_path / where).mkdir()
        for name, content in contents.items():
            (tmp_path / where / f"{name}.nbi").write_bytes(index_file([f"{name}.nbc"]))
            (tmp_path / where / f"{name}.nbc").write_bytes(content)
    for name, content in INDEX_BOMBS.items():
        (tmp_path / "bombs" / f"{name}.nbi").write_bytes(content)
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "plain"), str(tmp_path / "bombs")],
        capture_output=True, text=True, check=False, timeout=600, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert (done.stdout, done.stderr) == (f"{len(BOMBS) + 1}\n", "")
