"""Caches under faults: verdicts, the catalogue, what is done to files, and the stand-in disk."""

from __future__ import annotations

import atexit
import errno
import logging
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from observatory.benchmarks.sandbox import Sandbox
from observatory.benchmarks.torture import __main__ as main
from observatory.benchmarks.torture import damage, parts, processes, shim
from observatory.benchmarks.torture.copies import Copies, Skip
from observatory.benchmarks.torture.faults import FAULTS, PARTS
from observatory.benchmarks.torture.making import (
    VERDICTS,
    Armed,
    Damage,
    Fault,
    FaultRecord,
    Interleaved,
    Place,
    flips,
    printable,
    severest,
    spread,
)
from observatory.benchmarks.torture.processes import Starter
from observatory.benchmarks.torture.trials import Torture
from observatory.benchmarks.torture.verdicts import (
    Case,
    Ended,
    grouped,
    judge,
    judge_several,
    or_failure,
    warnings_of,
    worst,
)
from observatory.benchmarks.torture.workload import (
    CACHES,
    GRAPHS,
    STRIDED,
    Seen,
    Workload,
    arguments,
    counting_warnings,
)
from observatory.benchmarks.torture.workload import reference as reference_of
from observatory.benchmarks.torture.workload import wrong as how_wrong
from observatory.benchmarks.typed_json import from_json, to_json
from observatory.store.records import torture as record

ROOT = Path(__file__).parents[3]
WARM = Seen(hits=3, misses=0, compiled=0, calls=1000)


@pytest.mark.parametrize(
    ("ended", "verdict", "said"),
    [
        (Ended(WARM), "safe", ""),
        (Ended(replace(WARM, calls=1010)), "safe", ""),
        (Ended(replace(WARM, hits=2, misses=1)), "recompiles", "1 missed where 0 do"),
        (Ended(replace(WARM, hits=2)), "recompiles", "0 missed"),
        (Ended(replace(WARM, compiled=2)), "slower", "2 were compiled where 0 are"),
        (Ended(replace(WARM, calls=5000)), "slower", "5.0 times as many Python calls"),
        (Ended(replace(WARM, calls=None)), "safe", ""),
        (Ended(replace(WARM, raised="EOFError: Ran out")), "raises", "EOFError: Ran out"),
        (Ended(None, 3), "raises", "exit status 3"),
        (Ended(None, -signal.SIGKILL, timed_out=True), "hangs", "after 9 s"),
        (Ended(None, -signal.SIGSEGV), "dies", "SIGSEGV"),
        (Ended(replace(WARM, wrong="up is off")), "WRONG", "up is off"),
        # A wrong number outranks an exception of another graph.
        (Ended(replace(WARM, wrong="up is off", raised="OSError: no")), "WRONG", "up is off"),
        # A process that missed and is right has compiled again, whatever else it did.
        (Ended(replace(WARM, misses=1, compiled=9, calls=9999)), "recompiles", "1 missed"),
    ],
)
def test_the_verdict_on_a_process(ended: Ended, verdict: str, said: str) -> None:
    found, detail = judge(ended, WARM, limit=9)
    assert found == verdict
    assert said in detail


def test_a_store_is_judged_by_what_a_store_does_without_a_fault() -> None:
    cold = Seen(hits=0, misses=5, compiled=12)
    assert judge(Ended(cold), cold, 9) == ("safe", "")
    assert judge(Ended(Seen(hits=2, misses=3, compiled=7)), cold, 9) == ("safe", "")
    assert judge(Ended(replace(cold, misses=6)), cold, 9)[0] == "recompiles"


def test_processes_that_store_at_once_compile_each_module_once_where_they_wait_for_each_other() -> (
    None
):
    alone, waited = Seen(misses=2, compiled=2), Seen(hits=2)
    found = partial(judge_several, usual=[alone] * 2, limit=9)
    assert found([Ended(alone), Ended(waited)], once=True) == ("safe", "")
    verdict, detail = found([Ended(alone), Ended(replace(waited, misses=1))], once=True)
    assert (verdict, detail) == (
        "recompiles",
        "together they compiled 3 modules; one alone compiles 2",
    )
    assert found([Ended(alone), Ended(alone)], once=False) == ("safe", "")
    assert found([Ended(alone), Ended(replace(alone, wrong="up"))], once=True) == ("WRONG", "up")


def test_a_process_that_waits_for_another_one_may_ask_often() -> None:
    waited = Ended(replace(WARM, calls=9000))
    assert judge(waited, WARM, 9)[0] == "slower"
    assert judge_several([waited, Ended(WARM)], [WARM, WARM], 9) == ("safe", "")


def test_a_command_that_fails_raises_and_hides_nothing_worse() -> None:
    assert or_failure(("safe", ""), "") == ("safe", "")
    assert or_failure(("recompiles", "4 missed"), "OSError: no") == ("raises", "OSError: no")
    assert or_failure(("WRONG", "up is off"), "OSError: no") == ("WRONG", "up is off")


def test_steps_that_come_out_alike_are_one_outcome_and_the_worst_is_first() -> None:
    cases = [
        Case("0", "safe", "safe", ""),
        Case("1", "raises", "raises", "EOFError: at 1"),
        Case("2", "raises", "raises", "EOFError: at 2"),
        Case("3", "raises", "raises", "EOFError: at 3"),
        Case("4", "raises", "safe", "EOFError: at 4"),
        Case("5", "WRONG", "safe", "up is off"),
    ]
    told = [(one.verdict, one.after, one.cases, one.steps) for one in grouped(cases)]
    assert told == [
        ("WRONG", "safe", 1, "5"), ("raises", "raises", 3, "1 ... 3"), ("raises", "safe", 1, "4"),
        ("safe", "safe", 1, "0"),
    ]  # fmt: skip
    assert worst(cases) == ("WRONG", "raises")


def test_an_outcome_says_how_much_the_worst_of_its_steps_left_in_the_cache() -> None:
    cases = [Case(str(at), "safe", "safe", "", left) for at, left in enumerate((0, 3, -1))]
    assert [one.left for one in grouped(cases)] == [3]


def test_an_outcome_says_how_often_the_worst_of_its_steps_warned() -> None:
    ended = [Ended(replace(WARM, warned=2)), Ended(None, -9), Ended(replace(WARM, warned=1))]
    assert warnings_of(ended) == 3
    cases = [Case(str(at), "safe", "safe", "", 0, warned) for at, warned in enumerate((0, 3, 1))]
    assert [one.warned for one in grouped(cases)] == [3]


def test_what_is_warned_of_is_counted_however_it_is_told() -> None:
    with counting_warnings() as told:
        for _ in range(2):
            warnings.warn("the same line twice", stacklevel=1)
        logging.getLogger("pytensor.link.c.cmodule").warning("logged")
        logging.getLogger("pytensor.link.c.cmodule").info("no warning")
        logging.getLogger("another").warning("of another package")
    assert len(told) == 3
    logging.getLogger("pytensor").warning("after the block")
    assert len(told) == 3


def test_the_verdicts_of_the_record_are_those_of_the_catalogue() -> None:
    assert VERDICTS == record.VERDICTS
    assert severest(["recompiles", "WRONG", "raises"]) == "WRONG"
    assert severest([]) == "safe"


def test_what_a_flipped_bit_makes_of_a_name_can_be_recorded() -> None:
    assert printable("no module 'num\udc80a'") == "no module 'num\\udc80a'"
    printable("\ud800").encode()


def test_the_catalogue_names_each_fault_once_and_each_cache_has_its_control() -> None:
    keys = [(one.cache, one.name) for one in FAULTS]
    assert len(set(keys)) == len(keys)
    assert {one.cache for one in FAULTS if one.group == record.CONTROL} == set(CACHES)
    for one in FAULTS:
        assert not one.what.endswith(".")
        assert one.what[0].islower() or one.what.startswith("PyTensor")


def test_the_catalogue_has_what_was_asked_for() -> None:
    names = {cache: {one.name for one in FAULTS if one.cache == cache} for cache in CACHES}
    for cache in CACHES:
        for part in PARTS[cache]:
            for what in ("truncated", "flipped", "empty", "directory", "unreadable", "missing"):
                assert f"{part}_{what}" in names[cache]
        assert names[cache] >= {
            "full", "killed", "two_store", "eight_store", "read_while_stored", "files_old",
            "clock_back", "clock_forward", "read_only", "rename_over_refused", "not_yet_visible",
            "stale_handle", "linked", "crowded", "of_cpu", "of_flag", "exchanged",
        }  # fmt: skip
        assert names[cache] >= {"of_numba", "of_python", "of_pytensor"}
    assert "two_signatures_crossed" in names["numba"]
    assert names["c"] >= {
        "of_class", "lock_holder_dead", "lock_holder_stopped", "compiler_fails", "copied",
        "cleared", "cleaned", "purged", "kept_old",
    }  # fmt: skip


def test_only_what_chance_decides_is_not_compared_between_releases() -> None:
    flipped = {f"{part}_flipped" for cache in CACHES for part in PARTS[cache]}
    assert {one.name for one in FAULTS if not one.certain} == {
        *flipped, "module_directory", "module_unreadable",
    }  # fmt: skip


def test_steps_are_spread_from_end_to_end() -> None:
    assert spread(1707, 4) == [0, 569, 1137, 1706]
    assert spread(3, 12) == [0, 1, 2]
    assert spread(0, 12) == []
    bits = flips(100, 8, "index")
    assert bits == flips(100, 8, "index")
    assert [bit // 100 for bit in bits] == list(range(8))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A cache of numba's with two functions."""
    directory = tmp_path / "numba"
    directory.mkdir()
    for name in ("up", "down"):
        (directory / f"{name}.py313.nbi").write_bytes(b"\x80\x04index of " + name.encode())
        (directory / f"{name}.py313.1.nbc").write_bytes(b"code of " + name.encode())
    return Place(tmp_path, directory / "up.py313.nbi", directory / "down.py313.nbi")


def test_what_is_done_to_files(place: Place) -> None:
    data = place.file("data")
    damage.flipped("data")(place, "9")
    assert data.read_bytes() == b"cmde of up"
    damage.exchanged("data")(place, "")
    assert data.read_bytes() == b"code of down"
    damage.truncated("data")(place, "3")
    assert data.read_bytes() == b"cod"
    damage.made_directory("data")(place, "")
    assert data.is_dir()
    damage.of_another_python(place, "")
    assert not list(place.cache.rglob("*py313*"))


@pytest.fixture
def modules(tmp_path: Path) -> Place:
    """A cache of C modules with two of them, of which each key names its file."""
    compiledir = tmp_path / "compiledir"
    for name in ("up", "down"):
        directory = compiledir / f"tmp{name}"
        directory.mkdir(parents=True)
        (directory / "key.pkl").write_bytes(b"key of " + bytes(directory / f"m{name}.so"))
        (directory / f"m{name}.so").touch()
    return Place(tmp_path, compiledir / "tmpup", compiledir / "tmpdown")


def test_a_module_can_get_the_key_of_another_one_that_is_gone(modules: Place) -> None:
    damage.key_of_another(modules, "")
    assert modules.file("key").read_bytes().endswith(b"mdown.so")
    assert (modules.file("module").name, modules.other.exists()) == ("mup.so", False)


def test_the_keys_of_a_copied_cache_name_a_directory_that_is_not_there(modules: Place) -> None:
    before = modules.file("key").stat().st_size
    damage.copied(modules, "")
    for key in (modules.file("key"), modules.other_file("key")):
        named = key.read_bytes().removeprefix(b"key of ")
        assert not Path(os.fsdecode(named)).parent.parent.exists()
    assert modules.file("key").stat().st_size == before  # its format has the lengths of texts


def test_a_directory_of_a_module_can_be_emptied(modules: Place) -> None:
    damage.without_files(modules, "")
    assert list(modules.target.iterdir()) == []


def test_a_compiler_that_is_hindered_finds_a_broken_header(modules: Place) -> None:
    variables = damage.broken_header(modules)
    assert "#error" in Path(variables["CPATH"], "math.h").read_text()
    assert not Path(variables["CPATH"]).is_relative_to(modules.compiledir)


def test_a_linked_directory_has_the_same_files(place: Place) -> None:
    damage.linked(place, "")
    assert place.compiledir.is_symlink()
    assert place.target.is_file()


def test_a_value_is_compared_with_its_shape() -> None:
    for name in (*GRAPHS, STRIDED):
        expected = reference_of(name, *arguments(name))
        assert how_wrong(name, expected * (1 + 1e-12), expected) == ""
        assert "relative error of" in how_wrong(name, expected * 1.001, expected)
    up = reference_of("up", *arguments("up"))
    assert "has shape (1,)" in how_wrong("up", up[:1], up)
    assert how_wrong("up", np.full_like(up, np.nan), up)


def test_the_strided_argument_has_the_same_numbers_in_another_layout() -> None:
    (strided, _), (plain, _) = arguments(STRIDED), arguments("up")
    assert not strided.flags.c_contiguous
    assert plain.flags.c_contiguous
    assert np.array_equal(strided, plain)


def test_every_plan_that_counts_calls_says_which() -> None:
    for one in FAULTS:
        if isinstance(one.plan, Armed):
            assert one.plan.rule.kinds or one.plan.rule.clock
        if isinstance(one.plan, Interleaved):
            assert one.plan.rule.action == "stop"
        if isinstance(one.plan, Damage):
            assert set(one.plan.graphs) <= set(GRAPHS)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not sys.platform.startswith("linux"):
        pytest.skip("LD_PRELOAD is of Linux")
    try:
        return shim.build(tmp_path_factory.mktemp("shim"))
    except shim.NoShim as reason:
        pytest.skip(str(reason))


def under_rule(library: Path, directory: Path, rule: str, body: str) -> tuple[int, str]:
    """Run Python with the stand-in and a rule; return its exit status and what it printed."""
    lines = [
        "import os, sys, time", "from pathlib import Path",
        "from observatory.benchmarks.torture import shim",
        "from observatory.benchmarks.torture.shim import Rule", f"d = Path({str(directory)!r})",
        "def try_(call):", "    try: call()", "    except OSError as e: print(e.errno)",
        f"shim.arm({rule}, d)", body, "print('seen', shim.disarm())",
    ]  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, cwd=ROOT,
        env={**os.environ, "LD_PRELOAD": str(library)}, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


STORE = "(d / 'a').write_text('x' * 100); os.replace(d / 'a', d / 'b')"


def test_a_full_disk_refuses_what_needs_room_and_nothing_else(
    library: Path, tmp_path: Path
) -> None:
    (tmp_path / "old").touch()
    (tmp_path / "empty").mkdir()
    body = (
        "print(os.access(d, os.W_OK)); (d / 'old').unlink(); (d / 'empty').rmdir()\n"
        "try_((d / 'new').touch); try_((d / 'other').mkdir)"
    )
    code, printed = under_rule(library, tmp_path, "Rule(shim.CHANGES, 'fail')", body)
    full = str(errno.ENOSPC)
    assert (code, printed.split()) == (0, ["True", full, full, "seen", "2"])
    assert list(tmp_path.iterdir()) == []


def test_a_rule_counts_what_a_store_changes(library: Path, tmp_path: Path) -> None:
    assert under_rule(library, tmp_path, "Rule()", STORE) == (0, "seen 3\n")  # open, write, rename
    elsewhere = "Path('/dev/null').write_text('x')"
    assert under_rule(library, tmp_path, "Rule()", elsewhere) == (0, "seen 0\n")


def test_a_full_disk_stays_full_and_one_error_passes(library: Path, tmp_path: Path) -> None:
    rule = "Rule(action='fail', first=2{})"
    body = "try_(lambda: (d / 'a').write_text('x')); try_(lambda: os.replace(d / 'a', d / 'b'))"
    full = f"{errno.ENOSPC}\n"
    _, said = under_rule(library, tmp_path, rule.format(""), body)
    assert said.startswith(full * 2)
    _, said = under_rule(library, tmp_path, rule.format(", last=2"), body)
    assert said.startswith(full)
    assert (tmp_path / "b").exists()


def test_half_of_a_write_arrives(library: Path, tmp_path: Path) -> None:
    body = "f = os.open(d / 'a', os.O_CREAT | os.O_WRONLY); print(os.write(f, b'x' * 100))"
    assert under_rule(library, tmp_path, "Rule(action='part', first=2)", body)[1] == "50\nseen 2\n"


def test_a_process_is_killed_at_the_call(library: Path, tmp_path: Path) -> None:
    code, _ = under_rule(library, tmp_path, "Rule(action='kill', first=3)", STORE)
    assert code == -signal.SIGKILL
    assert [one.name for one in tmp_path.iterdir()] == ["a"]


def test_the_clock_is_set_forward(library: Path, tmp_path: Path) -> None:
    body = "print(time.time() > 2.5e9)"
    assert under_rule(library, tmp_path, "Rule(0, clock=10**9)", body)[1] == "True\nseen 0\n"


def test_a_rename_over_a_file_is_refused_and_no_other(library: Path, tmp_path: Path) -> None:
    body = f"{STORE}; (d / 'a').write_text('y'); try_(lambda: os.replace(d / 'a', d / 'b'))"
    rule = "Rule(shim.OVER, 'fail', 16)"
    assert under_rule(library, tmp_path, rule, body)[1] == "16\nseen 1\n"
    assert (tmp_path / "b").read_text() == "x" * 100


def test_a_process_stops_where_a_lock_is_refused_to_it(library: Path, tmp_path: Path) -> None:
    """So it is known at once that it waits, however slow the machine is."""
    body = "\n".join([
        "import fcntl, signal", "one, two = ((d / 'lock').open('w') for _ in range(2))",
        "fcntl.flock(one, fcntl.LOCK_EX)", "child = os.fork()", "if child == 0:",
        "    try_(lambda: fcntl.flock(two, fcntl.LOCK_EX | fcntl.LOCK_NB))",
        "    sys.stdout.flush(); os._exit(shim.disarm())",
        "_, status = os.waitpid(child, os.WUNTRACED)", "print(os.WIFSTOPPED(status), flush=True)",
        "os.kill(child, signal.SIGCONT)", "print(os.waitpid(child, 0)[1] >> 8)",
    ])  # fmt: skip
    code, printed = under_rule(library, tmp_path, "Rule(shim.REFUSALS, 'stop')", body)
    assert (code, printed.split()) == (0, ["True", str(errno.EWOULDBLOCK), "1", "seen", "0"])


# In the tool's own environment there is no PyTensor: a fault that is tried says so.
TWO = [one for one in FAULTS if one.name in ("index_empty", "linked")]


def test_faults_in_a_journal_are_not_tried_again(tmp_path: Path) -> None:
    done = replace(parts.untried(TWO[0], ""), verdict="safe", after="safe")
    (tmp_path / "numba-0.jsonl").write_text(f'{to_json(done)}\n{{"name": "linked", "cac')
    found = parts.take(TWO, parts.How(journal=tmp_path))
    assert found.left == 0
    assert [(one.name, one.cache) for one in found.faults] == [
        ("index_empty", "numba"), ("linked", "numba"), ("linked", "c"),
    ]  # fmt: skip
    assert found.faults[0] == done
    assert all("No module named 'pytensor'" in one.skipped for one in found.faults[1:])
    # What was recorded is there for the next run, and the line that was cut off is gone.
    lines = [
        line
        for path in sorted(tmp_path.glob("numba-*.jsonl"))  # one for each process
        for line in path.read_text().splitlines()
    ]
    assert [from_json(FaultRecord, line).name for line in lines] == ["index_empty", "linked"]
    again = parts.take(TWO, parts.How(journal=tmp_path, budget=0))
    assert (again.faults, again.left) == (found.faults, 0)


def test_faults_for_which_there_is_no_time_are_counted_and_left(tmp_path: Path) -> None:
    found = parts.take(TWO, parts.How(journal=tmp_path, budget=0))
    assert (found.faults, found.left) == ((), 3)


@pytest.fixture
def part_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], parts._Part]]:
    """Makes the part of a run that tries two faults, each when a file of its name is there."""
    stand_in = tmp_path / "python"
    stand_in.write_text(f"""#!{sys.executable}
import pathlib, sys, time
options = sys.argv[1:]
journal = pathlib.Path(options[options.index("--append-to") + 1])
for name in (value for option, value in zip(options, options[1:]) if option == "--only"):
    while not pathlib.Path({str(tmp_path)!r}, name).exists():
        time.sleep(0.01)
    with journal.open("a") as stream:
        stream.write(pathlib.Path({str(tmp_path)!r}, name).read_text())
""")
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    faults = [one for one in FAULTS if one.cache == "numba"][:2]
    every: list[parts._Part] = []
    with Sandbox.open() as box:

        def made() -> parts._Part:
            journal = tmp_path / "numba-0.jsonl"
            every.append(parts._Part(box, "numba", faults, parts.How(), None, journal))
            return every[-1]

        yield made
        for part in every:
            part.end()


def is_tried(tmp_path: Path, fault: Fault) -> None:
    """Let the stand-in record a fault."""
    ready = tmp_path / "ready"
    ready.write_text(to_json(parts.untried(fault, "")) + "\n")
    ready.rename(tmp_path / fault.name)


def test_a_fault_that_takes_longer_than_the_budget_is_finished_by_the_next_run(
    tmp_path: Path, part_of: Callable[[], parts._Part]
) -> None:
    first = part_of()
    assert first.go_on(over=False)
    assert not first.go_on(over=True)
    assert (first.process, len(first.left)) == (None, 2)
    second = part_of()
    assert second.go_on(over=False)
    assert second.go_on(over=True)  # it is late: it may end
    is_tried(tmp_path, second.faults[0])
    while second.go_on(over=True):
        pass
    assert [one.name for one in second.records] == [second.faults[0].name]
    assert [one.name for one in second.left] == [second.faults[1].name]
    third = part_of()  # so each run finishes one at least
    assert third.go_on(over=False)
    assert third.go_on(over=True)
    is_tried(tmp_path, third.faults[1])
    while third.go_on(over=True):
        pass
    assert third.left == []


def test_when_the_time_is_over_before_it_begins_no_late_fault_is_begun(
    tmp_path: Path, part_of: Callable[[], parts._Part]
) -> None:
    first = part_of()
    first.go_on(over=False)
    first.go_on(over=True)
    assert not part_of().go_on(over=True)


def test_processes_share_the_faults_of_a_cache(tmp_path: Path) -> None:
    own = [one for one in FAULTS if one.cache == "c"]
    found = parts.take(own, parts.How(journal=tmp_path))
    assert [one.name for one in found.faults] == [one.name for one in own]
    counts = [len(file.read_text().splitlines()) for file in sorted(tmp_path.glob("c-*.jsonl"))]
    assert counts == [(len(own) + 1) // 2, len(own) // 2]


def test_another_environment_is_named_by_what_it_has_another_version_of() -> None:
    assert main.main(["--list", "--other", "numba=/x/python"]) == 0
    for wrong in ("scipy=/x/python", "numba=", "numba"):
        with pytest.raises(SystemExit):
            main.main(["--list", "--other", wrong])


def test_a_process_under_a_fault_leaves_as_a_fresh_one_does(tmp_path: Path) -> None:
    """What it registered runs when it exits, as PyTensor's cleaning does; its parent's does not."""
    own, of_parent = tmp_path / "own", tmp_path / "of parent"

    class Registers:
        def run(self, _: tuple[str, ...]) -> Seen:
            atexit.register(own.touch)
            return WARM

    atexit.register(of_parent.touch)
    try:
        starter = Starter(cast("Workload", Registers()), tmp_path, tmp_path, limit=60.0)
        ended = starter.run(("up",))
    finally:
        atexit.unregister(of_parent.touch)
    assert (ended.seen, ended.code) == (WARM, 0)
    assert (own.exists(), of_parent.exists()) == (True, False)


@pytest.mark.parametrize(
    ("used", "readings"), [((0.0,), 1), ((0.05, 0.09, 0.1), 3), ((0.05, 0.051), 2)]
)
def test_a_process_hangs_that_waits_or_has_used_the_cpu_for_as_long_as_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: tuple[float, ...], readings: int
) -> None:
    asked = []

    class Waits:
        def run(self, _: tuple[str, ...]) -> Seen:
            signal.pause()
            return WARM

    def cpu(pid: int) -> float:
        asked.append(pid)
        return used[len(asked) - 1]

    monkeypatch.setattr(processes, "cpu_seconds", cpu)
    ended = Starter(cast("Workload", Waits()), tmp_path, tmp_path, limit=0.1).run(())
    assert (ended.timed_out, len(asked)) == (True, readings)


def test_the_cpu_seconds_of_a_process_are_read() -> None:
    before = processes.cpu_seconds(os.getpid())
    own = sum(os.times()[:4])
    assert before <= own + 0.02 <= processes.cpu_seconds(os.getpid()) + 1


def test_a_process_can_have_other_flags_and_variables_than_the_next_one(tmp_path: Path) -> None:
    class Configured:
        flags: dict[str, bool]

        def configure(self, flags: dict[str, bool]) -> None:
            self.flags = flags

        def run(self, _: tuple[str, ...]) -> Seen:
            return Seen(
                hits=int(self.flags == {"nocleanup": True}), misses=int("CPATH" in os.environ)
            )

    Configured.flags = {}
    starter = Starter(cast("Workload", Configured()), tmp_path, tmp_path, limit=60.0)
    assert starter.run((), settings={"nocleanup": True}).seen == Seen(hits=1)
    assert starter.run((), variables={"CPATH": "x"}).seen == Seen(misses=1)
    assert starter.run(()).seen == Seen()


def test_a_step_that_cannot_be_tried_takes_no_verdict_of_an_earlier_one() -> None:
    fault = next(one for one in FAULTS if isinstance(one.plan, Damage))

    class Trials(Torture):
        def _cases(self, _plan: object) -> Iterator[Case]:  # type: ignore[override]
            yield Case("1 of 2", "WRONG", "safe", "another value")
            raise Skip("it cannot be done")

    record = Trials(cast(Copies, None), 2).carry_out(fault)
    assert (record.verdict, record.skipped) == ("WRONG", "")
    assert [one.detail for one in record.outcomes] == ["another value"]
