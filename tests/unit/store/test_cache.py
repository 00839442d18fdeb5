"""What has not changed is not parsed again, what has changed is, and nothing can break it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from observatory.benchmarks.catalogue import metrics
from observatory.benchmarks.models import radon
from observatory.store.asv import listing, result
from observatory.store.asv.columns import SeriesList
from observatory.store.journal import latest
from observatory.store.reading import cache, summaries
from observatory.store.reading.cache import directory_for
from observatory.store.reading.read import Results, read_results
from observatory.store.records import sample as records_of_samples
from tests.factories import LATER, journal, sample
from tests.factories_asv import Value, foreign, old, put, values

ROOT = Path(__file__).parents[3]


class Parses(list[str]):
    """The names of the files that were parsed since it was last looked at."""

    def taken(self) -> list[str]:
        names = sorted(self)
        self.clear()
        return names


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> Parses:
    """What is parsed. Files name themselves by their env_name; a broken one is `?`."""
    seen = Parses()

    def spy(content: bytes, series: SeriesList, parse: Any = result.parse) -> Any:
        found = parse(content, series)
        seen.append(found.head.env_name if found.head else "?")
        return found

    def read(path: Path, read_journal: Any = summaries.read_journal) -> Any:
        seen.append(path.name)
        return read_journal(path)

    monkeypatch.setattr(result, "parse", spy)
    monkeypatch.setattr(summaries, "read_journal", read)
    return seen


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """Results of three files, one of them old, and one broken file."""
    results = tmp_path / "results"
    two = [[2.0, 3.0], [["1", "2"]]]
    put(results, foreign({"a": [[1.0]], "b": two}, env_name="x"), "x.json")
    put(results, foreign({"a": [[4.0]]}, env_name="y"), "y.json")
    put(results, old({"a": 5.0, "odd": "?"}, env_name="z"), "z.json")
    put(results, "oops", "broken.json")
    return results


@pytest.fixture(autouse=True)
def _an_hour_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files have rested when they are read: it is an hour after they were written."""
    monkeypatch.setattr(cache, "_clock", lambda: time.time_ns() + 3600 * 10**9)


def read(results: Path) -> Results:
    return read_results(results, results.parent / "cache")


def cache_files(results: Path) -> list[Path]:
    return sorted((results.parent / "cache").rglob("*.*"))


def said(results: Results) -> tuple[list[Value], list[str]]:
    return sorted(values(results)), sorted(str(problem) for problem in results.problems)


def test_an_unchanged_file_is_never_parsed_twice(where: Path, parses: Parses) -> None:
    first = read(where)
    assert parses.taken() == ["?", "x", "y", "z"]
    second = read(where)
    assert parses.taken() == []
    assert said(first) == said(second) == said(read_results(where))
    assert first.files == second.files
    assert len(cache_files(where)) == 4  # one for what files say, and one for each line


def test_an_unchanged_file_that_has_rested_is_not_even_opened(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read(where)
    monkeypatch.setattr(cache, "digest_of", None)
    assert said(read(where)) == said(first)


def test_the_problems_of_unchanged_files_are_named_each_time(where: Path) -> None:
    assert len(said(read(where))[1]) == 2
    assert said(read(where))[1] == [
        f"{where}/ci/broken.json: it is not JSON: Expecting value: line 1 column 1 (char 0)",
        f"{where}/ci/z.json: benchmark 'odd' is skipped: 1 of its 1 values are not numbers",
    ]


def test_a_changed_file_is_always_parsed_and_the_others_are_not(
    where: Path, parses: Parses
) -> None:
    read(where)
    parses.taken()
    put(where, foreign({"a": [[9.0]]}, env_name="y"), "y.json")
    assert 9.0 in [value.value for value in values(read(where))]
    assert parses.taken() == ["y"]
    # The same size and times: only the moment of the change itself tells.
    path = where / "ci" / "y.json"
    before = path.stat()
    put(where, foreign({"a": [[8.0]]}, env_name="y"), "y.json")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    assert 8.0 in [value.value for value in values(read(where))]
    assert parses.taken() == ["y"]


def test_a_new_file_touches_the_part_of_its_own_line_alone(where: Path, parses: Parses) -> None:
    read(where)
    parses.taken()
    before = {path.name: path.stat().st_ino for path in cache_files(where)}
    put(where, foreign({"a": [[7.0]]}, env_name="x"), "new.json")
    read(where)
    assert parses.taken() == ["x"]
    after = {path.name: path.stat().st_ino for path in cache_files(where)}
    assert before.keys() == after.keys()
    changed = [name for name, inode in after.items() if before[name] != inode]
    assert [Path(name).suffix for name in sorted(changed, key=len)] == [".files", ".part"]


def test_a_file_that_was_only_touched_is_not_parsed(where: Path, parses: Parses) -> None:
    read(where)
    parses.taken()
    os.utime(where / "ci" / "y.json", (2_000_000, 2_000_000))
    assert said(read(where)) == said(read(where)) == said(read_results(where))
    assert parses.taken() == ["?", "x", "y", "z"]  # of the reading without a cache


def test_a_signature_taken_right_after_a_change_is_not_believed(
    where: Path, parses: Parses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_clock", time.time_ns)
    path = put(where, foreign({"a": [[4.0]]}, env_name="y"), "y.json")
    read(where)
    parses.taken()
    before = path.stat()
    path.write_text(path.read_text().replace("4.0", "7.0"))  # same size, inode ...
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # ... and time
    unchanged, signature_of = before.st_ctime_ns, listing.signature_of
    for module in (listing, cache):
        monkeypatch.setattr(
            module, "signature_of", lambda found: signature_of(found)._replace(ctime_ns=unchanged)
        )
    assert 7.0 in [value.value for value in values(read(where))]
    assert parses.taken() == ["y"]


def test_a_file_from_the_future_is_hashed_each_time_but_noted_once(
    where: Path, parses: Parses
) -> None:
    os.utime(where / "ci" / "y.json", (2**33, 2**33))
    read(where)
    parses.taken()
    before = cache_files(where)
    read(where)
    assert (parses.taken(), cache_files(where)) == ([], before)


def test_what_changes_between_hashing_and_parsing_is_parsed_again(
    where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = journal(where, [sample()])
    before = made.path.read_bytes()

    def changed(path: Path, read_journal: Any = summaries.read_journal) -> Any:
        path.write_bytes(before + b"oops\n")
        return read_journal(path)

    with monkeypatch.context() as patch:
        patch.setattr(summaries, "read_journal", changed)
        assert any("jsonl:3" in problem for problem in said(read(where))[1])
    made.path.write_bytes(before)
    assert said(read(where)) == said(read_results(where))


def test_a_removed_file_is_gone_and_a_renamed_one_is_new(where: Path, parses: Parses) -> None:
    read(where)
    parses.taken()
    (where / "ci" / "x.json").unlink()
    (where / "ci" / "y.json").rename(where / "ci" / "w.json")
    results = read(where)
    assert [file.path.name for file in results.files] == ["w.json", "z.json"]
    assert said(results) == said(read_results(where))
    assert parses.taken() == ["?", "y", "y", "z"]


def test_journals_and_benchmarks_are_kept_too(where: Path, parses: Parses) -> None:
    made = journal(where, [sample()])
    described = where / "benchmarks.json"
    described.write_text(json.dumps({"a": {"unit": "seconds", "type": "time"}}))
    first = read(where)
    assert made.path.name in parses.taken()
    assert read(where).journals == first.journals
    assert read(where).benchmarks == first.benchmarks == read_results(where).benchmarks
    made.append(LATER, sample())
    parses.clear()
    read(where)
    assert parses.taken() == [made.path.name]


def damaged(content: bytes) -> Iterator[bytes]:
    yield b""
    yield b"garbage"
    yield content[:-1]
    yield content + b"\0"
    for at in range(0, len(content), max(1, len(content) // 40)):
        yield content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


def test_a_damaged_cache_is_ignored_and_made_again(where: Path, parses: Parses) -> None:
    expected = said(read(where))
    whole = {path: path.read_bytes() for path in cache_files(where)}
    for path, parsed in zip(whole, (1, 1, 1, 4), strict=True):
        for bad in damaged(whole[path]):
            for each, content in whole.items():
                each.write_bytes(content)
            path.write_bytes(bad)
            parses.taken()
            assert said(read(where)) == expected
            assert len(parses.taken()) == parsed  # a part has the values of one file here
            assert said(read(where)) == expected
            assert parses.taken() == []


def test_a_cache_that_is_whole_but_of_another_kind_is_ignored(where: Path) -> None:
    expected = said(read(where))
    key = cache.version().encode()
    for path in cache_files(where):
        for other in (b"", b"[]", b"[[1]]", b"{}", bytes(8), bytes(7) + b"\xff", bytes(99)):
            path.write_bytes(cache._blake2b(other, key=key).digest() + other)
            assert said(read(where)) == expected


def test_another_version_reads_none_of_it_and_replaces_it(
    where: Path, parses: Parses, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = said(read(where))
    before = cache_files(where)
    parses.taken()
    monkeypatch.setattr(cache, "version", lambda: "next")
    assert said(read(where)) == expected
    assert len(parses.taken()) == 4
    assert said(read(where)) == expected
    assert parses.taken() == []
    assert cache_files(where) == before


def test_the_version_follows_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "parser.py"
    source.write_text("# as it was")
    monkeypatch.setattr(cache, "sources", lambda: [source])
    before = cache.version()
    source.write_text("# otherwise")
    assert cache.version() != before


def test_the_version_covers_whatever_makes_what_is_kept() -> None:
    made_by = (result, listing, latest, records_of_samples, metrics, radon)
    assert {Path(module.__file__) for module in made_by} <= set(cache.sources())


def test_a_cache_that_cannot_be_written_is_no_error(where: Path) -> None:
    (where.parent / "cache").write_text("a file is in the way")
    assert said(read(where)) == said(read_results(where))


def test_what_is_gone_is_kept_no_longer(where: Path) -> None:
    read(where)
    before = cache_files(where)
    put(where, foreign({"time_gone": [[1.0]]}, env_name="v"), "v.json")
    put(where, foreign({"time_gone": [[1.0]]}, env_name="x"), "w.json")
    read(where)
    assert sum(path.read_bytes().count(b"time_gone") for path in cache_files(where)) == 2
    assert len(cache_files(where)) == len(before) + 1
    for name in "vw":
        (where / "ci" / f"{name}.json").unlink()
    assert said(read(where)) == said(read_results(where))
    assert cache_files(where) == before
    assert not any(b"time_gone" in path.read_bytes() for path in before)


KILLED = """
import os, sys
from pathlib import Path
from observatory.store.reading.read import read_results
def die(*_, **__):
    os._exit(9)
where = sys.argv[1]
if where == "before the rename":
    Path.replace = die
elif where == "while writing":
    os.fdopen = lambda descriptor, mode: os.write(descriptor, b"half") and die()
elif where == "after the rename":
    replace = Path.replace
    Path.replace = lambda *paths: replace(*paths) and die()
read_results(Path(sys.argv[2]), Path(sys.argv[3]))
"""


@pytest.mark.parametrize("instant", ["while writing", "before the rename", "after the rename"])
def test_killed_at_any_instant_nothing_but_time_is_lost(where: Path, instant: str) -> None:
    read(where)
    put(where, foreign({"a": [[6.0]]}), "new.json")
    done = subprocess.run(
        [sys.executable, "-c", KILLED, instant, str(where), str(where.parent / "cache")],
        cwd=ROOT, check=False,
    )  # fmt: skip
    assert done.returncode == 9
    assert said(read(where)) == said(read_results(where))


READ = """
import sys
from pathlib import Path
from observatory.store.reading.read import read_results
for _ in range(12):
    found = read_results(Path(sys.argv[1]), Path(sys.argv[2]))
    assert sorted(found.values.value.tolist()) == [float(n) for n in range(30)], found
    assert len(found.problems) == 1, found.problems
"""


def test_many_readers_and_writers_at_once_all_see_everything(where: Path) -> None:
    for path in (where / "ci").glob("[xyz].json"):
        path.unlink()
    for number in range(30):
        put(where, foreign({"a": [[number]]}), f"{number}.json")
    command = [sys.executable, "-c", READ, str(where), str(where.parent / "cache")]
    running = [subprocess.Popen(command, cwd=ROOT) for _ in range(4)]
    while any(process.poll() is None for process in running):
        for number in range(30):
            os.utime(where / "ci" / f"{number}.json")  # whoever reads next has to note it again
        for path in cache_files(where)[::2]:
            path.unlink(missing_ok=True)
        time.sleep(0.02)
    assert [process.returncode for process in running] == [0, 0, 0, 0]


def test_the_cache_is_the_users_and_one_for_each_results_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    one, two = directory_for(tmp_path / "one"), directory_for(tmp_path / "two")
    assert one is not None
    assert one != two
    assert one.parent == tmp_path / "xdg" / "observatory" / "frames"
    monkeypatch.chdir(tmp_path)
    assert directory_for(Path("one")) == one
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert directory_for(Path("one")) is None
