"""What a build leaves behind: sleeping, changes of the process, and growth of the cache."""

from __future__ import annotations

import gc
import os
import random
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from observatory.benchmarks.probes import collecting, effects, sleeping
from observatory.benchmarks.probes.ledger import Ledger
from observatory.benchmarks.sandbox import Sandbox


def test_sleeping_is_counted_by_what_was_asked_for_and_only_inside() -> None:
    ledger = Ledger()
    ledger.step = "build"
    with sleeping.counting(ledger.sleeps):
        time.sleep(0.002)
        time.sleep(0.001)
    time.sleep(0.001)
    assert ledger.counts("build")["seconds_slept"] == 0.003
    assert ledger.counts()["seconds_slept"] == 0.003
    assert ledger.counts("another")["seconds_slept"] == 0


def test_only_garbage_collections_that_are_asked_for_inside_are_counted() -> None:
    ledger, collect = Ledger(), gc.collect
    ledger.step = "build"
    with collecting.counting(ledger.collects):
        gc.collect()
        gc.collect(0)
        more = [[] for _ in range(200_000)]  # Python collects by itself
    gc.collect()
    assert gc.collect is collect
    assert more
    assert ledger.counts("build")["collections_forced"] == 2
    assert ledger.counts()["collections_forced"] == 2
    assert ledger.counts("another")["collections_forced"] == 0


def test_a_fork_begins_with_nothing_of_its_parent() -> None:
    ledger = Ledger()
    ledger.sleeps(1.0)
    ledger.collects()
    ledger.forget()
    assert set(ledger.counts().values()) == {0}


def test_what_a_build_leaves_as_it_was_is_no_change() -> None:
    before = effects.snapshot()
    with Path(os.devnull).open():
        pass
    assert effects.changed(before, effects.snapshot()) == set()


def test_each_thing_that_is_left_changed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states = random.getstate(), np.random.get_state()
    monkeypatch.setenv("OBSERVATORY_TEST", "before")
    monkeypatch.chdir(tmp_path)
    before, done = effects.snapshot(), threading.Event()
    descriptor = os.open(os.devnull, os.O_RDONLY)
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        random.seed(1)
        np.random.seed(1)
        monkeypatch.setenv("OBSERVATORY_TEST", "after")
        monkeypatch.chdir("/")
        found = effects.changed(before, effects.snapshot())
    finally:
        done.set()
        thread.join()
        os.close(descriptor)
        random.setstate(states[0])
        np.random.set_state(states[1])
    assert found == {
        "open files",
        "threads",
        "the seed of random",
        "the seed of NumPy's global generator",
        "variables of the environment",
        "the working directory",
    }


def test_fewer_open_files_are_no_change() -> None:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    before = effects.snapshot()
    os.close(descriptor)
    assert "open files" not in effects.changed(before, effects.snapshot())


def test_growth_of_the_cache_counts_new_files_and_added_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with Sandbox.open() as box:
        kept, shorter = box.cache / "numba" / "kept.nbi", box.cache / "numba" / "shorter.nbc"
        kept.write_bytes(b"12345")
        shorter.write_bytes(b"12345")
        before = box.cache_files()
        assert box.grown(before) == {"files_grown": 0, "bytes_grown": 0}
        kept.write_bytes(b"1234567")
        shorter.write_bytes(b"1")
        (box.cache / "pytensor" / "new").write_bytes(b"123")
        assert box.grown(before) == {"files_grown": 1, "bytes_grown": 5}
