"""Instructions that a span of the measured process executes, in user space.

Two sources give them. The hardware counts them (`perf_event_open`), including those of processes
that the span starts. Where there is no such counter, the process runs under valgrind's callgrind,
which counts those of this process alone: a compiler that it starts is not followed.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import struct
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..messages import Counter

CLIENT_SOURCE = """\
#include <valgrind/callgrind.h>
void observatory_begin(void) { CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void observatory_end(void) { CALLGRIND_DUMP_STATS; CALLGRIND_STOP_INSTRUMENTATION; }
"""
"""The library of client requests: they switch counting on and off from inside the process."""

UNSTEADY = (
    "unicodekeys_lookup_unicode", "unicodekeys_lookup_generic", "_Py_dict_lookup",
    "_PyDict_GetItemRef_KnownHash", "_PyDict_GetItem_KnownHash", "find_empty_slot",
    "set_lookkey", "set_add_entry",
    "find_name_in_mro", "_PyType_LookupRef", "_PyType_Lookup", "assign_version_tag",
    "_PyObject_Malloc", "_PyObject_Realloc", "_PyObject_Free", "allocate_from_new_pool",
    "malloc", "realloc", "free", "_int_malloc", "_int_realloc", "_int_free", "malloc_consolidate",
    "unlink_chunk",
)  # fmt: skip
"""Functions of CPython and of malloc that look for something: an entry of a dict or a set, an
attribute of a type, a free block. How long depends on addresses, of which each run has others: they
are a seventh of the instructions and nine tenths of the noise. Who calls them is counted."""
_UNSTEADY = frozenset(map(str.encode, UNSTEADY))
_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
_HARDWARE, _INSTRUCTIONS = 0, 1
# Bits of perf_event_attr: disabled at first, children included, no kernel, no hypervisor.
_FLAGS = 1 << 0 | 1 << 1 | 1 << 5 | 1 << 6
_ATTRIBUTE_BYTES = 128
_FLAGS_OFFSET = 40
_ENABLE, _DISABLE = 0x2400, 0x2401


@contextmanager
def counting_instructions(counter: Counter, counts: list[int]) -> Iterator[None]:
    """Append to ``counts`` the number of instructions executed inside the block.

    The garbage collector is off inside the block: when it runs depends on everything before. Raises
    OSError where the source of ``counter`` is not there, ValueError if callgrind wrote no count.
    """
    source = _hardware if counter.source == "hardware" else _callgrind
    gc.collect()
    gc.disable()
    try:
        with source(counter) as count:
            yield
        counts.append(count())
    finally:
        gc.enable()


def count_calls(counter: Counter, call: Callable[[], Any], times: int) -> tuple[int, Any]:
    """Return the instructions of so many calls, after as many to warm up, and the last value.

    The calls run in a thread of their own, for which malloc begins a new arena. In that of the main
    thread, the free blocks that a build left decide how long malloc searches for the arrays of a
    call: between equal processes, that moved the count by 1 %. Raises what `counting_instructions`
    and ``call`` raise.
    """

    def counted() -> tuple[int, Any]:
        counts: list[int] = []
        for _ in range(times):  # CPython specializes its own code first
            call()
        with counting_instructions(counter, counts):
            for _ in range(times):
                value = call()
        return counts[0], value

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(counted).result()


@contextmanager
def _hardware(_: Counter) -> Iterator[Callable[[], int]]:
    descriptor = open_hardware_counter()
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        libc.ioctl(descriptor, _ENABLE, 0)
        try:
            yield lambda: int(struct.unpack("Q", value)[0])
        finally:
            libc.ioctl(descriptor, _DISABLE, 0)
            value = os.read(descriptor, 8)
    finally:
        os.close(descriptor)


def open_hardware_counter(kind: int = _HARDWARE, event: int = _INSTRUCTIONS) -> int:
    """Return the descriptor of a counter of this process and its children, still switched off.

    ``kind`` and ``event``: `type` and `config` of perf_event_open(2). Raises OSError where the
    kernel or the processor has no such counter, or does not let this user read it.
    """
    number = _PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        raise OSError(f"perf_event_open is not known on {platform.machine()}")
    attribute = ctypes.create_string_buffer(_ATTRIBUTE_BYTES)
    struct.pack_into("IIQ", attribute, 0, kind, _ATTRIBUTE_BYTES, event)
    struct.pack_into("Q", attribute, _FLAGS_OFFSET, _FLAGS)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.syscall(number, attribute, 0, -1, -1, 0))
    if descriptor < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"perf_event_open: {os.strerror(error)}")
    return descriptor


@contextmanager
def _callgrind(counter: Counter) -> Iterator[Callable[[], int]]:
    if counter.library is None or counter.counts is None:
        raise ValueError("callgrind needs a client library and a file for its counts")
    library = ctypes.CDLL(str(counter.library))
    end = library.observatory_end
    # A process that forked writes to files with its own number.
    files = counter.counts.parent
    pattern = f"{counter.counts.name}.{os.getpid()}.*"
    before = set(files.glob(pattern))
    library.observatory_begin()
    try:
        yield lambda: total_of(sorted(set(files.glob(pattern)) - before), steady=counter.steady)
    finally:
        end()


def total_of(written: Iterable[Path], *, steady: bool = False) -> int:
    """Return the number of instructions in files of callgrind. Raises ValueError without one.

    ``steady``: without those of UNSTEADY, each by itself and not what it calls.
    """
    for path in written:
        with path.open("rb") as stream:
            total, left_out = _read(stream)
        if total is not None:
            return total - left_out * steady
    raise ValueError("callgrind wrote no count of instructions")


def _read(lines: Iterable[bytes]) -> tuple[int | None, int]:
    """The total of a file of callgrind, None if it has none, and the part of UNSTEADY functions.

    A function has a number, and a name where it is mentioned first, perhaps as one that is called.
    The line after `calls=` is the cost of what is called, which its own lines have, too.
    """
    total, left_out = None, 0
    unsteady: set[bytes] = set()
    inside = called = False
    for line in lines:
        if line.startswith((b"fn=(", b"cfn=(")):
            number, _, name = line.partition(b"(")[2].partition(b")")
            if name.strip().partition(b"'")[0].partition(b".")[0] in _UNSTEADY:
                unsteady.add(number)
            if line.startswith(b"f"):
                inside = number in unsteady
        elif line.startswith(b"calls="):
            called = True
        elif line[:1] in b"0123456789+-*" and line.strip():
            if inside and not called:
                left_out += int(line.split()[1])
            called = False
        elif line.startswith((b"summary:", b"totals:")):
            total = int(line.split()[1])
    return total, left_out
