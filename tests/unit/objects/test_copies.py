"""A copy of a store on this machine: what an update fetches, replaces and refuses to replace."""

from __future__ import annotations

import hashlib
import random
from datetime import timedelta
from pathlib import Path

import pytest

from observatory.app.publication import message, put_together
from observatory.objects import copies
from observatory.objects.bucket import Bucket
from observatory.objects.collection import Collection
from observatory.objects.copies import bring_up_to_date, fetched
from observatory.store.asv.files import project
from observatory.store.base.problems import RecordUsageError
from observatory.store.records import alerts, calibration
from observatory.store.records.alerts import Alerts
from tests.factories import LATER, NOON, RUN, WARM, journal, ledger, sample
from tests.unit.objects.test_collection import Killed, add, adding, held, part, removing
from tests.unit.store.test_calibration import made as a_calibration


def test_a_copy_fetches_only_what_it_lacks(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, tmp_path, a="1", b="1")
    copy = tmp_path / "copy"
    assert bring_up_to_date(store, copy).fetched == 2
    add(store, tmp_path, a="2", c="2")
    asked: list[str] = []
    whole = Bucket.read

    def reading(self: Bucket, name: str, start: int = 0, end: int | None = None) -> bytes:
        asked.append(name)
        return whole(self, name, start, end)

    monkeypatch.setattr(Bucket, "read", reading)
    done = bring_up_to_date(store, copy)
    assert (done.version, done.fetched, done.of) == (2, 2, 3)
    assert (copy / "samples/bench/a.jsonl").read_text() == "12"
    _segment, pack = [name for name in asked if name.startswith("objects")]
    assert pack.endswith(store.state().files()["samples/bench/c.jsonl"].pack)
    assert bring_up_to_date(store, copy).fetched == 0


def test_ranges_of_a_pack_are_read_and_not_the_whole(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = random.Random(1)
    paths = {f"ledgers/aa/{n}.json.gz": noise.randbytes(40_000).hex() for n in range(9)}
    store.change(adding(paths), part(tmp_path / "part", *paths))
    bring_up_to_date(store, tmp_path / "copy")
    for number in (0, 8):
        (tmp_path / f"copy/ledgers/aa/{number}.json.gz").unlink()
    sizes: list[int] = []
    whole = Bucket.read

    def reading(self: Bucket, name: str, start: int = 0, end: int | None = None) -> bytes:
        found = whole(self, name, start, end)
        sizes.extend([len(found)] if name.startswith("objects") else [])
        return found

    monkeypatch.setattr(Bucket, "read", reading)
    assert bring_up_to_date(store, tmp_path / "copy").fetched == 2
    assert len(sizes) == 2
    assert sum(sizes) < sum(one.size for one in store.bucket.found("objects")) / 4


def test_a_copy_follows_what_was_removed(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1", b="1")
    bring_up_to_date(store, tmp_path / "copy")
    (tmp_path / "copy" / "mine.txt").write_text("")
    store.change(removing("samples/bench/a.jsonl"), [], whole=True)
    bring_up_to_date(store, tmp_path / "copy")
    there = {path.name for path in (tmp_path / "copy").rglob("*") if path.is_file()}
    assert there == {"b.jsonl", "mine.txt", ".fetched"}


@pytest.mark.parametrize("absolute", [False, True])
def test_the_list_of_a_copy_removes_nothing_outside_of_it(
    store: Collection, tmp_path: Path, absolute: bool
) -> None:
    """A copy of results may be from somebody else."""
    add(store, tmp_path, a="1")
    bring_up_to_date(store, tmp_path / "copy")
    mine = tmp_path / "mine"
    mine.write_text("known")
    path = mine if absolute else "../mine"
    line = f"{path}\t{hashlib.sha256(b'known').hexdigest()}\t5\t{mine.stat().st_mtime_ns}"
    with (tmp_path / "copy" / ".fetched").open("a") as stream:
        stream.write(f"\n{line}")
    bring_up_to_date(store, tmp_path / "copy")
    assert mine.read_text() == "known"


def test_what_was_changed_here_is_never_written_over(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1")
    copy = tmp_path / "copy"
    bring_up_to_date(store, copy)
    (copy / "samples/bench/a.jsonl").write_text("1 and mine")
    add(store, tmp_path, a="2")
    with pytest.raises(RecordUsageError, match="publish the directory first"):
        bring_up_to_date(store, copy)
    store.change(adding({"samples/bench/a.jsonl": " and mine"}), [copy])
    assert held(store) == {"a": "12 and mine"}


def test_a_directory_that_is_no_copy_of_it_is_left_alone(store: Collection, tmp_path: Path) -> None:
    other = part(tmp_path / "other", "file")[0]
    with pytest.raises(RecordUsageError, match="is no copy of"):
        bring_up_to_date(store, other)
    (other / ".fetched").write_text("s3://elsewhere")
    with pytest.raises(RecordUsageError, match="is a copy of s3://elsewhere"):
        bring_up_to_date(store, other)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("place", range(1, 5))
def test_killed_at_any_file_an_update_goes_on_even_to_a_later_version(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, after: bool
) -> None:
    copy = tmp_path / "copy"
    add(store, tmp_path, a="1", b="1")
    bring_up_to_date(store, copy)
    add(store, tmp_path, a="2", c="2")
    whole, number = copies.write_atomic, 0

    def write(path: Path, content: bytes) -> None:
        nonlocal number
        number += 1
        if number == place and not after:
            raise Killed
        whole(path, content)
        if number == place:
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(copies, "write_atomic", write)
        with pytest.raises(Killed):
            bring_up_to_date(store, copy)
    add(store, tmp_path, a="3", c="3")
    bring_up_to_date(store, copy)
    there = {path.stem: path.read_text() for path in copy.rglob("*.jsonl")}
    assert there == {"a": "123", "b": "1", "c": "23"} == held(store)


def test_what_an_interrupted_update_only_announced_was_not_fetched(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Publishing would take the older file for one that was written here."""
    copy = tmp_path / "copy"
    add(store, tmp_path, a="1")
    bring_up_to_date(store, copy)
    before = fetched(copy)
    add(store, tmp_path, a="2")

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(copies, "taken", killed)
        with pytest.raises(Killed):
            bring_up_to_date(store, copy)
    assert fetched(copy) == before


def publish(store: Collection, *parts: Path) -> None:
    store.change(lambda work, complete: message(put_together(work, parts, None, complete)), parts)


def measured(results: Path, value: float, run: str = RUN) -> Path:
    """A results directory with one more sample, its ledger, and asv's file of both."""
    found = sample(WARM, "counting", {"cache_misses": value}, ledger=ledger("Add"))
    project(results, journal(results, [found], run).read())
    return results


def found_on(results: Path, day: int, tool: str) -> None:
    newest = NOON + timedelta(days=day)
    alerts.save(
        results, Alerts(observatory=tool, newest=newest, last_good=None, judged=0, alerts=[])
    )


def test_alerts_that_were_found_here_are_replaced(store: Collection, tmp_path: Path) -> None:
    copy, server = tmp_path / "copy", measured(tmp_path / "server", 1)
    found_on(server, 1, "server")
    publish(store, server)
    bring_up_to_date(store, copy)
    found_on(copy, 1, "laptop")
    found_on(measured(server, 2, LATER), 2, "server")
    publish(store, server)
    bring_up_to_date(store, copy)
    assert (copy / alerts.FILE).read_bytes() == (server / alerts.FILE).read_bytes()


def test_what_the_store_has_too_is_replaced_and_what_it_lacks_is_not(
    store: Collection, tmp_path: Path
) -> None:
    copy, server = tmp_path / "copy", measured(tmp_path / "server", 1)
    calibration.save(server, a_calibration())
    publish(store, server)
    bring_up_to_date(store, copy)
    measured(copy, 2, LATER)
    newer = a_calibration().model_copy(update={"taken_at": NOON + timedelta(days=1)})
    calibration.save(copy, newer)
    (damaged,) = copy.glob("ledgers/*/*")
    damaged.write_bytes(b"damaged")
    publish(store, measured(server, 3, "20261121T150000Z"))
    with pytest.raises(RecordUsageError, match="publish the directory first") as raised:
        bring_up_to_date(store, copy)
    assert "samples/bench" in str(raised.value)
    assert "calibrations/bench.json" in str(raised.value)
    assert " bench/" not in str(raised.value)  # asv's file, which is made of the journal
    assert "ledgers" not in str(raised.value)
    publish(store, copy)
    bring_up_to_date(store, copy)
    (path,) = copy.glob("samples/*/*.jsonl")
    assert path.read_text().count('"cache_misses"') == 3
    assert calibration.load(copy, "bench") == newer
    assert damaged.read_bytes() == (server / damaged.relative_to(copy)).read_bytes()
    assert bring_up_to_date(store, copy).fetched == 0


def test_what_cannot_be_compared_is_not_replaced(store: Collection, tmp_path: Path) -> None:
    copy, server = tmp_path / "copy", measured(tmp_path / "server", 1)
    publish(store, server)
    bring_up_to_date(store, copy)
    publish(store, measured(server, 3, LATER))
    (path,) = copy.glob("samples/*/*.jsonl")
    with path.open("a") as stream:
        stream.write("what a later version wrote\n")
    with pytest.raises(RecordUsageError, match="publish the directory first"):
        bring_up_to_date(store, copy)


def test_what_people_wrote_is_not_replaced(store: Collection, tmp_path: Path) -> None:
    copy, server = tmp_path / "copy", measured(tmp_path / "server", 1)
    (server / "triage.toml").write_text("# nothing\n")
    publish(store, server)
    bring_up_to_date(store, copy)
    (copy / "triage.toml").write_text("# mine\n")
    with pytest.raises(RecordUsageError, match=r"triage\.toml; publish the directory first"):
        bring_up_to_date(store, copy)


@pytest.mark.parametrize("name", ["bench/machine.json", "README.md"])
def test_what_merging_leaves_as_it_is_was_changed_here(
    store: Collection, tmp_path: Path, name: str
) -> None:
    copy, server = tmp_path / "copy", measured(tmp_path / "server", 1)
    publish(store, server)
    bring_up_to_date(store, copy)
    (copy / name).write_text("mine")
    with pytest.raises(RecordUsageError, match=name.rpartition("/")[2]):
        bring_up_to_date(store, copy)
    assert (copy / name).read_text() == "mine"
